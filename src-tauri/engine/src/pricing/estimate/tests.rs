//! Estimates against published counts, and their order whatever is asked.

use proptest::prelude::*;

use super::*;

const OLDER_MODEL: &str = "claude-haiku-4-5";
const NEWER_MODEL: &str = "claude-sonnet-5-5";

fn work(document: Option<DocumentWork>) -> Work {
    Work {
        document,
        prompt_bytes: 0,
        prompt_characters: 0,
        max_tokens: 4_096,
    }
}

fn pdf(pages: u32, text: Option<TextWork>) -> Work {
    work(Some(DocumentWork {
        sends: Sends::Pdf,
        pages: Some(pages),
        text,
    }))
}

/// English pages of 2,100 letters, as those of the published counts.
fn english(pages: u32) -> TextWork {
    TextWork {
        pages: u64::from(pages),
        letters: 2_100 * u64::from(pages),
        ideographs: 0,
        all_read: true,
    }
}

#[test]
fn published_counts_are_met_within_five_percent() {
    let scan = TextWork {
        all_read: true,
        ..TextWork::default()
    };
    for (model, pages, text, counted) in [
        (NEWER_MODEL, 1, english(1), 2_347),
        (NEWER_MODEL, 5, english(5), 11_631),
        (NEWER_MODEL, 10, english(10), 23_236),
        (OLDER_MODEL, 1, english(1), 2_115),
        (OLDER_MODEL, 5, english(5), 10_499),
        (OLDER_MODEL, 10, english(10), 20_979),
        (NEWER_MODEL, 1, scan, 1_600),
        (OLDER_MODEL, 1, scan, 1_592),
    ] {
        let estimate = estimate(model, &pdf(pages, Some(text)));
        let off = estimate.expected_input.abs_diff(counted) * 100;
        assert!(
            off <= counted * 5,
            "{pages} pages with {model} counted {counted}, estimated {}",
            estimate.expected_input
        );
        assert!(estimate.dense_input >= counted, "{model}, {pages} pages");
        assert!(estimate.worst_input >= counted, "{model}, {pages} pages");
    }
}

#[test]
fn anthropics_own_example_lies_within_the_bounds() {
    let estimate = estimate("claude-sonnet-4-6", &pdf(3, None));
    assert!(estimate.expected_input.abs_diff(7_000) <= 350);
    assert!(estimate.dense_input >= 7_000);
    assert!(estimate.worst_input >= 3 * 4_600);
}

#[test]
fn text_alone_takes_less_than_pictures_with_it() {
    let text = work(Some(DocumentWork {
        sends: Sends::Text,
        pages: Some(10),
        text: Some(english(10)),
    }));
    let [sent_as_text, sent_as_pdf] =
        [text, pdf(10, Some(english(10)))].map(|work| estimate(NEWER_MODEL, &work).expected_input);
    assert_eq!(sent_as_text, 10 + 10 * (700 + 8));
    assert!(sent_as_text * 3 < sent_as_pdf);
}

#[test]
fn an_uncounted_pdf_is_not_taken_for_an_empty_one() {
    let uncounted = work(Some(DocumentWork::default()));
    assert!(estimate("claude-sonnet-4-6", &uncounted).worst_input >= 400_000);
}

#[test]
fn text_that_is_not_to_be_relied_on_lowers_no_bound() {
    let garbled = TextLayer {
        pages_read: 10,
        pages_with_text: 10,
        letters: 50,
        ideographs: 0,
        unknown_percent: 90,
    };
    let known = estimate("claude-sonnet-4-6", &pdf(10, Some(garbled.work(Some(10)))));
    let unseen = estimate("claude-sonnet-4-6", &pdf(10, None));
    assert!(known.worst_input >= unseen.worst_input);
}

