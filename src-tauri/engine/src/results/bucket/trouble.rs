//! What a server or the network says when something could not be uploaded, in words.

use std::error::Error;
use std::io;

use object_store::client::{HttpError, HttpErrorKind};

use super::address::Place;
use crate::model::{UploadCause, UploadTrouble};

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Write,
    Read,
    Delete,
}

impl Step {
    const fn words(self) -> &'static str {
        match self {
            Self::Write => "write to",
            Self::Read => "read from",
            Self::Delete => "delete from",
        }
    }
}

/// What an error of `object_store` is at its root.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Root {
    /// The server answered.
    Answer {
        status: u16,
        /// S3's name for the error; a server need not give one.
        code: Option<String>,
        /// R2 says only in its message that a key id can't be one.
        is_key_malformed: bool,
    },
    /// No connection was made. Holds why.
    Unreachable(&'static str),
    /// The answer did not come in time.
    TimedOut,
    /// The connection broke in the middle.
    Cut,
    /// The connection broke in another way.
    Broken,
    /// The answer is not one that S3 gives.
    Unknown,
}

/// Returns S3's name for what the server answered with, if it answered with an error and named it.
pub(super) fn code(error: &object_store::Error) -> Option<String> {
    match root(error) {
        Root::Answer { code, .. } => code,
        _ => None,
    }
}

/// Tells whether a connection broke while the body was on its way. `object_store` tries it again where it
/// knows that nothing arrived, and not otherwise.
pub(super) fn was_cut(error: &object_store::Error) -> bool {
    match root(error) {
        Root::Cut => true,
        Root::Answer { code, .. } => matches!(
            code.as_deref(),
            Some("ClientDisconnect" | "IncompleteBody" | "RequestTimeout")
        ),
        _ => false,
    }
}

/// Says what an error means. Of what the server wrote, only its status and the error's name get into
/// the message: bodies can repeat what was signed.
pub(super) fn trouble(error: &object_store::Error, place: &Place, step: Step) -> UploadTrouble {
    let root = root(error);
    let cause = cause(&root, step);
    UploadTrouble::new(cause, message(&root, cause, place, step))
}

fn message(root: &Root, cause: UploadCause, place: &Place, step: Step) -> String {
    let (server, bucket) = (place.server(), place.bucket.as_str());
    let said = match root {
        Root::Answer {
            status,
            code: Some(code),
            ..
        } => format!("status {status}, {code}"),
        Root::Answer { status, .. } => format!("status {status}"),
        _ => "no status".to_owned(),
    };
    match cause {
        UploadCause::KeyUnknown => format!("{server} does not know the access key id."),
        UploadCause::SecretWrong => {
            "The secret access key does not belong to the access key id.".to_owned()
        }
        UploadCause::NotAllowed => {
            format!(
                "The access key may not {} the bucket “{bucket}”.",
                step.words()
            )
        }
        UploadCause::BucketMissing => {
            format!("There is no bucket “{bucket}” at {}.", place.endpoint)
        }
        UploadCause::ClockWrong => {
            format!("This computer's clock differs from that of {server} by many minutes.")
        }
        UploadCause::NotSubscribed => "R2 is not switched on for this account.".to_owned(),
        UploadCause::TooMany => format!("{server} wants fewer requests for a while ({said})."),
        UploadCause::ServerTrouble => format!("{server} has trouble of its own ({said})."),
        UploadCause::TooLarge => format!("The file is larger than {server} takes at once."),
        UploadCause::Unreachable => {
            let why = match root {
                Root::Unreachable(why) => why,
                _ => "it does not answer",
            };
            format!("{} can't be reached: {why}.", place.endpoint)
        }
        UploadCause::Interrupted => match root {
            Root::TimedOut => format!("{server} did not answer in time."),
            Root::Answer { .. } => format!("The upload did not arrive whole ({said})."),
            _ => format!("The connection to {server} broke off."),
        },
        _ => match root {
            Root::Answer { .. } => {
                format!(
                    "{server} refused to {} the bucket “{bucket}” ({said}).",
                    step.words()
                )
            }
            _ => format!("{} does not answer as a bucket does.", place.endpoint),
        },
    }
}

