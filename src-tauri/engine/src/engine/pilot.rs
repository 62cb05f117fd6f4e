//! Pilots: a few jobs of a batch run first; by what they came to a person lets the others go on, asked as
//! before or otherwise, or calls them off.

use super::Engine;
use super::actions::unaskable;
use crate::error::EngineError;
use crate::forecast::spread;
use crate::model::{Affected, BatchId, OutputForecast, PilotReport, RetryChanges, Selection};
use crate::pricing::{Estimate, OutputHistory};
use crate::store::{Changes, PilotCall, PilotRow};

/// Returns the jobs of a pilot, of jobs with their sizes: spread over all sizes. None where all would be of it.
pub(super) fn chosen<J>(mut jobs: Vec<(J, u64)>, wanted: u32) -> Vec<J> {
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX);
    if wanted >= jobs.len() {
        return Vec::new();
    }
    // Of the same size, the first ones that were added.
    jobs.sort_by_key(|(_, size)| *size);
    let places = spread(jobs.len(), wanted);
    jobs.into_iter()
        .enumerate()
        .filter(|(place, _)| places.contains(place))
        .map(|(_, (job, _))| job)
        .collect()
}

impl Engine {
    /// Returns what the pilot of a batch came to so far, and what the jobs that wait for it will come to, measured
    /// by it, where they go on with `changes`. With another model or template, the pilot measures nothing of them.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] for a batch that is not known, [`EngineError::BadInput`] for one without a pilot
    /// and for changes that can't be used.
    pub async fn pilot(
        &self,
        batch_id: BatchId,
        changes: RetryChanges,
    ) -> Result<PilotReport, EngineError> {
        let changes = self.checked_changes(changes).await?;
        let batch = self
            .0
            .store
            .batch(batch_id.clone())
            .await?
            .ok_or_else(|| unknown(&batch_id))?;
        let pilot = self
            .0
            .store
            .pilot(batch_id.clone())
            .await?
            .ok_or_else(without_pilot)?;
        let selection = Selection::Jobs {
            job_ids: pilot.rest.clone(),
        };
        let jobs = self.0.store.redrivable(selection, changes.clone()).await?;
        let mut rest = self.to_forecast(jobs, &changes).await?;
        rest.batch = batch.money;
        if is_measured(&changes) {
            if let Some(percent) = counted_percent(&pilot) {
                for call in rest.jobs.iter_mut().flat_map(|job| &mut job.calls) {
                    *call = call.measured(percent);
                }
            }
            if let Some(output) = measured_output(&pilot, rest.output.worst) {
                rest.output = output;
            }
            rest.mean_ms = mean_ms(&pilot);
        }
        let sum =
            |of: fn(&PilotCall) -> u64| pilot.calls.iter().map(of).fold(0, u64::saturating_add);
        Ok(PilotReport {
            done: pilot.done,
            needs_review: pilot.needs_review,
            failed: pilot.failed,
            expected_input_tokens: sum(|call| call.estimated_input),
            input_tokens: sum(|call| call.input_tokens),
            output_tokens: sum(|call| call.output_tokens),
            cost_micros: pilot.cost_micros,
            rest: self.forecast(rest).await?,
            batch,
        })
    }

    /// Lets the jobs go on that wait for the pilot of a batch, asked as `changes` say; also before it has ended.
    ///
    /// # Errors
    /// As [`Engine::pilot`].
    pub async fn release_pilot(
        &self,
        batch_id: BatchId,
        changes: RetryChanges,
    ) -> Result<Affected, EngineError> {
        let changes = self.checked_changes(changes).await?;
        self.check_behind_pilot(&batch_id, &changes).await?;
        let now = self.0.config.clock.now();
        let released = self
            .0
            .store
            .release_pilot(batch_id, changes, now)
            .await?
            .ok_or_else(without_pilot)?;
        let jobs = self.jobs_changed(released);
        self.everything_changed();
        Ok(Affected { jobs, unchanged: 0 })
    }

    /// Calls off the jobs that wait for the pilot of a batch.
    ///
    /// # Errors
    /// As [`Engine::pilot`].
    pub async fn cancel_behind_pilot(&self, batch_id: BatchId) -> Result<Affected, EngineError> {
        let now = self.0.config.clock.now();
        let cancelled = self.0.store.cancel_behind_pilot(batch_id.clone(), now);
        let Some((affected, changed)) = cancelled.await? else {
            let known = self.0.store.batch(batch_id.clone()).await?.is_some();
            return Err(if known {
                without_pilot()
            } else {
                unknown(&batch_id)
            });
        };
        self.jobs_changed(changed);
        self.everything_changed();
        Ok(affected)
    }

