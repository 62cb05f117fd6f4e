//! The size of the interface as it would travel: compressed, file by file.

use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::Outcome;

/// A file of the interface.
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) kilobytes: f64,
    /// It is not one of those that only show PDFs.
    pub(crate) counts: bool,
}

/// Returns the scripts and styles of the interface, the largest first.
pub(crate) fn parts(dist: &Path) -> Outcome<Vec<Part>> {
    let mut parts = Vec::new();
    for folder in [dist.to_owned(), dist.join("assets")] {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let is_code = path.extension().is_some_and(|ending| {
                ["js", "mjs", "css", "html"]
                    .iter()
                    .any(|each| ending == *each)
            });
            if !is_code {
                continue;
            }
            let mut packed = GzEncoder::new(Vec::new(), Compression::default());
            packed.write_all(&std::fs::read(&path)?)?;
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            parts.push(Part {
                kilobytes: packed.finish()?.len() as f64 / 1e3,
                counts: !name.starts_with("pdf"),
                name,
            });
        }
    }
    parts.sort_by(|left, right| right.kilobytes.total_cmp(&left.kilobytes));
    Ok(parts)
}

/// Returns the kilobytes of all that does not only show PDFs.
pub(crate) fn size(dist: &Path) -> Outcome<f64> {
    Ok(parts(dist)?
        .iter()
        .filter(|part| part.counts)
        .map(|part| part.kilobytes)
        .sum())
}
