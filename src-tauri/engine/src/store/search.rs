//! Full-text search over file name, batch, template, error and result.
//!
//! The index holds words only and trails behind the commit: the consumer's janitor adds what is due.
//! Until then a job is found by its title and its error.

use rusqlite::{Connection, params_from_iter};

use super::{Result, Store};

/// A job whose words are not in the index yet.
#[derive(Clone, Debug)]
pub(crate) struct Unindexed {
    pub(crate) seq: i64,
    title: String,
    batch: String,
    template: String,
    error: String,
    /// The key of its newest result.
    pub(crate) result_key: Option<String>,
    /// It is the next of those that were never indexed.
    is_new: bool,
}

/// Most bytes of a result that are searched.
const LONGEST_RESULT: usize = 200_000;

/// Returns a text as its words are indexed.
///
/// Where a script has no spaces, each character is a word; where letters meet digits, a word ends, so
/// that `Report2026Q3.pdf` is found by `2026`.
fn spaced(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + text.len() / 4);
    let mut before: Option<char> = None;
    for character in text.chars() {
        let alone = is_ideographic(character);
        if let Some(before) = before {
            let changes = (before.is_ascii_digit() && character.is_alphabetic())
                || (before.is_alphabetic() && character.is_ascii_digit());
            if alone || is_ideographic(before) || changes {
                spaced.push(' ');
            }
        }
        spaced.push(character);
        before = Some(character);
    }
    spaced
}

/// Says whether a character belongs to a script that is written without spaces.
fn is_ideographic(character: char) -> bool {
    matches!(character,
        '\u{0E00}'..='\u{0E7F}'
        | '\u{3040}'..='\u{30FF}'
        | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}'
        | '\u{4E00}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FF9D}'
        | '\u{20000}'..='\u{3FFFF}')
}

/// Returns what the index is asked for a person's words; `None` where there is no word in them.
///
/// Every word must be there; each may be the beginning of a longer one.
pub(super) fn query(text: &str) -> Option<String> {
    let mut phrases = Vec::new();
    for word in text.split_whitespace() {
        let spaced = spaced(word);
        let parts: Vec<&str> = spaced
            .split(|character: char| !character.is_alphanumeric())
            .filter(|part| !part.is_empty())
            .collect();
        if !parts.is_empty() {
            phrases.push(format!("\"{}\"*", parts.join(" ")));
        }
    }
    (!phrases.is_empty()).then(|| phrases.join(" "))
}

impl Store {
    /// Returns at most `limit` jobs whose words are due, changed ones first.
    pub(crate) async fn unindexed(&self, limit: u32) -> Result<Vec<Unindexed>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT j.seq, j.title, b.name, coalesce(j.template_id, ''), coalesce(j.error, ''),
                        (SELECT key FROM results AS r WHERE r.job_id = j.job_id
                         ORDER BY generation DESC LIMIT 1), due.is_new
                 FROM (SELECT * FROM (SELECT seq, 0 AS is_new FROM search_due ORDER BY seq)
                       UNION ALL
                       SELECT * FROM (SELECT seq, 1 FROM jobs
                                      WHERE seq > (SELECT indexed_seq FROM search_state)
                                      ORDER BY seq)
                       LIMIT ?1) AS due
                      JOIN jobs AS j USING (seq) JOIN batches AS b USING (batch_id)
                 ORDER BY due.is_new, due.seq",
            )?;
            let found = statement.query_map([limit], |row| {
                Ok(Unindexed {
                    seq: row.get(0)?,
                    title: row.get(1)?,
                    batch: row.get(2)?,
                    template: row.get(3)?,
                    error: row.get(4)?,
                    result_key: row.get(5)?,
                    is_new: row.get(6)?,
                })
            })?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// Puts the words of jobs into the index, each with the text of its result.
    pub(crate) async fn index(&self, jobs: Vec<(Unindexed, String)>) -> Result<()> {
        self.write(move |connection| {
            for (job, result) in &jobs {
                index(connection, job, result)?;
            }
            Ok(())
        })
        .await
    }
}

fn index(connection: &Connection, job: &Unindexed, result: &str) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM search WHERE rowid = ?1")?
        .execute([job.seq])?;
    connection
        .prepare_cached(
            "INSERT INTO search (rowid, title, batch, template, error, result)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE EXISTS (SELECT 1 FROM jobs WHERE seq = ?1)",
        )?
        .execute((
            job.seq,
            spaced(&job.title),
            spaced(&job.batch),
            spaced(&job.template),
            spaced(&job.error),
            spaced(shortened(result)),
        ))?;
    connection
        .prepare_cached("DELETE FROM search_due WHERE seq = ?1")?
        .execute([job.seq])?;
    if job.is_new {
        connection
            .prepare_cached("UPDATE search_state SET indexed_seq = max(indexed_seq, ?1)")?
            .execute([job.seq])?;
    }
    Ok(())
}

fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_RESULT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the SQL condition over `jobs AS j` of a person's words, and its values.
pub(super) fn condition(text: &str) -> (String, Vec<rusqlite::types::Value>) {
    let pattern = format!(
        "%{}%",
        text.replace('\\', "\\\\")
            .replace('%', "\\%")
            .replace('_', "\\_")
    );
    let plain = "(j.title LIKE ? ESCAPE '\\' OR j.error LIKE ? ESCAPE '\\')";
    let Some(query) = query(text) else {
        // Signs alone are no words: only the texts themselves can hold them.
        return (
            plain.to_owned(),
            vec![pattern.clone().into(), pattern.into()],
        );
    };
    (
        format!(
            "(j.seq IN (SELECT rowid FROM search WHERE search MATCH ?)
              OR ((j.seq > (SELECT indexed_seq FROM search_state)
                   OR j.seq IN (SELECT seq FROM search_due)) AND {plain}))"
        ),
        vec![query.into(), pattern.clone().into(), pattern.into()],
    )
}

/// Runs a counting query with values.
pub(super) fn count(
    connection: &Connection,
    sql: &str,
    values: &[rusqlite::types::Value],
) -> Result<u64> {
    let counted: i64 = connection
        .prepare_cached(sql)?
        .query_row(params_from_iter(values), |row| row.get(0))?;
    Ok(u64::try_from(counted).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_without_spaces_are_words_of_one_character() {
        assert_eq!(spaced("東京tower"), "東 京 tower");
        assert_eq!(query("東京").as_deref(), Some("\"東 京\"*"));
    }

    #[test]
    fn a_word_ends_where_letters_meet_digits() {
        assert_eq!(spaced("Report2026Q3.pdf"), "Report 2026 Q 3.pdf");
        assert_eq!(
            query("report2026 lease").as_deref(),
            Some("\"report 2026\"* \"lease\"*")
        );
    }

    #[test]
    fn what_looks_like_a_query_is_only_words() {
        assert_eq!(
            query("NEAR(\"a\" OR b*)").as_deref(),
            Some("\"NEAR a\"* \"OR\"* \"b\"*")
        );
        assert_eq!(query("-- \"' *"), None);
    }
}
