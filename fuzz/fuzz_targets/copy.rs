//! A copy of a file's pages.

#![no_main]

mod desk;

use gistmill_engine::pdf::fuzz::Question;

libfuzzer_sys::fuzz_target!(|input: &[u8]| desk::ask(input, Question::Copy));
