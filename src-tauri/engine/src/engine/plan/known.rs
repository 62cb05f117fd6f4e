//! What is known of the calls of a submission better than by estimate: counts, and earlier answers.

use std::collections::HashMap;

use super::Asked;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::model::{EstimateCheck, Provider, ScannedFile, Sha256};
use crate::pricing::{Learned, OutputHistory};
use crate::store::CountedFor;
use crate::templates::{self, Template};

/// What is known of the calls of a submission better than by estimate.
#[derive(Debug, Default)]
pub(in crate::engine) struct KnownCalls {
    /// Tokens of documents, of those that were counted.
    counted: HashMap<Sha256, u64>,
    /// What earlier calls say.
    learned: Learned,
    /// How estimates compared with what was counted.
    pub(in crate::engine) estimates: Option<EstimateCheck>,
}

impl KnownCalls {
    /// Returns what is known of the call about a file.
    pub(in crate::engine) fn of(&self, file: &ScannedFile) -> Learned {
        Learned {
            counted: self.counted.get(&file.document.sha256).copied(),
            ..self.learned
        }
    }

    /// Returns how long earlier answers were.
    pub(in crate::engine) fn output(&self) -> Option<&OutputHistory> {
        self.learned.output.as_ref()
    }
}

impl Engine {
    /// Returns what is known of the calls about files; without any, of those to prompts.
    pub(in crate::engine) async fn known(
        &self,
        asked: &Asked,
        files: &[ScannedFile],
    ) -> Result<KnownCalls, EngineError> {
        if asked.provider == Provider::Offline {
            return Ok(KnownCalls::default());
        }
        let store = &self.0.store;
        let template = asked.template.as_ref();
        let counted = match template {
            Some(template) if !files.is_empty() => {
                let documents = files.iter().map(|file| file.document.sha256.clone());
                store
                    .counted(asked.counted_for(template), documents.collect())
                    .await?
            }
            _ => HashMap::new(),
        };
        let name = template.map(Template::name).unwrap_or_default();
        Ok(KnownCalls {
            counted,
            learned: store
                .learned_of(asked.model.clone(), name, asked.sends)
                .await?,
            estimates: self.estimates_for(asked).await?,
        })
    }
}

impl Asked {
    /// Returns what a count of a document holds for.
    pub(in crate::engine) fn counted_for(&self, template: &Template) -> CountedFor {
        CountedFor {
            model: self.model.clone(),
            sends: self.sends,
            asks: templates::asks(template),
        }
    }
}
