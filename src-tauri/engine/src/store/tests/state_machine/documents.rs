//! What may happen to long documents that have all the room they need, so that many come to their end.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::steps::{
    Change, Document, Happening, How, MODELS, NewSubmission, Picked, Settle, Step, Usage, change,
    person, pick, queue, work,
};
use crate::model::{BulkAction, Provider};

/// Two long documents that nothing holds.
fn two_documents() -> impl Strategy<Value = Vec<Happening>> {
    let pages = select(&[8, 8, 120, 700_u32][..]);
    (queue(), pages, 2..=4_u32).prop_map(|(queue, pages, parts)| {
        let submission = NewSubmission {
            queue,
            delivery: None,
            provider: Provider::Claude,
            model: MODELS[0],
            jobs: 2,
            document: Some(Document { pages, parts }),
            max_tokens: 500,
            cap: None,
            paused: false,
        };
        let room = Step::SetLimits {
            tokens: 5_000_000,
            requests: None,
            day: None,
            floor: 0,
        };
        [room, Step::Submit(submission)]
            .map(|step| Happening {
                step,
                undone: false,
            })
            .to_vec()
    })
}

/// What happens to documents in the middle.
fn step_of_documents() -> impl Strategy<Value = Step> {
    let few =
        || (0..8_usize, prop::bool::weighted(0.1)).prop_map(|(pick, late)| Picked { pick, late });
    let ends = prop_oneof![
        2 => Just(How::Retry { delay_s: 0 }),
        1 => Just(How::Defer),
        2 => Just(How::Fail),
        1 => Just(How::Cancel),
    ];
    prop_oneof![
        8 => Just(Step::Claim { claude_room: 8, limit: 8 }),
        1 => Just(Step::Drain),
        3 => few().prop_map(|pick| Step::Answer { pick, usage: Usage::All }),
        6 => (few(), prop::bool::weighted(0.2))
            .prop_map(|(pick, review)| Step::Complete { pick, review }),
        4 => (few(), ends, select(&[Settle::Unknown, Settle::Asked, Settle::Known][..]))
            .prop_map(|(pick, how, settle)| Step::End { pick, how, settle }),
        3 => Just(Step::Crash),
        1 => few().prop_map(|pick| Step::Divide { pick }),
        1 => Just(Step::Clock { by_ms: 61_000 }),
        4 => pick().prop_map(|pick| Step::Redrive { pick, changes: Change::Nothing }),
        1 => (pick(), change()).prop_map(|(pick, changes)| Step::Redrive { pick, changes }),
        1 => pick().prop_map(|pick| Step::Act { pick, action: BulkAction::Cancel }),
        2 => prop_oneof![work(), person()],
    ]
}

/// Returns what may happen in turn to long documents that have all the room they need.
pub(super) fn documents(steps: usize) -> impl Strategy<Value = Vec<Happening>> {
    let later = (step_of_documents(), prop::bool::weighted(0.05))
        .prop_map(|(step, undone)| Happening { step, undone });
    (two_documents(), vec(later, 0..=steps)).prop_map(|(mut first, later)| {
        first.extend(later);
        first
    })
}
