//! Files that are long or large.
#![expect(
    clippy::expect_used,
    reason = "writes files of its own: a failure is a broken test"
)]

use std::io::{BufWriter, Write};
use std::path::Path;

use super::text::text_pdf;

const WORDS: [&str; 16] = [
    "rain",
    "beans",
    "minutes",
    "shed",
    "committee",
    "compost",
    "ladder",
    "winter",
    "count",
    "water",
    "paper",
    "garden",
    "letter",
    "market",
    "bridge",
    "harbour",
];

/// Makes a PDF of so many full pages of text, each with words of its own. The first line of a page says its
/// number: `This is page 7 of 600.`
#[must_use]
pub fn long_pdf(pages: usize) -> Vec<u8> {
    let texts: Vec<String> = (1..=pages)
        .map(|page| {
            let mut text = format!("This is page {page} of {pages}.\n");
            for (index, byte) in noise(500, page as u64).into_iter().enumerate() {
                text.push_str(WORDS[usize::from(byte) % WORDS.len()]);
                text.push(if index % 10 == 9 { '\n' } else { ' ' });
            }
            text
        })
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    text_pdf(&texts)
}

/// Makes bytes that can't be compressed, the same for the same seed.
pub(super) fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut noise = Vec::with_capacity(bytes + 8);
    while noise.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        noise.extend_from_slice(&state.to_le_bytes());
    }
    noise.truncate(bytes);
    noise
}

/// Writes a PDF of so many scanned pages, each an image of its own of so many bytes that can't be
/// compressed, with its number as text: `This is page 7 of 50.` Only one page is held in memory.
///
/// # Panics
///
/// When it can't be written.
pub fn images_pdf(path: &Path, pages: usize, bytes_each: usize) {
    let file = std::fs::File::create(path).expect("a file");
    let mut out = Counted {
        out: BufWriter::with_capacity(1 << 20, file),
        at: 0,
    };
    out.write(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n");
    let mut offsets = vec![out.at];
    out.write(b"1 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>\nendobj\n");
    // An image, a content and a page each; then tree and catalog.
    let tree = 2 + 3 * pages;
    for page in 1..=pages {
        let (image, content, own) = (3 * page - 1, 3 * page, 3 * page + 1);
        // As the images of scanners are packed already, nobody tries to pack them again.
        let packed = packed(&noise(bytes_each, page as u64));
        offsets.push(out.at);
        out.write(
            format!(
                "{image} 0 obj\n<</Type/XObject/Subtype/Image/Width {bytes_each}/Height 1\
                 /BitsPerComponent 8/ColorSpace/DeviceGray/Filter/FlateDecode/Length {}>>\nstream\n",
                packed.len()
            )
            .as_bytes(),
        );
        out.write(&packed);
        out.write(b"\nendstream\nendobj\n");
        let drawn = format!(
            "q 595 0 0 842 0 0 cm /I Do Q BT /F1 11 Tf 56 780 Td (This is page {page} of {pages}.) Tj ET"
        );
        offsets.push(out.at);
        out.write(
            format!(
                "{content} 0 obj\n<</Length {}>>\nstream\n{drawn}\nendstream\nendobj\n",
                drawn.len()
            )
            .as_bytes(),
        );
        offsets.push(out.at);
        out.write(
            format!(
                "{own} 0 obj\n<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]/Resources<<\
                 /Font<</F1 1 0 R>>/XObject<</I {image} 0 R>>>>/Contents {content} 0 R>>\nendobj\n"
            )
            .as_bytes(),
        );
    }
    let kids: Vec<String> = (1..=pages)
        .map(|page| format!("{} 0 R", 3 * page + 1))
        .collect();
    offsets.push(out.at);
    out.write(
        format!(
            "{tree} 0 obj\n<</Type/Pages/Count {pages}/Kids[{}]>>\nendobj\n",
            kids.join(" ")
        )
        .as_bytes(),
    );
    offsets.push(out.at);
    let catalog = tree + 1;
    out.write(format!("{catalog} 0 obj\n<</Type/Catalog/Pages {tree} 0 R>>\nendobj\n").as_bytes());
    let start = out.at;
    out.write(format!("xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1).as_bytes());
    for offset in &offsets {
        out.write(format!("{offset:010} 00000 n \n").as_bytes());
    }
    out.write(
        format!(
            "trailer\n<</Size {}/Root {catalog} 0 R>>\nstartxref\n{start}\n%%EOF\n",
            offsets.len() + 1
        )
        .as_bytes(),
    );
    out.out.flush().expect("a written file");
}

/// Packs without making smaller.
fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

struct Counted {
    out: BufWriter<std::fs::File>,
    at: u64,
}

impl Counted {
    fn write(&mut self, bytes: &[u8]) {
        self.out.write_all(bytes).expect("a written file");
        self.at += bytes.len() as u64;
    }
}
