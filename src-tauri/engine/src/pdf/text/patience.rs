//! How long a file is read: by the time that the processor works on it, so that a busy machine reads as many
//! pages of a file as one that does nothing else.

use std::time::{Duration, Instant};

/// What passes by the clock may be so many times what the processor works; beyond it a person waits too long.
const MOST_TIMES: u32 = 3;

/// Work that has begun.
pub(super) struct Patience {
    budget: Duration,
    begun: Instant,
    #[cfg(unix)]
    worked: Duration,
}

impl Patience {
    /// Begins work that may take the processor this long.
    pub(super) fn of(budget: Duration) -> Self {
        Self {
            budget,
            begun: Instant::now(),
            #[cfg(unix)]
            worked: worked(),
        }
    }

    /// Says whether it has taken as long as it may.
    pub(super) fn is_over(&self) -> bool {
        #[cfg(unix)]
        {
            worked().saturating_sub(self.worked) > self.budget
                || self.begun.elapsed() > self.budget * MOST_TIMES
        }
        #[cfg(not(unix))]
        {
            self.begun.elapsed() > self.budget
        }
    }
}

/// What the processor has worked for this thread.
#[cfg(unix)]
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn work_counts_and_waiting_does_not() {
        let second = Patience::of(Duration::from_secs(1));
        assert!(!second.is_over(), "nothing was done yet");
        let nothing = Patience::of(Duration::ZERO);
        let mut sum = 0_u64;
        // A clock of the processor may tick a hundred times a second.
        for number in 0..100_000_000_u64 {
            sum = std::hint::black_box(sum.wrapping_add(number));
            if number % 1_000 == 0 && nothing.is_over() {
                return;
            }
        }
        panic!("work took no time: {sum}");
    }
}
