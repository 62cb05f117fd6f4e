//! The bucket that results are uploaded to. Its secret goes in and never comes back.

use gistmill_engine::model::{BucketAddress, BucketSettings, BucketStatus, BucketTest, Selection};

use super::{Answer, Opened};

#[tauri::command]
pub(crate) async fn bucket_status(engine: Opened<'_>) -> Answer<BucketStatus> {
    engine
        .bucket_status()
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn save_bucket_secret(
    engine: Opened<'_>,
    secret: Option<String>,
    session_only: bool,
) -> Answer<BucketStatus> {
    engine
        .save_bucket_secret(secret, session_only)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn test_bucket(
    engine: Opened<'_>,
    bucket: BucketSettings,
    secret: Option<String>,
) -> Answer<BucketTest> {
    engine
        .test_bucket(bucket, secret)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn read_bucket_address(engine: Opened<'_>, text: String) -> Answer<BucketAddress> {
    engine
        .read_bucket_address(&text)
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn upload_missing(engine: Opened<'_>) -> Answer<u64> {
    engine
        .upload_missing()
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn retry_uploads(engine: Opened<'_>) -> Answer<u64> {
    engine
        .retry_uploads()
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn retry_copies(engine: Opened<'_>, selection: Selection) -> Answer<u64> {
    engine
        .retry_copies(selection)
        .await
        .map_err(|error| error.problem())
}
