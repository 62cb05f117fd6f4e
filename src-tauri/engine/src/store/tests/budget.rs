//! The budget of a minute: no window of 60 s ever exceeds a limit, and none is left unused for nothing.

use std::collections::BTreeMap;

use super::support::*;
use crate::model::{
    BulkAction, JobStatus, QueueName, Settings, Timestamp, ToldLimits, WaitingReason,
};
use crate::store::{ClaimRequest, Lease, NewBatch, Settlement, Store};

/// A window in milliseconds.
const MINUTE: i64 = 60_000;

/// A small generator, so that a simulated hour is the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// A call: when it was promised, and what it is known to take of requests, input and output.
#[derive(Clone, Copy, Debug)]
struct Call {
    at: i64,
    taken: [u64; 3],
}

/// Limits of requests, input, output, and input and output together.
#[derive(Clone, Copy, Debug)]
struct Most([u64; 4]);

impl Most {
    /// Says that no window holds more; `calls` are in the order of time. Each call of which it begins is
    /// the beginning of a window that holds most.
    fn holds(self, calls: &[Call], now: i64) {
        let sum = |from: i64| {
            let mut sum = [0; 4];
            for call in calls {
                if call.at > from && call.at <= now {
                    for (sum, taken) in sum.iter_mut().zip(call.taken) {
                        *sum += taken;
                    }
                }
            }
            sum[3] = sum[1] + sum[2];
            sum
        };
        let used = sum(now - MINUTE);
        for (used, most) in used.iter().zip(self.0) {
            assert!(
                *used <= most,
                "{used} of {most} were used in the minute before {now}"
            );
        }
    }
}

struct Hour {
    shelf: Shelf,
    dice: Dice,
    now: Timestamp,
    calls: Vec<Call>,
    /// Calls under way: when they end, the lease, and which of `calls` it is.
    running: Vec<(i64, Lease, usize)>,
    lanes: BTreeMap<String, QueueName>,
    claimed: Vec<QueueName>,
}

impl Hour {
    async fn new(settings: impl FnOnce(&mut Settings)) -> Self {
        let shelf = shelf();
        shelf.hurry().await;
        shelf.set(settings).await;
        Self {
            shelf,
            dice: Dice(42),
            now: NOW,
            calls: Vec::new(),
            running: Vec::new(),
            lanes: BTreeMap::new(),
            claimed: Vec::new(),
        }
    }

    async fn submit(&mut self, queue: QueueName, jobs: usize) {
        let prompts: Vec<String> = (0..jobs)
            .map(|_| "a ".repeat(100 + usize::try_from(self.dice.roll(3_000)).unwrap()))
            .collect();
        let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
        let new = NewBatch {
            queue,
            ..batch(&prompts)
        };
        for job_id in self.shelf.submit(new, self.now).await {
            self.lanes.insert(job_id.to_string(), queue);
        }
    }

    /// Claims what fits, as the dispatcher does: until there is nothing more.
    async fn claim(&mut self, most: Most) {
        while self.claim_some().await {
            most.holds(&self.calls, self.now.0);
        }
    }

    /// Claims, and notes what was promised. Says whether there was something.
    async fn claim_some(&mut self) -> bool {
        let running = QueueName::ALL.map(|queue| {
            let of =
                |(_, lease, _): &&(i64, Lease, usize)| self.lanes[lease.job_id.as_str()] == queue;
            (
                queue,
                u32::try_from(self.running.iter().filter(of).count()).unwrap(),
            )
        });
        let request = ClaimRequest {
            running: running.to_vec(),
            ..request(100, self.now)
        };
        let claimed = self.shelf.store.claim(request).await.unwrap();
        let some = !claimed.is_empty();
        for job in claimed {
            let lease = job.lease;
            let key = (lease.job_id.to_string(), lease.lease_id.clone());
            let promised = self.shelf.store.read(move |connection| {
                Ok(connection.query_row(
                    "SELECT requests, input_tokens, output_tokens FROM ledger
                     WHERE job_id = ?1 AND lease_id = ?2",
                    key,
                    |row| Ok([row.get::<_, i64>(0)?, row.get(1)?, row.get(2)?]),
                )?)
            });
            let taken = promised.await.unwrap().map(i64::unsigned_abs);
            self.calls.push(Call {
                at: self.now.0,
                taken,
            });
            let lasts = 1_000 + i64::try_from(self.dice.roll(90_000)).unwrap();
            let call = self.calls.len() - 1;
            self.claimed.push(job.queue);
            self.running.push((self.now.0 + lasts, lease, call));
        }
        some
    }

