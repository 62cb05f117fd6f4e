//! Engine tests: behaviour a person cares about, on temporary data and a clock that tests turn.

mod claude;
mod claude_faults;
mod claude_stream;
mod claude_transport;
mod forgotten;
mod intake;
mod lifecycle;
mod pdf;
mod queue;
mod support;
