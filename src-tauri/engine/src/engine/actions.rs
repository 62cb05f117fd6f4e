//! What a person does to jobs, one or many, and what it would do before it is done.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{Engine, missing};
use crate::error::EngineError;
use crate::model::{
    Affected, BatchId, BulkAction, Cause, DeadLetterGroup, JobId, JobStatus, LeftOut,
    LeftOutReason, Place, Provider, RetryChanges, RetryPlan, Selection, TemplateKind,
};
use crate::pricing::Prices;
use crate::store::{Changes, Purge, Redrivable};

/// Jobs that are removed in one transaction.
const REMOVED_AT_ONCE: u32 = 200;

impl Engine {
    /// Says what putting jobs back in the queue would do: how many would run, how many not and why, and
    /// what one attempt at each would cost.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] for an unknown template, or when the database can't be read.
    pub async fn plan_retry(
        &self,
        selection: Selection,
        changes: RetryChanges,
    ) -> Result<RetryPlan, EngineError> {
        let changes = self.checked_changes(changes).await?;
        let (_, plan) = self.sorted_out(selection, &changes).await?;
        Ok(plan)
    }

    /// Puts the jobs back in the queue that [`Engine::plan_retry`] says would run, in their order.
    ///
    /// Each begins a new run with no attempts used; its history stays.
    ///
    /// # Errors
    /// As [`Engine::plan_retry`], or when the database can't be written.
    pub async fn retry(
        &self,
        selection: Selection,
        changes: RetryChanges,
    ) -> Result<Affected, EngineError> {
        let changes = self.checked_changes(changes).await?;
        let (jobs, plan) = self.sorted_out(selection, &changes).await?;
        let seqs = jobs.iter().map(|job| job.seq).collect();
        let now = self.0.config.clock.now();
        let changed = self.0.store.redrive(seqs, changes, now).await?;
        let left_out: u64 = plan.would_not.iter().map(|left| left.jobs).sum();
        Ok(Affected {
            jobs: self.jobs_changed(changed),
            unchanged: left_out,
        })
    }

