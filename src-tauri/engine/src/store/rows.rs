//! Words and rows: how types are stored and read back.

use rusqlite::Row;
use rusqlite::types::Type;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::model::{
    AttemptOutcome, AttemptStep, AttemptView, Cause, Delivery, Encryption, JobKind, JobStatus,
    PageRange, Provider, QueueName, ResultFormat, Sends, TemplateKind, Timestamp,
};

/// Returns the error for a stored word that this version does not know.
fn unknown(index: usize, word: &str) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(
        index,
        Type::Text,
        format!("unknown word “{word}”").into(),
    )
}

/// Reads column `index` as a word that `parse` knows.
pub(super) fn word<T>(
    row: &Row<'_>,
    index: usize,
    parse: impl Fn(&str) -> Option<T>,
) -> rusqlite::Result<T> {
    let text: String = row.get(index)?;
    parse(&text).ok_or_else(|| unknown(index, &text))
}

pub(super) fn status(row: &Row<'_>, index: usize) -> rusqlite::Result<JobStatus> {
    word(row, index, JobStatus::from_word)
}

pub(super) fn queue(row: &Row<'_>, index: usize) -> rusqlite::Result<QueueName> {
    word(row, index, QueueName::from_word)
}

pub(super) fn provider(row: &Row<'_>, index: usize) -> rusqlite::Result<Provider> {
    word(row, index, Provider::from_word)
}

pub(super) fn delivery(row: &Row<'_>, index: usize) -> rusqlite::Result<Delivery> {
    word(row, index, Delivery::from_word)
}

pub(super) fn kind(row: &Row<'_>, index: usize) -> rusqlite::Result<JobKind> {
    word(row, index, |word| match word {
        "pdf" => Some(JobKind::Pdf),
        "prompt" => Some(JobKind::Prompt),
        _ => None,
    })
}

pub(super) fn kind_word(kind: JobKind) -> &'static str {
    match kind {
        JobKind::Pdf => "pdf",
        JobKind::Prompt => "prompt",
    }
}

pub(super) fn result_format(row: &Row<'_>, index: usize) -> rusqlite::Result<ResultFormat> {
    word(row, index, |word| match word {
        "markdown" => Some(ResultFormat::Markdown),
        "json" => Some(ResultFormat::Json),
        _ => None,
    })
}

pub(super) fn result_format_word(format: ResultFormat) -> &'static str {
    match format {
        ResultFormat::Markdown => "markdown",
        ResultFormat::Json => "json",
    }
}

pub(super) fn template_kind(row: &Row<'_>, index: usize) -> rusqlite::Result<TemplateKind> {
    word(row, index, |word| match word {
        "prose" => Some(TemplateKind::Prose),
        "cited-prose" => Some(TemplateKind::CitedProse),
        "fields" => Some(TemplateKind::Fields),
        _ => None,
    })
}

pub(super) fn template_kind_word(kind: TemplateKind) -> &'static str {
    match kind {
        TemplateKind::Prose => "prose",
        TemplateKind::CitedProse => "cited-prose",
        TemplateKind::Fields => "fields",
    }
}

/// Reads a value that is stored as JSON.
pub(super) fn json<T: DeserializeOwned>(row: &Row<'_>, index: usize) -> rusqlite::Result<T> {
    let text: String = row.get(index)?;
    serde_json::from_str(&text).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(index, Type::Text, Box::new(error))
    })
}

/// Writes a value as JSON that [`json`] reads.
pub(super) fn to_json<T: Serialize>(value: &T) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// Reads a value that is stored as JSON, where there is one.
pub(super) fn optional_json<T: DeserializeOwned>(
    row: &Row<'_>,
    index: usize,
) -> rusqlite::Result<Option<T>> {
    match row.get_ref(index)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => json(row, index).map(Some),
    }
}

pub(super) fn encryption(row: &Row<'_>, index: usize) -> rusqlite::Result<Encryption> {
    word(row, index, |word| match word {
        "none" => Some(Encryption::None),
        "empty-password" => Some(Encryption::EmptyPassword),
        "needs-password" => Some(Encryption::NeedsPassword),
        "unsupported" => Some(Encryption::Unsupported),
        _ => None,
    })
}

pub(super) fn encryption_word(encryption: Encryption) -> &'static str {
    match encryption {
        Encryption::None => "none",
        Encryption::EmptyPassword => "empty-password",
        Encryption::NeedsPassword => "needs-password",
        Encryption::Unsupported => "unsupported",
    }
}

pub(super) fn timestamp(row: &Row<'_>, index: usize) -> rusqlite::Result<Timestamp> {
    row.get(index).map(Timestamp)
}

pub(super) fn optional_timestamp(
    row: &Row<'_>,
    index: usize,
) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(index)?.map(Timestamp))
}

/// Reads a cause; a key that a newer version stored reads as an unexpected status.
pub(super) fn cause(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<Cause>> {
    let key: Option<String> = row.get(index)?;
    Ok(key.map(|key| Cause::from_key(&key).unwrap_or(Cause::UnexpectedStatus)))
}

/// Reads a number that is never negative.
pub(super) fn unsigned(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(index)?).unwrap_or(0))
}

pub(super) fn optional_unsigned(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<u64>> {
    Ok(row
        .get::<_, Option<i64>>(index)?
        .map(|value| u64::try_from(value).unwrap_or(0)))
}

/// The columns of [`attempt`].
pub(super) const ATTEMPT_COLUMNS: &str = "generation, number, provider, model, started_at, ended_at, \
     outcome, error_code, message, http_status, request_id, waited_ms, told_to_wait_ms, retry_at, \
     input_tokens, output_tokens, cost_micros, estimated_input, step, first_page, last_page";

pub(super) fn attempt(row: &Row<'_>) -> rusqlite::Result<AttemptView> {
    Ok(AttemptView {
        generation: row.get(0)?,
        number: row.get(1)?,
        provider: provider(row, 2)?,
        model: row.get(3)?,
        started_at: timestamp(row, 4)?,
        ended_at: optional_timestamp(row, 5)?,
        outcome: word(row, 6, AttemptOutcome::from_word)?,
        cause: cause(row, 7)?,
        message: row.get(8)?,
        http_status: row.get(9)?,
        request_id: row.get(10)?,
        waited_ms: unsigned(row, 11)?,
        told_to_wait_ms: optional_unsigned(row, 12)?,
        retry_at: optional_timestamp(row, 13)?,
        input_tokens: optional_unsigned(row, 14)?,
        output_tokens: optional_unsigned(row, 15)?,
        cost_micros: row.get(16)?,
        estimated_input_tokens: optional_unsigned(row, 17)?,
        step: step(row, 18)?,
    })
}

/// Reads what an attempt asked about, from its three columns.
fn step(row: &Row<'_>, index: usize) -> rusqlite::Result<AttemptStep> {
    let (first, last): (Option<u32>, Option<u32>) = (row.get(index + 1)?, row.get(index + 2)?);
    word(row, index, |word| match (word, first, last) {
        ("whole", ..) => Some(AttemptStep::Whole),
        ("combine", ..) => Some(AttemptStep::Combine),
        ("part", Some(first), Some(last)) => Some(AttemptStep::Part {
            pages: PageRange { first, last },
        }),
        _ => None,
    })
}

pub(super) fn sends(row: &Row<'_>, index: usize) -> rusqlite::Result<Sends> {
    word(row, index, Sends::from_word)
}
