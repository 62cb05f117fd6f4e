use super::*;
use crate::pricing::Prices;

const TODAY: &str = "2026-11-30";

fn line(json: serde_json::Value) -> ModelProfile {
    told(serde_json::from_value(json).unwrap())
}

#[test]
fn every_listed_model_has_a_price_and_a_current_relative() {
    let prices = Prices::default();
    for row in &shipped::ROWS {
        let profile = shipped(row.id);
        assert_eq!(profile.source, ProfileSource::Shipped, "{}", row.id);
        let priced = prices.of(row.id).is_some();
        assert_eq!(
            priced,
            !row.id.contains("mythos"),
            "{}: only models that few may use have no price here",
            row.id
        );
        if let Some(successor) = &profile.successor {
            let newer = shipped(successor);
            assert_eq!(newer.lifecycle, Lifecycle::Active, "{successor}");
            assert_eq!(newer.successor, None, "{successor} is current");
        } else {
            assert_eq!(profile.lifecycle, Lifecycle::Active, "{}", row.id);
        }
    }
}

#[test]
fn models_are_known_by_every_way_of_writing_them() {
    for (model, pages, source) in [
        ("claude-sonnet-4-6", 600, ProfileSource::Shipped),
        ("claude-haiku-4-5", 100, ProfileSource::Shipped),
        ("claude-haiku-4-5-20251001", 100, ProfileSource::Shipped),
        ("anthropic/claude-opus-5-5", 600, ProfileSource::Shipped),
        ("anthropic/claude-sonnet-4.6", 600, ProfileSource::Shipped),
        ("claude-opus-4-6-20260101", 600, ProfileSource::Shipped),
        ("claude-sonnet-5-7", 600, ProfileSource::Assumed),
        ("claude-sonnet-4-60", 100, ProfileSource::Assumed),
        ("llama3", 100, ProfileSource::Assumed),
    ] {
        let profile = shipped(model);
        assert_eq!(profile.pdf_pages, pages, "{model}");
        assert_eq!(profile.source, source, "{model}");
    }
    assert!(is_same("claude-haiku-4-5", "claude-haiku-4-5-20251001"));
    assert!(!is_same("claude-opus-5", "claude-opus-5-5"));
}

#[test]
fn a_model_that_thinks_has_room_for_it_within_its_own_limit() {
    assert_eq!(most_output("claude-sonnet-4-6", 4_096), 4_096);
    assert_eq!(most_output("claude-sonnet-5-5", 4_096), 8_192);
    assert_eq!(
        most_output("claude-preview-6", 4_096),
        8_192,
        "a newer Claude than any listed here is taken for one that thinks"
    );
    assert_eq!(most_output("llama3", 4_096), 4_096);
    assert_eq!(
        most_output("claude-sonnet-5-5", 128_000),
        128_000,
        "never above what the model gives"
    );
    assert_eq!(most_output("claude-haiku-4-5", 100_000), 64_000);
}

#[test]
fn effort_is_told_only_to_models_that_would_think_by_themselves() {
    assert_eq!(effort(&shipped("claude-sonnet-5-5")), Some(Effort::Low));
    assert_eq!(effort(&shipped("claude-haiku-5-5")), Some(Effort::Low));
    for model in [
        "claude-sonnet-4-6",
        "claude-haiku-4-5",
        "claude-new-1",
        "llama3",
    ] {
        assert_eq!(effort(&shipped(model)), None, "{model}");
    }
}

#[test]
fn classes_of_limits_are_anthropics() {
    let class = |model| limit_class(model).into_owned();
    assert_eq!(
        class("claude-sonnet-4-6"),
        class("claude-sonnet-4-5-20250929")
    );
    assert_eq!(class("claude-opus-4-8"), class("claude-opus-4-5"));
    assert_ne!(class("claude-sonnet-5"), class("claude-sonnet-5-5"));
    assert_ne!(class("claude-opus-4-8"), class("claude-sonnet-4-6"));
    assert_eq!(
        class("claude-haiku-4-5"),
        class("claude-haiku-4-5-20251001")
    );
    assert_eq!(
        class("anthropic/claude-sonnet-4.6"),
        class("claude-sonnet-4-6")
    );
}

