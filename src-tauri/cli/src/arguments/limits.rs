//! Queues, batches, settings, prices: what a person sets.

use super::{DeliveryArgument, LanesArgument, ProviderArgument, QueueArgument, SecretArguments};
use crate::values;
use clap::{Args, Subcommand, ValueEnum};

#[derive(Subcommand)]
pub(crate) enum QueuesCommand {
    /// Begin no more jobs of a queue; those that run go on
    Pause {
        /// Which
        #[arg(value_enum)]
        lanes: LanesArgument,
    },
    /// Let a queue go on
    Resume {
        /// Which
        #[arg(value_enum)]
        lanes: LanesArgument,
    },
    /// Set how a queue works, from the next claim on
    Set(LaneArguments),
}

#[derive(Args)]
#[group(id = "changes", required = true, multiple = true)]
pub(crate) struct LaneChanges {
    /// Most jobs that run at once (1 to 250)
    #[arg(long, value_name = "N")]
    pub(crate) concurrency: Option<u32>,
    /// Deliveries after the first (0 to 100)
    #[arg(long, value_name = "N")]
    pub(crate) retries: Option<u32>,
    /// Most jobs of one claim (1 to 100)
    #[arg(long, value_name = "N")]
    pub(crate) batch_size: Option<u32>,
    /// How long a claim waits to be filled (0 to 60)
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub(crate) batch_timeout: Option<u32>,
    /// How long a new job is held back (0 to 86400)
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub(crate) delay: Option<u32>,
    /// How jobs of Claude are delivered: `each` by a call of its own, or many together by the `batch` API, for
    /// half the price and usually within an hour (bulk only)
    #[arg(long, value_enum)]
    pub(crate) delivery: Option<DeliveryArgument>,
    /// Most jobs that are handed to the batch API at once (1 to 100000)
    #[arg(long, value_name = "N")]
    pub(crate) batch_requests: Option<u32>,
    /// How long the first of them waits for others (0 to 86400)
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub(crate) batch_wait: Option<u32>,
}

#[derive(Args)]
pub(crate) struct LaneArguments {
    /// Which
    #[arg(value_enum)]
    pub(crate) queue: QueueArgument,
    #[command(flatten)]
    pub(crate) changes: LaneChanges,
}

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct BatchesArguments {
    /// List every batch, not only the latest ten
    #[arg(long)]
    pub(crate) all: bool,
    #[command(subcommand)]
    pub(crate) command: Option<BatchesCommand>,
}

#[derive(Subcommand)]
pub(crate) enum BatchesCommand {
    /// Tell what became of a batch: how its jobs ended, what to do next, time and money
    Report {
        /// Its name, its id, or enough of the id’s beginning or end
        batch: String,
    },
    /// Tell what the pilot of a batch came to, and what the jobs that wait for it will come to
    Pilot(PilotArguments),
    /// Let the jobs go on that wait for the pilot of a batch, with changes where some are named
    Release(PilotArguments),
    /// Call off the jobs that wait for the pilot of a batch
    CancelRest {
        /// Its name, its id, or enough of the id’s beginning or end
        batch: String,
    },
    /// Begin no more jobs of a batch; those that run go on
    Pause {
        /// Its name, its id, or enough of the id’s beginning or end
        batch: String,
    },
    /// Let a batch go on
    Resume {
        /// Its name, its id, or enough of the id’s beginning or end
        batch: String,
    },
    /// Cap what a batch may cost
    Cap {
        /// Its name, its id, or enough of the id’s beginning or end
        batch: String,
        /// Dollars, or `none` for no cap
        #[arg(value_name = "AMOUNT|none", value_parser = values::optional_amount, allow_hyphen_values = true)]
        cap: values::OptionalAmount,
    },
}

#[derive(Args)]
pub(crate) struct PilotArguments {
    /// The batch: its name, its id, or enough of the id’s beginning or end
    pub(crate) batch: String,
    #[command(flatten)]
    pub(crate) changes: ChangeArguments,
}

