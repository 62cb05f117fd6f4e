//! What may happen.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::remote::{RemoteStep, remote_step};
use crate::model::{BulkAction, Cause, Delivery, Place, Provider, QueueName};

/// Models that jobs ask for; the last one has no price.
pub(super) const MODELS: [&str; 3] = ["claude-sonnet-4-6", "claude-haiku-5-5", "mystery-1"];

/// Templates of documents; the first one is that of submissions.
pub(super) const TEMPLATES: [&str; 2] = ["pdf-summarize", "meeting-minutes"];

/// A step, and whether its transaction fails at the end.
#[derive(Clone, Debug)]
pub(super) struct Happening {
    pub(super) step: Step,
    pub(super) undone: bool,
}

/// Numbers named `pick` choose among what there is.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Submit(NewSubmission),
    Claim {
        claude_room: u32,
        limit: u32,
    },
    /// Claims as long as there is something, with all the room there is.
    Drain,
    Answer {
        pick: Picked,
        usage: Usage,
    },
    Complete {
        pick: Picked,
        review: bool,
    },
    End {
        pick: Picked,
        how: How,
        settle: Settle,
    },
    /// What was asked about is more than one call takes.
    Divide {
        pick: Picked,
    },
    /// The answer that an earlier job was given serves.
    Serve {
        pick: Picked,
    },
    /// Claims and answers, minute by minute.
    Work {
        minutes: u32,
    },
    Crash,
    Act {
        pick: Pick,
        action: BulkAction,
    },
    PauseBatch {
        pick: usize,
        paused: bool,
    },
    PauseLane {
        queue: QueueName,
        paused: bool,
    },
    Move {
        pick: usize,
        place: Place,
    },
    MoveBeside {
        picks: [usize; 3],
        other: usize,
        before: bool,
    },
    Redrive {
        pick: Pick,
        changes: Change,
    },
    CapBatch {
        pick: usize,
        cap: Option<i64>,
    },
    SetLimits {
        tokens: u32,
        requests: Option<u32>,
        day: Option<i64>,
        floor: u32,
    },
    Tell {
        model: &'static str,
        input: Option<u64>,
        wait_s: Option<u64>,
    },
    Price {
        rate: Option<i64>,
    },
    CloseCircuit {
        provider: Provider,
    },
    Clock {
        by_ms: i64,
    },
    /// Something happens to what goes by the batch API.
    Remote(RemoteStep),
}

#[derive(Clone, Debug)]
pub(super) struct NewSubmission {
    pub(super) queue: QueueName,
    /// `None` as the queue's settings say.
    pub(super) delivery: Option<Delivery>,
    pub(super) provider: Provider,
    pub(super) model: &'static str,
    pub(super) jobs: usize,
    /// What each job asks about; `None` for prompts.
    pub(super) document: Option<Document>,
    pub(super) max_tokens: u32,
    pub(super) cap: Option<i64>,
    pub(super) paused: bool,
}

/// A long document, and in how many parts it is asked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document {
    pub(super) pages: u32,
    pub(super) parts: u32,
}

/// A lease that was handed out: one that holds, or one that was lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Picked {
    pub(super) pick: usize,
    pub(super) late: bool,
}

/// Jobs: one, or every third of them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pick {
    One(usize),
    Third(usize),
    All,
}

