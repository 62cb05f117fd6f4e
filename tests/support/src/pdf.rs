//! PDFs made on the spot: good, odd, broken and hostile ones, each the same in every run. Those that
//! [`qpdf`](qpdf) encrypts have other keys each time.

mod broken;
mod encrypted;
mod file;
mod hostile;
mod large;
mod rich;
mod text;

pub use broken::{
    broken_table_pdf, damaged_pdf, html_page, junk_before, truncated_pdf, unlisted_kids_pdf,
};
pub use encrypted::{Cipher, encrypted_pdf, linearized, locked, qpdf};
pub use hostile::{endless_pdf, exploding_pdf, huge_image_pdf};
pub use large::{images_pdf, long_pdf};
pub use rich::{attachment_pdf, form_pdf, inherited_pdf, linked_pdf, shared_pdf, unseen_field_pdf};
pub use text::{
    blank_pdf, japanese_pdf, ligature_pdf, numbered_pdf, scanned_pdf, text_pdf, vertical_pdf,
};
