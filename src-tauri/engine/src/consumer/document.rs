//! What is sent of the PDF of an attempt: verified just before it is read.
//!
//! A file that is whole and open is sent as it lies. What is encrypted, broken, larger than one call takes or
//! asked part by part goes as a private copy; where text is wanted, its text goes.

mod file;
mod lent;
mod private;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::model::{
    AttemptStep, Cause, DocumentFacts, DocumentView, Encryption, PageRange, Provider, Sends, Sha256,
};
use crate::pdf::{DocumentText, PdfError};
use crate::pricing::ceiling;
use crate::provider::claude::MAX_FILE_BYTES;
use crate::provider::{Deliver, DocumentContent, Failure, RequestDocument};
use crate::store::ClaimedJob;

use lent::LentFile;
pub(super) use lent::sweep as give_back_files;
pub(crate) use private::PrivateCopy;
pub(super) use private::sweep;

/// Most characters of text that are read for one call: more than any model takes.
const MOST_CHARACTERS: usize = 6_000_000;
/// With a larger share of glyphs that stand for no known character, a text would be nonsense.
const MOST_UNTRUSTED: f32 = 0.5;

/// A document ready to be sent.
pub(super) struct Prepared {
    pub(super) document: RequestDocument,
    /// The pages of the whole document, when known.
    pub(super) pages_in_all: Option<u32>,
    /// Removed when the attempt ends.
    _copy: Option<PrivateCopy>,
    /// Removed at the provider when the attempt ends.
    _lent: Option<LentFile>,
}

impl Prepared {
    /// Returns a document as it was sent, of which nothing is sent again.
    pub(super) fn remembered(document: RequestDocument, pages_in_all: Option<u32>) -> Self {
        Self {
            document,
            pages_in_all,
            _copy: None,
            _lent: None,
        }
    }
}

/// The file of an attempt as it is now.
struct Source {
    path: PathBuf,
    sha256: Sha256,
    bytes: u64,
    pages: Option<u32>,
    encryption: Encryption,
    facts: DocumentFacts,
    /// Opens it; `None` where it needs none.
    password: Option<SecretString>,
}

/// Prepares what is sent of the PDF of a claimed job, after making sure that it is the file that was added.
///
/// What is too large for the body of a message is uploaded to the `lender`, where there is one that takes files.
pub(super) async fn prepared(
    shared: &Shared,
    job: &ClaimedJob,
    lender: Option<&Arc<dyn Deliver>>,
    cancel: &CancellationToken,
) -> Result<Prepared, Failure> {
    let lender = lender.filter(|lender| takes_files(shared, lender.as_ref()));
    let source = source(shared, job).await?;
    let pages = match job.step {
        AttemptStep::Part { pages } => Some(pages),
        AttemptStep::Whole | AttemptStep::Combine => None,
    };
    let (content, copy) = if job.provider == Provider::Offline || job.sends == Sends::Text {
        (text(shared, job, &source, pages).await?, None)
    } else {
        pdf(shared, job, &source, pages, lender.is_some()).await?
    };
    let (content, lent) = match lender {
        Some(lender) => uploaded(shared, job, content, lender, cancel).await?,
        None => (content, None),
    };
    Ok(Prepared {
        document: RequestDocument {
            content,
            pages: pages.map(PageRange::pages).or(source.pages),
            first_page: pages.map_or(1, |pages| pages.first),
            name: job.title.clone(),
        },
        pages_in_all: source.pages,
        _copy: copy,
        _lent: lent,
    })
}

async fn source(shared: &Shared, job: &ClaimedJob) -> Result<Source, Failure> {
    let path = PathBuf::from(job.source_path.clone().unwrap_or_default());
    let Some(sha256) = job.document_sha256.clone() else {
        // It could not be read when it was added, and is taken as it is now.
        return adopted(shared, job, path).await;
    };
    file::verify(job, path.clone(), sha256.clone()).await?;
    let locked = matches!(&job.finding, Some((Cause::PdfEncrypted, _)));
    if let Some((cause, message)) = job.finding.as_ref().filter(|_| !locked) {
        return Err(Failure::unsent(*cause, message.clone()));
    }
    let sha256 = Sha256(sha256);
    let password = shared.passwords.of(&sha256);
    let needs_password = locked || job.encryption == Encryption::NeedsPassword;
    if needs_password && (locked || password.is_none()) {
        if shared.passwords.to_try(&sha256).is_empty() {
            return Err(password_wanted());
        }
        return adopted(shared, job, path).await;
    }
    Ok(Source {
        path,
        sha256,
        bytes: job.source_bytes.unwrap_or_default(),
        pages: job.pages,
        encryption: job.encryption,
        facts: job.facts.clone(),
        password: password.filter(|_| needs_password),
    })
}

