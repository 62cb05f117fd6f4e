//! Pending jobs in the order of their line, with what decides whether they may start.

use rusqlite::{Connection, Row};

use super::learned::{LEARNED_COLUMNS, learned};
use super::{Result, rows};
use crate::model::{
    BatchId, Delivery, JobId, JobKind, Money, Provider, QueueName, Sends, Timestamp,
};
use crate::pricing::{DocumentWork, Estimate, Learned, TextWork, Work, estimate, estimate_knowing};

/// A pending job that is ready.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) seq: i64,
    pub(super) job_id: JobId,
    pub(super) batch_id: BatchId,
    pub(super) provider: Provider,
    pub(super) model: String,
    pub(super) work: Work,
    pub(super) learned: Learned,
    /// Whether it is asked by a call of its own, or handed to the batch API with others.
    pub(super) delivery: Delivery,
    /// An answer that was paid for waits to be published.
    pub(super) has_answer: bool,
    /// What its batch has cost, with its cap.
    pub(super) batch_money: Money,
    /// Where it stands: position, visible time, age.
    pub(super) place: (i64, i64, i64),
}

/// The columns of [`work`] over `jobs AS j`: what its next call works on. That is the first part without an
/// answer, then the answers of all parts; a job without parts is asked as a whole. The prompt is its own, else
/// the body of the template, with the words around it.
pub(super) const WORK_COLUMNS: &str = "\
     CASE WHEN j.parts > 0 AND j.parts_done = j.parts THEN 'prompt' ELSE j.kind END, \
     CASE WHEN j.parts = 0 \
          THEN (SELECT json_array(pages, text_pages, letters, ideographs, all_read) FROM documents \
                WHERE sha256 = j.document_sha256) \
          ELSE (SELECT json_array(p.last_page - p.first_page + 1, p.text_pages, p.letters, p.ideographs, \
                       (SELECT all_read FROM documents WHERE sha256 = j.document_sha256)) \
                FROM parts AS p WHERE p.job_id = j.job_id AND p.answered_at IS NULL \
                ORDER BY p.first_page LIMIT 1) END, \
     octet_length(coalesce(j.prompt, (SELECT body FROM templates AS t WHERE t.template_id = j.template_id \
         AND t.version = j.template_version))) \
         + CASE WHEN j.parts = 0 THEN 0 WHEN j.parts_done < j.parts THEN 400 \
                ELSE (SELECT 400 + sum(octet_length(p.body) + 400) FROM parts AS p WHERE p.job_id = j.job_id) END, \
     length(coalesce(j.prompt, (SELECT body FROM templates AS t WHERE t.template_id = j.template_id \
         AND t.version = j.template_version))) \
         + CASE WHEN j.parts = 0 THEN 0 WHEN j.parts_done < j.parts THEN 400 \
                ELSE (SELECT 400 + sum(length(p.body) + 400) FROM parts AS p WHERE p.job_id = j.job_id) END, \
     j.max_tokens, j.sends";
/// As [`WORK_COLUMNS`], of the whole document.
pub(super) const WHOLE_COLUMNS: &str = "j.kind, \
     (SELECT json_array(pages, text_pages, letters, ideographs, all_read) FROM documents \
         WHERE sha256 = j.document_sha256), \
     octet_length(coalesce(j.prompt, (SELECT body FROM templates AS t WHERE t.template_id = j.template_id \
         AND t.version = j.template_version))), \
     length(coalesce(j.prompt, (SELECT body FROM templates AS t WHERE t.template_id = j.template_id \
         AND t.version = j.template_version))), \
     j.max_tokens, j.sends";
/// The words around a question that [`WORK_COLUMNS`] counts.
const _: () = assert!(
    crate::parts::FRAME_BYTES == 400,
    "the queries count them, too"
);

/// Reads [`WORK_COLUMNS`] from column `at` on.
pub(super) fn work(row: &Row<'_>, at: usize) -> rusqlite::Result<Work> {
    let document = match rows::kind(row, at)? {
        JobKind::Prompt => None,
        JobKind::Pdf => {
            let known: Option<Known> = rows::optional_json(row, at + 1)?;
            Some(document_work(
                known.unwrap_or_default(),
                rows::sends(row, at + 5)?,
            ))
        }
    };
    Ok(Work {
        document,
        prompt_bytes: rows::optional_unsigned(row, at + 2)?.unwrap_or(0),
        prompt_characters: rows::optional_unsigned(row, at + 3)?.unwrap_or(0),
        max_tokens: row.get(at + 4)?,
    })
}

