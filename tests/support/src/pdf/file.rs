//! How a PDF is put together.

/// A file under construction: objects are numbered from 1 in the order they are added.
pub(super) struct File {
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

impl File {
    pub(super) fn new() -> Self {
        Self {
            bytes: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n".to_vec(),
            offsets: Vec::new(),
        }
    }

    /// Adds an object and returns its number.
    pub(super) fn add(&mut self, body: &[u8]) -> usize {
        self.offsets.push(self.bytes.len());
        let number = self.offsets.len();
        self.bytes
            .extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        self.bytes.extend_from_slice(body);
        self.bytes.extend_from_slice(b"\nendobj\n");
        number
    }

    pub(super) fn add_stream(&mut self, entries: &str, content: &[u8]) -> usize {
        let mut body = format!("<<{entries}/Length {}>>\nstream\n", content.len()).into_bytes();
        body.extend_from_slice(content);
        body.extend_from_slice(b"\nendstream");
        self.add(&body)
    }

    /// Adds pages, the tree of them and the catalog, and ends the file. Each page is the number of its
    /// content; `resources` belong to all.
    pub(super) fn finish(mut self, contents: &[usize], resources: &str) -> Vec<u8> {
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
        self.end(catalog)
    }

    /// The number that the object added next will have, plus `ahead`.
    pub(super) fn next(&self, ahead: usize) -> usize {
        self.offsets.len() + 1 + ahead
    }

    /// Ends the file, whose catalog is this object.
    pub(super) fn end(mut self, catalog: usize) -> Vec<u8> {
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
