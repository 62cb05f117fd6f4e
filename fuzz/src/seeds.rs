//! What the search begins with: files that the tests make, small ones of each kind.

use std::fmt::Write as _;
use std::path::Path;

use gistmill_testkit::pdf;

use crate::mutate::WORDS;

/// Makes them all.
pub fn all() -> Vec<Vec<u8>> {
    let texts = [
        "The committee met in the shed to count what was left of the beans.",
        "And the second page.",
    ];
    let text = pdf::text_pdf(&texts);
    let mut seeds = vec![
        pdf::numbered_pdf(3),
        pdf::numbered_pdf(45),
        pdf::japanese_pdf(&["町内会の防災訓練は、九月の第一日曜日に行います。"]),
        pdf::vertical_pdf(&["わたくしといふ現象は", "仮定された有機交流電燈の"]),
        pdf::ligature_pdf("office affairs"),
        pdf::blank_pdf(2),
        pdf::scanned_pdf(),
        pdf::form_pdf(),
        pdf::unseen_field_pdf("yes"),
        pdf::attachment_pdf(b"attached"),
        pdf::linked_pdf(3),
        pdf::inherited_pdf(),
        pdf::shared_pdf(3, 2000, 500),
        pdf::truncated_pdf(&texts),
        pdf::broken_table_pdf(&texts),
        pdf::unlisted_kids_pdf(),
        pdf::junk_before(&text, 100),
        pdf::encrypted_pdf(&texts, ""),
        pdf::encrypted_pdf(&texts, "sesame"),
        pdf::endless_pdf(3),
        pdf::damaged_pdf(),
        text,
    ];
    // Object streams, cross-reference streams and everything compressed, as most programs write them now.
    let packed: Vec<Vec<u8>> = seeds.iter().filter_map(|seed| packed(seed)).collect();
    seeds.extend(packed);
    seeds
}

/// Makes those that kill children, of which few are enough: each takes seconds.
pub fn deadly() -> Vec<Vec<u8>> {
    vec![pdf::endless_pdf(40), pdf::exploding_pdf()]
}

/// Writes them to a folder, and the words of the format as libFuzzer's dictionary.
pub fn write(folder: &Path, words: &Path) -> std::io::Result<bool> {
    std::fs::create_dir_all(folder)?;
    for (index, seed) in all().iter().enumerate() {
        std::fs::write(folder.join(format!("seed-{index:02}.pdf")), seed)?;
    }
    let mut dictionary = String::new();
    for word in WORDS {
        dictionary.push('"');
        for byte in word.bytes() {
            // Writing to a string never fails.
            let _ = write!(dictionary, "\\x{byte:02x}");
        }
        dictionary.push_str("\"\n");
    }
    std::fs::write(words, dictionary)?;
    Ok(true)
}

fn packed(seed: &[u8]) -> Option<Vec<u8>> {
    let mut document = lopdf::Document::load_mem(seed).ok()?;
    let mut bytes = Vec::new();
    document.compress();
    document.save_modern(&mut bytes).ok()?;
    Some(bytes)
}
