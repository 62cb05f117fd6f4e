//! `gistmill queues`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{Delivery, LaneSettings, LaneView, QueueName};

use crate::arguments::{LaneArguments, LanesArgument};
use crate::output::{Failed, Output};
use crate::shown::columns;

pub(crate) async fn show(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    engine.look_for_consumer();
    let lanes = engine.overview().await?.lanes;
    output.either(&lanes, || text(&lanes))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn pause(
    engine: &Engine,
    lanes: LanesArgument,
    paused: bool,
    output: Output,
) -> Result<ExitCode, Failed> {
    for queue in lanes.queues() {
        engine.pause_lane(*queue, paused).await?;
    }
    show(engine, output).await
}

pub(crate) async fn set(
    engine: &Engine,
    arguments: &LaneArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let queue = QueueName::from(arguments.queue);
    let present = engine
        .overview()
        .await?
        .lanes
        .into_iter()
        .find(|lane| lane.queue == queue)
        .map(|lane| lane.settings)
        .ok_or_else(|| Failed::usage("There is no such queue.", "The queues are high and bulk."))?;
    let changes = &arguments.changes;
    let settings = LaneSettings {
        max_batch_size: changes.batch_size.unwrap_or(present.max_batch_size),
        max_batch_timeout_ms: changes
            .batch_timeout
            .unwrap_or(present.max_batch_timeout_ms),
        max_retries: changes.retries.unwrap_or(present.max_retries),
        max_concurrency: changes.concurrency.unwrap_or(present.max_concurrency),
        delivery_delay_ms: changes.delay.unwrap_or(present.delivery_delay_ms),
        delivery: changes.delivery.map_or(present.delivery, Delivery::from),
        remote_requests: changes.batch_requests.unwrap_or(present.remote_requests),
        remote_wait_ms: changes.batch_wait.unwrap_or(present.remote_wait_ms),
    };
    engine.save_lane(queue, settings).await?;
    if changes.delivery.is_some() {
        // What is said of a queue is said of its jobs, also where the queue itself went so already.
        engine.deliver_lane(queue, settings.delivery).await?;
    }
    show(engine, output).await
}

fn text(lanes: &[LaneView]) -> String {
    let rows = lanes.iter().map(|lane| {
        let settings = &lane.settings;
        [
            lane.queue.as_str().to_owned(),
            if lane.paused { "paused" } else { "open" }.to_owned(),
            lane.running.to_string(),
            lane.waiting.to_string(),
            settings.max_concurrency.to_string(),
            settings.max_retries.to_string(),
            settings.max_batch_size.to_string(),
            seconds(settings.max_batch_timeout_ms),
            seconds(settings.delivery_delay_ms),
            match settings.delivery {
                Delivery::Each => "each".to_owned(),
                Delivery::Batch => format!(
                    "batch of {}, after {}",
                    settings.remote_requests,
                    seconds(settings.remote_wait_ms)
                ),
            },
        ]
    });
    let headings = [
        "QUEUE",
        "STATE",
        "RUNNING",
        "WAITING",
        "CONCURRENCY",
        "RETRIES",
        "BATCH-SIZE",
        "BATCH-TIMEOUT",
        "DELAY",
        "DELIVERY",
    ];
    columns(headings, rows, &[2, 3, 4, 5, 6, 7, 8])
}

fn seconds(milliseconds: u32) -> String {
    match milliseconds % 1000 {
        0 => format!("{} s", milliseconds / 1000),
        part => format!("{}.{part:03} s", milliseconds / 1000),
    }
}
