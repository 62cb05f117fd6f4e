//! Templates and their versions. A version never changes: an edit makes a new one.

use rusqlite::{Connection, Row};

use super::{Result, Store, rows};
use crate::error::EngineError;
use crate::model::{TemplateDraft, TemplateView, Timestamp};
use crate::templates::{Template, asked_variables};

/// The columns of [`view`] over [`VIEW_TABLES`].
const VIEW_COLUMNS: &str = "t.template_id, t.version, t.name, t.kind, t.body, t.fields, t.built_in, \
     t.created_at, coalesce(c.jobs, 0), t.sends";
/// Jobs are counted once for all templates, not once for each.
const VIEW_TABLES: &str = "templates AS t LEFT JOIN (SELECT template_id, count(*) AS jobs FROM jobs \
     WHERE template_id IS NOT NULL GROUP BY template_id) AS c USING (template_id)";
/// Says whether `templates AS t` is a newest version that is offered.
const OFFERED: &str = "NOT t.removed AND t.version = (SELECT max(version) FROM templates AS o \
     WHERE o.template_id = t.template_id)";
/// Most numbers that are tried to make an id unique.
const MOST_NUMBERS: u32 = 100_000;

/// The template that is offered first.
const USUAL: &str = "pdf-summarize";

impl Store {
    /// Returns the newest version of every template that is offered.
    pub(crate) async fn templates(&self) -> Result<Vec<TemplateView>> {
        self.read(offered).await
    }

    /// Returns a version of a template, if it exists.
    pub(crate) async fn template(
        &self,
        template_id: String,
        version: u32,
    ) -> Result<Option<Template>> {
        self.read(move |connection| template(connection, &template_id, version))
            .await
    }

    /// Returns a version of a template as it is shown, also one that is not offered any more.
    pub(crate) async fn template_view(
        &self,
        template_id: String,
        version: u32,
    ) -> Result<Option<TemplateView>> {
        self.read(move |connection| version_of(connection, &template_id, version))
            .await
    }

    /// Stores a new template. Its id is `id`, with a number where that is taken.
    pub(crate) async fn create_template(
        &self,
        id: NewId,
        draft: TemplateDraft,
        now: Timestamp,
    ) -> Result<TemplateView> {
        self.write(move |connection| create(connection, &id, &draft, now))
            .await
    }

    /// Stores a new version of a template, unless it is as the newest one. `None` where none is offered.
    pub(crate) async fn edit_template(
        &self,
        template_id: String,
        draft: TemplateDraft,
        now: Timestamp,
    ) -> Result<Option<TemplateView>> {
        self.write(move |connection| edit(connection, &template_id, &draft, now))
            .await
    }

    /// Offers a template no more. Says whether it was offered; the last one stays and is refused.
    pub(crate) async fn remove_template(&self, template_id: String) -> Result<Removal> {
        self.write(move |connection| remove(connection, &template_id))
            .await
    }
}

/// How a new template is identified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NewId {
    /// By this id, or by `ID-2` and so on.
    Named(String),
    /// By `template-1` and so on.
    Numbered,
}

impl NewId {
    fn candidate(&self, number: u32) -> String {
        match self {
            Self::Named(id) if number == 1 => id.clone(),
            Self::Named(id) => format!("{id}-{number}"),
            Self::Numbered => format!("template-{number}"),
        }
    }
}

/// What became of a template that was to be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Removal {
    /// It is not offered any more.
    Removed,
    /// It was not offered.
    NotOffered,
    /// It is the only one that is offered.
    LastOne,
}

fn offered(connection: &Connection) -> Result<Vec<TemplateView>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {VIEW_COLUMNS} FROM {VIEW_TABLES} WHERE {OFFERED}
         ORDER BY t.template_id <> '{USUAL}', t.template_id"
    ))?;
    let found = statement.query_map([], view)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn version_of(
    connection: &Connection,
    template_id: &str,
    version: u32,
) -> Result<Option<TemplateView>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {VIEW_COLUMNS} FROM {VIEW_TABLES} WHERE t.template_id = ?1 AND t.version = ?2"
    ))?;
    let mut found = statement.query_map((template_id, version), view)?;
    Ok(found.next().transpose()?)
}

