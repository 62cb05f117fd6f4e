//! What the store promises, with two jobs or more.

mod attempts;
mod migration;
mod search;
mod state_machine;
mod support;