    /// Counts what an action would change.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn plan_action(
        &self,
        selection: Selection,
        action: BulkAction,
    ) -> Result<Affected, EngineError> {
        let now = self.0.config.clock.now();
        self.0.store.plan_action(selection, action, now).await
    }

    /// Does an action to all selected jobs that it fits.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn apply_action(
        &self,
        selection: Selection,
        action: BulkAction,
    ) -> Result<Affected, EngineError> {
        if action == BulkAction::Purge {
            return self.purge(selection).await;
        }
        let now = self.0.config.clock.now();
        let (affected, changed) = self.0.store.apply_action(selection, action, now).await?;
        if action == BulkAction::Cancel
            && let Some(consumer) = self.0.consumer.lock().await.as_ref()
        {
            consumer.cancel(&changed);
        }
        self.jobs_changed(changed);
        Ok(affected)
    }

    async fn purge(&self, selection: Selection) -> Result<Affected, EngineError> {
        let action = BulkAction::Purge;
        let planned = self.plan_action(selection.clone(), action).await?;
        // Jobs that are added meanwhile were not counted, and stay.
        let newest = self.0.store.newest_seq().await?;
        let mut removed = 0;
        // Ends with the selected jobs: each round removes some.
        loop {
            let part = self
                .0
                .store
                .purge_some(Purge::Selected(selection.clone()), newest, REMOVED_AT_ONCE)
                .await?;
            if part.jobs == 0 {
                break;
            }
            removed += part.jobs;
            self.0.library.remove(part.result_keys).await;
        }
        self.everything_changed();
        Ok(Affected {
            jobs: removed,
            unchanged: planned.unchanged,
        })
    }

    /// Moves pending jobs within their lane, in one step; among them they keep their order. Says how many moved: those
    /// that wait, and beside another job those of its lane.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn move_jobs(&self, job_ids: Vec<JobId>, place: Place) -> Result<u64, EngineError> {
        let moved = self.0.store.move_jobs(job_ids, place).await?;
        if moved > 0 {
            self.everything_changed();
        }
        Ok(moved)
    }

    /// Pauses or resumes a batch; jobs that run go on.
    ///
    /// # Errors
    /// [`EngineError::NotFound`].
    pub async fn pause_batch(&self, batch_id: BatchId, paused: bool) -> Result<(), EngineError> {
        if !self.0.store.pause_batch(batch_id.clone(), paused).await? {
            return Err(EngineError::NotFound {
                what: "batch",
                name: batch_id.to_string(),
            });
        }
        self.everything_changed();
        Ok(())
    }

    /// Caps what a batch may cost, in micro-dollars; `None` for no cap.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], or [`EngineError::BadInput`] for a cap below zero.
    pub async fn set_batch_cap(
        &self,
        batch_id: BatchId,
        cap_micros: Option<i64>,
    ) -> Result<(), EngineError> {
        if cap_micros.is_some_and(|cap| cap < 0) {
            return Err(EngineError::bad_input(
                "A cap can’t be less than nothing.",
                "Enter an amount such as 5.00, or leave it empty for no cap.",
            ));
        }
        if !self.0.store.cap_batch(batch_id.clone(), cap_micros).await? {
            return Err(EngineError::NotFound {
                what: "batch",
                name: batch_id.to_string(),
            });
        }
        self.everything_changed();
        Ok(())
    }

    /// Returns failed and dead-lettered jobs by cause, the most frequent first.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn dead_letters(&self) -> Result<Vec<DeadLetterGroup>, EngineError> {
        self.0.store.dead_letters().await
    }

    /// Returns the jobs that would run again, and what that would come to.
    pub(super) async fn sorted_out(
        &self,
        selection: Selection,
        changes: &Changes,
    ) -> Result<(Vec<Redrivable>, RetryPlan), EngineError> {
        let jobs = self.0.store.redrivable(selection, changes.clone()).await?;
        let prices = self.0.store.prices().await?;
        let paths = jobs
            .iter()
            .filter(|job| {
                job.status.is_final() && (changes.completed || job.status != JobStatus::Completed)
            })
            .filter_map(|job| job.source_path.clone())
            .collect();
        let missing = missing::of(paths).await;
        let mut sums = Sums::default();
        let mut runnable = Vec::new();
        let mut models = BTreeSet::new();
        let mut left_out: BTreeMap<LeftOutReason, u64> = BTreeMap::new();
        for job in jobs {
            match obstacle(&job, changes, &prices, &missing, self.0.passwords.has_any()) {
                Some(reason) => *left_out.entry(reason).or_default() += 1,
                None => {
                    if let (Provider::Claude, model) = asked(&job, changes) {
                        models.insert(model.to_owned());
                    }
                    sums.add(&job, changes, &prices);
                    runnable.push(job);
                }
            }
        }
        let plan = RetryPlan {
            would_run: runnable.len() as u64,
            would_not: left_out
                .into_iter()
                .map(|(reason, jobs)| LeftOut { reason, jobs })
                .collect(),
            expected_micros: sums.expected,
            at_worst_micros: sums.at_worst,
            model_notices: models
                .iter()
                .filter_map(|model| self.model_notice(model))
                .collect(),
        };
        Ok((runnable, plan))
    }

    pub(super) async fn checked_changes(
        &self,
        changes: RetryChanges,
    ) -> Result<Changes, EngineError> {
        let template = match &changes.template {
            Some(template) => Some(self.template(template).await?),
            None => None,
        };
        if let Some(max_tokens) = changes.max_tokens {
            super::checks::checked_max_tokens(max_tokens)?;
        }
        let settings = super::endpoint::addressed(&self.0.config, self.0.store.settings().await?);
        let asked_model = changes.model.as_deref().map(str::trim);
        let asked_model = asked_model.filter(|model| !model.is_empty());
        let profile = self.model_profile(asked_model.unwrap_or(&settings.model));
        if changes.provider != Some(Provider::Offline) {
            super::plan::can_be_cited(&settings, &profile, template.as_ref())?;
        }
        // An address that reads no PDFs is sent text, whatever was sent before.
        let sends = (template.is_some() || settings.text_only)
            .then(|| super::plan::sends(&settings, &profile, template.as_ref()));
        let delivery = self
            .delivery_of_changes(changes.queue, changes.delivery)
            .await?;
        let model = match (changes.provider, changes.model) {
            (Some(Provider::Offline), _) => Some(crate::provider::offline::METHOD.to_owned()),
            (_, Some(model)) if !model.trim().is_empty() => Some(model.trim().to_owned()),
            (Some(Provider::Claude), _) => Some(settings.model),
            _ => None,
        };
        Ok(Changes {
            provider: changes.provider,
            model,
            template,
            sends,
            queue: changes.queue,
            delivery,
            max_tokens: changes.max_tokens,
            completed: changes.completed,
        })
    }
}

