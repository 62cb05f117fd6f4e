//! The app starts, whatever the machine is like.

use gistmill_testkit::pdf;

use crate::driver::Machine;

#[tokio::test]
#[ignore = "needs a desktop session: scripts/test e2e"]
async fn the_window_is_not_blank_in_a_locale_without_a_language() {
    for locale in ["C.UTF-8", "C", "POSIX", ""] {
        let machine = Machine::new().with("LANG", locale);
        let app = machine.start().await;
        app.until(
            &format!("the window shows something with LANG={locale:?}"),
            "return document.body.innerText.trim().length > 10",
        )
        .await;
        let language = app
            .run(
                "return new Intl.NumberFormat(navigator.language).resolvedOptions().locale",
                vec![],
            )
            .await;
        assert!(
            language.as_str().unwrap().starts_with("en"),
            "{locale}: {language}"
        );
        app.quit().await;
    }
}

#[tokio::test]
#[ignore = "needs a desktop session: scripts/test e2e"]
async fn files_that_the_system_hands_over_go_to_the_sheet() {
    let machine = Machine::new();
    let documents = machine.documents();
    let paths = ["lease.pdf", "survey.pdf"].map(|name| documents.join(name));
    for path in &paths {
        std::fs::write(path, pdf::text_pdf(&[&path.to_string_lossy()])).unwrap();
    }
    let app = machine.start_with(&[&paths[0], &paths[1]]).await;
    let start = app.find("sheet-start").await;
    let label = start.text().await.unwrap();
    assert!(label.contains('2'), "both are to be started: {label}");
    app.quit().await;
}
