//! What calls usually take: of the minute a call is promised what the longest ones like it took, once there
//! were enough of them.
//!
//! Before that it is promised a dense document and the whole output limit, of which most is given back when
//! the call ends. What is promised and not used stands idle as long as the call lasts: with a limit of 4,096
//! output tokens, answers of 700 and calls of 11 s it is a tenth of every minute. So a call is promised the
//! most that one like it took lately; never more than before, and more for a document that is expected to be
//! larger. Most calls take less than the most, which is a margin for the one in a hundred that takes more. Money
//! is promised at its worst, whatever was usual.

use rusqlite::Connection;

use super::{Lease, Result};
use crate::pricing::Estimate;

/// Calls that must have ended before the next ones are promised what is usual.
const ENOUGH_CALLS: u32 = 20;
/// Calls of a series. What is usual is the most of the present one and of the one before.
const SERIES: u32 = 100;
/// The least that is promised of the expected input, in hundredths: some addresses count no documents.
const LEAST_INPUT: u64 = 50;

/// The most that calls of a kind took lately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Usual {
    /// Input as counted, in hundredths of what was expected.
    input_percent: u64,
    /// Output tokens.
    output_tokens: u64,
}

/// What [`USUAL_COLUMN`](usual_column) holds.
pub(super) type Pair = (u64, u64);

impl From<Pair> for Usual {
    fn from((input_percent, output_tokens): Pair) -> Self {
        Self {
            input_percent,
            output_tokens,
        }
    }
}

impl Usual {
    /// Returns the input and the output that a call is promised.
    pub(super) fn promised(self, estimate: &Estimate) -> (u64, u64) {
        let percent = self.input_percent.max(LEAST_INPUT);
        let input = estimate.expected_input.saturating_mul(percent);
        (
            input.div_ceil(100).min(estimate.dense_input),
            self.output_tokens.min(estimate.worst_output),
        )
    }
}

/// The column of what calls like the next one of a job took, over `jobs AS j`: NULL where there were not
/// enough of them. Prompts without a template have nothing in common.
pub(super) fn usual_column() -> String {
    format!(
        "(SELECT json_array(max(input_percent, input_percent_before), max(output_tokens, output_tokens_before)) \
          FROM usual_calls AS u \
          WHERE u.model = j.model AND u.template_id = j.template_id \
            AND u.template_version = j.template_version AND u.sends = j.sends \
            AND u.step = CASE WHEN j.parts = 0 THEN 'whole' WHEN j.parts_done < j.parts THEN 'part' \
                              ELSE 'combine' END \
            AND calls + calls_before >= {ENOUGH_CALLS})"
    )
}

/// Remembers what a call took of a minute.
pub(super) fn note(
    connection: &Connection,
    lease: &Lease,
    input_tokens: u64,
    output_tokens: u64,
) -> Result<()> {
    connection
        .prepare_cached(&format!(
            "INSERT INTO usual_calls (model, template_id, template_version, sends, step, calls, input_percent,
                                      output_tokens)
             SELECT a.model, j.template_id, j.template_version, j.sends, a.step, 1,
                    (?3 * 100 + a.estimated_input - 1) / a.estimated_input, ?4
             FROM attempts AS a JOIN jobs AS j USING (job_id)
             WHERE a.job_id = ?1 AND a.lease_id = ?2 AND j.template_id IS NOT NULL AND a.estimated_input > 0
             ON CONFLICT DO UPDATE SET
                 calls_before = iif(calls >= {SERIES}, calls, calls_before),
                 input_percent_before = iif(calls >= {SERIES}, input_percent, input_percent_before),
                 output_tokens_before = iif(calls >= {SERIES}, output_tokens, output_tokens_before),
                 calls = iif(calls >= {SERIES}, 1, calls + 1),
                 input_percent = max(excluded.input_percent, iif(calls >= {SERIES}, 0, input_percent)),
                 output_tokens = max(excluded.output_tokens, iif(calls >= {SERIES}, 0, output_tokens))"
        ))?
        .execute((
            lease.job_id.as_str(),
            &lease.lease_id,
            bounded(input_tokens),
            bounded(output_tokens),
        ))?;
    Ok(())
}

/// No model takes or writes more, and a hundred times as much still is a number.
fn bounded(tokens: u64) -> i64 {
    i64::try_from(tokens).unwrap_or(i64::MAX).min(1 << 40)
}
