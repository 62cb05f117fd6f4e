//! Reading what others write, who may change a part of it without a word.

use serde::de::DeserializeOwned;
use serde::{Deserialize as _, Deserializer};

/// Reads a value, or nothing where it has another shape. For fields of the answers of others: one that changed its
/// shape must not make the rest unreadable.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}
