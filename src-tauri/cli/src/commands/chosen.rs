//! From what was named on the command line to jobs and batches.

use gistmill_engine::Engine;
use gistmill_engine::model::{BatchId, JobFilter, JobId, JobsShown, QueueName, Selection};

use crate::arguments::Chosen;
use crate::output::Failed;

/// Returns the jobs that are meant; `usual` are the states that flags mean when none is said.
pub(crate) async fn selection(
    engine: &Engine,
    chosen: &Chosen,
    queue: Option<QueueName>,
    usual: JobsShown,
) -> Result<Selection, Failed> {
    if !chosen.jobs.is_empty() {
        return Ok(Selection::Jobs {
            job_ids: jobs_named(engine, &chosen.jobs).await?,
        });
    }
    let batch_id = match &chosen.batch {
        Some(part) => Some(batch_named(engine, part).await?),
        None => None,
    };
    Ok(Selection::Matching {
        filter: JobFilter {
            shown: chosen.status.map_or(usual, JobsShown::from),
            queue,
            batch_id,
            cause: chosen.cause,
            text: chosen.search.clone(),
        },
    })
}

/// Returns the jobs of these names, each once.
async fn jobs_named(engine: &Engine, names: &[String]) -> Result<Vec<JobId>, Failed> {
    let mut job_ids = Vec::with_capacity(names.len());
    for name in names {
        let job_id = engine.job_named(name).await?;
        if !job_ids.contains(&job_id) {
            job_ids.push(job_id);
        }
    }
    Ok(job_ids)
}

/// Returns the batch whose id begins or ends with `part`. Of batches older than those that
/// “gistmill batches” lists, the whole id is needed.
pub(crate) async fn batch_named(engine: &Engine, part: &str) -> Result<BatchId, Failed> {
    let latest = engine.overview().await?.batches;
    let mut found = latest.into_iter().map(|batch| batch.batch_id).filter(|id| {
        let id = id.as_str();
        !part.is_empty() && (id.starts_with(part) || id.ends_with(part))
    });
    match (found.next(), found.next()) {
        (Some(batch_id), None) => Ok(batch_id),
        (Some(_), Some(_)) => Err(Failed::usage(
            &format!("Several batches have {part} at the beginning or the end of their ids."),
            "Give more of the id.",
        )),
        (None, _) => {
            let batch_id = BatchId(part.to_owned());
            let filter = JobFilter {
                batch_id: Some(batch_id.clone()),
                ..JobFilter::default()
            };
            if engine.jobs(filter, None, 1).await?.total > 0 {
                return Ok(batch_id);
            }
            Err(Failed::usage(
                &format!("There is no batch {part}."),
                "“gistmill batches” lists the latest; of older ones give the whole id, which “gistmill show JOB --json” tells.",
            ))
        }
    }
}
