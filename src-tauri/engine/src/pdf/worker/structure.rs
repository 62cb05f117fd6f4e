//! Pages and encryption of a PDF, by two parsers that know nothing of each other.
//!
//! Where both agree they are right in practice always. The first takes the page tree at its word, so
//! where the second differs or gives up, a third count by walking every page decides.

use std::sync::Arc;

use hayro::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use lopdf::{Document, LoadOptions};

use super::finding;
use crate::model::{Cause, Encryption, Finding};

/// Most bytes that one stream of the file's structure may unpack to.
const MAX_UNPACKED_BYTES: usize = 64 << 20;

/// What is known of a PDF's structure.
pub(super) struct Structure {
    /// Its pages.
    pub(super) pages: Option<u32>,
    /// How it is encrypted.
    pub(super) encryption: Encryption,
    /// What speaks against it.
    pub(super) finding: Option<Finding>,
    /// The opened file, when its pages can be interpreted.
    pub(super) pdf: Option<Pdf>,
}

/// What one parser found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opinion {
    /// It opened the file and counted so many pages.
    Pages(u32),
    /// It needs a (or another) password.
    NeedsPassword,
    /// It can't decrypt the file.
    CannotDecrypt,
    /// It can't make sense of the file.
    Damaged,
}

/// Reads the structure.
pub(super) fn read(content: &Arc<Vec<u8>>, password: Option<&str>) -> Structure {
    let (first, encrypted) = first_opinion(content, password);
    let (second, pdf) = second_opinion(content, password);
    let pages = agree(first, second, || third_count(content, password));

    let encrypted = encrypted.unwrap_or_else(|| mentions_encryption(content));
    let encryption = match (encrypted, pages, first, second) {
        (_, None, Opinion::NeedsPassword, _) | (_, None, _, Opinion::NeedsPassword) => {
            Encryption::NeedsPassword
        }
        (_, None, Opinion::CannotDecrypt, _) | (_, None, _, Opinion::CannotDecrypt) => {
            Encryption::Unsupported
        }
        (false, ..) => Encryption::None,
        (true, Some(_), ..) if password.is_some() && !opens_without_password(content) => {
            Encryption::NeedsPassword
        }
        (true, ..) => Encryption::EmptyPassword,
    };
    let finding = match (pages, encryption) {
        (Some(_), _) => None,
        (None, Encryption::NeedsPassword) if password.is_some() => Some(finding(
            Cause::PdfEncrypted,
            "This PDF needs a password, and it isn't the one that was given.",
        )),
        (None, Encryption::NeedsPassword) => Some(finding(
            Cause::PdfEncrypted,
            "This PDF needs a password to be opened.",
        )),
        (None, Encryption::Unsupported) => Some(finding(
            Cause::PdfEncrypted,
            "This PDF is encrypted in a way that can't be opened here.",
        )),
        (None, _) if first == Opinion::Pages(0) || second == Opinion::Pages(0) => {
            Some(finding(Cause::PdfDamaged, "This PDF has no pages."))
        }
        (None, _) => Some(finding(
            Cause::PdfDamaged,
            "This PDF is damaged: its structure can't be read.",
        )),
    };
    Structure {
        pages,
        encryption,
        finding,
        pdf,
    }
}

/// Chooses the number of pages.
fn agree(first: Opinion, second: Opinion, third: impl FnOnce() -> Option<u32>) -> Option<u32> {
    let count = |opinion| match opinion {
        Opinion::Pages(pages) if pages > 0 => Some(pages),
        _ => None,
    };
    match (count(first), count(second)) {
        (Some(one), Some(other)) if one == other => Some(one),
        (Some(one), Some(other)) => third()
            .filter(|pages| *pages == one || *pages == other)
            .or(Some(one)),
        (Some(_), None) => third().filter(|pages| *pages > 0),
        (None, other) => other,
    }
}

