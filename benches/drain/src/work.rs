//! Works the queue of a folder to its end, as the product does, and tells what came of it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gistmill_engine::model::{
    ConsumerPlace, JobFilter, LaneSettings, Provider, QueueName, Settings, Submission, Timestamp,
    Variables,
};
use gistmill_engine::pdf::PdfWorkerConfig;
use gistmill_engine::secrets::MemorySecrets;
use gistmill_engine::{Engine, EngineConfig};
use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::setting::Setting;

/// How often it is looked whether all are done: seldom, since looking costs time that is measured.
const LOOK: Duration = Duration::from_secs(1);
/// The longest that the work may take.
const MOST_LOOKS: u32 = 3_600;
/// Jobs of a page of the list.
const PAGE: u32 = 500;
/// More than a setting in which it is not scarce comes to.
const PLENTY: u32 = 4_000_000_000;

/// What became of a job; times in milliseconds since the work began.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Done {
    pub(crate) title: String,
    pub(crate) began: i64,
    pub(crate) ended: i64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) attempts: u32,
}

impl Done {
    pub(crate) fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}

/// What working the queue took.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Worked {
    pub(crate) jobs: Vec<Done>,
    /// Seconds of processor time of this process, without the children that read PDFs.
    pub(crate) processor: f64,
    /// The most memory at once, in kilobytes.
    pub(crate) peak: u64,
}

pub(crate) async fn work(setting: Setting, folder: &Path, url: &str) -> Outcome<()> {
    let mut worker = PdfWorkerConfig::new(std::env::current_exe()?);
    worker.args = vec!["--pdf-worker".into()];
    let mut config = EngineConfig::new(&folder.join(format!("data-{}", setting.name)), worker);
    config.secrets = Arc::new(MemorySecrets::default());
    config.environment_base_url = Some(url.to_owned());
    config.environment_key = Some("sk-ant-bench-0123456789".into());
    let engine = Engine::open(config).await?;
    set(&engine, setting).await?;
    let report = engine.scan(vec![folder.join("pdfs")]).await?;
    let submission = Submission {
        name: "Drain".to_owned(),
        queue: QueueName::Bulk,
        delivery: None,
        template: "pdf-summarize-v1".to_owned(),
        provider: Provider::Claude,
        model: None,
        cap_micros: None,
        paused: false,
        variables: Variables::new(),
        fresh: false,
        pilot: None,
    };
    let count = engine.submit_scan(report.scan_id, submission).await?;
    let count = count.job_ids.len() as u64;
    // What the scan took at most is not asked for.
    std::fs::write("/proc/self/clear_refs", "5")?;
    let began = Timestamp(now_ms()?);
    let processor = processor_seconds()?;
    if engine.start_consumer(false).await? != ConsumerPlace::Here {
        return Err("another program works the queue".into());
    }
    wait(&engine, count).await?;
    let worked = Worked {
        processor: processor_seconds()? - processor,
        peak: peak_kilobytes()?,
        jobs: jobs(&engine, began).await?,
    };
    println!("{}", serde_json::to_string(&worked)?);
    engine.shutdown().await;
    Ok(())
}

/// Sets what is scarce, and nothing else.
async fn set(engine: &Engine, setting: Setting) -> Outcome<()> {
    let settings = Settings {
        tokens_per_minute: setting.tokens_per_minute.unwrap_or(PLENTY),
        ..engine.settings().await?
    };
    engine.save_settings(settings).await?;
    for lane in engine.overview().await?.lanes {
        let lane_settings = LaneSettings {
            max_concurrency: setting.at_once,
            delivery_delay_ms: 0,
            ..lane.settings
        };
        engine.save_lane(lane.queue, lane_settings).await?;
    }
    Ok(())
}

async fn wait(engine: &Engine, count: u64) -> Outcome<()> {
    for _ in 0..MOST_LOOKS {
        let counts = engine.overview().await?.counts;
        if counts.dead_letters + counts.needs_review > 0 {
            return Err(format!("not all were answered: {counts:?}").into());
        }
        if counts.done == count {
            return Ok(());
        }
        tokio::time::sleep(LOOK).await;
    }
    Err("it took longer than an hour".into())
}

async fn jobs(engine: &Engine, began: Timestamp) -> Outcome<Vec<Done>> {
    let mut all = Vec::new();
    let mut after = None;
    loop {
        let page = engine.jobs(JobFilter::default(), after, PAGE).await?;
        for job in page.jobs {
            let moment = |moment: Option<Timestamp>| moment.map_or(0, |moment| moment.0 - began.0);
            all.push(Done {
                began: moment(job.started_at),
                ended: moment(job.completed_at),
                title: job.title,
                input_tokens: job.input_tokens,
                output_tokens: job.output_tokens,
                attempts: job.attempts,
            });
        }
        after = page.next;
        if after.is_none() {
            // The list has the newest first; the line has the order of names.
            all.sort_by(|one, other| one.title.cmp(&other.title));
            return Ok(all);
        }
    }
}

fn now_ms() -> Outcome<i64> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?;
    Ok(i64::try_from(now.as_millis())?)
}

/// Returns the processor time of this process so far, in seconds.
fn processor_seconds() -> Outcome<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    // After the name, which may hold anything: fields 14 and 15 are user's and system's, in hundredths.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(str::parse::<u64>).sum::<Result<_, _>>()?;
    Ok(ticks as f64 / 100.0)
}

/// Returns the most memory that this process took so far.
fn peak_kilobytes() -> Outcome<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number
        .ok_or("the system does not tell the memory")?
        .parse()?)
}
