//! Files that are still being written, as by a copy or a download under way.

use std::fs::Metadata;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::clock::Clock;
use crate::model::Timestamp;

/// A file that was changed no longer ago than this may be in the middle of being written.
const RECENT: Duration = Duration::from_secs(2);
/// A file that stays the same for this long is taken to be whole.
const STILL: Duration = Duration::from_secs(1);
/// How often a file that goes on changing is looked at, `STILL` apart, before it is left out.
const MOST_LOOKS: u32 = 10;

/// How a file looks from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    bytes: u64,
    /// `None` where the file system does not tell.
    modified: Option<SystemTime>,
}

impl Look {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }

    /// Looks at a file; `None` when it is gone.
    pub(super) async fn at(path: PathBuf) -> Option<Self> {
        let metadata = tokio::fs::metadata(path).await.ok()?;
        Some(Self::of(&metadata))
    }

    /// Says whether the file was changed just now.
    pub(super) fn is_recent(self, now: Timestamp) -> bool {
        let modified = self
            .modified
            .and_then(|modified| modified.duration_since(UNIX_EPOCH).ok());
        modified.is_some_and(|modified| {
            let milliseconds = i64::try_from(modified.as_millis()).unwrap_or(i64::MAX);
            u128::from(now.0.abs_diff(milliseconds)) < RECENT.as_millis()
        })
    }
}

/// What came of waiting for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// It did not change.
    Unchanged,
    /// It changed, and then stayed like this; `None` for one that is gone.
    Changed(Option<Look>),
    /// It goes on changing.
    Not,
}

/// Waits until a file that looked like `first` stays the same, for ten seconds at most.
pub(super) async fn settled<Looking: Future<Output = Option<Look>> + Send>(
    mut look: impl FnMut() -> Looking + Send,
    first: Look,
    clock: &dyn Clock,
) -> Settled {
    let mut last = Some(first);
    for looks in 0..MOST_LOOKS {
        clock.sleep_until(clock.now().after(STILL)).await;
        let now = look().await;
        if now == last {
            return if looks == 0 {
                Settled::Unchanged
            } else {
                Settled::Changed(now)
            };
        }
        last = now;
    }
    Settled::Not
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    /// A clock on which every wait is over at once, and took its time.
    #[derive(Default)]
    struct Leaping(AtomicI64);

    #[async_trait::async_trait]
    impl Clock for Leaping {
        fn now(&self) -> Timestamp {
            Timestamp(self.0.load(Ordering::Relaxed))
        }

        async fn sleep_until(&self, moment: Timestamp) {
            self.0.store(moment.0, Ordering::Relaxed);
        }
    }

    fn look(bytes: u64) -> Look {
        Look {
            bytes,
            modified: None,
        }
    }

    async fn ends(sizes: &[u64]) -> (Settled, i64) {
        let clock = Leaping::default();
        let mut sizes = sizes.iter().copied();
        let next = || std::future::ready(sizes.next().map(look));
        let settled = settled(next, look(0), &clock).await;
        (settled, clock.now().0)
    }

    #[tokio::test]
    async fn a_file_that_stays_as_it_is_costs_one_more_look() {
        assert_eq!(ends(&[0]).await, (Settled::Unchanged, 1_000));
    }

    #[tokio::test]
    async fn a_file_is_waited_for_until_it_stops_growing() {
        let settled = Settled::Changed(Some(look(3)));
        assert_eq!(ends(&[1, 2, 3, 3]).await, (settled, 4_000));
    }

    #[tokio::test]
    async fn a_file_that_never_stops_growing_is_given_up_after_ten_seconds() {
        let sizes: Vec<u64> = (1..=10).collect();
        assert_eq!(ends(&sizes).await, (Settled::Not, 10_000));
    }

    #[test]
    fn only_what_was_changed_just_now_is_recent() {
        let at = |seconds| Look {
            bytes: 0,
            modified: Some(UNIX_EPOCH + Duration::from_secs(seconds)),
        };
        assert!(at(100).is_recent(Timestamp(101_900)));
        assert!(!at(100).is_recent(Timestamp(102_100)));
        assert!(
            !at(200).is_recent(Timestamp(102_100)),
            "a clock may be wrong"
        );
    }
}
