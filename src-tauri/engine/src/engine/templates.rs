//! Templates: what a person writes, changes, gives away and gets.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{Engine, blocking};
use crate::error::EngineError;
use crate::model::{TemplateDraft, TemplatePreview, TemplateView, Variables};
use crate::store::{NewId, Removal};
use crate::templates::{draft, file};
use crate::whole_file;

/// Longest id that is made of a name, in bytes.
const LONGEST_ID: usize = 48;
/// Longest name of a copy, in characters.
const LONGEST_NAME: usize = 80;

impl Engine {
    /// Returns the newest version of every template that is offered.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn templates(&self) -> Result<Vec<TemplateView>, EngineError> {
        self.0.store.templates().await
    }

    /// Stores a new template. Its id is made of its name.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] with what can't be saved, or when the database can't be written.
    pub async fn create_template(&self, draft: TemplateDraft) -> Result<TemplateView, EngineError> {
        let draft = draft::checked(draft)?;
        let now = self.0.config.clock.now();
        let created = self
            .0
            .store
            .create_template(new_id(&draft.name), draft, now)
            .await?;
        self.everything_changed();
        Ok(created)
    }

    /// Stores a new version of a template; jobs keep the one that they were asked with. Where nothing
    /// changed, the present version is returned.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] for a template that is not offered, [`EngineError::BadInput`] with what
    /// can't be saved.
    pub async fn edit_template(
        &self,
        template_id: &str,
        draft: TemplateDraft,
    ) -> Result<TemplateView, EngineError> {
        let draft = draft::checked(draft)?;
        let now = self.0.config.clock.now();
        let edited = self
            .0
            .store
            .edit_template(template_id.to_owned(), draft, now)
            .await?
            .ok_or_else(|| unknown(template_id))?;
        self.everything_changed();
        Ok(edited)
    }

    /// Stores a copy of a version of a template (`ID-vN`), named `NAME (copy)`.
    ///
    /// # Errors
    /// [`EngineError::NotFound`].
    pub async fn duplicate_template(&self, template: &str) -> Result<TemplateView, EngineError> {
        let original = self.template_view(template).await?;
        let names: Vec<String> = self
            .templates()
            .await?
            .into_iter()
            .map(|t| t.name)
            .collect();
        let mut number = 1;
        let name = loop {
            let name = copy_name(&original.name, number);
            // Ends: there are only so many names.
            if !names.contains(&name) {
                break name;
            }
            number += 1;
        };
        self.create_template(TemplateDraft {
            name,
            ..original.draft()
        })
        .await
    }

    /// Offers a template no more. Jobs that were asked with it keep it.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], or [`EngineError::BadInput`] for the only one that is left.
    pub async fn remove_template(&self, template_id: &str) -> Result<(), EngineError> {
        match self.0.store.remove_template(template_id.to_owned()).await? {
            Removal::Removed => {
                self.everything_changed();
                Ok(())
            }
            Removal::NotOffered => Err(unknown(template_id)),
            Removal::LastOne => Err(EngineError::bad_input(
                "This is the only template that is left.",
                "Make another one first: files can’t be added without a template.",
            )),
        }
    }

    /// Returns what a draft would send, with an example in place of a document, and what keeps it from being
    /// saved.
    #[must_use]
    pub fn preview_template(&self, draft: TemplateDraft, variables: Variables) -> TemplatePreview {
        draft::preview(draft, variables, &self.local_time().day)
    }

    /// Writes a version of a template (`ID-vN`) to a file; one that is there is replaced only with `replace`.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], or that the file can't be written.
    pub async fn template_to_file(
        &self,
        template: &str,
        path: PathBuf,
        replace: bool,
    ) -> Result<(), EngineError> {
        let text = file::written(&self.template_view(template).await?.draft())?;
        let target = path.clone();
        blocking(move || whole_file::write(&target, text.as_bytes(), replace)).await??;
        self.remember_exported(path);
        Ok(())
    }

    /// Stores the template of a file. One that is offered and says the same is returned instead.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] with what is wrong with the file.
    pub async fn template_from_file(&self, path: PathBuf) -> Result<TemplateView, EngineError> {
        let bytes = blocking(move || read_bounded(&path)).await??;
        let draft = draft::checked(file::read(&bytes)?)?;
        let same = self
            .templates()
            .await?
            .into_iter()
            .find(|template| template.draft() == draft);
        match same {
            Some(same) => Ok(same),
            None => self.create_template(draft).await,
        }
    }

    async fn template_view(&self, template: &str) -> Result<TemplateView, EngineError> {
        let found = self.template(template).await?;
        self.0
            .store
            .template_view(found.template_id, found.version)
            .await?
            .ok_or_else(|| unknown(template))
    }
}

fn unknown(template: &str) -> EngineError {
    EngineError::NotFound {
        what: "template",
        name: template.to_owned(),
    }
}

/// Returns the id that is made of a name: its letters and digits in small, the rest as `-`. A name in other
/// letters than those of ASCII makes none.
fn new_id(name: &str) -> NewId {
    if !name.is_ascii() {
        return NewId::Numbered;
    }
    let mut id = String::new();
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            id.push(character.to_ascii_lowercase());
        } else if !id.is_empty() && !id.ends_with('-') {
            id.push('-');
        }
    }
    id.truncate(LONGEST_ID);
    let id = id.trim_end_matches('-');
    if id.is_empty() {
        return NewId::Numbered;
    }
    NewId::Named(id.to_owned())
}

/// Returns the name of a template's copy, cut where it gets too long.
fn copy_name(name: &str, number: u32) -> String {
    let ending = match number {
        1 => " (copy)".to_owned(),
        _ => format!(" (copy {number})"),
    };
    let left = LONGEST_NAME - ending.len();
    let begin: String = name.chars().take(left).collect();
    format!("{}{ending}", begin.trim_end())
}

/// Reads a file that is not larger than a template's can be.
fn read_bounded(path: &Path) -> Result<Vec<u8>, EngineError> {
    let unreadable = |source| EngineError::File {
        path: path.to_owned(),
        action: "read",
        source,
    };
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(file::LARGEST_FILE + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > file::LARGEST_FILE {
        return Err(EngineError::bad_input(
            format!(
                "The file is larger than {} KB, so it is no template.",
                file::LARGEST_FILE / 1024
            ),
            "Choose a file that was exported from Gistmill’s templates.",
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_of_a_name_in_ascii_and_numbered_for_others() {
        for (name, id) in [
            ("Contract key terms", "contract-key-terms"),
            ("  (A) & B! ", "a-b"),
            ("v2", "v2"),
        ] {
            assert_eq!(new_id(name), NewId::Named(id.to_owned()), "{name}");
        }
        for name in ["要約", "Résumé", "!!!"] {
            assert_eq!(new_id(name), NewId::Numbered, "{name}");
        }
        let NewId::Named(long) = new_id(&"word ".repeat(16)) else {
            panic!("a long name has letters, too");
        };
        assert!(long.len() <= LONGEST_ID && !long.ends_with('-'), "{long}");
    }

    #[test]
    fn a_copy_of_a_long_name_has_a_name_that_can_be_saved() {
        assert_eq!(copy_name("Terms", 1), "Terms (copy)");
        let long = copy_name(&"名".repeat(80), 2);
        assert_eq!(long.chars().count(), LONGEST_NAME);
        assert!(long.ends_with("名 (copy 2)"));
    }
}
