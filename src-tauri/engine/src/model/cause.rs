//! Why an attempt or a job ended as it did: stable keys that fronts may branch on.

use serde::{Deserialize, Serialize};

use super::word;

/// What a [`Cause`] means for the job and for its queue (product rules, "What each answer means").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum CauseClass {
    /// An answer came, but a person has to look at it.
    Review,
    /// Passing trouble: delivered again later, dead-lettered when the retries are used up.
    Retry,
    /// Permanent for this item: fails at once.
    Item,
    /// Would hit every job: the circuit opens, no attempt is used up.
    Queue,
}

/// What a person can do about a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Fix {
    /// Run it again; nothing has to be changed.
    RunAgain,
    /// Run it again with a higher output limit.
    RaiseOutputLimit,
    /// Run it again with another model or template.
    ChangeModel,
    /// Run it again with Claude.
    UseClaude,
    /// Send the text of the PDF in place of its pages, then run it again.
    SendText,
    /// Put the file back where it was, then run it again.
    PutFileBack,
    /// Add a repaired, unlocked or smaller version of the file.
    ReplaceFile,
    /// Give the password of the file.
    GivePassword,
    /// Add an API key.
    AddKey,
    /// Test the key, or give another one.
    TestKey,
    /// Choose another model in the settings.
    ChooseModel,
    /// Have each job delivered by a call of its own.
    ChangeDelivery,
    /// Put it right in the Anthropic Console, then try again.
    OpenConsole,
    /// Check the network.
    CheckConnection,
    /// Free disk space, or make the folder writable.
    FreeSpace,
}

/// Why an attempt did not simply succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The output stopped at the token limit.
    CutOff,
    /// The model declined to answer.
    Declined,
    /// The output filled the model's context window.
    ContextFilled,
    /// The model stopped for a reason that this version does not know.
    UnknownStopReason,
    /// The answer held no text.
    EmptyAnswer,
    /// The answer is not the set of fields that was asked for.
    FieldsInvalid,
    /// So few input tokens were counted that the document cannot have been read.
    DocumentNotRead,

    /// 429: too many requests or tokens for the present minute.
    RateLimited,
    /// 429 `ramp_limit_exceeded`: use grew too fast.
    RampLimited,
    /// 529 or `overloaded_error` within a stream.
    Overloaded,
    /// 500, 502, 503 or an error event within a stream.
    ServerError,
    /// No answer in time.
    TimedOut,
    /// The connection broke before an answer began.
    ConnectionFailed,
    /// The answer broke off in the middle.
    StreamCut,
    /// 400 `Could not process PDF`, which is known to pass now and then.
    PdfNotProcessed,
    /// 409 or another status nobody foresaw.
    UnexpectedStatus,
    /// The program died or was stopped while the call was under way: it may have run and may be billed.
    Interrupted,
    /// The provider's batch API did not get to it within its day, or called it off.
    BatchExpired,
    /// What became of a request that the batch API took is not known, and can't be found out any more.
    BatchLost,
    /// The file is not where it was.
    FileMissing,
    /// The file can't be read (permissions, a directory, an input error).
    FileUnreadable,
    /// The file is not the one that was added.
    FileChanged,
    /// The file has no bytes.
    FileEmpty,
    /// The file is something else than a PDF.
    NotAPdf,
    /// The PDF's structure is broken beyond reading.
    PdfDamaged,
    /// The PDF's end is missing, as after a download that broke off.
    PdfTruncated,
    /// The PDF needs a password.
    PdfEncrypted,
    /// The PDF is encrypted in a way that can't be opened here.
    PdfCipherUnknown,
    /// The PDF killed, or outlasted, the process that reads it.
    PdfHostile,
    /// The PDF has no text to pick sentences from (offline), or to send in place of its pages.
    PdfWithoutText,
    /// The address or the model takes no PDFs; nothing was sent.
    PdfNotTaken,
    /// The PDF is too large for a call, and can't be uploaded before it.
    FilesNotTaken,
    /// The PDF or the request is larger than the provider takes.
    TooLarge,
    /// The PDF has more pages than the model takes.
    TooManyPages,
    /// The prompt does not fit the model's context window.
    PromptTooLong,
    /// The provider's content filter refused.
    ContentFiltered,
    /// Another 4xx that says the request itself is wrong.
    InvalidRequest,

    /// No connection could be made: there is no network, or nothing answers at the address.
    Offline,
    /// The result could not be written (full or read-only disk).
    StorageFailed,
    /// No API key is set.
    KeyMissing,
    /// 401: the key was refused.
    KeyRefused,
    /// 402: payment details.
    BillingProblem,
    /// 403: the key may not do this.
    PermissionDenied,
    /// 404 of the model.
    ModelNotFound,
    /// 404 of a model that is known to have ended.
    ModelRetired,
    /// 404 of the batch API: the address has none.
    BatchesNotOffered,
    /// 400: the credit balance is too low.
    CreditExhausted,
    /// 400: a usage limit set by the user at the provider.
    UsageLimitReached,
    /// 429: the monthly or contract spend limit.
    SpendLimitReached,
    /// 400: the organization is on hold.
    OrganizationOnHold,
}

