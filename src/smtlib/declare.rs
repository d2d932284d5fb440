//! Declarations and definitions: enumerations, constants, macros and imports.

use std::ops::Range;
use std::rc::Rc;

use yaspar_ir::ast::alg;
use yaspar_ir::traits::Repr;
use yaspar_ir::untyped::{Attribute, DatatypeDec, FunctionDef, Sort as RawSort, Str, Term as Raw};

use super::convert::{Converter, Function, Meaning, did_you_mean};
use super::operators::is_reserved;
use super::scan::DEPTH;
use super::{Import, Reader};
use crate::diag::{Diagnostic, Span, nearest};
use crate::policy::Declared;
use crate::term::{Sort, TermId};

impl Reader {
    /// Whether a name may be declared here; if not, why is reported.
    pub(super) fn may_declare(&mut self, name: &str, span: &Span) -> bool {
        let fault = if is_reserved(name) {
            Diagnostic::error("reserved-name", format!("`{name}` has a fixed meaning"))
                .at(span.clone(), "")
                .hint("choose another name")
        } else if !is_plain(name) {
            Diagnostic::error("odd-name", format!("`{name}` is not a plain name"))
                .at(span.clone(), "")
                .hint("use letters, digits, `_` and `-`, a letter or `_` first")
        } else {
            let sort = self.symbols.sorts.get(name).map(|(_, place)| place);
            let term = self.symbols.terms.get(name).map(|(_, place)| place);
            match sort.or(term) {
                None => return true,
                Some(first) => {
                    Diagnostic::error("duplicate-name", format!("`{name}` is declared twice"))
                        .at(span.clone(), "again here")
                        .at(first.clone(), "first here")
                        .hint("choose another name for one of them")
                }
            }
        };
        self.faults.push(fault);
        false
    }

    /// Remembers a name whose declaration has a fault, so that its uses are no faults of their own.
    pub(super) fn broken(&mut self, name: &Str, base: usize) {
        let span = self.place(base, name);
        self.symbols.terms.entry(name.to_string()).or_insert((Meaning::Broken, span));
    }

    fn bind(&mut self, name: &str, meaning: Meaning, span: Span) {
        self.symbols.terms.insert(name.to_owned(), (meaning, span));
    }

    fn sort(&mut self, sort: &RawSort, base: usize) -> Option<Sort> {
        let alg::Sort(name, args) = sort.repr();
        let word = name.symbol.as_str();
        let plain = name.indices.is_empty() && args.is_empty();
        match word {
            "Bool" if plain => return Some(Sort::Bool),
            "Int" if plain => return Some(Sort::Int),
            "Real" if plain => return Some(Sort::Real),
            _ => {}
        }
        if let Some((sort, _)) = self.symbols.sorts.get(word).filter(|_| plain) {
            return Some(*sort);
        }
        let span = self.place(base, sort);
        let fixed = ["Bool", "Int", "Real"];
        let known = self.symbols.sorts.keys().map(String::as_str).chain(fixed);
        let near = nearest(word, known).map(str::to_owned);
        let fault = if is_reserved(word) && !fixed.contains(&word) {
            Diagnostic::error("refused-sort", format!("sort `{word}` is outside the fragment"))
                .hint("sorts are Bool, Int, Real and enumerations (`declare-datatypes`)")
        } else {
            Diagnostic::error("unknown-sort", format!("unknown sort `{word}`"))
                .hint(did_you_mean(near, "declare it above with `declare-datatypes`"))
        };
        self.faults.push(fault.at(span, ""));
        None
    }

    pub(super) fn enumeration(&mut self, name: &Str, body: &DatatypeDec, base: usize) {
        let span = self.place(base, name);
        if !body.params.is_empty() {
            let fault = Diagnostic::error("refused-sort", "a sort with parameters")
                .at(span.clone(), "")
                .hint("an enumeration is a plain list: `((first) (second))`");
            self.faults.push(fault);
        }
        let mut good = self.may_declare(name.as_str(), &span);
        let mut values: Vec<(String, Span)> = Vec::new();
        for constructor in &body.constructors {
            let word = constructor.ctor.as_str();
            let place = self.place(base, &constructor.ctor);
            if !constructor.args.is_empty() {
                let message = format!("constructor `{word}` has fields");
                let fault = Diagnostic::error("refused-sort", message)
                    .at(place.clone(), "")
                    .hint("values of an enumeration are plain names; declare fields as constants");
                self.faults.push(fault);
            }
            if let Some((_, first)) = values.iter().find(|(known, _)| known == word) {
                let message = format!("`{word}` is declared twice");
                let fault = Diagnostic::error("duplicate-name", message)
                    .at(place, "again here")
                    .at(first.clone(), "first here")
                    .hint("choose another name for one of them");
                self.faults.push(fault);
            } else if self.may_declare(word, &place) {
                values.push((word.to_owned(), place));
            } else {
                good = false;
            }
        }
        let words = values.iter().map(|(word, _)| word.clone()).collect();
        let id = self.policy.terms.declare_enumeration(name.as_str(), words);
        let places = values.iter().map(|(_, place)| place.clone()).collect();
        self.enumerations.push((id, span.clone(), places));
        if good {
            self.symbols.sorts.insert(name.to_string(), (Sort::Enum(id), span));
        }
        for (at, (word, place)) in (0_u32..).zip(values) {
            self.bind(&word, Meaning::Constructor(id, at), place);
        }
    }

