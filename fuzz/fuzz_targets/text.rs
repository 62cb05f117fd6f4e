//! The text of a file.

#![no_main]

mod desk;

use gistmill_engine::pdf::fuzz::Question;

/// Where the text ends, in characters.
const MAX_CHARS: usize = 200_000;

libfuzzer_sys::fuzz_target!(|input: &[u8]| desk::ask(input, |_| Question::Text(MAX_CHARS)));
