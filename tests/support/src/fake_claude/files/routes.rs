//! The calls about files.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Request, State};
use serde_json::json;

use super::super::Shared;
use super::super::check::invalid;
use super::super::clock::later;
use super::super::fault::Canned;
use super::super::page;
use super::super::script::Call;
use super::super::server::{Answered, Done, Head, other, read_body};
use super::multipart::{self, Part};
use super::{Stored, Upload};

const LONGEST_NAME: usize = 255;
const LIFETIMES: std::ops::RangeInclusive<u64> = 3_600..=7_776_000;
/// What a form has besides its file.
const FORM_BYTES: usize = 64 * 1024;
const MOST_IDS: usize = 100;

/// `POST /v1/files`.
pub(in super::super) async fn upload(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Answered {
    let settings = &shared.settings.files;
    let mut head = Head::of(&shared, &request);
    let most = settings.most_bytes.saturating_add(FORM_BYTES);
    let body = read_body(request, most, &mut head.recorded).await;
    other(&shared, Call::UploadFile, &head, || {
        let body = body?.ok_or_else(too_large)?;
        let boundary = head.header("content-type").and_then(multipart::boundary);
        let Some(parts) = boundary.and_then(|boundary| multipart::parts(&body, boundary)) else {
            return Err(invalid("content-type: multipart/form-data is required"));
        };
        let now = shared.clock.now();
        let seconds = lifetime(&parts)?;
        let Some(file) = parts.iter().find(|part| part.name == "file") else {
            return Err(invalid("file: Field required"));
        };
        if file.bytes.len() > settings.most_bytes {
            return Err(too_large());
        }
        if file.bytes.is_empty() {
            return Err(invalid("file: File is empty"));
        }
        let mime_type = file
            .content_type
            .clone()
            .unwrap_or_else(|| "application/octet-stream".to_owned());
        let upload = Upload {
            workspace: &head.workspace,
            filename: filename(file, &mime_type)?,
            mime_type,
            bytes: file.bytes,
            now,
            expires_at: seconds.map(|seconds| later(now, Duration::from_secs(seconds))),
        };
        shared
            .files
            .add(upload, settings.quota_bytes)
            .map(Done::Json)
    })
    .await
}

fn too_large() -> Canned {
    Canned::error(
        413,
        "request_too_large",
        "File exceeds the maximum allowed size of 500 MB.",
    )
}

fn lifetime(parts: &[Part<'_>]) -> Result<Option<u64>, Canned> {
    let Some(part) = parts.iter().find(|part| part.name == "expires_in_seconds") else {
        return Ok(None);
    };
    String::from_utf8_lossy(part.bytes)
        .trim()
        .parse()
        .ok()
        .filter(|seconds| LIFETIMES.contains(seconds))
        .map(Some)
        .ok_or_else(|| {
            invalid(format!(
                "expires_in_seconds: Input should be between {} and {}",
                LIFETIMES.start(),
                LIFETIMES.end()
            ))
        })
}

fn filename(file: &Part<'_>, mime_type: &str) -> Result<String, Canned> {
    let name = file.filename.clone().unwrap_or_default();
    if name.is_empty() {
        let ending = match mime_type {
            "application/pdf" => ".pdf",
            "text/plain" => ".txt",
            _ => "",
        };
        return Ok(format!("unnamed{ending}"));
    }
    let forbidden = |letter: char| letter.is_control() || "<>:\"|?*\\/".contains(letter);
    if name.chars().count() > LONGEST_NAME || name.contains(forbidden) {
        return Err(invalid(
            "file: Filename must be 1-255 characters and must not contain <>:\"|?*\\/ or control characters",
        ));
    }
    Ok(name)
}

/// `GET /v1/files`.
pub(in super::super) async fn list(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Answered {
    let head = Head::of(&shared, &request);
    other(&shared, Call::ListFiles, &head, || {
        let ids = page::values(&head.query, "ids");
        let files = shared.files.lock();
        let mut seen = files.iter().rev().filter(|stored| {
            let file = &stored.recorded;
            !file.deleted && stored.workspace == head.workspace
        });
        if !ids.is_empty() {
            if ids.len() > MOST_IDS || page::value(&head.query, "limit").is_some() {
                return Err(invalid("ids: at most 100, and not together with limit"));
            }
            let data: Vec<_> = seen
                .filter(|stored| ids.contains(&stored.recorded.id.as_str()))
                .map(Stored::describe)
                .collect();
            return Ok(Done::Json(json!({"data": data, "next_page": null})));
        }
        let limit = page::limit(&head.query)?;
        if let Some(page) = page::value(&head.query, "page") {
            let last = page.strip_prefix("page_").unwrap_or_default();
            if !seen.any(|stored| stored.recorded.id == last) {
                return Err(invalid("page: not a page of this list"));
            }
        }
        let shown: Vec<_> = seen.by_ref().take(limit).collect();
        let next = match (seen.next(), shown.last()) {
            (Some(_), Some(last)) => Some(format!("page_{}", last.recorded.id)),
            _ => None,
        };
        let data: Vec<_> = shown.iter().map(|stored| stored.describe()).collect();
        Ok(Done::Json(json!({"data": data, "next_page": next})))
    })
    .await
}

/// `GET /v1/files/{id}`.
pub(in super::super) async fn retrieve(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request,
) -> Answered {
    let head = Head::of(&shared, &request);
    other(&shared, Call::GetFile, &head, || {
        shared.files.with(&head.workspace, &id, |stored| {
            Ok(Done::Json(stored.describe()))
        })
    })
    .await
}

/// `DELETE /v1/files/{id}`.
pub(in super::super) async fn delete(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request,
) -> Answered {
    let head = Head::of(&shared, &request);
    other(&shared, Call::DeleteFile, &head, || {
        shared.files.with(&head.workspace, &id, |stored| {
            stored.recorded.deleted = true;
            Ok(Done::Json(json!({"id": id, "type": "file_deleted"})))
        })
    })
    .await
}
