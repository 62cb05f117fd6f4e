//! What all targets share: where files go, and what is kept of an input that ends the process.

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use gistmill_engine::pdf::fuzz::{Question, answer};

/// The passwords that are tried, of which the second is that of some seeds.
const PASSWORDS: [&str; 2] = ["wrong", "sesame"];

/// The folder of files that belong to one process each.
const FOLDER: &str = "FUZZ_UNDER_WAY";

struct Desk {
    /// The input that is being read, and nothing in between. libFuzzer itself saves what ends the process, but
    /// has no stack left for it when the stack is what ran out.
    under_way: Mutex<File>,
    copy: PathBuf,
}

impl Desk {
    fn new() -> std::io::Result<Self> {
        let folder = std::env::var_os(FOLDER).map_or_else(std::env::temp_dir, PathBuf::from);
        let process = std::process::id();
        let copy = folder.join(format!("copy-{process}"));
        File::create(&copy)?;
        Ok(Self {
            under_way: Mutex::new(File::create(folder.join(format!("input-{process}.pdf")))?),
            copy,
        })
    }

    fn put(&self, input: &[u8]) -> std::io::Result<()> {
        let mut file = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(input)
    }
}

/// Asks about an input as a child is asked. Only what would be of harm to the parent is reported here; what
/// ends the process is libFuzzer's to save.
pub fn ask<'a>(input: &[u8], question: impl FnOnce(&'a Path) -> Question<'a>) {
    static DESK: OnceLock<Desk> = OnceLock::new();
    let desk = DESK.get_or_init(|| {
        Desk::new().unwrap_or_else(|error| stop(&format!("no place for files: {error}")))
    });
    let answered = desk
        .put(input)
        .and_then(|()| answer(input, &PASSWORDS, question(&desk.copy)))
        .and_then(|()| desk.put(&[]));
    if let Err(error) = answered {
        stop(&format!("this would reach the parent: {error}"));
    }
}

fn stop(why: &str) -> ! {
    eprintln!("ERROR: {why}");
    std::process::abort();
}
