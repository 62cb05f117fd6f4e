//! How many jobs, in their order, fit under caps.

use crate::model::{CapFit, CapScope, Money};

/// What a job costs in micro-dollars: as expected, and at worst.
pub(crate) type Cost = (i64, i64);

/// A cap with what counts against it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cap {
    pub(crate) scope: CapScope,
    pub(crate) cap_micros: i64,
    pub(crate) committed_micros: i64,
}

impl Cap {
    /// Returns the cap of what was spent, where it has one.
    pub(crate) fn of(scope: CapScope, money: &Money) -> Option<Self> {
        Some(Self {
            scope,
            cap_micros: money.cap_micros?,
            committed_micros: money.committed_micros(),
        })
    }
}

/// Returns how many jobs would start under a cap: a job starts when the most that it can cost still fits.
pub(crate) fn fits(cap: &Cap, jobs: &[Cost]) -> CapFit {
    let started = |spent_of: fn(&Cost) -> i64| -> u64 {
        let mut spent = cap.committed_micros;
        let mut started = 0;
        for job in jobs {
            // What costs nothing is held by no cap.
            if job.1 > 0 && spent.saturating_add(job.1) > cap.cap_micros {
                break;
            }
            spent = spent.saturating_add(spent_of(job));
            started += 1;
        }
        started
    };
    CapFit {
        scope: cap.scope,
        cap_micros: cap.cap_micros,
        committed_micros: cap.committed_micros,
        jobs_expected: started(|job| job.0),
        jobs_at_worst: started(|job| job.1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(cap_micros: i64, committed_micros: i64, jobs: &[Cost]) -> (u64, u64) {
        let cap = Cap {
            scope: CapScope::Day,
            cap_micros,
            committed_micros,
        };
        let fit = fits(&cap, jobs);
        (fit.jobs_expected, fit.jobs_at_worst)
    }

    #[test]
    fn a_job_starts_when_its_worst_case_still_fits() {
        let jobs = [(10, 50); 10];
        assert_eq!(fit(1_000, 0, &jobs), (10, 10));
        assert_eq!(
            fit(100, 0, &jobs),
            (6, 2),
            "after five at ten each, the worst case of a sixth just fits"
        );
        assert_eq!(fit(100, 60, &jobs), (0, 0), "what is spent counts");
    }

    #[test]
    fn the_first_that_does_not_fit_holds_those_behind_it() {
        assert_eq!(fit(100, 0, &[(10, 50), (90, 200), (1, 1)]), (1, 1));
        assert_eq!(
            fit(0, 0, &[(0, 0), (0, 0)]),
            (2, 2),
            "free calls need no cap"
        );
    }
}
