//! A database as it is after many nights: jobs of all kinds, their documents, batches, attempts, results and searched words.
//!
//! One job goes through the store itself; its rows are then copied with other values. Whatever columns the schema has,
//! the copies are what the store writes.

use std::path::Path;

use bench_harness::PAYLOAD;
use gistmill_engine::bench::BenchQueue;
use rusqlite::Connection;

use crate::Outcome;

/// Batches that the jobs are of.
pub(crate) const BATCHES: &str = "batches of 500";
const JOBS_IN_A_BATCH: i64 = 500;
/// Documents that the jobs are about.
const DOCUMENTS: i64 = 1_000;
/// The newest jobs wait; those before them have ended.
const WAITING: i64 = 2_000;
/// Results whose files are there, the newest: more than a person looks at in one evening.
const FILES: i64 = 500;

const WORDS: [&str; 24] = [
    "mangrove",
    "biochar",
    "restoration",
    "carbon",
    "burial",
    "hedgerow",
    "grazing",
    "peatland",
    "synthesis",
    "review",
    "cover-crops",
    "methane",
    "tillage",
    "lease",
    "amendment",
    "harbour",
    "sustainability",
    "report",
    "audit",
    "annual",
    "incident",
    "water",
    "quality",
    "monitoring",
];

const SUMMARY: &str = "# Burial after restoration\n\n## In one sentence\n\nRestored sites bury carbon at two thirds of the natural \
    rate for ten years (p. 1).\n\n## Key points\n\n- Burial averaged 1.12 Mg a hectare in young sites (p. 9).\n- Where the tide came \
    back, sites reached natural rates in 14 years (p. 14).\n- Methane cancelled 8 to 19 % of burial (p. 17).\n";

/// Makes the database in a new data folder; returns what it holds, in words.
pub(crate) async fn fill(data: &Path, jobs: u64) -> Outcome<String> {
    let jobs = i64::try_from(jobs)?;
    std::fs::create_dir_all(data.join("results"))?;
    let database = data.join("gistmill.db");
    let queue = BenchQueue::open(&database)?;
    queue.enqueue(PAYLOAD.to_owned()).await?;
    for job in queue.claim(1).await? {
        queue.complete(job).await?;
    }
    queue.close().await;
    drop(queue);

    let connection = Connection::open(&database)?;
    connection.execute_batch(
        "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -400000;",
    )?;
    connection.execute_batch("BEGIN")?;
    words(&connection, jobs.max(DOCUMENTS))?;
    connection.execute(
        "INSERT INTO documents (sha256, bytes, pages, encryption, has_text, first_seen_at)
         SELECT printf('%064x', i), 40000 + i * 977, 1 + i * 37 % 240, 'none', 1, 0 FROM n WHERE i <= ?1",
        [DOCUMENTS],
    )?;
    let batch = format!("printf('batch-%06d', n.i / {JOBS_IN_A_BATCH})");
    copy(
        &connection,
        "batches",
        &format!("n.i % {JOBS_IN_A_BATCH} = 0 OR n.i = 1"),
        jobs,
        &[
            ("batch_id", &batch),
            ("name", "word(n.i / 500) || ' ' || word(n.i / 500 + 7)"),
            ("created_at", TIME),
        ],
    )?;
    let job = "printf('00000000-0000-7000-8000-%012x', n.i)";
    let status = format!(
        "CASE WHEN n.i > {jobs} - {WAITING} THEN 'pending' WHEN n.i % 1000 < 3 THEN 'needs-review'
              WHEN n.i % 1000 < 6 THEN 'failed' WHEN n.i % 1000 < 10 THEN 'dead-lettered'
              WHEN n.i % 1000 < 12 THEN 'cancelled' ELSE 'completed' END"
    );
    let if_status = |statuses: &str, then: &str, or: &str| {
        format!("CASE WHEN ({status}) IN ({statuses}) THEN {then} ELSE {or} END")
    };
    let with_result = "'completed', 'needs-review'";
    let with_error = "'needs-review', 'failed', 'dead-lettered'";
    let ended = if_status("'pending'", "NULL", &format!("{TIME} + 60000"));
    let started = if_status("'pending'", "NULL", &format!("{TIME} + 20000"));
    let result = if_status(with_result, "n.i + 1", "NULL");
    let cause = if_status(
        with_error,
        "CASE WHEN n.i % 1000 < 3 THEN 'cut-off' WHEN n.i % 1000 < 6 THEN 'pdf-encrypted' ELSE 'overloaded' END",
        "NULL",
    );
    let error = if_status(
        with_error,
        "'The provider said why on ' || n.i || '.'",
        "NULL",
    );
    let provider = if_status("'pending'", "'claude'", "model.provider");
    let cost = if_status("'pending'", "0", "20000 + n.i * 7919 % 90000");
    copy(
        &connection,
        "jobs",
        "TRUE",
        jobs - 1,
        &[
            ("seq", "n.i + 1"),
            ("job_id", job),
            ("batch_id", &batch),
            ("kind", "'pdf'"),
            ("title", TITLE),
            ("prompt", "NULL"),
            ("document_sha256", "printf('%064x', 1 + n.i % 1000)"),
            ("source_path", &format!("'/home/mika/papers/' || {TITLE}")),
            ("source_bytes", "40000"),
            ("source_modified", "0"),
            ("template_id", "'pdf-summarize'"),
            ("template_version", "1"),
            ("status", &status),
            (
                "queue",
                "CASE WHEN n.i % 12 = 0 THEN 'high' ELSE 'bulk' END",
            ),
            ("provider", &provider),
            ("model", "'claude-haiku-4-5'"),
            ("attempts", &if_status("'pending'", "0", "1 + n.i % 3")),
            ("created_at", TIME),
            ("available_at", TIME),
            ("waiting_since", TIME),
            ("started_at", &started),
            ("completed_at", &ended),
            ("result_id", &result),
            ("error_code", &cause),
            ("error", &error),
            (
                "input_tokens",
                &if_status("'pending'", "0", "9000 + n.i * 31 % 70000"),
            ),
            (
                "output_tokens",
                &if_status("'pending'", "0", "300 + n.i % 900"),
            ),
            ("cost_micros", &cost),
            (
                "ran_ms",
                &if_status("'pending'", "0", "4000 + n.i * 13 % 50000"),
            ),
            (
                "waited_ms",
                &if_status("'pending'", "0", "n.i * 17 % 900000"),
            ),
        ],
    )?;
    copy(
        &connection,
        "attempts",
        &format!("({status}) <> 'pending'"),
        jobs - 1,
        &[("attempt_id", "n.i + 1"), ("job_id", job)],
    )?;
    copy(
        &connection,
        "results",
        &format!("({status}) IN ({with_result})"),
        jobs - 1,
        &[
            ("result_id", "n.i + 1"),
            ("job_id", job),
            ("key", &format!("'results/' || {job} || '.md'")),
            ("template_id", "'pdf-summarize'"),
            ("template_version", "1"),
        ],
    )?;
    connection.execute(
        "INSERT INTO search (rowid, title, batch, template, error, result)
         SELECT j.seq, replace(replace(j.title, '_', ' '), '.', ' '), b.name, j.template_id, coalesce(j.error, ''),
                word(j.seq) || ' ' || word(j.seq + 3) || ' ' || word(j.seq / 7) || ' burial averaged young sites natural rates tide'
         FROM jobs AS j JOIN batches AS b USING (batch_id) WHERE j.kind = 'pdf'",
        [],
    )?;
    connection.execute_batch(
        "DELETE FROM search_due; UPDATE search_state SET indexed_seq = (SELECT max(seq) FROM jobs); UPDATE queues SET paused = 1; COMMIT",
    )?;
    files(&connection, data)?;
    check(&connection)?;
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    connection.execute_batch("PRAGMA optimize")?;
    summary(&connection)
}

