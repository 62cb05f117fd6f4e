//! PDFs made on the spot: good, odd, broken and hostile ones, each the same in every run.
#![expect(
    clippy::expect_used,
    reason = "writes to memory and encrypts files of its own making: a failure is a broken test"
)]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use lopdf::encryption::EncryptionVersion;
use lopdf::{Document, EncryptionState, Permissions};

/// Characters that a line of [`text_pdf`] holds before it is wrapped.
const LINE_CHARS: usize = 80;

/// A file under construction: objects are numbered from 1 in the order they are added.
struct File {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

impl File {
    fn new() -> Self {
        Self {
            bytes: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec(),
            offsets: Vec::new(),
        }
    }

    /// Adds an object and returns its number.
    fn add(&mut self, body: &[u8]) -> usize {
        self.offsets.push(self.bytes.len());
        let number = self.offsets.len();
        self.bytes
            .extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        self.bytes.extend_from_slice(body);
        self.bytes.extend_from_slice(b"\nendobj\n");
        number
    }

    fn add_stream(&mut self, entries: &str, content: &[u8]) -> usize {
        let mut body = format!("<<{entries}/Length {}>>\nstream\n", content.len()).into_bytes();
        body.extend_from_slice(content);
        body.extend_from_slice(b"\nendstream");
        self.add(&body)
    }

    /// Adds pages, the tree of them and the catalog, and ends the file. Each page is the number of its
    /// content; `resources` belong to all.
    fn finish(mut self, contents: &[usize], resources: &str) -> Vec<u8> {
        let tree = self.offsets.len() + contents.len() + 1;
        let kids: Vec<String> = contents
            .iter()
            .map(|content| {
                let page = format!(
                    "<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]\
                     /Resources<<{resources}>>/Contents {content} 0 R>>"
                );
                format!("{} 0 R", self.add(page.as_bytes()))
            })
            .collect();
        let pages = format!(
            "<</Type/Pages/Count {}/Kids[{}]>>",
            kids.len(),
            kids.join(" ")
        );
        self.add(pages.as_bytes());
        let catalog = self.add(format!("<</Type/Catalog/Pages {tree} 0 R>>").as_bytes());

        let start = self.bytes.len();
        let size = self.offsets.len() + 1;
        let mut end = format!("xref\n0 {size}\n0000000000 65535 f \n");
        for offset in &self.offsets {
            end.push_str(&format!("{offset:010} 00000 n \n"));
        }
        end.push_str(&format!(
            "trailer\n<</Size {size}/Root {catalog} 0 R/ID[<00112233445566778899aabbccddeeff>\
             <00112233445566778899aabbccddeeff>]>>\nstartxref\n{start}\n%%EOF\n"
        ));
        self.bytes.extend_from_slice(end.as_bytes());
        self.bytes
    }
}

/// Makes a PDF with one page per text. Line breaks are kept, long lines are wrapped between words.
///
/// Characters outside of Latin-1 become question marks; see [`japanese_pdf`].
#[must_use]
pub fn text_pdf(pages: &[&str]) -> Vec<u8> {
    let mut file = File::new();
    let font =
        file.add(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>");
    let contents: Vec<usize> = pages
        .iter()
        .map(|text| {
            let mut content = b"BT /F1 11 Tf 14 TL 56 780 Td\n".to_vec();
            for line in text.lines().flat_map(wrap) {
                content.push(b'(');
                for character in line.chars() {
                    let byte = u8::try_from(character).unwrap_or(b'?');
                    if matches!(byte, b'(' | b')' | b'\\') {
                        content.push(b'\\');
                    }
                    content.push(byte);
                }
                content.extend_from_slice(b") Tj T*\n");
            }
            content.extend_from_slice(b"ET");
            file.add_stream("", &content)
        })
        .collect();
    file.finish(&contents, &format!("/Font<</F1 {font} 0 R>>"))
}

fn wrap(line: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in line.split(' ') {
        let mut last = lines.len() - 1;
        if !lines[last].is_empty() && lines[last].len() + 1 + word.len() > LINE_CHARS {
            lines.push(String::new());
            last += 1;
        }
        if !lines[last].is_empty() {
            lines[last].push(' ');
        }
        lines[last].push_str(word);
    }
    lines
}

/// Makes a PDF of so many pages, of which each says its number: `This is page 7 of 12.`
#[must_use]
pub fn numbered_pdf(pages: usize) -> Vec<u8> {
    let texts: Vec<String> = (1..=pages)
        .map(|page| format!("This is page {page} of {pages}."))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    text_pdf(&texts)
}

/// Makes a Japanese PDF as older programs did: the font is neither embedded nor has it a table of its
/// characters. Lines are 14 points apart and broken only at line breaks.
#[must_use]
pub fn japanese_pdf(pages: &[&str]) -> Vec<u8> {
    let mut file = File::new();
    let descendant = file.add(
        b"<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/DW 1000\
          /CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 4>>>>",
    );
    let font = file.add(
        format!(
            "<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light-UniJIS-UTF16-H\
             /Encoding/UniJIS-UTF16-H/DescendantFonts[{descendant} 0 R]>>"
        )
        .as_bytes(),
    );
    let contents: Vec<usize> = pages
        .iter()
        .map(|text| {
            let mut content = "BT /F1 10 Tf 14 TL 56 780 Td\n".to_owned();
            for line in text.lines() {
                let codes: String = line
                    .encode_utf16()
                    .map(|unit| format!("{unit:04x}"))
                    .collect();
                content.push_str(&format!("<{codes}> Tj T*\n"));
            }
            content.push_str("ET");
            file.add_stream("", content.as_bytes())
        })
        .collect();
    file.finish(&contents, &format!("/Font<</F1 {font} 0 R>>"))
}

/// Makes a PDF of so many empty pages.
#[must_use]
pub fn blank_pdf(pages: usize) -> Vec<u8> {
    let mut file = File::new();
    let content = file.add_stream("", b"");
    file.finish(&vec![content; pages], "")
}

/// Makes a PDF like a scan: a grey image fills the page, and there is no text.
#[must_use]
pub fn scanned_pdf() -> Vec<u8> {
    let mut file = File::new();
    let image = file.add_stream(
        "/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray",
        b"\x80",
    );
    let content = file.add_stream("", b"q 595 0 0 842 0 0 cm /I1 Do Q");
    file.finish(&[content], &format!("/XObject<</I1 {image} 0 R>>"))
}

/// Makes an encrypted [`text_pdf`]; with an empty `user_password` it opens without one.
///
/// # Panics
///
/// When it can't be encrypted.
#[must_use]
pub fn encrypted_pdf(pages: &[&str], user_password: &str) -> Vec<u8> {
    let mut document = Document::load_mem(&text_pdf(pages)).expect("a good file");
    let version = EncryptionVersion::V2 {
        document: &document,
        owner_password: "owner",
        user_password,
        key_length: 128,
        permissions: Permissions::all(),
    };
    let state = EncryptionState::try_from(version).expect("a supported encryption");
    document.encrypt(&state).expect("an encrypted file");
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("a saved file");
    bytes
}

/// Makes a [`text_pdf`] that breaks off before its table of objects, as an interrupted download does.
/// Readers can repair it.
#[must_use]
pub fn truncated_pdf(pages: &[&str]) -> Vec<u8> {
    let mut bytes = text_pdf(pages);
    let table = b"xref\n0 ";
    let end = bytes
        .windows(table.len())
        .position(|window| window == table)
        .unwrap_or(bytes.len());
    bytes.truncate(end + 20);
    bytes
}

/// Makes a file that begins like a PDF and holds nothing that can be read.
#[must_use]
pub fn damaged_pdf() -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    bytes.extend((0..4096_u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 13) as u8 | 0x80));
    bytes
}