    /// Makes sure that the jobs behind a pilot can be asked as changes say.
    async fn check_behind_pilot(
        &self,
        batch_id: &BatchId,
        changes: &Changes,
    ) -> Result<(), EngineError> {
        if self.0.store.batch(batch_id.clone()).await?.is_none() {
            return Err(unknown(batch_id));
        }
        let Some(pilot) = self.0.store.pilot(batch_id.clone()).await? else {
            return Err(without_pilot());
        };
        let selection = Selection::Jobs {
            job_ids: pilot.rest,
        };
        let jobs = self.0.store.redrivable(selection, changes.clone()).await?;
        let prices = self.0.store.prices().await?;
        match jobs.iter().find_map(|job| unaskable(job, changes, &prices)) {
            Some(problem) => Err(problem),
            None => Ok(()),
        }
    }
}

/// Says whether what the pilot came to tells something of jobs that go on with changes.
fn is_measured(changes: &Changes) -> bool {
    Changes {
        queue: None,
        delivery: None,
        max_tokens: None,
        ..changes.clone()
    } == Changes::default()
}

/// Returns how many percent of what was estimated the input of the pilot had.
fn counted_percent(pilot: &PilotRow) -> Option<u32> {
    let compared = pilot.calls.iter().filter(|call| call.estimated_input > 0);
    let (estimated, counted) = compared.fold((0_u128, 0_u128), |(estimated, counted), call| {
        (
            estimated + u128::from(call.estimated_input),
            counted + u128::from(call.input_tokens),
        )
    });
    (estimated > 0)
        .then(|| u32::try_from((counted * 100 + estimated / 2) / estimated).unwrap_or(u32::MAX))
}

/// Returns how long the answers of the pilot were; few as they are, they are of these very documents.
fn measured_output(pilot: &PilotRow, worst: u64) -> Option<OutputForecast> {
    let tokens = pilot.calls.iter().map(|call| call.output_tokens).collect();
    let history = OutputHistory::of(tokens)?;
    Some(OutputForecast {
        low: history.low.min(worst),
        expected: history.middle.min(worst),
        high: history.high.min(worst),
        worst,
        answers: history.answers,
    })
}

fn mean_ms(pilot: &PilotRow) -> Option<u64> {
    let ran: u128 = pilot.calls.iter().map(|call| u128::from(call.ran_ms)).sum();
    let mean = ran.checked_div(pilot.calls.len() as u128)?;
    u64::try_from(mean).ok()
}

/// Returns the size that a job is chosen by.
pub(super) fn size_of(calls: &[Estimate]) -> u64 {
    calls
        .iter()
        .map(|call| call.expected_input)
        .fold(0, u64::saturating_add)
}

/// Makes sure that a pilot shows something.
pub(super) fn checked_pilot(pilot: Option<u32>) -> Result<Option<u32>, EngineError> {
    if pilot == Some(0) {
        return Err(EngineError::bad_input(
            "A pilot of no jobs would show nothing.",
            "Enter at least 1, or leave it out to run all jobs at once.",
        ));
    }
    Ok(pilot)
}

fn without_pilot() -> EngineError {
    EngineError::bad_input(
        "This batch has no pilot: all of its jobs run as they come.",
        "Add files with a pilot to see what a few of them come to first.",
    )
}

fn unknown(batch_id: &BatchId) -> EngineError {
    EngineError::NotFound {
        what: "batch",
        name: batch_id.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::JobId;

    #[test]
    fn a_pilot_has_small_middle_and_large_files() {
        let sizes = [50, 10, 90, 20, 70, 30, 80, 40, 60];
        let jobs: Vec<(JobId, u64)> = sizes
            .iter()
            .map(|size| (JobId(format!("{size}")), *size))
            .collect();
        let pilot = chosen(jobs.clone(), 3);
        let names: Vec<&str> = pilot.iter().map(JobId::as_str).collect();
        assert_eq!(names, ["20", "50", "80"]);
        assert_eq!(
            chosen(jobs.clone(), 9),
            [],
            "where all would be of it, nobody waits"
        );
        assert_eq!(chosen(jobs, 100), []);
    }
}
