//! What is known better than by estimate: tokens that the provider counted, and what earlier answers came to.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{Lease, Result, Store, rows};
use crate::model::{Sends, Sha256, Timestamp};
use crate::pricing::{Learned, OutputHistory, UsualCall};

/// Calls that are kept of each model, template, kind of document and step: enough for a tenth, and few enough to follow a model that
/// begins to write otherwise.
const KEPT: u32 = 200;
/// Calls that must have ended before the next ones are promised what is usual.
const ENOUGH_CALLS: u64 = 20;
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

/// What a call came to.
#[derive(Clone, Debug)]
pub(super) struct CallSample {
    pub(super) model: String,
    /// The template with its version; empty for a prompt.
    pub(super) template: String,
    pub(super) sends: Sends,
    /// As attempts name it.
    pub(super) step: String,
    /// Input as counted, in hundredths of what was expected; `None` where nothing was.
    pub(super) input_percent: Option<u64>,
    pub(super) output_tokens: u64,
    /// How long it ran; `None` for a request of a remote batch.
    pub(super) ran_ms: Option<u64>,
}

/// What the call of an attempt took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Took {
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    /// When it ended; `None` where that says nothing of how long it ran.
    pub(super) ended_at: Option<Timestamp>,
}

/// How long calls ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Latency {
    pub(crate) calls: u64,
    pub(crate) mean_ms: u64,
}

/// The columns of [`learned`] over `jobs AS j`: what is known of its next call. A part of a document is not counted,
/// and prompts without a template have nothing in common.
pub(super) const LEARNED_COLUMNS: &str = "\
     CASE WHEN j.parts = 0 THEN \
         (SELECT c.tokens FROM templates AS t JOIN token_counts AS c \
              ON c.document_sha256 = j.document_sha256 AND c.model = j.model AND c.sends = j.sends \
              AND c.asks = CASE t.kind WHEN 'fields' THEN t.template_id || '-v' || t.version ELSE t.kind END \
          WHERE t.template_id = j.template_id AND t.version = j.template_version) END, \
     (SELECT json_array(h.calls, h.low_output, h.middle_output, h.high_output, h.most_output, \
                        h.most_input_percent) \
      FROM call_history AS h WHERE h.model = j.model \
          AND h.template = j.template_id || '-v' || j.template_version AND h.sends = j.sends \
          AND h.step = CASE WHEN j.parts = 0 THEN 'whole' WHEN j.parts_done < j.parts THEN 'part' \
                            ELSE 'combine' END)";

/// Reads [`LEARNED_COLUMNS`] from column `at` on.
pub(super) fn learned(row: &Row<'_>, at: usize) -> rusqlite::Result<Learned> {
    let history = rows::optional_json(row, at + 1)?.map_or_else(Learned::default, history);
    Ok(Learned {
        counted: rows::optional_unsigned(row, at)?,
        ..history
    })
}

/// A row of `call_history`: calls, a tenth, the middle and nine tenths of the output, the most output, and the
/// most input in percent.
type Numbers = (u64, u64, u64, u64, u64, Option<u64>);

