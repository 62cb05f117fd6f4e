//! Where everything lies and how large it is.

use std::io::ErrorKind;
use std::path::Path;

use super::{Engine, blocking};
use crate::error::EngineError;
use crate::model::About;
use crate::store::Store;

/// What SQLite keeps beside the database while it is open.
const DATABASE_FILES: [&str; 3] = ["", "-wal", "-shm"];

impl Engine {
    /// Returns versions, the data folder and what it takes on the disk.
    ///
    /// # Errors
    /// When the folder can't be read.
    pub async fn about(&self) -> Result<About, EngineError> {
        let folder = self.data_directory();
        let database = self.0.config.database();
        let (database_bytes, stored) = blocking(move || {
            let database_bytes = DATABASE_FILES.map(|ending| {
                let mut path = database.clone().into_os_string();
                path.push(ending);
                std::fs::metadata(path).map_or(0, |file| file.len())
            });
            let stored = files_of(&database.with_file_name("results"));
            (database_bytes.iter().sum(), stored)
        })
        .await?;
        let (results, results_bytes) = stored.map_err(|source| EngineError::File {
            path: folder.join("results"),
            action: "read",
            source,
        })?;
        Ok(About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sqlite_version: Store::engine_version().to_owned(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            data_directory: folder.to_string_lossy().into_owned(),
            database_bytes,
            results_bytes,
            results,
        })
    }
}

/// Counts the files of a folder, and their bytes. A folder that does not exist yet has none.
fn files_of(folder: &Path) -> std::io::Result<(u64, u64)> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok((0, 0)),
        Err(error) => return Err(error),
    };
    let (mut files, mut bytes) = (0, 0);
    for entry in entries {
        // One that is removed meanwhile takes no room any more.
        if let Ok(file) = entry?.metadata()
            && file.is_file()
        {
            files += 1;
            bytes += file.len();
        }
    }
    Ok((files, bytes))
}
