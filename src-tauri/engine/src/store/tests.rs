//! What the store promises, with two jobs or more.

mod actions;
mod attempts;
mod budget;
mod circuits;
mod delivery;
mod estimates;
mod forecast;
mod migration;
mod money;
mod order;
mod ordered;
mod parts;
mod pilots;
mod recover;
mod remote;
mod search;
mod state_machine;
mod support;
mod told;
mod usual;
mod windows;
