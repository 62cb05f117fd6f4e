//! The built-in summarizer.