    /// Ends the calls whose time has come: most used less than they were promised.
    async fn end(&mut self) {
        let (ended, running) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|(at, ..)| *at <= self.now.0);
        self.running = running;
        for (_, lease, call) in ended {
            let [_, input, output] = self.calls[call].taken;
            if self.dice.roll(20) == 0 {
                let end = retry_at(Timestamp(self.now.0 + 60_000));
                self.shelf.end(&lease, end, self.now).await;
                self.calls[call].taken = [1, 0, 0];
                continue;
            }
            let used = [
                1,
                input - self.dice.roll(input / 3),
                output - self.dice.roll(output / 2),
            ];
            let settlement = Settlement::Known {
                input_tokens: used[1],
                output_tokens: used[2],
                micros: Some(1),
            };
            let store = &self.shelf.store;
            let kept = store.keep_answer(lease.clone(), answer(), settlement, self.now);
            assert!(kept.await.unwrap());
            let completed = store.complete(lease.clone(), result(&lease.job_id), self.now);
            assert!(completed.await.unwrap());
            self.calls[call].taken = used;
        }
    }

    /// Turns the clock to when something may happen next, as the dispatcher does.
    async fn wait(&mut self) {
        let wake_at = self
            .shelf
            .store
            .outlook(local(self.now))
            .await
            .unwrap()
            .wake_at;
        let next_end = self.running.iter().map(|(at, ..)| *at).min();
        let next = wake_at
            .map(|wake_at| wake_at.0)
            .into_iter()
            .chain(next_end)
            .min();
        self.now = Timestamp(next.unwrap_or(self.now.0 + 1_000).max(self.now.0 + 1));
    }

    async fn run(&mut self, until: Timestamp, most: Most) {
        while self.now < until {
            self.end().await;
            self.claim(most).await;
            self.wait().await;
        }
    }

    fn used(&self) -> [u64; 3] {
        let mut used = [0; 3];
        for call in &self.calls {
            for (used, taken) in used.iter_mut().zip(call.taken) {
                *used += taken;
            }
        }
        used
    }
}

/// Seed defects 22 and 24: no minute, wherever it begins, holds more than the limits.
#[tokio::test]
async fn no_minute_of_an_hour_exceeds_a_limit_and_little_is_left_unused() {
    // Which limit binds, and the limits.
    let cases = [
        (3, Most([1_000, 1_000_000, 1_000_000, 30_000])),
        (0, Most([12, 1_000_000, 1_000_000, 1_000_000])),
        (1, Most([1_000, 16_000, 1_000_000, 1_000_000])),
        (2, Most([1_000, 1_000_000, 10_000, 1_000_000])),
    ];
    for (binding, most) in cases {
        let [requests, input, output, tokens] = most.0.map(|limit| u32::try_from(limit).unwrap());
        let mut hour = Hour::new(|settings| {
            settings.requests_per_minute = Some(requests);
            settings.input_tokens_per_minute = Some(input);
            settings.output_tokens_per_minute = Some(output);
            settings.tokens_per_minute = tokens;
        })
        .await;
        hour.submit(QueueName::High, 700).await;
        hour.submit(QueueName::Bulk, 700).await;
        hour.run(minutes(60), most).await;
        let used = hour.used();
        let used = [used[0], used[1], used[2], used[1] + used[2]][binding];
        let possible = most.0[binding] * 60;
        assert!(
            used * 10 >= possible * 7,
            "{used} of {possible} were used of limit {binding} with work waiting"
        );
    }
}

