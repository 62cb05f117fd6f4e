//! Files that are not where they were, found before their jobs are delivered.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use crate::model::{JobStatus, JobView, WaitingReason};

/// How long a list waits for the disk; a network drive may not answer for minutes.
const PATIENCE: Duration = Duration::from_millis(250);

/// Marks the jobs that would run but whose file is missing.
pub(super) async fn marked(mut jobs: Vec<JobView>) -> Vec<JobView> {
    let paths: Vec<String> = jobs
        .iter()
        .filter(|job| is_next(job))
        .filter_map(|job| job.source_path.clone())
        .collect();
    let missing = of(paths).await;
    for job in &mut jobs {
        if is_next(job)
            && job
                .source_path
                .as_ref()
                .is_some_and(|path| missing.contains(path))
        {
            job.waiting = Some(WaitingReason::FileMissing);
        }
    }
    jobs
}

/// Says whether nothing but its file could hold a job.
fn is_next(job: &JobView) -> bool {
    job.status == JobStatus::Pending
        && matches!(
            job.waiting,
            Some(WaitingReason::Ready | WaitingReason::Delayed { .. } | WaitingReason::NoConsumer)
        )
}

/// Returns which of the paths don't exist. Those that the disk is slow to tell of count as existing.
pub(super) async fn of(paths: Vec<String>) -> HashSet<String> {
    if paths.is_empty() {
        return HashSet::new();
    }
    let looked = tokio::task::spawn_blocking(move || {
        paths
            .into_iter()
            .filter(|path| matches!(Path::new(path).try_exists(), Ok(false)))
            .collect()
    });
    match tokio::time::timeout(PATIENCE, looked).await {
        Ok(Ok(missing)) => missing,
        _ => HashSet::new(),
    }
}
