//! What an installation says of itself: enough to find its files and to report a defect, and nothing private.

use crate::support::House;

#[tokio::test]
async fn sizes_are_those_on_the_disk_and_nothing_private_is_told() {
    let house = House::working().await;
    let before = house.engine.about().await.unwrap();
    assert_eq!(
        (before.results, before.results_bytes),
        (0, 0),
        "nothing is stored yet"
    );
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    let about = house.engine.about().await.unwrap();
    let data = house.engine.data_directory();
    let stored: u64 = std::fs::read_dir(data.join("results"))
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert_eq!(about.results, 2, "each job leaves one result");
    assert_eq!(about.results_bytes, stored);
    let database = std::fs::metadata(data.join("gistmill.db")).unwrap().len();
    assert!(
        about.database_bytes >= database,
        "what is not merged yet counts, too"
    );
    assert_eq!(about.data_directory, data.to_string_lossy());
    assert!(
        house.engine.knows_path(&data).await.unwrap(),
        "the window may open the data folder"
    );
    assert!(
        !house
            .engine
            .knows_path(data.parent().unwrap())
            .await
            .unwrap(),
        "but not the one around it"
    );
    let told = serde_json::to_string(&about).unwrap();
    assert!(!told.contains("sk-ant"), "{told}");
}
