//! Test support.

pub mod fake_claude;
pub mod pdf;
