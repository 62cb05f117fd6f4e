//! Writes an extract as Markdown.

use std::fmt::Write as _;

use super::METHOD;
use super::extract::Extract;
use super::language::Language;
use super::sentence::Sentence;

/// The words around an extract, in one language.
struct Words {
    note: &'static str,
    lead: &'static str,
    key_sentences: &'static str,
    lead_line: &'static str,
    key_lines: &'static str,
    terms: &'static str,
    separator: &'static str,
    untitled: &'static str,
}

const ENGLISH: Words = Words {
    note: "**Offline extract.** These sentences stand word for word in the document; a ranking method picked them on this computer. No language model has read it.",
    lead: "**In one sentence:**",
    key_sentences: "Key sentences",
    lead_line: "**Most telling line:**",
    key_lines: "Key lines",
    terms: "**Frequent terms:**",
    separator: ", ",
    untitled: "Extract",
};

const JAPANESE: Words = Words {
    note: "**オフライン抜粋。** 以下の文は、このコンピューター上で順位付けの手法により文書からそのまま抜き出したものです。言語モデルは文書を読んでいません。",
    lead: "**一文で言うと：**",
    key_sentences: "重要な文",
    lead_line: "**最も重要な行：**",
    key_lines: "重要な行",
    terms: "**よく出る語：**",
    separator: "、",
    untitled: "抜粋",
};

/// Renders an extract. `name` is the file's name; `None` for a text without pages.
pub(super) fn render(extract: &Extract, name: Option<&str>) -> String {
    let words = match extract.language {
        Language::Japanese => &JAPANESE,
        Language::Spaced | Language::Chinese => &ENGLISH,
    };
    let title = match (&extract.title, name) {
        (Some(title), Some(_)) => title.as_str(),
        (None, Some(name)) => stem(name),
        // A prompt's first line is its question rather than a title.
        (_, None) => words.untitled,
    };
    let paged = name.is_some();
    let mut text = String::new();
    // Writing to a string can't fail.
    let _ = writeln!(text, "# {}\n", escape(title));
    let _ = writeln!(text, "> {} ({METHOD})\n", words.note);
    let (lead, heading) = if extract.fragments {
        (words.lead_line, words.key_lines)
    } else {
        (words.lead, words.key_sentences)
    };
    let _ = writeln!(text, "{lead} {}", quote(&extract.lead, paged));
    if !extract.key_sentences.is_empty() {
        let _ = writeln!(text, "\n## {heading}\n");
        for sentence in &extract.key_sentences {
            let _ = writeln!(text, "- {}", quote(sentence, paged));
        }
    }
    if !extract.terms.is_empty() {
        let terms: Vec<String> = extract.terms.iter().map(|term| escape(term)).collect();
        let _ = writeln!(text, "\n{} {}", words.terms, terms.join(words.separator));
    }
    text
}

fn quote(sentence: &Sentence, paged: bool) -> String {
    let text = escape(&sentence.text);
    if paged {
        format!("{text} (p. {})", sentence.page)
    } else {
        text
    }
}

fn stem(name: &str) -> &str {
    match name.rsplit_once('.') {
        Some((stem, "pdf" | "PDF" | "Pdf")) if !stem.is_empty() => stem,
        _ => name,
    }
}

/// Takes its meaning from everything that Markdown would read as a mark.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    for (at, character) in text.char_indices() {
        let anywhere = matches!(
            character,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '$' | '&'
        );
        // A list, a heading or a rule would begin here.
        let at_start = at == 0 && matches!(character, '#' | '-' | '+' | '=' | ':');
        let after_number = at == digits && digits > 0 && matches!(character, '.' | ')');
        if anywhere || at_start || after_number {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_lose_their_meaning() {
        assert_eq!(
            escape("<b> *a* [x](y) `c` &lt; d_e | f"),
            "\\<b\\> \\*a\\* \\[x\\](y) \\`c\\` \\&lt; d\\_e \\| f"
        );
        assert_eq!(escape("# a"), "\\# a");
        assert_eq!(escape("12. a 3. b"), "12\\. a 3. b");
        assert_eq!(
            escape("Plain - text, 1.5 times."),
            "Plain - text, 1.5 times."
        );
    }

    #[test]
    fn names_lose_their_ending() {
        assert_eq!(stem("paper.v2.pdf"), "paper.v2");
        assert_eq!(stem(".pdf"), ".pdf");
        assert_eq!(stem("paper"), "paper");
    }
}
