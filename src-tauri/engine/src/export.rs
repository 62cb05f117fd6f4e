//! Results as files for other programs: a table, one JSON object a line, or one document.
//!
//! An export streams: jobs are read a page at a time, the texts of their results a few at a time, and the
//! file lies under another name until it is whole.

mod csv;
mod jsonl;
mod markdown;
mod words;

use std::io;
use std::path::PathBuf;

use futures_util::StreamExt as _;
use serde_json::Value;

use crate::error::EngineError;
use crate::model::{ExportFormat, JobStatus, ResultFormat, Selection, Sha256};
use crate::results::{Library, without_origin};
use crate::store::{ExportOutline, ExportRow, Store};
use crate::templates;
use crate::whole_file::WholeFile;

/// Jobs that are read from the database at once.
const PAGE: u32 = 500;
/// Results whose texts are in memory at once.
const TEXTS: usize = 50;
/// Results that are read from the disk at once.
const READS: usize = 8;

/// What is to be exported.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// Which jobs.
    pub(crate) selection: Selection,
    /// As what.
    pub(crate) format: ExportFormat,
    /// Whether a table begins with a byte order mark.
    pub(crate) byte_order_mark: bool,
    /// The title of a document.
    pub(crate) title: String,
    /// The day that a document is of, such as 2026-11-30.
    pub(crate) day: String,
}

/// What was exported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Jobs in the file.
    pub(crate) jobs: u64,
    /// How many of them have a result.
    pub(crate) results: u64,
    /// Results that could not be read; their jobs are in the file without a text.
    pub(crate) unreadable: u64,
    /// Digest of the file.
    pub(crate) sha256: Sha256,
    /// Size of the file.
    pub(crate) bytes: u64,
}

/// A job with what its result says.
struct Item {
    row: ExportRow,
    content: Content,
}

/// What a result says.
enum Content {
    /// There is no result.
    None,
    /// Its text.
    Text(String),
    /// Its fields, in the order of its template.
    Fields(Vec<(String, Value)>),
    /// It could not be read, and why.
    Unreadable(String),
}

/// Writes the jobs of a selection to a file; one that is there is replaced only with `replace`.
///
/// # Errors
/// [`EngineError::BadInput`] when the file is there or its folder can't be used, else that the database can't
/// be read or the disk refuses. Nothing is left behind then, and a file that was there stays as it was.
pub(crate) async fn write(
    store: &Store,
    library: &Library,
    wanted: Wanted,
    target: PathBuf,
    replace: bool,
) -> Result<Written, EngineError> {
    let file = blocking(move || WholeFile::begin(&target, replace)).await??;
    let outline = store.export_outline(wanted.selection.clone()).await?;
    let up_to = outline.up_to;
    let mut sink = Sink {
        form: Form::new(&wanted, &outline, library.clone()),
        file,
    };
    sink = sink.with(|form, file| form.begin(file)).await?;
    if wanted.format == ExportFormat::Markdown {
        sink = contents(store, &wanted.selection, up_to, sink).await?;
    }
    let (mut jobs, mut results, mut unreadable) = (0, 0, 0);
    let mut after = i64::MIN;
    // Ends with the selection: each round goes on behind the one before.
    loop {
        let mut page = store
            .export_page(wanted.selection.clone(), after, up_to, PAGE)
            .await?;
        let Some(last) = page.last() else {
            break;
        };
        after = last.seq;
        let is_last = page.len() < PAGE as usize;
        while !page.is_empty() {
            let rest = page.split_off(page.len().min(TEXTS));
            let items = read(library, page).await;
            page = rest;
            for item in &items {
                jobs += 1;
                results += u64::from(item.row.result.is_some());
                unreadable += u64::from(matches!(item.content, Content::Unreadable(_)));
            }
            sink = sink
                .with(move |form, file| form.items(file, &items))
                .await?;
        }
        if is_last {
            break;
        }
    }
    sink = sink.with(|form, file| form.end(file)).await?;
    let written = blocking(move || sink.file.finish()).await??;
    Ok(Written {
        jobs,
        results,
        unreadable,
        sha256: written.sha256,
        bytes: written.bytes,
    })
}

