//! Templates: their variables, what their answers have to look like, and their files.

mod answer;
mod fields;
mod variables;

pub(crate) use answer::{as_markdown, kept, shape};
pub(crate) use variables::{asked_variables, render, used};