/// What is different for the jobs that wait for a pilot.
#[derive(Args)]
#[command(next_help_heading = "Changes")]
pub(crate) struct ChangeArguments {
    /// Ask this model
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Use this template: its id, with or without a version, or its name
    #[arg(long)]
    pub(crate) template: Option<String>,
    /// Put them in this queue
    #[arg(long, value_enum)]
    pub(crate) queue: Option<QueueArgument>,
    /// Have each asked by a call, or all handed to the batch API for half the price
    #[arg(long, value_enum)]
    pub(crate) delivery: Option<DeliveryArgument>,
    /// Let the answer have so many output tokens at most
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u32>,
    /// Have this answer them
    #[arg(long, value_enum)]
    pub(crate) provider: Option<ProviderArgument>,
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Change a setting
    Set {
        /// Which
        #[arg(value_enum)]
        name: SettingName,
        /// What it becomes; `none` where there may be none
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingName {
    /// What answers new jobs: claude or offline
    Provider,
    /// The model for new jobs of Claude, and for those whose model does not exist
    Model,
    /// Most output tokens of an answer (256 to 128000)
    MaxTokens,
    /// Where Claude is asked, or none for Anthropic itself
    BaseUrl,
    /// Who answers there: anthropic, litellm, openrouter, ollama, lm-studio, other, or none for what the address shows
    Endpoint,
    /// How the key is sent: api-key (x-api-key), bearer, or none for the way that is usual there
    Auth,
    /// A file (PEM) with certificates that are trusted there besides those of the system, or none
    CaFile,
    /// Whether that address is sent the text of PDFs, since it can't read PDFs (as Ollama): on or off
    TextOnly,
    /// Where a copy of each result is put: nowhere, beside-pdf or folder (the output-folder)
    CopiesTo,
    /// The folder for copies, in folders like those that were added, or none
    OutputFolder,
    /// What is done where a copy’s name is taken: number, skip or overwrite
    NameTaken,
    /// Whether a finished batch leaves a table beside the copies: on or off
    BatchCsv,
    /// Whether a finished batch leaves one JSON object a line beside the copies: on or off
    BatchJsonl,
    /// Whether a finished batch leaves all results in one document beside the copies: on or off
    BatchMarkdown,
    /// Most input and output tokens together within 60 s
    TokensPerMinute,
    /// Most requests within 60 s, or none
    RequestsPerMinute,
    /// Most input tokens within 60 s, or none
    InputTokensPerMinute,
    /// Most output tokens within 60 s, or none
    OutputTokensPerMinute,
    /// Most calls within 60 s that only count tokens
    CountsPerMinute,
    /// Most dollars a day, or none
    DayCap,
    /// Most dollars a month, or none
    MonthCap,
    /// Most dollars of a new batch, or none
    BatchCap,
    /// One claim in so many is bulk's while high waits for tokens; 0 for none
    BulkFloor,
    /// The hours at which bulk runs, such as 22:00-07:00, or none for all day
    QuietHours,
    /// Days after which ended jobs are removed with their results, or none to keep them
    RetentionDays,
    /// Where failures are told by HTTP, or none
    WebhookUrl,
    /// Whether finished batches are told there, too: on or off
    WebhookBatches,
    /// Whether the desktop tells of finished batches: on or off
    NotifyBatches,
    /// Whether single letters act on jobs in the window’s table: on or off
    SingleKeys,
}

#[derive(Subcommand)]
pub(crate) enum PricesCommand {
    /// Set what a model costs, in dollars per million tokens
    Set(PriceArguments),
    /// Mark a model as free, such as one that runs on this computer
    Free {
        /// The model
        model: String,
    },
    /// Forget a price that was set here: the shipped one holds again, or none
    Reset {
        /// The model
        model: String,
    },
}

#[derive(Args)]
pub(crate) struct PriceArguments {
    /// The model
    pub(crate) model: String,
    /// Dollars per million input tokens
    #[arg(long, value_name = "AMOUNT", value_parser = values::amount)]
    pub(crate) input: i64,
    /// Dollars per million output tokens
    #[arg(long, value_name = "AMOUNT", value_parser = values::amount)]
    pub(crate) output: i64,
    /// Dollars per million tokens written to the cache (else a quarter more than input)
    #[arg(long, value_name = "AMOUNT", value_parser = values::amount)]
    pub(crate) cache_write: Option<i64>,
    /// Dollars per million tokens read from the cache (else a tenth of input)
    #[arg(long, value_name = "AMOUNT", value_parser = values::amount)]
    pub(crate) cache_read: Option<i64>,
    /// What the batch API takes of these prices
    #[arg(long, value_name = "PERCENT", default_value_t = 50, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) batch_percent: u32,
}

#[derive(Subcommand)]
pub(crate) enum WebhookCommand {
    /// Keep the secret that messages are signed with in the system's keychain
    ///
    /// It is asked for, or read from standard input, and is never shown again.
    Secret {
        #[command(flatten)]
        secret: SecretArguments,
        /// Forget it: messages are no longer signed
        #[arg(long, conflicts_with = "stdin")]
        remove: bool,
    },
}
