//! Engine tests: behaviour a person cares about, on temporary data and a clock that tests turn.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test when they can't go on"
)]

mod claude;
mod claude_faults;
mod claude_key;
mod claude_stream;
mod claude_transport;
mod forgotten;
mod intake;
mod lifecycle;
mod offline;
mod pdf;
mod queue;
mod support;
