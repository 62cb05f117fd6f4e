//! What jobs will come to: tokens, money and time, said before anything is paid.

use std::collections::HashMap;
use std::sync::Arc;

use super::endpoint::addressed;
use super::plan::{PlannedFile, calls, question};
use super::{Engine, blocking};
use crate::calendar::LocalTime;
use crate::consumer::Consumer;
use crate::error::EngineError;
use crate::forecast::{
    Call, Cap, LanePlay, Play, Played, Range, batch_api, finish, fits, guessed_ms, output, price,
};
use crate::model::{
    CapScope, Cause, ConsumerPlace, Delivery, DeliveryForecast, DeliveryWay, EndpointKind,
    EstimateCheck, Finish, Forecast, InputForecast, KeySource, LimitedBy, Money, OutputForecast,
    Provider, QueueName, RetryChanges, ScanId, Selection, Submission, Timestamp, WaitingReason,
};
use crate::pace::Pace;
use crate::pricing::{Estimate, Prices};
use crate::store::{Conditions, LaneConditions, Redrivable};

/// The calls of a job, and who is asked.
pub(super) struct AskedJob {
    pub(super) model: Arc<str>,
    pub(super) calls: Vec<Estimate>,
}

/// What is forecast.
pub(super) struct ToForecast {
    pub(super) provider: Provider,
    /// Whether some of them are to go by the batch API.
    pub(super) by_batch: bool,
    pub(super) jobs: Vec<AskedJob>,
    /// The template that they are asked with; empty for prompts.
    pub(super) template: String,
    pub(super) output: OutputForecast,
    pub(super) estimates: Option<EstimateCheck>,
    /// How long calls ran, where that is known better than by earlier ones.
    pub(super) mean_ms: Option<u64>,
    /// What the batch may cost, and what it has.
    pub(super) batch: Money,
}

impl Engine {
    /// Says what a submission will come to: tokens, price and time, for each way that its jobs may go, and how
    /// many of them fit under the caps. Changes nothing and asks nobody.
    ///
    /// # Errors
    /// As [`Engine::plan_submission`].
    pub async fn forecast_submission(
        &self,
        scan_id: ScanId,
        submission: Submission,
    ) -> Result<Forecast, EngineError> {
        let template = self.template(&submission.template).await?;
        let scan = self
            .0
            .scans
            .look_at(scan_id)
            .ok_or_else(|| EngineError::NotFound {
                what: "scan",
                name: scan_id.0.to_string(),
            })?;
        let name = template.name();
        let asked = self.asked(&submission, Some(template)).await?;
        let (_, planned) = self.plan(&asked, &submission, &scan).await?;
        let files = &scan.report.files;
        let known = self.known(&asked, files).await?;
        let question = question(&asked);
        let model: Arc<str> = asked.model.as_str().into();
        let mut jobs = Vec::new();
        for (file, planned) in files.iter().zip(&planned) {
            if let PlannedFile::Ask(parts) = planned {
                let calls = calls(file, parts, &question, &known.of(file))
                    .into_iter()
                    .map(|call| call.following(known.estimates.as_ref()))
                    .collect();
                let model = Arc::clone(&model);
                jobs.push(AskedJob { model, calls });
            }
        }
        let settings = self.0.store.settings().await?;
        self.forecast(ToForecast {
            provider: asked.provider,
            by_batch: asked.delivery == Delivery::Batch,
            jobs,
            template: name,
            output: output(&asked.model, known.output(), asked.max_tokens),
            estimates: known.estimates,
            mean_ms: None,
            batch: Money {
                cap_micros: submission.cap_micros.or(settings.batch_cap_micros),
                ..Money::default()
            },
        })
        .await
    }

    /// Says what putting jobs back in the queue will come to, of those that [`Engine::plan_retry`] says would run.
    ///
    /// # Errors
    /// As [`Engine::plan_retry`].
    pub async fn forecast_retry(
        &self,
        selection: Selection,
        changes: RetryChanges,
    ) -> Result<Forecast, EngineError> {
        let changes = self.checked_changes(changes).await?;
        let (jobs, _) = self.sorted_out(selection, &changes).await?;
        let to_forecast = self.to_forecast(jobs, &changes).await?;
        self.forecast(to_forecast).await
    }

    /// Returns what is forecast where jobs run again with changes. Of several templates and limits it goes by
    /// those that most jobs have.
    pub(super) async fn to_forecast(
        &self,
        jobs: Vec<Redrivable>,
        changes: &crate::store::Changes,
    ) -> Result<ToForecast, EngineError> {
        let provider = changes.provider.unwrap_or_else(|| {
            most_frequent(jobs.iter().map(|job| job.provider)).unwrap_or_default()
        });
        let template = match &changes.template {
            Some(template) => template.name(),
            None => most_frequent(jobs.iter().map(|job| job.template.clone())).unwrap_or_default(),
        };
        let max_tokens = changes
            .max_tokens
            .or_else(|| most_frequent(jobs.iter().map(|job| job.max_tokens)))
            .unwrap_or_default();
        let by_batch = jobs
            .iter()
            .any(|job| changes.delivery_of(job) == Delivery::Batch);
        let jobs: Vec<AskedJob> = jobs
            .into_iter()
            .map(|job| AskedJob {
                model: changes.model.as_deref().unwrap_or(&job.model).into(),
                calls: job.calls,
            })
            .collect();
        let model = model_of(&jobs);
        let history = self
            .0
            .store
            .output_history(model.to_string(), template.clone())
            .await?;
        Ok(ToForecast {
            provider,
            by_batch,
            jobs,
            template,
            output: output(&model, history.as_ref(), max_tokens),
            estimates: None,
            mean_ms: None,
            batch: Money::default(),
        })
    }

