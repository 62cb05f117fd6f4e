//! Which jobs, and what is done to them.

use clap::Args;
use gistmill_engine::model::Cause;

use super::words::{PlaceArgument, StatusArgument, cause, searched};
use super::{DeliveryArgument, PasswordArguments, ProviderArgument, QueueArgument};

#[derive(Args)]
pub(crate) struct JobsArguments {
    /// Which jobs
    #[arg(long, value_enum, default_value_t = StatusArgument::All)]
    pub(crate) status: StatusArgument,
    /// Only this queue
    #[arg(long, value_enum)]
    pub(crate) queue: Option<QueueArgument>,
    /// Only this batch: its name, its id, or enough of the id’s beginning or end
    #[arg(long, value_name = "BATCH")]
    pub(crate) batch: Option<String>,
    /// Only jobs that ended, or last failed, for this cause (its key, such as rate-limited)
    #[arg(long, value_name = "KEY", value_parser = cause)]
    pub(crate) cause: Option<Cause>,
    /// Only jobs whose file name, batch, error or result has words that begin like these
    #[arg(long, value_name = "TEXT", value_parser = searched)]
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

/// Jobs by name, or by what they have in common. One of both has to be said: nobody means every job by
/// saying nothing.
#[derive(Args)]
#[group(id = "chosen", required = true, multiple = true)]
pub(crate) struct Chosen {
    /// Ids of jobs, or enough of their beginnings or ends
    #[arg(value_name = "JOB")]
    pub(crate) jobs: Vec<String>,
    /// All jobs, or all that match the other flags
    #[arg(long, conflicts_with = "jobs")]
    pub(crate) all: bool,
    /// Only jobs in this state
    #[arg(long, value_enum, conflicts_with = "jobs")]
    pub(crate) status: Option<StatusArgument>,
    /// Only this batch: its name, its id, or enough of the id’s beginning or end
    #[arg(long, value_name = "BATCH", conflicts_with = "jobs")]
    pub(crate) batch: Option<String>,
    /// Only jobs that ended, or last failed, for this cause; “gistmill dead-letters” shows the keys
    #[arg(long, value_name = "KEY", value_parser = cause, conflicts_with = "jobs")]
    pub(crate) cause: Option<Cause>,
    /// Only jobs whose file name, batch, error or result has words that begin like these
    #[arg(long, value_name = "TEXT", value_parser = searched, conflicts_with = "jobs")]
    pub(crate) search: Option<String>,
}

#[derive(Args)]
pub(crate) struct ActionArguments {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Only this queue
    #[arg(long, value_enum, conflicts_with = "jobs", group = "chosen")]
    pub(crate) queue: Option<QueueArgument>,
    /// Count the jobs and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Args)]
pub(crate) struct MoveToArguments {
    /// The queue to put them in
    #[arg(value_enum)]
    pub(crate) to: QueueArgument,
    #[command(flatten)]
    pub(crate) action: ActionArguments,
}

#[derive(Args)]
pub(crate) struct PurgeArguments {
    #[command(flatten)]
    pub(crate) action: ActionArguments,
    /// Remove them without asking
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Args)]
pub(crate) struct MoveArguments {
    /// The job's id, or enough of its beginning or its end
    pub(crate) job: String,
    /// Where it goes
    #[arg(value_enum)]
    pub(crate) place: PlaceArgument,
}

#[derive(Args)]
pub(crate) struct RetryArguments {
    #[command(flatten)]
    pub(crate) chosen: Chosen,
    /// Ask this model
    #[arg(long, help_heading = "Changes")]
    pub(crate) model: Option<String>,
    /// Use this template: its id, with or without a version, or its name
    #[arg(long, help_heading = "Changes")]
    pub(crate) template: Option<String>,
    /// Put them in this queue
    #[arg(long, value_enum, help_heading = "Changes")]
    pub(crate) queue: Option<QueueArgument>,
    /// Have each asked by a call, or all handed to the batch API for half the price
    #[arg(long, value_enum, help_heading = "Changes")]
    pub(crate) delivery: Option<DeliveryArgument>,
    /// Let the answer have so many output tokens at most
    #[arg(long, value_name = "N", help_heading = "Changes")]
    pub(crate) max_tokens: Option<u32>,
    /// Have this answer them
    #[arg(long, value_enum, help_heading = "Changes")]
    pub(crate) provider: Option<ProviderArgument>,
    /// Run done jobs again, too, and pay again; their results stay as those of earlier runs
    #[arg(long)]
    pub(crate) completed: bool,
    /// Show how many would run, which not and why, and what it would cost; change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) passwords: PasswordArguments,
}