impl Cause {
    /// Returns what the cause means for job and queue.
    #[must_use]
    pub fn class(self) -> CauseClass {
        match self {
            Self::CutOff
            | Self::Declined
            | Self::ContextFilled
            | Self::UnknownStopReason
            | Self::EmptyAnswer
            | Self::FieldsInvalid
            | Self::DocumentNotRead => CauseClass::Review,
            Self::RateLimited
            | Self::RampLimited
            | Self::Overloaded
            | Self::ServerError
            | Self::TimedOut
            | Self::ConnectionFailed
            | Self::StreamCut
            | Self::PdfNotProcessed
            | Self::UnexpectedStatus
            | Self::Interrupted
            | Self::BatchExpired
            | Self::BatchLost => CauseClass::Retry,
            Self::FileMissing
            | Self::FileUnreadable
            | Self::FileChanged
            | Self::FileEmpty
            | Self::NotAPdf
            | Self::PdfDamaged
            | Self::PdfTruncated
            | Self::PdfEncrypted
            | Self::PdfCipherUnknown
            | Self::PdfHostile
            | Self::PdfWithoutText
            | Self::PdfNotTaken
            | Self::FilesNotTaken
            | Self::TooLarge
            | Self::TooManyPages
            | Self::PromptTooLong
            | Self::ContentFiltered
            | Self::InvalidRequest => CauseClass::Item,
            Self::Offline
            | Self::StorageFailed
            | Self::KeyMissing
            | Self::KeyRefused
            | Self::BillingProblem
            | Self::PermissionDenied
            | Self::ModelNotFound
            | Self::ModelRetired
            | Self::BatchesNotOffered
            | Self::CreditExhausted
            | Self::UsageLimitReached
            | Self::SpendLimitReached
            | Self::OrganizationOnHold => CauseClass::Queue,
        }
    }

    /// Returns the stable key, as stored and as sent to fronts (`rate-limited`).
    #[must_use]
    pub fn key(self) -> String {
        word::of(&self)
    }

