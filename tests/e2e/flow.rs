//! From a first start to summaries that are still there after the next one.

use std::path::PathBuf;
use std::time::Duration;

use gistmill_engine::model::Sha256;
use gistmill_engine::secrets::{Keychain, SecretStore as _};
use gistmill_testkit::fake_claude::{FakeClaude, Fault, Reply, Rule};
use gistmill_testkit::pdf;

use crate::driver::{App, Machine};
use crate::notifications::Notifications;

const KEY: &str = "sk-ant-e2e-0123456789-wxyz";

/// One stored result, as the database has it.
struct Stored {
    title: String,
    key: String,
    sha256: String,
    copy: Option<PathBuf>,
}

/// Reads what is stored, the way another program would.
fn stored(machine: &Machine) -> Vec<Stored> {
    let database = rusqlite::Connection::open(machine.data().join("gistmill.db")).unwrap();
    let mut query = database
        .prepare(
            "SELECT jobs.title, results.key, results.sha256, results.copy_path
             FROM jobs JOIN results USING (result_id) WHERE jobs.status = 'completed'
             ORDER BY jobs.title",
        )
        .unwrap();
    let rows = query.query_map([], |row| {
        Ok(Stored {
            title: row.get(0)?,
            key: row.get(1)?,
            sha256: row.get(2)?,
            copy: row.get::<_, Option<String>>(3)?.map(PathBuf::from),
        })
    });
    rows.unwrap().collect::<Result<_, _>>().unwrap()
}

/// Waits until the list shows exactly this many rows with a status.
async fn rows(app: &App, status: &str, count: usize) {
    app.until(
        &format!("{count} rows are {status}"),
        &format!(
            "return document.querySelectorAll(\"[data-testid='job-row'][data-status='{status}']\").length === {count}"
        ),
    )
    .await;
}

pub(crate) async fn first_start(machine: &Machine) -> App {
    forget_key();
    let app = machine.start().await;
    // Another address than Anthropic's may want no key, so none is asked for at first.
    app.click("welcome-other-key").await;
    app.find("welcome-key-input")
        .await
        .send_keys(KEY)
        .await
        .unwrap();
    app.click("welcome-save").await;
    // The key was kept and tested, and the welcome invites to drop something.
    app.css(".ob-skip").await;
    app
}

#[tokio::test]
#[ignore = "needs a desktop session: scripts/test e2e"]
async fn dropped_pdfs_become_summaries_that_outlive_a_restart() {
    let claude = FakeClaude::start().await;
    // It refuses one of the files, once.
    claude.script(
        Rule::titled(
            "refused",
            Reply::Fault {
                fault: Fault::InvalidRequest,
            },
        )
        .times(1),
    );
    let machine = Machine::new().with("ANTHROPIC_BASE_URL", claude.url());
    let documents = machine.documents();
    for name in ["lease", "refused", "survey"] {
        let text = format!("The {name} says that the mill grinds 42 tonnes of grain a day.");
        std::fs::write(
            documents.join(format!("{name}.pdf")),
            pdf::text_pdf(&[text.as_str()]),
        )
        .unwrap();
    }

    let notifications = Notifications::listen();
    let app = first_start(&machine).await;
    app.drop_paths(&[&documents]).await;
    app.click("sheet-start").await;
    rows(&app, "completed", 2).await;
    rows(&app, "failed", 1).await;
    notifications
        .heard_any(&["refused.pdf failed", "documents is finished"])
        .await;

    // The one that was refused waits in the dead letters, with its fix.
    app.click("view-dead-letters").await;
    app.find("dead-letter-group").await;
    app.css("[data-testid='dead-letter-group'] .fix .btn:not(.btn-link)")
        .await
        .click()
        .await
        .unwrap();
    // What it would do is said before it is done.
    app.click("retry-start").await;
    app.click("view-all").await;
    rows(&app, "completed", 3).await;
    assert_eq!(
        claude.requests().len(),
        4,
        "three files, one of them twice, and nothing paid twice"
    );

    // What the window shows is what the database and the disk hold.
    app.css("[data-testid='job-row'][data-status='completed']")
        .await
        .click()
        .await
        .unwrap();
    let summary = app.find("detail-summary").await.text().await.unwrap();
    let results = stored(&machine);
    assert_eq!(results.len(), 3);
    for result in &results {
        let file = std::fs::read(machine.data().join(&result.key)).unwrap();
        assert_eq!(
            Sha256::of(&file).as_str(),
            result.sha256,
            "{}",
            result.title
        );
        let copy = result
            .copy
            .as_ref()
            .expect("copies beside the PDFs are on by default");
        assert_eq!(std::fs::read(copy).unwrap(), file);
        assert!(copy.starts_with(&documents));
    }
    assert!(
        results.iter().any(|result| {
            let file = std::fs::read_to_string(machine.data().join(&result.key)).unwrap();
            shows(&summary, &file)
        }),
        "the window shows: {summary}"
    );

    app.quit().await;
    let app = machine.start().await;
    rows(&app, "completed", 3).await;
    assert!(
        app.absent("welcome-offline").await,
        "the first start is over"
    );
    assert_eq!(claude.requests().len(), 4, "a restart asks nothing again");
    leaks_no_key(&machine);
    app.quit().await;
}

