//! Results as files for other programs: nothing is lost, nothing is run, nothing is overwritten.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gistmill_engine::EngineError;
use gistmill_engine::model::{
    ExportFormat, ExportRequest, Exported, JobFilter, JobId, JobStatus, Selection, Submitted,
};
use gistmill_testkit::fake_claude::{Fault, Reply, Rule};
use serde_json::{Value, json};

use crate::support::House;

/// The columns of every table, before those of fields.
const FIXED: [&str; 18] = [
    "file",
    "path",
    "batch",
    "status",
    "template",
    "model",
    "provider",
    "pages",
    "attempts",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "created_at",
    "completed_at",
    "error",
    "document_sha256",
    "reused_from",
    "result_path",
];

fn all(format: ExportFormat) -> ExportRequest {
    ExportRequest {
        selection: Selection::Matching {
            filter: JobFilter::default(),
        },
        format,
        byte_order_mark: false,
    }
}

/// Reads a table back: its headings, and its rows by heading.
fn table(path: &Path) -> (Vec<String>, Vec<BTreeMap<String, String>>) {
    let mut reader = csv::Reader::from_path(path).unwrap();
    let headings: Vec<String> = reader
        .headers()
        .unwrap()
        .iter()
        .map(str::to_owned)
        .collect();
    let rows = reader
        .records()
        .map(|record| {
            let record = record.unwrap();
            headings
                .iter()
                .cloned()
                .zip(record.iter().map(str::to_owned))
                .collect()
        })
        .collect();
    (headings, rows)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

impl House {
    /// Makes a folder for exports and returns where a file of it lies.
    fn out(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().join("out");
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(name)
    }

    async fn export(&self, format: ExportFormat, name: &str) -> (Exported, PathBuf) {
        let path = self.out(name);
        let exported = self
            .engine
            .export(all(format), path.clone(), false)
            .await
            .unwrap();
        (exported, path)
    }

    /// Two jobs with answers of their own, and one that fails.
    async fn three(&self, names: [&str; 3]) -> Submitted {
        // What a request can hold of a long name is less than all of it.
        let [one, other, locked] = names.map(|name| name.chars().take(20).collect::<String>());
        self.claude.script(Rule::titled(
            one,
            Reply::text("# Title\n\nFirst text.\n\n```sh\n# a comment\n```"),
        ));
        self.claude.script(Rule::titled(
            other,
            Reply::text("=HYPERLINK(\"http://evil\")"),
        ));
        self.claude.script(Rule::titled(
            locked,
            Reply::fault(Fault::PdfPasswordProtected),
        ));
        let submitted = self.add(&names).await;
        for job_id in &submitted.job_ids[..2] {
            self.until_status(job_id, JobStatus::Completed).await;
        }
        self.until_status(&submitted.job_ids[2], JobStatus::Failed)
            .await;
        submitted
    }
}

#[tokio::test]
async fn a_table_holds_every_job_and_runs_nothing() {
    let house = House::working().await;
    let long = format!("{}.pdf", "länge-".repeat(33));
    let submitted = house
        .three(["=1+1,\"x\".pdf", &long, "報告 تقرير.pdf"])
        .await;
    let (exported, path) = house.export(ExportFormat::Csv, "all.csv").await;
    assert_eq!(
        (exported.jobs, exported.results, exported.unreadable),
        (3, 2, 0)
    );
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(exported.bytes, bytes.len() as u64);
    assert!(bytes.starts_with(b"file,path,batch,"));
    assert!(bytes.ends_with(b"\r\n"), "rows end as RFC 4180 says");
    let (headings, rows) = table(&path);
    let expected: Vec<&str> = FIXED.into_iter().chain(["summary"]).collect();
    assert_eq!(headings, expected);

    let files: Vec<&str> = rows.iter().map(|row| row["file"].as_str()).collect();
    assert_eq!(files, ["'=1+1,\"x\".pdf", &long, "報告 تقرير.pdf"]);
    let first = house.job(&submitted.job_ids[0]).await;
    let row = &rows[0];
    assert_eq!(Some(&row["path"]), first.job.source_path.as_ref());
    assert_eq!(row["batch"], "Test");
    assert_eq!(row["status"], "completed");
    assert_eq!(row["template"], "pdf-summarize-v1");
    assert_eq!(row["provider"], "claude");
    assert_eq!(row["pages"], "1");
    assert_eq!(row["attempts"], "1");
    assert_eq!(row["input_tokens"], first.job.input_tokens.to_string());
    let dollars: f64 = row["cost_usd"].parse().unwrap();
    let micros = (dollars * 1e6).round() as i64;
    assert_eq!(Some(micros), first.job.cost_micros);
    assert_eq!(row["created_at"], "2026-11-29T12:00:00Z");
    assert_eq!(row["document_sha256"], first.document.unwrap().sha256.0);
    assert_eq!(row["result_path"], first.result.unwrap().path);
    assert_eq!(
        row["summary"], "# Title\n\nFirst text.\n\n```sh\n# a comment\n```",
        "the line that says where it comes from is not a part of the summary"
    );
    assert_eq!(
        rows[1]["summary"], "'=HYPERLINK(\"http://evil\")",
        "what a model writes must not become a formula"
    );
    assert_eq!(rows[2]["status"], "failed");
    assert_eq!(rows[2]["summary"], "");
    assert_eq!(
        Some(&rows[2]["error"]),
        house.job(&submitted.job_ids[2]).await.job.error.as_ref()
    );
}

#[tokio::test]
async fn fields_are_columns_and_numbers_stay_numbers() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf", "c.pdf"]).await;
    house.until_completed(&submitted).await;
    // A template whose field has the name of a column, and one that is a formula.
    let mut own = house
        .engine
        .templates()
        .await
        .unwrap()
        .into_iter()
        .find(|template| template.template_id == "contract-key-terms")
        .unwrap()
        .draft();
    own.fields.truncate(2);
    own.fields[0].name = "status".to_owned();
    own.fields[1].name = "-1".to_owned();
    house
        .engine
        .edit_template("contract-key-terms", own)
        .await
        .unwrap();
    let terms = json!({
        "parties": ["=A", "B"], "subject": "@lease", "effective_date": "2026-11-30",
        "end_date": null, "renewal": null, "notice_period_days": -30, "amount": -1.5,
        "currency": "-EUR", "payment_terms": null, "liability_cap": null, "governing_law": null,
        "auto_renews": false, "unusual_terms": [],
    });
    house.make_fields(&submitted.job_ids[0], &terms.to_string());
    house.make_fields(&submitted.job_ids[1], "{\"parties\": \"cut");
    house.make_fields(
        &submitted.job_ids[2],
        "{\"status\": [\"x\"], \"-1\": \"two\", \"more\": 1}",
    );
    house
        .database()
        .execute(
            "UPDATE results SET template_version = 2 WHERE job_id = ?1",
            [submitted.job_ids[2].as_str()],
        )
        .unwrap();

    let (_, path) = house.export(ExportFormat::Csv, "fields.csv").await;
    let (headings, rows) = table(&path);
    assert_eq!(headings[..18], FIXED);
    assert_eq!(headings[18..20], ["parties", "subject"]);
    assert_eq!(
        headings[31..],
        ["field_status", "'-1", "summary"],
        "fields of a second template come behind those of the first"
    );
    assert_eq!(rows[0]["template"], "contract-key-terms-v1");
    assert_eq!(rows[0]["parties"], "'=A; B");
    assert_eq!(rows[0]["subject"], "'@lease");
    assert_eq!(rows[0]["amount"], "-1.5", "a number is no formula");
    assert_eq!(rows[0]["notice_period_days"], "-30");
    assert_eq!(rows[0]["currency"], "'-EUR");
    assert_eq!(rows[0]["auto_renews"], "no");
    assert_eq!(rows[0]["end_date"], "");
    assert_eq!(rows[0]["summary"], "");
    assert_eq!(
        rows[1]["summary"], "{\"parties\": \"cut",
        "what is no set of fields is not lost"
    );
    assert_eq!(rows[2]["field_status"], "x");
    assert_eq!(rows[2]["'-1"], "two");
    assert_eq!(rows[2]["parties"], "");

    let shown = house.job(&submitted.job_ids[0]).await.result.unwrap();
    assert!(
        shown.markdown.contains("| subject | @lease |"),
        "a person sees a table: {}",
        shown.markdown
    );
    let (_, path) = house.export(ExportFormat::Jsonl, "fields.jsonl").await;
    let text = std::fs::read_to_string(path).unwrap();
    let line: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(line["fields"]["parties"], json!(["=A", "B"]));
    assert_eq!(line["fields"]["amount"], json!(-1.5));
    assert_eq!(line["summary"], Value::Null);
    let (_, path) = house.export(ExportFormat::Markdown, "fields.md").await;
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains("| parties | =A; B |"), "{text}");
}

