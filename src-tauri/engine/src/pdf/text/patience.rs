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
        let passed = self.begun.elapsed();
        #[cfg(unix)]
        let worked = worked().saturating_sub(self.worked);
        #[cfg(not(unix))]
        let worked = passed;
        is_over(self.budget, worked, passed)
    }
}

fn is_over(budget: Duration, worked: Duration, passed: Duration) -> bool {
    worked > budget || passed > budget * MOST_TIMES
}

/// What the processor has worked for this thread.
#[cfg(unix)]
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_for_the_processor_counts_for_a_third_of_work() {
        let seconds = Duration::from_secs;
        for (worked, passed, expected) in [(4, 14, false), (6, 6, true), (1, 16, true)] {
            assert_eq!(
                is_over(seconds(5), seconds(worked), seconds(passed)),
                expected,
                "worked {worked} s of 5 while {passed} s passed"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn work_of_this_thread_is_measured() {
        let before = worked();
        let mut sum = 0_u64;
        // A clock of the processor may tick a hundred times a second only.
        for number in 0..100_000_000_u64 {
            sum = std::hint::black_box(sum.wrapping_add(number));
            if number % 1_000 == 0 && worked() > before {
                return;
            }
        }
        panic!("work took no time: {sum}");
    }
}