/// Seed defect 26: high goes first, and bulk gets its share.
#[tokio::test]
async fn under_pressure_high_goes_first_and_bulk_gets_one_claim_in_ten() {
    for (floor, least, most_of_bulk) in [(10, 15, 22), (4, 45, 55), (0, 0, 0)] {
        let most = Most([20, 1_000_000, 1_000_000, 1_000_000]);
        let mut hour = Hour::new(|settings| {
            settings.requests_per_minute = Some(20);
            settings.bulk_floor = floor;
        })
        .await;
        // Only the budget is scarce.
        for lane in hour.shelf.store.overview(local(NOW)).await.unwrap().lanes {
            let wide = crate::model::LaneSettings {
                max_concurrency: 200,
                ..lane.settings
            };
            hour.shelf.store.save_lane(lane.queue, wide).await.unwrap();
        }
        hour.submit(QueueName::High, 400).await;
        hour.submit(QueueName::Bulk, 100).await;
        // Bulk's delay has passed.
        hour.now = seconds(5);
        hour.run(minutes(10), most).await;
        let claims = hour.claimed.len();
        let bulk = hour
            .claimed
            .iter()
            .filter(|queue| **queue == QueueName::Bulk)
            .count();
        assert!(
            claims >= 180,
            "{claims} claims in ten minutes of twenty each"
        );
        assert!(
            (least..=most_of_bulk).contains(&bulk),
            "floor {floor}: {bulk} of {claims} were bulk's"
        );
        if floor > 0 {
            let wait = hour
                .claimed
                .split(|queue| *queue == QueueName::Bulk)
                .map(<[QueueName]>::len)
                .max();
            assert!(
                wait <= Some(2 * floor as usize),
                "floor {floor}: bulk waited for {wait:?} claims of high"
            );
        }
    }
}

#[tokio::test]
async fn a_large_job_of_bulk_gets_its_turn_though_high_never_ends() {
    let most = Most([1_000, 1_000_000, 1_000_000, 10_000]);
    let mut hour = Hour::new(|settings| settings.tokens_per_minute = 10_000).await;
    hour.submit(QueueName::High, 600).await;
    let large = NewBatch {
        queue: QueueName::Bulk,
        max_tokens: 9_000,
        ..batch(&["large", "larger"])
    };
    for job_id in hour.shelf.submit(large, NOW).await {
        hour.lanes.insert(job_id.to_string(), QueueName::Bulk);
    }
    hour.run(minutes(20), most).await;
    let bulk = hour
        .claimed
        .iter()
        .filter(|queue| **queue == QueueName::Bulk);
    assert!(bulk.count() >= 2, "both of bulk's jobs ran");
}

/// Seed defect 24: what is larger than a minute runs alone, and never loops.
#[tokio::test]
async fn an_oversized_job_runs_alone_and_blocks_nobody() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.tokens_per_minute = 5_000)
        .await;
    let small = shelf.add(&["one"]).await;
    assert_eq!(shelf.claim(9, NOW).await.len(), 1);
    let large = NewBatch {
        max_tokens: 50_000,
        ..batch(&["large", "larger"])
    };
    let large = shelf.submit(large, NOW).await;
    let more = shelf.add(&["two", "six"]).await;
    let claimed: Vec<_> = shelf
        .claim(9, seconds(1))
        .await
        .into_iter()
        .map(|job| job.lease.job_id)
        .collect();
    assert_eq!(claimed, more, "the small ones behind them go on");
    assert!(!claimed.contains(&small[0]));
    assert!(
        shelf.claim(9, seconds(60)).await.is_empty(),
        "the minute is in use"
    );
    let outlook = shelf.store.outlook(local(seconds(60))).await.unwrap();
    assert_eq!(
        outlook.lanes[0].obstacle,
        Some(WaitingReason::LargerThanBudget)
    );
    assert_eq!(outlook.wake_at, Some(seconds(62)));
    let alone = shelf.claim(9, seconds(62)).await;
    assert_eq!(alone.len(), 1, "alone");
    assert_eq!(alone[0].lease.job_id, large[0]);
    shelf.submit(batch(&["ten", "red"]), seconds(63)).await;
    assert!(shelf.claim(9, seconds(63)).await.is_empty());
    shelf
        .end(&alone[0].lease, retry_at(minutes(5)), seconds(64))
        .await;
    let job = shelf.look_at(&large[1], seconds(64)).await.job;
    assert_eq!((job.status, job.attempts), (JobStatus::Pending, 0));
}

