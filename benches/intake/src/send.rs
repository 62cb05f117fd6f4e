//! The memory that ten large PDFs take to be sent at once, to a Claude in another process.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    ConsumerPlace, CopiesTo, Provider, QueueName, Settings, Submission, Variables,
};
use gistmill_testkit::fake_claude::{FakeClaude, Options};
use tokio::io::AsyncReadExt as _;

use crate::{Outcome, config, figure, files};

const FILES: u64 = 10;
const BYTES: usize = 20_000_000;
/// Most megabytes that the program may take.
const MEMORY: f64 = 200.0;
/// How often it is looked whether all are sent, and how often at most.
const LOOK: Duration = Duration::from_millis(50);
const MOST_LOOKS: u32 = 2_400;
/// How long each answer waits, so that all calls are under way at once.
const LATENCY: Duration = Duration::from_secs(1);

/// Starts the other processes, and prints the figure.
pub(crate) fn measure(folder: &Path) -> Outcome<()> {
    let large = folder.join("large");
    std::fs::create_dir(&large)?;
    for number in 0..FILES {
        let path = large.join(format!("{number}.pdf"));
        files::write(&path, 1_000_000 + number, 4, BYTES)?;
    }
    let program = std::env::current_exe()?;
    let mut claude = Command::new(&program)
        .arg("claude")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut url = String::new();
    if let Some(output) = claude.stdout.take() {
        BufReader::new(output).read_line(&mut url)?;
    }
    let sent = Command::new(&program)
        .arg("send")
        .arg(folder)
        .arg(url.trim())
        .output();
    // It ends with its standard input.
    std::mem::drop(claude.stdin.take());
    claude.wait()?;
    let sent = sent?;
    let said = String::from_utf8_lossy(&sent.stdout);
    let Some(kilobytes) = said
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|_| sent.status.success())
    else {
        let complaint = String::from_utf8_lossy(&sent.stderr);
        return Err(format!("the sending process: {said}{complaint}").into());
    };
    figure("send_peak_memory", kilobytes / 1_000.0, "MB", MEMORY);
    Ok(())
}

/// Is a Claude until its standard input ends.
pub(crate) async fn claude() -> Outcome<()> {
    let options = Options {
        latency: LATENCY,
        ..Options::default()
    };
    let claude = FakeClaude::start_with(options).await?;
    println!("{}", claude.url());
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    Ok(())
}

/// Sends the large files of a folder and prints the most memory that this process took, in kilobytes.
pub(crate) async fn send(folder: &Path, url: &str) -> Outcome<()> {
    let mut config = config(&folder.join("data-large"))?;
    config.environment_base_url = Some(url.to_owned());
    config.environment_key = Some("sk-ant-bench-0123456789".into());
    let engine = Engine::open(config).await?;
    let settings = Settings {
        copies_to: CopiesTo::Nowhere,
        ..engine.settings().await?
    };
    engine.save_settings(settings).await?;
    let report = engine.scan(vec![folder.join("large")]).await?;
    let submission = Submission {
        name: "Large".to_owned(),
        queue: QueueName::High,
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
    engine.submit_scan(report.scan_id, submission).await?;
    if engine.start_consumer(false).await? != ConsumerPlace::Here {
        return Err("another program works the queue".into());
    }
    let mut looks = 0;
    loop {
        let counts = engine.overview().await?.counts;
        if counts.done == FILES {
            break;
        }
        looks += 1;
        if counts.dead_letters > 0 || looks == MOST_LOOKS {
            return Err(format!("not all were sent: {counts:?}").into());
        }
        tokio::time::sleep(LOOK).await;
    }
    println!("{}", peak_kilobytes()?);
    engine.shutdown().await;
    Ok(())
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