    /// Returns the cause of a stored key, if this version knows it.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        word::read(key)
    }

    /// Says whether an open circuit of this cause passes without a person's doing, and soon.
    #[must_use]
    pub fn passes_by_itself(self) -> bool {
        matches!(self, Self::Offline | Self::StorageFailed)
    }

    /// Returns what a person can do about it, as data that a front can make a button of.
    #[must_use]
    pub fn fix(self) -> Fix {
        match self {
            Self::CutOff => Fix::RaiseOutputLimit,
            Self::Declined
            | Self::ContextFilled
            | Self::FieldsInvalid
            | Self::PromptTooLong
            | Self::ContentFiltered
            | Self::InvalidRequest => Fix::ChangeModel,
            Self::DocumentNotRead | Self::PdfNotTaken => Fix::SendText,
            Self::BatchesNotOffered => Fix::ChangeDelivery,
            Self::UnknownStopReason
            | Self::EmptyAnswer
            | Self::RateLimited
            | Self::RampLimited
            | Self::Overloaded
            | Self::ServerError
            | Self::TimedOut
            | Self::ConnectionFailed
            | Self::StreamCut
            | Self::PdfNotProcessed
            | Self::UnexpectedStatus
            | Self::Interrupted
            | Self::BatchExpired
            | Self::BatchLost => Fix::RunAgain,
            Self::FileMissing | Self::FileUnreadable => Fix::PutFileBack,
            Self::FileChanged
            | Self::FileEmpty
            | Self::NotAPdf
            | Self::PdfDamaged
            | Self::PdfTruncated
            | Self::PdfCipherUnknown
            | Self::PdfHostile
            | Self::FilesNotTaken
            | Self::TooLarge
            | Self::TooManyPages => Fix::ReplaceFile,
            Self::PdfEncrypted => Fix::GivePassword,
            Self::PdfWithoutText => Fix::UseClaude,
            Self::Offline => Fix::CheckConnection,
            Self::StorageFailed => Fix::FreeSpace,
            Self::KeyMissing => Fix::AddKey,
            Self::KeyRefused | Self::PermissionDenied => Fix::TestKey,
            Self::ModelNotFound | Self::ModelRetired => Fix::ChooseModel,
            Self::BillingProblem
            | Self::CreditExhausted
            | Self::UsageLimitReached
            | Self::SpendLimitReached
            | Self::OrganizationOnHold => Fix::OpenConsole,
        }
    }

    /// Returns what a person can do about it, in one sentence.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::CutOff => "Raise the output limit and run it again; what came so far is kept.",
            Self::Declined => "Read what came, or run it again with another model or template.",
            Self::ContextFilled => {
                "Read what came, or run it again with a model that has a larger window."
            }
            Self::UnknownStopReason | Self::EmptyAnswer => "Read what came, then run it again.",
            Self::FieldsInvalid => {
                "Read what came, then run it again with another model, or with clearer fields."
            }
            Self::DocumentNotRead => {
                "The endpoint seems to drop PDFs: the text is not to be trusted. Have the text of PDFs sent in place \
                 of their pages, or use another endpoint; then run it again."
            }
            Self::RateLimited | Self::RampLimited | Self::Overloaded | Self::ServerError => {
                "Run it again later; nothing has to be changed."
            }
            Self::TimedOut | Self::ConnectionFailed | Self::StreamCut => {
                "Check the connection, then run it again."
            }
            Self::PdfNotProcessed => {
                "Run it again; if it fails once more, print the PDF to a new PDF."
            }
            Self::UnexpectedStatus => "Run it again; if it stays, read the message of the attempt.",
            Self::Interrupted => "Run it again. The call that was cut off may still be billed.",
            Self::BatchExpired => "Run it again; or have each job delivered by a call of its own.",
            Self::BatchLost => "Run it again. The request may have been answered and billed.",
            Self::FileMissing => "Put the file back where it was, then run it again.",
            Self::FileUnreadable => "Make the file readable for your user, then run it again.",
            Self::FileChanged => "Add the file once more to summarize its new version.",
            Self::FileEmpty => "Get the file again: it has no content.",
            Self::NotAPdf => "Save or export the document as a PDF and add that.",
            Self::PdfDamaged => "Open it in a PDF reader, print it to a new PDF and add that.",
            Self::PdfTruncated => "Download or copy the file again: its end is missing.",
            Self::PdfEncrypted => {
                "Give its password. It is used on this machine only, and forgotten when Gistmill is closed."
            }
            Self::PdfCipherUnknown => {
                "Open it in a PDF reader, print it to a new PDF and add that."
            }
            Self::PdfHostile => {
                "Don't trust this file. If you know it, print it to a new PDF and add that."
            }
            Self::PdfWithoutText => {
                "It seems to be scanned. Send it to Claude as a PDF, whose pages are read as images."
            }
            Self::PdfNotTaken => {
                "Have the text of PDFs sent in place of their pages, or use an endpoint that reads PDFs; then run \
                 it again."
            }
            Self::FilesNotTaken | Self::TooLarge => {
                "Gistmill divides long PDFs by itself, but a single page must fit in a call. Reduce its images \
                 and add it again."
            }
            Self::TooManyPages => {
                "Gistmill divides long PDFs by itself, but could not divide this one. Print it to a new PDF and \
                 add that."
            }
            Self::PromptTooLong => {
                "Use a model with a larger window or lower the output limit; or add a book volume by volume."
            }
            Self::ContentFiltered => "Run it again with another template or model.",
            Self::InvalidRequest => {
                "Read the message; change the template or model and run it again."
            }
            Self::Offline => {
                "Check the network and the address in Settings. Gistmill tries again by itself."
            }
            Self::StorageFailed => {
                "Free disk space or make the folder writable. Gistmill tries again by itself."
            }
            Self::KeyMissing => "Add an Anthropic API key.",
            Self::KeyRefused => "Test the key in Settings, or paste a new one.",
            Self::BillingProblem => "Check the payment details in the Anthropic Console.",
            Self::PermissionDenied => "Use a key that may call this model.",
            Self::ModelNotFound => "Choose another model in Settings.",
            Self::ModelRetired => {
                "Choose a current model in Settings; waiting jobs are given it, too."
            }
            Self::BatchesNotOffered => {
                "Have each job asked by a call of its own, or use an address with a batch API."
            }
            Self::CreditExhausted => "Buy credits in the Anthropic Console, then resume.",
            Self::UsageLimitReached | Self::SpendLimitReached => {
                "Raise the limit in the Anthropic Console, or wait until it is reset."
            }
            Self::OrganizationOnHold => "Contact Anthropic's support about the organization.",
        }
    }
}
