//! Opening a database: of an older version, of a newer one, damaged, or locked.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

use super::support::*;
use crate::error::EngineError;
use crate::model::{JobStatus, ProblemCode};
use crate::store::{Store, open};

/// Jobs in every state with all that belongs to them, as the first version stored them.
const OLD: &str = "
INSERT INTO settings VALUES ('model', '\"claude-sonnet-4-6\"');
INSERT INTO batches VALUES ('b1', 'First', 'local', 1000), ('b2', 'Second', 'local', 2000);
INSERT INTO documents VALUES (printf('%064d', 1), 10, 2, 'none', 1, NULL, NULL, 1000);
INSERT INTO results (result_id, job_id, generation, store, key, sha256, bytes, provider, model,
                     input_tokens, output_tokens, cost_micros, created_at)
VALUES (1, 'completed', 1, 'local', 'results/completed.md', printf('%064d', 2), 9, 'claude', 'm', 5, 6, 7, 1),
       (2, 'needs-review', 1, 'local', 'results/review.md', printf('%064d', 3), 9, 'claude', 'm', 5, 6, 7, 1);
WITH states (status, lease, started, completed, result, code, error) AS (VALUES
    ('pending', NULL, NULL, NULL, NULL, NULL, NULL),
    ('running', 'lease', 1100, NULL, NULL, NULL, NULL),
    ('submitted', NULL, NULL, NULL, NULL, NULL, NULL),
    ('completed', NULL, 1100, 1200, 1, NULL, NULL),
    ('needs-review', NULL, 1100, 1200, 2, 'cut-off', 'Cut off.'),
    ('failed', NULL, 1100, 1200, NULL, 'too-large', 'Too large.'),
    ('dead-lettered', NULL, 1100, 1200, NULL, 'overloaded', 'Overloaded.'),
    ('cancelled', NULL, NULL, 1200, NULL, NULL, NULL))
INSERT INTO jobs (job_id, batch_id, user_id, kind, title, status, queue, available_at, waiting_since,
                  prompt, provider, model, max_tokens, lease_id, lease_expires_at, created_at, started_at,
                  completed_at, result_id, error_code, error, document_sha256)
SELECT status, 'b1', 'local', 'prompt', 'A title', status, 'high', 1000, 1000, 'What?', 'claude',
       'claude-sonnet-4-6', 100, lease, CASE WHEN lease IS NOT NULL THEN 2000 END, 1000, started, completed, result, code, error,
       printf('%064d', 1)
FROM states;
INSERT INTO jobs (job_id, batch_id, user_id, kind, title, status, queue, available_at, waiting_since,
                  prompt, provider, model, max_tokens, created_at)
VALUES ('more', 'b2', 'local', 'prompt', 'More', 'pending', 'bulk', 1000, 1000, 'What?', 'offline', 'm', 9, 1);
INSERT INTO attempts (job_id, generation, number, lease_id, provider, model, started_at, ended_at, outcome,
                      error_code, waited_ms, input_tokens, output_tokens, cost_micros)
VALUES ('completed', 1, 1, 'l1', 'claude', 'claude-sonnet-4-6', 1795953600000, 1795953601000, 'completed',
        NULL, 0, 5, 6, 7),
       ('failed', 1, 1, 'l2', 'claude', 'claude-sonnet-4-6', 1795953600000, 1795953601000, 'failed',
        'too-large', 0, NULL, NULL, 0),
       ('running', 1, 1, 'lease', 'claude', 'claude-sonnet-4-6', 1100, NULL, 'running', NULL, 0, NULL, NULL,
        NULL);
INSERT INTO answers VALUES ('running', 1, 'An answer.', 'm', NULL, NULL, 1, 2, 3, NULL, NULL, 1);
INSERT INTO outbox (kind, job_id, generation, created_at, available_at, delivered_at)
VALUES ('job-failed', 'failed', 1, 1, 1, NULL), ('copy-result', 'completed', 1, 1, 1, 5);
INSERT INTO circuits VALUES ('claude', 'key-refused', 'No.', 1);
";

