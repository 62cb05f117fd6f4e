//! Prepares the Tauri context.

fn main() {}