fn cause(root: &Root, step: Step) -> UploadCause {
    let (status, code, is_key_malformed) = match root {
        Root::Answer {
            status,
            code,
            is_key_malformed,
        } => (
            *status,
            code.as_deref().unwrap_or_default(),
            *is_key_malformed,
        ),
        Root::Unreachable(_) => return UploadCause::Unreachable,
        Root::TimedOut | Root::Cut | Root::Broken => return UploadCause::Interrupted,
        Root::Unknown => return UploadCause::Refused,
    };
    match code {
        _ if is_key_malformed => UploadCause::KeyUnknown,
        "InvalidAccessKeyId" | "Unauthorized" => UploadCause::KeyUnknown,
        "SignatureDoesNotMatch" => UploadCause::SecretWrong,
        "AccessDenied" | "ObjectLockedByBucketPolicy" => UploadCause::NotAllowed,
        "NoSuchBucket" | "InvalidBucketName" => UploadCause::BucketMissing,
        "RequestTimeTooSkewed" | "RequestExpired" => UploadCause::ClockWrong,
        "NotEntitled" => UploadCause::NotSubscribed,
        "TooManyRequests" | "SlowDown" => UploadCause::TooMany,
        "EntityTooLarge" => UploadCause::TooLarge,
        "ClientDisconnect" | "IncompleteBody" | "RequestTimeout" => UploadCause::Interrupted,
        "NotImplemented" => UploadCause::Refused,
        _ => match status {
            401 => UploadCause::KeyUnknown,
            403 => UploadCause::NotAllowed,
            404 if step == Step::Write => UploadCause::BucketMissing,
            408 => UploadCause::Interrupted,
            413 => UploadCause::TooLarge,
            429 => UploadCause::TooMany,
            500..=599 => UploadCause::ServerTrouble,
            _ => UploadCause::Refused,
        },
    }
}

fn root(error: &object_store::Error) -> Root {
    // `object_store` keeps its type for an answer to itself: its words are all there is.
    const ANSWERED: &str = "Server returned non-2xx status code: ";
    let mut next: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<HttpError>() {
            return of_transport(error);
        }
        if let Some(answer) = error.to_string().strip_prefix(ANSWERED) {
            return of_answer(answer);
        }
        next = error.source();
    }
    Root::Unknown
}

/// Reads `STATUS REASON: BODY`.
fn of_answer(answer: &str) -> Root {
    let digits = answer.get(..3).and_then(|digits| digits.parse().ok());
    let Some(status) = digits else {
        return Root::Unknown;
    };
    let code = between(answer, "<Code>", "</Code>")
        .filter(|code| code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric()))
        .map(str::to_owned);
    let is_key_malformed = code.as_deref() == Some("InvalidArgument")
        && answer
            .to_ascii_lowercase()
            .contains("access key has length");
    Root::Answer {
        status,
        code,
        is_key_malformed,
    }
}

fn between<'a>(text: &'a str, before: &str, after: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    let (inside, _) = rest.split_once(after)?;
    Some(inside.trim())
}

fn of_transport(error: &HttpError) -> Root {
    // A connection that takes too long to be made is a time-out to `object_store`.
    let is_connecting = error
        .source()
        .and_then(|source| source.downcast_ref::<reqwest::Error>())
        .is_some_and(reqwest::Error::is_connect);
    match error.kind() {
        _ if is_connecting => Root::Unreachable(why_unreachable(error)),
        HttpErrorKind::Connect => Root::Unreachable(why_unreachable(error)),
        HttpErrorKind::Timeout => Root::TimedOut,
        HttpErrorKind::Interrupted => Root::Cut,
        _ => Root::Broken,
    }
}

