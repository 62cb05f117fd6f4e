//! Templates: their variables, what their answers have to look like, and their files.

pub(crate) mod draft;
pub(crate) mod fields;
pub(crate) mod file;
mod variables;

pub(crate) use variables::{asked_variables, render};
