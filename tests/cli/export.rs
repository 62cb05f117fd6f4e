//! Results as files for other programs.

use serde_json::{Value, json};

use crate::support::Desk;

/// A desk with two results, and a prompt that waits.
fn desk_with_results() -> Desk {
    let desk = Desk::new();
    desk.put_pdfs(2);
    desk.text(&[
        "add",
        "pdfs",
        "--provider",
        "offline",
        "--queue",
        "high",
        "--name",
        "Rivers",
    ]);
    desk.text(&["run"]);
    desk.text(&["queues", "pause", "all"]);
    desk.text(&["add", "--prompt", "Name three lakes.", "--name", "Lakes"]);
    desk
}

fn file(desk: &Desk, name: &str) -> String {
    String::from_utf8(std::fs::read(desk.path(name)).unwrap()).unwrap()
}

#[test]
fn the_ending_says_what_is_written() {
    let desk = desk_with_results();
    let said = desk.text(&["export", "all.csv"]);
    assert!(
        said.starts_with("3 jobs with 2 results in ") && said.contains("all.csv"),
        "{said}"
    );
    let table = file(&desk, "all.csv");
    assert!(table.starts_with('\u{feff}'), "Excel needs the mark");
    assert!(table.contains("The level rose by 2 centimetres"), "{table}");
    desk.text(&["export", "plain.csv", "--no-bom"]);
    assert_eq!(
        table.trim_start_matches('\u{feff}'),
        file(&desk, "plain.csv")
    );
    desk.text(&["export", "all.jsonl"]);
    let lines = file(&desk, "all.jsonl");
    assert_eq!(lines.lines().count(), 3);
    for line in lines.lines() {
        let _: Value = serde_json::from_str(line).unwrap();
    }
    desk.text(&["export", "all.MD"]);
    assert!(file(&desk, "all.MD").contains("The level rose by 1 centimetres"));
    desk.text(&["export", "results.txt", "--format", "jsonl"]);
    assert_eq!(file(&desk, "results.txt"), lines);
    let refused = desk.ends_with(2, &["export", "results.xlsx"]);
    assert!(refused.contains("--format"), "{refused}");
}

#[test]
fn filters_and_ids_say_which_jobs() {
    let desk = desk_with_results();
    let exported = |arguments: &[&str]| {
        let mut all = vec!["export", "some.jsonl", "--replace"];
        all.extend(arguments);
        let exported = desk.json(&all);
        (exported["jobs"].clone(), exported["results"].clone())
    };
    assert_eq!(exported(&["--batch", "Rivers"]), (json!(2), json!(2)));
    assert_eq!(exported(&["--status", "done"]), (json!(2), json!(2)));
    assert_eq!(exported(&["--status", "waiting"]), (json!(1), json!(0)));
    assert_eq!(exported(&["--search", "report-001"]), (json!(1), json!(1)));
    let jobs = desk.json(&["jobs", "--search", "report"]);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    assert_eq!(exported(&[id]), (json!(1), json!(1)));
    desk.ends_with(2, &["export", "none.csv", "--batch", "no-such-batch"]);
    desk.ends_with(2, &["export", "none.csv", "no-such-job"]);
    assert!(!desk.path("none.csv").exists());
}

#[test]
fn a_file_that_is_there_is_replaced_only_when_that_is_said() {
    let desk = desk_with_results();
    desk.put("all.csv", b"mine");
    desk.ends_with(2, &["export", "all.csv"]);
    assert_eq!(file(&desk, "all.csv"), "mine");
    desk.text(&["export", "all.csv", "--replace"]);
    assert!(file(&desk, "all.csv").contains("report-001.pdf"));
}

#[test]
fn a_result_that_cannot_be_read_is_told_and_sets_the_exit_code() {
    let desk = desk_with_results();
    let jobs = desk.json(&["jobs", "--search", "report-001"]);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    let path = desk.json(&["show", id])["result"]["path"].clone();
    std::fs::remove_file(path.as_str().unwrap()).unwrap();
    let said = desk.ends_with(1, &["export", "all.csv"]);
    assert!(
        said.contains("1 result could not be read; its job is in it"),
        "{said}"
    );
    assert!(file(&desk, "all.csv").contains("report-001.pdf"));
}
