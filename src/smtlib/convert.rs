//! Parsed terms to typed terms, definitions written out on the way.
//!
//! The walk keeps its own stack, so no term and no chain of definitions can exhaust the machine's; a
//! subterm with a fault has no value, and what contains it stays silent, so each fault is said once.

use std::collections::BTreeMap;
use std::rc::Rc;

use yaspar_ir::ast::alg;
use yaspar_ir::traits::{MetaData, Repr};
use yaspar_ir::untyped::{Constant, QualifiedIdentifier, Str, Term};

use super::operators::{Operator, arguments, operator, refusal};
use crate::diag::{Diagnostic, Source, Span, nearest};
use crate::term::{ConstId, EnumId, Number, Sort, TermId, Terms, read_number};

/// A term with all its definitions written out may have this many nodes.
const NODES: usize = 1_000_000;

/// What a name stands for.
pub(super) enum Meaning {
    Constant(ConstId),
    Constructor(EnumId, u32),
    Definition(TermId),
    Function(Rc<Function>),
    /// Declared, but with a fault that was reported there.
    Broken,
}

/// A `define-fun` with parameters.
pub(super) struct Function {
    pub(super) params: Vec<(String, Sort)>,
    pub(super) body: Term,
    /// Offset in the file of the command the body stands in.
    pub(super) base: usize,
}

/// All names of a file so far.
#[derive(Default)]
pub(super) struct Symbols {
    pub(super) terms: BTreeMap<String, (Meaning, Span)>,
    pub(super) sorts: BTreeMap<String, (Sort, Span)>,
}

/// A term to convert, and what its names mean.
#[derive(Clone, Copy)]
struct At<'t> {
    term: &'t Term,
    base: usize,
    scope: usize,
}

