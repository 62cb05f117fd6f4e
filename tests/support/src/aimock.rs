//! A second double of Claude's API, which nobody here wrote: aimock, as npm has it.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A running server. It ends when this is dropped.
#[derive(Debug)]
pub struct Aimock {
    url: String,
    process: Child,
}

#[expect(clippy::expect_used, reason = "a test without its server can't go on")]
impl Aimock {
    /// Starts a server with these fixtures, in aimock's own form: a list of
    /// `{"match": {…}, "response": {…}}`.
    ///
    /// # Panics
    /// When aimock is not installed or does not come up, since no test could go on.
    #[must_use]
    pub fn start(fixtures: &Value) -> Self {
        let folder = folder();
        assert!(
            folder.join("node_modules/@copilotkit/aimock").exists(),
            "aimock is not installed: scripts/test doubles"
        );
        let mut process = Command::new("node")
            .arg("aimock.mjs")
            .arg(fixtures.to_string())
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("node, which the interface needs, too");
        let mut said = String::new();
        let output = process.stdout.take().expect("it was asked for");
        BufReader::new(output)
            .read_line(&mut said)
            .expect("an address");
        let url = said.trim().to_owned();
        assert!(url.starts_with("http://"), "aimock did not come up: {url}");
        Self { url, process }
    }

    /// Returns the base URL, without `/v1`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Aimock {
    fn drop(&mut self) {
        // What has ended already can't be ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../doubles")
}
