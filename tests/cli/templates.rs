//! Templates of one's own: made, changed, tried, given to others.

use gistmill_testkit::fake_claude::FakeClaude;
use serde_json::{Value, json};

use crate::support::{Desk, complaint};

const BODY: &str = "Say in {language} what {file_name} decides. Be {tone}.";

/// A desk with a template called Decisions.
fn desk_with_template() -> (Desk, Value) {
    let desk = Desk::new();
    desk.put("body.txt", BODY.as_bytes());
    let made = desk.json(&[
        "templates",
        "create",
        "--name",
        "Decisions",
        "--kind",
        "prose",
        "--body",
        "body.txt",
    ]);
    (desk, made)
}

#[test]
fn a_template_is_made_shown_edited_and_removed() {
    let (desk, made) = desk_with_template();
    let id = made["templateId"].as_str().unwrap();
    assert_eq!(
        (&made["version"], &made["variables"], &made["builtIn"]),
        (&json!(1), &json!(["language", "tone"]), &json!(false))
    );
    let listed = desk.text(&["templates"]);
    assert!(
        listed.contains("Decisions") && listed.contains("language, tone"),
        "{listed}"
    );
    assert_eq!(listed, desk.text(&["templates", "list"]));
    let first = made["template"].as_str().unwrap();
    for name in [id, first, "Decisions"] {
        let shown = desk.text(&["templates", "show", name]);
        assert!(shown.contains(BODY), "{name}: {shown}");
    }
    let edited = desk.text(&["templates", "edit", id, "--name", "What was decided"]);
    assert_eq!(edited.trim(), format!("{id}-v2"), "prints the new version");
    let shown = desk.json(&["templates", "show", id]);
    assert_eq!(
        (&shown["name"], &shown["body"], &shown["version"]),
        (&json!("What was decided"), &json!(BODY), &json!(2)),
        "what is not named stays"
    );
    desk.text(&["templates", "remove", id]);
    desk.ends_with(2, &["templates", "show", id]);
    assert!(!desk.text(&["templates"]).contains("decided"));
}

#[test]
fn fields_are_named_one_by_one_and_replaced_together() {
    let desk = Desk::new();
    let made = desk.told(
        &[
            "templates",
            "create",
            "--name",
            "Invoices",
            "--kind",
            "fields",
            "--body",
            "-",
            "--field",
            "total:number:The amount: in all",
            "--field",
            "due:date:When it has to be paid",
            "--json",
        ],
        "Fill in what the invoice says.\n",
    );
    assert!(made.status.success(), "{}", complaint(&made));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(
        made["fields"],
        json!([
            { "name": "total", "kind": "number", "description": "The amount: in all" },
            { "name": "due", "kind": "date", "description": "When it has to be paid" },
        ])
    );
    let id = made["templateId"].as_str().unwrap();
    desk.text(&[
        "templates",
        "edit",
        id,
        "--field",
        "paid:yes-no:Whether it is paid",
    ]);
    let shown = desk.text(&["templates", "show", id]);
    assert!(
        shown.contains("paid") && shown.contains("yes-no") && !shown.contains("total"),
        "{shown}"
    );
    desk.text(&["templates", "edit", id, "--kind", "prose"]);
    assert_eq!(
        desk.json(&["templates", "show", id])["fields"],
        json!([]),
        "prose has no fields"
    );
}

#[test]
fn a_preview_shows_what_would_be_sent_and_stores_nothing() {
    let (desk, made) = desk_with_template();
    let id = made["templateId"].as_str().unwrap();
    let before = desk.json(&["templates"]);
    let shown = desk.text(&["templates", "preview", id, "--set", "tone=dry"]);
    assert!(
        shown.contains("Be dry.")
            && shown.contains("Variables: language, tone")
            && shown.contains("About "),
        "{shown}"
    );
    let shown = desk.told(
        &["templates", "preview", "--body", "-", "--set", "tone=wry"],
        "Be {tone}, please.",
    );
    assert!(shown.status.success(), "{}", complaint(&shown));
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Be wry, please."));
    let told = desk.ends_with(1, &["templates", "preview", id, "--kind", "fields"]);
    assert!(told.contains("It can’t be saved so: "), "{told}");
    assert_eq!(desk.json(&["templates"]), before);
}