#[tokio::test]
async fn many_oversized_jobs_hide_none_of_those_behind_them() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.tokens_per_minute = 5_000)
        .await;
    shelf.add(&["one"]).await;
    shelf.claim(1, NOW).await;
    let prompts = vec!["large"; 300];
    let large = NewBatch {
        max_tokens: 50_000,
        ..batch(&prompts)
    };
    shelf.submit(large, NOW).await;
    shelf.add(&["two", "six"]).await;
    assert_eq!(shelf.claim(9, seconds(1)).await.len(), 2);
}

/// Seed defect 25: waiting for budget uses up no attempt.
#[tokio::test]
async fn waiting_uses_no_attempts_and_says_how_long_in_whole_seconds() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.requests_per_minute = Some(1))
        .await;
    let added = shelf.add(&["one", "two"]).await;
    assert_eq!(shelf.claim(9, Timestamp(NOW.0 + 123)).await.len(), 1);
    for second in 1..60 {
        assert!(
            shelf
                .claim(9, Timestamp(seconds(second).0 + 457))
                .await
                .is_empty()
        );
    }
    let job = shelf.look_at(&added[1], seconds(30)).await.job;
    assert_eq!((job.status, job.attempts), (JobStatus::Pending, 0));
    let Some(WaitingReason::RequestsBudget { until }) = job.waiting else {
        panic!("{:?}", job.waiting);
    };
    assert_eq!(until.0 % 1_000, 0, "whole seconds");
    assert!(shelf.claim(9, Timestamp(until.0 - 1)).await.is_empty());
    assert_eq!(shelf.claim(9, until).await.len(), 1);
}

#[tokio::test]
async fn told_limits_tighten_and_never_loosen() {
    for (told, expected) in [(2_300, 1), (1_000_000, 3)] {
        let shelf = shelf();
        shelf
            .set(|settings| settings.input_tokens_per_minute = Some(7_000))
            .await;
        let long = "a ".repeat(2_000);
        shelf.add(&[long.as_str(); 5]).await;
        let limits = ToldLimits {
            requests: None,
            input_tokens: Some(told),
            output_tokens: None,
        };
        let noted = shelf
            .store
            .note_limits(SONNET.to_owned(), Some(limits), None, NOW);
        noted.await.unwrap();
        assert_eq!(shelf.claim(9, NOW).await.len(), expected, "told {told}");
        let limit = shelf
            .store
            .overview(local(NOW))
            .await
            .unwrap()
            .budget
            .input_tokens
            .limit;
        assert_eq!(limit, Some(told.min(7_000)));
    }
}

#[tokio::test]
async fn a_model_that_wants_no_more_holds_up_no_other_lane() {
    for (held_lane, free_lane) in [
        (QueueName::High, QueueName::Bulk),
        (QueueName::Bulk, QueueName::High),
    ] {
        let shelf = shelf();
        shelf.set(|settings| settings.bulk_floor = 1).await;
        let held = NewBatch {
            queue: held_lane,
            ..batch(&["one", "two"])
        };
        shelf.submit(held, NOW).await;
        let free = NewBatch {
            queue: free_lane,
            model: "claude-haiku-5-5".to_owned(),
            ..batch(&["six", "ten"])
        };
        let free = shelf.submit(free, NOW).await;
        let noted = shelf
            .store
            .note_limits(SONNET.to_owned(), None, Some(minutes(9)), NOW);
        noted.await.unwrap();
        let claimed = shelf.claim(9, seconds(5)).await;
        assert_eq!(claimed.len(), 2, "{free_lane:?} goes on");
        assert!(claimed.iter().all(|job| free.contains(&job.lease.job_id)));
    }
}

#[tokio::test]
async fn what_needs_no_budget_does_not_wait_behind_what_does() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.requests_per_minute = Some(1))
        .await;
    shelf.add(&["one", "two", "six", "ten", "red", "sea"]).await;
    let free = NewBatch {
        provider: crate::model::Provider::Offline,
        ..batch(&["free", "freer"])
    };
    shelf.submit(free, NOW).await;
    let claimed = shelf.claim(9, NOW).await;
    let titles: Vec<_> = claimed.iter().map(|job| job.title.as_str()).collect();
    assert_eq!(titles, ["one", "free", "freer"]);
}

