//! Files that do harm to who reads them.
#![expect(
    clippy::expect_used,
    reason = "writes to memory: a failure is a broken test"
)]

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;

use super::file::File;

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

/// Makes a small PDF with an image that says it has 60,000 × 60,000 pixels, within a form.
#[must_use]
pub fn huge_image_pdf() -> Vec<u8> {
    let mut file = File::new();
    let image = file.add_stream(
        "/Type/XObject/Subtype/Image/Width 60000/Height 60000/BitsPerComponent 8/ColorSpace/DeviceRGB",
        b"nothing of that",
    );
    let entries = format!(
        "/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</I {image} 0 R>>>>"
    );
    let form = file.add_stream(&entries, b"q 595 0 0 842 0 0 cm /I Do Q");
    let content = file.add_stream("", b"/X Do");
    file.finish(&[content], &format!("/XObject<</X {form} 0 R>>"))
}
