//! Markdown that is put together from texts of others: what they write must stay theirs.

/// Returns `text` so that Markdown shows it as it is, in one line.
pub(crate) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.trim().chars() {
        match character {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' => {
                escaped.push('\\');
                escaped.push(character);
            }
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '\0' => {}
            _ if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') => {
                if !escaped.ends_with(' ') {
                    escaped.push(' ');
                }
            }
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Most levels of headings that Markdown has.
const DEEPEST: usize = 6;

/// Returns `text` as a part of a larger document: its headings are `levels` deeper, and nothing that it
/// leaves open (a code fence, a piece of HTML) reaches beyond its end. Code stays as it is.
pub(crate) fn as_part(text: &str, levels: usize) -> String {
    let mut part = String::with_capacity(text.len() + 64);
    let mut fence: Option<Fence> = None;
    // Where the line before begins in `part`, when it is one that a line of `=` or `-` makes a heading.
    let mut paragraph: Option<usize> = None;
    for line in text.lines() {
        let begin = part.len();
        if let Some(open) = fence {
            part.push_str(line);
            if open.is_closed_by(line) {
                fence = None;
            }
        } else if let Some(open) = Fence::opened_by(line) {
            part.push_str(line);
            fence = Some(open);
            paragraph = None;
        } else if let Some((level, rest)) = heading(line) {
            push_heading(&mut part, level + levels, rest);
            paragraph = None;
        } else if let Some((at, level)) = paragraph.zip(underline(line)) {
            let title = part.split_off(at);
            push_heading(&mut part, level + levels, title.trim());
            paragraph = None;
        } else {
            push_plain(&mut part, line);
            paragraph = may_become_heading(line).then_some(begin);
        }
        part.push('\n');
    }
    if let Some(open) = fence {
        part.push_str(&open.sign.to_string().repeat(open.length));
        part.push('\n');
    }
    part
}

fn push_heading(part: &mut String, level: usize, rest: &str) {
    part.push_str(&"#".repeat(level.min(DEEPEST)));
    if !rest.is_empty() {
        part.push(' ');
        part.push_str(rest);
    }
}

/// Adds a line in which HTML can't begin: a block of it may run on to the end of the document.
fn push_plain(part: &mut String, line: &str) {
    let rest = line.trim_start_matches([' ', '\t', '>']);
    let begins_html = rest.strip_prefix('<').is_some_and(|inner| {
        inner.starts_with(|first: char| {
            first.is_ascii_alphabetic() || matches!(first, '/' | '!' | '?')
        }) && !inner.starts_with("http")
            && !inner.starts_with("mailto:")
    });
    if begins_html {
        part.push_str(&line[..line.len() - rest.len()]);
        part.push('\\');
        part.push_str(rest);
    } else {
        part.push_str(&line.replace("<!--", "\\<!--"));
    }
}

/// Returns what follows at most three spaces; more of them make a line code.
fn unindented(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(' ');
    (line.len() - rest.len() <= 3).then_some(rest)
}

/// Returns the level and the text of a heading that begins with `#`.
fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = unindented(line)?;
    let title = rest.trim_start_matches('#');
    let level = rest.len() - title.len();
    let is_heading =
        (1..=DEEPEST).contains(&level) && (title.is_empty() || title.starts_with([' ', '\t']));
    is_heading.then(|| (level, title.trim()))
}

/// Returns the level of the heading that a line under a text makes of it.
fn underline(line: &str) -> Option<usize> {
    let rest = unindented(line)?.trim_end();
    let all = |sign: char| !rest.is_empty() && rest.chars().all(|one| one == sign);
    if all('=') {
        Some(1)
    } else {
        all('-').then_some(2)
    }
}

/// Says whether a line of `=` or `-` under this one makes a heading of it.
fn may_become_heading(line: &str) -> bool {
    let Some(rest) = unindented(line) else {
        return false;
    };
    let in_list = rest
        .trim_start_matches(|one: char| one.is_ascii_digit())
        .starts_with(['.', ')'])
        || ["- ", "* ", "+ "]
            .iter()
            .any(|marker| rest.starts_with(marker));
    !rest.trim().is_empty() && !in_list && !rest.starts_with(['>', '|'])
}

/// The line that opened a block of code.
#[derive(Clone, Copy)]
struct Fence {
    sign: char,
    length: usize,
}

impl Fence {
    /// Within a list a fence stands further in, so its indentation does not count.
    fn opened_by(line: &str) -> Option<Self> {
        let rest = line.trim_start();
        let sign = rest
            .chars()
            .next()
            .filter(|sign| matches!(sign, '`' | '~'))?;
        let info = rest.trim_start_matches(sign);
        let length = rest.len() - info.len();
        // What has more of the sign in its line is code within a text.
        (length >= 3 && !(sign == '`' && info.contains('`'))).then_some(Self { sign, length })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let rest = line.trim();
        rest.len() >= self.length && rest.chars().all(|one| one == self.sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_markdown_is_shown_as_it_is() {
        assert_eq!(
            escaped("a|b *c* [d](e) <script>\nnext & \\ #1"),
            "a\\|b \\*c\\* \\[d\\](e) &lt;script&gt; next &amp; \\\\ \\#1"
        );
        assert_eq!(escaped("  報告 تقرير.pdf\0 "), "報告 تقرير.pdf");
    }

    #[test]
    fn headings_go_below_those_of_the_document_but_code_stays() {
        assert_eq!(
            as_part(
                "# One\n```sh\n# a comment\n```\n##### Deep\n    # code\n#hash",
                2
            ),
            "### One\n```sh\n# a comment\n```\n###### Deep\n    # code\n#hash\n"
        );
        assert_eq!(
            as_part(
                "Title\n=====\n\ntext\n---\n\n---\n- item\n---\n| a |\n|---|",
                2
            ),
            "### Title\n\n#### text\n\n---\n- item\n---\n| a |\n|---|\n"
        );
    }

    #[test]
    fn nothing_that_is_left_open_swallows_what_follows() {
        assert_eq!(
            as_part("````\n```\n# still code", 2),
            "````\n```\n# still code\n````\n"
        );
        assert_eq!(
            as_part(
                "<!-- open\n<script>\n<https://example.com> stays, a <!-- too",
                2
            ),
            "\\<!-- open\n\\<script>\n<https://example.com> stays, a \\<!-- too\n"
        );
    }
}