/// Counts by the root of the page tree; also says whether the file is encrypted, when it can be told.
fn first_opinion(content: &[u8], password: Option<&str>) -> (Opinion, Option<bool>) {
    let metadata = match password {
        None => Document::load_metadata_mem(content),
        Some(password) => Document::load_metadata_mem_with_password(content, password),
    };
    match metadata {
        Ok(metadata) if metadata.page_count > 0 => (
            Opinion::Pages(metadata.page_count),
            Some(metadata.encrypted),
        ),
        // The count of a file that it can't decrypt is 0, without an error.
        Ok(metadata) if metadata.encrypted => (Opinion::CannotDecrypt, Some(true)),
        Ok(_) => (Opinion::Pages(0), Some(false)),
        Err(lopdf::Error::InvalidPassword) => (Opinion::NeedsPassword, Some(true)),
        Err(lopdf::Error::Decryption(_) | lopdf::Error::UnsupportedSecurityHandler(_)) => {
            (Opinion::CannotDecrypt, Some(true))
        }
        Err(_) => (Opinion::Damaged, None),
    }
}

/// Opens the file for reading its pages, and counts those.
fn second_opinion(content: &Arc<Vec<u8>>, password: Option<&str>) -> (Opinion, Option<Pdf>) {
    let open = |password| Pdf::new_with_password(Arc::clone(content), password);
    let opened = match (open(""), password) {
        (Err(LoadPdfError::Decryption(_)), Some(password)) => open(password),
        (opened, _) => opened,
    };
    match opened {
        Ok(pdf) => {
            let pages = u32::try_from(pdf.pages().len()).unwrap_or(u32::MAX);
            (Opinion::Pages(pages), (pages > 0).then_some(pdf))
        }
        Err(LoadPdfError::Decryption(DecryptionError::PasswordProtected)) => {
            (Opinion::NeedsPassword, None)
        }
        Err(LoadPdfError::Decryption(_)) => (Opinion::CannotDecrypt, None),
        Err(LoadPdfError::Invalid) => (Opinion::Damaged, None),
    }
}

/// Counts by walking every page of the fully loaded document.
fn third_count(content: &[u8], password: Option<&str>) -> Option<u32> {
    let mut options = LoadOptions::with_max_decompressed_size(MAX_UNPACKED_BYTES);
    options.password = password.map(str::to_owned);
    let document = Document::load_mem_with_options(content, options).ok()?;
    // Without a usable password a document loads all the same; nothing it says then is true.
    if document.is_encrypted() && !document.was_encrypted() {
        return None;
    }
    u32::try_from(document.get_pages().len()).ok()
}

fn opens_without_password(content: &Arc<Vec<u8>>) -> bool {
    Pdf::new(Arc::clone(content)).is_ok()
        || matches!(first_opinion(content, None), (Opinion::Pages(_), _))
}

/// Looks for the key that every encrypted file has in its trailer, when no parser can tell.
fn mentions_encryption(content: &[u8]) -> bool {
    let key = b"/Encrypt";
    content
        .windows(key.len() + 1)
        .any(|window| window.starts_with(key) && !window[key.len()].is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_counts_need_no_third_one() {
        let unasked = || panic!("asked");
        assert_eq!(
            agree(Opinion::Pages(3), Opinion::Pages(3), unasked),
            Some(3)
        );
        assert_eq!(
            agree(Opinion::Pages(0), Opinion::Pages(3), unasked),
            Some(3)
        );
        assert_eq!(agree(Opinion::Pages(0), Opinion::Damaged, unasked), None);
    }

    #[test]
    fn the_third_count_breaks_a_tie() {
        let (claimed, found) = (Opinion::Pages(900), Opinion::Pages(3));
        assert_eq!(agree(claimed, found, || Some(3)), Some(3));
        assert_eq!(agree(claimed, found, || Some(900)), Some(900));
        assert_eq!(agree(claimed, found, || Some(5)), Some(900));
        assert_eq!(agree(claimed, found, || None), Some(900));
        assert_eq!(agree(claimed, Opinion::Damaged, || Some(3)), Some(3));
        assert_eq!(agree(claimed, Opinion::Damaged, || Some(0)), None);
        assert_eq!(agree(claimed, Opinion::Damaged, || None), None);
    }
}
