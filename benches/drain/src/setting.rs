//! The three settings, and what each file and its answer are like. The same in each run.

use crate::Outcome;

/// What is scarce.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    /// Tokens of a minute; `None` where they are not scarce.
    pub(crate) tokens_per_minute: Option<u32>,
    /// Jobs that may run at once.
    pub(crate) at_once: u32,
    /// The shortest and the longest answer, in milliseconds.
    latency: (u64, u64),
}

/// All settings.
pub(crate) const ALL: [Setting; 3] = [
    Setting {
        name: "budget",
        tokens_per_minute: Some(400_000),
        at_once: 100,
        latency: (2_000, 20_000),
    },
    Setting {
        name: "latency",
        tokens_per_minute: None,
        at_once: 100,
        latency: (20_000, 60_000),
    },
    Setting {
        name: "concurrency",
        tokens_per_minute: None,
        at_once: 8,
        latency: (1_000, 5_000),
    },
];

/// Returns a setting by its name.
pub(crate) fn named(name: &str) -> Outcome<Setting> {
    let found = ALL.into_iter().find(|setting| setting.name == name);
    Ok(found.ok_or_else(|| format!("there is no setting {name}"))?)
}

/// Letters of an answer: few enough events that waiting before each of them is exact, also where other programs
/// keep the processor busy.
const LETTERS: usize = 120;
/// Events of such an answer: a text delta for each 24 letters, and what stands around them.
const EVENTS: u64 = 11;

/// A file, and how it is answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planned {
    pub(crate) number: usize,
    pub(crate) pages: usize,
    pub(crate) bytes: usize,
    /// Milliseconds before each event of its answer.
    pub(crate) event_delay_ms: u64,
    /// Output tokens that are counted.
    pub(crate) output_tokens: u64,
}

impl Planned {
    pub(crate) fn file_name(&self) -> String {
        format!("doc-{:04}.pdf", self.number)
    }

    pub(crate) fn text(&self) -> String {
        let mut text = format!("# Document {}\n\n", self.number);
        while text.len() < LETTERS {
            text.push_str("It says what it says. ");
        }
        text.truncate(LETTERS);
        text
    }

    /// Returns how long its answer takes at least, in seconds.
    pub(crate) fn seconds(&self) -> f64 {
        (self.event_delay_ms * EVENTS) as f64 / 1e3
    }
}

impl Setting {
    /// Returns the files in the order of their line.
    pub(crate) fn files(&self, count: usize) -> Vec<Planned> {
        (0..count)
            .map(|number| {
                let chance = |salt: u64| mixed(number as u64 * 8 + salt);
                let (shortest, longest) = self.latency;
                Planned {
                    number,
                    pages: 1 + (chance(1) % 5) as usize,
                    bytes: 40_000 + (chance(2) % 400_000) as usize,
                    event_delay_ms: (shortest + chance(3) % (longest - shortest)) / EVENTS,
                    output_tokens: 400 + chance(4) % 1_200,
                }
            })
            .collect()
    }
}

/// Returns a number that looks random (SplitMix64).
fn mixed(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}