/// What is known of a document: pages, pages with text, letters, ideographs, whether all pages were read.
pub(super) type Known = (
    Option<u32>,
    Option<u64>,
    Option<u64>,
    Option<u64>,
    Option<u8>,
);

fn document_work(known: Known, sends: Sends) -> DocumentWork {
    DocumentWork {
        sends,
        pages: known.0,
        text: document_text(known),
    }
}

/// Returns the text of a document or of a part of one; `None` where it was not looked at.
pub(super) fn document_text(known: Known) -> Option<TextWork> {
    let (_, text_pages, letters, ideographs, all_read) = known;
    text_pages.map(|text_pages| TextWork {
        pages: text_pages,
        letters: letters.unwrap_or(0),
        ideographs: ideographs.unwrap_or(0),
        all_read: all_read == Some(1),
    })
}

/// The columns of [`batch_money`] over `jobs AS j`.
pub(super) const BATCH_MONEY_COLUMNS: &str = "\
     (SELECT cap_micros FROM batches AS b WHERE b.batch_id = j.batch_id), \
     (SELECT settled FROM batch_money AS m WHERE m.batch_id = j.batch_id), \
     (SELECT unknown FROM batch_money AS m WHERE m.batch_id = j.batch_id), \
     (SELECT reserved FROM batch_money AS m WHERE m.batch_id = j.batch_id)";

/// Reads [`BATCH_MONEY_COLUMNS`] from column `at` on.
pub(super) fn batch_money(row: &Row<'_>, at: usize) -> rusqlite::Result<Money> {
    let micros = |index| Ok::<_, rusqlite::Error>(row.get::<_, Option<i64>>(index)?.unwrap_or(0));
    Ok(Money {
        cap_micros: row.get(at)?,
        settled_micros: micros(at + 1)?,
        unknown_micros: micros(at + 2)?,
        reserved_micros: micros(at + 3)?,
    })
}

impl Candidate {
    /// Returns how many tokens its call would take by estimate alone, to be compared with what it took.
    pub(super) fn guess(&self) -> Estimate {
        estimate(&self.model, &self.work)
    }

    /// Returns how many tokens its call will take.
    pub(super) fn estimate(&self) -> Estimate {
        estimate_knowing(&self.model, &self.work, &self.learned)
    }
}

/// Which pending jobs of a line are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// Those that nothing holds.
    Ordinary,
    /// Those that are larger than the budget of a minute.
    Oversized,
}

impl Line {
    /// Returns the bits of its jobs, which stand in the text of a query so that its index applies.
    pub(super) fn held(self) -> i64 {
        match self {
            Self::Ordinary => 0,
            Self::Oversized => super::held::OVERSIZED,
        }
    }
}

/// Most positions that are looked at for the next job that becomes visible: a person arranges tens of jobs
/// by hand, not thousands.
const MOST_POSITIONS: usize = 200;

/// Returns the positions that jobs of a line have, the first ones first.
pub(super) fn positions(
    connection: &Connection,
    line: Line,
    queue: QueueName,
    provider: Provider,
    delivery: Delivery,
) -> Result<Vec<i64>> {
    let mut found = Vec::new();
    let mut from = i64::MIN;
    while found.len() < MOST_POSITIONS {
        let Some(here) = next_position(connection, line, queue, provider, delivery, from)? else {
            break;
        };
        found.push(here);
        if here == i64::MAX {
            break;
        }
        from = here + 1;
    }
    Ok(found)
}

/// Returns the first position in use from `from` on.
fn next_position(
    connection: &Connection,
    line: Line,
    queue: QueueName,
    provider: Provider,
    delivery: Delivery,
    from: i64,
) -> Result<Option<i64>> {
    let held = line.held();
    Ok(connection
        .prepare_cached(&format!(
            "SELECT min(position) FROM jobs
             WHERE status = 'pending' AND held = {held} AND queue = ?1 AND provider = ?2
               AND delivery = ?3 AND position >= ?4"
        ))?
        .query_row(
            (queue.as_str(), provider.as_str(), delivery.as_str(), from),
            |row| row.get(0),
        )?)
}

