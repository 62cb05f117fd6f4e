//! A PDF that lies at the provider while it is asked about: recorded before it is used, removed with its attempt.

use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::consumer::Shared;
use crate::fault::FaultPoint;
use crate::model::Cause;
use crate::provider::{Deliver, Failure};
use crate::store::Store;

/// A file at the provider. Dropped, it is removed there; nobody waits for that, since an answer that was paid for
/// must be kept first.
pub(super) struct LentFile {
    file_id: String,
    store: Store,
    provider: Arc<dyn Deliver>,
}

impl LentFile {
    /// Uploads a PDF.
    pub(super) async fn lend(
        shared: &Shared,
        provider: &Arc<dyn Deliver>,
        (path, bytes, name): (&Path, u64, &str),
        cancel: &CancellationToken,
    ) -> Result<Self, Failure> {
        let file_id = provider.upload(path, bytes, name, cancel).await?;
        let lent = Self {
            file_id: file_id.clone(),
            store: shared.store.clone(),
            provider: Arc::clone(provider),
        };
        shared
            .store
            .lend(file_id, shared.clock.now())
            .await
            .map_err(|error| Failure::unsent(Cause::StorageFailed, error.to_string()))?;
        (shared.fault)(FaultPoint::Lent);
        Ok(lent)
    }

    pub(super) fn id(&self) -> &str {
        &self.file_id
    }
}

impl Drop for LentFile {
    fn drop(&mut self) {
        let file_id = std::mem::take(&mut self.file_id);
        let (store, provider) = (self.store.clone(), Arc::clone(&self.provider));
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { give_back(&store, provider.as_ref(), file_id).await });
        }
    }
}

/// Removes a file at the provider, and forgets it then. What can't be removed now is removed at the next start, or
/// ends by itself.
async fn give_back(store: &Store, provider: &dyn Deliver, file_id: String) {
    match provider.remove(&file_id).await {
        Ok(()) => {
            if let Err(error) = store.given_back(file_id).await {
                tracing::debug!(%error, "a file that was removed at the provider is still noted");
            }
        }
        Err(failure) => tracing::debug!(%failure, "a file could not be removed at the provider"),
    }
}

/// Removes what a program that ended left at the provider.
pub(in crate::consumer) async fn sweep(shared: &Shared) {
    let left = match shared.store.lent(shared.clock.now()).await {
        Ok(left) if left.is_empty() => return,
        Ok(left) => left,
        Err(error) => {
            tracing::debug!(%error, "nobody knows whether files are left at the provider");
            return;
        }
    };
    let Ok(provider) = (shared.providers)(crate::model::Provider::Claude) else {
        return;
    };
    for file_id in left {
        give_back(&shared.store, provider.as_ref(), file_id).await;
    }
}
