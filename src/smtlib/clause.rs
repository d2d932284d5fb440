//! Assertions and their tags.

use yaspar_ir::ast::alg;
use yaspar_ir::traits::Repr;
use yaspar_ir::untyped::{Attribute, Str, Term as Raw};

use super::convert::Meaning;
use super::scan::Piece;
use super::{Reader, push_clause, usage};
use crate::diag::{Diagnostic, Span, nearest};
use crate::policy::{ClauseKind, Section};
use crate::term::Sort;

/// The tags of one clause, each at most once.
pub(super) struct Tags {
    pub(super) name: Option<String>,
    pub(super) kind: ClauseKind,
    pub(super) section: Option<Section>,
    pub(super) cites: Vec<Section>,
    pub(super) source: String,
}

const TAGS: [&str; 5] = [":named", ":section", ":source", ":cites", ":kind"];

impl Reader {
    pub(super) fn assertion(&mut self, term: &Raw, piece: &Piece) {
        let base = piece.range.start;
        let span = Span::new(&self.source, piece.range.clone());
        let (body, attributes): (&Raw, &[Attribute]) = match term.repr() {
            alg::Term::Annotated(body, attributes) => (body, attributes),
            _ => (term, &[]),
        };
        let tags = self.tags(attributes, piece);
        let value = self.convert(body, base);
        let Some(value) = value.filter(|value| self.has_sort(*value, Sort::Bool, body, base))
        else {
            return;
        };
        if let Some(tags) = tags {
            push_clause(&mut self.policy, tags, value, span);
        }
    }

    fn tags(&mut self, attributes: &[Attribute], piece: &Piece) -> Option<Tags> {
        let base = piece.range.start;
        let before = self.faults.len();
        let mut found: Vec<(String, Option<&Str>, Span)> = Vec::new();
        let mut missing_values = Vec::new();
        for attribute in attributes {
            let (keyword, value) = match attribute {
                alg::Attribute::Named(name) => (":named".to_owned(), Some(name)),
                alg::Attribute::Symbol(keyword, value)
                | alg::Attribute::Constant(keyword, alg::Constant::String(value)) => {
                    (keyword.to_string(), Some(value))
                }
                alg::Attribute::Constant(keyword, _) | alg::Attribute::Keyword(keyword) => {
                    (keyword.to_string(), None)
                }
                _ => (":pattern".to_owned(), None),
            };
            let span = match value {
                Some(value) => self.place(base, value),
                None => self.keyword_place(&keyword, piece),
            };
            if !TAGS.contains(&keyword.as_str()) {
                self.unknown_tag(&keyword, self.before(&keyword, &span));
            } else if let Some((_, _, first)) = found.iter().find(|(known, _, _)| *known == keyword)
            {
                self.faults.push(
                    Diagnostic::error("duplicate-tag", format!("`{keyword}` is there twice"))
                        .at(span, "again here")
                        .at(first.clone(), "first here")
                        .hint(match keyword.as_str() {
                            ":section" => "list further labels in `:cites \"a; b\"`",
                            _ => "keep one of them",
                        }),
                );
            } else {
                if value.is_none() {
                    missing_values.push((keyword.clone(), span.clone()));
                }
                found.push((keyword, value, span));
            }
        }
        for (keyword, span) in missing_values {
            let message = format!("`{keyword}` has no value");
            let hint = format!("a clause is written `{}`", usage("assert"));
            self.faults.push(Diagnostic::error("missing-tag", message).at(span, "").hint(hint));
        }
        let unknown = self.faults.iter().skip(before).any(|fault| fault.code == "unknown-tag");
        let tags = self.interpret(&found, piece, unknown);
        (self.faults.len() == before).then_some(tags)
    }

    fn unknown_tag(&mut self, keyword: &str, span: Span) {
        let near = nearest(keyword, TAGS).map(|tag| format!("did you mean `{tag}`?"));
        let hint = near.unwrap_or_else(|| format!("tags are `{}`", TAGS.join("`, `")));
        let message = format!("unknown tag `{keyword}`");
        self.faults.push(Diagnostic::error("unknown-tag", message).at(span, "").hint(hint));
    }

