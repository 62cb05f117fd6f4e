//! A disk that is full and a database that another program holds: the work pauses with a message, nothing is
//! lost, and it goes on by itself.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use gistmill_testkit::fake_claude::{FakeClaude, Reply, Rule};
use gistmill_testkit::pdf::encrypted_pdf;
use rusqlite::Connection;

use crate::support::{Desk, Working, until};

const JOBS: usize = 12;

/// A small disk of memory, which only the programs within it see; gone when its holder ends.
struct SmallDisk(Child);

impl SmallDisk {
    /// Makes a disk of so many kilobytes. It needs no rights: it lies in a namespace of its own.
    fn of_kilobytes(size: u32, at: &Path) -> Self {
        let script = format!(
            "mount -t tmpfs -o size={size}k tmpfs {0} && echo ready && exec sleep 600",
            at.display()
        );
        let mut holder = Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(holder.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "ready\n", "the small disk could not be made");
        Self(holder)
    }

    /// Returns the same call, within the disk.
    fn inside(&self, call: &Command) -> Command {
        let mut command = Command::new("nsenter");
        command
            .arg(format!("--target={}", self.0.id()))
            .args(["--user", "--mount", "--preserve-credentials"])
            .arg(call.get_program())
            .args(call.get_args())
            .stdin(Stdio::null());
        for (name, value) in call.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command
    }

    /// Runs a shell's command within the disk. Says whether it succeeded.
    fn shell(&self, command: &str) -> bool {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        self.inside(&shell).status().unwrap().success()
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_pauses_the_work_with_a_message_and_an_emptied_one_resumes_it() {
    let claude = FakeClaude::start().await;
    // Slow enough for the disk to be full before the first one has answered.
    claude.script(Rule::always(Reply::slow(60)));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(JOBS);
    std::fs::create_dir(desk.path("data")).unwrap();
    let disk = SmallDisk::of_kilobytes(4_096, &desk.path("data"));
    let call = |arguments: &[&str]| disk.inside(&desk.gistmill(arguments));
    let pdfs = desk.path("pdfs");
    let added = call(&["add", pdfs.to_str().unwrap(), "--queue", "high"])
        .output()
        .unwrap();
    assert!(added.status.success(), "{added:?}");
    let mut run = Working::of(call(&["run"]));
    claude.arrived(1).await;
    // All that is left is taken by somebody else.
    let filler = desk.path("data/filler");
    disk.shell(&format!("cat /dev/zero > {}", filler.display()));
    // Whoever wants to write is told so.
    let said = until(
        || {
            let refused = call(&["queues", "pause", "bulk"]).output().unwrap();
            let said = String::from_utf8_lossy(&refused.stderr).into_owned();
            (!refused.status.success()).then_some(said)
        },
        || "a full disk takes every change".to_owned(),
    );
    assert!(
        said.contains("disk is full") && said.contains("Free some space"),
        "{said}"
    );
    assert!(run.runs(), "a full disk must not end the work");
    let status = call(&["status", "--json"]).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["counts"]["total"], JOBS, "no job is lost: {status}");
    assert_eq!(
        status["counts"]["done"], 0,
        "nothing can be stored: {status}"
    );
    assert!(disk.shell(&format!("rm {}", filler.display())));
    assert!(
        run.ended().success(),
        "with room again the work comes to its end"
    );
    let status = call(&["status", "--json"]).output().unwrap();
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).unwrap();
    assert_eq!(status["counts"]["done"], JOBS, "{status}");
    assert_eq!(claude.requests().len(), JOBS, "nothing is bought twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_room_for_a_private_copy_the_work_pauses_and_no_attempt_is_used_up() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    let pages: Vec<String> = (1..=50).map(|page| format!("Letter {page}.")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    // They open without a password, and go as decrypted copies.
    for name in ["pdfs/a.pdf", "pdfs/b.pdf"] {
        desk.put(name, &encrypted_pdf(&[&[name], &pages[..]].concat(), ""));
    }
    desk.text(&["add", "pdfs", "--queue", "high"]);
    let copies = desk.path("data/private");
    std::fs::create_dir_all(&copies).unwrap();
    let disk = SmallDisk::of_kilobytes(4, &copies);
    let call = |arguments: &[&str]| disk.inside(&desk.gistmill(arguments));
    let mut run = Working::of(call(&["run"]));
    let overview = || {
        let status = call(&["status", "--json"]).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&status.stdout).unwrap()
    };
    let told = until(
        || {
            let status = overview();
            status
                .to_string()
                .contains("storage-failed")
                .then_some(status)
        },
        || format!("a disk without room is told: {}", overview()),
    );
    assert_eq!(told["counts"]["waiting"], 2, "no job fails of it: {told}");
    assert!(run.runs(), "a full disk must not end the work");
    assert!(claude.requests().is_empty(), "half a copy must not be sent");
    let more = format!("mount -o remount,size=8m {}", copies.display());
    assert!(disk.shell(&more));
    until(
        || (overview()["counts"]["done"] == 2).then_some(()),
        || format!("with room again the work goes on: {}", overview()),
    );
    assert!(run.ended().success(), "with room again the work goes on");
    let jobs = desk.json(&["jobs"]);
    for job in jobs["jobs"].as_array().unwrap() {
        assert_eq!(
            (&job["status"], &job["attempts"]),
            (&"completed".into(), &1.into()),
            "{job}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_another_program_holds_is_waited_for() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    let other = Connection::open(desk.path("data/gistmill.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let run = desk.start(&["run"]);
    // Reading goes on while another program writes, and ends without waiting for it.
    let began = std::time::Instant::now();
    let counts = &desk.json(&["status"])["counts"];
    assert_eq!(counts["waiting"], 2, "{counts}");
    assert!(
        began.elapsed() < std::time::Duration::from_secs(8),
        "a question must not wait for the lock"
    );
    other.execute_batch("ROLLBACK").unwrap();
    assert!(run.ended().success());
    let counts = &desk.json(&["status"])["counts"];
    assert_eq!(counts["done"], 2, "{counts}");
}
