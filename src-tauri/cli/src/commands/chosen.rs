//! From what was named on the command line to jobs.

use gistmill_engine::Engine;
use gistmill_engine::model::{JobFilter, JobId, JobsShown, QueueName, Selection};

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
        Some(part) => Some(engine.batch_named(part).await?),
        None => None,
    };
    Ok(Selection::Matching {
        filter: JobFilter {
            shown: chosen.status.map_or(usual, JobsShown::from),
            queue,
            batch_id,
            cause: chosen.cause,
            text: chosen.search.clone(),
            ..JobFilter::default()
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
