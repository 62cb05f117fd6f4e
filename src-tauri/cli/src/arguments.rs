//! What can be asked on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use gistmill_engine::model::{JobsShown, Provider, QueueName};

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
  gistmill add ~/papers --provider offline   add every PDF of a folder, for a summary without a key
  gistmill run                               work the queue until it is empty
  gistmill show 39e5177e                     show a job; its id is in the table of “gistmill jobs”

Exit codes: 0 all done, 1 some jobs failed, 2 wrong usage or an error, 3 a person is needed,
4 another Gistmill is working the queue.";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Add PDFs, folders of PDFs, or a prompt to the queue
    Add(AddArguments),
    /// Work the queue until it is empty
    Run,
    /// Show counts, lanes, and why nothing moves
    Status,
    /// List jobs, newest first
    Jobs(JobsArguments),
    /// Show one job: its state, its attempts, its summary
    Show(ShowArguments),
    /// Put failed, cancelled or reviewed jobs back in the queue
    Retry(RetryArguments),
    /// Set, test or remove the Anthropic API key
    Key {
        #[command(subcommand)]
        command: KeyCommand,
    },
}

#[derive(Args)]
pub(crate) struct AddArguments {
    /// PDFs, and folders to search for PDFs
    #[arg(
        required_unless_present = "prompt",
        conflicts_with = "prompt",
        value_name = "FILE"
    )]
    pub(crate) files: Vec<PathBuf>,
    /// A prompt instead of files; `-` reads it from standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) prompt: Option<String>,
    /// The queue: high goes before bulk (files: bulk, a prompt: high)
    #[arg(long, value_enum)]
    pub(crate) queue: Option<QueueArgument>,
    /// The template, with its version
    #[arg(long, default_value = "pdf-summarize-v1")]
    pub(crate) template: String,
    /// What answers (else the provider of the settings)
    #[arg(long, value_enum)]
    pub(crate) provider: Option<ProviderArgument>,
    /// The Claude model (else the model of the settings)
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// A name for this batch (else the folder's or the file's name)
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Args)]
pub(crate) struct JobsArguments {
    /// Which jobs
    #[arg(long, value_enum, default_value_t = StatusArgument::All)]
    pub(crate) status: StatusArgument,
    /// Only titles and errors that contain this text
    #[arg(long, value_name = "TEXT")]
    pub(crate) search: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: u32,
}

#[derive(Args)]
pub(crate) struct ShowArguments {
    /// The job's id, or enough of its beginning or its end
    pub(crate) job: String,
    /// Print the summary and nothing else
    #[arg(long)]
    pub(crate) result: bool,
}

#[derive(Args)]
pub(crate) struct RetryArguments {
    /// Ids of jobs, or enough of their beginnings or ends
    #[arg(
        required_unless_present = "all",
        conflicts_with = "all",
        value_name = "JOB"
    )]
    pub(crate) jobs: Vec<String>,
    /// All failed and dead-lettered jobs
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Subcommand)]
pub(crate) enum KeyCommand {
    /// Keep a key in the system's keychain; it is asked for, or read from standard input
    Set(KeySetArguments),
    /// Make one free call with the key, and show what it may use
    Test,
    /// Remove the key from the system's keychain
    Remove,
}

#[derive(Args)]
pub(crate) struct KeySetArguments {
    /// Read the key from standard input instead of asking for it
    #[arg(long)]
    pub(crate) stdin: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum QueueArgument {
    High,
    Bulk,
}

impl From<QueueArgument> for QueueName {
    fn from(argument: QueueArgument) -> Self {
        match argument {
            QueueArgument::High => Self::High,
            QueueArgument::Bulk => Self::Bulk,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ProviderArgument {
    /// Anthropic's Messages API
    Claude,
    /// The PDF's own key sentences, without a key or a network
    Offline,
}

impl From<ProviderArgument> for Provider {
    fn from(argument: ProviderArgument) -> Self {
        match argument {
            ProviderArgument::Claude => Self::Claude,
            ProviderArgument::Offline => Self::Offline,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum StatusArgument {
    All,
    Running,
    Waiting,
    NeedsReview,
    DeadLetters,
    Done,
    Cancelled,
}

impl From<StatusArgument> for JobsShown {
    fn from(argument: StatusArgument) -> Self {
        match argument {
            StatusArgument::All => Self::All,
            StatusArgument::Running => Self::Running,
            StatusArgument::Waiting => Self::Waiting,
            StatusArgument::NeedsReview => Self::NeedsReview,
            StatusArgument::DeadLetters => Self::DeadLetters,
            StatusArgument::Done => Self::Done,
            StatusArgument::Cancelled => Self::Cancelled,
        }
    }
}
