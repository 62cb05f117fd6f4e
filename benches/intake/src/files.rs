//! PDFs as people have them: some pages of text, and pictures that don't compress. The same in each run.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::Outcome;

/// Lines of text on a page.
const LINES: usize = 40;
const WORDS: [&str; 24] = [
    "the", "report", "of", "spring", "shows", "that", "levels", "rose", "by", "more", "than",
    "expected", "while", "costs", "were", "lower", "in", "every", "quarter", "and", "nobody",
    "had", "to", "wait",
];

/// Numbers that look random and are the same each time (xorshift64*).
struct Noise(u64);

impl Noise {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// A PDF that is written object by object, so that none is held in memory.
struct Writer {
    file: BufWriter<File>,
    written: u64,
    offsets: Vec<u64>,
}

impl Writer {
    fn put(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.written += bytes.len() as u64;
        self.file.write_all(bytes)
    }

    /// Writes an object whose number is the next one.
    fn object(&mut self, dictionary: &str, stream: Option<&[u8]>) -> std::io::Result<usize> {
        self.offsets.push(self.written);
        let number = self.offsets.len();
        self.put(format!("{number} 0 obj\n{dictionary}\n").as_bytes())?;
        if let Some(stream) = stream {
            self.put(b"stream\n")?;
            self.put(stream)?;
            self.put(b"\nendstream\n")?;
        }
        self.put(b"endobj\n")?;
        Ok(number)
    }
}

/// Writes a PDF of `pages` pages and about `bytes` bytes.
pub(crate) fn write(path: &Path, seed: u64, pages: usize, bytes: usize) -> Outcome<()> {
    let mut noise = Noise::new(seed);
    let mut writer = Writer {
        file: BufWriter::new(File::create(path)?),
        written: 0,
        offsets: Vec::new(),
    };
    writer.put(b"%PDF-1.7\n%\xE2\xE3\xCF\xD3\n")?;
    let font = writer.object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>", None)?;
    // The tree of pages comes last; each page takes three objects.
    let tree = font + 3 * pages + 1;
    let mut kids = String::new();
    for page in 1..=pages {
        let side = ((bytes / pages) as f64).sqrt() as usize;
        let image: Vec<u8> = (0..side * side)
            .map(|_| (noise.next() >> 56) as u8)
            .collect();
        let image = writer.object(
            &format!(
                "<</Type/XObject/Subtype/Image/Width {side}/Height {side}/ColorSpace/DeviceGray\
                 /BitsPerComponent 8/Length {}>>",
                image.len()
            ),
            Some(&image),
        )?;
        let mut content =
            String::from("q 180 0 0 180 400 40 cm /I Do Q\nBT /F 10 Tf 14 TL 50 780 Td\n");
        content.push_str(&format!("(Document {seed}, page {page}.) '\n"));
        for _ in 0..LINES {
            let words: Vec<&str> = (0..12).map(|_| WORDS[noise.below(WORDS.len())]).collect();
            content.push_str(&format!("({}) '\n", words.join(" ")));
        }
        content.push_str("ET");
        let length = content.len();
        let text = writer.object(&format!("<</Length {length}>>"), Some(content.as_bytes()))?;
        let page = writer.object(
            &format!(
                "<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]/Contents {text} 0 R\
                 /Resources<</Font<</F {font} 0 R>>/XObject<</I {image} 0 R>>>>>>"
            ),
            None,
        )?;
        kids.push_str(&format!("{page} 0 R "));
    }
    writer.object(&format!("<</Type/Pages/Count {pages}/Kids[{kids}]>>"), None)?;
    let root = writer.object(&format!("<</Type/Catalog/Pages {tree} 0 R>>"), None)?;
    let (table, objects) = (writer.written, writer.offsets.len() + 1);
    let mut end = format!("xref\n0 {objects}\n0000000000 65535 f \n");
    for offset in &writer.offsets {
        end.push_str(&format!("{offset:010} 00000 n \n"));
    }
    end.push_str(&format!(
        "trailer\n<</Size {objects}/Root {root} 0 R>>\nstartxref\n{table}\n%%EOF\n"
    ));
    writer.put(end.as_bytes())?;
    writer.file.into_inner()?.sync_all()?;
    Ok(())
}
