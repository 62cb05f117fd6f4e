//! The files that a finished batch leaves: one table, one JSON object a line, one document.

use std::path::{Path, PathBuf};

use super::Deliverer;
use super::copies::{TRIES, wait_after};
use crate::calendar::LocalTime;
use crate::export::{self, Wanted};
use crate::model::{
    BatchId, CopiesTo, EngineEvent, ExportFormat, JobFilter, NameTaken, Selection, Settings,
};
use crate::results::{digest, numbered};
use crate::store::{BatchFile, BatchToLeave, Result};

/// Most numbered names that are tried before giving up.
const MOST_NUMBERS: u32 = 999;

impl Deliverer {
    /// Writes the files of the batches that finished.
    pub(super) async fn leave_batch_files(&self) {
        let due = async {
            let due = self.store.batches_to_leave(self.clock.now()).await?;
            for batch in due {
                self.leave_files(batch).await?;
            }
            Ok::<_, crate::error::EngineError>(())
        };
        if let Err(error) = due.await {
            tracing::warn!(%error, "the files of a batch are put off, since the database can't be used");
        }
    }

    async fn leave_files(&self, batch: BatchToLeave) -> Result<()> {
        let settings = self.store.settings().await?;
        let mut failed = None;
        for format in self.store.batch_files_wanted().await? {
            let file = match self.leave_file(&batch, format, &settings).await? {
                Ok(file) => file,
                Err(reason) => {
                    failed = Some(reason.clone());
                    BatchFile {
                        path: None,
                        sha256: None,
                        error: Some(reason),
                    }
                }
            };
            self.store
                .batch_file_left(batch.batch_id.clone(), format, file)
                .await?;
        }
        let (ids, now) = (vec![batch.outbox_id], self.clock.now());
        match failed {
            None => self.store.delivered(ids, now).await?,
            Some(reason) if batch.tries + 1 >= TRIES => {
                self.store.gave_up(ids, reason, now).await?;
            }
            Some(reason) => {
                let at = now.after(wait_after(batch.tries));
                self.store.deliver_later(ids, reason, at).await?;
            }
        }
        // Nobody may be listening.
        drop(self.events.send(EngineEvent::OverviewChanged));
        Ok(())
    }

    /// Writes one file. The inner error is a person's to mend.
    async fn leave_file(
        &self,
        batch: &BatchToLeave,
        format: ExportFormat,
        settings: &Settings,
    ) -> Result<std::result::Result<BatchFile, String>> {
        let folder = match (settings.copies_to, &settings.output_folder, &batch.folder) {
            (CopiesTo::Folder, Some(output), _) => PathBuf::from(output),
            (_, _, Some(folder)) => PathBuf::from(folder),
            _ => return Ok(Err("Its PDFs lie in no common folder.".to_owned())),
        };
        if !folder.is_dir() {
            return Ok(Err(format!(
                "The folder {} is not there any more.",
                folder.display()
            )));
        }
        let before = self
            .store
            .batch_file(batch.batch_id.clone(), format)
            .await?;
        let stem = file_stem(&batch.name);
        let place = tokio::task::spawn_blocking({
            let name_taken = settings.name_taken;
            move || place(&folder, &stem, format, before, name_taken)
        })
        .await
        .unwrap_or_else(|error| Err(error.to_string()));
        let (path, replace) = match place {
            Ok(Place::At { path, replace }) => (path, replace),
            // As the person wants it: no trouble, and nothing to be tried again.
            Ok(Place::Skipped { note }) => {
                return Ok(Ok(BatchFile {
                    path: None,
                    sha256: None,
                    error: Some(note),
                }));
            }
            Err(reason) => return Ok(Err(reason)),
        };
        let wanted = self.wanted(batch, format);
        let written =
            export::write(&self.store, &self.library, wanted, path.clone(), replace).await;
        Ok(match written {
            Ok(written) => Ok(BatchFile {
                path: Some(path.to_string_lossy().into_owned()),
                sha256: Some(written.sha256),
                error: None,
            }),
            Err(error) => Err(error.problem().message),
        })
    }

