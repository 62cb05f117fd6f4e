//! Results that serve again: the same document, template, model and options cost nothing twice.

use std::collections::HashMap;

use serde_json::json;

use crate::model::{Provider, ReusedFrom, Sends, Sha256, Variables};
use crate::results::{Library, without_origin};
use crate::store::{NewAnswer, Result, Reusable, Store};
use crate::templates::{self, Template};

/// Keys that are looked up at once.
const AT_ONCE: usize = 500;

/// What an answer depends on.
pub(crate) struct Asked<'job> {
    pub(crate) document_sha256: &'job str,
    pub(crate) template: &'job Template,
    pub(crate) provider: Provider,
    pub(crate) model: &'job str,
    pub(crate) sends: Sends,
    /// Values of the template's variables, those that the document gives included.
    pub(crate) values: &'job Variables,
}

/// Returns the digest of all that an answer depends on; `None` for answers that cost nothing anyway.
pub(crate) fn key(asked: &Asked<'_>) -> Option<String> {
    if asked.provider == Provider::Offline {
        return None;
    }
    let template = asked.template;
    let mut all = json!({
        "document": asked.document_sha256,
        "template": format!("{}-v{}", template.template_id, template.version),
        "model": asked.model,
        // What the template does not use changes nothing.
        "values": templates::used(&template.body, asked.values),
    });
    if asked.sends == Sends::Text {
        // Who is sent the text does not see the pictures.
        all["sends"] = json!(asked.sends.as_str());
    }
    Some(Sha256::of(all.to_string().as_bytes()).0)
}

/// Returns the values of a document's variables: those given, and those that the file gives.
pub(crate) fn values(given: &Variables, file_name: &str, pages: Option<u32>) -> Variables {
    let mut values = given.clone();
    values.insert("file_name".to_owned(), file_name.to_owned());
    values.insert(
        "pages".to_owned(),
        pages.map(|pages| pages.to_string()).unwrap_or_default(),
    );
    values
}

/// Returns the answers that earlier results give for keys. One whose file is gone or was changed gives
/// none.
pub(crate) async fn answers(
    store: &Store,
    library: &Library,
    keys: Vec<String>,
) -> Result<HashMap<String, NewAnswer>> {
    let mut found = HashMap::new();
    for some in keys.chunks(AT_ONCE) {
        for (key, result) in store.reusable(some.to_vec()).await? {
            if let Some(answer) = answer(library, result).await {
                found.insert(key, answer);
            }
        }
    }
    Ok(found)
}

async fn answer(library: &Library, result: Reusable) -> Option<NewAnswer> {
    let text = library.read(&result.key).await.ok()?;
    if Sha256::of(text.as_bytes()) != result.sha256 {
        tracing::warn!(
            key = result.key,
            "a result was changed in the library, and does not serve again"
        );
        return None;
    }
    Some(NewAnswer {
        body: without_origin(&text).to_owned(),
        model: result.model,
        stop_reason: result.stop_reason,
        request_id: None,
        input_tokens: 0,
        output_tokens: 0,
        cost_micros: Some(0),
        review: None,
        format: result.format,
        reused_from: Some(ReusedFrom {
            job_id: result.job_id,
            stored_at: result.stored_at,
        }),
        passages: result.passages,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::TemplateKind;

    fn template(body: &str) -> Template {
        Template {
            template_id: "brief".to_owned(),
            version: 2,
            kind: TemplateKind::Prose,
            body: body.to_owned(),
            fields: Vec::new(),
            sends: crate::model::Sends::Pdf,
        }
    }

    fn key_of(template: &Template, model: &str, values: &Variables) -> Option<String> {
        key(&Asked {
            document_sha256: "d0c",
            template,
            provider: Provider::Claude,
            model,
            sends: template.sends,
            values,
        })
    }

    #[test]
    fn only_what_changes_the_answer_changes_the_key() {
        let plain = template("Summarize.");
        let named = template("Summarize {file_name} in {language}.");
        let a = values(&Variables::new(), "a.pdf", Some(3));
        let b = values(&Variables::new(), "b.pdf", Some(3));
        assert_eq!(
            key_of(&plain, "m", &a),
            key_of(&plain, "m", &b),
            "a renamed file is the same document"
        );
        assert_ne!(
            key_of(&named, "m", &a),
            key_of(&named, "m", &b),
            "a template that names the file asks something else of each name"
        );
        assert_ne!(key_of(&plain, "m", &a), key_of(&plain, "another", &a));
        let mut japanese = a.clone();
        japanese.insert("language".to_owned(), "Japanese".to_owned());
        assert_ne!(key_of(&named, "m", &a), key_of(&named, "m", &japanese));
        let as_text = Template {
            sends: Sends::Text,
            ..named.clone()
        };
        assert_ne!(
            key_of(&named, "m", &a),
            key_of(&as_text, "m", &a),
            "an answer about the text is not one about the pages"
        );
        let later = Template {
            version: 3,
            ..named.clone()
        };
        assert_ne!(key_of(&named, "m", &a), key_of(&later, "m", &a));
    }
}