#[test]
fn the_end_of_a_model_is_told_with_its_day_and_what_to_use_instead() {
    assert_eq!(notice(&shipped("claude-sonnet-4-6"), TODAY), None);
    assert_eq!(notice(&shipped("claude-sonnet-5-5"), TODAY), None);

    let opus = notice(&shipped("claude-opus-4-5"), TODAY).unwrap();
    assert_eq!(opus.lifecycle, Lifecycle::Deprecated);
    assert_eq!(opus.days_left, Some(53));
    assert_eq!(
        opus.message,
        "claude-opus-4-5 is deprecated: it is retired on 2027-01-22, in 53 days. Use claude-opus-5-5 instead."
    );

    let sonnet = shipped("claude-sonnet-4-5");
    for (today, ended, said) in [
        ("2026-11-29", false, "is retired tomorrow"),
        ("2026-11-30", true, "is retired today"),
        (
            "2026-12-24",
            true,
            "was retired on 2026-11-30 and answers no more",
        ),
    ] {
        assert_eq!(has_ended(&sonnet, today), ended, "{today}");
        let notice = notice(&sonnet, today).unwrap();
        assert_eq!(notice.lifecycle == Lifecycle::Retired, ended, "{today}");
        assert!(notice.message.contains(said), "{}", notice.message);
        assert!(notice.message.ends_with("Use claude-sonnet-5-5 instead."));
    }
}

#[test]
fn what_an_address_tells_wins_and_what_it_leaves_out_is_filled_up() {
    let full = line(serde_json::json!({
        "id": "claude-sonnet-7", "type": "model", "lifecycle": "active",
        "deprecated_at": null, "retires_at": null,
        "max_input_tokens": 2_000_000, "max_tokens": 32_000,
        "capabilities": {
            "pdf_input": {"supported": true}, "citations": {"supported": false},
            "structured_outputs": {"supported": true}, "batch": {"supported": false},
            "effort": {"supported": true, "low": {"supported": true}, "medium": {"supported": false},
                       "newest": {"supported": true}},
            "something_new": [1, 2],
        },
        "something_else": {"deep": true},
    }));
    assert_eq!(full.context_tokens, 2_000_000);
    assert_eq!(full.max_output_tokens, 32_000);
    assert_eq!(full.pdf_pages, 600);
    assert!(!full.citations && full.structured_outputs && !full.batches);
    assert_eq!(full.efforts, [Effort::Low]);
    assert_eq!(full.source, ProfileSource::Told);

    let ended = line(serde_json::json!({
        "id": "claude-sonnet-4-6", "lifecycle": "deprecated", "retires_at": "2027-03-01T00:00:00Z",
    }));
    assert_eq!(ended.retires_on.as_deref(), Some("2027-03-01"));
    assert_eq!(ended.context_tokens, 1_000_000, "as listed");
    assert_eq!(ended.successor.as_deref(), Some("claude-sonnet-5-5"));

    // What speaks like OpenAI tells an id, and values of other shapes do no harm.
    let bare = line(serde_json::json!({"id": "llama3", "object": "model"}));
    assert!(!bare.thinks && bare.efforts.is_empty());
    let odd = line(serde_json::json!({
        "id": "claude-sonnet-4-6", "lifecycle": 7, "max_tokens": "many", "max_input_tokens": 0,
        "capabilities": {"pdf_input": true, "effort": "yes"},
    }));
    assert_eq!(
        ModelProfile {
            source: ProfileSource::Shipped,
            ..odd
        },
        shipped("claude-sonnet-4-6")
    );
    let no_pdfs = line(serde_json::json!({
        "id": "x", "capabilities": {"pdf_input": {"supported": false}},
    }));
    assert_eq!(no_pdfs.pdf_pages, 0);
}

#[test]
fn profiles_prefer_what_was_told_by_name_with_or_without_a_day() {
    let profiles = Profiles::new([
        line(serde_json::json!({"id": "claude-haiku-4-5-20251001", "max_tokens": 10_000})),
        line(serde_json::json!({"id": "claude-opus-5", "max_tokens": 20_000})),
    ]);
    assert_eq!(profiles.of("claude-haiku-4-5").max_output_tokens, 10_000);
    assert_eq!(profiles.of("claude-haiku-4-5").model, "claude-haiku-4-5");
    assert_eq!(profiles.of("claude-opus-5-5").max_output_tokens, 128_000);
    assert_eq!(profiles.told().len(), 2);
}
