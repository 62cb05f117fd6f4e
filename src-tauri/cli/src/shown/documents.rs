//! Documents, and the parts of long ones.

use gistmill_engine::model::{
    AttemptStep, DocumentView, Encryption, Notice, PageRange, PartState, PartView, PartsDone, Sends,
};

use super::counted;
use super::money::money;

/// Says what a notice means for a file.
pub(crate) fn meaning(notice: Notice) -> &'static str {
    match notice {
        Notice::Decrypted => "encrypted, but open to everybody: a decrypted copy is sent",
        Notice::Unlocked => {
            "opened with the password that was given: a decrypted copy is sent, the password is stored nowhere"
        }
        Notice::Repaired => "broken, but readable: a repaired copy is sent",
        Notice::Long => {
            "longer than one call takes: asked part by part, and the answers are combined"
        }
        Notice::Scanned => {
            "hardly any text, so probably scanned: its pages are read as images; where only text is sent, it fails"
        }
        Notice::TextUnreliable => {
            "many letters of unknown meaning: the text is unreliable, the pictures of the pages are not"
        }
        Notice::FieldsUnseen => {
            "a form whose values have no appearance: what was filled in may not be seen"
        }
        Notice::Attachments => "files are attached, which are not sent",
        Notice::PagesUncertain => {
            "the pages could not be counted with certainty: the price may be off"
        }
    }
}

/// Returns what is known of a document, a line each.
pub(crate) fn facts(document: &DocumentView, sends: Sends) -> Vec<String> {
    let facts = &document.facts;
    let mut lines = Vec::new();
    if let Some(title) = &facts.title {
        lines.push(format!("Title: {title}"));
    }
    if let Some(language) = &facts.language {
        lines.push(format!("Language: {language}"));
    }
    if let Some(text) = facts.text {
        let pages = counted(u64::from(text.pages_read), "page", "pages");
        lines.push(format!(
            "Text: on {} of {pages} read, {}{}",
            text.pages_with_text,
            counted(text.letters + text.ideographs, "character", "characters"),
            if text.unknown_percent > 0 {
                format!(", {} % of unknown meaning", text.unknown_percent)
            } else {
                String::new()
            }
        ));
    }
    let encryption = match document.encryption {
        Encryption::None => None,
        Encryption::EmptyPassword => Some("opens without a password"),
        Encryption::NeedsPassword => Some("needs a password"),
        Encryption::Unsupported => Some("in a way that can't be opened here"),
    };
    if let Some(how) = encryption {
        let cipher = facts.cipher.as_deref().unwrap_or("yes");
        lines.push(format!("Encryption: {cipher}, {how}"));
    }
    if facts.attachments > 0 {
        lines.push(format!("Attached files: {}, not sent", facts.attachments));
    }
    if facts.fields_unseen > 0 {
        lines.push(format!(
            "Form fields whose values may not be seen: {}",
            facts.fields_unseen
        ));
    }
    if facts.annotations_lost {
        lines.push(
            "Not in the copy that was sent: comments, filled-in form fields, layers".to_owned(),
        );
    }
    if sends == Sends::Text {
        lines.push("Sent: its text, without pictures".to_owned());
    }
    lines.extend(
        document
            .notices()
            .into_iter()
            .map(|notice| format!("Note: {}", meaning(notice))),
    );
    lines
}

/// Returns how far a long document is (`part 3 of 7`), for the part that is next or under way.
pub(crate) fn progress(parts: PartsDone) -> String {
    if parts.done == parts.total {
        format!("all {} parts answered", parts.total)
    } else {
        format!("part {} of {}", parts.done + 1, parts.total)
    }
}

/// Returns a part of a long document, in a line.
pub(crate) fn part(part: &PartView) -> String {
    let state = match part.state {
        PartState::Waiting => "waiting",
        PartState::Running => "running",
        PartState::Answered => "answered",
    };
    let mut line = format!("  {}  {state}", pages(part.pages));
    if part.state == PartState::Answered {
        line.push_str(&format!(
            ", {} tokens in, {} out, {}",
            part.input_tokens,
            part.output_tokens,
            money(part.cost_micros)
        ));
    }
    if let Some(review) = &part.review {
        line.push_str(&format!("\n    {review}"));
    }
    line
}

/// Says what an attempt asked about; nothing for a whole document.
pub(crate) fn step(step: AttemptStep) -> Option<String> {
    match step {
        AttemptStep::Whole => None,
        AttemptStep::Part { pages: range } => Some(pages(range)),
        AttemptStep::Combine => Some("combining the parts".to_owned()),
    }
}

fn pages(range: PageRange) -> String {
    if range.first == range.last {
        format!("page {}", range.first)
    } else {
        format!("pages {}–{}", range.first, range.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_told_by_their_pages_and_by_how_many_there_are() {
        let range = |first, last| PageRange { first, last };
        let asked = |pages| step(AttemptStep::Part { pages });
        assert_eq!(asked(range(101, 200)).as_deref(), Some("pages 101–200"));
        assert_eq!(asked(range(7, 7)).as_deref(), Some("page 7"));
        assert_eq!(step(AttemptStep::Whole), None);
        assert_eq!(progress(PartsDone { done: 2, total: 7 }), "part 3 of 7");
        assert_eq!(
            progress(PartsDone { done: 7, total: 7 }),
            "all 7 parts answered"
        );
    }
}
