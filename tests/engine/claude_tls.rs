//! Gateways of companies: certificates that only they know, and HTTP/2.

use gistmill_engine::model::{JobStatus, Provider, QueueName, WaitingReason};
use gistmill_testkit::fake_claude::{Reply, Rule};
use gistmill_testkit::tls::TlsFront;

use crate::support::{House, submission};

/// Starts a gateway before the Claude of a house, and names it in the settings.
async fn behind_gateway(house: &House, protocols: &[&str]) -> TlsFront {
    let url = house.claude.url();
    let address = url.trim_start_matches("http://").parse().unwrap();
    let gateway = TlsFront::before(address, protocols).await.unwrap();
    let address = gateway.url();
    house
        .set(|settings| settings.base_url = Some(address))
        .await;
    gateway
}

/// Names the authority of a gateway in the settings.
async fn trust(house: &House, gateway: &TlsFront) {
    let file = house.folder.path().join("authority.pem");
    std::fs::write(&file, gateway.authority()).unwrap();
    let file = file.to_string_lossy().into_owned();
    house.set(|settings| settings.ca_file = Some(file)).await;
}

#[tokio::test]
async fn a_certificate_that_only_the_company_knows_is_trusted_once_it_is_named() {
    let house = House::working().await;
    let gateway = behind_gateway(&house, &["h2", "http/1.1"]).await;
    let refused = house.engine.test_key().await.unwrap_err();
    assert!(
        refused.to_string().contains("certificate") && refused.to_string().contains("ca-file"),
        "what is wrong and where it is mended is said: {refused}"
    );
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house
        .until(&submitted.job_ids[1], "its reason to wait", |detail| {
            matches!(
                detail.job.waiting,
                Some(WaitingReason::CircuitOpen { .. } | WaitingReason::Offline { .. })
            )
        })
        .await;
    assert!(
        gateway.agreed().is_empty(),
        "nothing is told to a stranger, the key least of all: no connection came to stand"
    );
    trust(&house, &gateway).await;
    house.engine.test_key().await.unwrap();
    house.until_completed(&submitted).await;
    for job_id in &submitted.job_ids {
        let job = house.job(job_id).await.job;
        assert_eq!((job.status, job.attempts), (JobStatus::Completed, 1));
    }
}

#[tokio::test]
async fn many_calls_share_one_connection_where_http_2_is_offered() {
    let house = House::working().await;
    let gateway = behind_gateway(&house, &["h2", "http/1.1"]).await;
    trust(&house, &gateway).await;
    house.engine.test_key().await.unwrap();
    // So that they run at the same time.
    house.claude.script(Rule::always(Reply::slow(20)));
    let names: Vec<String> = (0..8).map(|number| format!("{number}.pdf")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let submitted = house
        .add_as(&names, submission(QueueName::High, Provider::Claude))
        .await;
    house.until_completed(&submitted).await;
    assert_eq!(
        gateway.agreed(),
        ["h2"],
        "one connection for the key test and all calls"
    );
}

#[tokio::test]
async fn where_only_http_1_is_offered_calls_take_that() {
    let house = House::working().await;
    let gateway = behind_gateway(&house, &["http/1.1"]).await;
    trust(&house, &gateway).await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    let agreed = gateway.agreed();
    assert!(
        !agreed.is_empty() && agreed.iter().all(|protocol| protocol == "http/1.1"),
        "{agreed:?}"
    );
}
