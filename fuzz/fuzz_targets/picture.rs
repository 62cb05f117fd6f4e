//! A picture of a file's first page.

#![no_main]

mod desk;

use gistmill_engine::pdf::fuzz::Question;

/// Pixels of the longer side.
const LARGEST_SIDE: u32 = 200;

libfuzzer_sys::fuzz_target!(|input: &[u8]| desk::ask(input, |_| Question::Picture(LARGEST_SIDE)));
