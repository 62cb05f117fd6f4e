//! Engine tests.

mod claude;
mod claude_faults;
mod claude_stream;
mod claude_transport;
mod offline;
