//! What is known better than by estimate: tokens that the provider counted, and what earlier answers came to.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{Result, Store, rows};
use crate::model::{Sends, Sha256, Timestamp};
use crate::pricing::{Learned, OutputHistory};

/// Answers that are kept of each model and template: enough for a tenth, and few enough to follow a model that
/// begins to write otherwise.
const KEPT: u32 = 200;
/// Documents that are looked up with one query.
const AT_ONCE: usize = 500;

/// What a count holds for: everything in a request that changes the tokens of its document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CountedFor {
    pub(crate) model: String,
    pub(crate) sends: Sends,
    /// As [`crate::templates::asks`] says it.
    pub(crate) asks: String,
}

/// What an answer about a whole document, or to a prompt, came to.
#[derive(Clone, Debug)]
pub(crate) struct CallSample {
    pub(crate) model: String,
    /// The template with its version; empty for a prompt.
    pub(crate) template: String,
    pub(crate) output_tokens: u64,
    pub(crate) ran_ms: u64,
}

/// How long calls ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latency {
    pub(crate) calls: u64,
    pub(crate) mean_ms: u64,
}

/// The columns of [`learned`] over `jobs AS j`. A part of a document is not counted.
pub(super) const LEARNED_COLUMNS: &str = "\
     CASE WHEN j.parts = 0 THEN \
         (SELECT c.tokens FROM templates AS t JOIN token_counts AS c \
              ON c.document_sha256 = j.document_sha256 AND c.model = j.model AND c.sends = j.sends \
              AND c.asks = CASE t.kind WHEN 'fields' THEN t.template_id || '-v' || t.version ELSE t.kind END \
          WHERE t.template_id = j.template_id AND t.version = j.template_version) END, \
     (SELECT json_array(h.calls, h.low_output, h.middle_output, h.high_output, h.most_output) \
      FROM call_history AS h WHERE h.model = j.model \
          AND h.template = coalesce(j.template_id || '-v' || j.template_version, ''))";

/// Reads [`LEARNED_COLUMNS`] from column `at` on.
pub(super) fn learned(row: &Row<'_>, at: usize) -> rusqlite::Result<Learned> {
    Ok(Learned {
        counted: rows::optional_unsigned(row, at)?,
        output: rows::optional_json(row, at + 1)?.map(history),
    })
}

fn history(numbers: [u64; 5]) -> OutputHistory {
    let [answers, low, middle, high, most] = numbers;
    OutputHistory {
        answers,
        low,
        middle,
        high,
        most,
    }
}

impl Store {
    /// Returns the tokens of documents, of those that were counted.
    pub(crate) async fn counted(
        &self,
        counted_for: CountedFor,
        documents: Vec<Sha256>,
    ) -> Result<HashMap<Sha256, u64>> {
        self.read(move |connection| {
            let mut found = HashMap::new();
            for some in documents.chunks(AT_ONCE) {
                let digests: Vec<&str> = some.iter().map(Sha256::as_str).collect();
                let mut statement = connection.prepare_cached(
                    "SELECT document_sha256, tokens FROM token_counts
                     WHERE document_sha256 IN (SELECT value FROM json_each(?1))
                       AND model = ?2 AND sends = ?3 AND asks = ?4",
                )?;
                let rows = statement.query_map(
                    (
                        serde_json::to_string(&digests).unwrap_or_default(),
                        &counted_for.model,
                        counted_for.sends.as_str(),
                        &counted_for.asks,
                    ),
                    |row| Ok((Sha256(row.get(0)?), rows::unsigned(row, 1)?)),
                )?;
                for row in rows {
                    let (document, tokens) = row?;
                    found.insert(document, tokens);
                }
            }
            Ok(found)
        })
        .await
    }

    /// Keeps the tokens of a document as the provider counted them.
    pub(crate) async fn record_count(
        &self,
        counted_for: CountedFor,
        document: Sha256,
        tokens: u64,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO token_counts (document_sha256, model, sends, asks, tokens, counted_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                     ON CONFLICT DO UPDATE SET tokens = excluded.tokens, counted_at = excluded.counted_at",
                )?
                .execute((
                    document.as_str(),
                    &counted_for.model,
                    counted_for.sends.as_str(),
                    &counted_for.asks,
                    tokens.max(1).cast_signed(),
                    now.0,
                ))?;
            Ok(())
        })
        .await
    }

    /// Forgets every count: who is asked from now on may count otherwise.
    pub(crate) async fn forget_counts(&self) -> Result<()> {
        self.write(|connection| {
            connection.execute("DELETE FROM token_counts", [])?;
            Ok(())
        })
        .await
    }

    /// Keeps what an answer came to.
    pub(crate) async fn record_call(&self, sample: CallSample, now: Timestamp) -> Result<()> {
        self.write(move |connection| record_call(connection, &sample, now))
            .await
    }

    /// Returns how long earlier answers to a template by a model were; `None` before there was one.
    pub(crate) async fn output_history(
        &self,
        model: String,
        template: String,
    ) -> Result<Option<OutputHistory>> {
        self.read(move |connection| output_history(connection, &model, &template))
            .await
    }

    /// Returns how long calls to a model ran: those with the template, where there were a few, else all.
    pub(crate) async fn latency(&self, model: String, template: String) -> Result<Option<Latency>> {
        self.read(move |connection| latency(connection, &model, &template))
            .await
    }
}