/// Makes a web page, as an error of a server is often saved with the name of a PDF.
#[must_use]
pub fn html_page() -> Vec<u8> {
    b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n".to_vec()
}

/// Makes a PDF whose page runs for ever: `2^levels` times the same thing, by forms that each call the
/// next one twice.
#[must_use]
pub fn endless_pdf(levels: usize) -> Vec<u8> {
    let mut file = File::new();
    let mut last = file.add_stream(
        "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<<>>",
        b"0 0 m 1 1 l S",
    );
    for _ in 0..levels {
        let entries = format!(
            "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X {last} 0 R>>>>"
        );
        last = file.add_stream(&entries, b"/X Do /X Do");
    }
    let content = file.add_stream("", b"/X Do");
    file.finish(&[content], &format!("/XObject<</X {last} 0 R>>"))
}

/// Makes a small PDF whose content unpacks to 4 GiB of blanks.
///
/// # Panics
///
/// When it can't be compressed.
#[must_use]
pub fn exploding_pdf() -> Vec<u8> {
    const BLOCK: usize = 1 << 20;
    const BLOCKS: u64 = 4096;

    // Each block ends with a full flush and so stands on its own: one of them is made, and repeated.
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.flush().expect("memory");
    let header = encoder.get_ref().len();
    encoder.write_all(&vec![b' '; BLOCK]).expect("memory");
    encoder.flush().expect("memory");
    let once = encoder.get_ref().len();
    let inner = encoder.get_ref()[header..once].to_vec();

    let mut packed = encoder.get_ref()[..once].to_vec();
    for _ in 1..BLOCKS {
        packed.extend_from_slice(&inner);
    }
    // An empty last block, and the checksum of so many blanks (RFC 1950).
    packed.extend_from_slice(&[0x03, 0x00]);
    let length = BLOCK as u64 * BLOCKS;
    let blank = u64::from(b' ');
    let low = (1 + length % 65_521 * blank) % 65_521;
    let sum = (u128::from(length) * u128::from(length + 1) / 2) % 65_521;
    let high = (length % 65_521 + u64::try_from(sum).unwrap_or(0) * blank) % 65_521;
    packed.extend_from_slice(&u32::try_from(high << 16 | low).unwrap_or(0).to_be_bytes());

    let mut outer = ZlibEncoder::new(Vec::new(), Compression::best());
    outer.write_all(&packed).expect("memory");
    let twice = outer.finish().expect("memory");

    let mut file = File::new();
    let content = file.add_stream("/Filter[/FlateDecode/FlateDecode]", &twice);
    file.finish(&[content], "")
}