/// When a job was made: one each 20 seconds, the last one not long ago.
const TIME: &str = "1764000000000 + n.i * 20000";
const TITLE: &str = "(word(n.i) || '_' || word(n.i / 5 + 3) || '_' || word(n.i / 11 + 9) || '_' || (1990 + n.i % 36) || '_' || n.i || '.pdf')";

/// Gives SQL the numbers from 1 on and words by number.
fn words(connection: &Connection, most: i64) -> Outcome<()> {
    use rusqlite::functions::FunctionFlags;
    connection.create_scalar_function(
        "word",
        1,
        FunctionFlags::SQLITE_DETERMINISTIC,
        |context| {
            let number: i64 = context.get(0)?;
            let at = usize::try_from(number.rem_euclid(WORDS.len() as i64)).unwrap_or_default();
            Ok(WORDS[at])
        },
    )?;
    connection.execute_batch(&format!(
        "CREATE TEMP TABLE n AS WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most})
         SELECT i FROM n"
    ))?;
    Ok(())
}

/// Copies the newest row of `table` for each number up to `most` that meets a condition, with other values in the columns of
/// `changes`.
fn copy(
    connection: &Connection,
    table: &str,
    condition: &str,
    most: i64,
    changes: &[(&str, &str)],
) -> Outcome<()> {
    let columns: Vec<String> = connection
        .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())?;
    let values: Vec<String> = columns
        .iter()
        .map(|column| {
            let change = changes.iter().find(|(changed, _)| changed == column);
            change.map_or(format!("model.{column}"), |(_, value)| (*value).to_owned())
        })
        .collect();
    connection.execute(
        &format!(
            "INSERT INTO {table} ({}) SELECT {} FROM n, (SELECT * FROM {table} ORDER BY rowid DESC LIMIT 1) AS model
             WHERE n.i <= ?1 AND ({condition}) ORDER BY n.i",
            columns.join(", "),
            values.join(", "),
        ),
        [most],
    )?;
    Ok(())
}

/// Writes the files of the newest results.
fn files(connection: &Connection, data: &Path) -> Outcome<()> {
    let mut statement =
        connection.prepare("SELECT key FROM results ORDER BY result_id DESC LIMIT ?1")?;
    let keys: Vec<String> = statement
        .query_map([FILES], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for key in keys {
        std::fs::write(data.join(key), SUMMARY)?;
    }
    Ok(())
}

fn check(connection: &Connection) -> Outcome<()> {
    let broken: i64 =
        connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
            row.get(0)
        })?;
    if broken > 0 {
        return Err(format!("{broken} copies refer to what is not there").into());
    }
    Ok(())
}

fn summary(connection: &Connection) -> Outcome<String> {
    let mut statement =
        connection.prepare("SELECT status, count(*) FROM jobs GROUP BY status ORDER BY 2 DESC")?;
    let counts: Vec<String> = statement
        .query_map([], |row| {
            Ok(format!(
                "{} {}",
                row.get::<_, i64>(1)?,
                row.get::<_, String>(0)?
            ))
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(counts.join(", "))
}
