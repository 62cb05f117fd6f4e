//! Pages of text, and pages without any.

use super::file::File;

/// Characters that a line of [`text_pdf`] holds before it is wrapped.
const LINE_CHARS: usize = 80;

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
    let font = japanese_font(&mut file, "UniJIS-UTF16-H");
    let contents: Vec<usize> = pages
        .iter()
        .map(|text| {
            let mut content = "BT /F1 10 Tf 14 TL 56 780 Td\n".to_owned();
            for line in text.lines() {
                content.push_str(&format!("<{}> Tj T*\n", utf16(line)));
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

/// Makes a PDF with one page that is a picture with a page number printed on it.
#[must_use]
pub fn numbered_scan_pdf() -> Vec<u8> {
    let mut file = File::new();
    let image = file.add_stream(
        "/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray",
        b"\x80",
    );
    let font = file.add(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>");
    let content = file.add_stream(
        "",
        b"q 595 0 0 842 0 0 cm /I1 Do Q BT /F1 9 Tf 290 20 Td (Page 12) Tj ET",
    );
    let resources = format!("/XObject<</I1 {image} 0 R>>/Font<</F1 {font} 0 R>>");
    file.finish(&[content], &resources)
}

/// Makes a Japanese PDF whose lines run from top to bottom, and from right to left, with a font of
/// [`japanese_pdf`]'s kind.
#[must_use]
pub fn vertical_pdf(lines: &[&str]) -> Vec<u8> {
    let mut file = File::new();
    let font = japanese_font(&mut file, "UniJIS-UTF16-V");
    let mut content = "BT /F1 12 Tf\n".to_owned();
    for (index, line) in lines.iter().enumerate() {
        let across = 500 - 24 * index;
        content.push_str(&format!("1 0 0 1 {across} 780 Tm <{}> Tj\n", utf16(line)));
    }
    content.push_str("ET");
    let content = file.add_stream("", content.as_bytes());
    file.finish(&[content], &format!("/Font<</F1 {font} 0 R>>"))
}

/// Makes a PDF of one line that is set with ligatures: each `fi`, `fl` and `ffi` is one glyph.
#[must_use]
pub fn ligature_pdf(line: &str) -> Vec<u8> {
    let mut file = File::new();
    let font = file.add(
        b"<</Type/Font/Subtype/Type1/BaseFont/Times-Roman/Encoding<</Type/Encoding\
          /BaseEncoding/WinAnsiEncoding/Differences[1/fi/fl/ffi]>>>>",
    );
    let set = line
        .replace("ffi", "\\003")
        .replace("fi", "\\001")
        .replace("fl", "\\002");
    let content = file.add_stream(
        "",
        format!("BT /F1 11 Tf 56 780 Td ({set}) Tj ET").as_bytes(),
    );
    file.finish(&[content], &format!("/Font<</F1 {font} 0 R>>"))
}

fn japanese_font(file: &mut File, encoding: &str) -> usize {
    let descendant = file.add(
        b"<</Type/Font/Subtype/CIDFontType0/BaseFont/Ryumin-Light/DW 1000\
          /CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 4>>>>",
    );
    file.add(
        format!(
            "<</Type/Font/Subtype/Type0/BaseFont/Ryumin-Light-{encoding}\
             /Encoding/{encoding}/DescendantFonts[{descendant} 0 R]>>"
        )
        .as_bytes(),
    )
}

fn utf16(line: &str) -> String {
    line.encode_utf16()
        .map(|unit| format!("{unit:04x}"))
        .collect()
}
