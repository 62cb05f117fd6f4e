//! Files with more than text: forms, links, attached files, things that pages share.

use super::file::File;
use super::large::noise;

const FONT: &[u8] = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";

fn line(file: &mut File, text: &str) -> usize {
    let content = format!("BT /F1 11 Tf 56 780 Td ({text}) Tj ET");
    file.add_stream("", content.as_bytes())
}

/// Makes a form of three pages. A field `name` with the value `Mio Tanaka` has a box on the first and one on
/// the third page, a box `agreed` on the first page is ticked, and a field `other` with the value
/// `Nobody asked` is on the third. All have an appearance; the text of a page says its number.
#[must_use]
pub fn form_pdf() -> Vec<u8> {
    let mut file = File::new();
    let font = file.add(FONT);
    let resources = format!("/Resources<</Font<</F1 {font} 0 R>>>>");
    let appearance = |file: &mut File, content: &str| {
        let entries = format!("/Type/XObject/Subtype/Form/BBox[0 0 200 20]{resources}");
        file.add_stream(&entries, content.as_bytes())
    };
    let name = appearance(&mut file, "BT /F1 11 Tf 2 5 Td (Mio Tanaka) Tj ET");
    let other = appearance(&mut file, "BT /F1 11 Tf 2 5 Td (Nobody asked) Tj ET");
    let ticked = appearance(&mut file, "BT /F1 11 Tf 2 5 Td (X) Tj ET");
    let empty = appearance(&mut file, "");
    let contents = ["Page 1", "Page 2", "Page 3"].map(|text| line(&mut file, text));

    // name, its two boxes, agreed, other; three pages; tree, catalog.
    let [field, first_box, third_box, agreed, alone] =
        [0, 1, 2, 3, 4].map(|ahead| file.next(ahead));
    let pages = [5, 6, 7].map(|ahead| file.next(ahead));
    let tree = file.next(8);
    let rect = "/Type/Annot/Subtype/Widget/F 4/Rect[56 700 256 720]";
    file.add(
        format!(
            "<</FT/Tx/T(name)/V(Mio Tanaka)/DA(/F1 11 Tf 0 g)/Kids[{first_box} 0 R {third_box} 0 R]>>"
        )
        .as_bytes(),
    );
    for page in [pages[0], pages[2]] {
        file.add(
            format!("<<{rect}/Parent {field} 0 R/P {page} 0 R/AP<</N {name} 0 R>>>>").as_bytes(),
        );
    }
    file.add(
        format!(
            "<</Type/Annot/Subtype/Widget/F 4/Rect[56 650 76 670]/FT/Btn/T(agreed)/V/Yes/AS/Yes\
             /P {} 0 R/AP<</N<</Yes {ticked} 0 R/Off {empty} 0 R>>>>>>",
            pages[0]
        )
        .as_bytes(),
    );
    file.add(
        format!(
            "<</Type/Annot/Subtype/Widget/F 4/Rect[56 600 256 620]/FT/Tx/T(other)/V(Nobody asked)\
             /DA(/F1 11 Tf 0 g)/P {} 0 R/AP<</N {other} 0 R>>>>",
            pages[2]
        )
        .as_bytes(),
    );
    let annotations = [
        format!("/Annots[{first_box} 0 R {agreed} 0 R]"),
        String::new(),
        format!("/Annots[{third_box} 0 R {alone} 0 R]"),
    ];
    for (content, annotations) in contents.iter().zip(annotations) {
        file.add(
            format!(
                "<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]{resources}\
                 /Contents {content} 0 R{annotations}>>"
            )
            .as_bytes(),
        );
    }
    let kids = pages.map(|page| format!("{page} 0 R")).join(" ");
    file.add(format!("<</Type/Pages/Count 3/Kids[{kids}]>>").as_bytes());
    let catalog = file.add(
        format!(
            "<</Type/Catalog/Pages {tree} 0 R/AcroForm<</Fields[{field} 0 R {agreed} 0 R {alone} 0 R]\
             /DR<</Font<</F1 {font} 0 R>>>>/DA(/F1 11 Tf 0 g)>>>>"
        )
        .as_bytes(),
    );
    file.end(catalog)
}

