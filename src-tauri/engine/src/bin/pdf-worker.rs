//! The reading child of [`gistmill_engine::pdf::PdfWorker`] as a program of its own, for tests and
//! for fronts that don't re-execute themselves.

fn main() -> std::process::ExitCode {
    gistmill_engine::pdf::worker_main()
}
