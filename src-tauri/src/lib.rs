//! The desktop shell.
