//! What is known of the files beforehand.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// What is known of one file.
#[derive(Deserialize)]
struct Answer {
    file: String,
    pages: Option<u32>,
    #[serde(default)]
    password: String,
    #[serde(default)]
    first_words: String,
}

/// What is known of the files, by their names.
#[derive(Default)]
pub(crate) struct Answers {
    answers: HashMap<String, Answer>,
    passwords: HashMap<String, String>,
}

impl Answers {
    /// Reads both files, where they are given.
    pub(crate) fn read(answers: Option<&Path>, passwords: Option<&Path>) -> Result<Self, String> {
        let mut known = Self::default();
        if let Some(path) = answers {
            let all: Vec<Answer> = json(path)?;
            known.answers = all.into_iter().map(|one| (one.file.clone(), one)).collect();
        }
        if let Some(path) = passwords {
            let all: HashMap<String, Vec<Value>> = json(path)?;
            let first = |(file, facts): (String, Vec<Value>)| {
                let password = facts.first()?.as_str()?.to_owned();
                Some((file, password))
            };
            known.passwords = all.into_iter().filter_map(first).collect();
        }
        Ok(known)
    }

    /// The right number of pages of a file.
    pub(crate) fn pages(&self, file: &str) -> Option<u32> {
        self.answers.get(file)?.pages
    }

    /// The password of a file.
    pub(crate) fn password(&self, file: &str) -> Option<&str> {
        let given = self.passwords.get(file).map(String::as_str);
        let answer = self
            .answers
            .get(file)
            .map(|answer| answer.password.as_str());
        given.or(answer).filter(|password| !password.is_empty())
    }

    /// The words that a file's text begins with, or has somewhere.
    pub(crate) fn words(&self, file: &str) -> Option<&str> {
        let words = self.answers.get(file)?.first_words.as_str();
        (!words.is_empty()).then_some(words)
    }
}

fn json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let trouble = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let content = std::fs::read(path).map_err(|error| trouble(&error))?;
    serde_json::from_slice(&content).map_err(|error| trouble(&error))
}