/// Returns the version that is offered of a template.
fn newest(connection: &Connection, template_id: &str) -> Result<Option<TemplateView>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {VIEW_COLUMNS} FROM {VIEW_TABLES} WHERE t.template_id = ?1 AND {OFFERED}"
    ))?;
    let mut found = statement.query_map([template_id], view)?;
    Ok(found.next().transpose()?)
}

fn create(
    connection: &Connection,
    id: &NewId,
    draft: &TemplateDraft,
    now: Timestamp,
) -> Result<TemplateView> {
    // Ids of removed templates stay those of their jobs.
    let mut is_taken = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM templates WHERE template_id = ?1)")?;
    for number in 1..=MOST_NUMBERS {
        let template_id = id.candidate(number);
        if !is_taken.query_row([&template_id], |row| row.get(0))? {
            return insert(connection, &template_id, 1, draft, false, now);
        }
    }
    Err(EngineError::Internal(format!(
        "no id is left for the template {}",
        draft.name
    )))
}

fn edit(
    connection: &Connection,
    template_id: &str,
    draft: &TemplateDraft,
    now: Timestamp,
) -> Result<Option<TemplateView>> {
    let Some(newest) = newest(connection, template_id)? else {
        return Ok(None);
    };
    if newest.draft() == *draft {
        return Ok(Some(newest));
    }
    insert(
        connection,
        template_id,
        newest.version + 1,
        draft,
        newest.built_in,
        now,
    )
    .map(Some)
}

fn insert(
    connection: &Connection,
    template_id: &str,
    version: u32,
    draft: &TemplateDraft,
    built_in: bool,
    now: Timestamp,
) -> Result<TemplateView> {
    let fields = serde_json::to_string(&draft.fields)
        .map_err(|error| EngineError::Internal(error.to_string()))?;
    connection
        .prepare_cached(
            "INSERT INTO templates (template_id, version, name, kind, body, fields, sends, built_in, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute((
            template_id,
            version,
            &draft.name,
            rows::template_kind_word(draft.kind),
            &draft.body,
            fields,
            draft.sends.as_str(),
            built_in,
            now.0,
        ))?;
    version_of(connection, template_id, version)?
        .ok_or_else(|| EngineError::Internal("a new template is not there".to_owned()))
}

fn remove(connection: &Connection, template_id: &str) -> Result<Removal> {
    let (this, others): (bool, bool) = connection
        .prepare_cached(&format!(
            "SELECT EXISTS (SELECT 1 FROM templates AS t WHERE {OFFERED} AND t.template_id = ?1),
                    EXISTS (SELECT 1 FROM templates AS t WHERE {OFFERED} AND t.template_id <> ?1)"
        ))?
        .query_row([template_id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    if !this {
        return Ok(Removal::NotOffered);
    }
    if !others {
        return Ok(Removal::LastOne);
    }
    connection
        .prepare_cached("UPDATE templates SET removed = 1 WHERE template_id = ?1")?
        .execute([template_id])?;
    Ok(Removal::Removed)
}

/// Returns a version of a template, if it exists.
pub(super) fn template(
    connection: &Connection,
    template_id: &str,
    version: u32,
) -> Result<Option<Template>> {
    let mut statement = connection.prepare_cached(
        "SELECT template_id, version, kind, body, fields, sends FROM templates
         WHERE template_id = ?1 AND version = ?2",
    )?;
    let mut found = statement.query_map((template_id, version), |row| {
        Ok(Template {
            template_id: row.get(0)?,
            version: row.get(1)?,
            kind: rows::template_kind(row, 2)?,
            body: row.get(3)?,
            fields: rows::json(row, 4)?,
            sends: rows::sends(row, 5)?,
        })
    })?;
    Ok(found.next().transpose()?)
}

fn view(row: &Row<'_>) -> rusqlite::Result<TemplateView> {
    let (template_id, version): (String, u32) = (row.get(0)?, row.get(1)?);
    let body: String = row.get(4)?;
    Ok(TemplateView {
        template: format!("{template_id}-v{version}"),
        template_id,
        version,
        name: row.get(2)?,
        kind: rows::template_kind(row, 3)?,
        variables: asked_variables(&body),
        body,
        fields: rows::json(row, 5)?,
        sends: rows::sends(row, 9)?,
        built_in: row.get(6)?,
        created_at: rows::timestamp(row, 7)?,
        jobs: rows::unsigned(row, 8)?,
    })
}