/// Inspects a file anew with the passwords at hand, and remembers what it is.
async fn adopted(shared: &Shared, job: &ClaimedJob, path: PathBuf) -> Result<Source, Failure> {
    let known = job.document_sha256.clone().map(Sha256);
    let passwords = shared
        .passwords
        .to_try(&known.unwrap_or_else(|| Sha256(String::new())));
    let (inspection, opened_by) = shared
        .pdf
        .inspect_trying(&path, &passwords)
        .await
        .map_err(failure)?;
    let (modified_ms, measures) = (inspection.modified_ms, inspection.measures.clone());
    let document = crate::intake::document(inspection)
        .map_err(|finding| Failure::unsent(finding.cause, finding.message))?;
    let password = opened_by.and_then(|index| passwords.into_iter().nth(index));
    if let Some(password) = &password {
        shared.passwords.opens(&document.sha256, password.clone());
    }
    let now = shared.clock.now();
    shared
        .store
        .adopt_document(
            job.lease.clone(),
            document.clone(),
            measures,
            modified_ms,
            now,
        )
        .await
        .map_err(|error| Failure::unsent(Cause::StorageFailed, error.to_string()))?;
    let DocumentView {
        sha256,
        bytes,
        pages,
        encryption,
        facts,
        finding,
        ..
    } = document;
    if let Some(finding) = finding {
        return Err(if finding.cause == Cause::PdfEncrypted {
            password_wanted()
        } else {
            Failure::unsent(finding.cause, finding.message)
        });
    }
    if job.step == AttemptStep::Whole {
        refuse_long(shared, job, pages).await?;
    }
    Ok(Source {
        path,
        sha256,
        bytes,
        pages,
        encryption,
        facts,
        password,
    })
}

/// Refuses to send a document as a whole of which is known only now that one call does not take it.
async fn refuse_long(shared: &Shared, job: &ClaimedJob, pages: Option<u32>) -> Result<(), Failure> {
    let planned = shared
        .store
        .planned_parts(job.lease.clone())
        .await
        .map_err(|error| Failure::unsent(Cause::StorageFailed, error.to_string()))?;
    match planned {
        Ok(parts) if parts.is_empty() => Ok(()),
        Ok(parts) => Err(Failure::unsent(
            Cause::TooManyPages,
            format!(
                "The document has {} pages, more than one call takes; it has {} parts.",
                pages.unwrap_or_default(),
                parts.len()
            ),
        )),
        Err(finding) => Err(Failure::unsent(finding.cause, finding.message)),
    }
}

fn password_wanted() -> Failure {
    Failure::unsent(
        Cause::PdfEncrypted,
        "The PDF needs a password, and none of those given opens it. Passwords are kept only until Gistmill is \
         closed: give it again.",
    )
}

/// Returns the PDF that is sent: the file itself where it can be, else a private copy.
async fn pdf(
    shared: &Shared,
    job: &ClaimedJob,
    source: &Source,
    pages: Option<PageRange>,
    takes_files: bool,
) -> Result<(DocumentContent, Option<PrivateCopy>), Failure> {
    let most_bytes = if takes_files {
        MAX_FILE_BYTES
    } else {
        ceiling(&job.model).document_bytes
    };
    let as_it_lies = pages.is_none()
        && source.encryption == Encryption::None
        && !source.facts.repaired
        && source.bytes <= most_bytes;
    if as_it_lies {
        let content = DocumentContent::File {
            path: source.path.clone(),
            bytes: source.bytes,
        };
        return Ok((content, None));
    }
    let copy = PrivateCopy::begin(&shared.private_directory).await?;
    let written = shared
        .pdf
        .copy(&source.path, source.password.as_ref(), pages, copy.path())
        .await
        .map_err(failure)?;
    if written.bytes > most_bytes {
        let megabytes = |bytes: u64| bytes as f64 / 1_000_000.0;
        return Err(Failure::unsent(
            Cause::TooLarge,
            format!(
                "{} takes {:.1} MB; one call takes at most {:.1} MB of a PDF.",
                named(pages),
                megabytes(written.bytes),
                megabytes(most_bytes),
            ),
        ));
    }
    if written.without_annotations && !source.facts.annotations_lost {
        shared
            .store
            .note_annotations_lost(source.sha256.clone())
            .await
            .map_err(|error| Failure::unsent(Cause::StorageFailed, error.to_string()))?;
    }
    let content = DocumentContent::File {
        path: copy.path().to_owned(),
        bytes: written.bytes,
    };
    Ok((content, Some(copy)))
}

