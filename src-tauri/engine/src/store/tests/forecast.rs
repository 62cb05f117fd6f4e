//! Forecasts against what the queue really does: the same jobs, played and driven.

use std::collections::VecDeque;

use super::support::*;
use crate::forecast::{Call, LanePlay, Play, finish};
use crate::model::{
    DocumentFacts, DocumentView, Encryption, JobId, LimitedBy, QueueName, Sends, Settings, Sha256,
    Timestamp,
};
use crate::pace::{Pace, TAKEN_AFTER};
use crate::store::learned::{self, CallSample};
use crate::store::{ClaimRequest, ClaimedJob, CountedFor, NewBatch, NewInput, NewJob, Settlement};

/// What a forecast may be off by, in percent of what it took.
const MOST_OFF_PERCENT: i64 = 5;

/// Numbers that look like chance and are the same each time.
struct Chance(u64);

impl Chance {
    /// Returns a number that is so many percent of `middle`, up or down, at most.
    fn around(&mut self, middle: u64, percent: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let span = middle * percent / 100;
        middle - span + (self.0 >> 33) % (2 * span + 1)
    }
}

/// How a case is set.
struct Case {
    name: &'static str,
    jobs: usize,
    queue: QueueName,
    /// Characters of each prompt, and how many milliseconds an answer takes, on average.
    characters: u64,
    ms: u64,
    /// Jobs of the same kind in line before.
    before: usize,
    limits: fn(&mut Settings),
    limited_by: LimitedBy,
}

/// Output tokens of an answer, on average.
const OUTPUT: u64 = 600;
/// How far the answers of the driven queue are from the average, in percent.
const SPREAD: u64 = 40;

