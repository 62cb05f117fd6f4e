//! Prepares the Tauri context.
//!
//! The interface is embedded when the app is compiled, so `ui/dist` has to exist. On a fresh
//! checkout it does not: a page that says so takes its place, so that `cargo clippy` and the tests of
//! the engine and the command line need no Node.

use std::path::Path;
use std::{fs, io};

const NOT_BUILT: &str = "<!doctype html>
<html lang=\"en\">
<meta charset=\"utf-8\">
<title>Gistmill</title>
<p>The interface was not built into this program. Run <code>make run</code>.</p>
</html>
";

fn main() -> io::Result<()> {
    let page = Path::new("ui/dist/index.html");
    if !page.exists() {
        fs::create_dir_all("ui/dist")?;
        fs::write(page, NOT_BUILT)?;
    }
    // Tauri watches its own files only; a new interface has to be embedded again.
    println!("cargo:rerun-if-changed=ui/dist");
    tauri_build::build();
    Ok(())
}