    /// Says what jobs will come to.
    pub(super) async fn forecast(&self, asked: ToForecast) -> Result<Forecast, EngineError> {
        let model = model_of(&asked.jobs);
        let input = input(&asked);
        let mut forecast = Forecast {
            jobs: asked.jobs.len() as u64,
            calls: asked.jobs.iter().map(|job| job.calls.len() as u64).sum(),
            model: model.to_string(),
            input,
            output: asked.output,
            deliveries: Vec::new(),
        };
        if asked.provider == Provider::Offline {
            forecast.input = InputForecast::default();
            forecast.output = OutputForecast::default();
            forecast.deliveries = offline();
            return Ok(forecast);
        }
        let local = self.local_time();
        let store = &self.0.store;
        let conditions = store.conditions(local.clone(), model.to_string()).await?;
        let latency = store
            .latency(model.to_string(), asked.template.clone())
            .await?;
        let mean_ms = asked
            .mean_ms
            .or_else(|| latency.map(|latency| latency.mean_ms));
        let prices = store.prices().await?;
        let blocked = self.blocked().await?;
        // Of an address that nobody says has a batch API, the person may know it.
        let takes_batches = self.present_claude().takes_batches()
            || asked.by_batch
            || conditions
                .lanes
                .iter()
                .any(|lane| lane.delivery == Delivery::Batch);
        let deliveries = deliveries(&asked, &prices, takes_batches);
        let caps = caps(&asked, &conditions);
        let zone = self.0.config.time_zone.clone();
        let pace = self.pace().await;
        let now = local.now;
        let obstacles: HashMap<QueueName, Option<WaitingReason>> = conditions
            .lanes
            .iter()
            .map(|lane| {
                let obstacle = lane.obstacle.clone().or_else(|| blocked.clone());
                (lane.queue, obstacle)
            })
            .collect();
        let played = blocking(move || {
            [QueueName::High, QueueName::Bulk].map(|queue| {
                (
                    queue,
                    played(&asked, &conditions, queue, mean_ms, pace, now, &zone),
                )
            })
        })
        .await?;
        for (delivery, range) in deliveries {
            let finish = match delivery {
                DeliveryWay::Batch => Some(at_the_batch_api(now)),
                DeliveryWay::High | DeliveryWay::Bulk => played
                    .iter()
                    .find(|(queue, _)| *queue == delivery.queue())
                    .and_then(|(_, played)| *played)
                    .map(|played| Finish {
                        usually_at: played.at,
                        at_latest: None,
                        limited_by: played.limited_by,
                    }),
            };
            forecast.deliveries.push(DeliveryForecast {
                delivery,
                price: range.as_ref().map(|range| range.sum),
                finish,
                obstacle: obstacles.get(&delivery.queue()).cloned().flatten(),
                caps: range.map_or_else(Vec::new, |range| {
                    caps.iter().map(|cap| fits(cap, &range.jobs)).collect()
                }),
            });
        }
        Ok(forecast)
    }

    /// Returns what keeps Claude from being asked at all and only a person can change.
    async fn blocked(&self) -> Result<Option<WaitingReason>, EngineError> {
        let settings = addressed(&self.0.config, self.0.store.settings().await?);
        // Who runs models on this computer wants no key, and others may not.
        let wants_key = settings.endpoint == Some(EndpointKind::Anthropic);
        if wants_key && self.key_status().source == KeySource::None {
            return Ok(Some(WaitingReason::CircuitOpen {
                cause: Cause::KeyMissing,
            }));
        }
        self.look_for_consumer();
        Ok((self.place() == ConsumerPlace::Nowhere).then_some(WaitingReason::NoConsumer))
    }

    /// Returns the pace that a consumer here has found, else that at which one starts.
    async fn pace(&self) -> Pace {
        let consumer = self.0.consumer.lock().await;
        consumer.as_ref().map(Consumer::pace).unwrap_or_default()
    }
}

fn input(asked: &ToForecast) -> InputForecast {
    let mut input = InputForecast {
        usually_off_percent: asked.estimates.map(|check| check.usually_off_percent),
        ..InputForecast::default()
    };
    for job in &asked.jobs {
        for call in &job.calls {
            input.tokens = input.tokens.saturating_add(call.expected_input);
            input.worst_tokens = input.worst_tokens.saturating_add(call.worst_input);
        }
        if job.calls.iter().all(|call| call.is_counted) {
            input.counted_jobs += 1;
        } else {
            input.estimated_jobs += 1;
        }
    }
    input
}