/// Makes a database as the first version left it.
fn old() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gistmill.db");
    let connection = Connection::open(&path).unwrap();
    let first = include_str!("../../../../../migrations/0001_foundation.sql");
    connection
        .execute_batch("PRAGMA journal_mode = WAL")
        .unwrap();
    connection.execute_batch(first).unwrap();
    // A job and its result name each other.
    connection
        .pragma_update(None, "foreign_keys", false)
        .unwrap();
    connection.execute_batch(OLD).unwrap();
    connection.pragma_update(None, "user_version", 1).unwrap();
    (folder, path)
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn backup(folder: &TempDir) -> PathBuf {
    folder.path().join("gistmill-before-2.db")
}

#[tokio::test]
async fn an_old_database_keeps_everything_and_gets_what_is_new() {
    let (folder, path) = old();
    let shelf = Shelf {
        store: Store::open(&path).unwrap(),
        folder,
    };
    for (table, rows) in [
        ("jobs", 9_i64),
        ("attempts", 3),
        ("answers", 1),
        ("results", 2),
        ("outbox", 2),
        ("circuits", 1),
        ("documents", 1),
        ("batches", 2),
    ] {
        let connection = Connection::open(&path).unwrap();
        let found = count(&connection, &format!("SELECT count(*) FROM {table}"));
        assert_eq!(found, rows, "{table}");
    }
    let counts = shelf.store.overview(local(NOW)).await.unwrap().counts;
    assert_eq!((counts.total, counts.waiting, counts.running), (9, 2, 2));
    assert_eq!((counts.done, counts.needs_review), (1, 1));
    assert_eq!((counts.dead_letters, counts.cancelled), (2, 1));
    let day = shelf.store.overview(local(NOW)).await.unwrap().budget.day;
    assert_eq!(day.settled_micros, 7, "what was spent today counts");
    let due = shelf.store.to_tell(NOW).await.unwrap();
    assert_eq!(due.failures.len(), 1, "what was not told yet is");
    assert!(shelf.store.results_to_copy(NOW).await.unwrap().is_empty());
    // It works: the running one is recovered and its answer is published.
    assert_eq!(shelf.store.recover_interrupted(NOW).await.unwrap(), 1);
    let claimed = shelf.claim(9, NOW).await;
    assert_eq!(
        claimed.len(),
        2,
        "the circuit is still open, which holds no answer back"
    );
    let claude = crate::model::Provider::Claude;
    shelf.store.close_circuit(claude).await.unwrap();
    assert_eq!(shelf.claim(9, NOW).await.len(), 1);
    let running = claimed
        .iter()
        .find(|job| job.lease.job_id.as_str() == "running")
        .unwrap();
    let kept = shelf
        .store
        .kept_answer(running.lease.clone())
        .await
        .unwrap();
    assert_eq!(kept.unwrap().body, "An answer.");
    let found = shelf.store.unindexed(100).await.unwrap();
    let found: std::collections::BTreeSet<i64> = found.iter().map(|job| job.seq).collect();
    assert_eq!(found.len(), 9, "the search learns of the old jobs, too");
    let integrity: String = shelf.ask("PRAGMA integrity_check").await;
    assert_eq!(integrity, "ok");
    let strays: i64 = shelf
        .ask("SELECT count(*) FROM pragma_foreign_key_check")
        .await;
    assert_eq!(strays, 0);
}

