//! `gistmill jobs`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{JobFilter, QueueName};

use crate::arguments::JobsArguments;
use crate::output::{Failed, Output};
use crate::shown;

pub(crate) async fn run(
    engine: &Engine,
    arguments: JobsArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    engine.look_for_consumer();
    let batch_id = match &arguments.batch {
        Some(part) => Some(engine.batch_named(part).await?),
        None => None,
    };
    let filter = JobFilter {
        shown: arguments.status.into(),
        queue: arguments.queue.map(QueueName::from),
        batch_id,
        cause: arguments.cause,
        text: arguments.search,
        ..JobFilter::default()
    };
    let page = engine.jobs(filter, None, arguments.limit).await?;
    output.either(&page, || {
        if page.jobs.is_empty() {
            return "No jobs.".to_owned();
        }
        let mut text = shown::table(&page.jobs, super::now());
        let more = page.total.saturating_sub(page.jobs.len() as u64);
        if more > 0 {
            text.push_str(&format!("\nand {more} more; --limit shows up to 500"));
        }
        text
    })?;
    Ok(ExitCode::SUCCESS)
}
