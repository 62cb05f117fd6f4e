//! What becomes of results: exports, copies, the bucket.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use gistmill_engine::model::{ExportFormat, Jurisdiction};

use super::{Chosen, QueueArgument, SecretArguments};
use crate::values;

#[derive(Args)]
// Nothing is lost by an export, so saying nothing means every job.
#[command(mut_group("chosen", |group| group.required(false)), after_help = EXPORTS)]
pub(crate) struct ExportArguments {
    /// The file to write; its ending says what it becomes: .csv, .jsonl or .md
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Only this queue
    #[arg(long, value_enum, conflicts_with = "jobs", group = "chosen")]
    pub(crate) queue: Option<QueueArgument>,
    /// What to write, whatever the file's ending
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatArgument>,
    /// Begin a table without the mark that tells Excel that it is UTF-8
    #[arg(long)]
    pub(crate) no_bom: bool,
    /// Write over the file if there is one
    #[arg(long)]
    pub(crate) replace: bool,
}

const EXPORTS: &str =
    "Without a filter all jobs are exported. A job without a result is a row without a text.

Examples:
  gistmill export results.csv                          all jobs as a table, for Excel or Numbers
  gistmill export contracts.csv --batch Contracts      one batch; fields become columns
  gistmill export all.jsonl --status done              done jobs, one JSON object a line
  gistmill export reading.md --search rivers           results that speak of rivers, in one document

Ends with code 1 when results could not be read.";

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FormatArgument {
    /// A table, one row a job; fields are columns
    Csv,
    /// One JSON object a line
    Jsonl,
    /// All results in one Markdown document
    Md,
}

impl From<FormatArgument> for ExportFormat {
    fn from(argument: FormatArgument) -> Self {
        match argument {
            FormatArgument::Csv => Self::Csv,
            FormatArgument::Jsonl => Self::Jsonl,
            FormatArgument::Md => Self::Markdown,
        }
    }
}

#[derive(Subcommand)]
pub(crate) enum CopiesCommand {
    /// Try again to make copies that could not be made
    ///
    /// Without a filter all of them. “gistmill show JOB” says why a copy is missing.
    Retry(CopiesArguments),
}

#[derive(Args)]
#[command(mut_group("chosen", |group| group.required(false)))]
pub(crate) struct CopiesArguments {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Only this queue
    #[arg(long, value_enum, conflicts_with = "jobs", group = "chosen")]
    pub(crate) queue: Option<QueueArgument>,
}

#[derive(Subcommand)]
pub(crate) enum BucketCommand {
    /// Show the bucket, how its uploads come on, and what stands in their way
    Status,
    /// Say which bucket, and what goes there; what is not named stays as it is
    #[command(after_help = SETTING_A_BUCKET)]
    Set(BucketArguments),
    /// Keep or forget the secret of the access key
    Secret {
        #[command(subcommand)]
        command: BucketSecretCommand,
    },
    /// Write an object into the bucket, read it, try to overwrite it, and delete it
    ///
    /// Ends with code 1, a reason and what to do when any of that does not work.
    Test,
    /// Queue the stored results that are not in the bucket
    Upload,
    /// Try again to upload what was given up
    Retry,
}

#[derive(Subcommand)]
pub(crate) enum BucketSecretCommand {
    /// Keep the secret in the system's keychain; it is asked for, or read from standard input
    Set(SecretArguments),
    /// Remove the secret from the system's keychain
    Remove,
}

pub(crate) const BUCKETS: &str = "To begin with a bucket of Cloudflare R2:
  gistmill bucket set https://ACCOUNT.r2.cloudflarestorage.com/BUCKET --key-id KEY_ID
  gistmill bucket secret set
  gistmill bucket test
  gistmill bucket set --enable
  gistmill bucket upload               sends what was stored before

The secret is never given as an argument, where other users of the computer could see it. Where
there is no keychain, put it in the environment variable GISTMILL_R2_SECRET.";

const SETTING_A_BUCKET: &str = "Examples:
  gistmill bucket set https://ACCOUNT.eu.r2.cloudflarestorage.com/BUCKET --key-id KEY_ID
  gistmill bucket set --endpoint http://localhost:9000 --bucket results --key-id KEY_ID
  gistmill bucket set --folder summaries --upload-pdfs on
  gistmill bucket set --disable";

#[derive(Args)]
#[group(id = "bucket_changes", required = true, multiple = true)]
// The usual line would name every flag of the group.
#[command(override_usage = "gistmill bucket set [OPTIONS] [URL]")]
pub(crate) struct BucketArguments {
    /// The bucket's address, as the Cloudflare dashboard shows it
    #[arg(value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Cloudflare's account id: 32 hexadecimal digits
    #[arg(long, value_name = "ID")]
    pub(crate) account_id: Option<String>,
    /// Where Cloudflare keeps the bucket
    #[arg(long, value_enum)]
    pub(crate) jurisdiction: Option<JurisdictionArgument>,
    /// The address of another server that speaks S3, or none for Cloudflare's
    #[arg(long, value_name = "URL|none")]
    pub(crate) endpoint: Option<String>,
    /// The bucket's name
    #[arg(long, value_name = "NAME")]
    pub(crate) bucket: Option<String>,
    /// A folder in the bucket, or none
    #[arg(long, value_name = "FOLDER|none")]
    pub(crate) folder: Option<String>,
    /// The id of the access key; its secret is set with “gistmill bucket secret set”
    #[arg(long, value_name = "ID")]
    pub(crate) key_id: Option<String>,
    /// Whether the PDFs are uploaded, too
    #[arg(long, value_name = "on|off", value_parser = values::switch)]
    pub(crate) upload_pdfs: Option<bool>,
    /// Whether a job is done only when its result is in the bucket
    #[arg(long, value_name = "on|off", value_parser = values::switch)]
    pub(crate) wait: Option<bool>,
    /// Upload results from now on
    #[arg(long, conflicts_with = "disable")]
    pub(crate) enable: bool,
    /// Upload nothing; what is in the bucket stays there
    #[arg(long)]
    pub(crate) disable: bool,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum JurisdictionArgument {
    /// None was chosen for the bucket
    Default,
    /// The European Union
    Eu,
    /// FedRAMP, in the United States
    Fedramp,
}

impl From<JurisdictionArgument> for Jurisdiction {
    fn from(argument: JurisdictionArgument) -> Self {
        match argument {
            JurisdictionArgument::Default => Self::Default,
            JurisdictionArgument::Eu => Self::Eu,
            JurisdictionArgument::Fedramp => Self::Fedramp,
        }
    }
}
