//! What the store promises, with two jobs or more.

mod attempts;
mod circuits;
mod migration;
mod recover;
mod search;
mod state_machine;
mod support;