/// Makes a page with a field that is filled in and has no appearance: few readers show its value.
#[must_use]
pub fn unseen_field_pdf(value: &str) -> Vec<u8> {
    let mut file = File::new();
    let font = file.add(FONT);
    let content = line(&mut file, "Name:");
    let (field, page, tree) = (file.next(0), file.next(1), file.next(2));
    file.add(
        format!(
            "<</Type/Annot/Subtype/Widget/F 4/Rect[56 700 256 720]/FT/Tx/T(name)/V({value})\
             /DA(/F1 11 Tf 0 g)/P {page} 0 R>>"
        )
        .as_bytes(),
    );
    file.add(
        format!(
            "<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 {font} 0 R>>>>\
             /Contents {content} 0 R/Annots[{field} 0 R]>>"
        )
        .as_bytes(),
    );
    file.add(format!("<</Type/Pages/Count 1/Kids[{page} 0 R]>>").as_bytes());
    let catalog = file.add(
        format!(
            "<</Type/Catalog/Pages {tree} 0 R/AcroForm<</Fields[{field} 0 R]\
             /DR<</Font<</F1 {font} 0 R>>>>/DA(/F1 11 Tf 0 g)>>>>"
        )
        .as_bytes(),
    );
    file.end(catalog)
}

/// Makes a page with two attached files of this content: one of the document, one pinned to the page.
#[must_use]
pub fn attachment_pdf(content: &[u8]) -> Vec<u8> {
    let mut file = File::new();
    let font = file.add(FONT);
    let text = line(&mut file, "Two files are attached to this page.");
    let embedded = [0, 1].map(|_| {
        let stream = file.add_stream("/Type/EmbeddedFile", content);
        file.add(
            format!("<</Type/Filespec/F(notes.txt)/UF(notes.txt)/EF<</F {stream} 0 R>>>>")
                .as_bytes(),
        )
    });
    let (pin, page, tree) = (file.next(0), file.next(1), file.next(2));
    file.add(
        format!(
            "<</Type/Annot/Subtype/FileAttachment/Rect[56 700 76 720]/Name/PushPin/P {page} 0 R\
             /FS {} 0 R>>",
            embedded[1]
        )
        .as_bytes(),
    );
    file.add(
        format!(
            "<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]/Resources<</Font<</F1 {font} 0 R>>>>\
             /Contents {text} 0 R/Annots[{pin} 0 R]>>"
        )
        .as_bytes(),
    );
    file.add(format!("<</Type/Pages/Count 1/Kids[{page} 0 R]>>").as_bytes());
    let catalog = file.add(
        format!(
            "<</Type/Catalog/Pages {tree} 0 R/Names<</EmbeddedFiles<</Names[(notes.txt) {} 0 R]>>>>>>",
            embedded[0]
        )
        .as_bytes(),
    );
    file.end(catalog)
}

/// Makes a PDF of so many pages, each with links to the one before, the one after and the last, a bookmark,
/// and a tree of its structure that leads to all of them.
#[must_use]
pub fn linked_pdf(pages: usize) -> Vec<u8> {
    let mut file = File::new();
    let font = file.add(FONT);
    let contents: Vec<usize> = (1..=pages)
        .map(|page| line(&mut file, &format!("This is page {page} of {pages}.")))
        .collect();
    // A page and three links each; then tree, structure, bookmarks.
    let page = |index: usize| contents[0] + pages + 4 * index;
    let tree = page(pages);
    let structure = tree + 1;
    let bookmarks = tree + 2;
    for (index, content) in contents.iter().enumerate() {
        let own = page(index);
        file.add(
            format!(
                "<</Type/Page/Parent {tree} 0 R/MediaBox[0 0 595 842]/StructParents {index}\
                 /Resources<</Font<</F1 {font} 0 R>>>>/Contents {content} 0 R\
                 /Annots[{} 0 R {} 0 R {} 0 R]>>",
                own + 1,
                own + 2,
                own + 3
            )
            .as_bytes(),
        );
        for target in [
            index.saturating_sub(1),
            (index + 1).min(pages - 1),
            pages - 1,
        ] {
            file.add(
                format!(
                    "<</Type/Annot/Subtype/Link/Rect[56 700 256 720]/P {own} 0 R/StructParent 9\
                     /A<</S/GoTo/D[{} 0 R/Fit]>>>>",
                    page(target)
                )
                .as_bytes(),
            );
        }
    }
    let all: Vec<String> = (0..pages)
        .map(|index| format!("{} 0 R", page(index)))
        .collect();
    file.add(format!("<</Type/Pages/Count {pages}/Kids[{}]>>", all.join(" ")).as_bytes());
    let elements: Vec<String> = all
        .iter()
        .map(|page| format!("<</Type/StructElem/S/P/P {structure} 0 R/Pg {page}/K 0>>"))
        .collect();
    file.add(format!("<</Type/StructTreeRoot/K[{}]>>", elements.join(" ")).as_bytes());
    file.add(
        format!(
            "<</Type/Outlines/First {} 0 R/Last {} 0 R/Count 1>>",
            bookmarks + 1,
            bookmarks + 1
        )
        .as_bytes(),
    );
    file.add(
        format!(
            "<</Title(The end)/Parent {bookmarks} 0 R/Dest[{} 0 R/Fit]>>",
            page(pages - 1)
        )
        .as_bytes(),
    );
    let catalog = file.add(
        format!(
            "<</Type/Catalog/Pages {tree} 0 R/StructTreeRoot {structure} 0 R/MarkInfo<</Marked true>>\
             /Outlines {bookmarks} 0 R>>"
        )
        .as_bytes(),
    );
    file.end(catalog)
}

