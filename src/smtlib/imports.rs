//! Imports: what `(set-info :imports "irs-152: name name; irs-213: name")` says.

use std::ops::Range;

use yaspar_ir::ast::alg;
use yaspar_ir::untyped::Attribute;

use super::convert::Meaning;
use super::{Import, Reader};
use crate::diag::{Diagnostic, Span, nearest};

impl Reader {
    pub(super) fn set_info(&mut self, info: &Attribute, base: usize, head: &Range<usize>) {
        let (keyword, value) = match info {
            alg::Attribute::Constant(keyword, alg::Constant::String(value)) => {
                (keyword.to_string(), Some(value))
            }
            alg::Attribute::Constant(keyword, _)
            | alg::Attribute::Symbol(keyword, _)
            | alg::Attribute::Keyword(keyword) => (keyword.to_string(), None),
            _ => return,
        };
        match (keyword.as_str(), value) {
            (":imports", Some(list)) => {
                let span = self.place(base, list);
                // The place holds the quotes.
                let text = list.as_str().to_owned();
                self.import(&text, span.range.start + 1);
            }
            (":imports", None) => {
                let fault = Diagnostic::error("bad-imports", "`:imports` takes a string")
                    .at(Span::new(&self.source, head.clone()), "")
                    .hint(format!("it is written `{}`", super::usage("set-info")));
                self.faults.push(fault);
            }
            (other, _) if nearest(other, [":imports"]).is_some() => {
                let fault = Diagnostic::error("bad-imports", format!("unknown info `{other}`"))
                    .at(Span::new(&self.source, head.clone()), "")
                    .hint("did you mean `:imports`?");
                self.faults.push(fault);
            }
            _ => {}
        }
    }

    fn import(&mut self, list: &str, start: usize) {
        let span = |at: usize, len: usize| Span::new(&self.source, start + at..start + at + len);
        let mut faults = Vec::new();
        let mut at = 0;
        for part in list.split(';') {
            let place = at;
            at += part.len() + 1;
            let Some((policy, names)) = part.split_once(':').filter(|(p, _)| !p.trim().is_empty())
            else {
                if !part.trim().is_empty() || list.trim().is_empty() {
                    let lead = part.len() - part.trim_start().len();
                    faults.push(
                        Diagnostic::error("bad-imports", "an import names a policy, then `:`")
                            .at(span(place + lead, part.trim().len().max(1)), "")
                            .hint("write `irs-152: name name; irs-213: name`"),
                    );
                }
                continue;
            };
            let lead = policy.len() - policy.trim_start().len();
            let home = span(place + lead, policy.trim().len());
            let offset = place + policy.len() + 1;
            let names = words(names).map(|(word, at)| (word, span(offset + at, word.len())));
            let names: Vec<_> = names.map(|(word, place)| (word.to_owned(), place)).collect();
            let earlier = self.imports.iter().flat_map(|import| &import.names);
            let earlier: Vec<(String, Span)> = earlier.chain(&names).cloned().collect();
            for (index, (name, place)) in names.iter().enumerate() {
                let until = earlier.len() - names.len() + index;
                let first = earlier.iter().take(until).find(|(known, _)| known == name);
                if let Some((_, first)) = first {
                    let message = format!("`{name}` is imported twice");
                    faults.push(
                        Diagnostic::error("bad-imports", message)
                            .at(place.clone(), "again here")
                            .at(first.clone(), "first here")
                            .hint("keep the policy that declares it"),
                    );
                }
            }
            if names.is_empty() {
                let fault = Diagnostic::error("bad-imports", "nothing is imported")
                    .at(home.clone(), "from this policy")
                    .hint("list the names after the colon, or remove the policy");
                faults.push(fault);
            }
            self.imports.push(Import { policy: policy.trim().to_owned(), names, span: home });
        }
        self.faults.append(&mut faults);
    }

    pub(super) fn missing_imports(&mut self) {
        for import in &self.imports {
            for (name, span) in &import.names {
                let known = self.symbols.sorts.contains_key(name)
                    || matches!(
                        self.symbols.terms.get(name),
                        Some((Meaning::Constant(_) | Meaning::Broken, _))
                    );
                if !known {
                    let message = format!("`{name}` is imported but not declared");
                    self.faults.push(
                        Diagnostic::error("import-undeclared", message)
                            .at(span.clone(), "")
                            .hint(format!("declare it here again, as `{}` does", import.policy)),
                    );
                }
            }
        }
    }
}

/// The words of a text with their offsets.
fn words(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let start = text.as_ptr() as usize;
    text.split_whitespace().map(move |word| (word, word.as_ptr() as usize - start))
}
