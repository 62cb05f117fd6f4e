//! One file for each command.

pub(crate) mod actions;
pub(crate) mod add;
mod asked;
pub(crate) mod batches;
pub(crate) mod bucket;
mod chosen;
pub(crate) mod config;
mod counting;
pub(crate) mod endpoint;
pub(crate) mod export;
mod input;
pub(crate) mod jobs;
pub(crate) mod key;
mod passwords;
pub(crate) mod pilot;
pub(crate) mod preflight;
pub(crate) mod prices;
pub(crate) mod queues;
pub(crate) mod report;
pub(crate) mod retry;
pub(crate) mod run;
mod scanning;
mod secret;
pub(crate) mod show;
pub(crate) mod status;
pub(crate) mod templates;
pub(crate) mod webhook;

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{BulkAction, QueueName, Timestamp};

use crate::arguments::{
    BatchesArguments, BatchesCommand, BucketCommand, Command, ConfigCommand, CopiesCommand,
    KeyCommand, PricesCommand, QueuesCommand, TemplatesCommand, WebhookCommand,
};
use crate::output::{Failed, Output};
use crate::values::OptionalAmount;

/// Does what was asked for.
pub(crate) async fn run(
    engine: &Engine,
    command: Command,
    output: Output,
) -> Result<ExitCode, Failed> {
    match command {
        Command::Add(add) => add::run(engine, add, output).await,
        Command::Preflight(preflight) => preflight::run(engine, preflight, output).await,
        Command::Run(arguments) => run::run(engine, arguments, output).await,
        Command::Status => status::run(engine, output).await,
        Command::Jobs(jobs) => jobs::run(engine, jobs, output).await,
        Command::Show(show) => show::run(engine, show, output).await,
        Command::DeadLetters => retry::dead_letters(engine, output).await,
        Command::Retry(retry) => retry::run(engine, retry, output).await,
        Command::Cancel(chosen) => actions::run(engine, &chosen, BulkAction::Cancel, output).await,
        Command::Pause(chosen) => actions::run(engine, &chosen, BulkAction::Pause, output).await,
        Command::Resume(chosen) => actions::run(engine, &chosen, BulkAction::Resume, output).await,
        Command::RunNow(chosen) => actions::run(engine, &chosen, BulkAction::RunNow, output).await,
        Command::MoveTo(move_to) => {
            let queue = QueueName::from(move_to.to);
            actions::run(
                engine,
                &move_to.action,
                BulkAction::MoveTo { queue },
                output,
            )
            .await
        }
        Command::Move(one) => actions::move_one(engine, &one, output).await,
        Command::Purge(purge) => actions::purge(engine, &purge, output).await,
        Command::Queues { command } => match command {
            None => queues::show(engine, output).await,
            Some(QueuesCommand::Pause { lanes }) => {
                queues::pause(engine, lanes, true, output).await
            }
            Some(QueuesCommand::Resume { lanes }) => {
                queues::pause(engine, lanes, false, output).await
            }
            Some(QueuesCommand::Set(lane)) => queues::set(engine, &lane, output).await,
        },
        Command::Batches(BatchesArguments { all, command }) => match command {
            None if all => batches::show_all(engine, output).await,
            None => batches::show(engine, output).await,
            Some(BatchesCommand::Report { batch }) => report::run(engine, &batch, output).await,
            Some(BatchesCommand::Pilot(pilot)) => pilot::show(engine, pilot, output).await,
            Some(BatchesCommand::Release(pilot)) => pilot::release(engine, pilot, output).await,
            Some(BatchesCommand::CancelRest { batch }) => {
                pilot::cancel_rest(engine, &batch, output).await
            }
            Some(BatchesCommand::Pause { batch }) => {
                batches::pause(engine, &batch, true, output).await
            }
            Some(BatchesCommand::Resume { batch }) => {
                batches::pause(engine, &batch, false, output).await
            }
            Some(BatchesCommand::Cap {
                batch,
                cap: OptionalAmount(cap),
            }) => batches::set_cap(engine, &batch, cap, output).await,
        },
        Command::Export(export) => export::run(engine, export, output).await,
        Command::Templates { command } => {
            templates::run(engine, command.unwrap_or(TemplatesCommand::List), output).await
        }
        Command::Bucket { command } => {
            bucket::run(engine, command.unwrap_or(BucketCommand::Status), output).await
        }
        Command::Copies {
            command: CopiesCommand::Retry(copies),
        } => export::retry_copies(engine, copies, output).await,
        Command::Config { command } => match command {
            None => config::show(engine, output).await,
            Some(ConfigCommand::Set { name, value }) => {
                config::set(engine, name, &value, output).await
            }
        },
        Command::Prices { command } => match command {
            None => prices::show(engine, output).await,
            Some(PricesCommand::Set(price)) => prices::set(engine, price, output).await,
            Some(PricesCommand::Free { model }) => prices::free(engine, model, output).await,
            Some(PricesCommand::Reset { model }) => prices::reset(engine, model, output).await,
        },
        Command::Webhook { command } => match command {
            None => webhook::show(engine, output).await,
            Some(WebhookCommand::Secret { secret, remove }) => {
                webhook::set_secret(engine, &secret, remove, output).await
            }
        },
        Command::Endpoint { command } => endpoint::run(engine, command, output).await,
        Command::Key { command } => match command {
            KeyCommand::Set(secret) => key::set(engine, &secret, output).await,
            KeyCommand::Test => key::test(engine, output).await,
            KeyCommand::Remove => key::remove(engine, output).await,
        },
    }
}

/// Returns the present moment, for countdowns.
fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
