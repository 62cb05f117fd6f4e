//! What the store promises, with two jobs or more.

mod actions;
mod attempts;
mod budget;
mod circuits;
mod estimates;
mod migration;
mod money;
mod order;
mod parts;
mod recover;
mod search;
mod state_machine;
mod support;
mod usual;
mod windows;
