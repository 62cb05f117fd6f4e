use proptest::prelude::*;

use super::*;
use crate::pdf::PageMeasure;
use crate::pricing::ceiling;

const LARGE: &str = "claude-sonnet-5-5";
const SMALL: &str = "claude-haiku-4-5";
const MINUTE: u64 = 400_000_000;

fn question(model: &str) -> Question<'_> {
    Question {
        model,
        sends: Sends::Pdf,
        prompt_bytes: 600,
        prompt_characters: 600,
        max_tokens: 4_096,
        ceiling: ceiling(model),
    }
}

fn known(pages: u32, bytes: u64) -> Known<'static> {
    Known {
        pages: Some(pages),
        bytes,
        text: None,
        measures: None,
    }
}

fn page(letters: u32, bytes: u64) -> PageMeasure {
    PageMeasure {
        letters,
        ideographs: 0,
        bytes,
    }
}

#[test]
fn what_one_call_takes_is_left_whole() {
    for model in [LARGE, SMALL] {
        let parts = plan(&known(20, 5_000_000), &question(model), MINUTE).unwrap();
        assert_eq!(parts, [], "{model}");
    }
    let uncounted = Known {
        pages: None,
        ..known(1, 900_000_000)
    };
    assert_eq!(
        plan(&uncounted, &question(SMALL), MINUTE).unwrap(),
        [],
        "nobody can divide what nobody could count"
    );
}

#[test]
fn parts_are_of_about_the_same_size() {
    let parts = plan(&known(101, 1_000), &question(SMALL), MINUTE).unwrap();
    let sizes: Vec<u32> = parts.iter().map(|part| part.pages.pages()).collect();
    let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
    assert!(sizes.len() > 1 && most - least <= 2, "{sizes:?}");
}

#[test]
fn bytes_that_several_pages_need_count_in_each_part() {
    let measures = Measures {
        shared_bytes: 10_000_000,
        pages: vec![page(100, 1_000_000); 40],
    };
    let document = Known {
        measures: Some(&measures),
        ..known(40, 50_000_000)
    };
    let parts = plan(&document, &question(LARGE), MINUTE).unwrap();
    assert_eq!(parts.len(), 4, "13 MB of pages fit beside 10 MB: {parts:?}");
}

#[test]
fn a_file_whose_pages_fit_is_one_call_however_large_its_attachments_are() {
    let measures = Measures {
        shared_bytes: 0,
        pages: vec![page(100, 10_000); 10],
    };
    let document = Known {
        measures: Some(&measures),
        ..known(10, 90_000_000)
    };
    assert_eq!(plan(&document, &question(LARGE), MINUTE).unwrap(), []);
}

#[test]
fn a_page_that_no_call_takes_is_found_before_anything_is_paid() {
    let mut pages = vec![page(100, 1_000_000); 30];
    pages[6].bytes = 24_000_000;
    let measures = Measures {
        shared_bytes: 0,
        pages,
    };
    let document = Known {
        measures: Some(&measures),
        ..known(30, 53_000_000)
    };
    let finding = plan(&document, &question(LARGE), MINUTE).unwrap_err();
    assert_eq!(finding.cause, Cause::TooLarge);
    assert!(
        finding.message.contains("Page 7 alone takes 24.0 MB"),
        "{}",
        finding.message
    );
}

#[test]
fn more_parts_than_can_be_combined_are_refused_before_anything_is_paid() {
    let finding = plan(&known(20_000, 1_000), &question(SMALL), MINUTE).unwrap_err();
    assert_eq!(finding.cause, Cause::PromptTooLong);
    assert!(
        finding.message.contains("20000 pages"),
        "{}",
        finding.message
    );
    let large = Question {
        max_tokens: 4_096,
        ..question(LARGE)
    };
    assert!(plan(&known(20_000, 1_000), &large, MINUTE).is_ok());
}