enum Task<'t> {
    Visit(At<'t>),
    Apply(At<'t>, Operator<'t>, Vec<&'t Term>),
    Call(&'t Function),
    Let(At<'t>, &'t [alg::VarBinding<Str, Term>], &'t Term),
}

struct Scope<'t> {
    outer: usize,
    name: &'t str,
    value: Option<TermId>,
}

/// One conversion.
pub(super) struct Converter<'t> {
    source: &'t Source,
    symbols: &'t Symbols,
    pub(super) terms: &'t mut Terms,
    pub(super) faults: &'t mut Vec<Diagnostic>,
    /// Parameters stand for themselves: a product of two of them may still be linear where it is used.
    trial: bool,
    scopes: Vec<Scope<'t>>,
    values: Vec<Option<TermId>>,
}

impl<'t> Converter<'t> {
    pub(super) fn new(
        source: &'t Source,
        symbols: &'t Symbols,
        terms: &'t mut Terms,
        faults: &'t mut Vec<Diagnostic>,
    ) -> Self {
        // Scope 0 is the file; its name is empty and matches nothing.
        let scopes = vec![Scope { outer: 0, name: "", value: None }];
        Self { source, symbols, terms, faults, trial: false, scopes, values: Vec::new() }
    }

    /// Converts a function's body with its parameters as they are.
    pub(super) fn body(mut self, function: &'t Function, params: Vec<TermId>) -> Option<TermId> {
        self.trial = true;
        self.values = params.into_iter().map(Some).collect();
        self.run(vec![Task::Call(function)])
    }

    /// Converts a term that stands in the command at `base`.
    pub(super) fn term(mut self, term: &'t Term, base: usize) -> Option<TermId> {
        self.run(vec![Task::Visit(At { term, base, scope: 0 })])
    }

    fn run(&mut self, mut tasks: Vec<Task<'t>>) -> Option<TermId> {
        let mut nodes = 0;
        while let Some(task) = tasks.pop() {
            match task {
                Task::Visit(at) => {
                    nodes += 1;
                    if nodes > NODES {
                        self.fault(at, "too-large", format!("more than {NODES} parts"))
                            .push_hint("definitions are written out here; use fewer or smaller");
                        return None;
                    }
                    self.visit(at, &mut tasks);
                }
                Task::Apply(at, operator, args) => {
                    let values = self.values.split_off(self.values.len() - args.len());
                    let value = self.apply(at, operator, &args, &values);
                    self.values.push(value);
                }
                Task::Call(function) => {
                    let count = function.params.len();
                    let values = self.values.split_off(self.values.len() - count);
                    let names = function.params.iter().map(|(name, _)| name.as_str());
                    let scope = self.open(0, names.zip(values));
                    tasks.push(Task::Visit(At {
                        term: &function.body,
                        base: function.base,
                        scope,
                    }));
                }
                Task::Let(at, bindings, body) => {
                    let values = self.values.split_off(self.values.len() - bindings.len());
                    let names = bindings.iter().map(|binding| binding.0.as_str());
                    let scope = self.open(at.scope, names.zip(values));
                    tasks.push(Task::Visit(At { term: body, scope, ..at }));
                }
            }
        }
        self.values.pop().flatten()
    }

    fn open(
        &mut self,
        outer: usize,
        pairs: impl Iterator<Item = (&'t str, Option<TermId>)>,
    ) -> usize {
        let mut scope = outer;
        for (name, value) in pairs {
            self.scopes.push(Scope { outer: scope, name, value });
            scope = self.scopes.len() - 1;
        }
        scope
    }

    /// The value of a local name, and whether there is such a name.
    fn local(&self, mut scope: usize, name: &str) -> Option<Option<TermId>> {
        while scope > 0 {
            let found = self.scopes.get(scope)?;
            if found.name == name {
                return Some(found.value);
            }
            scope = found.outer;
        }
        None
    }

    fn visit(&mut self, at: At<'t>, tasks: &mut Vec<Task<'t>>) {
        let (operator, args): (Operator<'t>, Vec<&'t Term>) = match at.term.repr() {
            alg::Term::Constant(constant, _) => {
                let value = self.literal(at, constant);
                return self.values.push(value);
            }
            alg::Term::Global(name, _) => {
                let value = self.name(at, name);
                return self.values.push(value);
            }
            alg::Term::Let(bindings, body) => {
                tasks.push(Task::Let(at, bindings, body));
                for binding in bindings.iter().rev() {
                    tasks.push(Task::Visit(At { term: &binding.2, ..at }));
                }
                return;
            }
            alg::Term::And(args) => (Operator::And, args.iter().collect()),
            alg::Term::Or(args) => (Operator::Or, args.iter().collect()),
            alg::Term::Xor(args) => (Operator::Xor, args.iter().collect()),
            alg::Term::Not(arg) => (Operator::Not, vec![arg]),
            alg::Term::Implies(args, last) => {
                (Operator::Implies, args.iter().chain([last]).collect())
            }
            alg::Term::Eq(a, b) => (Operator::Equal, vec![a, b]),
            alg::Term::Distinct(args) => (Operator::Distinct, args.iter().collect()),
            alg::Term::Ite(a, b, c) => (Operator::Ite, vec![a, b, c]),
            alg::Term::App(head, args, _) => match self.head(at, head, args, tasks) {
                Some(operator) => (operator, args.iter().collect()),
                None => return,
            },
            other => {
                let (what, hint) = refused(other);
                self.fault(at, "refused-term", format!("{what} outside the fragment"))
                    .push_hint(hint);
                return self.values.push(None);
            }
        };
        tasks.push(Task::Apply(at, operator, args.clone()));
        for arg in args.into_iter().rev() {
            tasks.push(Task::Visit(At { term: arg, ..at }));
        }
    }

    /// The operator of an application; a call of a defined function becomes tasks instead.
    fn head(
        &mut self,
        at: At<'t>,
        head: &'t QualifiedIdentifier,
        args: &'t [Term],
        tasks: &mut Vec<Task<'t>>,
    ) -> Option<Operator<'t>> {
        let word = head.0.symbol.as_str();
        if let Some(operator) = operator(&head.0) {
            return Some(operator);
        }
        let symbols = self.symbols;
        let function = match symbols.terms.get(word) {
            Some((Meaning::Function(function), _)) if head.0.indices.is_empty() => Some(function),
            _ => None,
        };
        let Some(function) = function else {
            self.no_function(at, head);
            self.values.push(None);
            return None;
        };
        if function.params.len() != args.len() {
            self.arity(at, word, function, args.len());
            self.values.push(None);
            return None;
        }
        tasks.push(Task::Call(function));
        let sorts: Vec<Sort> = function.params.iter().map(|(_, sort)| *sort).collect();
        for (arg, sort) in args.iter().zip(sorts).rev() {
            tasks.push(Task::Apply(at, Operator::Argument(word, sort), vec![arg]));
            tasks.push(Task::Visit(At { term: arg, ..at }));
        }
        None
    }

    fn no_function(&mut self, at: At<'t>, head: &QualifiedIdentifier) {
        let word = head.0.symbol.as_str();
        let indexed = !head.0.indices.is_empty();
        let known = self.symbols.terms.get(word);
        if matches!(known, Some((Meaning::Broken, _))) {
            return;
        }
        if let (Some(hint), None) = (refusal(word, indexed), known) {
            self.fault(at, "refused-term", format!("`{word}` is outside the fragment"))
                .push_hint(hint);
        } else if known.is_some() || self.local(at.scope, word).is_some() {
            self.fault(at, "arity", format!("`{word}` takes no arguments"))
                .push_hint(format!("write `{word}` without parentheses"));
        } else {
            let names = self.functions();
            let near = nearest(word, names.iter().copied()).map(str::to_owned);
            let fault = self.fault(at, "unknown-name", format!("unknown function `{word}`"));
            fault.push_hint(did_you_mean(near, "define it with `define-fun` above its first use"));
        }
    }

    fn arity(&mut self, at: At<'t>, word: &str, function: &Function, found: usize) {
        let names: Vec<&str> = function.params.iter().map(|(name, _)| name.as_str()).collect();
        let message = format!("`{word}` takes {}, not {found}", arguments(names.len()));
        self.fault(at, "arity", message).push_hint(format!("write `({word} {})`", names.join(" ")));
    }

    fn functions(&self) -> Vec<&'t str> {
        let symbols = self.symbols;
        let own = symbols.terms.iter().filter_map(|(name, (meaning, _))| match meaning {
            Meaning::Function(_) => Some(name.as_str()),
            _ => None,
        });
        own.chain(super::operators::WORDS.iter().copied()).collect()
    }

    fn literal(&mut self, at: At<'t>, constant: &Constant) -> Option<TermId> {
        // The digits as written: exact whatever their number.
        let number = |this: &Self| {
            let span = this.span(at.term, at.base);
            span.source.text().get(span.range).and_then(read_number)
        };
        match constant {
            alg::Constant::Bool(truth) => Some(self.terms.bool(*truth)),
            alg::Constant::Numeral(_) => Some(self.number(number(self)?, Sort::Int)),
            alg::Constant::Decimal(_) => Some(self.number(number(self)?, Sort::Real)),
            alg::Constant::String(_)
            | alg::Constant::Binary(..)
            | alg::Constant::Hexadecimal(..) => {
                self.fault(at, "refused-term", "strings and bit-vectors are outside the fragment")
                    .push_hint("use an enumeration (`declare-datatypes`) or an Int");
                None
            }
        }
    }

    fn number(&mut self, number: Number, sort: Sort) -> TermId {
        self.terms.number(number, sort)
    }

    fn name(&mut self, at: At<'t>, name: &'t QualifiedIdentifier) -> Option<TermId> {
        let word = name.0.symbol.as_str();
        if !name.0.indices.is_empty() {
            let tester = "testers are applied: `((_ is constructor) term)`";
            let hint = if word == "is" { Some(tester) } else { refusal(word, true) };
            self.fault(at, "refused-term", format!("`(_ {word} …)` is outside the fragment"))
                .push_hint(hint.unwrap_or(tester));
            return None;
        }
        if let Some(value) = self.local(at.scope, word) {
            return value;
        }
        let symbols = self.symbols;
        match symbols.terms.get(word).map(|(meaning, _)| meaning) {
            Some(Meaning::Constant(id)) => Some(self.terms.constant_term(*id)),
            Some(Meaning::Constructor(id, at)) => Some(self.terms.ctor(*id, *at)),
            Some(Meaning::Definition(term)) => Some(*term),
            Some(Meaning::Broken) => None,
            Some(Meaning::Function(function)) => {
                self.arity(at, word, function, 0);
                None
            }
            None => {
                self.unknown(at, word);
                None
            }
        }
    }

    fn unknown(&mut self, at: At<'t>, word: &str) {
        if let Some(digits) = word.strip_prefix('-').filter(|rest| read_number(rest).is_some()) {
            self.fault(at, "unknown-name", format!("`{word}` is a name, not a number"))
                .push_hint(format!("write `(- {digits})`"));
            return;
        }
        let symbols = self.symbols;
        let near = nearest(word, symbols.terms.keys().map(String::as_str)).map(str::to_owned);
        self.fault(at, "unknown-name", format!("unknown name `{word}`"))
            .push_hint(did_you_mean(near, "declare it above with `declare-const`"));
    }

    pub(super) fn span(&self, term: &Term, base: usize) -> Span {
        let range = term.meta_data();
        Span::new(self.source, base + range.start.char_num..base + range.end.char_num)
    }

    fn fault(&mut self, at: At<'t>, code: &'static str, message: impl Into<String>) -> Pushed<'_> {
        let span = self.span(at.term, at.base);
        self.push(Diagnostic::error(code, message).at(span, ""))
    }

    fn push(&mut self, fault: Diagnostic) -> Pushed<'_> {
        self.faults.push(fault);
        Pushed(self.faults)
    }

    fn apply(
        &mut self,
        at: At<'t>,
        operator: Operator<'t>,
        args: &[&'t Term],
        values: &[Option<TermId>],
    ) -> Option<TermId> {
        let spans: Vec<Span> = args.iter().map(|arg| self.span(arg, at.base)).collect();
        let whole = self.span(at.term, at.base);
        let mut faults = Vec::new();
        let mut context =
            super::operators::Context { terms: self.terms, faults: &mut faults, whole, spans };
        let good: Option<Vec<TermId>> = values.iter().copied().collect();
        let value = match good {
            Some(values) => context.apply(operator, &values, self.symbols),
            None => {
                context.despite_faults(operator, values);
                None
            }
        };
        if self.trial {
            faults.retain(|fault| !matches!(fault.code, "non-linear" | "division"));
        }
        self.faults.append(&mut faults);
        value
    }
}

/// The fault just pushed, to add to.
pub(super) struct Pushed<'f>(&'f mut Vec<Diagnostic>);

impl Pushed<'_> {
    fn push_hint(self, hint: impl Into<String>) {
        if let Some(fault) = self.0.last_mut() {
            fault.hints.push(hint.into());
        }
    }
}

/// A suggestion, or else what to do.
pub(super) fn did_you_mean(near: Option<String>, otherwise: &str) -> String {
    near.map_or_else(|| otherwise.to_owned(), |name| format!("did you mean `{name}`?"))
}

fn refused(term: &alg::Term<Str, yaspar_ir::untyped::Sort, Term>) -> (&'static str, &'static str) {
    match term {
        alg::Term::Exists(..) | alg::Term::Forall(..) => {
            ("quantifiers are", "write the cases out; a policy here is quantifier-free")
        }
        alg::Term::Matching(..) => ("`match` is", "use `ite` and `(= x constructor)`"),
        alg::Term::Annotated(..) => (
            "an annotation inside a term is",
            "attributes belong on the whole assertion: `(assert (! term :named …))`",
        ),
        _ => ("this term is", "write it with the operators of the fragment"),
    }
}
