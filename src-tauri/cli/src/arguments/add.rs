//! What is added to the queue.

use std::path::PathBuf;

use clap::Args;

use super::{DeliveryArgument, ProviderArgument, QueueArgument};
use crate::values;

#[derive(Args)]
#[command(after_help = ADDING)]
pub(crate) struct AddArguments {
    /// PDFs, and folders to search for PDFs
    #[arg(
        required_unless_present = "prompt",
        conflicts_with = "prompt",
        value_name = "FILE"
    )]
    pub(crate) files: Vec<PathBuf>,
    /// A prompt instead of files; `-` reads it from standard input
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["variables", "language", "password_file"])]
    pub(crate) prompt: Option<String>,
    #[command(flatten)]
    pub(crate) asked: AskedArguments,
    /// A name for this batch (else the folder's or the file's name)
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Most dollars that this batch may cost (else batch-cap of the settings)
    #[arg(long, value_name = "AMOUNT", value_parser = values::amount)]
    pub(crate) cap: Option<i64>,
    /// Add the batch paused; “gistmill batches resume” lets it go on
    #[arg(long)]
    pub(crate) paused: bool,
    /// Run so many of the files first; the others wait until “gistmill batches release” lets them go on
    ///
    /// They are small, middle and large ones. “gistmill batches pilot” shows what they came to, and what the others
    /// will come to by that.
    #[arg(long, value_name = "N", conflicts_with = "prompt", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pilot: Option<u32>,
    /// Ask and pay again also for files that have a result of this kind already
    ///
    /// Else a file that was answered before with the same template, variables and model gets that result again
    /// for nothing.
    #[arg(long, conflicts_with = "prompt")]
    pub(crate) again: bool,
    /// Show how many jobs would be asked, how many reuse earlier results, and the cost; add nothing
    #[arg(long, conflicts_with = "prompt")]
    pub(crate) dry_run: bool,
    /// Have Claude count the input tokens for --dry-run, which is free but uploads the files
    #[arg(long, requires = "dry_run")]
    pub(crate) count: bool,
    #[command(flatten)]
    pub(crate) passwords: PasswordArguments,
}

/// What is asked, of whom.
#[derive(Args)]
pub(crate) struct AskedArguments {
    /// The queue: high goes before bulk (files: bulk, a prompt: high)
    #[arg(long, value_enum)]
    pub(crate) queue: Option<QueueArgument>,
    /// Have each asked by a call, or all handed to the batch API for half the price, often within an hour, at most
    /// within a day; bulk only (as the queue is set)
    #[arg(long, value_enum)]
    pub(crate) delivery: Option<DeliveryArgument>,
    /// The template: its id, with or without a version, or its name; “gistmill templates” lists them
    #[arg(long, default_value = "pdf-summarize")]
    pub(crate) template: String,
    /// A value for a variable of the template; one without a value stays empty
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = values::variable)]
    pub(crate) variables: Vec<(String, String)>,
    /// The language of the answers, in words (else the document's own)
    #[arg(long)]
    pub(crate) language: Option<String>,
    /// What answers (else the provider of the settings)
    #[arg(long, value_enum)]
    pub(crate) provider: Option<ProviderArgument>,
    /// The Claude model (else the model of the settings)
    #[arg(long)]
    pub(crate) model: Option<String>,
}

#[derive(Args)]
pub(crate) struct PasswordArguments {
    /// A file with passwords for PDFs that need one, one a line; `-` reads standard input
    ///
    /// Each is tried on every PDF that needs one; so is the one in GISTMILL_PDF_PASSWORD. They are used in memory
    /// and never stored: “add” opens the files to look into them, “run” opens them to send them, so both
    /// have to be told; so has “retry” for jobs that failed for want of one.
    #[arg(long, value_name = "FILE|-")]
    pub(crate) password_file: Option<PathBuf>,
}

#[derive(Args)]
#[command(after_help = LOOKING)]
pub(crate) struct PreflightArguments {
    /// PDFs, and folders to search for PDFs
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) asked: AskedArguments,
    /// Reckon as if no file had a result of this kind already
    #[arg(long)]
    pub(crate) again: bool,
    /// Have Claude count the input tokens, which is free but uploads the files
    ///
    /// Files of up to 5 MB are counted, a few of all sizes first, 250 MB in all. What was counted is kept: later
    /// forecasts use it.
    #[arg(long)]
    pub(crate) count: bool,
    #[command(flatten)]
    pub(crate) passwords: PasswordArguments,
}

#[derive(Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) passwords: PasswordArguments,
}

const LOOKING: &str = "Nothing is added or paid; nothing is sent without --count.

Exit codes: 0 all can be sent, 1 some can’t, 2 nothing can.

Examples:
  gistmill preflight ~/papers
  gistmill preflight ~/papers --model claude-haiku-4-5 --json
  gistmill preflight ~/papers --count                  with exact counts of input tokens
  gistmill preflight contracts --password-file passwords.txt";

const ADDING: &str = "Examples:
  gistmill add ~/papers --dry-run                      what it would cost
  gistmill add ~/papers --template research-paper-brief --language Japanese
  gistmill add contracts --template contract-key-terms --queue high --cap 5
  gistmill add ~/papers --pilot 3                      three files first, then decide about the others
  gistmill add report.pdf --again                      ask anew, although it has a result
  gistmill add locked --password-file passwords.txt    open PDFs that need a password

“gistmill preflight FILE…” tells more of what would happen before anything is added.";
