//! The ways in which one password may have been turned into bytes by whoever encrypted a file.

use unicode_normalization::UnicodeNormalization as _;

/// Returns what is to be tried for a password: as it was typed, and as programs compose accents, widths
/// and spaces before they encrypt (NFC, and SASLprep as ISO 32000-2 wants it).
pub(super) fn forms(password: &str) -> Vec<String> {
    let mut forms = vec![password.to_owned(), password.nfc().collect()];
    if let Ok(prepared) = stringprep::saslprep(password) {
        forms.push(prepared.into_owned());
    }
    let mut seen = std::collections::HashSet::new();
    forms.retain(|form| !form.is_empty() && seen.insert(form.clone()));
    forms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_passwords_have_one_form() {
        assert_eq!(forms("sesame"), ["sesame"]);
        assert!(forms("").is_empty());
    }

    #[test]
    fn accents_and_widths_are_composed() {
        assert_eq!(forms("cafe\u{301}"), ["cafe\u{301}", "café"]);
        assert_eq!(forms("ｐａｓｓ"), ["ｐａｓｓ", "pass"]);
        assert_eq!(forms("two\u{a0}words"), ["two\u{a0}words", "two words"]);
    }
}
