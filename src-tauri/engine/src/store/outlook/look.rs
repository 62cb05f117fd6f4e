//! A look at the lanes, job by job, as a claim would take them.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _};

use super::LaneOutlook;
use super::reasons::{held_reason, reason_of};
use crate::calendar::LocalTime;
use crate::model::{Cause, Delivery, Provider, QueueName, Timestamp, UploadTrouble, WaitingReason};
use crate::store::candidate::{Candidate, Line, in_line};
use crate::store::circuits::Open;
use crate::store::gate::{Gate, Verdict};
use crate::store::queues::Lane;
use crate::store::{Result, candidate, held, pilots, remote, rows, turns};

/// Jobs that are looked at behind one that the next claim sets aside.
const MOST_SET_ASIDE: usize = 50;

/// The earliest moment after now.
struct Wake {
    now: Timestamp,
    at: Option<Timestamp>,
}

impl Wake {
    fn note(&mut self, moment: Timestamp) {
        if moment > self.now {
            self.at = Some(self.at.map_or(moment, |at| at.min(moment)));
        }
    }
}

pub(super) struct Look<'look> {
    connection: &'look Connection,
    local: &'look LocalTime,
    gate: &'look Gate,
    open: &'look HashMap<Provider, Open>,
    /// What stands in the way of all uploads.
    upload_trouble: Option<&'look UploadTrouble>,
    wake: Wake,
    pub(super) live: bool,
    /// A job waits for tokens or requests that all models share.
    pub(super) short: bool,
    /// What bulk waits for, where it is its turn and high may take nothing of it.
    bulk_first: Option<WaitingReason>,
}

/// A pending job that is not visible yet.
struct NextVisible {
    at: Timestamp,
    attempts: u32,
    cause: Option<Cause>,
}

impl<'look> Look<'look> {
    /// Begins to look at the lanes, which come with their settings.
    pub(super) fn begin(
        connection: &'look Connection,
        local: &'look LocalTime,
        gate: &'look Gate,
        open: &'look HashMap<Provider, Open>,
        upload_trouble: Option<&'look UploadTrouble>,
        lanes: &[Lane],
    ) -> Result<Self> {
        let mut look = Self {
            connection,
            local,
            gate,
            open,
            upload_trouble,
            wake: Wake {
                now: local.now,
                at: None,
            },
            live: false,
            short: false,
            bulk_first: None,
        };
        look.bulk_first = look.bulk_goes_first(lanes)?;
        Ok(look)
    }

    /// Returns the earliest moment at which something may be ready that is not now.
    pub(super) fn wake_at(&self) -> Option<Timestamp> {
        self.wake.at
    }

    /// Returns what holds the jobs of a lane that would be next.
    pub(super) fn lane(&mut self, lane: &Lane, behind_high: bool) -> Result<LaneOutlook> {
        if !self.has_pending(lane.queue)? {
            return Ok(LaneOutlook::all(lane.queue, None));
        }
        if lane.paused {
            return Ok(LaneOutlook::all(
                lane.queue,
                Some(WaitingReason::QueuePaused),
            ));
        }
        if lane.queue == QueueName::Bulk
            && let Some(hours) = self.gate.policy.quiet_hours
            && let Some(until) = self.local.until_quiet(hours)
        {
            self.wake.note(until);
            self.live = true;
            let reason = WaitingReason::OutsideQuietHours { until };
            return Ok(LaneOutlook::all(lane.queue, Some(reason)));
        }
        let each = self.next(lane, Delivery::Each, behind_high)?;
        let batch = match lane.queue {
            QueueName::High => None,
            // What is handed over takes nothing of the minute, so it waits behind nobody.
            QueueName::Bulk => self.next(lane, Delivery::Batch, false)?,
        };
        let ready = [&each, &batch]
            .into_iter()
            .any(|next| matches!(next, Some(Visible::Ready)));
        let [each, batch] = [each, batch].map(|next| match next {
            Some(Visible::Held(reason)) => Some(reason),
            Some(Visible::Ready) | None => None,
        });
        Ok(LaneOutlook {
            queue: lane.queue,
            obstacle: if ready {
                None
            } else {
                each.clone().or_else(|| batch.clone())
            },
            by_delivery: [(Delivery::Each, each), (Delivery::Batch, batch)],
        })
    }