    fn wanted(&self, batch: &BatchToLeave, format: ExportFormat) -> Wanted {
        Wanted {
            selection: of_batch(batch.batch_id.clone()),
            format,
            byte_order_mark: true,
            title: batch.name.clone(),
            day: LocalTime::at(self.clock.now(), &self.time_zone).day,
        }
    }
}

fn of_batch(batch_id: BatchId) -> Selection {
    Selection::Matching {
        filter: JobFilter {
            batch_id: Some(batch_id),
            ..JobFilter::default()
        },
    }
}

/// Where a file goes.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    At {
        path: PathBuf,
        /// Whether it replaces the file there.
        replace: bool,
    },
    /// Nowhere, since its name is taken.
    Skipped { note: String },
}

/// Returns where a file goes. It replaces one only that this batch left and nobody edited. Blocks.
fn place(
    folder: &Path,
    stem: &str,
    format: ExportFormat,
    before: Option<(String, crate::model::Sha256)>,
    name_taken: NameTaken,
) -> std::result::Result<Place, String> {
    if let Some((path, sha256)) = before {
        let path = PathBuf::from(path);
        if path.parent() == Some(folder) && digest(&path).is_ok_and(|found| found == sha256) {
            return Ok(Place::At {
                path,
                replace: true,
            });
        }
    }
    let ending = format!(" summaries.{}", format.ending());
    for number in 1..=MOST_NUMBERS {
        let path = folder.join(numbered(stem, &ending, number));
        if path.symlink_metadata().is_err() {
            return Ok(Place::At {
                path,
                replace: false,
            });
        }
        if name_taken == NameTaken::Skip {
            return Ok(Place::Skipped {
                note: format!("{} was there already.", path.display()),
            });
        }
    }
    Err(format!(
        "{MOST_NUMBERS} files of this name lie in {} already.",
        folder.display()
    ))
}

/// Returns the name of a batch as a file may have it.
fn file_stem(name: &str) -> String {
    let clean: String = name
        .chars()
        .map(|one| match one {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '-',
            one if one.is_control() => '-',
            one => one,
        })
        .collect();
    let clean = clean.trim().trim_start_matches('.').trim();
    if clean.is_empty() {
        "PDFs".to_owned()
    } else {
        clean.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_name_is_numbered_or_skipped_and_only_an_unedited_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |before, name_taken| {
            place(
                folder.path(),
                "Leases",
                ExportFormat::Csv,
                before,
                name_taken,
            )
            .unwrap()
        };
        let first = folder.path().join("Leases summaries.csv");
        let new = |path: PathBuf| Place::At {
            path,
            replace: false,
        };
        assert_eq!(at(None, NameTaken::Number), new(first.clone()));
        std::fs::write(&first, "a table").unwrap();
        let before = |text: &str| {
            Some((
                first.to_string_lossy().into_owned(),
                crate::model::Sha256::of(text.as_bytes()),
            ))
        };
        assert_eq!(
            at(before("a table"), NameTaken::Number),
            Place::At {
                path: first.clone(),
                replace: true
            }
        );
        let second = folder.path().join("Leases summaries 2.csv");
        assert_eq!(at(before("as it was"), NameTaken::Overwrite), new(second));
        assert!(
            matches!(at(None, NameTaken::Skip), Place::Skipped { note } if note.contains("Leases")),
            "what a person wants skipped is no failure that is tried again for a day"
        );
    }

    #[test]
    fn names_of_batches_become_names_of_files() {
        assert_eq!(file_stem("Q1/2026: \"draft\"?"), "Q1-2026- -draft--");
        assert_eq!(file_stem("..hidden"), "hidden");
        assert_eq!(file_stem(" / "), "-");
        assert_eq!(file_stem("..."), "PDFs");
        assert_eq!(file_stem("契約書 2026"), "契約書 2026");
    }
}
