//! Copies of results outside the library.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::Deliverer;
use crate::model::{CopiesTo, EngineEvent, NameTaken, Settings, Sha256};
use crate::results::{Left, WantedFile, ending, folder_of, leave, mirrored_folder, numbered};
use crate::store::{CopyOutcome, Result, ResultToCopy};

/// How often a copy is tried: for about a day.
pub(super) const TRIES: u32 = 30;
/// Wait before the second try; doubled for each further one.
const FIRST_DELAY: Duration = Duration::from_secs(30);
/// Longest wait between two tries.
const LONGEST_DELAY: Duration = Duration::from_secs(3600);

impl Deliverer {
    /// Makes the copies that are due.
    pub(super) async fn copy_results(&self) {
        // Bounded by the number of stored results: each is delivered or put off.
        loop {
            let due = async {
                let due = self.store.results_to_copy(self.clock.now()).await?;
                Ok::<_, crate::error::EngineError>((due, self.store.settings().await?))
            };
            let (due, settings) = match due.await {
                Ok((due, settings)) if !due.is_empty() => (due, settings),
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(%error, "the outbox could not be read");
                    return;
                }
            };
            for entry in due {
                if let Err(error) = self.copy_result(entry, &settings).await {
                    tracing::warn!(%error, "the outbox could not be written");
                    return;
                }
            }
        }
    }

    async fn copy_result(&self, entry: ResultToCopy, settings: &Settings) -> Result<()> {
        let (job_id, outbox_id, tries) = (entry.job_id.clone(), entry.outbox_id, entry.tries);
        let result_id = entry.result_id;
        if settings.copies_to == CopiesTo::Nowhere {
            // Switched off since it was asked for.
            return self
                .store
                .delivered(vec![outbox_id], self.clock.now())
                .await;
        }
        // A result that is gone from the library does not come back by waiting.
        let (outcome, for_good) = match self.library.read(&entry.key).await {
            Ok(text) => {
                let place = Place::of(&entry, settings);
                let ours = match settings.name_taken {
                    NameTaken::Overwrite => {
                        let first = place.first_path().to_string_lossy().into_owned();
                        self.store
                            .copies_at(first, entry.source_path.clone())
                            .await?
                    }
                    NameTaken::Number | NameTaken::Skip => Vec::new(),
                };
                let name_taken = settings.name_taken;
                let copied =
                    tokio::task::spawn_blocking(move || place.copy(&text, name_taken, &ours))
                        .await
                        .unwrap_or_else(|error| Err(error.to_string()));
                (copied, tries + 1 >= TRIES)
            }
            Err(reason) => (Err(reason), true),
        };
        let now = self.clock.now();
        match outcome {
            Ok(outcome) => {
                self.store.copied(result_id, outcome).await?;
                self.store.delivered(vec![outbox_id], now).await?;
            }
            Err(reason) => {
                // A drive may come back, a folder become writable.
                let again = (!for_good).then(|| now.after(wait_after(tries)));
                self.store
                    .copy_failed(result_id, outbox_id, reason, again, now)
                    .await?;
            }
        }
        // Nobody may be listening.
        drop(self.events.send(EngineEvent::JobsChanged {
            job_ids: vec![job_id],
        }));
        Ok(())
    }
}

/// Returns how long to wait after so many tries before.
pub(super) fn wait_after(tries: u32) -> Duration {
    FIRST_DELAY
        .saturating_mul(2_u32.saturating_pow(tries.min(16)))
        .min(LONGEST_DELAY)
}

/// Where a copy goes.
struct Place {
    /// The output folder, and the PDF's place within it; `None` beside the PDF.
    mirrored: Option<(PathBuf, PathBuf)>,
    source: PathBuf,
    stem: String,
    ending: String,
    tag: String,
}

impl Place {
    fn of(entry: &ResultToCopy, settings: &Settings) -> Self {
        let source = PathBuf::from(&entry.source_path);
        let relative = match &entry.relative_path {
            Some(relative) => PathBuf::from(relative),
            None => PathBuf::from(source.file_name().unwrap_or_default()),
        };
        let mirrored = match (settings.copies_to, &settings.output_folder) {
            (CopiesTo::Folder, Some(output)) => Some((PathBuf::from(output), relative)),
            _ => None,
        };
        Self {
            mirrored,
            stem: source
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned())
                .unwrap_or_default(),
            source,
            ending: format!(".summary.{}", ending(entry.format)),
            tag: entry.job_id.to_string(),
        }
    }

    /// Returns where the copy lies if its name is not taken.
    fn first_path(&self) -> PathBuf {
        let folder = match &self.mirrored {
            Some((output, relative)) => output.join(relative.parent().unwrap_or(Path::new(""))),
            None => self.source.parent().unwrap_or(Path::new("")).to_owned(),
        };
        folder.join(numbered(&self.stem, &self.ending, 1))
    }

    /// Makes the copy. Blocks.
    fn copy(
        &self,
        text: &str,
        name_taken: NameTaken,
        ours: &[Sha256],
    ) -> std::result::Result<CopyOutcome, String> {
        let folder = match &self.mirrored {
            Some((output, relative)) => mirrored_folder(output, relative)?,
            None => folder_of(&self.source)?,
        };
        let Left { path, note } = leave(&WantedFile {
            folder: &folder,
            stem: &self.stem,
            ending: &self.ending,
            text: text.as_bytes(),
            name_taken,
            ours,
            tag: &self.tag,
        })?;
        Ok(CopyOutcome {
            sha256: path.as_ref().map(|_| Sha256::of(text.as_bytes())),
            path: path.map(|path| path.to_string_lossy().into_owned()),
            note,
        })
    }
}
