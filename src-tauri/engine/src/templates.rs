//! Templates: their variables, what their answers have to look like, and their files.

mod answer;
pub(crate) mod draft;
pub(crate) mod fields;
pub(crate) mod file;
mod variables;

pub(crate) use answer::{as_markdown, kept, ordered, shape};
pub(crate) use variables::{asked_variables, render, used};