/// Returns the ways that jobs may go, with what they cost.
fn deliveries(
    asked: &ToForecast,
    prices: &Prices,
    takes_batches: bool,
) -> Vec<(DeliveryWay, Option<Range>)> {
    let range = |cost: &dyn Fn(&str, u64, u64) -> Option<i64>| {
        let jobs = asked
            .jobs
            .iter()
            .map(|job| (&*job.model, job.calls.as_slice()));
        price(jobs, &asked.output, asked.estimates.as_ref(), cost)
    };
    let full = range(&|model, input, output| prices.of_tokens(model, input, output));
    let mut deliveries = vec![(DeliveryWay::High, full.clone()), (DeliveryWay::Bulk, full)];
    if takes_batches {
        let by_batch = range(&|model, input, output| prices.batch_of_tokens(model, input, output));
        deliveries.push((DeliveryWay::Batch, by_batch));
    }
    deliveries
}

fn caps(asked: &ToForecast, conditions: &Conditions) -> Vec<Cap> {
    [
        (CapScope::Batch, &asked.batch),
        (CapScope::Day, &conditions.day),
        (CapScope::Month, &conditions.month),
    ]
    .into_iter()
    .filter_map(|(scope, money)| Cap::of(scope, money))
    .collect()
}

/// Plays the jobs through a lane.
fn played(
    asked: &ToForecast,
    conditions: &Conditions,
    queue: QueueName,
    mean_ms: Option<u64>,
    pace: Pace,
    now: Timestamp,
    zone: &jiff::tz::TimeZone,
) -> Option<Played> {
    let call = |estimate: &Estimate, output: u64| Call {
        promised_input: estimate.likely_input,
        promised_output: estimate.likely_output,
        input: estimate.expected_input,
        output: output.min(estimate.worst_output),
        ms: mean_ms.unwrap_or_else(|| guessed_ms(estimate.expected_input, output)),
    };
    let jobs: Vec<Vec<Call>> = asked
        .jobs
        .iter()
        .map(|job| {
            let calls = job.calls.iter();
            calls
                .map(|estimate| call(estimate, asked.output.expected))
                .collect()
        })
        .collect();
    let opens = conditions.quiet_hours.map(|hours| {
        move |moment: Timestamp| {
            LocalTime::at(moment, zone)
                .until_quiet(hours)
                .unwrap_or(moment)
        }
    });
    let opens = opens
        .as_ref()
        .map(|opens| opens as &(dyn Fn(Timestamp) -> Timestamp + Sync));
    let lane = |lane: &LaneConditions| LanePlay {
        concurrency: lane.concurrency,
        running: lane.running,
        waiting: lane.waiting,
        before: call(&lane.average, lane.average.expected_output),
        jobs: if lane.queue == queue { &jobs } else { &[] },
        ready_at: now.after(std::time::Duration::from_millis(u64::from(lane.delay_ms))),
        opens: opens.filter(|_| lane.queue == QueueName::Bulk),
    };
    let of = |name| conditions.lanes.iter().find(|lane| lane.queue == name);
    let (high, bulk) = (of(QueueName::High)?, of(QueueName::Bulk)?);
    finish(&Play {
        now,
        limits: conditions.limits,
        used: conditions.used.clone(),
        pace,
        lanes: [lane(high), lane(bulk)],
    })
}

fn at_the_batch_api(now: Timestamp) -> Finish {
    let (usually_at, at_latest) = batch_api(now);
    Finish {
        usually_at,
        at_latest: Some(at_latest),
        limited_by: LimitedBy::Provider,
    }
}

/// Returns the ways of jobs that are summarized here: they cost nothing, and nobody has measured their time.
fn offline() -> Vec<DeliveryForecast> {
    [DeliveryWay::High, DeliveryWay::Bulk]
        .map(|delivery| DeliveryForecast {
            delivery,
            price: Some(crate::model::ForecastPrice::default()),
            finish: None,
            obstacle: None,
            caps: Vec::new(),
        })
        .into()
}

/// Returns the model that most jobs ask; nothing of no jobs.
fn model_of(jobs: &[AskedJob]) -> Arc<str> {
    most_frequent(jobs.iter().map(|job| Arc::clone(&job.model))).unwrap_or_else(|| "".into())
}

/// Returns what is there most often; of two that are as often the one that came first.
fn most_frequent<T: Eq + std::hash::Hash + Clone>(all: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: HashMap<T, (usize, usize)> = HashMap::new();
    for (place, one) in all.enumerate() {
        counts
            .entry(one)
            .and_modify(|(count, _)| *count += 1)
            .or_insert((1, place));
    }
    counts
        .into_iter()
        .max_by_key(|(_, (count, place))| (*count, std::cmp::Reverse(*place)))
        .map(|(one, _)| one)
}
