//! Why jobs wait, once nothing more is claimed.

use std::collections::BTreeSet;

use super::world::{Checked, World, check, said};
use crate::model::{ConsumerPlace, JobFilter, JobStatus, QueueName, WaitingReason};
use crate::store::lists::{self, ListContext};
use crate::store::outlook::outlook;

impl World<'_> {
    /// Claims all there is. Then something holds every lane in which jobs wait, and they say so.
    pub(super) fn drain(&mut self) -> Checked {
        for _ in 0..200 {
            let claimed = self.claim_beside(Vec::new(), u32::MAX, 100)? + self.gather()?;
            if claimed > 0 {
                continue;
            }
            // What the claim set aside is known now: another one finds nothing either.
            return self.check_reasons();
        }
        Err("claiming does not come to an end".to_owned())
    }

    fn has_pending(&self, queue: QueueName) -> bool {
        self.jobs
            .values()
            .any(|job| job.status == JobStatus::Pending && job.queue == queue)
    }

    fn check_reasons(&self) -> Checked {
        let after = outlook(self.connection, &self.local()).map_err(said)?;
        for lane in &after.lanes {
            check!(
                lane.obstacle.is_some() == self.has_pending(lane.queue),
                "{lane:?}, and nothing is claimed"
            );
            let timed = matches!(
                lane.obstacle,
                Some(
                    WaitingReason::TokenBudget { .. }
                        | WaitingReason::RequestsBudget { .. }
                        | WaitingReason::Delayed { .. }
                        | WaitingReason::Retrying { .. }
                        | WaitingReason::BehindHigh
                        | WaitingReason::LargerThanBudget
                        | WaitingReason::FillingBatch { .. }
                )
            );
            check!(
                !timed || after.wake_at.is_some_and(|wake_at| wake_at > self.now),
                "{lane:?} passes, and nobody wakes for it"
            );
        }
        let context = ListContext {
            local: self.local(),
            consumer: ConsumerPlace::Here,
        };
        let page = lists::page(self.connection, &JobFilter::default(), None, 500, &context)
            .map_err(said)?;
        let listed: BTreeSet<&str> = page.jobs.iter().map(|job| job.job_id.as_str()).collect();
        check!(
            listed.len() == self.jobs.len() && page.total == self.jobs.len() as u64,
            "{} jobs are listed of {}",
            page.total,
            self.jobs.len()
        );
        for job in &page.jobs {
            check!(
                job.waiting.is_some() == (job.status == JobStatus::Pending),
                "{job:?} says why it waits"
            );
            let done = self.jobs[job.job_id.as_str()].parts_done();
            check!(
                job.parts.map_or(0, |parts| parts.done as usize) == done,
                "{done} parts are answered of {job:?}"
            );
            check!(
                job.waiting != Some(WaitingReason::Ready),
                "{} is said to be ready, and was not claimed",
                job.job_id
            );
        }
        Ok(())
    }
}
