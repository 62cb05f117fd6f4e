//! Engine tests.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test when they can't go on"
)]

mod claude;
mod claude_faults;
mod claude_key;
mod claude_stream;
mod claude_transport;
mod offline;