#[tokio::test]
async fn lines_hold_everything_that_programs_may_want() {
    let house = House::working().await;
    let submitted = house.three(["a.pdf", "二.pdf", "locked.pdf"]).await;
    house
        .database()
        .execute(
            "UPDATE results SET remote_address = 'https://r2.example/a', remote_at = 1,
                 reused_from = 'earlier', reused_at = 2 WHERE job_id = ?1",
            [submitted.job_ids[0].as_str()],
        )
        .unwrap();
    let (exported, path) = house.export(ExportFormat::Jsonl, "all.jsonl").await;
    assert_eq!((exported.jobs, exported.results), (3, 2));
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    let first = house.job(&submitted.job_ids[0]).await;
    let line = &lines[0];
    assert_eq!(line["jobId"], submitted.job_ids[0].as_str());
    assert_eq!(line["batchId"], submitted.batch_id.as_str());
    assert_eq!(line["file"], "a.pdf");
    assert_eq!(line["kind"], "pdf");
    assert_eq!(line["status"], "completed");
    assert_eq!(line["attempts"], 1);
    assert_eq!(line["costMicros"], first.job.cost_micros.unwrap());
    assert_eq!(
        line["documentSha256"],
        first.document.unwrap().sha256.as_str()
    );
    let result = first.result.unwrap();
    assert_eq!(line["result"]["sha256"], result.sha256.as_str());
    assert_eq!(line["result"]["path"], result.path.as_str());
    assert_eq!(line["result"]["uploadAddress"], "https://r2.example/a");
    assert_eq!(line["result"]["reusedFrom"], "earlier");
    assert_eq!(line["summary"], result.markdown.as_str());
    assert_eq!(lines[1]["file"], "二.pdf");
    assert_eq!(
        lines[1]["summary"], "=HYPERLINK(\"http://evil\")",
        "programs get the text as it is"
    );
    assert_eq!(lines[2]["cause"], "pdf-encrypted");
    assert_eq!(lines[2]["result"], Value::Null);
    assert_eq!(lines[2]["summary"], Value::Null);
}

