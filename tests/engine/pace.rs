//! How many calls run at once, and over how many connections.

use std::time::Duration;

use gistmill_engine::model::{LaneSettings, Provider, QueueName, Submitted};
use gistmill_testkit::fake_claude::{Reply, Rule};

use crate::support::{House, submission};

/// How long a call is in question: one that is not refused by then is taken.
const TAKEN_AFTER: Duration = Duration::from_millis(500);
/// How long arrivals are awaited before the clock is turned again.
const LOOK: Duration = Duration::from_millis(20);

async fn lane_of(house: &House, at_once: u32) {
    let lanes = house.engine.overview().await.unwrap().lanes;
    let lane = lanes.iter().find(|lane| lane.queue == QueueName::High);
    let settings = LaneSettings {
        max_concurrency: at_once,
        ..lane.unwrap().settings
    };
    house
        .engine
        .save_lane(QueueName::High, settings)
        .await
        .unwrap();
}

async fn add_prompts(house: &House, count: usize) -> Vec<Submitted> {
    let mut added = Vec::new();
    for number in 0..count {
        let wanted = submission(QueueName::High, Provider::Claude);
        let prompt = format!("What is {number}?");
        added.push(house.engine.submit_prompt(prompt, wanted).await.unwrap());
    }
    added
}

#[tokio::test]
async fn a_wide_lane_is_in_use_long_before_the_first_answer_ends() {
    let house = House::working().await;
    lane_of(&house, 40).await;
    house.claude.script(Rule::always(Reply::Hang));
    add_prompts(&house, 45).await;
    house.claude.arrived(2).await;
    let mut turns = 0;
    while tokio::time::timeout(LOOK, house.claude.arrived(40))
        .await
        .is_err()
    {
        turns += 1;
        assert!(
            turns < 500,
            "only {} calls run, though nobody refuses any",
            house.claude.requests().len()
        );
        house.clock.advance(TAKEN_AFTER);
    }
    assert_eq!(
        house.claude.requests().len(),
        40,
        "a lane runs no more than it may"
    );
}

#[tokio::test]
async fn calls_share_as_many_connections_as_run_at_once() {
    let house = House::working().await;
    lane_of(&house, 2).await;
    for submitted in add_prompts(&house, 12).await {
        house.until_completed(&submitted).await;
    }
    assert_eq!(house.claude.requests().len(), 12);
    assert!(
        house.claude.connections() <= 2,
        "twelve calls, two at once, took {} connections",
        house.claude.connections()
    );
}
