//! What jobs will come to, said before anything is paid: counted tokens, prices, times, caps.

use std::time::Duration;

use gistmill_engine::model::{
    CapScope, DeliveryForecast, DeliveryWay, EndpointKind, EngineEvent, Forecast, LimitedBy,
    Provider, QueueName, ScanId, Sends, Submission, SubmissionPlan, TemplateDraft, TemplateKind,
    TokenCounting, WaitingReason,
};
use gistmill_testkit::pdf;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::support::{House, submission};

fn asked() -> Submission {
    submission(QueueName::High, Provider::Claude)
}

/// Scans files of one to `count` pages.
async fn scanned(house: &House, count: usize) -> ScanId {
    let paths = (1..=count)
        .map(|pages| house.put(&format!("{pages}.pdf"), &pdf::numbered_pdf(pages)))
        .collect();
    house.engine.scan(paths).await.unwrap().scan_id
}

async fn plan(house: &House, scan_id: ScanId, asked: Submission) -> SubmissionPlan {
    house.engine.plan_submission(scan_id, asked).await.unwrap()
}

async fn forecast(house: &House, scan_id: ScanId, asked: Submission) -> Forecast {
    let forecast = house.engine.forecast_submission(scan_id, asked).await;
    forecast.unwrap()
}

fn way(forecast: &Forecast, wanted: DeliveryWay) -> &DeliveryForecast {
    let mut ways = forecast.deliveries.iter();
    ways.find(|way| way.delivery == wanted).unwrap()
}

/// Says of the address that it passes everything on to Anthropic, so that it has the batch API.
async fn offers_batches(house: &House) {
    house
        .set(|settings| settings.endpoint = Some(EndpointKind::Anthropic))
        .await;
}

#[tokio::test]
async fn what_is_counted_is_what_is_billed_and_is_never_uploaded_twice() {
    let house = House::working().await;
    let scan_id = scanned(&house, 5).await;
    assert_eq!(plan(&house, scan_id, asked()).await.counted, 0);
    let counting = house.engine.count_tokens(scan_id, asked()).await.unwrap();
    let all = TokenCounting {
        counted: 5,
        countable: 5,
        files: 5,
    };
    assert_eq!(counting, all);
    let told = plan(&house, scan_id, asked()).await;
    assert_eq!(told.counted, 5);
    let input = forecast(&house, scan_id, asked()).await.input;
    assert_eq!(
        (input.tokens, input.counted_jobs, input.estimated_jobs),
        (told.input_tokens, 5, 0)
    );
    let again = house.engine.count_tokens(scan_id, asked()).await.unwrap();
    assert_eq!(again, all);
    assert_eq!(house.claude.counts().len(), 5, "nothing is uploaded twice");

    // Another program on the same data knows them, too.
    let other = house.reopen().await.unwrap();
    let report = other.scan(vec![house.path("3.pdf")]).await.unwrap();
    let of_other = other.plan_submission(report.scan_id, asked()).await;
    assert_eq!(of_other.unwrap().counted, 1, "counts outlive the program");

    let submitted = house.engine.submit_scan(scan_id, asked()).await.unwrap();
    house.until_completed(&submitted).await;
    let mut billed = 0;
    for job_id in &submitted.job_ids {
        billed += house.job(job_id).await.job.input_tokens;
    }
    assert_eq!(
        told.input_tokens, billed,
        "what was counted is what was billed"
    );
}

