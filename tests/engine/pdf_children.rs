//! The children that read PDFs: kept, replaced, and told passwords only.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail as tests may")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use gistmill_engine::pdf::{Inspection, PdfWorker, PdfWorkerConfig};
use gistmill_testkit::pdf;
use secrecy::SecretString;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_gistmill-pdf-worker");

/// A folder with files, and a worker.
struct Desk {
    folder: TempDir,
    worker: PdfWorker,
}

impl Desk {
    fn new() -> Self {
        Self::with_limit(Duration::from_secs(60))
    }

    fn with_limit(wall_limit: Duration) -> Self {
        let folder = TempDir::new().unwrap();
        let mut config = PdfWorkerConfig::new(PROGRAM);
        config.wall_limit = wall_limit;
        // Children ignore it; it tells them from those of other tests in the same process.
        config.args = vec![folder.path().into()];
        Self {
            folder,
            worker: PdfWorker::new(config),
        }
    }

    fn put(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    async fn inspect(&self, path: &Path) -> Inspection {
        self.worker.inspect(path).await.unwrap()
    }

    /// The children of this desk that live.
    #[cfg(target_os = "linux")]
    fn children(&self) -> Vec<i32> {
        let mut children = Vec::new();
        for thread in std::fs::read_dir("/proc/self/task").unwrap() {
            let list = std::fs::read_to_string(thread.unwrap().path().join("children"));
            let list = list.unwrap_or_default();
            children.extend(list.split_whitespace().map(|id| id.parse::<i32>().unwrap()));
        }
        let mark = self.folder.path().to_string_lossy();
        children.retain(|child| {
            std::fs::read(format!("/proc/{child}/cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(&*mark))
        });
        children
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn one_child_reads_many_files_and_is_replaced_when_it_dies_in_between() {
    let desk = Desk::new();
    let paths: Vec<PathBuf> = (1..=5)
        .map(|pages| desk.put(&format!("{pages}.pdf"), &pdf::numbered_pdf(pages)))
        .collect();
    assert_eq!(desk.inspect(&paths[0]).await.pages, Some(1));
    let first = desk.children();
    assert_eq!(first.len(), 1, "{first:?}");
    for (path, pages) in paths.iter().zip(1..) {
        assert_eq!(desk.inspect(path).await.pages, Some(pages));
        assert_eq!(
            desk.worker
                .text(path, None, None, 1000)
                .await
                .unwrap()
                .pages
                .len() as u32,
            pages
        );
    }
    assert_eq!(desk.children(), first, "another child was started");

    let id = rustix::process::Pid::from_raw(first[0]).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
    assert_eq!(desk.inspect(&paths[2]).await.pages, Some(3));
    let second = desk.children();
    assert_eq!(second.len(), 1, "{second:?}");
    assert_ne!(second, first);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_large_file_leaves_no_child_behind_that_holds_its_memory() {
    let desk = Desk::new();
    let path = desk.put("large.pdf", &pdf::numbered_pdf(2));
    assert_eq!(desk.inspect(&path).await.pages, Some(2));
    assert_eq!(desk.children().len(), 1);
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(80 << 20).unwrap();
    assert!(desk.inspect(&path).await.sha256.is_some());
    assert_eq!(desk.children(), Vec::<i32>::new());
}

#[tokio::test]
async fn whoever_stops_waiting_leaves_the_others_their_children() {
    let desk = Desk::with_limit(Duration::from_secs(20));
    let endless = desk.put("endless.pdf", &pdf::endless_pdf(40));
    let good = desk.put("good.pdf", &pdf::numbered_pdf(2));
    for _ in 0..3 {
        let given_up =
            tokio::time::timeout(Duration::from_millis(50), desk.inspect(&endless)).await;
        assert!(given_up.is_err());
        assert_eq!(desk.inspect(&good).await.pages, Some(2));
    }
}

#[tokio::test]
async fn passwords_are_in_no_argument_and_in_no_message() {
    let desk = Desk::new();
    let path = desk.put("closed.pdf", &pdf::encrypted_pdf(&["Secret."], "sesame"));
    let password = SecretString::from("open barley");
    let (inspection, opened) = desk
        .worker
        .inspect_trying(&path, std::slice::from_ref(&password))
        .await
        .unwrap();
    assert_eq!(opened, None);
    let refused = desk
        .worker
        .text(&path, Some(&password), None, 9)
        .await
        .unwrap_err();
    for said in [
        format!("{inspection:?}"),
        format!("{refused} {refused:?}"),
        format!("{:?}", desk.worker),
    ] {
        assert!(!said.contains("barley"), "{said}");
    }
    #[cfg(target_os = "linux")]
    for child in desk.children() {
        for file in ["cmdline", "environ"] {
            let content = std::fs::read(format!("/proc/{child}/{file}")).unwrap();
            assert!(!String::from_utf8_lossy(&content).contains("barley"));
        }
    }
}
