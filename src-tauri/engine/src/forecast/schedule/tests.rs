//! What takes how long, told beforehand.

use super::*;

const NOW: Timestamp = Timestamp(1_795_953_600_000);

/// A call that uses what it is promised.
fn call(input: u64, output: u64, ms: u64) -> Call {
    Call {
        promised_input: input,
        promised_output: output,
        input,
        output,
        ms,
    }
}

fn lane(concurrency: u32, jobs: &[JobCalls]) -> LanePlay<'_> {
    LanePlay {
        concurrency,
        running: 0,
        waiting: 0,
        before: Call::default(),
        jobs,
        ready_at: NOW,
        opens: None,
    }
}

fn tokens(limit: u64) -> Limits {
    Limits {
        tokens: Some(limit),
        ..Limits::default()
    }
}

/// A pace that has grown already.
fn wide() -> Pace {
    let mut pace = Pace::default();
    for _ in 0..100 {
        pace.taken(u32::MAX);
    }
    pace
}

fn play<'play>(limits: Limits, lanes: [LanePlay<'play>; 2]) -> Play<'play> {
    Play {
        now: NOW,
        limits,
        used: Vec::new(),
        pace: wide(),
        lanes,
    }
}

/// Returns the seconds until the jobs have ended, and what took them.
fn seconds(play: &Play<'_>) -> (i64, LimitedBy) {
    let played = finish(play).unwrap();
    ((played.at.0 - NOW.0) / 1_000, played.limited_by)
}

#[test]
fn few_jobs_take_as_long_as_one_answer() {
    let jobs = vec![vec![call(1_000, 200, 8_000)]; 5];
    let all = play(tokens(400_000), [lane(10, &jobs), lane(3, &[])]);
    assert_eq!(seconds(&all), (8, LimitedBy::Answers));
}

#[test]
fn many_jobs_wait_for_places() {
    let jobs = vec![vec![call(1_000, 200, 10_000)]; 50];
    let all = play(tokens(10_000_000), [lane(10, &jobs), lane(3, &[])]);
    assert_eq!(seconds(&all), (50, LimitedBy::Concurrency));
    let bulk = play(tokens(10_000_000), [lane(10, &[]), lane(3, &jobs)]);
    assert_eq!(seconds(&bulk), (170, LimitedBy::Concurrency));
}

#[test]
fn the_tokens_of_a_minute_make_waves() {
    // Ten fit in a minute; the next ten start when the tenth of a second of the first has left the window.
    let jobs = vec![vec![call(9_000, 1_000, 5_000)]; 30];
    let all = play(tokens(100_000), [lane(50, &jobs), lane(3, &[])]);
    assert_eq!(seconds(&all), (60 + 60 + 5, LimitedBy::Tokens));
}

#[test]
fn what_was_used_a_moment_ago_counts() {
    let jobs = vec![vec![call(9_000, 1_000, 5_000)]; 10];
    let mut all = play(tokens(100_000), [lane(50, &jobs), lane(3, &[])]);
    let half_a_minute_ago = NOW.0 / 100 - 300;
    let used = Used {
        requests: 1,
        input: 50_000,
        output: 0,
    };
    all.used = vec![(half_a_minute_ago, used)];
    assert_eq!(
        seconds(&all),
        (30 + 5, LimitedBy::Tokens),
        "five start at once, and five when the old tokens have left the window"
    );
}

#[test]
fn what_a_call_does_not_use_is_given_back() {
    let promised = Call {
        promised_output: 9_000,
        ..call(1_000, 1_000, 5_000)
    };
    let jobs = vec![vec![promised]; 20];
    let all = play(tokens(100_000), [lane(50, &jobs), lane(3, &[])]);
    let (time, _) = seconds(&all);
    assert!(
        time < 30,
        "twenty calls use 40,000 tokens, though each is promised 10,000 of 100,000: {time} s"
    );
}

#[test]
fn requests_have_a_limit_of_their_own() {
    let jobs = vec![vec![call(10, 10, 1_000)]; 6];
    let limits = Limits {
        requests: Some(2),
        ..Limits::default()
    };
    let all = play(limits, [lane(50, &jobs), lane(3, &[])]);
    assert_eq!(seconds(&all), (60 + 60 + 1, LimitedBy::Requests));
}

#[test]
fn the_start_is_slow() {
    let jobs = vec![vec![call(10, 10, 10_000)]; 16];
    let mut all = play(tokens(400_000), [lane(50, &jobs), lane(3, &[])]);
    all.pace = Pace::default();
    // Two, four more and eight more half a second apart each, and the last two after one and a half.
    assert_eq!(finish(&all).unwrap().at.0 - NOW.0, 11_500);
}

#[test]
fn jobs_in_line_before_go_first_and_high_before_bulk() {
    let jobs = vec![vec![call(9_000, 1_000, 5_000)]; 10];
    let mut high = lane(50, &[]);
    high.waiting = 10;
    high.before = call(9_000, 1_000, 5_000);
    let all = play(tokens(100_000), [high, lane(50, &jobs)]);
    assert_eq!(seconds(&all), (60 + 5, LimitedBy::Tokens));
    let mut bulk = lane(2, &jobs);
    bulk.waiting = 10;
    bulk.before = call(10, 10, 10_000);
    let all = play(tokens(10_000_000), [lane(50, &[]), bulk]);
    assert_eq!(seconds(&all), (50 + 25, LimitedBy::Concurrency));
}

#[test]
fn the_parts_of_a_document_follow_each_other() {
    let jobs = vec![vec![call(100, 100, 10_000); 4]];
    let all = play(tokens(400_000), [lane(10, &jobs), lane(3, &[])]);
    assert_eq!(seconds(&all), (40, LimitedBy::Answers));
}

#[test]
fn bulk_waits_for_its_hours_again_and_again() {
    // Open for ten seconds of each hundred.
    let opens = |moment: Timestamp| {
        let into = (moment.0 - NOW.0).rem_euclid(100_000);
        if into < 10_000 {
            moment
        } else {
            Timestamp(moment.0 + 100_000 - into)
        }
    };
    let jobs = vec![vec![call(10, 10, 6_000)]; 6];
    let mut bulk = lane(1, &jobs);
    bulk.opens = Some(&opens);
    let all = play(tokens(400_000), [lane(10, &[]), bulk]);
    // Two begin in each opening: at 0 and 6, 100 and 106, 200 and 206.
    assert_eq!(seconds(&all), (212, LimitedBy::Hours));
}

#[test]
fn a_call_larger_than_a_minute_runs_alone_and_the_others_do_not_wait_for_it() {
    let mut jobs = vec![vec![call(500_000, 1_000, 5_000)]];
    jobs.extend(vec![vec![call(9_000, 1_000, 5_000)]; 3]);
    let all = play(tokens(100_000), [lane(50, &jobs), lane(3, &[])]);
    // The three start at once; the large one when their moment has left the window.
    assert_eq!(seconds(&all).0, 60 + 5);
}

#[test]
fn what_never_starts_has_no_end() {
    let jobs = vec![vec![call(10, 10, 1_000)]; 2];
    let all = play(tokens(100), [lane(0, &jobs), lane(3, &[])]);
    assert_eq!(finish(&all), None);
    let many = vec![vec![call(10, 10, 1_000)]];
    let mut high = lane(10, &many);
    high.waiting = MOST_CALLS;
    assert_eq!(finish(&play(tokens(100), [high, lane(3, &[])])), None);
}