/// What a call used of what it was promised.
#[derive(Clone, Copy, Debug)]
pub(super) enum Usage {
    Little,
    All,
    More,
    OfUnknownPrice,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum How {
    Retry { delay_s: i64 },
    Defer,
    Trip(Cause),
    Fail,
    Cancel,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Settle {
    Unknown,
    Unasked,
    Asked,
    Known,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Nothing,
    Provider(Provider),
    Model(&'static str),
    Queue(QueueName),
    Delivery(Delivery),
    MaxTokens(u32),
    Template(&'static str),
    Completed,
}

pub(super) fn queue() -> impl Strategy<Value = QueueName> + Clone {
    select(&QueueName::ALL[..])
}

fn provider() -> impl Strategy<Value = Provider> + Clone {
    // Offline is the simpler one.
    select(
        &[
            Provider::Offline,
            Provider::Claude,
            Provider::Claude,
            Provider::Claude,
        ][..],
    )
}

/// Small, large, and larger than the budget of a minute.
fn max_tokens() -> impl Strategy<Value = u32> + Clone {
    select(&[500, 500, 3_000, 20_000][..])
}

fn cap() -> impl Strategy<Value = Option<i64>> + Clone {
    select(&[None, Some(0), Some(10_000), Some(30_000), Some(100_000)][..])
}

fn picked() -> impl Strategy<Value = Picked> + Clone {
    (0..64_usize, prop::bool::weighted(0.15)).prop_map(|(pick, late)| Picked { pick, late })
}

pub(super) fn pick() -> impl Strategy<Value = Pick> + Clone {
    prop_oneof![
        4 => (0..64_usize).prop_map(Pick::One),
        1 => (0..3_usize).prop_map(Pick::Third),
        1 => Just(Pick::All),
    ]
}

/// A document that any model takes at once, one that some do, and one that none does.
fn document() -> impl Strategy<Value = Option<Document>> + Clone {
    let long = (select(&[4, 8, 8, 8, 120, 700_u32][..]), 2..=4_u32)
        .prop_map(|(pages, parts)| Some(Document { pages, parts }));
    prop_oneof![1 => Just(None), 1 => long]
}

fn submission() -> impl Strategy<Value = NewSubmission> {
    (
        (
            queue(),
            select(&[None, None, Some(Delivery::Each), Some(Delivery::Batch)][..]),
        ),
        provider(),
        select(&[MODELS[0], MODELS[0], MODELS[1], MODELS[2]][..]),
        1..=4_usize,
        document(),
        max_tokens(),
        prop_oneof![3 => Just(None), 1 => cap()],
        prop::bool::weighted(0.1),
    )
        .prop_map(
            |((queue, delivery), provider, model, jobs, document, max_tokens, cap, paused)| {
                NewSubmission {
                    queue,
                    delivery,
                    provider,
                    model,
                    jobs,
                    document,
                    max_tokens,
                    cap,
                    paused,
                }
            },
        )
}

fn how() -> impl Strategy<Value = How> {
    prop_oneof![
        3 => (0..200_i64).prop_map(|delay_s| How::Retry { delay_s }),
        1 => Just(How::Defer),
        2 => select(&[Cause::KeyRefused, Cause::Offline, Cause::StorageFailed, Cause::CreditExhausted][..])
            .prop_map(How::Trip),
        1 => Just(How::Fail),
        1 => Just(How::Cancel),
    ]
}

fn action() -> impl Strategy<Value = BulkAction> {
    prop_oneof![
        2 => Just(BulkAction::RunNow),
        2 => Just(BulkAction::Cancel),
        1 => Just(BulkAction::Pause),
        2 => Just(BulkAction::Resume),
        1 => queue().prop_map(|queue| BulkAction::MoveTo { queue }),
        1 => Just(BulkAction::Purge),
    ]
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => Just(Change::Nothing),
        1 => provider().prop_map(Change::Provider),
        1 => select(&MODELS[..]).prop_map(Change::Model),
        1 => queue().prop_map(Change::Queue),
        1 => select(&[Delivery::Each, Delivery::Batch][..]).prop_map(Change::Delivery),
        1 => max_tokens().prop_map(Change::MaxTokens),
        1 => select(&TEMPLATES[..]).prop_map(Change::Template),
        1 => Just(Change::Completed),
    ]
}

fn clock() -> impl Strategy<Value = i64> {
    prop_oneof![
        6 => 1..90_000_i64,
        1 => Just(600_000_i64),
        1 => Just(-20_000_i64),
        1 => Just(-3_600_000_i64),
        1 => Just(86_400_000_i64),
        1 => Just(400 * 86_400_000_i64),
    ]
}

pub(super) fn work() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => submission().prop_map(Step::Submit),
        6 => (0..6_u32, 1..12_u32)
            .prop_map(|(claude_room, limit)| Step::Claim { claude_room, limit }),
        2 => Just(Step::Drain),
        3 => (picked(), select(&[Usage::Little, Usage::All, Usage::More, Usage::OfUnknownPrice][..]))
            .prop_map(|(pick, usage)| Step::Answer { pick, usage }),
        4 => (picked(), prop::bool::weighted(0.2))
            .prop_map(|(pick, review)| Step::Complete { pick, review }),
        6 => (picked(), how(),
              select(&[Settle::Unknown, Settle::Unasked, Settle::Asked, Settle::Known][..]))
            .prop_map(|(pick, how, settle)| Step::End { pick, how, settle }),
        1 => picked().prop_map(|pick| Step::Divide { pick }),
        1 => picked().prop_map(|pick| Step::Serve { pick }),
        3 => (1..=4_u32).prop_map(|minutes| Step::Work { minutes }),
        1 => Just(Step::Crash),
        4 => clock().prop_map(|by_ms| Step::Clock { by_ms }),
        1 => remote_step().prop_map(Step::Remote),
    ]
}

pub(super) fn person() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (pick(), action()).prop_map(|(pick, action)| Step::Act { pick, action }),
        1 => (0..8_usize, any::<bool>())
            .prop_map(|(pick, paused)| Step::PauseBatch { pick, paused }),
        1 => (queue(), prop::bool::weighted(0.3))
            .prop_map(|(queue, paused)| Step::PauseLane { queue, paused }),
        2 => (0..64_usize, select(&[Place::Top, Place::Up, Place::Down, Place::Bottom][..]))
            .prop_map(|(pick, place)| Step::Move { pick, place }),
        2 => (prop::array::uniform3(0..64_usize), 0..64_usize, any::<bool>())
            .prop_map(|(picks, other, before)| Step::MoveBeside { picks, other, before }),
        3 => (pick(), change()).prop_map(|(pick, changes)| Step::Redrive { pick, changes }),
        1 => (0..8_usize, cap()).prop_map(|(pick, cap)| Step::CapBatch { pick, cap }),
        1 => (select(&[10_000, 4_000, 30_000_u32][..]), select(&[None, Some(2), Some(5)][..]), cap(),
              select(&[10, 0, 1, 3_u32][..]))
            .prop_map(|(tokens, requests, day, floor)| Step::SetLimits { tokens, requests, day, floor }),
        1 => (select(&MODELS[..]), select(&[None, Some(2_000), Some(500_000_u64)][..]),
              select(&[None, None, Some(5), Some(120_u64)][..]))
            .prop_map(|(model, input, wait_s)| Step::Tell { model, input, wait_s }),
        1 => select(&[Some(0), Some(1_000_000), None][..]).prop_map(|rate| Step::Price { rate }),
        1 => provider().prop_map(|provider| Step::CloseCircuit { provider }),
    ]
}

/// Returns what may happen in turn.
pub(super) fn anything(steps: usize) -> impl Strategy<Value = Vec<Happening>> {
    vec(happening(), 0..=steps)
}

fn happening() -> impl Strategy<Value = Happening> {
    (
        prop_oneof![3 => work(), 1 => person()],
        prop::bool::weighted(0.05),
    )
        .prop_map(|(step, undone)| Happening { step, undone })
}
