//! Ends this program as kill -9 would, between two durable steps of an attempt, where a test asks for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use gistmill_engine::model::{Problem, ProblemCode};
use gistmill_engine::{FaultHook, FaultPoint};

#[cfg(not(debug_assertions))]
compile_error!(
    "a release build must not be able to end itself: leave out the feature fault-points"
);

/// `POINT:N`: the point (`reserved`, `lent`, `answered`, `kept`, `part-kept`, `stored`, `completed`, `uploaded`),
/// and which time that it is passed ends the program.
pub(crate) const VARIABLE: &str = "GISTMILL_KILL_AT";

/// Returns what the engine calls at every point.
pub(crate) fn hook(wish: &str) -> Result<FaultHook, Problem> {
    let (point, time) = parsed(wish).ok_or_else(|| Problem {
        code: ProblemCode::BadInput,
        message: format!("{VARIABLE} is “{wish}”, which names no moment."),
        hint: "Write POINT:N, such as kept:2.".to_owned(),
    })?;
    let passed = AtomicU64::new(0);
    Ok(Arc::new(move |at| {
        if at == point && passed.fetch_add(1, Ordering::SeqCst) + 1 == time {
            end();
        }
    }))
}

fn parsed(wish: &str) -> Option<(FaultPoint, u64)> {
    let (name, time) = wish.split_once(':')?;
    let point = FaultPoint::ALL
        .into_iter()
        .find(|point| point.as_str() == name)?;
    let time = time.parse().ok().filter(|time| *time > 0)?;
    Some((point, time))
}

/// Ends the program at once: nothing is written, nothing is let go in order.
fn end() {
    #[cfg(unix)]
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).ok();
    // Where there is no such signal; it is as sudden.
    std::process::abort();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_point_and_which_time_it_is_passed() {
        assert_eq!(parsed("kept:2"), Some((FaultPoint::Kept, 2)));
        assert_eq!(parsed("reserved:1"), Some((FaultPoint::Reserved, 1)));
        for nonsense in ["", "kept", "kept:", "kept:0", "kept:-1", "later:1"] {
            assert_eq!(parsed(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn other_points_and_other_times_end_nothing() {
        let hook = hook("stored:3").unwrap_or_else(|problem| panic!("{}", problem.message));
        hook(FaultPoint::Stored);
        hook(FaultPoint::Completed);
        hook(FaultPoint::Stored);
    }
}