/// The second version, with jobs that the first did not know, and one that was removed.
#[tokio::test]
async fn a_database_of_the_second_version_keeps_its_jobs_numbers_and_holds() {
    let (folder, path) = old();
    let connection = Connection::open(&path).unwrap();
    let second = include_str!("../../../../../migrations/0002_budget.sql");
    connection.execute_batch(second).unwrap();
    connection
        .execute_batch(
            "UPDATE jobs SET held = 21 WHERE job_id = 'more';
             INSERT INTO settings VALUES ('copyBesidePdf', 'false');
             INSERT INTO jobs (job_id, batch_id, user_id, kind, title, status, queue, available_at,
                 waiting_since, prompt, provider, model, max_tokens, created_at)
             VALUES ('gone', 'b2', 'local', 'prompt', 'Gone', 'pending', 'bulk', 1, 1, 'What?',
                     'offline', 'm', 9, 1);
             DELETE FROM jobs WHERE job_id = 'gone';
             PRAGMA user_version = 2;",
        )
        .unwrap();
    let sum =
        "SELECT group_concat(seq || job_id || status || held || coalesce(result_id, '')) FROM jobs";
    let words = |connection: &Connection| {
        connection
            .query_row(sum, [], |row| row.get::<_, String>(0))
            .unwrap()
    };
    let before = words(&connection);
    drop(connection);
    let shelf = Shelf {
        store: Store::open(&path).unwrap(),
        folder,
    };
    let connection = Connection::open(&path).unwrap();
    assert_eq!(words(&connection), before);
    assert_eq!(count(&connection, "SELECT count(*) FROM attempts"), 3);
    assert_eq!(count(&connection, "SELECT count(*) FROM outbox"), 2);
    let strays = "SELECT count(*) FROM pragma_foreign_key_check";
    assert_eq!(count(&connection, strays), 0);
    let added = shelf.add(&["new", "newer"]).await;
    let seq = format!("SELECT seq FROM jobs WHERE job_id = '{}'", added[0]);
    assert_eq!(
        count(&connection, &seq),
        11,
        "the number of a removed job is not given again: the search trails by them"
    );
    let counts = shelf.store.overview(local(NOW)).await.unwrap().counts;
    assert_eq!(counts.total, 11, "the counters still follow the jobs");
    let settings = shelf.store.settings().await.unwrap();
    assert_eq!(
        settings.copies_to,
        crate::model::CopiesTo::Nowhere,
        "who wanted no copies gets none"
    );
    let kept = Connection::open(shelf.folder.path().join("gistmill-before-3.db")).unwrap();
    assert_eq!(count(&kept, "SELECT count(*) FROM jobs"), 9);
}

#[test]
fn the_old_database_is_backed_up_once() {
    let (folder, path) = old();
    drop(open::writer(&path).unwrap());
    let kept = Connection::open(backup(&folder)).unwrap();
    assert_eq!(count(&kept, "PRAGMA user_version"), 1);
    assert_eq!(count(&kept, "SELECT count(*) FROM jobs"), 9);
    assert_eq!(
        count(
            &kept,
            "SELECT count(*) FROM outbox WHERE kind = 'job-failed'"
        ),
        1
    );
    drop(kept);
    let written = std::fs::metadata(backup(&folder))
        .unwrap()
        .modified()
        .unwrap();
    drop(open::writer(&path).unwrap());
    let again = std::fs::metadata(backup(&folder))
        .unwrap()
        .modified()
        .unwrap();
    assert_eq!(
        written, again,
        "a database of this version is not backed up"
    );
}

#[test]
fn a_backup_that_was_cut_off_is_made_again() {
    let (folder, path) = old();
    let unfinished = backup(&folder).with_extension("unfinished");
    std::fs::write(&unfinished, b"half of it").unwrap();
    drop(open::writer(&path).unwrap());
    let kept = Connection::open(backup(&folder)).unwrap();
    assert_eq!(count(&kept, "SELECT count(*) FROM jobs"), 9);
    assert!(!unfinished.exists());
}

#[test]
fn a_newer_database_is_left_alone() {
    let (folder, path) = old();
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "user_version", 99).unwrap();
    drop(connection);
    let Err(error) = Store::open(&path) else {
        panic!("a newer database must be refused");
    };
    assert!(
        matches!(error, EngineError::NewerDatabase { .. }),
        "{error}"
    );
    assert_eq!(error.problem().code, ProblemCode::NewerDatabase);
    let connection = Connection::open(&path).unwrap();
    assert_eq!(count(&connection, "PRAGMA user_version"), 99);
    assert!(!backup(&folder).exists());
}

