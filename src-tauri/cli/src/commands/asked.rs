//! What is asked of files or a prompt, as said on the command line.

use gistmill_engine::Engine;
use gistmill_engine::model::{Delivery, Provider, QueueName, Submission, Variables};

use super::templates;
use crate::arguments::AskedArguments;
use crate::output::Failed;

/// Returns a submission without a name and a cap; `usual` is the queue where none was said.
pub(crate) async fn submission(
    engine: &Engine,
    asked: AskedArguments,
    usual: QueueName,
) -> Result<Submission, Failed> {
    let settings = engine.settings().await?;
    let mut variables: Variables = asked.variables.into_iter().collect();
    if let Some(language) = asked.language {
        variables.insert("language".to_owned(), language);
    }
    let template = templates::version_named(engine, asked.template).await?;
    templates::check_variables(engine, &template, &variables).await?;
    let delivery = asked.delivery.map(Delivery::from);
    // Only bulk can be handed over, so nothing else can be meant.
    let usual = match delivery {
        Some(Delivery::Batch) => QueueName::Bulk,
        Some(Delivery::Each) | None => usual,
    };
    Ok(Submission {
        name: String::new(),
        queue: asked.queue.map_or(usual, QueueName::from),
        delivery,
        template,
        provider: asked.provider.map_or(settings.provider, Provider::from),
        model: asked.model,
        cap_micros: None,
        paused: false,
        variables,
        fresh: false,
        pilot: None,
    })
}
