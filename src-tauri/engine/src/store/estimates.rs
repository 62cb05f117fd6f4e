//! Estimates of input tokens beside what the provider counted.

use rusqlite::Connection;

use super::{Result, Store};
use crate::model::{EstimateCheck, Sends, Timestamp};

/// Comparisons that are kept of each model and of what is sent: enough for a middle, and few enough to
/// follow a provider that begins to count otherwise.
const KEPT: u32 = 200;

impl Store {
    /// Keeps what was counted beside what was estimated, each a pair of input tokens.
    pub(crate) async fn record_estimates(
        &self,
        model: String,
        sends: Sends,
        pairs: Vec<(u64, u64)>,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            for (estimated, counted) in &pairs {
                record(connection, &model, sends, *estimated, *counted, now)?;
            }
            Ok(())
        })
        .await
    }

    /// Says how estimates for a model compared with what was counted; `None` until anything was.
    pub(crate) async fn estimates_of(
        &self,
        model: String,
        sends: Sends,
    ) -> Result<Option<EstimateCheck>> {
        self.read(move |connection| check(connection, &model, sends))
            .await
    }
}

/// Keeps one comparison, and removes those that are too old to count.
///
/// `estimated` is the estimate before it follows earlier comparisons. One that says nothing, since either
/// number is 0, is left out.
pub(super) fn record(
    connection: &Connection,
    model: &str,
    sends: Sends,
    estimated: u64,
    counted: u64,
    now: Timestamp,
) -> Result<()> {
    if estimated == 0 || counted == 0 {
        return Ok(());
    }
    let tokens = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "INSERT INTO estimate_checks (model, sends, estimated, counted, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((
            model,
            sends.as_str(),
            tokens(estimated),
            tokens(counted),
            now.0,
        ))?;
    connection
        .prepare_cached(
            "DELETE FROM estimate_checks WHERE model = ?1 AND sends = ?2 AND check_id <= (
                 SELECT check_id FROM estimate_checks WHERE model = ?1 AND sends = ?2
                 ORDER BY check_id DESC LIMIT 1 OFFSET ?3)",
        )?
        .execute((model, sends.as_str(), KEPT))?;
    Ok(())
}

/// Says how estimates for a model compared with what was counted; `None` until anything was.
pub(super) fn check(
    connection: &Connection,
    model: &str,
    sends: Sends,
) -> Result<Option<EstimateCheck>> {
    let mut statement = connection.prepare_cached(
        "SELECT estimated, counted FROM estimate_checks WHERE model = ?1 AND sends = ?2",
    )?;
    let pairs = statement
        .query_map((model, sends.as_str()), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    Ok(of_pairs(&pairs))
}

fn of_pairs(pairs: &[(i64, i64)]) -> Option<EstimateCheck> {
    let sum = |of: fn(&(i64, i64)) -> i64| pairs.iter().map(|pair| i128::from(of(pair))).sum();
    let (estimated, counted): (i128, i128) = (sum(|pair| pair.0), sum(|pair| pair.1));
    let mut off: Vec<u32> = pairs
        .iter()
        .map(|(estimated, counted)| percent(i128::from(estimated.abs_diff(*counted)), *counted))
        .collect();
    off.sort_unstable();
    Some(EstimateCheck {
        calls: pairs.len() as u64,
        counted_percent: percent(counted, i64::try_from(estimated).ok()?),
        usually_off_percent: *off.get(off.len() / 2)?,
    })
}

/// Returns how many hundredths of `whole` `part` is, rounded.
fn percent(part: i128, whole: i64) -> u32 {
    let whole = i128::from(whole.max(1));
    u32::try_from((part * 100 + whole / 2) / whole).unwrap_or(u32::MAX)
}
