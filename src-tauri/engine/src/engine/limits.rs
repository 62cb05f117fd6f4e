//! Lanes, prices and the webhook: what a person sets besides the settings.

use secrecy::SecretString;

use super::delivery::checked_delivery;
use super::{Engine, blocking};
use crate::error::EngineError;
use crate::model::{Delivery, LaneSettings, ModelPrice, PriceTable, QueueName, WebhookStatus};
use crate::outbox::webhook_key;

/// The name that the keychain files the webhook's secret under.
pub(super) const WEBHOOK_SECRET: &str = "webhook-secret";
/// Dearer than any model, in micro-dollars per million tokens: a slip of the decimal point.
const DEAREST: i64 = 10_000_000_000;

impl Engine {
    /// Stores what a person sets of a queue; it holds from the next claim on.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] for a number that can't be used.
    pub async fn save_lane(
        &self,
        queue: QueueName,
        settings: LaneSettings,
    ) -> Result<(), EngineError> {
        let checks = [
            ("jobs per claim", settings.max_batch_size, 1, 100),
            (
                "milliseconds for a claim to be filled",
                settings.max_batch_timeout_ms,
                0,
                60_000,
            ),
            ("retries", settings.max_retries, 0, 100),
            ("jobs at once", settings.max_concurrency, 1, 250),
            (
                "milliseconds of delay",
                settings.delivery_delay_ms,
                0,
                86_400_000,
            ),
            (
                "requests handed over at once",
                settings.remote_requests,
                1,
                100_000,
            ),
            (
                "milliseconds for jobs to be handed over together",
                settings.remote_wait_ms,
                0,
                86_400_000,
            ),
        ];
        for (what, value, least, most) in checks {
            if !(least..=most).contains(&value) {
                return Err(EngineError::bad_input(
                    format!("{value} {what} can’t be set."),
                    format!("Enter a number from {least} to {most}."),
                ));
            }
        }
        checked_delivery(queue, settings.delivery)?;
        self.0.store.save_lane(queue, settings).await?;
        self.everything_changed();
        Ok(())
    }

    /// Has all jobs of a queue that are not completed go one way, whatever was chosen when they were added. This is
    /// the way out where the queue goes another way than some of its jobs.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] where jobs of the queue can't go so.
    pub async fn deliver_lane(
        &self,
        queue: QueueName,
        delivery: Delivery,
    ) -> Result<(), EngineError> {
        checked_delivery(queue, delivery)?;
        self.0.store.deliver_lane(queue, delivery).await?;
        self.everything_changed();
        Ok(())
    }

    /// Returns the price table.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn prices(&self) -> Result<PriceTable, EngineError> {
        Ok(self.0.store.prices().await?.table())
    }

    /// Sets a model's price in place of the shipped one; all zero marks it as free.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] for what can't be a price.
    pub async fn save_price(&self, mut price: ModelPrice) -> Result<PriceTable, EngineError> {
        price.model = super::checks::checked_model(&price.model)?;
        let long = price
            .long_prompt
            .map(|long| [long.input, long.output, long.cache_write, long.cache_read]);
        let mut rates = vec![
            price.input,
            price.output,
            price.cache_write,
            price.cache_read,
        ];
        rates.extend(long.into_iter().flatten());
        if rates.iter().any(|rate| !(0..=DEAREST).contains(rate)) || price.batch_percent > 100 {
            return Err(EngineError::bad_input(
                format!("This can’t be the price of {}.", price.model),
                "Enter dollars per million tokens, such as 3.00; 0 for what is free.",
            ));
        }
        self.0.store.save_price(price).await?;
        self.everything_changed();
        self.prices().await
    }

    /// Forgets a price that the person set: the shipped one holds again, or none.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn remove_price(&self, model: String) -> Result<PriceTable, EngineError> {
        self.0.store.remove_price(model).await?;
        self.everything_changed();
        self.prices().await
    }

    /// Returns how telling others by HTTP goes.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn webhook_status(&self) -> Result<WebhookStatus, EngineError> {
        let history = self.0.store.webhook_history().await?;
        let engine = self.clone();
        let secret = blocking(move || engine.webhook_secret()).await?;
        Ok(WebhookStatus {
            secret_set: secret.is_some(),
            waiting: history.waiting,
            last_at: history.last_at,
            last_error: history.last_error,
        })
    }

    /// Keeps the secret that webhooks are signed with in the keychain; `None` forgets it.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] for what is no secret, [`EngineError::Keychain`] when it can't be kept.
    pub async fn save_webhook_secret(
        &self,
        secret: Option<String>,
    ) -> Result<WebhookStatus, EngineError> {
        let secret = secret.map(|secret| SecretString::from(secret.trim().to_owned()));
        if secret
            .as_ref()
            .is_some_and(|secret| webhook_key(secret).is_none())
        {
            return Err(EngineError::bad_input(
                "This is no secret of a webhook.",
                "Paste what the receiver shows: “whsec_” and some 32 letters and digits (24 to 64 bytes in base64).",
            ));
        }
        let secrets = std::sync::Arc::clone(&self.0.config.secrets);
        blocking(move || match secret {
            Some(secret) => secrets.set(WEBHOOK_SECRET, &secret),
            None => secrets.remove(WEBHOOK_SECRET),
        })
        .await??;
        self.webhook_status().await
    }

    /// Returns the secret that webhooks are signed with. Blocks as long as the keychain does.
    pub(super) fn webhook_secret(&self) -> Option<SecretString> {
        self.0
            .config
            .secrets
            .get(WEBHOOK_SECRET)
            .unwrap_or_else(|error| {
                tracing::warn!(%error, "the webhook's secret can't be read; it is not signed");
                None
            })
    }
}
