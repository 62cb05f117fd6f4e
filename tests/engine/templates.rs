//! Templates that a person writes: what is asked with them, and that no version is ever lost.

use gistmill_engine::EngineError;
use gistmill_engine::model::{
    FieldKind, Provider, QueueName, Submission, TemplateDraft, TemplateField, TemplateKind,
    TemplateView, Variables,
};

use crate::support::{House, submission};

fn draft(name: &str, body: &str) -> TemplateDraft {
    TemplateDraft {
        name: name.to_owned(),
        body: body.to_owned(),
        ..TemplateDraft::default()
    }
}

fn asked_with(template: &TemplateView) -> Submission {
    Submission {
        template: template.template.clone(),
        ..submission(QueueName::High, Provider::Claude)
    }
}

impl House {
    async fn offered(&self, template_id: &str) -> Option<TemplateView> {
        let templates = self.engine.templates().await.unwrap();
        templates
            .into_iter()
            .find(|template| template.template_id == template_id)
    }
}

#[tokio::test]
async fn jobs_keep_the_version_that_they_were_asked_with() {
    let house = House::working().await;
    let first = house
        .engine
        .create_template(draft(" Plain words ", "Explain it plainly, version one."))
        .await
        .unwrap();
    assert_eq!(first.template, "plain-words-v1");
    assert_eq!(
        (first.name.as_str(), first.built_in),
        ("Plain words", false)
    );
    let old = house.add_as(&["a.pdf", "b.pdf"], asked_with(&first)).await;
    house.until_completed(&old).await;

    let second = house
        .engine
        .edit_template("plain-words", draft("Plain words", "Version two."))
        .await
        .unwrap();
    assert_eq!(second.template, "plain-words-v2");
    assert_eq!(second.jobs, 2, "the jobs of all versions are counted");
    let again = house
        .engine
        .edit_template("plain-words", draft("Plain words", " Version two.\n"))
        .await
        .unwrap();
    assert_eq!(again, second, "what did not change is no new version");
    let renamed = house
        .engine
        .edit_template("plain-words", draft("Plainer", "Version two."))
        .await
        .unwrap();
    assert_eq!(renamed.template, "plain-words-v3");
    let new = house.add_as(&["c.pdf", "d.pdf"], asked_with(&second)).await;
    house.until_completed(&new).await;

    assert_eq!(
        house.job(&old.job_ids[1]).await.job.template,
        "plain-words-v1"
    );
    assert_eq!(
        house.job(&new.job_ids[0]).await.job.template,
        "plain-words-v2"
    );
    for request in house.claude.requests() {
        let title = request.documents[0].title.clone().unwrap();
        let words = if title.as_str() < "c" {
            "version one"
        } else {
            "Version two"
        };
        assert!(
            request.prompt.contains(words),
            "{title} was asked with {}",
            request.prompt
        );
    }
}

#[tokio::test]
async fn a_removed_template_is_offered_no_more_and_its_jobs_stay() {
    let house = House::working().await;
    let written = house
        .engine
        .create_template(draft("Mine", "Say what it is."))
        .await
        .unwrap();
    let submitted = house
        .add_as(&["a.pdf", "b.pdf"], asked_with(&written))
        .await;
    house.until_completed(&submitted).await;
    house.engine.remove_template("mine").await.unwrap();
    assert_eq!(house.offered("mine").await, None);
    assert_eq!(
        house.job(&submitted.job_ids[0]).await.job.template,
        "mine-v1"
    );
    for gone in [
        house.engine.remove_template("mine").await,
        house
            .engine
            .edit_template("mine", draft("Mine", "Again."))
            .await
            .map(drop),
    ] {
        assert!(
            matches!(gone, Err(EngineError::NotFound { .. })),
            "what is not offered can't be changed: {gone:?}"
        );
    }
    let anew = house
        .engine
        .create_template(draft("Mine", "Say what it is."))
        .await
        .unwrap();
    assert_eq!(
        anew.template, "mine-2-v1",
        "the id of the removed one is that of its jobs"
    );
    assert_eq!(anew.jobs, 0);
}

#[tokio::test]
async fn one_template_is_always_left() {
    let house = House::idle().await;
    let mut templates = house.engine.templates().await.unwrap();
    assert!(templates.len() > 1, "the program comes with templates");
    let last = templates.pop().unwrap();
    for template in templates {
        house
            .engine
            .remove_template(&template.template_id)
            .await
            .unwrap();
    }
    let refused = house.engine.remove_template(&last.template_id).await;
    assert!(
        matches!(refused, Err(EngineError::BadInput { .. })),
        "nothing could be added any more: {refused:?}"
    );
    assert_eq!(house.engine.templates().await.unwrap(), [last]);
}

#[tokio::test]
async fn ids_are_ascii_and_no_two_templates_share_one() {
    let house = House::idle().await;
    let mut ids = Vec::new();
    for name in ["契約書", "契約書", "Contract key terms", "!"] {
        let created = house
            .engine
            .create_template(draft(name, "x"))
            .await
            .unwrap();
        assert_eq!(created.name, name);
        ids.push(created.template_id);
    }
    assert_eq!(
        ids,
        [
            "template-1",
            "template-2",
            "contract-key-terms-2",
            "template-3"
        ]
    );
}