#[tokio::test]
async fn a_template_of_the_same_kind_needs_no_other_count() {
    let house = House::working().await;
    let scan_id = scanned(&house, 3).await;
    house.engine.count_tokens(scan_id, asked()).await.unwrap();
    let made = |name: &str, kind, sends| TemplateDraft {
        name: name.to_owned(),
        kind,
        body: "Say in one sentence what this is about.".to_owned(),
        sends,
        ..TemplateDraft::default()
    };
    for (draft, counted) in [
        (made("Short", TemplateKind::Prose, Sends::Pdf), 3),
        (made("Cited", TemplateKind::CitedProse, Sends::Pdf), 0),
        (made("Text", TemplateKind::Prose, Sends::Text), 0),
    ] {
        let template = house.engine.create_template(draft).await.unwrap().template;
        let with = Submission {
            template: template.clone(),
            ..asked()
        };
        assert_eq!(
            plan(&house, scan_id, with).await.counted,
            counted,
            "{template}"
        );
    }
    let other = Submission {
        model: Some("claude-haiku-4-5".to_owned()),
        ..asked()
    };
    assert_eq!(
        plan(&house, scan_id, other).await.counted,
        0,
        "another model may count otherwise"
    );
    let elsewhere = gistmill_testkit::fake_claude::FakeClaude::start().await;
    house
        .set(|settings| settings.base_url = Some(elsewhere.url()))
        .await;
    assert_eq!(
        plan(&house, scan_id, asked()).await.counted,
        0,
        "another address may count otherwise"
    );
}

/// Hears events until so many files are counted.
async fn until_counted(
    events: &mut tokio::sync::broadcast::Receiver<EngineEvent>,
    wanted: u64,
) -> TokenCounting {
    let waiting = async {
        loop {
            if let EngineEvent::CountProgress { counting, .. } = events.recv().await.unwrap()
                && counting.counted >= wanted
            {
                return counting;
            }
        }
    };
    match tokio::time::timeout(Duration::from_secs(60), waiting).await {
        Ok(counting) => counting,
        Err(_) => panic!("waited for {wanted} files to be counted"),
    }
}

#[tokio::test]
async fn counting_keeps_its_own_pace_and_ends_with_the_sheet() {
    let house = House::working().await;
    house.set(|settings| settings.counts_per_minute = 2).await;
    let scan_id = scanned(&house, 6).await;
    let mut events = house.engine.subscribe();
    let engine = house.engine.clone();
    let counting = tokio::spawn(async move { engine.count_tokens(scan_id, asked()).await });
    until_counted(&mut events, 2).await;
    assert_eq!(
        house.claude.counts().len(),
        2,
        "two a minute, and no minute has passed"
    );
    house.clock.advance(Duration::from_secs(60));
    until_counted(&mut events, 4).await;
    assert_eq!(house.claude.counts().len(), 4);
    house.engine.cancel_scan();
    let ended = counting.await.unwrap().unwrap();
    assert_eq!(
        (ended.counted, ended.countable),
        (4, 6),
        "what was counted until then is kept"
    );
    let told = plan(&house, scan_id, asked()).await;
    assert_eq!((told.counted, told.to_run), (4, 6));

    let engine = house.engine.clone();
    let counting = tokio::spawn(async move { engine.count_tokens(scan_id, asked()).await });
    // It waits for the minute, or has not begun; either way the submission ends it.
    house.engine.submit_scan(scan_id, asked()).await.unwrap();
    house.clock.advance(Duration::from_secs(600));
    let ended = tokio::time::timeout(Duration::from_secs(60), counting)
        .await
        .expect("a counting ends with its scan");
    drop(ended);
}

/// Answers one request after another: the first with "too many", the others with a count.
async fn busy_counter() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut first = true;
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut read = Vec::new();
            let mut chunk = [0; 64 * 1024];
            // Ends with the request, which says how long it is.
            loop {
                let count = stream.read(&mut chunk).await.unwrap_or(0);
                read.extend_from_slice(&chunk[..count]);
                if count == 0 || is_whole(&read) {
                    break;
                }
            }
            let (status, head, body) = if first {
                (
                    "429 Too Many Requests",
                    "retry-after: 7\r\n",
                    r#"{"type":"error","error":{"type":"rate_limit_error","message":"Slow down."}}"#,
                )
            } else {
                ("200 OK", "", r#"{"input_tokens":4321}"#)
            };
            first = false;
            let answer = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{head}content-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            stream.write_all(answer.as_bytes()).await.ok();
            stream.shutdown().await.ok();
        }
    });
    url
}

fn is_whole(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") else {
        return false;
    };
    let head = String::from_utf8_lossy(&request[..end]).to_lowercase();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length:"))
        .and_then(|length| length.trim().parse::<usize>().ok());
    request.len() >= end + 4 + length.unwrap_or(0)
}