/// Returns at most `limit` ready jobs of a queue, a provider and a delivery, first in line first.
pub(super) fn in_line(
    connection: &Connection,
    line: Line,
    queue: QueueName,
    provider: Provider,
    delivery: Delivery,
    now: Timestamp,
    limit: usize,
) -> Result<Vec<Candidate>> {
    let held = line.held();
    // What nobody pays for needs no forecast.
    let columns = match provider {
        Provider::Claude => format!("{BATCH_MONEY_COLUMNS}, {WORK_COLUMNS}, {LEARNED_COLUMNS}"),
        Provider::Offline => {
            "NULL, NULL, NULL, NULL, j.kind, NULL, NULL, NULL, j.max_tokens, j.sends, NULL, NULL"
                .to_owned()
        }
    };
    let mut found = Vec::new();
    let mut position = i64::MIN;
    // One round for each position in use: within one, the index is in the order of the line, and
    // jobs that are not visible yet are never read.
    loop {
        let next = next_position(connection, line, queue, provider, delivery, position)?;
        let Some(here) = next else {
            return Ok(found);
        };
        let mut statement = connection.prepare_cached(&format!(
            "SELECT j.seq, j.job_id, j.batch_id, j.model, j.position, j.available_at,
                    EXISTS (SELECT 1 FROM answers AS a
                            WHERE a.job_id = j.job_id AND a.generation = j.generation),
                    {columns}
             FROM jobs AS j
             WHERE j.status = 'pending' AND j.held = {held} AND j.queue = ?1 AND j.provider = ?2
               AND j.delivery = ?3 AND j.position = ?4 AND j.available_at <= ?5
             ORDER BY j.available_at, j.seq LIMIT ?6"
        ))?;
        let missing = limit - found.len();
        let rows = statement.query_map(
            (
                queue.as_str(),
                provider.as_str(),
                delivery.as_str(),
                here,
                now.0,
                i64::try_from(missing).unwrap_or(i64::MAX),
            ),
            |row| candidate(row, provider, delivery),
        )?;
        for row in rows {
            found.push(row?);
        }
        if found.len() >= limit || here == i64::MAX {
            return Ok(found);
        }
        position = here + 1;
    }
}

/// Returns at most `limit` ready jobs whose answers are kept already, first in line first.
pub(super) fn answered(
    connection: &Connection,
    queue: QueueName,
    provider: Provider,
    delivery: Delivery,
    now: Timestamp,
    limit: u32,
) -> Result<Vec<Candidate>> {
    let mut statement = connection.prepare_cached(&format!(
        // There are few answers, and many jobs.
        "SELECT j.seq, j.job_id, j.batch_id, j.model, j.position, j.available_at, 1,
                {BATCH_MONEY_COLUMNS}, {WORK_COLUMNS}, {LEARNED_COLUMNS}
         FROM answers AS a CROSS JOIN jobs AS j
              ON j.job_id = a.job_id AND j.generation = a.generation
         WHERE j.status = 'pending' AND j.held = 0 AND j.queue = ?1 AND j.provider = ?2
           AND j.delivery = ?3 AND j.available_at <= ?4
         ORDER BY j.position, j.available_at, j.seq LIMIT ?5"
    ))?;
    let found = statement.query_map(
        (
            queue.as_str(),
            provider.as_str(),
            delivery.as_str(),
            now.0,
            limit,
        ),
        |row| candidate(row, provider, delivery),
    )?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn candidate(row: &Row<'_>, provider: Provider, delivery: Delivery) -> rusqlite::Result<Candidate> {
    let seq = row.get(0)?;
    Ok(Candidate {
        seq,
        job_id: JobId(row.get(1)?),
        batch_id: BatchId(row.get(2)?),
        provider,
        model: row.get(3)?,
        place: (row.get(4)?, row.get(5)?, seq),
        has_answer: row.get(6)?,
        batch_money: batch_money(row, 7)?,
        work: work(row, 11)?,
        learned: learned(row, 17)?,
        delivery,
    })
}
