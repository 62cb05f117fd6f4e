//! Batches with their counts and their money.

use rusqlite::{Connection, Row, ToSql};

use super::{Result, Store, candidate, overview, pilots, rows};
use crate::model::{BatchId, BatchView, JobCounts};

/// The columns of [`view`] over [`TABLES`], before those of [`pilots::view`].
const COLUMNS: &str = "b.batch_id, b.name, b.created_at, b.paused, b.cap_micros, m.settled, m.unknown, \
     m.reserved";
const TABLES: &str = "batches AS b LEFT JOIN batch_money AS m USING (batch_id)";

impl Store {
    /// Returns at most `limit` batches that were added before `after`, newest first.
    pub(crate) async fn batches(
        &self,
        after: Option<BatchId>,
        limit: u32,
    ) -> Result<Vec<BatchView>> {
        self.read(move |connection| newest(connection, after.as_ref(), limit))
            .await
    }

    /// Returns a batch, if it exists.
    pub(crate) async fn batch(&self, batch_id: BatchId) -> Result<Option<BatchView>> {
        self.read(move |connection| one(connection, &batch_id))
            .await
    }

    /// Returns the ids of the batches whose id begins with `part`, or else ends with it, or else whose name
    /// is `part`; at most two.
    pub(crate) async fn batches_named(&self, part: String) -> Result<Vec<BatchId>> {
        self.read(move |connection| {
            for condition in [
                // Ids begin with the time, so their beginnings are ordered and their ends tell them apart.
                "batch_id >= ?1 AND batch_id < ?1 || 'g'",
                "substr(batch_id, -length(?1)) = ?1",
                "name = ?1",
            ] {
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT batch_id FROM batches WHERE {condition} LIMIT 2"
                ))?;
                let found = statement
                    .query_map([&part], |row| row.get(0).map(BatchId))?
                    .collect::<rusqlite::Result<Vec<_>>>()?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
            Ok(Vec::new())
        })
        .await
    }
}

/// Returns at most `limit` batches that were added before `after`, newest first.
pub(super) fn newest(
    connection: &Connection,
    after: Option<&BatchId>,
    limit: u32,
) -> Result<Vec<BatchView>> {
    // Ids are in the order of time, and hexadecimal.
    let condition = "b.batch_id < coalesce(?1, 'g')";
    let after = after.map(BatchId::as_str);
    read(connection, condition, &[&after, &limit])
}

/// Returns a batch, if it exists.
pub(super) fn one(connection: &Connection, batch_id: &BatchId) -> Result<Option<BatchView>> {
    let mut found = read(connection, "b.batch_id = ?1", &[&batch_id.as_str(), &1])?;
    Ok(found.pop())
}

fn read(connection: &Connection, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<BatchView>> {
    let mut batches = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS}, {} FROM {TABLES} WHERE {condition} ORDER BY b.batch_id DESC LIMIT ?2",
            pilots::VIEW_COLUMNS
        ))?
        .query_map(values, view)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut statement =
        connection.prepare_cached("SELECT status, jobs FROM batch_counts WHERE batch_id = ?1")?;
    for batch in &mut batches {
        let mut found = statement.query([batch.batch_id.as_str()])?;
        while let Some(row) = found.next()? {
            overview::add(
                &mut batch.counts,
                rows::status(row, 0)?,
                rows::unsigned(row, 1)?,
            );
        }
    }
    Ok(batches)
}

fn view(row: &Row<'_>) -> rusqlite::Result<BatchView> {
    Ok(BatchView {
        batch_id: BatchId(row.get(0)?),
        name: row.get(1)?,
        created_at: rows::timestamp(row, 2)?,
        counts: JobCounts::default(),
        paused: row.get(3)?,
        money: candidate::batch_money(row, 4)?,
        pilot: pilots::view(row, 8)?,
    })
}
