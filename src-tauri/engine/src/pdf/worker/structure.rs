//! Pages and encryption of a PDF, by two parsers that know nothing of each other.
//!
//! Where both agree they are right in practice always. The first takes the page tree at its word, so
//! where the second differs or gives up, a third count by walking every page decides.

use std::sync::Arc;

use hayro::hayro_syntax::{DecryptionError, LoadPdfError, Pdf};
use lopdf::{Document, LoadOptions, PdfMetadata};

use super::{cipher, damaged, finding, passwords, tail};
use crate::model::{Cause, Encryption, Finding};

/// Most bytes that one stream of the file's structure may unpack to.
const MAX_UNPACKED_BYTES: usize = 64 << 20;

/// Largest file that is decrypted as a whole for the sake of the second parser, in bytes.
const MAX_DECRYPTED_BYTES: usize = 256 << 20;

/// What is known of a PDF's structure.
pub(super) struct Structure {
    /// Its pages.
    pub(super) pages: Option<u32>,
    /// How it is encrypted.
    pub(super) encryption: Encryption,
    /// Which of the passwords opened it, and in which form; `None` for the empty one.
    pub(super) password: Option<(usize, String)>,
    /// What speaks against it.
    pub(super) finding: Option<Finding>,
    /// The opened file, when its pages can be interpreted.
    pub(super) pdf: Option<Pdf>,
    /// The title in its list of properties.
    pub(super) title: Option<String>,
    /// Whether its table of objects had to be made anew.
    pub(super) repaired: bool,
    /// Whether the counts of its pages differ.
    pub(super) uncertain: bool,
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

/// What both parsers found with one password.
struct Look {
    first: Opinion,
    metadata: Option<PdfMetadata>,
    second: Opinion,
    pdf: Option<Pdf>,
    pages: Option<u32>,
}

/// Reads the structure, with the first of these passwords that opens the file when the empty one doesn't.
pub(super) fn read(content: &Arc<Vec<u8>>, passwords: &[String]) -> Structure {
    let look = look(content, "");
    if look.pages.is_some() || !look.needs_password() {
        return judge(content, look, None, false);
    }
    let tries = passwords.iter().enumerate().flat_map(|(index, password)| {
        passwords::forms(password)
            .into_iter()
            .map(move |form| (index, form))
    });
    for (index, form) in tries {
        let look = self::look(content, &form);
        if look.pages.is_some() {
            return judge(content, look, Some((index, form)), true);
        }
    }
    judge(content, look, None, !passwords.is_empty())
}

fn look(content: &Arc<Vec<u8>>, password: &str) -> Look {
    let (first, metadata) = first_opinion(content, password);
    let (second, mut pdf) = second_opinion(content, password);
    let pages = agree(first, second, || third_count(content, password));
    if pages.is_some() && pdf.is_none() && second != Opinion::Damaged {
        // It takes no password of older encryptions that is not ASCII, and no owner's password of those.
        pdf = decrypted(content, password);
    }
    Look {
        first,
        metadata,
        second,
        pdf,
        pages,
    }
}

impl Look {
    fn needs_password(&self) -> bool {
        match self.second {
            Opinion::NeedsPassword => true,
            Opinion::CannotDecrypt | Opinion::Pages(_) => false,
            Opinion::Damaged => self.first == Opinion::NeedsPassword,
        }
    }