#[tokio::test]
async fn a_document_has_a_section_for_each_result_and_says_what_failed() {
    let house = House::working().await;
    house.three(["a *b*.pdf", "報告.pdf", "locked.pdf"]).await;
    let (_, path) = house.export(ExportFormat::Markdown, "all.md").await;
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.starts_with("# Results\n\n2026-11-29 · 3 jobs · 2 completed · 1 failed\n"));
    let contents: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("- ["))
        .collect();
    assert_eq!(contents.len(), 2, "what has no result has no section");
    for entry in contents {
        let (title, anchor) = entry.split_once("](#").unwrap();
        let anchor = anchor.trim_end_matches(')');
        let (_, section) = text
            .split_once(&format!("<a id=\"{anchor}\"></a>"))
            .unwrap_or_else(|| panic!("{title} leads nowhere"));
        assert!(
            section.trim_start().starts_with(&format!("## {title}\n")),
            "the link of {title} leads to {section}"
        );
    }
    assert!(text.contains("\n## a \\*b\\*.pdf\n"), "{text}");
    assert!(
        text.contains("pdf-summarize-v1 · claude-sonnet-4-6"),
        "{text}"
    );
    assert!(text.contains(" · 1 page · $0.0"), "{text}");
    assert!(
        text.contains("\n### Title\n") && text.contains("\n# a comment\n"),
        "headings go below the section, code stays: {text}"
    );
    let (_, failed) = text.split_once("\n## Failed\n").unwrap();
    assert!(
        failed.contains("- locked.pdf\n  - ") && failed.contains("password"),
        "{failed}"
    );
    assert!(!text.contains("gistmill: claude"), "{text}");
}