#[tokio::test]
async fn a_counter_that_is_busy_is_asked_again_when_it_said() {
    let house = House::working().await;
    let url = busy_counter().await;
    house.set(|settings| settings.base_url = Some(url)).await;
    let scan_id = scanned(&house, 2).await;
    let mut events = house.engine.subscribe();
    let engine = house.engine.clone();
    let counting = tokio::spawn(async move { engine.count_tokens(scan_id, asked()).await });
    // The one that was not put off.
    until_counted(&mut events, 1).await;
    let mut seconds = 0;
    let both = loop {
        let step = Duration::from_millis(50);
        if let Ok(both) = tokio::time::timeout(step, until_counted(&mut events, 2)).await {
            break both;
        }
        seconds += 1;
        assert!(
            seconds < 300,
            "it was told to wait for seven seconds, not for ever"
        );
        house.clock.advance(Duration::from_secs(1));
    };
    assert!(
        seconds >= 7,
        "it was told to wait for seven seconds, and waited {seconds}"
    );
    assert_eq!(both, counting.await.unwrap().unwrap());
}

#[tokio::test]
async fn each_way_has_its_price_and_its_time() {
    let house = House::working().await;
    let scan_id = scanned(&house, 8).await;
    let told = forecast(&house, scan_id, asked()).await;
    assert!(
        told.deliveries
            .iter()
            .all(|way| way.delivery != DeliveryWay::Batch),
        "nobody says that this address has a batch API"
    );
    offers_batches(&house).await;
    let told = forecast(&house, scan_id, asked()).await;
    assert_eq!((told.jobs, told.calls), (8, 8));
    assert_eq!(told.output.answers, 0, "nobody has answered yet");
    let [high, bulk, batch] = [DeliveryWay::High, DeliveryWay::Bulk, DeliveryWay::Batch]
        .map(|wanted| way(&told, wanted).clone());
    let price = high.price.unwrap();
    assert!(
        0 < price.low_micros
            && price.low_micros < price.expected_micros
            && price.expected_micros < price.high_micros
            && price.high_micros < price.worst_micros,
        "{price:?}"
    );
    let plan = plan(&house, scan_id, asked()).await;
    assert_eq!(
        (Some(price.expected_micros), Some(price.worst_micros)),
        (plan.expected_micros, plan.at_worst_micros),
        "the plan and the forecast say the same"
    );
    let half = batch.price.unwrap();
    assert!(
        half.expected_micros * 2 - price.expected_micros <= 16,
        "the batch API takes half: {half:?} of {price:?}"
    );
    let seconds = |way: &DeliveryForecast| {
        let finish = way.finish.unwrap();
        (finish.usually_at.0 - plan_start(&house)) / 1_000
    };
    assert!(
        seconds(&high) < seconds(&bulk),
        "ten at once are sooner done than three: {} s, {} s",
        seconds(&high),
        seconds(&bulk)
    );
    assert_eq!(bulk.finish.unwrap().limited_by, LimitedBy::Concurrency);
    let by_batch = batch.finish.unwrap();
    assert_eq!(seconds(&batch), 3_600);
    assert_eq!(
        by_batch.at_latest.unwrap().0 - plan_start(&house),
        24 * 3_600_000
    );
    assert_eq!(high.obstacle, None);
    house
        .engine
        .pause_lane(QueueName::Bulk, true)
        .await
        .unwrap();
    let paused = forecast(&house, scan_id, asked()).await;
    assert_eq!(way(&paused, DeliveryWay::High).obstacle, None);
    assert_eq!(
        way(&paused, DeliveryWay::Bulk).obstacle,
        Some(WaitingReason::QueuePaused)
    );
    assert_eq!(
        way(&paused, DeliveryWay::Bulk).finish,
        bulk.finish,
        "the time is that after it goes on"
    );
}

/// Returns the moment at which the clock of these tests stands.
fn plan_start(house: &House) -> i64 {
    use gistmill_engine::clock::Clock as _;
    house.clock.now().0
}

