//! What can be asked on the command line.

mod add;
mod endpoint;
mod jobs;
mod limits;
mod results;
mod templates;
mod words;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

pub(crate) use add::{
    AddArguments, AskedArguments, PasswordArguments, PreflightArguments, RunArguments,
};
pub(crate) use endpoint::{EndpointCommand, UseArguments};
pub(crate) use jobs::{
    ActionArguments, Chosen, JobsArguments, MoveArguments, MoveToArguments, PurgeArguments,
    RetryArguments, ShowArguments,
};
pub(crate) use limits::{
    BatchesArguments, BatchesCommand, ChangeArguments, ConfigCommand, LaneArguments,
    PilotArguments, PriceArguments, PricesCommand, QueuesCommand, SettingName, WebhookCommand,
};
pub(crate) use results::{
    BucketArguments, BucketCommand, BucketSecretCommand, CopiesArguments, CopiesCommand,
    ExportArguments,
};
pub(crate) use templates::{
    CreateArguments, DraftArguments, EditArguments, PreviewArguments, TemplatesCommand,
};
pub(crate) use words::{
    DeliveryArgument, LanesArgument, PlaceArgument, ProviderArgument, QueueArgument,
};

/// Summarize PDFs with Claude, or without a key by picking their own sentences.
///
/// Files become jobs in a queue on this computer; `run` works the queue. The window uses the same
/// queue, so both may be used side by side.
#[derive(Parser)]
#[command(name = "gistmill", version, propagate_version = true, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The folder of the queue and the results (else GISTMILL_DATA_DIR, else the usual place)
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Print JSON for programs to read
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "Examples:
  gistmill preflight ~/papers                look into every PDF of a folder, and what it would cost
  gistmill add ~/papers --provider offline   add every PDF of a folder, for a summary without a key
  gistmill add ~/papers --cap 5              add them for Claude, and spend $5 on them at most
  gistmill run                               work the queue until it is empty
  gistmill status                            what runs, what waits, and why nothing moves
  gistmill show 39e5177e                     show a job; its id is in the table of “gistmill jobs”
  gistmill retry --cause rate-limited        run again what failed for one cause
  gistmill batches report papers             what became of a batch, and what to do next
  gistmill export results.csv                all results as a table

Money is in dollars with at most six decimals: 5, 2.50, 0.000001.

Exit codes: 0 all done, 1 some jobs failed or stayed as they were, or what was tried does not work,
2 wrong usage or an error, 3 a person is needed, 4 another Gistmill is working the queue.";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Add PDFs, folders of PDFs, or a prompt to the queue
    Add(AddArguments),
    /// Look into PDFs and say what would happen: what can't be sent and why, calls, tokens and cost
    Preflight(PreflightArguments),
    /// Work the queue until it is empty
    ///
    /// Waits by itself for retries, for tokens of the next minute, for a network, and for bulk's hours.
    /// Ends with code 3 when only a person can let the jobs go on: a cap, a key, a pause, a price.
    Run(RunArguments),
    /// Show counts, lanes, limits, money, and why nothing moves
    Status,
    /// List jobs, newest first
    Jobs(JobsArguments),
    /// Show one job: its state, its attempts, its summary
    Show(ShowArguments),
    /// Show failed jobs by cause, with what to do about each
    DeadLetters,
    /// Put failed, cancelled or reviewed jobs back in the queue
    ///
    /// Flags mean failed and dead-lettered jobs, unless --status says another state; with --completed they mean
    /// done jobs. Each job begins anew with no attempts used; its history stays.
    #[command(visible_alias = "redrive")]
    Retry(RetryArguments),
    /// Call jobs off; a running call that is paid for anyway may finish
    Cancel(ActionArguments),
    /// Hold waiting jobs until they are resumed
    Pause(ActionArguments),
    /// Let held jobs go on
    Resume(ActionArguments),
    /// Let waiting jobs run without waiting for their delay or countdown
    RunNow(ActionArguments),
    /// Put waiting jobs in another queue, at its end
    MoveTo(MoveToArguments),
    /// Move a waiting job within its queue
    Move(MoveArguments),
    /// Remove jobs that don't run, with their history and their stored results
    Purge(PurgeArguments),
    /// Show the queues, pause or resume them, or set how they work
    Queues {
        #[command(subcommand)]
        command: Option<QueuesCommand>,
    },
    /// Show the batches, report on one, pause or resume one, or cap what it may cost
    Batches(BatchesArguments),
    /// Write results to a file: a table, JSON lines, or one document
    Export(ExportArguments),
    /// Show the templates that PDFs are asked with, or write your own
    Templates {
        #[command(subcommand)]
        command: Option<TemplatesCommand>,
    },
    /// Show the bucket in Cloudflare R2 that results are uploaded to, or set it
    #[command(after_help = results::BUCKETS)]
    Bucket {
        #[command(subcommand)]
        command: Option<BucketCommand>,
    },
    /// Make the copies of results that could not be made
    Copies {
        #[command(subcommand)]
        command: CopiesCommand,
    },
    /// Show the settings, or change one
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Show what models cost, or set what one costs
    Prices {
        #[command(subcommand)]
        command: Option<PricesCommand>,
    },
    /// Show how telling of failures by HTTP goes, or set its secret
    Webhook {
        #[command(subcommand)]
        command: Option<WebhookCommand>,
    },
    /// Show where Claude is asked and what can be expected there, or ask elsewhere
    #[command(after_help = endpoint::ENDPOINTS)]
    Endpoint {
        #[command(subcommand)]
        command: Option<EndpointCommand>,
    },
    /// Set, test or remove the Anthropic API key
    Key {
        #[command(subcommand)]
        command: KeyCommand,
    },
}

#[derive(Subcommand)]
pub(crate) enum KeyCommand {
    /// Keep a key in the system's keychain; it is asked for, or read from standard input
    Set(SecretArguments),
    /// Make one free call with the key, and show what it may use: models, limits, prices, and what ends soon
    Test,
    /// Remove the key from the system's keychain
    Remove,
}

#[derive(Args)]
pub(crate) struct SecretArguments {
    /// Read it from standard input instead of asking for it
    #[arg(long)]
    pub(crate) stdin: bool,
}
