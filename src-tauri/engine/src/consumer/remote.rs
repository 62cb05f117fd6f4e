//! Jobs of bulk that go by the provider's batch API: handed over many at a time, looked after until their
//! results are there, and settled one by one.
//!
//! Nothing is ever sent again before it is certain that it did not arrive.

mod asked;
mod collect;
mod handing;
mod lost;
mod refusal;
mod resolve;
mod watching;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::error::EngineError;
use crate::model::Timestamp;
use crate::provider::claude::ClaudeProvider;
use crate::store::RemoteBatch;

pub(super) use handing::run as hand_over;
pub(super) use watching::run as watch;

/// Hands out Claude with the key and the address of the moment.
pub(crate) type Claude = Arc<dyn Fn() -> Result<ClaudeProvider, EngineError> + Send + Sync>;

/// How long results can be fetched, from the creation on.
const RESULTS_LAST: Duration = Duration::from_secs(29 * 24 * 3_600);
/// How long the leases of jobs hold whose outcome is dealt with.
const LEASE: Duration = Duration::from_secs(60);

/// What is said while nobody knows whether what was sent arrived.
const BEING_FOUND_OUT: &str = "Whether what was sent arrived is being found out.";

/// What handing over and looking after share.
pub(crate) struct RemoteWork {
    pub(crate) claude: Claude,
    /// How long after the creation a remote batch is looked at first, and how often at the beginning.
    pub(crate) first_look: Duration,
    /// How long after the sending a remote batch that is on no list may still appear there.
    pub(crate) settle_time: Duration,
    handing: Notify,
    watching: Notify,
    cut_off: CancellationToken,
}

impl RemoteWork {
    pub(crate) fn new(claude: Claude, first_look: Duration, settle_time: Duration) -> Self {
        Self {
            claude,
            first_look,
            settle_time,
            handing: Notify::new(),
            watching: Notify::new(),
            cut_off: CancellationToken::new(),
        }
    }

    /// Wakes those for whom something may be ready.
    pub(super) fn look_again(&self, hands_over: bool, has_remotes: bool) {
        if hands_over {
            self.handing.notify_one();
        }
        if has_remotes {
            self.watching.notify_one();
        }
    }

    /// Ends what is being sent.
    pub(super) fn cut_off(&self) {
        self.cut_off.cancel();
    }

    /// Returns when a remote batch is looked at next: often at first, every few minutes when it takes longer.
    fn next_look(&self, remote: &RemoteBatch, now: Timestamp) -> Timestamp {
        const MINUTE: u64 = 60;
        let age = now.since(remote.sent_at);
        let times = match age.as_secs() / MINUTE {
            0..10 => 1,
            10..60 => 2,
            _ => 10,
        };
        now.after(self.first_look * times)
    }
}