#[test]
fn a_japanese_prompt_takes_more_tokens_than_a_latin_one_of_the_same_length() {
    let text = |prompt: &str| {
        let work = Work {
            document: None,
            prompt_bytes: prompt.len() as u64,
            prompt_characters: prompt.chars().count() as u64,
            max_tokens: 100,
        };
        estimate("claude-sonnet-4-6", &work).expected_input
    };
    assert_eq!(text(&"a".repeat(400)), 100 + 10);
    assert_eq!(text(&"あ".repeat(400)), 520 + 10);
}

#[test]
fn what_was_counted_is_followed_within_bounds_and_lowers_no_reserve() {
    let before = estimate(OLDER_MODEL, &pdf(10, Some(english(10))));
    let after = |calls, counted_percent| {
        before.following(Some(&EstimateCheck {
            calls,
            counted_percent,
            usually_off_percent: 1,
        }))
    };
    assert_eq!(before.following(None), before);
    assert_eq!(after(4, 150), before, "four calls say nothing yet");
    let cheaper = after(5, 80);
    assert_eq!(
        cheaper.expected_input,
        (before.expected_input * 80).div_ceil(100)
    );
    assert_eq!(cheaper.worst_input, before.worst_input);
    assert_eq!(cheaper.dense_input, before.dense_input);
    let dearer = after(5, 900);
    assert_eq!(dearer.expected_input, before.expected_input * 2);
    assert_eq!(dearer.worst_input, before.worst_input * 2);
}

proptest! {
    #[test]
    fn the_worst_is_never_below_dense_nor_dense_below_expected(
        newer in any::<bool>(),
        sends in prop_oneof![Just(Sends::Pdf), Just(Sends::Text)],
        pages in proptest::option::of(0_u32..5_000),
        text in proptest::option::of((0_u64..6_000, 0_u64..50_000_000, 0_u64..50_000_000, any::<bool>())),
        prompt_characters in 0_u64..200_000,
        wide in 1_u64..4,
        calls in 0_u64..10,
        counted_percent in any::<u32>(),
    ) {
        let work = Work {
            document: Some(DocumentWork {
                sends,
                pages,
                text: text.map(|(pages, letters, ideographs, all_read)| TextWork {
                    pages, letters, ideographs, all_read,
                }),
            }),
            prompt_bytes: prompt_characters * wide,
            prompt_characters,
            max_tokens: 4_096,
        };
        let plain = estimate(if newer { NEWER_MODEL } else { OLDER_MODEL }, &work);
        let check = EstimateCheck { calls, counted_percent, usually_off_percent: 0 };
        for estimate in [plain, plain.following(Some(&check))] {
            prop_assert!(estimate.worst_input >= estimate.dense_input, "{estimate:?}");
            prop_assert!(estimate.dense_input >= estimate.expected_input, "{estimate:?}");
        }
    }

    #[test]
    fn more_text_never_takes_fewer_tokens(
        newer in any::<bool>(),
        pages in 1_u32..600,
        letters in 0_u64..10_000_000,
        ideographs in 0_u64..10_000_000,
        more in 1_u64..100_000,
        all_read in any::<bool>(),
    ) {
        let model = if newer { NEWER_MODEL } else { OLDER_MODEL };
        let of = |letters, ideographs| estimate(model, &pdf(pages, Some(TextWork {
            pages: u64::from(pages), letters, ideographs, all_read,
        })));
        let [one, other] = [of(letters, ideographs), of(letters + more, ideographs + more)];
        prop_assert!(other.expected_input >= one.expected_input);
        prop_assert!(other.dense_input >= one.dense_input);
        prop_assert!(other.worst_input >= one.worst_input);
    }

    #[test]
    fn absurd_numbers_stay_large_rather_than_wrap_around(number in (u64::MAX / 2)..) {
        let text = TextWork { pages: number, letters: number, ideographs: number, all_read: true };
        prop_assert!(estimate(NEWER_MODEL, &pdf(u32::MAX, Some(text))).worst_input > 1 << 50);
    }
}
