//! Files with something missing or wrong.

use super::file::File;
use super::text::text_pdf;

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

/// Puts so many bytes before a file, as mail programs and web servers do.
#[must_use]
pub fn junk_before(content: &[u8], bytes: usize) -> Vec<u8> {
    let mut junk = b"HTTP/1.1 200 OK\r\n".repeat(bytes / 17 + 1);
    junk.truncate(bytes);
    junk.extend_from_slice(content);
    junk
}

/// Makes a [`text_pdf`] whose table of objects names wrong places, as after an editor changed its line ends.
#[must_use]
pub fn broken_table_pdf(pages: &[&str]) -> Vec<u8> {
    let bytes = text_pdf(pages);
    let table = b"xref\n0 ";
    let at = bytes
        .windows(table.len())
        .position(|window| window == table)
        .unwrap_or(bytes.len());
    let (objects, table) = bytes.split_at(at);
    let mut broken = objects.to_vec();
    // The places of objects begin with zeros here; those of the trailer don't.
    broken.extend_from_slice(
        String::from_utf8_lossy(table)
            .replace("\n00000", "\n00077")
            .as_bytes(),
    );
    broken
}

/// Makes a PDF of two pages, of which the first is no object of its own: only some readers find it.
#[must_use]
pub fn unlisted_kids_pdf() -> Vec<u8> {
    let mut file = File::new();
    let font =
        file.add(b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>");
    let contents = [
        "(The first page is written into the tree.)",
        "(The second is not.)",
    ]
    .map(|text| {
        file.add_stream(
            "",
            format!("BT /F1 11 Tf 56 780 Td {text} Tj ET").as_bytes(),
        )
    });
    let tree = file.next(1);
    let page = |content: usize| {
        format!(
            "<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]\
             /Resources<</Font<</F1 {font} 0 R>>>>/Contents {content} 0 R>>"
        )
    };
    let second = file.add(page(contents[1]).as_bytes());
    let kids = format!("{} {second} 0 R", page(contents[0]));
    file.add(format!("<</Type/Pages/Count 2/Kids[{kids}]>>").as_bytes());
    let catalog = file.add(format!("<</Type/Catalog/Pages {tree} 0 R>>").as_bytes());
    file.end(catalog)
}
