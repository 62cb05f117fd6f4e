//! Everything Gistmill does, without a window, a terminal, an environment or a home folder.
//!
//! The door is [`Engine`]: open it on a data directory, submit PDFs or prompts, let its consumer
//! work the queues, read what is stored. Modules stand in one direction, each using only those
//! further down: `engine` → `intake`, `consumer` → `provider`, `results`, `outbox` → `pdf`,
//! `pricing` → `store` → `model`, `clock`, `secrets`, `config`, `error`.

pub mod model;
pub mod pdf;
pub mod provider;
