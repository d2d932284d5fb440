//! The text of a policy as models read it: which labels it has, where, and in what order.
//!
//! A label is marked once, bold, at the start of its paragraph: `**§129(d)(1)**`.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Source, Span};

/// The text with its labels and headings.
#[derive(Clone, Debug)]
pub struct Document {
    /// Labels in reading order, without the section sign, each with its place.
    pub labels: Vec<(String, Span)>,
    /// Headings in reading order: level and title.
    pub headings: Vec<(usize, String)>,
    /// The text itself.
    pub source: Source,
    /// Position in `labels` by label.
    index: BTreeMap<String, usize>,
}

impl Document {
    /// The place of a label.
    #[must_use]
    pub fn label(&self, label: &str) -> Option<&Span> {
        self.labels.get(*self.index.get(label)?).map(|(_, span)| span)
    }
}

const OPEN: &str = "**§";
const CLOSE: &str = "**";

/// Reads a text and reports labels that are doubled, misspelled or not at the start of a paragraph.
#[must_use]
pub fn read(source: &Source) -> (Document, Vec<Diagnostic>) {
    let mut document = Document {
        labels: Vec::new(),
        headings: Vec::new(),
        source: source.clone(),
        index: BTreeMap::new(),
    };
    let mut faults = Vec::new();
    let mut start = 0;
    let mut fresh = true;
    for line in source.text().split_inclusive('\n') {
        if let Some((level, title)) = heading(line) {
            document.headings.push((level, title.to_owned()));
        }
        for (at, _) in line.match_indices(OPEN) {
            let rest = line.get(at + OPEN.len()..).unwrap_or("");
            let begin = start + at;
            let Some(length) = rest.find(CLOSE) else {
                faults.push(
                    Diagnostic::error("bad-label", "a bold label is not closed")
                        .at(Span::new(source, begin..begin + OPEN.len()), "")
                        .hint("write it as `**§129(d)(1)**`"),
                );
                continue;
            };
            let label = rest.get(..length).unwrap_or("");
            let end = begin + OPEN.len() + length + CLOSE.len();
            let span = Span::new(source, begin..end);
            match fault(&document, label, &span, at == 0 && fresh) {
                Some(fault) => faults.push(fault),
                None => {
                    document.index.insert(label.to_owned(), document.labels.len());
                    document.labels.push((label.to_owned(), span));
                }
            }
        }
        fresh = line.trim().is_empty() || heading(line).is_some();
        start += line.len();
    }
    (document, faults)
}

fn fault(document: &Document, label: &str, span: &Span, starts: bool) -> Option<Diagnostic> {
    let odd = label.bytes().any(|byte| !byte.is_ascii_graphic() || b";:*\"`|".contains(&byte));
    if label.is_empty() || odd {
        return Some(
            Diagnostic::error("bad-label", format!("`{label}` is no label"))
                .at(span.clone(), "")
                .hint("a label is ASCII without spaces, such as `**§129(d)(1)**`"),
        );
    }
    if let Some(first) = document.label(label) {
        return Some(
            Diagnostic::error("duplicate-label", format!("label `{label}` is there twice"))
                .at(span.clone(), "again here")
                .at(first.clone(), "first here")
                .hint("mark each label once; refer to it without bold type"),
        );
    }
    if !starts {
        return Some(
            Diagnostic::error("misplaced-label", format!("label `{label}` starts no paragraph"))
                .at(span.clone(), "")
                .hint("put a blank line before it, or refer to it without bold type"),
        );
    }
    None
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let title = line.trim_start_matches('#');
    let level = line.len() - title.len();
    (1..=6).contains(&level).then_some(())?;
    title.strip_prefix(' ').map(|title| (level, title.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, labels: &[&str], codes: &[&str]) {
        let (document, faults) = read(&Source::new("policy.md", text));
        let found: Vec<&str> = document.labels.iter().map(|(label, _)| label.as_str()).collect();
        assert_eq!(found, labels, "{text}");
        let found: Vec<&str> = faults.iter().map(|fault| fault.code).collect();
        assert_eq!(found, codes, "{text}");
    }

    #[test]
    fn labels_stand_once_and_at_the_start() {
        check("**§1** A.\n\n**§2(a)** B, see §1.\n", &["1", "2(a)"], &[]);
        check("# T\n**§1** A.\nmore\n", &["1"], &[]);
        check("**§1** A.\n\n**§1** B.\n", &["1"], &["duplicate-label"]);
        check("**§1** A.\n**§2** B.\n", &["1"], &["misplaced-label"]);
        check("See **§1** there.\n", &[], &["misplaced-label"]);
        check("**§ 1** A.\n", &[], &["bad-label"]);
        check("**§1 A.\n", &[], &["bad-label"]);
        check("no labels, **bold** words\n", &[], &[]);
    }
}
