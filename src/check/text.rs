//! Labels and headings of a text that the formalization does not reach.

use std::collections::BTreeSet;

use super::Finding;
use crate::diag::{Diagnostic, Span};
use crate::project::Member;

pub(super) fn check(id: &str, member: &Member, found: &mut Vec<Finding>) {
    let used: BTreeSet<&str> =
        member.file.label_spans.iter().map(|(label, _)| label.as_str()).collect();
    for (label, span) in &member.document.labels {
        // A label whose parts have clauses introduces them.
        let below = used.iter().any(|other| {
            other.strip_prefix(label.as_str()).is_some_and(|rest| rest.starts_with(['(', '.']))
        });
        if used.contains(label.as_str()) || below {
            continue;
        }
        let lint = "label-without-clause";
        let diagnostic = Diagnostic::warning(lint, format!("no clause is filed under `{label}`"))
            .at(span.clone(), "")
            .hint(format!("formalize it, name it in `:cites \"{label}\"`, or take off its label"));
        found.push(Finding { lint, at: vec![id.to_owned(), label.clone()], diagnostic });
    }
    headings(id, member, found);
}

fn headings(id: &str, member: &Member, found: &mut Vec<Finding>) {
    let text = member.document.source.text();
    let mut all: Vec<(usize, usize, usize, &str)> = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if (1..=6).contains(&level) && title.starts_with(' ') {
            all.push((level, start, start + line.trim_end().len(), title.trim()));
        }
        start += line.len();
    }
    for (index, (level, from, to, title)) in all.iter().enumerate() {
        let next = all.iter().skip(index + 1).find(|(other, ..)| other <= level);
        let end = next.map_or(text.len(), |(_, start, ..)| *start);
        let inside = |span: &Span| (*to..end).contains(&span.range.start);
        // What stands before the first label is an introduction.
        let first = member.document.labels.first().map_or(0, |(_, span)| span.range.start);
        if end <= first {
            continue;
        }
        if member.document.labels.iter().any(|(_, span)| inside(span)) {
            continue;
        }
        let lint = "heading-without-clause";
        let span = Span::new(&member.document.source, *from..*to);
        let diagnostic = Diagnostic::warning(lint, format!("no label stands under `{title}`"))
            .at(span, "")
            .hint("label its rules and formalize them, or make it plain text");
        found.push(Finding { lint, at: vec![id.to_owned(), (*title).to_owned()], diagnostic });
    }
}
