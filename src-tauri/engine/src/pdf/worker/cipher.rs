//! How a PDF is encrypted, in the words of the field. It is read from the file's own bytes, since it is
//! never encrypted itself and is wanted also of files that no parser opens.

use hayro::hayro_syntax::object::{Dict, FromBytes as _, Name};
use memchr::memmem;

/// How many places that look like the key are looked at: revisions of a file repeat it.
const MAX_PLACES: usize = 64;

/// Longest dictionary that is read, in bytes.
const MAX_DICTIONARY_BYTES: usize = 64 << 10;

/// Names the encryption.
pub(super) fn name(content: &[u8]) -> Option<String> {
    places(content).find_map(|place| describe(&dictionary(content, place)?))
}

/// Says whether the file claims to be encrypted.
pub(super) fn is_mentioned(content: &[u8]) -> bool {
    places(content).next().is_some()
}

/// Finds what follows the key, the newest first.
fn places(content: &[u8]) -> impl Iterator<Item = usize> + '_ {
    const KEY: &[u8] = b"/Encrypt";
    memmem::rfind_iter(content, KEY)
        .map(|at| at + KEY.len())
        .filter(|after| {
            content
                .get(*after)
                .is_none_or(|next| !next.is_ascii_alphanumeric())
        })
        .take(MAX_PLACES)
}

/// Reads the dictionary that stands here, or that is referred to from here.
fn dictionary(content: &[u8], place: usize) -> Option<Dict<'_>> {
    let rest = &content[place..content.len().min(place + MAX_DICTIONARY_BYTES)];
    let rest = rest.trim_ascii_start();
    if rest.starts_with(b"<<") {
        return Dict::from_bytes(rest);
    }
    let mut words = rest
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty());
    let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<u32>().ok();
    let (object, generation) = (number(words.next()?)?, number(words.next()?)?);
    let head = format!("{object} {generation} obj");
    let start = memmem::rfind_iter(content, &head)
        .take(MAX_PLACES)
        .find(|at| *at == 0 || !content[at - 1].is_ascii_digit())?
        + head.len();
    let body = &content[start..content.len().min(start + MAX_DICTIONARY_BYTES)];
    Dict::from_bytes(body.trim_ascii_start())
}

fn describe(dictionary: &Dict<'_>) -> Option<String> {
    let filter = dictionary.get::<Name<'_>>("Filter")?;
    if filter.as_ref() != b"Standard" {
        return Some(if filter.as_ref().starts_with(b"Adobe.PubSec") {
            "certificates".to_owned()
        } else {
            format!("handler {}", printable(filter.as_ref()))
        });
    }
    let bits = |dictionary: &Dict<'_>| dictionary.get::<u32>("Length");
    match dictionary.get::<u32>("V")? {
        1 => Some("RC4 40-bit".to_owned()),
        2 | 3 => Some(format!("RC4 {}-bit", bits(dictionary).unwrap_or(40))),
        version @ (4 | 5) => {
            let filters = dictionary.get::<Dict<'_>>("CF")?;
            let method = ["StmF", "StrF", "EFF"].into_iter().find_map(|key| {
                let chosen = dictionary.get::<Name<'_>>(key)?;
                filters
                    .get::<Dict<'_>>(chosen.as_ref())?
                    .get::<Name<'_>>("CFM")
            });
            match method.as_ref().map(AsRef::as_ref) {
                Some(b"AESV2") => Some("AES-128".to_owned()),
                Some(b"AESV3") => Some("AES-256".to_owned()),
                Some(b"V2") => Some(format!("RC4 {}-bit", bits(dictionary).unwrap_or(128))),
                _ => Some(format!("version {version}")),
            }
        }
        version => Some(format!("version {version}")),
    }
}

fn printable(name: &[u8]) -> String {
    name.iter()
        .take(40)
        .map(|byte| match byte {
            b'!'..=b'~' => char::from(*byte),
            _ => '?',
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphers_are_named() {
        let cases = [
            ("/Filter/Standard/V 1/R 2", "RC4 40-bit"),
            ("/Filter/Standard/V 2/R 3/Length 128", "RC4 128-bit"),
            (
                "/Filter/Standard/V 4/CF<</StdCF<</CFM/AESV2>>>>/StmF/StdCF",
                "AES-128",
            ),
            (
                "/Filter/Standard/V 5/CF<</StdCF<</CFM/AESV3>>>>/StmF/StdCF",
                "AES-256",
            ),
            ("/Filter/Adobe.PubSec/V 4", "certificates"),
            ("/Filter/FoxItRMS", "handler FoxItRMS"),
        ];
        for (entries, expected) in cases {
            let direct = format!("trailer<</Encrypt<<{entries}>>/Size 9>>");
            assert_eq!(name(direct.as_bytes()).as_deref(), Some(expected));
            let referred =
                format!("17 0 obj<</V 9>>7 0 obj\n<<{entries}>>\ntrailer<</Encrypt 7 0 R>>");
            assert_eq!(name(referred.as_bytes()).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_longer_key_is_another_one() {
        assert!(!is_mentioned(b"<</EncryptMetadata false>>"));
        assert!(is_mentioned(b"<</Encrypt 7 0 R>>"));
    }
}
