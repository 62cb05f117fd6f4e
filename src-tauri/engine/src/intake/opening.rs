//! Inspecting files that may need a password.

use std::path::Path;

use secrecy::SecretString;

use crate::error::EngineError;
use crate::model::{Cause, Finding};
use crate::passwords::Passwords;
use crate::pdf::{Inspection, PdfError, PdfWorker};

/// Inspects a file, with the passwords that were given where it needs one, and remembers which opens it.
///
/// # Errors
/// When PDFs can't be inspected at all.
pub(crate) async fn inspect(
    pdf: &PdfWorker,
    passwords: &Passwords,
    path: &Path,
) -> Result<Inspection, EngineError> {
    let inspection = pdf.inspect(path).await.map_err(internal)?;
    let Some(sha256) = inspection
        .sha256
        .as_ref()
        .filter(|_| is_locked(inspection.finding.as_ref()))
    else {
        return Ok(inspection);
    };
    for password in passwords.to_try(sha256) {
        if let Some(opened) = inspect_with(pdf, passwords, path, &password).await? {
            return Ok(opened);
        }
    }
    Ok(inspection)
}

/// Inspects a file that needs a password with this one; `None` when that does not open it. Remembers it
/// otherwise.
///
/// # Errors
/// When PDFs can't be inspected at all.
pub(crate) async fn inspect_with(
    pdf: &PdfWorker,
    passwords: &Passwords,
    path: &Path,
    password: &SecretString,
) -> Result<Option<Inspection>, EngineError> {
    let inspection = pdf
        .inspect_with_password(path, password)
        .await
        .map_err(internal)?;
    let Some(sha256) = inspection
        .sha256
        .as_ref()
        .filter(|_| !is_locked(inspection.finding.as_ref()))
    else {
        return Ok(None);
    };
    passwords.opens(sha256, password.clone());
    Ok(Some(inspection))
}

/// Says whether a finding is that a password is missing.
pub(crate) fn is_locked(finding: Option<&Finding>) -> bool {
    finding.is_some_and(|finding| finding.cause == Cause::PdfEncrypted)
}

fn internal(error: PdfError) -> EngineError {
    EngineError::Internal(error.to_string())
}
