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
    let to_try = passwords.to_try(sha256);
    let opened = opened(pdf, passwords, path, &to_try).await?;
    Ok(opened.unwrap_or(inspection))
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
    opened(pdf, passwords, path, std::slice::from_ref(password)).await
}

async fn opened(
    pdf: &PdfWorker,
    passwords: &Passwords,
    path: &Path,
    to_try: &[SecretString],
) -> Result<Option<Inspection>, EngineError> {
    if to_try.is_empty() {
        return Ok(None);
    }
    let (inspection, which) = pdf.inspect_trying(path, to_try).await.map_err(internal)?;
    if is_locked(inspection.finding.as_ref()) {
        return Ok(None);
    }
    if let (Some(sha256), Some(password)) =
        (&inspection.sha256, which.and_then(|at| to_try.get(at)))
    {
        passwords.opens(sha256, password.clone());
    }
    Ok(Some(inspection))
}

/// Says whether a finding is that a password is missing.
pub(crate) fn is_locked(finding: Option<&Finding>) -> bool {
    finding.is_some_and(|finding| finding.cause == Cause::PdfEncrypted)
}

fn internal(error: PdfError) -> EngineError {
    EngineError::Internal(error.to_string())
}
