//! Words that types are stored and sent as: those of their serialization.

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Returns the word of a value without fields.
pub(super) fn of<T: Serialize>(value: &T) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// Returns the value of a word, if this version knows it.
pub(super) fn read<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(serde_json::Value::String(word.to_owned())).ok()
}
