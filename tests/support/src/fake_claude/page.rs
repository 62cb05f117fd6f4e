//! Pages of lists.

use serde_json::{Value, json};

use super::check::invalid;
use super::fault::Canned;

/// Items of a page where nothing is said.
const USUAL: usize = 20;
const MOST: usize = 1_000;

/// A value of the query.
pub(super) fn value<'a>(query: &'a [(String, String)], name: &str) -> Option<&'a str> {
    query
        .iter()
        .find(|(key, _)| key == name)
        .map(|(_, value)| value.as_str())
}

/// All values of a name of the query, which may be written `name`, `name[]`, or with commas.
pub(super) fn values<'a>(query: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    query
        .iter()
        .filter(|(key, _)| key.strip_suffix("[]").unwrap_or(key) == name)
        .flat_map(|(_, value)| value.split(','))
        .collect()
}

pub(super) fn limit(query: &[(String, String)]) -> Result<usize, Canned> {
    match value(query, "limit") {
        None => Ok(USUAL),
        Some(text) => match text.parse() {
            Ok(limit) if (1..=MOST).contains(&limit) => Ok(limit),
            _ => Err(invalid(format!(
                "limit: Input should be between 1 and {MOST}"
            ))),
        },
    }
}

/// The page that `after_id`, `before_id` and `limit` ask for, of a list in its order.
pub(super) fn by_id(list: &[(&str, Value)], query: &[(String, String)]) -> Result<Value, Canned> {
    let limit = limit(query)?;
    let place = |name: &str| match value(query, name) {
        None => Ok(None),
        Some(id) => list
            .iter()
            .position(|(known, _)| *known == id)
            .map(Some)
            .ok_or_else(|| invalid(format!("{name}: {id} is not in the list"))),
    };
    let (after, before) = (place("after_id")?, place("before_id")?);
    let (start, end, has_more) = match (after, before) {
        (Some(_), Some(_)) => {
            return Err(invalid("after_id and before_id can not be used together"));
        }
        (_, Some(before)) => {
            let start = before.saturating_sub(limit);
            (start, before, start > 0)
        }
        (after, None) => {
            let start = after.map_or(0, |after| after + 1);
            let end = (start + limit).min(list.len());
            (start, end, end < list.len())
        }
    };
    let shown = &list[start..end];
    Ok(json!({
        "data": shown.iter().map(|(_, value)| value).collect::<Vec<_>>(),
        "has_more": has_more,
        "first_id": shown.first().map(|(id, _)| id),
        "last_id": shown.last().map(|(id, _)| id),
    }))
}