/// Returns why a job would not run again, or would fail at once.
fn obstacle(
    job: &Redrivable,
    changes: &Changes,
    prices: &Prices,
    missing: &HashSet<String>,
    has_passwords: bool,
) -> Option<LeftOutReason> {
    if job.status == JobStatus::Completed && !changes.completed {
        return Some(LeftOutReason::Completed);
    }
    if !job.status.is_final() || job.is_out {
        return Some(LeftOutReason::Live);
    }
    if job
        .source_path
        .as_ref()
        .is_some_and(|path| missing.contains(path))
    {
        return Some(LeftOutReason::FileMissing);
    }
    // Whoever gave a password may have given the one that opens it: its attempt tries them.
    let finding = job
        .finding
        .filter(|cause| *cause != Cause::PdfEncrypted || !has_passwords);
    if let Some(cause) = finding {
        return Some(LeftOutReason::Finding { cause });
    }
    refusal(job, changes, prices)
}

/// Returns what of a question can't be answered, whatever becomes of its file.
fn refusal(job: &Redrivable, changes: &Changes, prices: &Prices) -> Option<LeftOutReason> {
    let (provider, model) = asked(job, changes);
    let has_fields = match &changes.template {
        Some(template) if job.is_pdf => template.kind == TemplateKind::Fields,
        _ => job.has_fields,
    };
    if provider == Provider::Offline && has_fields {
        return Some(LeftOutReason::FieldsNeedClaude);
    }
    (provider == Provider::Claude && prices.of(model).is_none()).then(|| {
        LeftOutReason::PriceUnknown {
            model: model.to_owned(),
        }
    })
}

/// Returns why a job that waits can't be asked with changes.
pub(super) fn unaskable(
    job: &Redrivable,
    changes: &Changes,
    prices: &Prices,
) -> Option<EngineError> {
    let (provider, model) = asked(job, changes);
    match refusal(job, changes, prices)? {
        LeftOutReason::FieldsNeedClaude => Some(EngineError::bad_input(
            "The offline summary picks sentences; it can’t fill in the fields of a template.",
            "Use Claude, or a template for prose.",
        )),
        _ if provider == Provider::Claude => Some(EngineError::bad_input(
            format!("Nobody knows what {model} costs, so no cap could hold."),
            format!("Set the price of {model} in the settings (Prices), or mark it as free there."),
        )),
        _ => None,
    }
}

/// Returns what a job would ask for.
fn asked<'job>(job: &'job Redrivable, changes: &'job Changes) -> (Provider, &'job str) {
    (
        changes.provider.unwrap_or(job.provider),
        changes.model.as_deref().unwrap_or(&job.model),
    )
}

/// Sums of money; `None` once a part is not known.
struct Sums {
    expected: Option<i64>,
    at_worst: Option<i64>,
}

impl Default for Sums {
    fn default() -> Self {
        Self {
            expected: Some(0),
            at_worst: Some(0),
        }
    }
}

impl Sums {
    fn add(&mut self, job: &Redrivable, changes: &Changes, prices: &Prices) {
        let (provider, model) = asked(job, changes);
        if provider == Provider::Offline {
            return;
        }
        let delivery = changes.delivery_of(job);
        let plus = |sum: Option<i64>, part: Option<i64>| sum?.checked_add(part?);
        for call in &job.calls {
            self.expected = plus(self.expected, prices.expected_by(delivery, model, call));
            self.at_worst = plus(self.at_worst, prices.at_worst_by(delivery, model, call));
        }
    }
}
