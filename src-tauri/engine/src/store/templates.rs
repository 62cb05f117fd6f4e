//! Templates and their versions. A version never changes: an edit makes a new one.

use rusqlite::{Connection, Row};

use super::{Result, Store, rows};
use crate::model::{TemplateField, TemplateKind, TemplateView};

/// A version of a template, as it is asked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) template_id: String,
    pub(crate) version: u32,
    pub(crate) kind: TemplateKind,
    pub(crate) body: String,
    pub(crate) fields: Vec<TemplateField>,
}

/// The columns of [`view`] over `templates AS t`.
const VIEW_COLUMNS: &str = "t.template_id, t.version, t.name, t.kind, t.body, t.fields, t.built_in, \
     t.created_at, (SELECT count(*) FROM jobs AS j WHERE j.template_id = t.template_id)";

impl Store {
    /// Returns the newest version of every template that is offered.
    pub(crate) async fn templates(&self) -> Result<Vec<TemplateView>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {VIEW_COLUMNS} FROM templates AS t
                 WHERE t.version = (SELECT max(version) FROM templates
                                    WHERE template_id = t.template_id)
                   AND NOT t.removed
                 ORDER BY t.template_id"
            ))?;
            let found = statement.query_map([], view)?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
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
}

/// Returns a version of a template, if it exists.
pub(super) fn template(
    connection: &Connection,
    template_id: &str,
    version: u32,
) -> Result<Option<Template>> {
    let mut statement = connection.prepare_cached(
        "SELECT template_id, version, kind, body, fields FROM templates
         WHERE template_id = ?1 AND version = ?2",
    )?;
    let mut found = statement.query_map((template_id, version), |row| {
        Ok(Template {
            template_id: row.get(0)?,
            version: row.get(1)?,
            kind: rows::template_kind(row, 2)?,
            body: row.get(3)?,
            fields: rows::json(row, 4)?,
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
        variables: crate::templates::asked_variables(&body),
        body,
        fields: rows::json(row, 5)?,
        built_in: row.get(6)?,
        created_at: rows::timestamp(row, 7)?,
        jobs: rows::unsigned(row, 8)?,
    })
}
