//! The desktop program. What it does lies in the library, so that tests can reach it.

#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

use std::process::ExitCode;

fn main() -> ExitCode {
    // The engine reads hostile PDFs in children, and a child is this same program: nothing of the
    // shell, not even the environment, may be touched before it is told apart.
    if gistmill_host::is_pdf_worker() {
        return gistmill_engine::pdf::worker_main();
    }
    gistmill_desktop::run()
}
