//! Money, over thousands of calls on bad days: what the ledger says is what the double bills, to the micro-dollar,
//! and where nobody can know it, not less. What a day may cost is never passed by the bill.

use std::collections::HashMap;

use gistmill_engine::model::{JobFilter, JobsShown, RetryChanges, Selection, Settings};
use rusqlite::Connection;

use crate::bad_day::{Day, End};

/// A call as the ledger has it.
struct Entry {
    state: String,
    micros: u64,
    request_id: Option<String>,
}

fn ledger(database: &Connection) -> Vec<Entry> {
    let mut statement = database
        .prepare(
            "SELECT l.state, l.micros, a.request_id
             FROM ledger AS l JOIN attempts AS a USING (job_id, lease_id)",
        )
        .unwrap();
    let rows = statement.query_map([], |row| {
        Ok(Entry {
            state: row.get(0)?,
            micros: row.get::<_, i64>(1)?.unsigned_abs(),
            request_id: row.get(2)?,
        })
    });
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn count(database: &Connection, sql: &str) -> u64 {
    let found: i64 = database.query_row(sql, [], |row| row.get(0)).unwrap();
    found.unsigned_abs()
}

/// Compares the ledger with the bill, call by call.
#[expect(
    clippy::print_stdout,
    reason = "whoever asks for the output sees what was compared"
)]
fn compare(day: &Day) {
    let database = day.database();
    let entries = ledger(&database);
    let rows = count(&database, "SELECT count(*) FROM ledger");
    assert_eq!(
        entries.len() as u64,
        rows,
        "every call belongs to an attempt"
    );
    let mut bill: HashMap<String, u64> = day
        .claude
        .bill()
        .into_iter()
        .map(|call| (call.id, call.micro_dollars))
        .collect();
    let billed: u64 = bill.values().sum();
    assert_eq!(billed, day.claude.billed());
    let (mut known, mut exact, mut unknown) = (0, 0, Vec::new());
    for entry in &entries {
        let id = entry.request_id.as_deref().unwrap_or_default();
        let call = bill.remove(id).unwrap_or(0);
        match entry.state.as_str() {
            "settled" | "refunded" => {
                assert_eq!(entry.micros, call, "{id} is {}", entry.state);
                known += entry.micros;
                exact += 1;
            }
            "unknown" if entry.request_id.is_some() => {
                assert!(
                    entry.micros >= call,
                    "{id} is billed {call}, and only {} are counted",
                    entry.micros
                );
                unknown.push((entry.micros, call));
            }
            "unknown" => unknown.push((entry.micros, 0)),
            other => panic!("nothing runs, and a call is {other}"),
        }
    }
    // What is billed of calls whose id was never told is counted by as many whose end is not known.
    let mut untold: Vec<u64> = bill.into_values().filter(|call| *call > 0).collect();
    untold.sort_unstable();
    let mut without_id: Vec<u64> = entries
        .iter()
        .filter(|entry| entry.state == "unknown" && entry.request_id.is_none())
        .map(|entry| entry.micros)
        .collect();
    without_id.sort_unstable();
    assert!(
        untold.len() <= without_id.len(),
        "{} calls are billed of which the ledger does not know",
        untold.len()
    );
    // The dearest beside the dearest.
    for (call, counted) in untold.iter().rev().zip(without_id.iter().rev()) {
        assert!(counted >= call, "{call} are billed, {counted} are counted");
    }
    let counted: u64 = unknown.iter().map(|(counted, _)| counted).sum();
    let of_unknown: u64 =
        unknown.iter().map(|(_, call)| call).sum::<u64>() + untold.iter().sum::<u64>();
    assert_eq!(
        known + of_unknown,
        billed,
        "what is known and what is not make up the whole bill"
    );
    let kept = count(&database, "SELECT sum(settled + unknown) FROM day_money");
    assert_eq!(kept, known + counted, "the sums are those of the ledger");
    println!(
        "{} calls: {exact} known, {known} micro-dollars in the ledger and on the bill; {} unknown, {counted} \
         counted, {of_unknown} billed",
        entries.len(),
        unknown.len(),
    );
}

#[test]
fn the_ledger_equals_the_bill_over_two_thousand_jobs_on_a_bad_day() {
    let day = Day::new(20_261_130);
    day.add(1_700, 260, 40);
    for killed_at in [300, 900, 1_500, 2_100] {
        assert_eq!(day.live(Some(killed_at)), End::Killed);
    }
    assert_eq!(day.live(None), End::Drained);
    // What failed or was cut off is asked again.
    let again = day.visit(async |engine| {
        let mut again = 0;
        for shown in [JobsShown::DeadLetters, JobsShown::NeedsReview] {
            let filter = JobFilter {
                shown,
                ..JobFilter::default()
            };
            let (jobs, changes) = (Selection::Matching { filter }, RetryChanges::default());
            again += engine.retry(jobs, changes).await.unwrap().jobs;
        }
        again
    });
    assert!(again > 20, "on a bad day some jobs fail, not {again}");
    assert_eq!(day.live(None), End::Drained);
    let database = day.database();
    assert_eq!(count(&database, "SELECT count(*) FROM jobs"), 2_000);
    let of = |state: &str| {
        let sql = format!("SELECT count(*) FROM ledger WHERE state = '{state}'");
        count(&database, &sql)
    };
    for (state, least) in [("settled", 1_800), ("refunded", 200), ("unknown", 100)] {
        assert!(of(state) >= least, "{} calls are {state}", of(state));
    }
    let interrupted = "SELECT count(*) FROM attempts WHERE outcome = 'interrupted'";
    assert!(
        count(&database, interrupted) >= 4,
        "the kills must have hit calls"
    );
    let long = "SELECT count(*) FROM attempts WHERE input_tokens > 100000 AND cost_micros >= 50000";
    assert!(
        count(&database, long) >= 30,
        "long prompts are asked, at their price"
    );
    compare(&day);
}

#[test]
fn the_bill_never_passes_what_a_day_may_cost() {
    const CAP: u64 = 2_500_000;
    let day = Day::new(7);
    day.add(700, 80, 20);
    day.visit(async |engine| {
        let settings = Settings {
            day_cap_micros: Some(CAP.cast_signed()),
            ..engine.settings().await.unwrap()
        };
        engine.save_settings(settings).await.unwrap();
    });
    for killed_at in [100, 200] {
        assert_eq!(day.live(Some(killed_at)), End::Killed);
        assert!(day.claude.billed() <= CAP);
    }
    assert_eq!(day.live(None), End::Capped, "the cap is reached midway");
    let database = day.database();
    let done = count(
        &database,
        "SELECT count(*) FROM jobs WHERE status IN ('completed', 'needs-review')",
    );
    assert!((100..750).contains(&done), "{done} of 800 are done");
    let counted = count(&database, "SELECT sum(settled + unknown) FROM day_money");
    assert!(
        counted <= CAP && day.claude.billed() <= counted,
        "{} are billed, {counted} are counted, {CAP} are allowed",
        day.claude.billed()
    );
    compare(&day);
}