    /// `unknown`: some tag is misspelled, so that one more may only seem to be missing.
    fn interpret(
        &mut self,
        found: &[(String, Option<&Str>, Span)],
        piece: &Piece,
        unknown: bool,
    ) -> Tags {
        let get = |tag: &str| {
            let found = found.iter().find(|(keyword, _, _)| keyword == tag)?;
            Some((found.1?.as_str().to_owned(), found.2.clone()))
        };
        let kind = match get(":kind") {
            None => ClauseKind::Rule,
            Some((word, _)) if word == "range" => ClauseKind::Range,
            Some((word, span)) => {
                let message = format!("unknown kind `{word}`");
                let fault = Diagnostic::error("unknown-tag", message).at(span, "");
                self.faults.push(fault.hint("the only kind is `:kind range`; rules have none"));
                ClauseKind::Rule
            }
        };
        let name = get(":named").and_then(|(name, span)| self.clause_name(name, span));
        let labels = self.label_spans.len();
        let section = get(":section").and_then(|(label, span)| self.label(&label, &span, 0));
        let cites = get(":cites").map_or_else(Vec::new, |(list, span)| self.cites(&list, &span));
        if kind == ClauseKind::Range {
            self.label_spans.truncate(labels);
            for tag in [":section", ":cites"] {
                if let Some((_, span)) = get(tag) {
                    self.faults.push(
                        Diagnostic::error("tagged-range", format!("a range has no `{tag}`"))
                            .at(span, "ranges are always on and never cited")
                            .hint(format!("remove `{tag}`, or `:kind range` if it is a rule")),
                    );
                }
            }
        } else {
            let has = |tag: &str| found.iter().any(|(keyword, _, _)| keyword == tag);
            let missing: Vec<&str> =
                [":named", ":section", ":source"].into_iter().filter(|tag| !has(tag)).collect();
            if !missing.is_empty() && !unknown {
                let list = missing.join("`, no `");
                self.faults.push(
                    Diagnostic::error("missing-tag", format!("this clause has no `{list}`"))
                        .at(Span::new(&self.source, piece.range.clone()), "")
                        .hint(format!("a clause is written `{}`", usage("assert")))
                        .hint("a natural range of numbers is marked `:kind range` instead"),
                );
            }
        }
        let source = get(":source").map_or_else(String::new, |(text, _)| text);
        Tags { name, kind, section, cites, source }
    }

    fn clause_name(&mut self, name: String, span: Span) -> Option<String> {
        if !self.may_declare(&name, &span) {
            return None;
        }
        // A name of a clause is taken, but stands for nothing in a term.
        self.symbols.terms.insert(name.clone(), (Meaning::Broken, span));
        Some(name)
    }

    fn cites(&mut self, list: &str, span: &Span) -> Vec<Section> {
        let mut at = 0;
        let mut labels = Vec::new();
        for part in list.split(';') {
            let lead = part.len() - part.trim_start().len();
            labels.extend(self.label(part.trim(), span, at + lead));
            at += part.len() + 1;
        }
        labels
    }

    /// A label that stands `offset` bytes into the string at `span`.
    fn label(&mut self, label: &str, span: &Span, offset: usize) -> Option<Section> {
        let quoted = self.source.text().get(span.range.clone()).is_some_and(|t| t.starts_with('"'));
        let start = span.range.start + offset + usize::from(quoted);
        let place = Span::new(&self.source, start..start + label.len().max(1));
        if self.source.text().get(place.range.clone()).is_none_or(|text| !text.is_ascii()) {
            // That it is not ASCII was said before anything was parsed.
            return None;
        }
        let odd = label.bytes().find(|byte| !byte.is_ascii_graphic() || b";:*\"`|".contains(byte));
        let message = match odd {
            None if label.is_empty() => "an empty label".to_owned(),
            Some(byte) => format!("`{}` cannot stand in a label", char::from(byte)),
            None => {
                self.label_spans.push((label.to_owned(), place));
                return Some(Section { member: 0, label: label.to_owned() });
            }
        };
        self.faults.push(
            Diagnostic::error("bad-label", message)
                .at(place, "")
                .hint("a label is written as in the text, such as `129(d)(1)`; more in `:cites`"),
        );
        None
    }

    /// Where a keyword without a value stands in a command.
    fn keyword_place(&self, keyword: &str, piece: &Piece) -> Span {
        let text = self.source.text().get(piece.range.clone()).unwrap_or("");
        let start = piece.range.start + text.rfind(keyword).unwrap_or(0);
        Span::new(&self.source, start..start + keyword.len())
    }

    /// Where the keyword before a value stands.
    fn before(&self, keyword: &str, value: &Span) -> Span {
        let text = self.source.text().get(..value.range.start).unwrap_or("");
        match text.trim_end().strip_suffix(keyword) {
            Some(rest) => Span::new(&self.source, rest.len()..rest.len() + keyword.len()),
            None => value.clone(),
        }
    }
}