    fn cannot_decrypt(&self) -> bool {
        self.first == Opinion::CannotDecrypt || self.second == Opinion::CannotDecrypt
    }
}

fn judge(
    content: &Arc<Vec<u8>>,
    look: Look,
    password: Option<(usize, String)>,
    tried: bool,
) -> Structure {
    let encrypted = look.metadata.as_ref().map_or_else(
        || cipher::is_mentioned(content),
        |metadata| metadata.encrypted,
    );
    let encryption = if password.is_some() || (look.pages.is_none() && look.needs_password()) {
        Encryption::NeedsPassword
    } else if look.pages.is_none() && look.cannot_decrypt() {
        Encryption::Unsupported
    } else if encrypted {
        Encryption::EmptyPassword
    } else {
        Encryption::None
    };
    let finding = match (look.pages, encryption) {
        (Some(pages), _) => {
            let claimed = match look.first {
                Opinion::Pages(claimed) => claimed.max(pages),
                _ => pages,
            };
            tail::missing_pages(content, look.pdf.as_ref(), pages, claimed)
        }
        (None, Encryption::NeedsPassword) if tried => Some(finding(
            Cause::PdfEncrypted,
            "This PDF needs a password, and it isn't one that was given.",
        )),
        (None, Encryption::NeedsPassword) => Some(finding(
            Cause::PdfEncrypted,
            "This PDF needs a password to be opened.",
        )),
        (None, Encryption::Unsupported) => Some(finding(
            Cause::PdfCipherUnknown,
            cipher::name(content).map_or_else(
                || "This PDF is encrypted in a way that can't be opened here.".to_owned(),
                |cipher| {
                    format!("This PDF is encrypted in a way that can't be opened here ({cipher}).")
                },
            ),
        )),
        (None, _) if tail::is_missing(content) => Some(tail::nothing_left()),
        (None, _) if look.first == Opinion::Pages(0) || look.second == Opinion::Pages(0) => {
            Some(finding(Cause::PdfDamaged, "This PDF has no pages."))
        }
        (None, _) => Some(damaged()),
    };
    let recovered = look
        .metadata
        .as_ref()
        .is_some_and(|metadata| metadata.xref_recovery.is_some());
    let useless = |opinion| matches!(opinion, Opinion::Damaged | Opinion::Pages(0));
    let uncertain = matches!(
        (look.first, look.second),
        (Opinion::Pages(one @ 1..), Opinion::Pages(other @ 1..)) if one != other
    );
    Structure {
        pages: look.pages,
        encryption,
        password,
        finding,
        pdf: look.pdf,
        title: look.metadata.and_then(|metadata| metadata.title),
        repaired: recovered || useless(look.first) || useless(look.second),
        uncertain,
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

/// Counts by the root of the page tree.
fn first_opinion(content: &[u8], password: &str) -> (Opinion, Option<PdfMetadata>) {
    match Document::load_metadata_mem_with_password(content, password) {
        Ok(metadata) if metadata.page_count == 0 && metadata.encrypted => {
            // The count of a file that it can't decrypt is 0, without an error.
            (Opinion::CannotDecrypt, Some(metadata))
        }
        Ok(metadata) => (Opinion::Pages(metadata.page_count), Some(metadata)),
        Err(lopdf::Error::InvalidPassword) => (Opinion::NeedsPassword, None),
        Err(lopdf::Error::Decryption(_) | lopdf::Error::UnsupportedSecurityHandler(_)) => {
            (Opinion::CannotDecrypt, None)
        }
        Err(_) => (Opinion::Damaged, None),
    }
}

/// Opens the file for reading its pages, and counts those.
fn second_opinion(content: &Arc<Vec<u8>>, password: &str) -> (Opinion, Option<Pdf>) {
    match Pdf::new_with_password(Arc::clone(content), password) {
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
fn third_count(content: &[u8], password: &str) -> Option<u32> {
    u32::try_from(load(content, password)?.get_pages().len()).ok()
}

/// Loads the whole document.
fn load(content: &[u8], password: &str) -> Option<Document> {
    let mut options = LoadOptions::with_max_decompressed_size(MAX_UNPACKED_BYTES);
    options.password = Some(password.to_owned());
    let document = Document::load_mem_with_options(content, options).ok()?;
    // Without a usable password a document loads all the same; nothing it says then is true.
    (!document.is_encrypted() || document.was_encrypted()).then_some(document)
}

/// Opens what the first parser decrypted by the second.
fn decrypted(content: &[u8], password: &str) -> Option<Pdf> {
    if content.len() > MAX_DECRYPTED_BYTES {
        return None;
    }
    let mut document = load(content, password)?;
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).ok()?;
    Pdf::new(bytes).ok().filter(|pdf| !pdf.pages().is_empty())
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