#[tokio::test]
#[ignore = "needs a desktop session: scripts/test e2e"]
async fn a_power_cut_while_calls_run_loses_no_job() {
    let claude = FakeClaude::start().await;
    // The first two calls hang until the power is cut.
    claude.script(Rule::always(Reply::Hang).times(2));
    let machine = Machine::new().with("ANTHROPIC_BASE_URL", claude.url());
    let documents = machine.documents();
    for name in ["first", "second"] {
        let text = format!("The {name} document.");
        std::fs::write(
            documents.join(format!("{name}.pdf")),
            pdf::text_pdf(&[text.as_str()]),
        )
        .unwrap();
    }

    let app = first_start(&machine).await;
    app.drop_paths(&[&documents]).await;
    app.click("sheet-start").await;
    tokio::time::timeout(Duration::from_secs(30), claude.arrived(2))
        .await
        .unwrap();
    // The window has left the welcome once it shows them.
    rows(&app, "running", 2).await;
    app.kill();

    let app = machine.start().await;
    rows(&app, "completed", 2).await;
    let database = rusqlite::Connection::open(machine.data().join("gistmill.db")).unwrap();
    for outcome in ["interrupted", "completed"] {
        let count: u32 = database
            .query_row(
                "SELECT count(*) FROM attempts WHERE outcome = ?1",
                [outcome],
                |row| row.get(0),
            )
            .unwrap();
        assert_eq!(count, 2, "each job has one attempt that ended as {outcome}");
    }
    assert_eq!(claude.requests().len(), 4);
    app.quit().await;
}

#[tokio::test]
#[ignore = "needs a desktop session: scripts/test e2e"]
async fn without_a_key_the_offline_summary_works() {
    let machine = Machine::new().with("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
    let documents = machine.documents();
    let text = "Mills turn grain into flour. Water turns the wheel. Stones grind the grain. \
                Flour is finer than grain. Bakers buy flour from mills.";
    std::fs::write(documents.join("mill.pdf"), pdf::text_pdf(&[text])).unwrap();

    forget_key();
    let app = machine.start().await;
    app.click("welcome-offline").await;
    app.drop_paths(&[&documents.join("mill.pdf")]).await;
    app.click("sheet-start").await;
    rows(&app, "completed", 1).await;
    assert_eq!(stored(&machine).len(), 1);
    app.quit().await;
}

/// All tests share the session's keychain.
fn forget_key() {
    // On a thread of its own: it blocks, which an asynchronous test may not.
    std::thread::spawn(|| Keychain.remove("anthropic-api-key"))
        .join()
        .unwrap()
        .unwrap();
}

/// Says whether the words of the Markdown are those that the window shows.
fn shows(shown: &str, markdown: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split(|character: char| !character.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let (shown, stored) = (words(shown), words(markdown));
    !shown.is_empty() && stored.windows(shown.len()).any(|window| window == shown)
}

/// No file that the app wrote holds the key.
fn leaks_no_key(machine: &Machine) {
    for entry in walk(&machine.data()) {
        let bytes = std::fs::read(&entry).unwrap();
        let found = bytes
            .windows(KEY.len())
            .any(|window| window == KEY.as_bytes());
        assert!(!found, "{} holds the key", entry.display());
    }
}

fn walk(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(walk(&path));
        } else {
            files.push(path);
        }
    }
    files
}
