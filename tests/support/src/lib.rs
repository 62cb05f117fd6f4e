//! Test support.

pub mod fake_claude;