pub(super) fn output_history(
    connection: &Connection,
    model: &str,
    template: &str,
) -> Result<Option<OutputHistory>> {
    Ok(connection
        .prepare_cached(
            "SELECT json_array(calls, low_output, middle_output, high_output, most_output)
             FROM call_history WHERE model = ?1 AND template = ?2",
        )?
        .query_row((model, template), |row| rows::json(row, 0).map(history))
        .optional()?)
}

/// Calls with a template that say more of its next ones than all calls to the model do.
const FEW_CALLS: u64 = 3;

fn latency(connection: &Connection, model: &str, template: &str) -> Result<Option<Latency>> {
    let of = |condition: &str| -> Result<Option<Latency>> {
        Ok(connection
            .prepare_cached(&format!(
                "SELECT sum(calls), sum(calls * mean_ms) / sum(calls) FROM call_history
                 WHERE model = ?1 AND {condition} HAVING sum(calls) > 0"
            ))?
            .query_row((model, template), |row| {
                Ok(Latency {
                    calls: rows::unsigned(row, 0)?,
                    mean_ms: rows::unsigned(row, 1)?,
                })
            })
            .optional()?)
    };
    match of("template = ?2")? {
        Some(latency) if latency.calls >= FEW_CALLS => Ok(Some(latency)),
        _ => of("?2 IS NOT NULL"),
    }
}

/// Keeps what an answer came to, and removes those that are too old to count.
pub(super) fn record_call(
    connection: &Connection,
    sample: &CallSample,
    now: Timestamp,
) -> Result<()> {
    let CallSample {
        model, template, ..
    } = sample;
    if sample.output_tokens == 0 {
        return Ok(());
    }
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "INSERT INTO call_samples (model, template, output_tokens, ran_ms, at)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((
            model,
            template,
            number(sample.output_tokens),
            number(sample.ran_ms),
            now.0,
        ))?;
    connection
        .prepare_cached(
            "DELETE FROM call_samples WHERE model = ?1 AND template = ?2 AND sample_id <= (
                 SELECT sample_id FROM call_samples WHERE model = ?1 AND template = ?2
                 ORDER BY sample_id DESC LIMIT 1 OFFSET ?3)",
        )?
        .execute((model, template, KEPT))?;
    let samples = connection
        .prepare_cached(
            "SELECT output_tokens, ran_ms FROM call_samples WHERE model = ?1 AND template = ?2",
        )?
        .query_map((model, template), |row| {
            Ok((rows::unsigned(row, 0)?, rows::unsigned(row, 1)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let ran: u128 = samples.iter().map(|(_, ran_ms)| u128::from(*ran_ms)).sum();
    let mean_ms = u64::try_from(ran / samples.len().max(1) as u128).unwrap_or(u64::MAX);
    let tokens = samples.into_iter().map(|(tokens, _)| tokens).collect();
    let Some(history) = OutputHistory::of(tokens) else {
        return Ok(());
    };
    connection
        .prepare_cached(
            "INSERT INTO call_history (model, template, calls, low_output, middle_output, high_output,
                                       most_output, mean_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT DO UPDATE SET calls = excluded.calls, low_output = excluded.low_output,
                 middle_output = excluded.middle_output, high_output = excluded.high_output,
                 most_output = excluded.most_output, mean_ms = excluded.mean_ms",
        )?
        .execute((
            model,
            template,
            number(history.answers),
            number(history.low),
            number(history.middle),
            number(history.high),
            number(history.most),
            number(mean_ms),
        ))?;
    Ok(())
}

/// Returns what is known of a job's document and of its template, where it asks as changes say.
pub(super) fn of_job(
    connection: &Connection,
    job_id: &str,
    model: &str,
    sends: Sends,
    template: Option<&crate::templates::Template>,
) -> Result<Learned> {
    let (document, asks, named): (Option<String>, Option<String>, String) = connection
        .prepare_cached(
            "SELECT j.document_sha256,
                    (SELECT CASE t.kind WHEN 'fields' THEN t.template_id || '-v' || t.version ELSE t.kind END
                     FROM templates AS t
                     WHERE t.template_id = j.template_id AND t.version = j.template_version),
                    coalesce(j.template_id || '-v' || j.template_version, '')
             FROM jobs AS j WHERE j.job_id = ?1",
        )?
        .query_row([job_id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let is_pdf = asks.is_some();
    let (asks, named) = match template.filter(|_| is_pdf) {
        Some(template) => (Some(crate::templates::asks(template)), template.name()),
        None => (asks, named),
    };
    let counted = connection
        .prepare_cached(
            "SELECT tokens FROM token_counts
             WHERE document_sha256 = ?1 AND model = ?2 AND sends = ?3 AND asks = ?4",
        )?
        .query_row((document, model, sends.as_str(), asks), |row| {
            rows::unsigned(row, 0)
        })
        .optional()?;
    Ok(Learned {
        counted,
        output: output_history(connection, model, &named)?,
    })
}