    /// Looks at the job that would be next of those that go one way; `None` where none waits.
    fn next(
        &mut self,
        lane: &Lane,
        delivery: Delivery,
        behind_high: bool,
    ) -> Result<Option<Visible>> {
        let visible = self.visible(lane, delivery, behind_high)?;
        // Looked at in any case: it may have to be woken for.
        let later = self.later(lane.queue, delivery)?;
        Ok(match (visible, later) {
            (Some(visible), _) => Some(visible),
            (None, Some(reason)) => Some(Visible::Held(reason)),
            (None, None) => self.passed_over(lane, delivery)?.map(Visible::Held),
        })
    }

    /// Returns what the first job of bulk waits for, where the floor makes high wait behind it.
    fn bulk_goes_first(&self, lanes: &[Lane]) -> Result<Option<WaitingReason>> {
        let floor = self.gate.policy.bulk_floor;
        let bulk = lanes.iter().find(|lane| lane.queue == QueueName::Bulk);
        let quiet = (self.gate.policy.quiet_hours)
            .is_some_and(|hours| self.local.until_quiet(hours).is_some());
        if floor == 0
            || quiet
            || bulk.is_none_or(|lane| lane.paused)
            || self.open.contains_key(&Provider::Claude)
            || turns::high_since_bulk(self.connection)? + 1 < floor
        {
            return Ok(None);
        }
        let Some(job) = self.first(
            Line::Ordinary,
            QueueName::Bulk,
            Provider::Claude,
            Delivery::Each,
        )?
        else {
            return Ok(None);
        };
        Ok(match self.gate.judge(&job) {
            Verdict::Wait {
                reason,
                shared: true,
                ..
            } => Some(reason),
            _ => None,
        })
    }

    fn has_pending(&self, queue: QueueName) -> Result<bool> {
        Ok(self
            .connection
            .prepare_cached(
                "SELECT coalesce(sum(jobs), 0) > 0 FROM lane_counts
                 WHERE queue = ?1 AND status = 'pending'",
            )?
            .query_row([queue.as_str()], |row| row.get(0))?)
    }

    /// Looks at the first job of each provider that is visible now.
    fn visible(
        &mut self,
        lane: &Lane,
        delivery: Delivery,
        behind_high: bool,
    ) -> Result<Option<Visible>> {
        let mut held = None;
        for &provider in asked_by(delivery) {
            let first = match self.first(Line::Ordinary, lane.queue, provider, delivery)? {
                Some(job) => Some(job),
                // The large ones come when nothing else waits.
                None => self.first(Line::Oversized, lane.queue, provider, delivery)?,
            };
            let Some(job) = first else {
                continue;
            };
            if let Some(open) = self.open.get(&provider) {
                if let Some(probe_at) = open.probe_at {
                    self.wake.note(probe_at);
                }
                self.live |= open.cause.passes_by_itself();
                if !open.may_probe(self.local.now) {
                    held = Some(reason_of(open));
                    continue;
                }
            }
            if delivery == Delivery::Batch {
                match self.handing_over(lane, &job)? {
                    Visible::Ready => return Ok(Some(Visible::Ready)),
                    Visible::Held(reason) => held = Some(reason),
                }
                continue;
            }
            if behind_high && provider == Provider::Claude {
                self.live = true;
                held = Some(WaitingReason::BehindHigh);
                continue;
            }
            if provider == Provider::Claude
                && lane.queue == QueueName::High
                && self.bulk_first.is_some()
            {
                // Bulk notes when it has to be woken for.
                held = self.bulk_first.clone();
                continue;
            }
            match self.verdict(lane, provider, &job)? {
                Visible::Ready => return Ok(Some(Visible::Ready)),
                Visible::Held(reason) => held = Some(reason),
            }
        }
        Ok(held.map(Visible::Held))
    }