#[tokio::test]
async fn a_byte_order_mark_is_written_when_told_and_selections_are_kept() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf", "c.pdf"]).await;
    house.until_completed(&submitted).await;
    let request = ExportRequest {
        selection: Selection::Jobs {
            job_ids: vec![submitted.job_ids[2].clone(), submitted.job_ids[0].clone()],
        },
        byte_order_mark: true,
        ..all(ExportFormat::Csv)
    };
    let path = house.out("some.csv");
    let exported = house
        .engine
        .export(request, path.clone(), false)
        .await
        .unwrap();
    assert_eq!(exported.jobs, 2);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("\u{feff}file,"));
    assert!(text.contains("a.pdf") && text.contains("c.pdf") && !text.contains("b.pdf"));

    // Of one batch: the title is its name.
    let request = ExportRequest {
        selection: Selection::Matching {
            filter: JobFilter {
                batch_id: Some(submitted.batch_id.clone()),
                ..JobFilter::default()
            },
        },
        ..all(ExportFormat::Markdown)
    };
    let path = house.out("batch.md");
    house
        .engine
        .export(request, path.clone(), false)
        .await
        .unwrap();
    assert!(
        std::fs::read_to_string(path)
            .unwrap()
            .starts_with("# Test\n")
    );

    // Of nothing: a table without rows.
    let request = ExportRequest {
        selection: Selection::one(JobId("none".to_owned())),
        ..all(ExportFormat::Csv)
    };
    let path = house.out("none.csv");
    let exported = house
        .engine
        .export(request, path.clone(), false)
        .await
        .unwrap();
    assert_eq!(exported.jobs, 0);
    assert_eq!(table(&path).1.len(), 0);
}

#[tokio::test]
async fn nothing_is_overwritten_or_left_behind() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    let path = house.out("mine.csv");
    std::fs::write(&path, "precious").unwrap();
    let refused = house
        .engine
        .export(all(ExportFormat::Csv), path.clone(), false)
        .await
        .unwrap_err()
        .problem();
    assert!(refused.message.contains("exists already"), "{refused:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    assert!(!house.engine.knows_path(&path).await.unwrap());
    house
        .engine
        .export(all(ExportFormat::Csv), path.clone(), true)
        .await
        .unwrap();
    assert_eq!(table(&path).1.len(), 2);
    assert!(
        house.engine.knows_path(&path).await.unwrap(),
        "what was exported may be opened"
    );
    let nowhere = house.folder.path().join("gone/a.csv");
    let refused = house
        .engine
        .export(all(ExportFormat::Csv), nowhere, true)
        .await
        .unwrap_err();
    assert!(matches!(refused, EngineError::BadInput { .. }));
    assert!(refused.to_string().contains("is not there"), "{refused}");
    assert_eq!(names(path.parent().unwrap()), ["mine.csv"]);

    // The text of one result is gone: its job is in the file all the same.
    std::fs::remove_file(house.result_path(&submitted.job_ids[0])).unwrap();
    let (exported, path) = house.export(ExportFormat::Csv, "rest.csv").await;
    assert_eq!(
        (exported.jobs, exported.results, exported.unreadable),
        (2, 2, 1)
    );
    let (_, rows) = table(&path);
    assert!(rows[0]["error"].contains("could not be read"), "{rows:?}");
    assert_eq!(rows[0]["summary"], "");
    assert_ne!(rows[1]["summary"], "");
}

