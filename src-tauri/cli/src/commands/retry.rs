//! `gistmill retry`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{JobFilter, JobsShown};
use serde_json::json;

use crate::arguments::RetryArguments;
use crate::output::{Failed, Output, SOME_FAILED};
use crate::shown::counted;

pub(crate) async fn run(
    engine: &Engine,
    arguments: RetryArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let (asked, queued) = if arguments.all {
        let filter = JobFilter {
            shown: JobsShown::DeadLetters,
            ..JobFilter::default()
        };
        let queued = engine.retry_matching(filter).await?;
        (queued, queued)
    } else {
        let mut job_ids = Vec::with_capacity(arguments.jobs.len());
        for name in &arguments.jobs {
            job_ids.push(engine.job_named(name).await?);
        }
        (job_ids.len() as u64, engine.retry(job_ids).await?)
    };
    output.either(&json!({ "queued": queued, "left": asked - queued }), || {
        let mut text = format!("{} back in the queue.", counted(queued, "job is", "jobs are"));
        if queued < asked {
            text.push_str(&format!(
                "\n{} left as it is: only jobs that failed, were cancelled or need a review can be run again.",
                counted(asked - queued, "job was", "jobs were")
            ));
        }
        text
    })?;
    Ok(if queued < asked {
        ExitCode::from(SOME_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}
