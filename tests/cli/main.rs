//! The command line as its users call it: the real binary, on temporary data.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test when they can't go on"
)]

mod crash;
mod forgotten;
mod support;
mod use_it;