/// Overwrites some pages in the middle of a database.
fn damage(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    let pages = bytes.len() / 4_096;
    // The first page holds the schema; the file still looks like a database.
    for page in pages / 4..pages {
        bytes[page * 4_096..page * 4_096 + 2_048].fill(0xA5);
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_database_is_refused_before_it_is_migrated() {
    let (folder, path) = old();
    damage(&path);
    let before = std::fs::read(&path).unwrap();
    let Err(error) = Store::open(&path) else {
        panic!("a damaged database must be refused");
    };
    assert!(
        matches!(error, EngineError::DamagedDatabase { .. }),
        "{error}"
    );
    assert_eq!(error.problem().code, ProblemCode::Storage);
    assert!(error.problem().hint.contains("backup"));
    assert!(!backup(&folder).exists(), "damage is not a backup");
    assert_eq!(std::fs::read(&path).unwrap(), before, "nothing was changed");
}

#[test]
fn a_file_that_is_no_database_is_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gistmill.db");
    std::fs::write(&path, "This is a letter. ".repeat(500)).unwrap();
    let Err(error) = Store::open(&path) else {
        panic!("a letter must be refused");
    };
    assert!(
        matches!(error, EngineError::DamagedDatabase { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn damage_that_shows_while_it_is_used_is_called_so() {
    let shelf = shelf();
    for _ in 0..20 {
        shelf.add(&["one", "two", "six", "ten"]).await;
    }
    shelf.store.close().await;
    let path = shelf.folder.path().join("gistmill.db");
    damage(&path);
    let error = match Store::open(&path) {
        Err(error) => error,
        Ok(store) => {
            let claimed = store.claim(request(9, NOW)).await.map(drop);
            let looked = store.overview(local(NOW)).await.map(drop);
            claimed
                .and(looked)
                .expect_err("damage must not be papered over")
        }
    };
    let problem = error.problem();
    assert!(problem.message.contains("damaged"), "{}", problem.message);
    assert!(problem.hint.contains("backup"), "{}", problem.hint);
}

#[tokio::test]
async fn a_database_locked_by_another_program_says_so_and_works_afterwards() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    shelf.change("PRAGMA busy_timeout = 50").await.unwrap();
    let other = Connection::open(shelf.folder.path().join("gistmill.db")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let began = Instant::now();
    let Err(error) = shelf.store.claim(request(9, NOW)).await else {
        panic!("nothing can be written while another program holds the database");
    };
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "it waits no longer than it was told to"
    );
    let problem = error.problem();
    assert!(problem.message.contains("locked"), "{}", problem.message);
    assert!(
        problem.hint.contains("Close the program"),
        "{}",
        problem.hint
    );
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(shelf.claim(9, NOW).await.len(), added.len());
    assert_eq!(shelf.look(&added[0]).await.job.status, JobStatus::Running);
}

#[test]
fn two_that_open_an_old_database_at_once_migrate_it_once() {
    let (folder, path) = old();
    let openers: Vec<_> = (0..4)
        .map(|_| {
            let path = path.clone();
            std::thread::spawn(move || open::writer(&path).map(drop))
        })
        .collect();
    for opener in openers {
        opener.join().unwrap().unwrap();
    }
    let connection = Connection::open(&path).unwrap();
    let new = tempfile::tempdir().unwrap();
    let new = open::writer(&new.path().join("new.db")).unwrap();
    assert_eq!(
        count(&connection, "PRAGMA user_version"),
        count(&new, "PRAGMA user_version"),
        "it is what a new one is"
    );
    let kept = Connection::open(backup(&folder)).unwrap();
    assert_eq!(count(&kept, "SELECT count(*) FROM jobs"), 9);
}
