//! The app starts, whatever the machine is like.

use crate::driver::Machine;

#[tokio::test]
#[ignore = "needs a desktop session: scripts/test e2e"]
async fn the_window_is_not_blank_in_a_locale_without_a_language() {
    for locale in ["C.UTF-8", "C", "POSIX", ""] {
        let machine = Machine::new().with("LANG", locale);
        let app = machine.start().await;
        let text = app
            .text_until("the window shows something", |text| !text.trim().is_empty())
            .await;
        assert!(text.len() > 10, "{locale}: {text}");
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