fn why_unreachable(error: &HttpError) -> &'static str {
    let mut words = String::new();
    let mut next = error.source();
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            match error.kind() {
                io::ErrorKind::ConnectionRefused => return "nothing listens there",
                io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
                    return "there is no way to it on the network";
                }
                io::ErrorKind::TimedOut => return "it does not answer",
                _ => {}
            }
        }
        words = error.to_string().to_ascii_lowercase();
        next = error.source();
    }
    if ["dns", "lookup", "resolve"]
        .iter()
        .any(|word| words.contains(word))
    {
        "its name is not known on the network"
    } else if words.contains("certificate") {
        "its certificate is not trusted"
    } else if ["alert", "handshake", "corrupt message"]
        .iter()
        .any(|word| words.contains(word))
    {
        "it takes no secure connection"
    } else if words.contains("timed out") || words.contains("elapsed") {
        "it does not answer"
    } else {
        "no connection can be made"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::BucketSettings;

    #[derive(Debug, thiserror::Error)]
    #[error("Server returned non-2xx status code: {0}")]
    struct Answered(String);

    fn place() -> Place {
        Place::of(&BucketSettings {
            account_id: "0123456789abcdef0123456789abcdef".to_owned(),
            bucket: "results".to_owned(),
            access_key_id: "key".to_owned(),
            ..BucketSettings::default()
        })
        .unwrap()
    }

    fn said(status: &str, body: &str, step: Step) -> UploadTrouble {
        // Wrapped as a refused create is.
        let inner = object_store::Error::Precondition {
            path: "a".to_owned(),
            source: Box::new(Answered(format!("{status}: {body}"))),
        };
        let error = object_store::Error::AlreadyExists {
            path: "a".to_owned(),
            source: Box::new(inner),
        };
        trouble(&error, &place(), step)
    }

    #[test]
    fn each_of_r2s_errors_has_its_cause() {
        use UploadCause::*;
        for (status, code, expected) in [
            ("401 Unauthorized", "Unauthorized", KeyUnknown),
            ("403 Forbidden", "InvalidAccessKeyId", KeyUnknown),
            ("403 Forbidden", "SignatureDoesNotMatch", SecretWrong),
            ("403 Forbidden", "AccessDenied", NotAllowed),
            ("403 Forbidden", "ObjectLockedByBucketPolicy", NotAllowed),
            ("403 Forbidden", "NotEntitled", NotSubscribed),
            ("403 Forbidden", "RequestTimeTooSkewed", ClockWrong),
            ("404 Not Found", "NoSuchBucket", BucketMissing),
            ("400 Bad Request", "InvalidBucketName", BucketMissing),
            ("400 Bad Request", "ClientDisconnect", Interrupted),
            ("400 Bad Request", "IncompleteBody", Interrupted),
            ("400 Bad Request", "RequestTimeout", Interrupted),
            ("400 Bad Request", "EntityTooLarge", TooLarge),
            ("413 Payload Too Large", "", TooLarge),
            ("429 Too Many Requests", "TooManyRequests", TooMany),
            ("429 Too Many Requests", "", TooMany),
            ("503 Service Unavailable", "SlowDown", TooMany),
            (
                "503 Service Unavailable",
                "ServiceUnavailable",
                ServerTrouble,
            ),
            ("500 Internal Server Error", "InternalError", ServerTrouble),
            ("501 Not Implemented", "NotImplemented", Refused),
            ("400 Bad Request", "InvalidObjectName", Refused),
            ("401 Unauthorized", "", KeyUnknown),
            ("403 Forbidden", "", NotAllowed),
            ("404 Not Found", "", BucketMissing),
        ] {
            let body = format!("<?xml?><Error><Code>{code}</Code><Message>m</Message></Error>");
            let body = if code.is_empty() { "" } else { &body };
            let found = said(status, body, Step::Write);
            assert_eq!(found.cause, expected, "{status} {code}");
            assert!(
                found.message.ends_with('.') && found.hint.ends_with('.'),
                "{found:?}"
            );
        }
        let malformed = "<Error><Code>InvalidArgument</Code><Message>Credential access key has \
                         length 40, should be 32</Message></Error>";
        assert_eq!(
            said("400 Bad Request", malformed, Step::Write).cause,
            KeyUnknown
        );
    }

    #[test]
    fn what_the_server_wrote_is_not_repeated() {
        let body =
            "<Error><Code>Odd</Code><StringToSign>AWS4 signature s3cr3t</StringToSign></Error>";
        let found = said("418 I'm a teapot", body, Step::Read);
        assert_eq!(
            found.message,
            "Cloudflare refused to read from the bucket “results” (status 418, Odd)."
        );
        let page = said("400 Bad Request", "<Code><b>s3cr3t</b></Code>", Step::Write);
        assert!(!page.message.contains("s3cr3t"), "{page:?}");
    }

    #[test]
    fn a_refusal_names_what_is_not_allowed() {
        let denied = "<Error><Code>AccessDenied</Code></Error>";
        for (step, words) in [
            (Step::Write, "write to"),
            (Step::Read, "read from"),
            (Step::Delete, "delete from"),
        ] {
            assert!(said("403 Forbidden", denied, step).message.contains(words));
        }
    }
}