fn takes_files(shared: &Shared, provider: &dyn Deliver) -> bool {
    provider.takes_files() && !shared.files_refused.load(Ordering::Relaxed)
}

/// Uploads a PDF that is too large for the body of a message.
async fn uploaded(
    shared: &Shared,
    job: &ClaimedJob,
    content: DocumentContent,
    provider: &Arc<dyn Deliver>,
    cancel: &CancellationToken,
) -> Result<(DocumentContent, Option<LentFile>), Failure> {
    let DocumentContent::File { path, bytes } = &content else {
        return Ok((content, None));
    };
    if *bytes <= ceiling(&job.model).document_bytes {
        return Ok((content, None));
    }
    let file = (path.as_path(), *bytes, job.title.as_str());
    match LentFile::lend(shared, provider, file, cancel).await {
        Ok(lent) => {
            let file_id = lent.id().to_owned();
            Ok((DocumentContent::Uploaded { file_id }, Some(lent)))
        }
        Err(failure) => {
            if failure.cause == Cause::FilesNotTaken {
                // Large PDFs are asked part by part from here on, until the next start.
                shared.files_refused.store(true, Ordering::Relaxed);
                if let Err(error) = shared.store.note_files_refused().await {
                    tracing::debug!(%error, "that no files are taken could not be noted");
                }
            }
            Err(failure)
        }
    }
}

/// Returns the text that is sent in the place of pages.
async fn text(
    shared: &Shared,
    job: &ClaimedJob,
    source: &Source,
    pages: Option<PageRange>,
) -> Result<DocumentContent, Failure> {
    let DocumentText {
        pages: texts,
        untrusted_glyph_share,
        truncated,
    } = shared
        .pdf
        .text(
            &source.path,
            source.password.as_ref(),
            pages,
            MOST_CHARACTERS,
        )
        .await
        .map_err(failure)?;
    if untrusted_glyph_share > MOST_UNTRUSTED {
        return Err(Failure::unsent(
            Cause::PdfWithoutText,
            "Most of its letters have no known meaning, so its text can't be read.",
        ));
    }
    if job.provider == Provider::Claude {
        if truncated {
            return Err(Failure::unsent(
                Cause::TooLarge,
                format!("{} has more text than one call takes.", named(pages)),
            ));
        }
        let is_blank = texts.iter().all(|text| text.trim().is_empty());
        // Of a part that is blank, the others have text.
        if is_blank && pages.is_none_or(|_| has_no_text(&source.facts)) {
            return Err(Failure::unsent(
                Cause::PdfWithoutText,
                "It has no text that could be sent in place of its pages; it may be scanned.",
            ));
        }
    }
    Ok(DocumentContent::Text(texts))
}

fn has_no_text(facts: &DocumentFacts) -> bool {
    facts.text.is_some_and(|text| text.pages_with_text == 0)
}

/// Says what is sent, at the beginning of a sentence.
fn named(pages: Option<PageRange>) -> String {
    match pages {
        None => "The document".to_owned(),
        Some(PageRange { first, last }) if first == last => format!("Page {first} alone"),
        Some(PageRange { first, last }) => format!("The part with pages {first} to {last}"),
    }
}

fn failure(error: PdfError) -> Failure {
    match error {
        PdfError::Refused(finding) => Failure::unsent(finding.cause, finding.message),
        PdfError::NotWritten { how } => private::unwritable(&how),
        PdfError::Stopped => Failure::unsent(Cause::Interrupted, error.to_string()),
        ours => Failure::unsent(Cause::UnexpectedStatus, ours.to_string()),
    }
}
