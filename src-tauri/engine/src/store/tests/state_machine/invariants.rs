//! Comparing the database with the model.

use std::collections::BTreeMap;

use rusqlite::Row;
use rusqlite::types::FromSql;

use super::long::Piece;
use super::world::{Checked, World, check, said};
use crate::model::{AttemptStep, JobStatus, PageRange};

/// A row of the table of jobs.
struct Stored {
    status: String,
    queue: String,
    provider: String,
    model: String,
    max_tokens: u32,
    batch: String,
    generation: u32,
    attempts: u32,
    lease: Option<String>,
    cancel_requested: bool,
    held: i64,
    delivery: String,
}

fn stored(row: &Row<'_>) -> rusqlite::Result<(String, Stored)> {
    let stored = Stored {
        status: row.get(1)?,
        queue: row.get(2)?,
        provider: row.get(3)?,
        model: row.get(4)?,
        max_tokens: row.get(5)?,
        batch: row.get(6)?,
        generation: row.get(7)?,
        attempts: row.get(8)?,
        lease: row.get(9)?,
        cancel_requested: row.get(10)?,
        held: row.get(11)?,
        delivery: row.get(12)?,
    };
    Ok((row.get(0)?, stored))
}

impl World<'_> {
    fn rows<T>(
        &self,
        sql: &str,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Checked<Vec<T>> {
        let mut statement = self.connection.prepare_cached(sql).map_err(said)?;
        let found = statement.query_map([], read).map_err(said)?;
        found.collect::<rusqlite::Result<_>>().map_err(said)
    }

    fn pairs<K: FromSql, V: FromSql>(&self, sql: &str) -> Checked<Vec<(K, V)>> {
        self.rows(sql, |row| Ok((row.get(0)?, row.get(1)?)))
    }

    /// Compares every table with what it should hold.
    pub(super) fn compare(&self) -> Checked {
        self.compare_jobs()?;
        self.compare_attempts()?;
        self.compare_parts()?;
        self.compare_counters()?;
        self.compare_ledger()?;
        self.compare_remotes()?;
        let kept =
            self.pairs::<String, u32>("SELECT job_id, generation FROM answers ORDER BY 1, 2")?;
        check!(
            kept.iter().eq(self.answers.iter()),
            "the kept answers are {kept:?} in place of {:?}",
            self.answers
        );
        Ok(())
    }

    fn compare_jobs(&self) -> Checked {
        let rows = self.rows(
            "SELECT job_id, status, queue, provider, model, max_tokens, batch_id, generation, attempts,
                    lease_id, cancel_requested, held, delivery
             FROM jobs ORDER BY job_id",
            stored,
        )?;
        check!(
            rows.len() == self.jobs.len(),
            "{} jobs are stored in place of {}",
            rows.len(),
            self.jobs.len()
        );
        for ((job_id, row), (expected_id, job)) in rows.iter().zip(&self.jobs) {
            check!(
                job_id == expected_id,
                "{job_id} is stored in place of {expected_id}"
            );
            let same = row.status == job.status.as_str()
                && row.queue == job.queue.as_str()
                && row.delivery == job.delivery.as_str()
                && row.provider == job.provider.as_str()
                && row.model == job.model
                && row.max_tokens == job.max_tokens
                && row.batch == job.batch
                && row.generation == job.generation
                && row.attempts == job.attempts
                && row.lease == job.lease;
            check!(
                same,
                "{job_id} is {} in {} of {}/{}, generation {}, attempts {}, lease {:?} in place of {job:?}",
                row.status,
                row.queue,
                row.provider,
                row.model,
                row.generation,
                row.attempts,
                row.lease
            );
            if !job.status.is_final() {
                self.compare_holds(job_id, row)?;
            }
        }
        Ok(())
    }

    fn compare_holds(&self, job_id: &str, row: &Stored) -> Checked {
        let job = &self.jobs[job_id];
        let (paused, cap) = self.batches[&job.batch];
        check!(
            (row.held & 1 != 0) == job.paused && (row.held & 2 != 0) == paused,
            "{job_id} is held by {} and {}paused; its batch is {}paused",
            row.held,
            if job.paused { "" } else { "not " },
            if paused { "" } else { "not " }
        );
        check!(
            row.held & 4 == 0 || cap.is_some(),
            "{job_id} is held by a cap that its batch has not"
        );
        check!(
            row.held & 8 == 0 || self.rate.is_none(),
            "{job_id} is held though its model has a price"
        );
        check!(
            job.status != JobStatus::Running || row.cancel_requested == job.cancel_requested,
            "whether {job_id} is to be cancelled is not what it was"
        );
        Ok(())
    }

    fn compare_attempts(&self) -> Checked {
        let rows = self.rows(
            "SELECT job_id, outcome, step, first_page, last_page FROM attempts ORDER BY attempt_id",
            |row| {
                let step = match row.get::<_, String>(2)?.as_str() {
                    "part" => AttemptStep::Part {
                        pages: PageRange {
                            first: row.get(3)?,
                            last: row.get(4)?,
                        },
                    },
                    "combine" => AttemptStep::Combine,
                    _ => AttemptStep::Whole,
                };
                Ok((row.get::<_, String>(0)?, step, row.get::<_, String>(1)?))
            },
        )?;
        let mut of: BTreeMap<&str, Vec<(AttemptStep, &str)>> = BTreeMap::new();
        for (job_id, step, outcome) in &rows {
            of.entry(job_id).or_default().push((*step, outcome));
        }
        for (job_id, job) in &self.jobs {
            let attempts = of.remove(job_id.as_str()).unwrap_or_default();
            check!(
                attempts == job.outcomes,
                "the attempts of {job_id} are {attempts:?} in place of {:?}",
                job.outcomes
            );
        }
        check!(of.is_empty(), "attempts of nobody: {of:?}");
        Ok(())
    }

    fn compare_counters(&self) -> Checked {
        let mut lanes = BTreeMap::new();
        let mut batches = BTreeMap::new();
        for job in self.jobs.values() {
            let (provider, status) = (job.provider.as_str(), job.status.as_str());
            *lanes
                .entry(format!("{}/{provider}/{status}", job.queue.as_str()))
                .or_insert(0_i64) += 1;
            *batches
                .entry(format!("{}/{status}", job.batch))
                .or_insert(0_i64) += 1;
        }
        let counted = self.pairs::<String, i64>(
            "SELECT queue || '/' || provider || '/' || status, jobs FROM lane_counts WHERE jobs > 0",
        )?;
        check!(
            counted.iter().cloned().collect::<BTreeMap<_, _>>() == lanes,
            "the lanes count {counted:?} in place of {lanes:?}"
        );
        let counted = self.pairs::<String, i64>(
            "SELECT batch_id || '/' || status, jobs FROM batch_counts WHERE jobs > 0",
        )?;
        check!(
            counted.iter().cloned().collect::<BTreeMap<_, _>>() == batches,
            "the batches count {counted:?} in place of {batches:?}"
        );
        Ok(())
    }

    fn compare_ledger(&self) -> Checked {
        let rows = self.rows(
            "SELECT job_id, lease_id, state, micros, day, batch_id FROM ledger",
            |row| {
                Ok((
                    (row.get::<_, String>(0)?, row.get::<_, String>(1)?),
                    row.get::<_, String>(2)?,
                    row.get::<_, i64>(3)?,
                    row.get::<_, String>(4)?,
                    row.get::<_, String>(5)?,
                ))
            },
        )?;
        check!(
            rows.len() == self.ledger.len(),
            "{} calls are in the ledger in place of {}",
            rows.len(),
            self.ledger.len()
        );
        let mut sums = BTreeMap::new();
        for (key, state, micros, day, batch) in rows {
            let same = self.ledger.get(&key).is_some_and(|entry| {
                entry.state == state
                    && entry.micros == micros
                    && entry.day == day
                    && entry.batch == batch
            });
            check!(
                same,
                "the call of {} is {state} with {micros} in place of {:?}",
                key.0,
                self.ledger.get(&key)
            );
            *sums.entry(format!("{day}/{state}")).or_insert(0) += micros;
            *sums.entry(format!("{batch}/{state}")).or_insert(0) += micros;
        }
        sums.retain(|_, micros| *micros != 0);
        let mut kept = BTreeMap::new();
        for table in [
            "day, reserved, settled, unknown FROM day_money",
            "batch_id, reserved, settled, unknown FROM batch_money",
        ] {
            let rows = self.rows(&format!("SELECT {table}"), |row| {
                Ok((
                    row.get::<_, String>(0)?,
                    [row.get::<_, i64>(1)?, row.get(2)?, row.get(3)?],
                ))
            })?;
            for (key, micros) in rows {
                for (state, micros) in ["reserved", "settled", "unknown"].iter().zip(micros) {
                    if micros != 0 {
                        kept.insert(format!("{key}/{state}"), micros);
                    }
                }
            }
        }
        check!(kept == sums, "the sums are {kept:?} in place of {sums:?}");
        Ok(())
    }

    /// Compares the parts, and what was paid.
    fn compare_parts(&self) -> Checked {
        let mut stored: BTreeMap<String, Vec<Piece>> = BTreeMap::new();
        let rows = self.rows(
            "SELECT job_id, first_page, last_page, answered_at IS NOT NULL, review_code IS NOT NULL
             FROM parts ORDER BY job_id, first_page",
            |row| {
                let piece = Piece {
                    answer: row.get::<_, bool>(3)?.then_some(row.get(4)?),
                    ..Piece::new(row.get(1)?, row.get(2)?)
                };
                Ok((row.get::<_, String>(0)?, piece))
            },
        )?;
        for (job_id, piece) in rows {
            stored.entry(job_id).or_default().push(piece);
        }
        let counted = self.rows(
            "SELECT job_id, parts, parts_done, attempts_before FROM jobs",
            |row| {
                let counted: (u32, u32, u32) = (row.get(1)?, row.get(2)?, row.get(3)?);
                Ok((row.get::<_, String>(0)?, counted))
            },
        )?;
        for (job_id, counted) in counted {
            let job = &self.jobs[&job_id];
            let parts = stored.remove(&job_id).unwrap_or_default();
            check!(
                parts == job.parts,
                "the parts of {job_id} are {parts:?} in place of {:?}",
                job.parts
            );
            let count = |parts: usize| u32::try_from(parts).unwrap_or(u32::MAX);
            let expected = (count(job.parts.len()), count(job.parts_done()), job.before);
            check!(
                counted == expected,
                "{job_id} counts parts, answered ones and attempts at them as {counted:?} in place of \
                 {expected:?}"
            );
        }
        check!(stored.is_empty(), "parts of nobody: {stored:?}");
        self.compare_costs()
    }

    fn compare_costs(&self) -> Checked {
        let differ = self.rows(
            "SELECT a.job_id FROM attempts AS a JOIN ledger AS l USING (job_id, lease_id)
             -- One whose price nobody knew when it ended says so for good.
             WHERE l.state = 'settled' AND l.micros <> a.cost_micros",
            |row| row.get::<_, String>(0),
        )?;
        check!(
            differ.is_empty(),
            "the ledger and the attempts of {differ:?} differ"
        );
        let differ = self.rows(
            "SELECT job_id FROM jobs AS j
             WHERE cost_micros <> (SELECT coalesce(sum(cost_micros), 0) FROM attempts AS a
                                   WHERE a.job_id = j.job_id)",
            |row| row.get::<_, String>(0),
        )?;
        check!(
            differ.is_empty(),
            "the costs of {differ:?} are not those of their attempts"
        );
        Ok(())
    }
}
