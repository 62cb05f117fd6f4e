//! `gistmill templates`

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    Problem, Sends, TemplateDraft, TemplateKind, TemplateView, Variables,
};
use serde_json::json;

use super::export::may_write;
use super::input;
use crate::arguments::{
    CreateArguments, DraftArguments, EditArguments, PreviewArguments, TemplatesCommand,
};
use crate::output::{Failed, Output, SOME_FAILED};
use crate::shown::{columns, counted, moment};
use crate::values;

/// What a template's body is called where it is asked for.
const BODY: &str = "prompt of the template";

pub(crate) async fn run(
    engine: &Engine,
    command: TemplatesCommand,
    output: Output,
) -> Result<ExitCode, Failed> {
    match command {
        TemplatesCommand::List => {
            let templates = engine.templates().await?;
            output.either(&templates, || list(&templates))?;
        }
        TemplatesCommand::Show { template } => {
            let template = named(engine, &template).await?;
            output.either(&template, || text(&template))?;
        }
        TemplatesCommand::Create(arguments) => create(engine, arguments, output).await?,
        TemplatesCommand::Edit(arguments) => edit(engine, arguments, output).await?,
        TemplatesCommand::Duplicate { template } => {
            let template = named(engine, &template).await?.template;
            let copy = engine.duplicate_template(&template).await?;
            output.either(&copy, || {
                format!("{} is a copy that you may edit.", called(&copy))
            })?;
        }
        TemplatesCommand::Remove { template } => {
            let template = named(engine, &template).await?;
            engine.remove_template(&template.template_id).await?;
            output.either(&json!({ "removed": template.template_id }), || {
                format!("{} is offered no more.", called(&template))
            })?;
        }
        TemplatesCommand::Preview(arguments) => return preview(engine, arguments, output).await,
        TemplatesCommand::Import { files } => import(engine, files, output).await?,
        TemplatesCommand::Export {
            template,
            file,
            replace,
        } => export(engine, &template, &file, replace, output).await?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the newest version of the template with this id, with or without the version, or this name.
async fn named(engine: &Engine, name: &str) -> Result<TemplateView, Failed> {
    let templates = engine.templates().await?;
    if let Some(template) = found(&templates, name)? {
        return Ok(template.clone());
    }
    Err(Failed::usage(
        &format!("No template is called {name}."),
        "“gistmill templates” lists them. Of each the newest version can be shown and changed.",
    ))
}

fn found<'all>(
    templates: &'all [TemplateView],
    name: &str,
) -> Result<Option<&'all TemplateView>, Failed> {
    let by_id = templates
        .iter()
        .find(|template| template.template == name || template.template_id == name);
    if by_id.is_some() {
        return Ok(by_id);
    }
    let mut by_name = templates.iter().filter(|template| template.name == name);
    match (by_name.next(), by_name.next()) {
        (Some(_), Some(_)) => Err(Failed::usage(
            &format!("Several templates are called {name}."),
            "Give the id: “gistmill templates” lists it.",
        )),
        (template, _) => Ok(template),
    }
}

/// Returns the id with the version that a name stands for. An older version stands for itself.
pub(crate) async fn version_named(engine: &Engine, name: String) -> Result<String, Failed> {
    let is_version = name
        .rsplit_once("-v")
        .is_some_and(|(_, version)| version.parse::<u32>().is_ok());
    if is_version {
        return Ok(name);
    }
    Ok(named(engine, &name).await?.template)
}

/// Makes sure that a template has the variables that values are given for: with a slip of the pen in a name,
/// a thousand files would be asked without the value.
pub(crate) async fn check_variables(
    engine: &Engine,
    template: &str,
    given: &Variables,
) -> Result<(), Failed> {
    let templates = engine.templates().await?;
    // The variables of older versions are not known here.
    let Some(asked) = templates.iter().find(|one| one.template == template) else {
        return Ok(());
    };
    let Some(unknown) = given.keys().find(|name| !asked.variables.contains(name)) else {
        return Ok(());
    };
    let asked_for = if asked.variables.is_empty() {
        "none".to_owned()
    } else {
        asked.variables.join(", ")
    };
    let hint =
        format!("It asks for {asked_for}; “gistmill templates” shows what the others ask for.");
    Err(Failed::usage(
        &format!("The template {template} has no variable {unknown}."),
        &hint,
    ))
}

async fn create(engine: &Engine, arguments: CreateArguments, output: Output) -> Result<(), Failed> {
    let draft = TemplateDraft {
        name: arguments.name,
        kind: arguments.kind.into(),
        body: input::read(&arguments.body, BODY)?,
        fields: arguments.fields.fields,
        sends: arguments.sends.into(),
    };
    let created = engine.create_template(draft).await?;
    output.either(&created, || {
        format!(
            "{} is made. Ask with it: “gistmill add FILE --template {}”.",
            called(&created),
            created.template_id
        )
    })
}

async fn edit(engine: &Engine, arguments: EditArguments, output: Output) -> Result<(), Failed> {
    if !changes(&arguments.draft) {
        return Err(Failed::usage(
            "Nothing was named that becomes different.",
            "Say --name, --kind, --body, --sends or --field.",
        ));
    }
    let template = named(engine, &arguments.template).await?;
    let template_id = template.template_id.clone();
    let draft = drafted(Some(template), arguments.draft)?;
    let edited = engine.edit_template(&template_id, draft).await?;
    output.either(&edited, || edited.template.clone())
}