#[tokio::test]
async fn while_it_is_bulks_turn_high_says_what_it_waits_for() {
    let shelf = shelf();
    shelf
        .set(|settings| {
            settings.bulk_floor = 1;
            settings.tokens_per_minute = 10_000;
        })
        .await;
    let added = shelf.add(&["one", "two"]).await;
    shelf.claim(1, NOW).await;
    let large = NewBatch {
        queue: QueueName::Bulk,
        max_tokens: 9_500,
        ..batch(&["large", "larger"])
    };
    shelf.submit(large, NOW).await;
    assert!(
        shelf.claim(9, seconds(5)).await.is_empty(),
        "it is bulk's turn"
    );
    let outlook = shelf.store.outlook(local(seconds(5))).await.unwrap();
    let until = seconds(61);
    for lane in &outlook.lanes {
        assert_eq!(lane.obstacle, Some(WaitingReason::TokenBudget { until }));
    }
    assert_eq!(outlook.wake_at, Some(until));
    let job = shelf.look_at(&added[1], seconds(5)).await.job;
    assert_eq!(job.waiting, Some(WaitingReason::TokenBudget { until }));
    assert_eq!(shelf.claim(9, until).await[0].queue, QueueName::Bulk);
}

/// Seed defect 38: the windows outlive the program.
#[tokio::test]
async fn a_restart_keeps_the_window() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.requests_per_minute = Some(2))
        .await;
    shelf.add(&["one", "two", "six", "ten"]).await;
    assert_eq!(shelf.claim(9, NOW).await.len(), 2);
    let again = Shelf {
        store: Store::open(&shelf.folder.path().join("gistmill.db")).unwrap(),
        folder: shelf.folder,
    };
    again.store.recover_interrupted(seconds(1)).await.unwrap();
    assert!(again.claim(9, seconds(60)).await.is_empty());
    assert_eq!(again.claim(9, seconds(61)).await.len(), 2);
}

#[tokio::test]
async fn a_clock_that_goes_back_an_hour_lets_no_more_through_and_stalls_nothing() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.requests_per_minute = Some(2))
        .await;
    shelf.add(&["one", "two", "six", "ten", "red"]).await;
    let claimed = shelf.claim(2, NOW).await;
    shelf
        .end(&claimed[0].lease, retry_at(seconds(30)), NOW)
        .await;
    let noted = shelf
        .store
        .note_limits(SONNET.to_owned(), None, Some(seconds(20)), NOW);
    noted.await.unwrap();
    let back = |count| Timestamp(seconds(count).0 - 3_600_000);
    for second in 0..61 {
        assert!(
            shelf.claim(9, back(second)).await.is_empty(),
            "{second} s after it went back, two calls are not a minute ago"
        );
    }
    let claimed_later = shelf.claim(9, back(61)).await;
    assert_eq!(claimed_later.len(), 2, "and a minute later there is room");
    shelf.act(&[], BulkAction::RunNow, back(62)).await;
    let rest = shelf.claim(9, back(122)).await;
    assert_eq!(rest.len(), 2, "the retry waits as long as it would have");
    // What is settled now is of no second that is to come.
    shelf.finish(&claimed[1].lease, back(122)).await;
}

#[tokio::test]
async fn a_call_from_before_the_clock_went_back_takes_nothing_from_another_ones_second() {
    let shelf = shelf();
    shelf.add(&["one", "two", "six"]).await;
    let late = shelf.claim(1, NOW).await.remove(0).lease;
    shelf.store.recover_interrupted(NOW).await.unwrap();
    let back = Timestamp(NOW.0 - 3_600_000);
    assert_eq!(shelf.work(1, back).await, std::slice::from_ref(&late.job_id));
    // The clock comes to the second of the first call once more.
    assert_eq!(shelf.claim(1, NOW).await.len(), 1);
    let kept = shelf
        .store
        .keep_answer(late, answer(), settled(), seconds(1));
    assert!(!kept.await.unwrap());
    let promised: i64 = shelf
        .ask("SELECT input_tokens + output_tokens FROM usage_seconds WHERE second = 1795953600")
        .await;
    assert_eq!(
        promised, 1_201,
        "what the second call was promised is still in use"
    );
}
