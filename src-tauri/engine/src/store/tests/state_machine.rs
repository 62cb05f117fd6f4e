//! Whatever happens to jobs, in whatever order: every step is compared with a simple model in memory.
//!
//! A sequence runs within one transaction that is undone at its end, so that the next one begins with an
//! empty database; a step runs in a savepoint, as in the writing thread. `GISTMILL_SEQUENCES` sets how
//! many sequences each test tries, `GISTMILL_SEED` another beginning of the random numbers.

mod claiming;
mod documents;
mod finishing;
mod invariants;
mod long;
mod redrive;
mod remote;
mod steps;
mod submitting;
mod waiting;
mod world;

use std::cell::RefCell;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestCaseError, TestRunner};
use rusqlite::Connection;

use self::documents::documents;
use self::remote::handed_over;
use self::steps::{Happening, anything};
use self::world::World;

/// Sequences of each test; there are six of them.
const SEQUENCES: u32 = 2_000;
/// Steps of a sequence, at most; half of it on average.
const STEPS: usize = 48;

/// Returns a number from the environment.
fn wish<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

fn database(folder: &tempfile::TempDir) -> Connection {
    let connection = super::super::open::writer(&folder.path().join("gistmill.db")).unwrap();
    // Nothing of it has to outlive the test.
    for (name, value) in [("synchronous", "OFF"), ("temp_store", "MEMORY")] {
        connection.pragma_update(None, name, value).unwrap();
    }
    connection.set_prepared_statement_cache_capacity(500);
    connection
}

fn run(connection: &Connection, happenings: &[Happening]) -> Result<(), TestCaseError> {
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut world = World::new(connection);
    let mut outcome = Ok(());
    for (number, happening) in happenings.iter().enumerate() {
        outcome = world
            .happen(happening)
            .map_err(|complaint| TestCaseError::fail(format!("step {number}: {complaint}")));
        if outcome.is_err() {
            break;
        }
    }
    connection.execute_batch("ROLLBACK").unwrap();
    outcome
}

fn sequences(chunk: u64, happenings: impl Strategy<Value = Vec<Happening>>) {
    let folder = tempfile::tempdir().unwrap();
    let connection = RefCell::new(database(&folder));
    let config = Config {
        cases: wish("GISTMILL_SEQUENCES").unwrap_or(SEQUENCES),
        failure_persistence: None,
        max_shrink_iters: 20_000,
        rng_algorithm: RngAlgorithm::XorShift,
        rng_seed: RngSeed::Fixed(wish::<u64>("GISTMILL_SEED").unwrap_or(1) * 6 + chunk),
        ..Config::default()
    };
    let ran = TestRunner::new(config).run(&happenings, |happenings| {
        run(&connection.borrow(), &happenings)
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
}

/// Seed defects 10, 13, 15, 16, 18, 19, 24 and 25: accepting is queueing, an end names the state that it
/// expects, a job fails alone, and waiting for budget uses up no attempt.
#[test]
fn any_sequence_keeps_every_promise() {
    sequences(0, anything(STEPS));
}

#[test]
fn any_other_sequence_keeps_every_promise() {
    sequences(1, anything(STEPS));
}

#[test]
fn a_third_part_of_all_sequences_keeps_every_promise() {
    sequences(2, anything(STEPS));
}

#[test]
fn the_last_part_of_all_sequences_keeps_every_promise() {
    sequences(3, anything(STEPS));
}

#[test]
fn long_documents_keep_every_promise_in_any_sequence() {
    sequences(4, documents(STEPS));
}

#[test]
fn what_goes_by_the_batch_api_keeps_every_promise_in_any_sequence() {
    sequences(5, handed_over(STEPS));
}
