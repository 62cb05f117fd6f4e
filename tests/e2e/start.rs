//! The app starts, whatever the machine is like.

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