/// Returns jobs with prompts of about so many characters.
fn prompts(count: usize, characters: u64, queue: QueueName, chance: &mut Chance) -> NewBatch {
    let texts: Vec<String> = (0..count)
        .map(|_| {
            let length = chance.around(characters, SPREAD);
            "x".repeat(usize::try_from(length).unwrap())
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    NewBatch {
        queue,
        ..batch(&texts)
    }
}

/// Works the queue with a clock that is turned, as the consumer would. Returns when all of `jobs` have ended.
async fn drive(shelf: &Shelf, jobs: &[JobId], ms: u64, chance: &mut Chance) -> Timestamp {
    let mut now = NOW;
    let mut pace = Pace::default();
    // When the calls that were not refused until then are taken.
    let mut taken: VecDeque<Timestamp> = VecDeque::new();
    let mut running: Vec<(Timestamp, ClaimedJob)> = Vec::new();
    let mut left: std::collections::HashSet<JobId> = jobs.iter().cloned().collect();
    // Ends with the jobs: each round ends one, or comes to a moment at which something may begin.
    loop {
        loop {
            let of = |queue| {
                let count = running.iter().filter(|(_, job)| job.queue == queue).count();
                (queue, u32::try_from(count).unwrap())
            };
            let asking = u32::try_from(running.len()).unwrap();
            let request = ClaimRequest {
                running: QueueName::ALL.map(of).to_vec(),
                claude_room: pace.limit().saturating_sub(asking),
                ..request(100, now)
            };
            let claimed = shelf.store.claim(request).await.unwrap();
            if claimed.is_empty() {
                break;
            }
            for job in claimed {
                let took = i64::try_from(chance.around(ms, SPREAD)).unwrap();
                running.push((Timestamp(now.0 + took), job));
                taken.push_back(now.after(TAKEN_AFTER));
            }
        }
        let wake_at = shelf.store.outlook(local(now)).await.unwrap().wake_at;
        let ends = running.iter().map(|(end, _)| *end).min();
        now = [ends, wake_at, taken.front().copied()]
            .into_iter()
            .flatten()
            .min()
            .expect("something goes on");
        let asking = u32::try_from(running.len()).unwrap();
        while taken.front().is_some_and(|taken| *taken <= now) {
            taken.pop_front();
            pace.taken(asking);
        }
        let Some(index) = running.iter().position(|(end, _)| *end <= now) else {
            continue;
        };
        pace.succeeded(asking);
        let (_, job) = running.swap_remove(index);
        let settlement = Settlement::Known {
            input_tokens: job.estimated_input.unwrap(),
            output_tokens: chance.around(OUTPUT, SPREAD),
            micros: Some(600),
        };
        let store = &shelf.store;
        let kept = store.keep_answer(job.lease.clone(), answer(), settlement, now);
        assert!(kept.await.unwrap(), "the lease holds");
        let completed = store.complete(job.lease.clone(), result(&job.lease.job_id), now);
        assert!(completed.await.unwrap(), "the lease holds");
        left.remove(&job.lease.job_id);
        if left.is_empty() {
            return now;
        }
    }
}

/// Returns when the jobs of a case are said to have ended, before they are added.
async fn forecast(shelf: &Shelf, case: &Case) -> crate::forecast::Played {
    let conditions = shelf
        .store
        .conditions(local(NOW), SONNET.to_owned())
        .await
        .unwrap();
    let call = |input: u64, promised: u64| Call {
        promised_input: promised,
        promised_output: 1_000,
        input,
        output: OUTPUT,
        ms: case.ms,
    };
    // As the estimate of a prompt: four letters a token, three of a dense one, and its frame.
    let own = call(case.characters / 4 + 10, case.characters / 3 + 200);
    let jobs = vec![vec![own]; case.jobs];
    let lanes = [0, 1].map(|place| {
        let lane = &conditions.lanes[place];
        LanePlay {
            concurrency: lane.concurrency,
            running: lane.running,
            waiting: lane.waiting,
            before: call(lane.average.expected_input, lane.average.dense_input),
            jobs: if lane.queue == case.queue { &jobs } else { &[] },
            ready_at: Timestamp(NOW.0 + i64::from(lane.delay_ms)),
            opens: None,
        }
    });
    finish(&Play {
        now: NOW,
        limits: conditions.limits,
        used: conditions.used,
        pace: Pace::default(),
        lanes,
    })
    .unwrap()
}

#[tokio::test]
async fn what_is_forecast_is_what_the_queue_takes() {
    let cases = [
        Case {
            name: "tokens",
            jobs: 120,
            queue: QueueName::High,
            characters: 8_000,
            ms: 6_000,
            before: 0,
            limits: |settings| settings.tokens_per_minute = 60_000,
            limited_by: LimitedBy::Tokens,
        },
        Case {
            name: "places",
            jobs: 90,
            queue: QueueName::Bulk,
            characters: 2_000,
            ms: 9_000,
            before: 0,
            limits: |settings| settings.tokens_per_minute = 4_000_000,
            limited_by: LimitedBy::Concurrency,
        },
        Case {
            name: "requests",
            jobs: 80,
            queue: QueueName::High,
            characters: 400,
            ms: 3_000,
            before: 0,
            limits: |settings| settings.requests_per_minute = Some(20),
            limited_by: LimitedBy::Requests,
        },
        Case {
            name: "behind others",
            jobs: 60,
            queue: QueueName::Bulk,
            characters: 8_000,
            ms: 6_000,
            before: 80,
            limits: |settings| settings.tokens_per_minute = 60_000,
            limited_by: LimitedBy::Tokens,
        },
    ];
    for case in cases {
        let shelf = shelf();
        shelf.hurry().await;
        shelf.set(case.limits).await;
        let mut chance = Chance(7);
        if case.before > 0 {
            let before = prompts(case.before, case.characters, QueueName::High, &mut chance);
            shelf.submit(before, NOW).await;
        }
        let told = forecast(&shelf, &case).await;
        let new = prompts(case.jobs, case.characters, case.queue, &mut chance);
        let jobs = shelf.submit(new, NOW).await;
        let took = drive(&shelf, &jobs, case.ms, &mut chance).await.0 - NOW.0;
        let told_ms = told.at.0 - NOW.0;
        let off = (told_ms - took).abs() * 100 / took;
        assert!(
            off <= MOST_OFF_PERCENT,
            "{}: {} s were told, {} s it took: {off} % off",
            case.name,
            told_ms / 1_000,
            took / 1_000
        );
        assert_eq!(told.limited_by, case.limited_by, "{}", case.name);
    }
}

/// Returns a batch of PDFs with these names.
fn pdfs(names: &[&str]) -> NewBatch {
    NewBatch {
        template: Some(("pdf-summarize".to_owned(), 1)),
        jobs: names
            .iter()
            .map(|name| NewJob {
                job_id: JobId::generate(),
                title: (*name).to_owned(),
                input: NewInput::Pdf {
                    path: format!("/there/{name}"),
                    relative_path: (*name).to_owned(),
                    modified_ms: 0,
                    document: Some(DocumentView {
                        sha256: Sha256::of(name.as_bytes()),
                        bytes: 1_000,
                        pages: Some(20),
                        encryption: Encryption::None,
                        has_text: None,
                        facts: DocumentFacts::default(),
                        finding: None,
                    }),
                    measures: None,
                },
                finding: None,
                reused: None,
                parts: Vec::new(),
            })
            .collect(),
        ..batch(&[])
    }
}

fn counted_for(asks: &str) -> CountedFor {
    CountedFor {
        model: SONNET.to_owned(),
        sends: Sends::Pdf,
        asks: asks.to_owned(),
    }
}

#[tokio::test]
async fn a_count_is_reserved_of_the_minute_and_the_worst_of_the_caps() {
    let shelf = shelf();
    let names = ["a.pdf", "b.pdf"];
    let counted = Sha256::of(b"a.pdf");
    for (asks, tokens) in [("prose", 30_000), ("cited-prose", 77_000)] {
        shelf
            .store
            .record_count(counted_for(asks), counted.clone(), tokens, NOW)
            .await
            .unwrap();
    }
    let jobs = shelf.submit(pdfs(&names), NOW).await;
    let claimed = shelf.claim(9, NOW).await;
    assert_eq!(claimed.len(), 2);
    let [counted_input, estimated_input] = [
        shelf
            .ask::<i64>("SELECT input_tokens FROM ledger ORDER BY entry_id LIMIT 1")
            .await,
        shelf
            .ask::<i64>("SELECT input_tokens FROM ledger ORDER BY entry_id DESC LIMIT 1")
            .await,
    ];
    assert!(
        (30_100..31_200).contains(&counted_input),
        "the count of this question, its prompt and a little more: {counted_input}"
    );
    assert!(
        estimated_input > 55_000,
        "pages that nobody counted are taken for dense ones: {estimated_input}"
    );
    let alike: bool = shelf
        .ask("SELECT count(DISTINCT micros) = 1 FROM ledger")
        .await;
    assert!(alike, "money is promised by bounds, whoever counted");
    let estimated = shelf.look(&jobs[0]).await.attempts[0].estimated_input_tokens;
    assert!(
        estimated.unwrap() > 35_000,
        "the attempt keeps the estimate, to be compared with what it took: {estimated:?}"
    );
}

#[tokio::test]
async fn counts_are_kept_for_their_question_and_forgotten_with_the_address() {
    let shelf = shelf();
    let documents = vec![Sha256::of(b"a.pdf"), Sha256::of(b"b.pdf")];
    let found = async |asks: &str| {
        let found = shelf.store.counted(counted_for(asks), documents.clone());
        let mut found: Vec<u64> = found.await.unwrap().into_values().collect();
        found.sort_unstable();
        found
    };
    for (document, tokens) in documents.iter().zip([10, 20]) {
        shelf
            .store
            .record_count(counted_for("prose"), document.clone(), tokens, NOW)
            .await
            .unwrap();
    }
    assert_eq!(found("prose").await, [10, 20]);
    assert!(
        found("invoice-v1").await.is_empty(),
        "fields are asked otherwise"
    );
    shelf
        .store
        .record_count(counted_for("prose"), documents[0].clone(), 11, NOW)
        .await
        .unwrap();
    assert_eq!(found("prose").await, [11, 20], "the newest count holds");
    shelf.store.forget_counts().await.unwrap();
    assert!(found("prose").await.is_empty());
}

#[tokio::test]
async fn the_minute_reserves_what_earlier_answers_were_and_a_cap_the_limit() {
    let shelf = shelf();
    let record = async |output_tokens: u64| {
        let sample = CallSample {
            model: SONNET.to_owned(),
            template: "pdf-summarize-v1".to_owned(),
            sends: Sends::Pdf,
            step: "whole".to_owned(),
            input_percent: None,
            output_tokens,
            ran_ms: Some(4_000),
        };
        let recorded = shelf
            .store
            .write(move |connection| learned::record(connection, &sample, NOW));
        recorded.await.unwrap();
    };
    let reserved = async || {
        shelf.submit(pdfs(&["a.pdf", "b.pdf"]), NOW).await;
        shelf.claim(9, NOW).await;
        let output: i64 = shelf
            .ask("SELECT output_tokens FROM ledger ORDER BY entry_id DESC LIMIT 1")
            .await;
        let micros: i64 = shelf
            .ask("SELECT micros FROM ledger ORDER BY entry_id DESC LIMIT 1")
            .await;
        (output, micros)
    };
    for output in 1..=19 {
        record(output * 10).await;
    }
    let (few, micros_of_few) = reserved().await;
    assert_eq!(few, 1_000, "nineteen answers are too few to rely on");
    record(700).await;
    let (many, micros_of_many) = reserved().await;
    assert_eq!(many, 700, "the longest of twenty");
    assert_eq!(micros_of_few, micros_of_many, "a cap reserves the limit");
    for _ in 0..200 {
        record(50).await;
    }
    let (later, _) = reserved().await;
    assert_eq!(later, 50, "old answers are forgotten");
    let history = shelf
        .store
        .output_history(SONNET.to_owned(), "pdf-summarize-v1".to_owned());
    assert_eq!(history.await.unwrap().unwrap().answers, 200);
    let latency = shelf
        .store
        .latency(SONNET.to_owned(), "another-v1".to_owned());
    assert_eq!(
        latency.await.unwrap().unwrap().mean_ms,
        4_000,
        "a template that was never asked takes as long as others by the same model"
    );
}