    /// Says whether jobs are handed to the batch API now, of which `first` is the first.
    fn handing_over(&mut self, lane: &Lane, first: &Candidate) -> Result<Visible> {
        if first.has_answer {
            self.live = true;
            return Ok(Visible::Ready);
        }
        if let Some(hold) = remote::hold(self.connection)?
            && hold.retry_at > self.local.now
        {
            self.wake.note(hold.retry_at);
            self.live |= hold.cause != Cause::BatchesNotOffered;
            return Ok(Visible::Held(WaitingReason::BatchApi {
                cause: hold.cause,
                message: hold.message,
                until: hold.retry_at,
            }));
        }
        match self.verdict(lane, Provider::Claude, first)? {
            Visible::Ready => {
                let until = remote::filled_at(lane, first.place.1);
                if until <= self.local.now {
                    return Ok(Visible::Ready);
                }
                self.wake.note(until);
                Ok(Visible::Held(WaitingReason::FillingBatch { until }))
            }
            held @ Visible::Held(_) => Ok(held),
        }
    }

    /// Says whether a job may start, or one behind it where the next claim sets it aside.
    fn verdict(&mut self, lane: &Lane, provider: Provider, first: &Candidate) -> Result<Visible> {
        let mut reason = match self.judged(lane, first) {
            (visible, false) => return Ok(visible),
            (Visible::Held(reason), true) => reason,
            (ready, true) => return Ok(ready),
        };
        let now = self.local.now;
        let behind = in_line(
            self.connection,
            Line::Ordinary,
            lane.queue,
            provider,
            first.delivery,
            now,
            MOST_SET_ASIDE,
        )?;
        for job in behind.iter().skip(1) {
            match self.judged(lane, job) {
                (visible, false) => return Ok(visible),
                (Visible::Held(another), true) => reason = another,
                (Visible::Ready, true) => {}
            }
        }
        Ok(Visible::Held(reason))
    }

    /// Judges one job; says also whether the next claim sets it aside, so that those behind it matter.
    fn judged(&mut self, lane: &Lane, job: &Candidate) -> (Visible, bool) {
        let verdict = match job.delivery {
            Delivery::Each => self.gate.judge(job),
            Delivery::Batch => self.gate.judge_for_batch(job),
        };
        match verdict {
            Verdict::Admit(_) => {
                if let Some(filled_at) = waits_to_be_filled(lane, job) {
                    self.wake.note(filled_at);
                }
                self.live = true;
                (Visible::Ready, false)
            }
            Verdict::PassOver { bit, reason } => {
                if bit == held::OVERSIZED {
                    self.live = true;
                    if let Some(moment) = self.gate.windows.empty_at() {
                        self.wake.note(moment);
                    }
                }
                (Visible::Held(reason), true)
            }
            Verdict::Wait {
                reason,
                until,
                shared,
            } => {
                self.short |= shared;
                if let Some(until) = until {
                    self.wake.note(until);
                }
                self.live |= matches!(
                    reason,
                    WaitingReason::TokenBudget { .. } | WaitingReason::RequestsBudget { .. }
                );
                (Visible::Held(reason), false)
            }
        }
    }

    fn first(
        &self,
        line: Line,
        queue: QueueName,
        provider: Provider,
        delivery: Delivery,
    ) -> Result<Option<Candidate>> {
        let now = self.local.now;
        let mut found = in_line(self.connection, line, queue, provider, delivery, now, 1)?;
        Ok(found.pop())
    }

    /// Returns why the next job that becomes visible is not visible yet.
    fn later(&mut self, queue: QueueName, delivery: Delivery) -> Result<Option<WaitingReason>> {
        let mut next: Option<NextVisible> = None;
        // What stands in the way of a provider, where all that is left of the lane is its.
        let mut behind = None;
        let lines = asked_by(delivery)
            .iter()
            .flat_map(|provider| [Line::Ordinary, Line::Oversized].map(|line| (line, *provider)));
        for (line, provider) in lines {
            let found = self.next_visible(line, queue, provider, delivery)?;
            let Some(found) = found else { continue };
            if let Some(open) = self.open.get(&provider) {
                if let Some(probe_at) = open.probe_at {
                    self.wake.note(probe_at.max(found.at));
                }
                behind = Some(reason_of(open));
                continue;
            }
            self.wake.note(found.at);
            self.live = true;
            if next.as_ref().is_none_or(|next| found.at < next.at) {
                next = Some(found);
            }
        }
        let Some(next) = next else {
            return Ok(behind);
        };
        Ok(Some(if next.attempts > 0 {
            WaitingReason::Retrying {
                at: next.at,
                cause: next.cause,
            }
        } else {
            WaitingReason::Delayed { until: next.at }
        }))
    }

