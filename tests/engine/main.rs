//! The engine's tests, one module a subject.

mod claude;
mod pdf;