#[tokio::test]
async fn a_forecast_tells_how_many_files_fit_under_each_cap() {
    let house = House::working().await;
    let scan_id = scanned(&house, 6).await;
    let price = way(&forecast(&house, scan_id, asked()).await, DeliveryWay::High)
        .price
        .unwrap();
    house
        .set(|settings| settings.day_cap_micros = Some(price.worst_micros))
        .await;
    offers_batches(&house).await;
    let capped = Submission {
        // Each part of a micro-dollar counts as a whole one.
        cap_micros: Some(price.worst_micros / 2 + 10),
        ..asked()
    };
    let told = forecast(&house, scan_id, capped).await;
    let caps = &way(&told, DeliveryWay::High).caps;
    let of = |scope| *caps.iter().find(|cap| cap.scope == scope).unwrap();
    let day = of(CapScope::Day);
    assert_eq!((day.jobs_expected, day.jobs_at_worst), (6, 6));
    let batch = of(CapScope::Batch);
    assert!(
        batch.jobs_at_worst < 6 && batch.jobs_at_worst < batch.jobs_expected,
        "half of the money is not enough for all at worst: {batch:?}"
    );
    assert!(caps.iter().all(|cap| cap.scope != CapScope::Month));
    let by_batch = &way(&told, DeliveryWay::Batch).caps;
    let half = by_batch.iter().find(|cap| cap.scope == CapScope::Batch);
    assert_eq!(
        half.unwrap().jobs_at_worst,
        6,
        "at half the price all of them fit"
    );
}

#[tokio::test]
async fn earlier_answers_say_how_long_the_next_ones_are() {
    let house = House::working().await;
    let submitted = house
        .add(&["a.pdf", "b.pdf", "c.pdf", "d.pdf", "e.pdf"])
        .await;
    house.until_completed(&submitted).await;
    let mut lengths = Vec::new();
    for job_id in &submitted.job_ids {
        lengths.push(house.job(job_id).await.job.output_tokens);
    }
    lengths.sort_unstable();
    let scan_id = scanned(&house, 4).await;
    let output = forecast(&house, scan_id, asked()).await.output;
    assert_eq!(output.answers, 5);
    assert_eq!(
        (output.low, output.expected, output.high),
        (lengths[0], lengths[2], lengths[4])
    );
    assert_eq!(output.worst, 4_096, "the limit stays the most");
    let other = Submission {
        template: "meeting-minutes-v1".to_owned(),
        ..asked()
    };
    assert_eq!(
        forecast(&house, scan_id, other).await.output.answers,
        0,
        "another template is answered otherwise"
    );
}

#[tokio::test]
async fn what_is_in_line_before_takes_its_time() {
    let house = House::idle().await;
    let alone = {
        let scan_id = scanned(&house, 4).await;
        let told = forecast(&house, scan_id, asked()).await;
        way(&told, DeliveryWay::Bulk).finish.unwrap().usually_at
    };
    let names: Vec<String> = (0..30)
        .map(|number| format!("before-{number}.pdf"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    house
        .add_as(&names, submission(QueueName::Bulk, Provider::Claude))
        .await;
    let scan_id = scanned(&house, 4).await;
    let told = forecast(&house, scan_id, asked()).await;
    let behind = way(&told, DeliveryWay::Bulk).finish.unwrap().usually_at;
    let high = way(&told, DeliveryWay::High).finish.unwrap().usually_at;
    assert!(
        behind.0 - alone.0 > 60_000,
        "thirty jobs, three at once, go first"
    );
    assert!(high < behind, "high goes before them");
}

#[tokio::test]
async fn the_offline_summary_costs_nothing_and_is_asked_of_nobody() {
    let house = House::idle().await;
    let scan_id = scanned(&house, 2).await;
    let offline = submission(QueueName::Bulk, Provider::Offline);
    let told = forecast(&house, scan_id, offline).await;
    assert_eq!(told.jobs, 2);
    for way in &told.deliveries {
        assert_eq!(way.price.unwrap().worst_micros, 0);
        assert_ne!(way.delivery, DeliveryWay::Batch);
    }
    assert!(house.claude.all_requests().is_empty());
}
