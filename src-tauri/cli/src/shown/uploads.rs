//! How uploads come on, in words.

use gistmill_engine::model::{Timestamp, UploadCause, UploadTrouble, UploadView, UploadsView};

use super::{counted, duration, moment};

/// Returns a line on uploads, where results are uploaded.
pub(crate) fn uploads(view: &UploadsView, now: Timestamp) -> Option<String> {
    if !view.enabled {
        return None;
    }
    let mut parts = vec![match view.waiting {
        0 => "none waits".to_owned(),
        1 => "1 waits".to_owned(),
        more => format!("{more} wait"),
    }];
    if view.waiting > 0
        && let Some(oldest) = view.oldest_at
    {
        parts.push(format!("the oldest since {}", moment(oldest)));
    }
    if view.failed > 0 {
        parts.push(format!(
            "{} given up (“gistmill bucket” says why)",
            counted(view.failed, "was", "were")
        ));
    }
    let mut line = format!("Uploads: {}", parts.join(", "));
    if let Some(trouble) = trouble(view, now) {
        line.push_str(&format!(". {trouble}"));
    }
    Some(line)
}

/// Returns the same without naming the command that shows it in full, for where that was called.
pub(crate) fn uploads_in_full(view: &UploadsView, now: Timestamp) -> Vec<String> {
    let mut lines = Vec::new();
    if view.waiting > 0 {
        let since = view
            .oldest_at
            .map(|oldest| format!(", the oldest since {}", moment(oldest)))
            .unwrap_or_default();
        lines.push(format!(
            "{}{since}.",
            counted(view.waiting, "upload waits", "uploads wait")
        ));
    }
    if view.failed > 0 {
        lines.push(format!(
            "{} given up.",
            counted(view.failed, "upload was", "uploads were")
        ));
    }
    lines.extend(trouble(view, now));
    lines
}

/// Returns what is left to upload when a run ends, and why.
pub(crate) fn uploads_left(view: &UploadsView, now: Timestamp) -> Vec<String> {
    let mut lines = Vec::new();
    if view.enabled && view.waiting > 0 {
        let why = trouble(view, now).unwrap_or_else(|| {
            "They go on while a Gistmill works the queue: run it again, or open the window."
                .to_owned()
        });
        lines.push(format!(
            "{}. {why}",
            counted(view.waiting, "upload still waits", "uploads still wait")
        ));
    }
    if view.enabled && view.failed > 0 {
        lines.push(format!(
            "{} given up: “gistmill bucket” says why.",
            counted(view.failed, "upload was", "uploads were")
        ));
    }
    lines
}

/// Returns what went wrong and what to do about it here.
pub(crate) fn upload_trouble(trouble: &UploadTrouble) -> String {
    let here = match trouble.cause {
        UploadCause::SecretMissing => {
            " Here: “gistmill bucket secret set”, or put it in GISTMILL_R2_SECRET."
        }
        UploadCause::SecretWrong => " Here: “gistmill bucket secret set”.",
        UploadCause::KeyUnknown => " Here: “gistmill bucket set --key-id ID”.",
        UploadCause::BucketMissing => " Here: “gistmill bucket set URL”.",
        UploadCause::OtherJurisdiction => " Here: “gistmill bucket set --jurisdiction WHERE”.",
        UploadCause::Taken | UploadCause::FileGone => " Here: “gistmill bucket retry”.",
        _ => "",
    };
    // Words of the system end without a full stop.
    let message = trouble.message.trim_end_matches('.');
    format!("{message}. {}{here}", trouble.hint)
}

fn trouble(view: &UploadsView, now: Timestamp) -> Option<String> {
    let trouble = view.trouble.as_ref()?;
    let again = view.retry_at.map(|at| again(at, now)).unwrap_or_default();
    Some(upload_trouble(trouble) + &again)
}

/// Returns when something is tried again, as a sentence after another.
pub(crate) fn again(at: Timestamp, now: Timestamp) -> String {
    if at <= now {
        return " Tried again in a moment.".to_owned();
    }
    format!(" Tried again in {}.", duration(at.since(now).as_millis()))
}

/// Returns where the upload of one result stands.
pub(crate) fn upload(view: &UploadView, now: Timestamp) -> String {
    match view {
        UploadView::Waiting { tries: 0, .. } => "waits for its turn".to_owned(),
        UploadView::Waiting { tries, message, at } => format!(
            "tried {}. {}{}",
            counted(u64::from(*tries), "time", "times"),
            message.as_deref().unwrap_or("It did not work."),
            again(*at, now)
        ),
        UploadView::Uploaded { address, at } => format!("{address}, since {}", moment(*at)),
        UploadView::Failed { message, at } => format!(
            "given up {}. {message} “gistmill bucket retry” tries it again.",
            moment(*at)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn view() -> UploadsView {
        UploadsView {
            enabled: true,
            waiting: 3,
            oldest_at: None,
            failed: 1,
            trouble: Some(UploadTrouble {
                cause: UploadCause::Unreachable,
                message: "Nothing answers.".to_owned(),
                hint: "Check the network.".to_owned(),
            }),
            retry_at: Some(Timestamp(NOW.0 + 30_000)),
        }
    }

    #[test]
    fn what_stands_in_the_way_and_when_it_is_tried_again_are_said() {
        assert_eq!(
            uploads(&view(), NOW).as_deref(),
            Some(
                "Uploads: 3 wait, 1 was given up (“gistmill bucket” says why). Nothing answers. \
                 Check the network. Tried again in 0:30."
            )
        );
        assert_eq!(
            uploads_left(&view(), NOW),
            [
                "3 uploads still wait. Nothing answers. Check the network. Tried again in 0:30.",
                "1 upload was given up: “gistmill bucket” says why."
            ]
        );
    }

    #[test]
    fn nothing_is_said_of_a_bucket_that_is_off() {
        let off = UploadsView {
            enabled: false,
            ..view()
        };
        assert_eq!(uploads(&off, NOW), None);
        assert!(uploads_left(&off, NOW).is_empty());
    }

    #[test]
    fn one_upload_waits_was_tried_is_there_or_was_given_up() {
        let waiting = |tries, message: Option<&str>| UploadView::Waiting {
            tries,
            message: message.map(str::to_owned),
            at: Timestamp(NOW.0 + 90_000),
        };
        assert_eq!(upload(&waiting(0, None), NOW), "waits for its turn");
        assert_eq!(
            upload(&waiting(2, Some("Nothing answers.")), NOW),
            "tried 2 times. Nothing answers. Tried again in 1:30."
        );
        let failed = UploadView::Failed {
            message: "The file is gone.".to_owned(),
            at: NOW,
        };
        assert!(upload(&failed, NOW).contains("The file is gone. “gistmill bucket retry”"));
    }
}