/// Writes the contents of a document, which stand before its results.
async fn contents(
    store: &Store,
    selection: &Selection,
    up_to: i64,
    mut sink: Sink,
) -> Result<Sink, EngineError> {
    let mut after = i64::MIN;
    // Ends with the selection: each round goes on behind the one before.
    loop {
        let titles = store
            .export_titles(selection.clone(), after, up_to, PAGE)
            .await?;
        let Some(last) = titles.last() else {
            return Ok(sink);
        };
        after = last.seq;
        sink = sink
            .with(move |form, file| form.contents(file, &titles))
            .await?;
    }
}

/// Reads what the results of some jobs say.
async fn read(library: &Library, page: Vec<ExportRow>) -> Vec<Item> {
    futures_util::stream::iter(page)
        .map(|row| async move {
            let content = match &row.result {
                None => Content::None,
                Some(result) => match library.read(&result.key).await {
                    Err(reason) => Content::Unreadable(reason),
                    Ok(text) => content(&text, result.format),
                },
            };
            Item { row, content }
        })
        .buffered(READS)
        .collect()
        .await
}

/// Returns what the text of a result says.
fn content(text: &str, format: ResultFormat) -> Content {
    match format {
        ResultFormat::Json => match templates::ordered(text) {
            Some(values) => Content::Fields(values),
            // What somebody made of it is still what is there.
            None => Content::Text(text.trim_end().to_owned()),
        },
        ResultFormat::Markdown => Content::Text(without_origin(text).to_owned()),
    }
}

/// The file that is being written, in its form.
struct Sink {
    form: Form,
    file: WholeFile,
}

impl Sink {
    /// Runs what writes on a thread that may block.
    async fn with(
        mut self,
        write: impl FnOnce(&mut Form, &mut WholeFile) -> io::Result<()> + Send + 'static,
    ) -> Result<Self, EngineError> {
        blocking(move || match write(&mut self.form, &mut self.file) {
            Ok(()) => Ok(self),
            Err(source) => Err(self.file.trouble(source)),
        })
        .await?
    }
}

/// How the jobs are written.
enum Form {
    Csv(csv::Table),
    Jsonl(jsonl::Lines),
    Markdown(markdown::Document),
}

impl Form {
    fn new(wanted: &Wanted, outline: &ExportOutline, library: Library) -> Self {
        match wanted.format {
            ExportFormat::Csv => Self::Csv(csv::Table::new(
                wanted.byte_order_mark,
                &outline.templates,
                library,
            )),
            ExportFormat::Jsonl => Self::Jsonl(jsonl::Lines { library }),
            ExportFormat::Markdown => Self::Markdown(markdown::Document::new(
                wanted.title.clone(),
                wanted.day.clone(),
                outline.counts.clone(),
            )),
        }
    }

    fn begin(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Csv(table) => table.begin(out),
            Self::Jsonl(_) => Ok(()),
            Self::Markdown(document) => document.begin(out),
        }
    }

    fn contents(
        &mut self,
        out: &mut dyn io::Write,
        titles: &[crate::store::ExportTitle],
    ) -> io::Result<()> {
        match self {
            Self::Markdown(document) => document.contents(out, titles),
            Self::Csv(_) | Self::Jsonl(_) => Ok(()),
        }
    }

    fn items(&mut self, out: &mut dyn io::Write, items: &[Item]) -> io::Result<()> {
        match self {
            Self::Csv(table) => table.items(out, items),
            Self::Jsonl(lines) => lines.items(out, items),
            Self::Markdown(document) => document.items(out, items),
        }
    }

    fn end(&mut self, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Self::Csv(_) | Self::Jsonl(_) => Ok(()),
            Self::Markdown(document) => document.end(out),
        }
    }
}

/// Returns how many of the counted jobs have a state.
fn count(counts: &[(JobStatus, u64)], statuses: &[JobStatus]) -> u64 {
    counts
        .iter()
        .filter(|(status, _)| statuses.contains(status))
        .map(|(_, jobs)| jobs)
        .sum()
}

/// Runs what blocks on a thread of its own.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| EngineError::Internal(error.to_string()))
}
