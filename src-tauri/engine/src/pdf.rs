//! Reading PDFs: always in a child process, since a hostile file can kill whoever reads it.
//!
//! An allocation that fails, a stack that overflows and a loop without end take their whole process
//! with them, so no PDF is ever parsed where the queue lives. [`PdfWorker`] asks children about them: the
//! program that calls [`worker_main`] first thing, with limits on its memory and time for each file. A
//! child reads one file after another, since starting one takes longer than most files do; it is replaced
//! when it dies, and after files that might leave something behind. What it says about a file arrives in steps (its bytes and digest, its pages, its
//! text), so that a file which kills its reader half-way is still known by what was learned before.
//!
//! A file that can't be summarized is no error: it gets a [`Finding`](crate::model::Finding).
//! [`PdfError`] is for trouble that isn't the file's fault.

mod client;
mod frame;
mod protocol;
mod text;
mod worker;

pub use client::{PdfError, PdfWorker, PdfWorkerConfig};
pub use protocol::{DocumentText, Inspection, Measures, PageMeasure, PdfCopy};
#[cfg(feature = "fuzz")]
#[doc(hidden)]
pub use worker::fuzz;
pub use worker::worker_main;