#[tokio::test]
async fn a_built_in_template_can_be_changed_and_copied() {
    let house = House::idle().await;
    let terms = house.offered("contract-key-terms").await.unwrap();
    let mut changed = terms.draft();
    changed.fields.truncate(2);
    let edited = house
        .engine
        .edit_template("contract-key-terms", changed)
        .await
        .unwrap();
    assert_eq!((edited.version, edited.built_in), (2, true));
    assert_eq!(edited.fields.len(), 2);
    let copies = [
        house
            .engine
            .duplicate_template(&terms.template)
            .await
            .unwrap(),
        house
            .engine
            .duplicate_template(&terms.template)
            .await
            .unwrap(),
    ];
    assert_eq!(copies[0].name, "Contract key terms (copy)");
    assert_eq!(copies[1].name, "Contract key terms (copy 2)");
    for copy in copies {
        assert!(!copy.built_in, "a copy is the person's own");
        assert_eq!(
            copy.fields, terms.fields,
            "the version that was named is copied"
        );
        assert_eq!(copy.variables, ["language"]);
    }
    let unknown = house.engine.duplicate_template("no-such-v1").await;
    assert!(matches!(unknown, Err(EngineError::NotFound { .. })));
}

#[tokio::test]
async fn a_template_travels_as_a_file_that_never_replaces_another() {
    let house = House::idle().await;
    let written = house
        .engine
        .create_template(TemplateDraft {
            kind: TemplateKind::Fields,
            fields: vec![TemplateField {
                name: "amount".to_owned(),
                kind: FieldKind::Number,
                description: "Wieviel, 円".to_owned(),
            }],
            ..draft("請求書", "Fill in.")
        })
        .await
        .unwrap();
    let path = house.folder.path().join("請求書.json");
    let save = async |replace| {
        house
            .engine
            .template_to_file(&written.template, path.clone(), replace)
            .await
    };
    save(false).await.unwrap();
    assert!(house.engine.knows_path(&path).await.unwrap());
    let text = std::fs::read_to_string(&path).unwrap();
    let refused = save(false).await.unwrap_err().problem();
    assert!(refused.message.contains("exists already"), "{refused:?}");
    save(true).await.unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);

    let same = house.engine.template_from_file(path.clone()).await.unwrap();
    assert_eq!(same, written, "the same content is not stored twice");
    let other = House::idle().await;
    let there = other.engine.template_from_file(path.clone()).await.unwrap();
    assert_eq!(there.draft(), written.draft());
    house
        .engine
        .remove_template(&written.template_id)
        .await
        .unwrap();
    let back = house.engine.template_from_file(path.clone()).await.unwrap();
    assert_eq!(back.draft(), written.draft(), "a removed one can come back");
    assert!(house.offered(&back.template_id).await.is_some());
}

#[tokio::test]
async fn a_file_that_is_no_template_is_refused_with_the_reason() {
    let house = House::idle().await;
    let before = house.engine.templates().await.unwrap();
    let large = format!(
        "{{\"gistmill\": \"template\", \"name\": \"n\", \"kind\": \"prose\", \"body\": \"{}\"}}",
        "x".repeat(300_000)
    );
    for (text, words) in [
        ("not json", "not JSON"),
        ("{\"gistmill\": \"job\"}", "no template"),
        (
            "{\"gistmill\": \"template\", \"name\": \"n\", \"kind\": \"fields\", \"body\": \"b\"}",
            "no fields",
        ),
        (large.as_str(), "larger than 256 KB"),
    ] {
        let path = house.put("some.json", text.as_bytes());
        let problem = house
            .engine
            .template_from_file(path)
            .await
            .unwrap_err()
            .problem();
        assert!(problem.message.contains(words), "{words}: {problem:?}");
        assert!(!problem.hint.is_empty(), "{problem:?}");
    }
    let missing = house
        .engine
        .template_from_file(house.path("none.json"))
        .await;
    assert!(
        matches!(missing, Err(EngineError::File { .. })),
        "{missing:?}"
    );
    assert_eq!(house.engine.templates().await.unwrap(), before);
}

#[tokio::test]
async fn a_preview_says_the_same_as_saving_would() {
    let house = House::idle().await;
    for draft in [
        draft("", "Body"),
        draft("Name", "Be {Tone}."),
        TemplateDraft {
            kind: TemplateKind::Fields,
            ..draft("Name", "Body")
        },
    ] {
        let previewed = house.engine.preview_template(&draft, Variables::new());
        let refused = house.engine.create_template(draft).await.unwrap_err();
        assert_eq!(previewed.problem, Some(refused.to_string()));
    }
    let previewed = house.engine.preview_template(
        &draft(
            "Name",
            "{file_name}, {pages} pages, {today}, in {language}, {tone}",
        ),
        Variables::from([("tone".to_owned(), "dry".to_owned())]),
    );
    assert_eq!(
        previewed.text,
        "example.pdf, 12 pages, 2026-11-29, in the language of the document, dry"
    );
    assert_eq!(previewed.variables, ["language", "tone"]);
    assert_eq!(previewed.problem, None);
}

#[tokio::test]
async fn the_summary_is_offered_first_whatever_others_are_called() {
    let house = House::idle().await;
    for name in ["Aardvark", "Abstract"] {
        house
            .engine
            .create_template(TemplateDraft {
                name: name.to_owned(),
                body: "Say what this is.".to_owned(),
                ..TemplateDraft::default()
            })
            .await
            .unwrap();
    }
    let offered = house.engine.templates().await.unwrap();
    assert_eq!(
        offered[0].template_id, "pdf-summarize",
        "who adds files without choosing gets a summary"
    );
    assert_eq!(offered.len(), 7);
}
