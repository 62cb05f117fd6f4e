//! Engine tests.

mod pdf;
