//! Places between two durable steps of an attempt, where a test may end the program.

use std::sync::Arc;

/// A moment at which an attempt has done one durable step and not the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FaultPoint {
    /// Claimed and promised; the provider was not asked yet.
    Reserved,
    /// A large PDF lies at the provider and is recorded; it was not asked about yet.
    Lent,
    /// Answered; the answer is not kept yet.
    Answered,
    /// The answer is kept; the result is not stored yet.
    Kept,
    /// The answer of a part is kept; its job is back in line, and not claimed again yet.
    PartKept,
    /// The result is stored; the job is not completed yet.
    Stored,
    /// The job is completed; nobody was told yet, nothing uploaded.
    Completed,
    /// The result lies in the bucket; that is not recorded yet.
    Uploaded,
    /// It is written down what is handed to the batch API; nothing was sent yet.
    BatchSealed,
    /// The batch API took it; its id is not recorded yet.
    BatchCreated,
    /// The outcome of a request was read; nothing of it is kept yet.
    BatchRead,
}

impl FaultPoint {
    /// Every point, in the order of an attempt.
    pub const ALL: [Self; 11] = [
        Self::Reserved,
        Self::Lent,
        Self::Answered,
        Self::Kept,
        Self::PartKept,
        Self::Stored,
        Self::Completed,
        Self::Uploaded,
        Self::BatchSealed,
        Self::BatchCreated,
        Self::BatchRead,
    ];

    /// Returns the point's name, as tests give it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reserved => "reserved",
            Self::Lent => "lent",
            Self::Answered => "answered",
            Self::Kept => "kept",
            Self::PartKept => "part-kept",
            Self::Stored => "stored",
            Self::Completed => "completed",
            Self::Uploaded => "uploaded",
            Self::BatchSealed => "batch-sealed",
            Self::BatchCreated => "batch-created",
            Self::BatchRead => "batch-read",
        }
    }
}

/// Called at every point; usually does nothing.
pub type FaultHook = Arc<dyn Fn(FaultPoint) + Send + Sync>;