    /// Returns the job that becomes visible next.
    fn next_visible(
        &self,
        line: Line,
        queue: QueueName,
        provider: Provider,
        delivery: Delivery,
    ) -> Result<Option<NextVisible>> {
        let mut next: Option<NextVisible> = None;
        for position in candidate::positions(self.connection, line, queue, provider, delivery)? {
            let found = self
                .connection
                .prepare_cached(&format!(
                    "SELECT available_at, attempts, error_code FROM jobs
                     WHERE status = 'pending' AND held = {} AND queue = ?1 AND provider = ?2
                       AND delivery = ?3 AND position = ?4 AND available_at > ?5
                     ORDER BY available_at LIMIT 1",
                    line.held()
                ))?
                .query_row(
                    (
                        queue.as_str(),
                        provider.as_str(),
                        delivery.as_str(),
                        position,
                        self.local.now.0,
                    ),
                    |row| {
                        Ok(NextVisible {
                            at: rows::timestamp(row, 0)?,
                            attempts: row.get(1)?,
                            cause: rows::cause(row, 2)?,
                        })
                    },
                )
                .optional()?;
            if let Some(found) = found
                && next.as_ref().is_none_or(|next| found.at < next.at)
            {
                next = Some(found);
            }
        }
        Ok(next)
    }

    /// Returns why the first job is passed over, where all are.
    fn passed_over(&mut self, lane: &Lane, delivery: Delivery) -> Result<Option<WaitingReason>> {
        let first = self
            .connection
            .prepare_cached(&format!(
                "SELECT j.held, j.model, {}, {}, {} FROM jobs AS j
                 WHERE j.status = 'pending' AND j.held <> 0 AND j.queue = ?1
                   AND j.delivery = ?2 LIMIT 1",
                candidate::BATCH_MONEY_COLUMNS,
                candidate::WORK_COLUMNS,
                pilots::LEFT_COLUMN
            ))?
            .query_row([lane.queue.as_str(), delivery.as_str()], |row| {
                let model: String = row.get(1)?;
                let estimate = crate::pricing::estimate(&model, &candidate::work(row, 6)?);
                let prices = &self.gate.policy.prices;
                let worst = prices.at_worst_by(delivery, &model, &estimate);
                Ok(held_reason(
                    row.get(0)?,
                    model,
                    &candidate::batch_money(row, 2)?,
                    worst,
                    self.upload_trouble.map(|trouble| trouble.message.as_str()),
                    rows::unsigned(row, 12)?,
                ))
            })
            .optional()?
            .flatten();
        if let Some(WaitingReason::Uploading { .. }) = first {
            self.live |= self
                .upload_trouble
                .is_none_or(|trouble| trouble.cause.passes_by_itself());
        }
        Ok(first)
    }
}

/// Returns whom jobs are for that go one way.
fn asked_by(delivery: Delivery) -> &'static [Provider] {
    match delivery {
        Delivery::Each => &[Provider::Offline, Provider::Claude],
        Delivery::Batch => &[Provider::Claude],
    }
}

enum Visible {
    Ready,
    Held(WaitingReason),
}

/// Returns until when a claim waits for more jobs, as the lane's settings want.
fn waits_to_be_filled(lane: &Lane, job: &Candidate) -> Option<Timestamp> {
    let patience = i64::from(lane.settings.max_batch_timeout_ms);
    (patience > 0).then(|| Timestamp(job.place.1.saturating_add(patience)))
}