fn history(numbers: Numbers) -> Learned {
    let (answers, low, middle, high, most, input_percent) = numbers;
    Learned {
        counted: None,
        output: Some(OutputHistory {
            answers,
            low,
            middle,
            high,
            most,
        }),
        usual: (answers >= ENOUGH_CALLS).then_some(UsualCall {
            input_percent,
            output_tokens: most,
        }),
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

    /// Returns how long earlier answers to a template by a model were; `None` before there was one.
    pub(crate) async fn output_history(
        &self,
        model: String,
        template: String,
    ) -> Result<Option<OutputHistory>> {
        self.read(move |connection| {
            Ok(history_of(connection, &model, &template, None)?.and_then(|learned| learned.output))
        })
        .await
    }

    /// Returns what earlier calls about whole documents with a template say of the next ones; of none, those of
    /// prompts.
    pub(crate) async fn learned_of(
        &self,
        model: String,
        template: String,
        sends: Sends,
    ) -> Result<Learned> {
        self.read(move |connection| learned_of(connection, &model, &template, sends))
            .await
    }

    /// Returns how long calls to a model ran: those with the template, where there were a few, else all.
    pub(crate) async fn latency(&self, model: String, template: String) -> Result<Option<Latency>> {
        self.read(move |connection| latency(connection, &model, &template))
            .await
    }
}

fn learned_of(
    connection: &Connection,
    model: &str,
    template: &str,
    sends: Sends,
) -> Result<Learned> {
    let mut learned = history_of(connection, model, template, Some(sends))?.unwrap_or_default();
    if template.is_empty() {
        // Prompts have nothing in common that a promise could be built on.
        learned.usual = None;
    }
    Ok(learned)
}

/// Returns what calls about whole documents came to, sent as is said, else as most of them were.
fn history_of(
    connection: &Connection,
    model: &str,
    template: &str,
    sends: Option<Sends>,
) -> Result<Option<Learned>> {
    Ok(connection
        .prepare_cached(
            "SELECT json_array(calls, low_output, middle_output, high_output, most_output, most_input_percent)
             FROM call_history
             WHERE model = ?1 AND template = ?2 AND step = 'whole' AND sends = coalesce(?3, sends)
             ORDER BY calls DESC LIMIT 1",
        )?
        .query_row((model, template, sends.map(Sends::as_str)), |row| {
            rows::json(row, 0).map(history)
        })
        .optional()?)
}

/// Calls with a template that say more of its next ones than all calls to the model do.
const FEW_CALLS: u64 = 3;

fn latency(connection: &Connection, model: &str, template: &str) -> Result<Option<Latency>> {
    let of = |condition: &str| -> Result<Option<Latency>> {
        Ok(connection
            .prepare_cached(&format!(
                "SELECT sum(timed_calls), sum(timed_calls * mean_ms) / sum(timed_calls) FROM call_history
                 WHERE model = ?1 AND step = 'whole' AND {condition} HAVING sum(timed_calls) > 0"
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

/// Keeps what the call of an attempt took.
pub(super) fn note(
    connection: &Connection,
    lease: &Lease,
    took: Took,
    now: Timestamp,
) -> Result<()> {
    let sample = connection
        .prepare_cached(
            "SELECT a.model, coalesce(j.template_id || '-v' || j.template_version, ''), j.sends, a.step,
                    coalesce(a.estimated_input, 0), a.started_at
             FROM attempts AS a JOIN jobs AS j USING (job_id)
             WHERE a.job_id = ?1 AND a.lease_id = ?2",
        )?
        .query_row((lease.job_id.as_str(), &lease.lease_id), |row| {
            let estimated = rows::unsigned(row, 4)?;
            let began = rows::timestamp(row, 5)?;
            Ok(CallSample {
                model: row.get(0)?,
                template: row.get(1)?,
                sends: rows::sends(row, 2)?,
                step: row.get(3)?,
                input_percent: (estimated > 0).then(|| {
                    let hundredths = took.input_tokens.saturating_mul(100);
                    hundredths.div_ceil(estimated.max(1))
                }),
                output_tokens: took.output_tokens,
                ran_ms: took.ended_at.map(|ended_at| {
                    u64::try_from(ended_at.since(began).as_millis()).unwrap_or(u64::MAX)
                }),
            })
        })
        .optional()?;
    match sample {
        Some(sample) => record(connection, &sample, now),
        None => Ok(()),
    }
}

/// Keeps what a call came to, and removes those that are too old to count.
pub(super) fn record(connection: &Connection, sample: &CallSample, now: Timestamp) -> Result<()> {
    let of = (
        &sample.model,
        &sample.template,
        sample.sends.as_str(),
        &sample.step,
    );
    connection
        .prepare_cached(
            "INSERT INTO call_samples (model, template, sends, step, input_percent, output_tokens, ran_ms, at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute((
            of.0,
            of.1,
            of.2,
            of.3,
            sample.input_percent.map(bounded),
            bounded(sample.output_tokens),
            sample.ran_ms.map(bounded),
            now.0,
        ))?;
    connection
        .prepare_cached(
            "DELETE FROM call_samples
             WHERE model = ?1 AND template = ?2 AND sends = ?3 AND step = ?4 AND sample_id <= (
                 SELECT sample_id FROM call_samples
                 WHERE model = ?1 AND template = ?2 AND sends = ?3 AND step = ?4
                 ORDER BY sample_id DESC LIMIT 1 OFFSET ?5)",
        )?
        .execute((of.0, of.1, of.2, of.3, KEPT))?;
    let samples = connection
        .prepare_cached(
            "SELECT input_percent, output_tokens, ran_ms FROM call_samples
             WHERE model = ?1 AND template = ?2 AND sends = ?3 AND step = ?4",
        )?
        .query_map(of, |row| {
            Ok((
                rows::optional_unsigned(row, 0)?,
                rows::unsigned(row, 1)?,
                rows::optional_unsigned(row, 2)?,
            ))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let ran: Vec<u64> = samples.iter().filter_map(|(.., ran_ms)| *ran_ms).collect();
    let sum: u128 = ran.iter().copied().map(u128::from).sum();
    let mean_ms = u64::try_from(sum / ran.len().max(1) as u128).unwrap_or(u64::MAX);
    let most_input = samples.iter().filter_map(|(percent, ..)| *percent).max();
    let tokens = samples.into_iter().map(|(_, tokens, _)| tokens).collect();
    let Some(history) = OutputHistory::of(tokens) else {
        return Ok(());
    };
    connection
        .prepare_cached(
            "INSERT INTO call_history (model, template, sends, step, calls, low_output, middle_output,
                                       high_output, most_output, most_input_percent, timed_calls, mean_ms)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
             ON CONFLICT DO UPDATE SET calls = excluded.calls, low_output = excluded.low_output,
                 middle_output = excluded.middle_output, high_output = excluded.high_output,
                 most_output = excluded.most_output, most_input_percent = excluded.most_input_percent,
                 timed_calls = excluded.timed_calls, mean_ms = excluded.mean_ms",
        )?
        .execute((
            of.0,
            of.1,
            of.2,
            of.3,
            bounded(history.answers),
            bounded(history.low),
            bounded(history.middle),
            bounded(history.high),
            bounded(history.most),
            most_input.map(bounded),
            bounded(ran.len() as u64),
            bounded(mean_ms),
        ))?;
    Ok(())
}

/// No model takes or writes more, and a hundred times as much still is a number.
fn bounded(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX).min(1 << 40)
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
        ..learned_of(connection, model, &named, sends)?
    })
}
