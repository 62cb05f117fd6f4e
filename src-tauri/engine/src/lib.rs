//! Everything Gistmill does, without a window, a terminal, an environment or a home folder.
//!
//! The door is [`Engine`]: open it on a data directory, submit PDFs or prompts, let its consumer
//! work the queues, read what is stored. Modules stand in one direction, each using only those
//! further down: `engine` → `intake`, `consumer` → `provider`, `results`, `outbox` → `pdf`,
//! `pricing` → `store` → `model`, `clock`, `secrets`, `config`, `error`.

mod calendar;
mod config;
mod consumer;
mod engine;
mod error;
mod export;
mod fault;
mod forecast;
mod intake;
mod lenient;
mod markdown;
mod outbox;
mod pace;
mod parts;
mod passwords;
mod reading;
mod results;
mod reuse;
mod store;
mod templates;
mod whole_file;

pub mod clock;
pub mod model;
pub mod pdf;
pub mod pricing;
pub mod profiles;
pub mod provider;
pub mod secrets;

pub use config::EngineConfig;
pub use engine::Engine;
pub use error::EngineError;
pub use fault::{FaultHook, FaultPoint};
pub use outbox::{Notification, NotificationSink};
#[cfg(feature = "bench")]
#[doc(hidden)]
pub use store::bench;