/// Makes a PDF of four pages that have nothing of their own but their text: size, turn and font stand in
/// the two levels of the tree above them, where the font is shared by all.
#[must_use]
pub fn inherited_pdf() -> Vec<u8> {
    let mut file = File::new();
    let font = file.add(FONT);
    let contents: Vec<usize> = (1..=4)
        .map(|page| line(&mut file, &format!("This is page {page} of 4.")))
        .collect();
    let (upright, turned, tree) = (file.next(4), file.next(5), file.next(6));
    let pages: Vec<usize> = contents
        .iter()
        .enumerate()
        .map(|(index, content)| {
            let parent = if index < 2 { upright } else { turned };
            file.add(
                format!("<</Type/Page/Parent {parent} 0 R/Contents {content} 0 R>>").as_bytes(),
            )
        })
        .collect();
    for (kids, own) in [
        (&pages[..2], ""),
        (&pages[2..], "/Rotate 90/CropBox[0 0 595 800]"),
    ] {
        file.add(
            format!(
                "<</Type/Pages/Parent {tree} 0 R/Count 2/Kids[{} 0 R {} 0 R]{own}>>",
                kids[0], kids[1]
            )
            .as_bytes(),
        );
    }
    file.add(
        format!(
            "<</Type/Pages/Count 4/Kids[{upright} 0 R {turned} 0 R]/MediaBox[0 0 595 842]\
             /Resources<</Font<</F1 {font} 0 R>>>>>>"
        )
        .as_bytes(),
    );
    let catalog = file.add(format!("<</Type/Catalog/Pages {tree} 0 R>>").as_bytes());
    file.end(catalog)
}

/// Makes a PDF of so many pages that all name the same resources: an image of `shared` bytes that each of
/// them draws, and for each page one of `own` bytes that only that page draws.
#[must_use]
pub fn shared_pdf(pages: usize, shared: usize, own: usize) -> Vec<u8> {
    let mut file = File::new();
    let font = file.add(FONT);
    let image = |file: &mut File, bytes: usize, seed: u64| {
        let entries = format!(
            "/Type/XObject/Subtype/Image/Width {bytes}/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray"
        );
        file.add_stream(&entries, &noise(bytes, seed))
    };
    let all = image(&mut file, shared, 1);
    let mut names = format!("/All {all} 0 R");
    for page in 1..=pages {
        let number = image(&mut file, own, 1 + page as u64);
        names.push_str(&format!("/Own{page} {number} 0 R"));
    }
    let contents: Vec<usize> = (1..=pages)
        .map(|page| {
            let text = format!(
                "q 595 0 0 100 0 0 cm /All Do Q q 595 0 0 100 0 200 cm /Own{page} Do Q \
                 BT /F1 11 Tf 56 780 Td (This is page {page} of {pages}.) Tj ET"
            );
            file.add_stream("", text.as_bytes())
        })
        .collect();
    file.finish(
        &contents,
        &format!("/Font<</F1 {font} 0 R>>/XObject<<{names}>>"),
    )
}