#[test]
fn a_template_goes_to_a_file_and_comes_back() {
    let (desk, made) = desk_with_template();
    let id = made["templateId"].as_str().unwrap();
    desk.text(&["templates", "export", id, "decisions.json"]);
    let refused = desk.ends_with(2, &["templates", "export", id, "decisions.json"]);
    assert!(refused.contains("--replace"), "{refused}");
    desk.text(&["templates", "export", id, "decisions.json", "--replace"]);
    let other = Desk::new();
    std::fs::copy(desk.path("decisions.json"), other.path("decisions.json")).unwrap();
    let imported = other.json(&["templates", "import", "decisions.json"]);
    assert_eq!(
        (&imported[0]["name"], &imported[0]["body"]),
        (&json!("Decisions"), &json!(BODY))
    );
    other.put("other.json", b"{}");
    let said = other.ends_with(2, &["templates", "import", "decisions.json", "other.json"]);
    assert!(
        said.contains("is imported.") && said.contains("other.json"),
        "what was imported is told as well as what was not: {said}"
    );
}

#[test]
fn a_copy_of_a_built_in_template_is_ones_own() {
    let desk = Desk::new();
    let copy = desk.json(&["templates", "duplicate", "meeting-minutes"]);
    assert_eq!(copy["builtIn"], false);
    assert_ne!(copy["templateId"], "meeting-minutes");
    let id = copy["templateId"].as_str().unwrap();
    desk.put("body.txt", b"Be short.");
    let edited = desk.json(&["templates", "edit", id, "--body", "body.txt"]);
    assert_eq!(
        (&edited["version"], &edited["body"]),
        (&json!(2), &json!("Be short."))
    );
}

#[test]
fn what_can_be_no_template_is_refused_and_changes_nothing() {
    let (desk, made) = desk_with_template();
    let id = made["templateId"].as_str().unwrap();
    desk.put("empty.txt", b" \n");
    let before = desk.json(&["templates"]);
    for arguments in [
        &["templates", "create", "--name", "X", "--kind", "prose"][..],
        &[
            "templates",
            "create",
            "--name",
            "X",
            "--kind",
            "poem",
            "--body",
            "body.txt",
        ],
        &[
            "templates",
            "create",
            "--name",
            " ",
            "--kind",
            "prose",
            "--body",
            "body.txt",
        ],
        &[
            "templates",
            "create",
            "--name",
            "X",
            "--kind",
            "prose",
            "--body",
            "empty.txt",
        ],
        &[
            "templates",
            "create",
            "--name",
            "X",
            "--kind",
            "prose",
            "--body",
            "missing.txt",
        ],
        &[
            "templates",
            "create",
            "--name",
            "X",
            "--kind",
            "fields",
            "--body",
            "body.txt",
        ],
        &["templates", "edit", id],
        &["templates", "edit", id, "--field", "due"],
        &["templates", "edit", id, "--field", "due:day:When"],
        &["templates", "edit", "no-such-template", "--name", "Y"],
        &["templates", "remove", "no-such-template"],
        &["templates", "duplicate", "no-such-template"],
        &["templates", "preview"],
        &["templates", "import"],
        &["templates", "import", "missing.json"],
        &["templates", "export", "no-such-template", "x.json"],
    ] {
        let said = desk.ends_with(2, arguments);
        assert!(!said.trim().is_empty(), "{arguments:?} must say why");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    }
    assert_eq!(desk.json(&["templates"]), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn files_are_asked_with_a_template_of_ones_own() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put("body.txt", BODY.as_bytes());
    desk.text(&[
        "templates",
        "create",
        "--name",
        "Decisions",
        "--kind",
        "prose",
        "--body",
        "body.txt",
    ]);
    desk.put_pdfs(2);
    desk.text(&[
        "add",
        "pdfs",
        "--queue",
        "high",
        "--template",
        "Decisions",
        "--set",
        "tone=dry",
        "--language",
        "Welsh",
    ]);
    desk.text(&["run"]);
    let asked = claude.requests();
    assert_eq!(asked.len(), 2);
    for request in asked {
        assert!(
            request.prompt.contains("Say in Welsh what report-00")
                && request.prompt.contains("Be dry."),
            "{}",
            request.prompt
        );
    }
}

#[test]
fn a_template_and_an_address_may_send_the_text_alone() {
    let desk = Desk::new();
    desk.put("body.txt", b"Summarize the document.");
    let created = desk.json(&[
        "templates",
        "create",
        "--name",
        "Cheap",
        "--kind",
        "prose",
        "--body",
        "body.txt",
        "--sends",
        "text",
    ]);
    assert_eq!(created["sends"], "text");
    let shown = desk.text(&["templates", "show", "Cheap"]);
    assert!(shown.contains("without its pictures"), "{shown}");
    desk.text(&["templates", "edit", "Cheap", "--sends", "pdf"]);
    let shown = desk.text(&["templates", "show", "Cheap"]);
    assert!(!shown.contains("without its pictures"), "{shown}");
    let set = desk.text(&["config", "set", "text-only", "on"]);
    assert!(set.contains("text-only is on now."), "{set}");
    assert_eq!(desk.json(&["config"])["textOnly"], true);
}
