//! Templates: their variables, what their answers have to look like, and their files.

mod variables;

pub(crate) use variables::{asked_variables, render};
