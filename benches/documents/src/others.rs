//! The other readers.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use tokio::process::Command;

/// No reader is waited for longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Counts pages by qpdf.
pub(crate) async fn qpdf_pages(file: &Path, password: &str) -> Option<u32> {
    let password = format!("--password={password}");
    let output = run(
        "qpdf",
        &["--show-npages".as_ref(), password.as_ref(), file.as_ref()],
    )
    .await?;
    // 3 means that there were warnings.
    let counted = matches!(output.status.code(), Some(0 | 3));
    let pages = String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .ok()?;
    (counted && pages > 0).then_some(pages)
}

/// Counts pages by poppler.
pub(crate) async fn poppler_pages(file: &Path, password: &str) -> Option<u32> {
    let output = run(
        "pdfinfo",
        &["-upw".as_ref(), password.as_ref(), file.as_ref()],
    )
    .await?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("Pages:"))?;
    line.trim().parse().ok().filter(|pages| *pages > 0)
}

/// Says what qpdf has against a copy of so many pages: an error, another number of pages, or encryption.
pub(crate) async fn complaint(copy: &Path, pages: u32) -> Option<String> {
    let Some(output) = run("qpdf", &["--check".as_ref(), copy.as_ref()]).await else {
        return Some("qpdf does not come to an end".to_owned());
    };
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    if !output.status.success() {
        let mut lines = said
            .lines()
            .filter(|line| line.contains("WARNING") || line.contains("ERROR"));
        let line = lines.next().unwrap_or("it fails without a word");
        // Without the path.
        let about = line.split_once(".pdf").map_or(line, |(_, about)| about);
        return Some(format!(
            "qpdf says: {}",
            about.trim_start_matches([':', ' '])
        ));
    }
    if !said.contains("File is not encrypted") {
        return Some("qpdf takes the copy for encrypted".to_owned());
    }
    let counted = qpdf_pages(copy, "").await;
    (counted != Some(pages)).then(|| format!("qpdf counts {counted:?} pages of {pages}"))
}

async fn run(program: &str, arguments: &[&OsStr]) -> Option<Output> {
    let output = Command::new(program)
        .args(arguments)
        .kill_on_drop(true)
        .output();
    tokio::time::timeout(PATIENCE, output).await.ok()?.ok()
}
