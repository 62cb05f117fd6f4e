//! Test support.

pub mod pdf;