#[tokio::test]
async fn an_export_that_fails_leaves_nothing_and_the_file_before_it() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    let path = house.out("all.csv");
    std::fs::write(&path, "before").unwrap();
    // The database fails when the file is under way already.
    house
        .database()
        .execute("ALTER TABLE attempts RENAME TO gone", [])
        .unwrap();
    for format in [
        ExportFormat::Csv,
        ExportFormat::Jsonl,
        ExportFormat::Markdown,
    ] {
        let failed = house.engine.export(all(format), path.clone(), true).await;
        assert!(
            matches!(failed, Err(EngineError::Database(_))),
            "{failed:?}"
        );
    }
    assert_eq!(names(path.parent().unwrap()), ["all.csv"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
}

#[cfg(target_os = "linux")]
#[tokio::test]
#[expect(clippy::print_stdout, reason = "the figures are what is looked for")]
async fn ten_thousand_results_are_exported_soon_and_in_little_memory() {
    fn kilobytes_at_most() -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// What this process has worked so far. Other programs on the machine take their turns of the clock on
    /// the wall, not of this one.
    fn worked() -> Duration {
        let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
        let (_, fields) = stat.rsplit_once(')').unwrap();
        let ticks = |field: usize| -> u64 {
            let field = fields.split_whitespace().nth(field);
            field.unwrap().parse().unwrap()
        };
        // For the process and for the system, in hundredths of a second.
        Duration::from_millis((ticks(11) + ticks(12)) * 10)
    }

    let house = House::idle().await;
    let titles: Vec<String> = (0..10_000)
        .map(|number| format!("{}{number:05}.pdf", "報告".repeat(96)))
        .collect();
    assert_eq!(titles[0].chars().count(), 201);
    let text = "A sentence of a summary, \"quoted\", with a comma.\n".repeat(42);
    house.seed(&titles, &text);
    let mut table_path = None;
    for format in [
        ExportFormat::Csv,
        ExportFormat::Jsonl,
        ExportFormat::Markdown,
    ] {
        // The peak begins anew.
        std::fs::write("/proc/self/clear_refs", "5").unwrap();
        let (began, before) = (Instant::now(), worked());
        let (exported, path) = house
            .export(format, &format!("all.{}", format.ending()))
            .await;
        let (took, work) = (began.elapsed(), worked() - before);
        let peak = kilobytes_at_most();
        println!(
            "{}: {} results, {} bytes in {took:?} with {work:?} of work, at most {peak} KB of memory",
            format.ending(),
            exported.results,
            exported.bytes
        );
        assert_eq!((exported.results, exported.unreadable), (10_000, 0));
        let patience = if format == ExportFormat::Csv { 5 } else { 10 };
        // Only nextest runs each test in a process of its own.
        if std::env::var_os("NEXTEST").is_some() {
            assert!(
                work < Duration::from_secs(patience),
                "it took {work:?} of work, and {took:?} on this machine"
            );
            assert!(peak < 100_000, "it took {peak} KB of memory");
        }
        table_path.get_or_insert(path);
    }
    // Read after all were measured: what this takes of memory is not the export's.
    let (_, rows) = table(&table_path.unwrap());
    let files: Vec<&String> = rows.iter().map(|row| &row["file"]).collect();
    assert!(
        files.into_iter().eq(titles.iter()),
        "every name comes back as it was, in the order of the jobs"
    );
    assert_eq!(
        rows[9_999]["summary"],
        text.trim_end_matches('\n').to_owned() + "\n"
    );
}
