//! Changes to a file: some that know nothing of PDFs, and some that keep it one and make it lie.

use crate::chance::Chance;

/// Most changes to one file.
const MAX_CHANGES: usize = 6;

/// Longest piece that is moved about, in bytes.
const MAX_PIECE: usize = 4096;

/// Numbers at which programs go wrong.
const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "8",
    "16",
    "32",
    "127",
    "255",
    "256",
    "65535",
    "65536",
    "1000000",
    "2147483647",
    "2147483648",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "0.000001",
    "1e9",
    "99999999999999999999999999",
    "--5",
    "3.4e39",
];

/// Words of the format, which are put where they don't belong.
pub const WORDS: &[&str] = &[
    "<<",
    ">>",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    "obj",
    "endobj",
    "stream\n",
    "endstream",
    "xref",
    "trailer",
    "startxref",
    "%%EOF",
    "R",
    "null",
    "true",
    "/Length",
    "/Length 3 0 R",
    "/Filter/FlateDecode",
    "/Filter[/FlateDecode/FlateDecode]",
    "/Filter/LZWDecode",
    "/Filter/ASCII85Decode",
    "/Filter/DCTDecode",
    "/Filter/JBIG2Decode",
    "/Filter/CCITTFaxDecode",
    "/Filter/RunLengthDecode",
    "/DecodeParms<</Predictor 15/Columns 99>>",
    "/Type/ObjStm/N 9/First 9",
    "/Type/XRef/W[1 2 1]/Index[0 9]",
    "/Prev 9",
    "/Root 1 0 R",
    "/Kids[1 0 R]",
    "/Parent 1 0 R",
    "/Count 99",
    "/Type/Pages",
    "/Type/Page",
    "/Resources<<>>",
    "/Encrypt 1 0 R",
    "/V 5/R 6",
    "/Subtype/Type3",
    "/Subtype/Image/Width 99999/Height 99999",
    "/ToUnicode 1 0 R",
    "/Encoding/Identity-V",
    "/Annots[1 0 R]",
    "/AcroForm<</Fields[1 0 R]>>",
    "/SMask 1 0 R",
    "/Linearized 1/L 9",
    "/Extends 1 0 R",
    "BT",
    "ET",
    "Tj",
    "q",
    "Q",
    "/X Do",
    "BI",
    "ID",
    "EI",
    "cm",
    "BDC",
    "EMC",
    "\u{0}",
    "\r",
    "1 0 R",
];

/// Makes a new file from one or two.
pub fn mutate(base: &[u8], other: &[u8], chance: &mut Chance) -> Vec<u8> {
    let mut file = base.to_vec();
    for _ in 0..=chance.below(MAX_CHANGES) {
        change(&mut file, other, chance);
    }
    file
}

fn change(file: &mut Vec<u8>, other: &[u8], chance: &mut Chance) {
    let at = chance.below(file.len());
    match chance.below(12) {
        0 => {
            if let Some(byte) = file.get_mut(at) {
                *byte ^= 1 << chance.below(8);
            }
        }
        1 => {
            if let Some(byte) = file.get_mut(at) {
                *byte = chance.next() as u8;
            }
        }
        2 => file.truncate(at),
        3 => {
            let end = piece_end(at, file.len(), chance);
            file.drain(at..end);
        }
        4 => {
            let piece = piece(file, chance);
            file.splice(at..at, piece);
        }
        5 => {
            let piece = piece(other, chance);
            let end = (at + piece.len()).min(file.len());
            file.splice(at..end, piece);
        }
        6..=8 => number(file, at, chance),
        9 => {
            let word = chance.pick(WORDS).bytes();
            file.splice(at..at, word);
        }
        10 => {
            let word = chance.pick(WORDS).as_bytes();
            let end = (at + word.len()).min(file.len());
            file.splice(at..end, word.iter().copied());
        }
        _ => reference(file, at, chance),
    }
}

fn piece_end(at: usize, length: usize, chance: &mut Chance) -> usize {
    (at + 1 + chance.below(MAX_PIECE)).min(length)
}

fn piece(of: &[u8], chance: &mut Chance) -> Vec<u8> {
    let at = chance.below(of.len());
    of[at..piece_end(at, of.len(), chance)].to_vec()
}

/// Replaces the next number.
fn number(file: &mut Vec<u8>, at: usize, chance: &mut Chance) {
    let Some(start) = (at..file.len()).find(|index| file[*index].is_ascii_digit()) else {
        return;
    };
    let end = (start..file.len())
        .find(|index| !file[*index].is_ascii_digit())
        .unwrap_or(file.len());
    let number = chance.pick(NUMBERS).bytes();
    file.splice(start..end, number);
}

/// Lets the next reference lead to another object.
fn reference(file: &mut Vec<u8>, at: usize, chance: &mut Chance) {
    const END: &[u8] = b" 0 R";
    let Some(end) = (at..file.len()).find(|index| file[*index..].starts_with(END)) else {
        return;
    };
    let start = (0..end)
        .rev()
        .take_while(|index| file[*index].is_ascii_digit())
        .last()
        .unwrap_or(end);
    let number = (1 + chance.below(20)).to_string();
    file.splice(start..end, number.bytes());
}
