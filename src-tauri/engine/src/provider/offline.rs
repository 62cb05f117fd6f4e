//! The built-in summarizer.
use std::path::Path;
use std::sync::Arc;
use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use super::{Answer, Deliver, Failure, Progress, Request};
/// Model.
pub const METHOD: &str = "lexrank-v1";
/// Text.
#[async_trait]
pub trait TextSource: Send + Sync {
    /// Text.
    async fn text(&self, path: &Path) -> Result<Vec<String>, Failure>;
}
/// Offline.
pub struct OfflineProvider { _t: Arc<dyn TextSource> }
impl OfflineProvider {
    /// New.
    pub fn new(t: Arc<dyn TextSource>) -> Self { Self { _t: t } }
}
#[async_trait]
impl Deliver for OfflineProvider {
    async fn deliver(&self, _r: &Request, _p: &dyn Progress, _c: &CancellationToken) -> Result<Answer, Failure> { todo!() }
}
