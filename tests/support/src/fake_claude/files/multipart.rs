//! Reads `multipart/form-data`, as far as uploads need it.

/// One part of a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Part<'a> {
    pub(super) name: String,
    /// The last component of the path that was given.
    pub(super) filename: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) bytes: &'a [u8],
}

/// Returns the boundary that a content type names.
pub(super) fn boundary(content_type: &str) -> Option<&str> {
    let rest = content_type.strip_prefix("multipart/form-data")?;
    let (_, value) = rest.split_once("boundary=")?;
    let value = value.split(';').next()?.trim().trim_matches('"');
    (!value.is_empty()).then_some(value)
}

/// Returns the parts; `None` for a body that is no form with this boundary.
pub(super) fn parts<'a>(body: &'a [u8], boundary: &str) -> Option<Vec<Part<'a>>> {
    let delimiter = format!("--{boundary}");
    let mut rest = body.get(find(body, delimiter.as_bytes())?..)?;
    let mut parts = Vec::new();
    loop {
        rest = rest.strip_prefix(delimiter.as_bytes())?;
        if rest.starts_with(b"--") {
            return Some(parts);
        }
        rest = rest.strip_prefix(b"\r\n")?;
        let headers_end = find(rest, b"\r\n\r\n")?;
        let headers = String::from_utf8_lossy(&rest[..headers_end]).into_owned();
        rest = &rest[headers_end + 4..];
        let end = find(rest, format!("\r\n{delimiter}").as_bytes())?;
        parts.push(part(&headers, &rest[..end])?);
        rest = &rest[end + 2..];
    }
}

fn part<'a>(headers: &str, bytes: &'a [u8]) -> Option<Part<'a>> {
    let header = |wanted: &str| {
        headers.split("\r\n").find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.trim()
                .eq_ignore_ascii_case(wanted)
                .then(|| value.trim())
        })
    };
    let disposition = header("content-disposition")?;
    let filename = parameter(disposition, "filename");
    Some(Part {
        name: parameter(disposition, "name")?,
        filename: filename.map(|name| {
            name.rsplit(['/', '\\'])
                .next()
                .unwrap_or_default()
                .to_owned()
        }),
        content_type: header("content-type").map(str::to_owned),
        bytes,
    })
}

/// Returns a parameter of a header, taken out of its quotes.
fn parameter(header: &str, name: &str) -> Option<String> {
    let start = header.find(&format!("; {name}=\""))? + name.len() + 4;
    let mut value = String::new();
    let mut letters = header[start..].chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return Some(value),
            '\\' => value.extend(letters.next()),
            _ => value.push(letter),
        }
    }
    None
}

/// Finds the first place of `wanted`, whose first byte is looked for alone, which is quick on large bodies.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = *wanted.first()?;
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(|byte| *byte == first) {
        at += next;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_read_whatever_its_file_holds() {
        let body =
            b"--b\r\nContent-Disposition: form-data; name=\"expires_in_seconds\"\r\n\r\n3600\r\n\
            --b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a/\\\"x\\\".pdf\"\r\n\
            Content-Type: application/pdf\r\n\r\n%PDF\r\n--\r\n\x00\r\n--b--\r\n";
        let parts = parts(body, "b").unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(
            (parts[0].name.as_str(), parts[0].bytes),
            ("expires_in_seconds", &b"3600"[..])
        );
        assert_eq!(parts[1].filename.as_deref(), Some("\"x\".pdf"));
        assert_eq!(parts[1].content_type.as_deref(), Some("application/pdf"));
        assert_eq!(parts[1].bytes, b"%PDF\r\n--\r\n\x00");
    }

    #[test]
    fn what_has_no_end_is_no_form() {
        let body = b"--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n%PDF";
        assert_eq!(parts(body, "b"), None);
        assert_eq!(
            boundary("multipart/form-data; boundary=\"x y\""),
            Some("x y")
        );
        assert_eq!(boundary("application/json"), None);
    }
}
