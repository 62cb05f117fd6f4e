//! Killed sixty times at random, at and between the durable steps of its attempts: every job ends with one
//! result, nothing kept is bought again, and money and attempts tell the whole story.
//!
//! What each kill did is written to `target/tmp/killed-often.log`.

use std::fmt::Write as _;
use std::os::unix::process::ExitStatusExt as _;

use gistmill_testkit::fake_claude::{FakeClaude, Reply, Rule};
use rusqlite::Connection;

use crate::support::Desk;

const JOBS: usize = 150;
const KILLS: usize = 60;
/// Signal 9, which no program can catch.
const KILL: i32 = 9;

/// A small generator of numbers: the same at every run.
struct Numbers(u64);

impl Numbers {
    /// Returns a number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

#[tokio::test(flavor = "multi_thread")]
#[expect(
    clippy::print_stdout,
    reason = "whoever asks for the output sees which kills there were"
)]
async fn sixty_kills_lose_nothing_buy_nothing_twice_and_hide_nothing() {
    let claude = FakeClaude::start().await;
    claude.script(Rule::always(Reply::slow(2)));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(JOBS);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    // Many more kills than retries: what is killed too often must be dead-lettered, not lost.
    desk.text(&["queues", "set", "high", "--concurrency", "4"]);
    desk.text(&["config", "set", "tokens-per-minute", "4000000000"]);
    let mut numbers = Numbers(20_261_129);
    let mut log = format!(
        "{:>4}  {:<14}{:>6}{:>9}{:>13}{:>7}\n",
        "kill", "moment", "done", "waiting", "interrupted", "dead"
    );
    for kill in 1..=KILLS {
        let moment = killed_once(&desk, &claude, &mut numbers).await;
        let database = open(&desk);
        writeln!(
            log,
            "{kill:>4}  {moment:<14}{:>6}{:>9}{:>13}{:>7}",
            count(
                &database,
                "SELECT count(*) FROM jobs WHERE status = 'completed'"
            ),
            count(
                &database,
                "SELECT count(*) FROM jobs WHERE status IN ('pending', 'running')"
            ),
            count(
                &database,
                "SELECT count(*) FROM attempts WHERE outcome = 'interrupted'"
            ),
            count(
                &database,
                "SELECT count(*) FROM jobs WHERE status = 'dead-lettered'"
            ),
        )
        .unwrap();
        assert_eq!(
            count(&database, "SELECT count(*) FROM jobs"),
            JOBS,
            "a job is lost after kill {kill} at {moment}:\n{log}"
        );
    }
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("killed-often.log"), &log).unwrap();
    println!("{log}");

    // What used up its retries waits in dead letters, and runs when a person says so.
    desk.run(&["run"]);
    desk.run(&["retry", "--all"]);
    desk.run(&["run"]);
    audit(&desk, &claude, &log);
}

/// Starts the work and kills it at a random moment, which is returned.
async fn killed_once(desk: &Desk, claude: &FakeClaude, numbers: &mut Numbers) -> String {
    const POINTS: [&str; 5] = ["reserved", "answered", "kept", "stored", "completed"];
    let choice = usize::try_from(numbers.below(6)).unwrap();
    let Some(point) = POINTS.get(choice) else {
        // From outside, in the middle of whatever it does after so many requests.
        let more = usize::try_from(numbers.below(4)).unwrap() + 1;
        let wanted = claude.requests().len() + more;
        let mut run = desk.gistmill(&["run"]).spawn().unwrap();
        claude.arrived(wanted).await;
        run.kill().unwrap();
        run.wait().unwrap();
        return format!("request +{more}");
    };
    let time = numbers.below(4) + 1;
    let moment = format!("{point}:{time}");
    let killed = desk
        .gistmill(&["run"])
        .env("GISTMILL_KILL_AT", &moment)
        .output()
        .unwrap();
    assert_eq!(
        killed.status.signal(),
        Some(KILL),
        "{moment} must end the program: {killed:?}"
    );
    moment
}

fn audit(desk: &Desk, claude: &FakeClaude, log: &str) {
    let database = open(desk);
    let count = |sql: &str| count(&database, sql);
    let completed = count("SELECT count(*) FROM jobs WHERE status = 'completed'");
    assert_eq!(completed, JOBS, "every job ends with a summary\n{log}");
    assert_eq!(
        count("SELECT count(*) FROM results"),
        JOBS,
        "each result is stored once"
    );
    assert_eq!(
        count("SELECT count(*) FROM answers"),
        0,
        "no answer waits to be published"
    );
    let stored = std::fs::read_dir(desk.path("data/results"))
        .unwrap()
        .count();
    assert_eq!(
        stored, JOBS,
        "the library holds the results and nothing else"
    );
    assert_eq!(
        count("SELECT count(*) FROM attempts WHERE outcome = 'running'"),
        0
    );
    let interrupted = count("SELECT count(*) FROM attempts WHERE outcome = 'interrupted'");
    assert!(
        interrupted >= KILLS / 3,
        "the kills must have hit attempts, or they prove nothing:\n{log}"
    );
    // Each call is told of by an attempt; one that was asked for again had lost its answer.
    let mut asked = std::collections::HashMap::<String, u32>::new();
    for request in claude.requests() {
        // One that was cut off before its document had come is no call.
        if let Some(document) = request.documents.first() {
            *asked.entry(document.sha256.clone()).or_default() += 1;
        }
    }
    let mut statement = database
        .prepare(
            "SELECT document_sha256,
                    (SELECT count(*) FROM attempts AS a WHERE a.job_id = j.job_id
                     AND a.outcome = 'interrupted' AND a.input_tokens IS NULL),
                    (SELECT count(*) FROM attempts AS a WHERE a.job_id = j.job_id
                     AND a.input_tokens > 0)
             FROM jobs AS j",
        )
        .unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (sha256, lost, paid): (String, u32, u32) = (
            row.get(0).unwrap(),
            row.get(1).unwrap(),
            row.get(2).unwrap(),
        );
        assert_eq!(paid, 1, "an answer is kept once for each job");
        let asked = asked[&sha256];
        assert!(
            asked <= lost + paid,
            "{asked} calls, but only {lost} attempts lost their answer"
        );
    }
    assert_eq!(
        count("SELECT count(*) FROM ledger WHERE state = 'reserved'"),
        0,
        "nothing stays promised"
    );
    assert_eq!(
        count("SELECT count(*) FROM ledger WHERE state = 'settled'"),
        JOBS,
        "each answer is settled once"
    );
    assert_eq!(
        count("SELECT count(*) FROM ledger WHERE state = 'unknown'"),
        count(
            "SELECT count(*) FROM attempts WHERE outcome = 'interrupted' AND input_tokens IS NULL"
        ),
        "each call whose end is not known counts at its worst"
    );
    assert_eq!(
        count(
            "SELECT (SELECT sum(micros) FROM ledger) - (SELECT sum(settled + unknown) FROM day_money)"
        ),
        0,
        "the sums are those of the ledger"
    );
    let check: String = database
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap();
    assert_eq!(check, "ok");
}

fn open(desk: &Desk) -> Connection {
    Connection::open(desk.path("data/gistmill.db")).unwrap()
}

fn count(database: &Connection, sql: &str) -> usize {
    let found: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
    usize::try_from(found).unwrap()
}
