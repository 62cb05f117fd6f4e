//! A simulated hour: no window of 60 s ever exceeds a limit, and none is left unused for nothing.

use std::collections::BTreeMap;

use super::support::*;
use crate::model::{QueueName, Settings, Timestamp};
use crate::store::{ClaimRequest, Lease, NewBatch, Settlement};

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
    /// Whether what it took is known.
    ended: bool,
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
    /// Whether the jobs are of a template, so that what they take becomes known; then their answers take what
    /// answers take, whatever they were promised.
    of_template: bool,
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
            of_template: false,
        }
    }

    /// Leaves nothing scarce but the budget.
    async fn widen(&self) {
        for lane in self.shelf.store.overview(local(NOW)).await.unwrap().lanes {
            let wide = crate::model::LaneSettings {
                max_concurrency: 200,
                ..lane.settings
            };
            self.shelf.store.save_lane(lane.queue, wide).await.unwrap();
        }
    }

    async fn submit(&mut self, queue: QueueName, jobs: usize) {
        let prompts: Vec<String> = (0..jobs)
            .map(|_| "a ".repeat(100 + usize::try_from(self.dice.roll(3_000)).unwrap()))
            .collect();
        let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
        let mut new = NewBatch {
            queue,
            ..batch(&prompts)
        };
        if self.of_template {
            new.template = Some(("pdf-summarize".to_owned(), 1));
            new.max_tokens = 4_000;
        }
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
                ended: false,
            });
            let longest = if self.of_template { 19_000 } else { 90_000 };
            let lasts = 1_000 + i64::try_from(self.dice.roll(longest)).unwrap();
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
            self.calls[call].ended = true;
            let [_, input, output] = self.calls[call].taken;
            if self.dice.roll(20) == 0 {
                let end = retry_at(Timestamp(self.now.0 + 60_000));
                self.shelf.end(&lease, end, self.now).await;
                self.calls[call].taken = [1, 0, 0];
                continue;
            }
            let used = if self.of_template {
                let expected = self.expected(&lease).await;
                let input = expected * 9 / 10 + self.dice.roll(expected / 5);
                [1, input, 200 + self.dice.roll(500)]
            } else {
                [
                    1,
                    input - self.dice.roll(input / 3),
                    output - self.dice.roll(output / 2),
                ]
            };
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

    async fn expected(&self, lease: &Lease) -> u64 {
        let key = (lease.job_id.to_string(), lease.lease_id.clone());
        let expected = self.shelf.store.read(move |connection| {
            Ok(connection.query_row(
                "SELECT estimated_input FROM attempts WHERE job_id = ?1 AND lease_id = ?2",
                key,
                |row| row.get::<_, i64>(0),
            )?)
        });
        expected.await.unwrap().unsigned_abs()
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
        hour.widen().await;
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

/// Calls of 1 to 20 s whose answers are short of their limit by far: what is promised beyond them must not stand
/// idle, and still no minute holds more than the limit of what the calls really take.
#[tokio::test]
async fn once_calls_are_known_nearly_all_of_each_minute_is_used_and_none_holds_more() {
    const LIMIT: u64 = 60_000;
    const MINUTES: u64 = 20;
    let most = Most([1_000, 1_000_000, 1_000_000, LIMIT]);
    let mut hour = Hour::new(|settings| {
        settings.tokens_per_minute = u32::try_from(LIMIT).unwrap();
    })
    .await;
    hour.of_template = true;
    hour.widen().await;
    hour.submit(QueueName::High, 1_500).await;
    hour.run(minutes(MINUTES.cast_signed()), most).await;
    // As if each had taken all of it when it began.
    let known: Vec<Call> = hour
        .calls
        .iter()
        .copied()
        .filter(|call| call.ended)
        .collect();
    for call in &known {
        most.holds(&known, call.at);
    }
    let [requests, input, output] = hour.used();
    assert!(requests > 800, "{requests} calls are a busy time");
    let possible = LIMIT * MINUTES;
    let used = input + output;
    assert!(
        used * 100 >= possible * 93,
        "{used} of {possible} were used with work waiting"
    );
}
