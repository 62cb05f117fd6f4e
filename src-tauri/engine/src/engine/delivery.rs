//! How jobs go: a call each, or many together by the batch API, at half price.

use super::Engine;
use super::endpoint::addressed;
use crate::error::EngineError;
use crate::model::{Delivery, EndpointKind, Provider, QueueName, Submission};

impl Engine {
    /// Returns how the jobs of a submission go, but for those of a pilot.
    pub(super) async fn delivery_of(
        &self,
        submission: &Submission,
    ) -> Result<Delivery, EngineError> {
        if submission.provider == Provider::Offline {
            return Ok(Delivery::Each);
        }
        let asked = self.delivery_of_changes(Some(submission.queue), submission.delivery);
        Ok(asked.await?.unwrap_or_default())
    }

    /// Returns how jobs go that may go either way, where they are put in a queue or something is said of it;
    /// `None` for as they go now.
    pub(super) async fn delivery_of_changes(
        &self,
        queue: Option<QueueName>,
        delivery: Option<Delivery>,
    ) -> Result<Option<Delivery>, EngineError> {
        let Some(delivery) = delivery else {
            return Ok(match queue {
                Some(queue) => Some(self.0.store.delivery(queue).await?),
                None => None,
            });
        };
        checked_delivery(queue.unwrap_or(QueueName::Bulk), delivery)?;
        if delivery == Delivery::Batch {
            let settings = addressed(&self.0.config, self.0.store.settings().await?);
            let kind = settings.endpoint.unwrap_or(EndpointKind::Other);
            if let Some(name) = without_batches(kind) {
                return Err(EngineError::bad_input(
                    format!("{name} has no batch API, so there is no half price."),
                    "Have these jobs asked by a call each, or use Anthropic’s own address.",
                ));
            }
        }
        Ok(Some(delivery))
    }
}

/// Makes sure that the jobs of a queue may go one way.
pub(super) fn checked_delivery(queue: QueueName, delivery: Delivery) -> Result<(), EngineError> {
    if queue == QueueName::High && delivery == Delivery::Batch {
        return Err(EngineError::bad_input(
            "High can’t be delivered by the batch API: its answers may take a day.",
            "Move jobs that have time to Bulk, and have them delivered by the batch API.",
        ));
    }
    Ok(())
}

/// Returns the name of an endpoint that is known to have no batch API. Others are tried.
fn without_batches(kind: EndpointKind) -> Option<&'static str> {
    match kind {
        EndpointKind::Openrouter => Some("OpenRouter"),
        EndpointKind::Ollama => Some("Ollama"),
        EndpointKind::LmStudio => Some("LM Studio"),
        EndpointKind::Anthropic | EndpointKind::Litellm | EndpointKind::Other => None,
    }
}