fn changes(draft: &DraftArguments) -> bool {
    draft.name.is_some()
        || draft.kind.is_some()
        || draft.body.is_some()
        || draft.sends.is_some()
        || !draft.fields.fields.is_empty()
}

/// Returns a template with the changes, or a new one.
fn drafted(
    template: Option<TemplateView>,
    changes: DraftArguments,
) -> Result<TemplateDraft, Failed> {
    let mut draft = template.map_or_else(TemplateDraft::default, |template| TemplateDraft {
        name: template.name,
        kind: template.kind,
        body: template.body,
        fields: template.fields,
        sends: template.sends,
    });
    if let Some(name) = changes.name {
        draft.name = name;
    }
    if let Some(kind) = changes.kind {
        draft.kind = kind.into();
        if draft.kind != TemplateKind::Fields {
            draft.fields.clear();
        }
    }
    if let Some(body) = &changes.body {
        draft.body = input::read(body, BODY)?;
    }
    if let Some(sends) = changes.sends {
        draft.sends = sends.into();
    }
    if !changes.fields.fields.is_empty() {
        draft.fields = changes.fields.fields;
    }
    Ok(draft)
}

async fn preview(
    engine: &Engine,
    arguments: PreviewArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let template = match &arguments.template {
        Some(name) => Some(named(engine, name).await?),
        None => None,
    };
    let mut draft = drafted(template, arguments.draft)?;
    if draft.name.is_empty() {
        // Only what is stored needs a name.
        "Preview".clone_into(&mut draft.name);
    }
    let variables = arguments.variables.into_iter().collect();
    let preview = engine.preview_template(&draft, variables);
    output.either(&preview, || {
        let mut lines = vec![preview.text.clone(), String::new()];
        if !preview.variables.is_empty() {
            lines.push(format!("Variables: {}", preview.variables.join(", ")));
        }
        lines.push(format!(
            "About {} besides the document.",
            counted(preview.tokens, "token", "tokens")
        ));
        if let Some(problem) = &preview.problem {
            lines.push(format!("It can’t be saved so: {problem}"));
        }
        lines.join("\n")
    })?;
    Ok(if preview.problem.is_some() {
        ExitCode::from(SOME_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

async fn import(engine: &Engine, files: Vec<PathBuf>, output: Output) -> Result<(), Failed> {
    let mut imported = Vec::new();
    let mut failed = None;
    for file in files {
        match engine.template_from_file(values::absolute(&file)).await {
            Ok(template) => imported.push(template),
            Err(error) => {
                let problem = error.problem();
                // Which of several it is.
                failed = Some(Failed::from(Problem {
                    message: format!("{}: {}", file.display(), problem.message),
                    ..problem
                }));
                break;
            }
        }
    }
    // What was imported stays, so it is told also where a file after it can't be.
    if !imported.is_empty() || failed.is_none() {
        output.either(&imported, || {
            let lines = imported
                .iter()
                .map(|template| format!("{} is imported.", called(template)));
            lines.collect::<Vec<_>>().join("\n")
        })?;
    }
    failed.map_or(Ok(()), Err)
}

async fn export(
    engine: &Engine,
    template: &str,
    file: &Path,
    replace: bool,
    output: Output,
) -> Result<(), Failed> {
    let template = version_named(engine, template.to_owned()).await?;
    let file = values::absolute(file);
    may_write(&file, replace)?;
    engine
        .template_to_file(&template, file.clone(), replace)
        .await?;
    output.either(&json!({ "template": template, "path": file }), || {
        format!("{template} is written to {}.", file.display())
    })
}

fn called(template: &TemplateView) -> String {
    format!("{} ({})", template.name, template.template)
}

fn list(templates: &[TemplateView]) -> String {
    let rows = templates.iter().map(|template| {
        [
            template.template.clone(),
            template.name.clone(),
            values::written(&template.kind),
            if template.built_in {
                "built in"
            } else {
                "yours"
            }
            .to_owned(),
            template.jobs.to_string(),
            asked_for(template),
        ]
    });
    columns(
        ["TEMPLATE", "NAME", "KIND", "FROM", "JOBS", "ASKS FOR"],
        rows,
        &[4],
    )
}

/// Returns what a person gives values for, and what is filled in.
fn asked_for(template: &TemplateView) -> String {
    let mut parts = template.variables.clone();
    if !template.fields.is_empty() {
        parts.push(counted(template.fields.len() as u64, "field", "fields"));
    }
    parts.join(", ")
}

fn text(template: &TemplateView) -> String {
    let mut lines = vec![
        called(template),
        format!(
            "{}, {}, asked by {}",
            values::written(&template.kind),
            if template.built_in {
                "built in".to_owned()
            } else {
                format!("made {}", moment(template.created_at))
            },
            counted(template.jobs, "job", "jobs")
        ),
    ];
    if template.sends == Sends::Text {
        lines.push("Sends the text of a document, without its pictures".to_owned());
    }
    if !template.variables.is_empty() {
        lines.push(format!(
            "Variables: {}; “gistmill add --set NAME=VALUE” gives them values",
            template.variables.join(", ")
        ));
    }
    if !template.fields.is_empty() {
        let rows = template.fields.iter().map(|field| {
            [
                field.name.clone(),
                values::written(&field.kind),
                field.description.clone(),
            ]
        });
        lines.push(columns(["FIELD", "KIND", "WHAT TO LOOK FOR"], rows, &[]));
    }
    lines.push(String::new());
    lines.push(template.body.clone());
    lines.join("\n")
}
