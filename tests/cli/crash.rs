//! kill -9 in the middle of the work: nothing is lost, each result is stored once, and the attempts
//! tell the story.

use std::collections::HashSet;

use gistmill_testkit::fake_claude::{FakeClaude, Reply, Rule};

use crate::support::Desk;

const JOBS: usize = 50;

#[tokio::test(flavor = "multi_thread")]
async fn killed_three_times_in_a_row_every_job_ends_with_one_result() {
    let claude = FakeClaude::start().await;
    claude.script(Rule::always(Reply::slow(20)));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(JOBS);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    for arrived in [8, 24, 40] {
        let mut run = desk.gistmill(&["run"]).spawn().unwrap();
        claude.arrived(arrived).await;
        run.kill().unwrap();
        run.wait().unwrap();
    }
    desk.text(&["run"]);

    let database = rusqlite::Connection::open(desk.path("data/gistmill.db")).unwrap();
    let count = |sql: &str| -> usize {
        let found: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
        usize::try_from(found).unwrap()
    };
    assert_eq!(
        count("SELECT count(*) FROM jobs WHERE status = 'completed'"),
        JOBS
    );
    assert_eq!(count("SELECT count(DISTINCT job_id) FROM results"), JOBS);
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
    assert_eq!(
        count("SELECT count(*) FROM attempts WHERE outcome = 'completed'"),
        JOBS
    );
    assert_eq!(
        count("SELECT count(*) FROM attempts WHERE outcome = 'running'"),
        0
    );
    let interrupted = count("SELECT count(*) FROM attempts WHERE outcome = 'interrupted'");
    assert!(
        interrupted > 0,
        "the kills must have hit something, or they prove nothing"
    );
    assert_eq!(
        count("SELECT count(*) FROM attempts"),
        JOBS + interrupted,
        "every attempt beyond the fiftieth was cut off by a kill"
    );
    assert!(
        claude.requests().len() <= JOBS + interrupted,
        "nothing is sent that no attempt tells of"
    );
    let files: HashSet<_> = std::fs::read_dir(desk.path("data/results"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let keys: HashSet<String> = database
        .prepare("SELECT key FROM results")
        .unwrap()
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap()
        .map(|key| key.unwrap().trim_start_matches("results/").to_owned())
        .collect();
    assert_eq!(
        files, keys,
        "the library holds exactly the results that the database knows"
    );
}