#[test]
fn a_document_larger_than_a_minute_is_divided_where_parts_are_of_a_sensible_size() {
    let document = known(100, 1_000);
    let asked = question(LARGE);
    let whole = asked.part(&Part {
        pages: PageRange {
            first: 1,
            last: 100,
        },
        text: None,
    });
    let minute = (whole.dense_input + whole.worst_output) / 2;
    let parts = plan(&document, &asked, minute).unwrap();
    assert!(parts.len() > 1, "{parts:?}");
    for part in &parts {
        let tokens = asked.part(part);
        assert!(tokens.dense_input + tokens.worst_output <= minute);
    }
    assert_eq!(
        plan(&document, &asked, 30_000).unwrap(),
        [],
        "parts of a few pages make no sense: it runs alone instead"
    );
}

#[test]
fn halves_keep_what_was_measured() {
    let measures = Measures {
        shared_bytes: 0,
        pages: (1..=9).map(|number| page(number * 10, 1)).collect(),
    };
    let part = Part {
        pages: PageRange { first: 4, last: 8 },
        text: Some(TextWork {
            pages: 5,
            letters: 300,
            ideographs: 0,
            all_read: true,
        }),
    };
    let [one, other] = halves(&part, Some(&measures)).unwrap();
    assert_eq!((one.pages.first, one.pages.last), (4, 6));
    assert_eq!((other.pages.first, other.pages.last), (7, 8));
    assert_eq!(one.text.unwrap().letters, 150);
    assert_eq!(other.text.unwrap().letters, 150);
    let single = Part {
        pages: PageRange { first: 4, last: 4 },
        text: None,
    };
    assert_eq!(halves(&single, None), None);
}

proptest! {
    #[test]
    fn parts_cover_every_page_once_in_order_and_each_fits(
        sizes in prop::collection::vec((0_u32..6_000, 0_u32..2_000, 0_u64..3_000_000), 1..400),
        shared_bytes in 0_u64..5_000_000,
        is_large in any::<bool>(),
        is_text in any::<bool>(),
        minute in prop::sample::select(vec![50_000_u64, 400_000, 4_000_000]),
    ) {
        let measures = Measures {
            shared_bytes,
            pages: sizes
                .iter()
                .map(|(letters, ideographs, bytes)| PageMeasure {
                    letters: *letters,
                    ideographs: *ideographs,
                    bytes: *bytes,
                })
                .collect(),
        };
        let pages = u32::try_from(sizes.len()).unwrap();
        let document = Known {
            pages: Some(pages),
            bytes: shared_bytes + sizes.iter().map(|size| size.2).sum::<u64>(),
            text: Some(TextWork {
                pages: u64::from(pages),
                letters: sizes.iter().map(|size| u64::from(size.0)).sum(),
                ideographs: sizes.iter().map(|size| u64::from(size.1)).sum(),
                all_read: true,
            }),
            measures: Some(&measures),
        };
        let asked = Question {
            sends: if is_text { Sends::Text } else { Sends::Pdf },
            ..question(if is_large { LARGE } else { SMALL })
        };
        let parts = plan(&document, &asked, minute).unwrap();
        let most = ceiling(asked.model);
        let mut next = 1;
        for part in &parts {
            prop_assert_eq!(part.pages.first, next);
            prop_assert!(part.pages.last >= part.pages.first);
            next = part.pages.last + 1;
            let tokens = asked.part(part);
            prop_assert!(tokens.dense_input + tokens.worst_output <= most.input_tokens);
            if !is_text {
                prop_assert!(part.pages.pages() <= most.pages);
                let range = part.pages.first as usize - 1..part.pages.last as usize;
                let own: u64 = measures.pages[range].iter().map(|page| page.bytes).sum();
                prop_assert!(shared_bytes + own <= most.document_bytes);
            }
        }
        if !parts.is_empty() {
            prop_assert_eq!(next, pages + 1);
            prop_assert!(parts.len() > 1);
        }
    }
}