    pub(super) fn constant(&mut self, name: &Str, sort: &RawSort, base: usize) {
        let span = self.place(base, name);
        let sort = self.sort(sort, base);
        let free = self.may_declare(name.as_str(), &span);
        let (Some(sort), true) = (sort, free) else {
            return self.broken(name, base);
        };
        let id = self.policy.terms.declare(name.as_str(), sort);
        let term = self.policy.terms.constant_term(id);
        let local = name.to_string();
        self.policy.names.insert(local.clone(), term);
        self.bind(name.as_str(), Meaning::Constant(id), span.clone());
        self.policy.declared.push(Declared { member: 0, local, askable: false, span });
    }

    pub(super) fn definition(&mut self, name: &Str, sort: &RawSort, term: &Raw, base: usize) {
        let span = self.place(base, name);
        let sort = self.sort(sort, base);
        let value = self.convert(term, base);
        let free = self.may_declare(name.as_str(), &span);
        let good = match (sort, value) {
            (Some(sort), Some(value)) => self.has_sort(value, sort, term, base).then_some(value),
            _ => None,
        };
        let (Some(value), true) = (good, free) else {
            return self.broken(name, base);
        };
        self.policy.names.insert(name.to_string(), value);
        self.bind(name.as_str(), Meaning::Definition(value), span);
    }

    pub(super) fn function(&mut self, function: &FunctionDef, base: usize) {
        let name = &function.name;
        let span = self.place(base, name);
        let out = self.sort(&function.out_sort, base);
        let mut params: Vec<(String, Sort)> = Vec::new();
        let mut good = self.may_declare(name.as_str(), &span);
        for binding in &function.vars {
            let (word, place) = (binding.0.as_str(), self.place(base, &binding.0));
            if params.iter().any(|(known, _)| known == word) {
                let message = format!("parameter `{word}` is there twice");
                let fault = Diagnostic::error("duplicate-name", message).at(place, "");
                self.faults.push(fault.hint("rename one of them"));
                good = false;
            }
            match self.sort(&binding.2, base) {
                Some(sort) => params.push((word.to_owned(), sort)),
                None => good = false,
            }
        }
        let (Some(out), true) = (out, good) else {
            return self.broken(name, base);
        };
        let made = Function { params, body: function.body.clone(), base };
        // Try it once on parameters that stand for themselves, in an arena that is thrown away: so a
        // fault of the body is reported here and once, not at every use.
        let mut arena = self.policy.terms.clone();
        let stand_ins: Vec<TermId> = made
            .params
            .iter()
            .map(|(param, sort)| {
                let id = arena.declare(param, *sort);
                arena.constant_term(id)
            })
            .collect();
        let before = self.faults.len();
        let body = Converter::new(&self.source, &self.symbols, &mut arena, &mut self.faults)
            .body(&made, stand_ins);
        if let Some(body) = body.filter(|body| arena.sort(*body) != out) {
            let found = arena.sort_name(arena.sort(body));
            let message = format!("`{}` is said to be {}", name.as_str(), arena.sort_name(out));
            let fault = Diagnostic::error("sort-mismatch", message)
                .at(self.place(base, &function.body), format!("but this is {found}"))
                .hint("change the sort or the term");
            self.faults.push(fault);
        }
        if self.faults.len() > before {
            return self.broken(name, base);
        }
        self.bind(name.as_str(), Meaning::Function(Rc::new(made)), span);
    }

    /// Converts a term of the command at `base`.
    pub(super) fn convert(&mut self, term: &Raw, base: usize) -> Option<TermId> {
        let terms = &mut self.policy.terms;
        let value = Converter::new(&self.source, &self.symbols, terms, &mut self.faults)
            .term(term, base)?;
        if self.depth(value) <= DEPTH {
            return Some(value);
        }
        let message = format!("nested more than {DEPTH} deep with its definitions written out");
        let fault = Diagnostic::error("too-deep", message)
            .at(self.place(base, term), "")
            .hint("declare a constant for an inner part and define it by a clause of its own");
        self.faults.push(fault);
        None
    }

    /// Nesting of a term: arguments come before what uses them, so one pass over the new terms does.
    fn depth(&mut self, term: TermId) -> usize {
        for index in self.depths.len()..self.policy.terms.len() {
            let id = TermId(u32::try_from(index).unwrap_or(u32::MAX));
            let args = self.policy.terms.args(id);
            let below = args.iter().filter_map(|arg| self.depths.get(arg.index())).max();
            self.depths.push(below.map_or(1, |deepest| deepest + 1));
        }
        self.depths.get(term.index()).map_or(0, |depth| *depth as usize)
    }

    pub(super) fn has_sort(&mut self, term: TermId, sort: Sort, raw: &Raw, base: usize) -> bool {
        let terms = &self.policy.terms;
        if terms.sort(term) == sort {
            return true;
        }
        let (expected, found) = (terms.sort_name(sort), terms.sort_name(terms.sort(term)));
        let fault = Diagnostic::error("sort-mismatch", format!("{expected} is needed here"))
            .at(self.place(base, raw), format!("this is {found}"))
            .hint("change the sort or the term");
        self.faults.push(fault);
        false
    }

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
}

/// The words of a text with their offsets.
pub(super) fn words(text: &str) -> impl Iterator<Item = (&str, usize)> {
    let start = text.as_ptr() as usize;
    text.split_whitespace().map(move |word| (word, word.as_ptr() as usize - start))
}

/// Letters, digits, `_` and `-`, no digit or `-` first: what rows, TOML keys and command lines take too.
fn is_plain(name: &str) -> bool {
    let first = name.bytes().next().unwrap_or(b'0');
    (first.is_ascii_alphabetic() || first == b'_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
