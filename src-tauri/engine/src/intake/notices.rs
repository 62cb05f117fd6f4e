//! What is worth knowing of a document that can be sent all the same.

use crate::model::{DocumentView, Encryption, Notice};

/// With more glyphs of a hundred without a known character than this, a text is not to be relied on.
const MOST_UNKNOWN_PERCENT: u8 = 5;

impl DocumentView {
    /// Returns what is worth knowing of it. Whether it is long depends on the model that is asked, and is no
    /// part of this. Nothing is said of a document that can't be sent.
    #[must_use]
    pub fn notices(&self) -> Vec<Notice> {
        if self.finding.is_some() {
            return Vec::new();
        }
        let facts = &self.facts;
        let scanned = facts.text.map_or(self.has_text == Some(false), |layer| {
            layer.pages_read > 0 && layer.pages_with_text == 0
        });
        let unreliable = facts
            .text
            .is_some_and(|layer| layer.unknown_percent > MOST_UNKNOWN_PERCENT);
        [
            (
                Notice::Decrypted,
                self.encryption == Encryption::EmptyPassword,
            ),
            (
                Notice::Unlocked,
                self.encryption == Encryption::NeedsPassword,
            ),
            (Notice::Repaired, facts.repaired),
            (Notice::Scanned, scanned),
            (Notice::TextUnreliable, unreliable),
            (Notice::FieldsUnseen, facts.fields_unseen > 0),
            (Notice::Attachments, facts.attachments > 0),
            (Notice::PagesUncertain, facts.pages_uncertain),
        ]
        .into_iter()
        .filter_map(|(notice, holds)| holds.then_some(notice))
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Cause, DocumentFacts, Finding, Sha256, TextLayer};

    fn plain() -> DocumentView {
        DocumentView {
            sha256: Sha256("1".to_owned()),
            bytes: 1,
            pages: Some(1),
            encryption: Encryption::None,
            has_text: Some(true),
            facts: DocumentFacts::default(),
            finding: None,
        }
    }

    fn with_facts(facts: DocumentFacts) -> Vec<Notice> {
        DocumentView { facts, ..plain() }.notices()
    }

    #[test]
    fn an_ordinary_document_has_none() {
        assert_eq!(plain().notices(), []);
    }

    #[test]
    fn an_encrypted_document_that_can_be_sent_says_how_it_was_opened() {
        let encrypted = |encryption| DocumentView {
            encryption,
            ..plain()
        };
        assert_eq!(
            encrypted(Encryption::EmptyPassword).notices(),
            [Notice::Decrypted]
        );
        let mut locked = encrypted(Encryption::NeedsPassword);
        assert_eq!(locked.notices(), [Notice::Unlocked]);
        locked.finding = Some(Finding {
            cause: Cause::PdfEncrypted,
            message: String::new(),
        });
        assert_eq!(locked.notices(), [], "a problem is told as one");
    }

    #[test]
    fn a_text_layer_is_missing_or_bad_by_what_was_read() {
        let layer = |pages_read, pages_with_text, unknown_percent| {
            with_facts(DocumentFacts {
                text: Some(TextLayer {
                    pages_read,
                    pages_with_text,
                    unknown_percent,
                    ..TextLayer::default()
                }),
                ..DocumentFacts::default()
            })
        };
        assert_eq!(layer(3, 0, 0), [Notice::Scanned]);
        assert_eq!(layer(0, 0, 0), [], "nobody looked");
        assert_eq!(layer(3, 1, 5), []);
        assert_eq!(layer(3, 1, 6), [Notice::TextUnreliable]);
    }

    #[test]
    fn what_nobody_may_see_is_said() {
        let facts = DocumentFacts {
            attachments: 1,
            fields_unseen: 2,
            repaired: true,
            pages_uncertain: true,
            ..DocumentFacts::default()
        };
        assert_eq!(
            with_facts(facts),
            [
                Notice::Repaired,
                Notice::FieldsUnseen,
                Notice::Attachments,
                Notice::PagesUncertain
            ]
        );
    }
}
