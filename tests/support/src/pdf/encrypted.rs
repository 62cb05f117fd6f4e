//! Files that are encrypted, and what else is made by qpdf.
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "encrypts files of its own making: a failure is a broken test"
)]

use std::process::Command;

use lopdf::encryption::EncryptionVersion;
use lopdf::{Document, EncryptionState, Permissions};

use super::text::text_pdf;

/// Makes an encrypted [`text_pdf`]; with an empty `user_password` it opens without one.
///
/// # Panics
///
/// When it can't be encrypted.
#[must_use]
pub fn encrypted_pdf(pages: &[&str], user_password: &str) -> Vec<u8> {
    let mut document = Document::load_mem(&text_pdf(pages)).expect("a good file");
    let version = EncryptionVersion::V2 {
        document: &document,
        owner_password: "owner",
        user_password,
        key_length: 128,
        permissions: Permissions::all(),
    };
    let state = EncryptionState::try_from(version).expect("a supported encryption");
    document.encrypt(&state).expect("an encrypted file");
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a saved file");
    bytes
}

/// The ways in which PDFs are encrypted, from the oldest to the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// RC4 with keys of 40 bits (revision 2).
    Rc4Short,
    /// RC4 with keys of 128 bits (revision 3).
    Rc4,
    /// AES with keys of 128 bits (revision 4).
    Aes128,
    /// AES with keys of 256 bits as Acrobat 9 had it (revision 5).
    Aes256Early,
    /// AES with keys of 256 bits as the standard has it (revision 6).
    Aes256,
}

impl Cipher {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Rc4Short,
        Self::Rc4,
        Self::Aes128,
        Self::Aes256Early,
        Self::Aes256,
    ];

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Rc4Short => &["40"],
            Self::Rc4 => &["128", "--use-aes=n"],
            Self::Aes128 => &["128", "--use-aes=y"],
            Self::Aes256Early => &["256", "--force-R5"],
            Self::Aes256 => &["256"],
        }
    }
}

/// Encrypts a file; with an empty `user_password` it opens without one. The owner's is `owner`.
#[must_use]
pub fn locked(content: &[u8], cipher: Cipher, user_password: &str) -> Vec<u8> {
    let mut arguments = vec!["--allow-weak-crypto", "--encrypt", user_password, "owner"];
    arguments.extend_from_slice(cipher.arguments());
    arguments.push("--");
    qpdf(content, &arguments)
}

/// Lays a file out for being shown while it loads.
#[must_use]
pub fn linearized(content: &[u8]) -> Vec<u8> {
    qpdf(content, &["--linearize", "--deterministic-id"])
}

/// Gives a file to qpdf and returns what it makes of it. Warnings are no failure.
///
/// # Panics
///
/// When there is no qpdf, or it fails.
#[must_use]
pub fn qpdf(content: &[u8], arguments: &[&str]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let (from, to) = (folder.path().join("from.pdf"), folder.path().join("to.pdf"));
    std::fs::write(&from, content).expect("a file");
    let output = Command::new("qpdf")
        .args(arguments)
        .arg("--warning-exit-0")
        .args([&from, &to])
        .output()
        .expect("qpdf, which scripts/prerequisites installs");
    if !output.status.success() {
        panic!(
            "qpdf {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    std::fs::read(&to).expect("a file")
}
