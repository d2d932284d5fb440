//! SMT-LIB text through the parser library to a policy, collecting every fault with its span; and
//! policies back to text.
//!
//! Nothing else knows the parser library. It gives untyped terms with places; sorts, names and the
//! fragment (quantifier-free, linear, finite enumerations) are checked here, by the constructors of
//! [`Terms`]. Each command is parsed by itself, so that a fault in one hides none in another.

use std::collections::BTreeMap;
use std::ops::Range;

use yaspar::ast::GrammarError;
use yaspar_ir::ast::alg;
use yaspar_ir::traits::{MetaData, Repr};
use yaspar_ir::untyped::{Command, UntypedAst};

use crate::diag::{Diagnostic, Source, Span, nearest};
use crate::policy::{Clause, Policy};
use crate::term::{EnumId, Terms};

mod clause;
mod convert;
mod declare;
mod operators;
mod print;
mod scan;

pub use print::{TagStyle, print_policy, print_term, symbol};

use clause::Tags;
use convert::{Meaning, Symbols};

/// Names that a file takes over from one other policy.
#[derive(Clone, Debug)]
pub struct Import {
    /// Id of the policy that declares them.
    pub policy: String,
    /// The constants and enumerations, each with its place.
    pub names: Vec<(String, Span)>,
    /// The policy's id in the list of imports.
    pub span: Span,
}

/// One `policy.smt2` as its author wrote it.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    /// The policy, with itself as its only member; imported constants are declared in it like others.
    /// Labels and what may be asked are filled in when text and vocabulary are known.
    pub policy: Policy,
    /// What it imports, in the order written.
    pub imports: Vec<Import>,
    /// Where each enumeration is declared, and each of its values.
    pub enumerations: Vec<(EnumId, Span, Vec<Span>)>,
    /// Where each label is used: by clause, `:section` first, then `:cites`.
    pub label_spans: Vec<(String, Span)>,
    /// The file.
    pub source: Source,
}

/// Reads one file. Faults of severity `Error` mean that the policy is not to be used; it holds what could
/// be read, so that later checks can report more.
#[must_use]
pub fn read(id: &str, source: &Source) -> (PolicyFile, Vec<Diagnostic>) {
    let mut reader = Reader::new(id, source);
    let text = scan::ascii(source, &mut reader.faults);
    let pieces = scan::commands(source, &text, &mut reader.faults);
    for piece in pieces {
        reader.command(&text, &piece);
    }
    reader.finish()
}

/// What has been read of a file so far.
struct Reader {
    source: Source,
    policy: Policy,
    imports: Vec<Import>,
    enumerations: Vec<(EnumId, Span, Vec<Span>)>,
    label_spans: Vec<(String, Span)>,
    symbols: Symbols,
    /// Names of clauses, which share one space with all other names.
    logic: Option<Span>,
    depths: Vec<u32>,
    faults: Vec<Diagnostic>,
}

/// Commands that only print something; a policy file may end with them.
const PRINTING: [&str; 11] = [
    "check-sat",
    "exit",
    "get-assertions",
    "get-assignment",
    "get-info",
    "get-model",
    "get-option",
    "get-proof",
    "get-unsat-assumptions",
    "get-unsat-core",
    "get-value",
];

/// Commands that a policy is made of, each as it is written.
const USAGE: [(&str, &str); 9] = [
    ("assert", "(assert (! TERM :named NAME :section \"LABEL\" :source \"PARAPHRASE\"))"),
    ("declare-const", "(declare-const NAME SORT)"),
    ("declare-datatype", "(declare-datatype SORT ((VALUE) (VALUE)))"),
    ("declare-datatypes", "(declare-datatypes ((SORT 0)) (((VALUE) (VALUE))))"),
    ("declare-fun", "(declare-fun NAME () SORT)"),
    ("define-const", "(define-const NAME SORT TERM)"),
    ("define-fun", "(define-fun NAME ((PARAMETER SORT)) SORT TERM)"),
    ("set-info", "(set-info :imports \"POLICY: NAME NAME; POLICY: NAME\")"),
    ("set-logic", "(set-logic ALL)"),
];

/// Commands of SMT-LIB that a policy must not use, each with a way out.
const REFUSED: [(&str, &str); 11] = [
    ("push", "write the assertions without levels"),
    ("pop", "write the assertions without levels"),
    ("reset", "remove it"),
    ("reset-assertions", "remove it"),
    ("echo", "use a comment: `; …`"),
    ("check-sat-assuming", "remove it; `(check-sat)` is allowed"),
    ("declare-sort", "declare an enumeration with `declare-datatypes`"),
    ("declare-sort-parameter", "declare an enumeration with `declare-datatypes`"),
    ("define-sort", "write the sort itself: Bool, Int, Real or an enumeration"),
    ("define-fun-rec", "definitions are written out, so they cannot be recursive"),
    ("define-funs-rec", "definitions are written out, so they cannot be recursive"),
];

impl Reader {
    fn new(id: &str, source: &Source) -> Self {
        let policy = Policy {
            id: id.to_owned(),
            members: vec![id.to_owned()],
            terms: Terms::new(),
            declared: Vec::new(),
            clauses: Vec::new(),
            names: BTreeMap::new(),
            labels: vec![Vec::new()],
        };
        Self {
            source: source.clone(),
            policy,
            imports: Vec::new(),
            enumerations: Vec::new(),
            label_spans: Vec::new(),
            symbols: Symbols::default(),
            logic: None,
            depths: Vec::new(),
            faults: Vec::new(),
        }
    }

    fn command(&mut self, text: &str, piece: &scan::Piece) {
        let head = text.get(piece.head.clone()).unwrap_or("");
        let place = Span::new(&self.source, piece.head.clone());
        if PRINTING.contains(&head) {
            return;
        }
        if head == "set-option" {
            let fault = Diagnostic::warning("ignored-option", "`set-option` is ignored")
                .at(place, "")
                .hint("remove it; limits of the solver stand in deogen.toml under `[limits]`");
            return self.faults.push(fault);
        }
        if let Some((_, hint)) = REFUSED.iter().find(|(name, _)| *name == head) {
            let message = format!("`{head}` is outside the fragment");
            let fault = Diagnostic::error("refused-command", message).at(place, "").hint(*hint);
            return self.faults.push(fault);
        }
        let Some((_, usage)) = USAGE.iter().find(|(name, _)| *name == head) else {
            let near = nearest(head, USAGE.iter().map(|(name, _)| *name)).map(str::to_owned);
            let known = USAGE.map(|(name, _)| name).join("`, `");
            let hint = convert::did_you_mean(near, &format!("a policy is made of `{known}`"));
            let fault = Diagnostic::error("unknown-command", format!("unknown command `{head}`"));
            return self.faults.push(fault.at(place, "").hint(hint));
        };
        let base = piece.range.start;
        match UntypedAst.parse_command_str(text.get(piece.range.clone()).unwrap_or("")) {
            Ok(command) => self.dispatch(&command, piece),
            Err(error) => {
                let mut places = Vec::new();
                let mut grammar = None;
                let _ = error
                    .map_location(|position| places.push(base + position.char_num))
                    .map_error(|error| grammar = Some(grammar_fault(error)));
                let fault = self.syntax_fault(&places, grammar, base, usage);
                self.faults.push(fault);
            }
        }
    }

    fn syntax_fault(
        &self,
        places: &[usize],
        grammar: Option<(String, Range<usize>)>,
        base: usize,
        usage: &str,
    ) -> Diagnostic {
        if let Some((message, range)) = grammar {
            let span = Span::new(&self.source, base + range.start..base + range.end);
            let hint = match message.contains("`=` takes") {
                true => "write `(and (= a b) (= b c))`".to_owned(),
                false => format!("it is written `{usage}`"),
            };
            return Diagnostic::error("syntax", message).at(span, "").hint(hint);
        }
        let start = places.first().copied().unwrap_or(base);
        let end = places.get(1).copied().unwrap_or(start + 1);
        let found = self.source.text().get(start..end).unwrap_or("");
        let message = match found {
            ")" => "something is missing before this `)`".to_owned(),
            _ => format!("`{found}` cannot stand here"),
        };
        Diagnostic::error("syntax", message)
            .at(Span::new(&self.source, start..end), "")
            .hint(format!("it is written `{usage}`"))
    }

    fn dispatch(&mut self, command: &Command, piece: &scan::Piece) {
        let base = piece.range.start;
        match command.repr() {
            alg::Command::SetLogic(logic) => {
                let span = self.place(base, logic);
                self.set_logic(logic.as_str(), span);
            }
            alg::Command::SetInfo(attribute) => self.set_info(attribute, base, &piece.head),
            alg::Command::DeclareDatatype(name, body) => self.enumeration(name, body, base),
            alg::Command::DeclareDatatypes(all) => {
                for one in all {
                    self.enumeration(&one.name, &one.dec, base);
                }
            }
            alg::Command::DeclareConst(name, sort) => self.constant(name, sort, base),
            alg::Command::DeclareFun(name, args, sort) if args.is_empty() => {
                self.constant(name, sort, base);
            }
            alg::Command::DeclareFun(name, ..) => {
                let span = self.place(base, name);
                let message = format!("`{}` takes arguments", name.as_str());
                self.broken(name, base);
                self.faults.push(
                    Diagnostic::error("refused-command", message)
                        .at(span, "an uninterpreted function")
                        .hint("declare a constant for each case, or use `define-fun`"),
                );
            }
            alg::Command::DefineConst(name, sort, term) => {
                self.definition(name, sort, term, base);
            }
            alg::Command::DefineFun(function) if function.vars.is_empty() => {
                self.definition(&function.name, &function.out_sort, &function.body, base);
            }
            alg::Command::DefineFun(function) => self.function(function, base),
            alg::Command::Assert(term) => self.assertion(term, piece),
            // Every other command was refused by its first word.
            _ => {}
        }
    }

    /// The place of a symbol or string of the command at `base`.
    fn place<T: MetaData<T = yaspar::position::Range>>(&self, base: usize, word: &T) -> Span {
        let range = word.meta_data();
        Span::new(&self.source, base + range.start.char_num..base + range.end.char_num)
    }

    fn set_logic(&mut self, logic: &str, span: Span) {
        if let Some(first) = self.logic.replace(span.clone()) {
            let fault = Diagnostic::error("duplicate-logic", "the logic is set twice")
                .at(span, "again here")
                .at(first, "first here")
                .hint("keep one of them");
            return self.faults.push(fault);
        }
        let theories = logic.strip_prefix("QF_");
        let hint = match theories {
            _ if logic == "ALL" => return,
            Some(rest) => match outside(rest) {
                None => return,
                Some(theory) => format!("`{theory}` is not in it; write `(set-logic ALL)`"),
            },
            None => "it has quantifiers, or is unknown; write `(set-logic ALL)`".to_owned(),
        };
        let message = format!("logic `{logic}` is outside the fragment");
        self.faults.push(Diagnostic::error("refused-logic", message).at(span, "").hint(hint));
    }

    fn finish(mut self) -> (PolicyFile, Vec<Diagnostic>) {
        let failed = self.faults.iter().any(|fault| fault.severity == crate::diag::Severity::Error);
        if self.policy.clauses.is_empty() && !failed {
            let place = Span::new(&self.source, 0..self.source.text().len().min(1));
            self.faults.push(
                Diagnostic::error("no-clauses", "the policy asserts nothing")
                    .at(place, "")
                    .hint(format!("write `{}`", usage("assert"))),
            );
        }
        self.missing_imports();
        // In the order of the text, whatever found them.
        self.faults.sort_by_key(|fault| fault.places.first().map(|(span, _)| span.range.start));
        let file = PolicyFile {
            policy: self.policy,
            imports: self.imports,
            enumerations: self.enumerations,
            label_spans: self.label_spans,
            source: self.source,
        };
        (file, self.faults)
    }

    fn missing_imports(&mut self) {
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

/// How a command is written.
fn usage(command: &str) -> &'static str {
    USAGE.iter().find(|(name, _)| *name == command).map_or("", |(_, usage)| usage)
}

/// A fault of the grammar as a message and a place.
fn grammar_fault(error: GrammarError) -> (String, Range<usize>) {
    let (message, range) = match error {
        GrammarError::TokenizeError { range, buf } => (format!("`{buf}` is not a word"), range),
        GrammarError::DatatypeDeclarationError { range, num_datatypes, num_defs } => {
            (format!("{num_datatypes} sorts are named, but {num_defs} are defined"), range)
        }
        GrammarError::RecFunsDefinitionError { range, .. } => {
            ("functions and bodies differ in number".to_owned(), range)
        }
        GrammarError::Other { range, message } => {
            let message = message.trim_start_matches("Parsing: ").trim_end_matches('!');
            (message.replace('\'', "`").replace("two argument", "two arguments"), range)
        }
    };
    (message, range.start.char_num..range.end.char_num)
}

/// The first theory in the name of a quantifier-free logic that is outside the fragment.
fn outside(mut theories: &str) -> Option<String> {
    while !theories.is_empty() {
        let known = ["UF", "DT", "LIRA", "LIA", "LRA", "IDL", "RDL"];
        match known.iter().find_map(|name| theories.strip_prefix(name)) {
            Some(rest) => theories = rest,
            None => return Some(theories.to_owned()),
        }
    }
    None
}

/// Adds a clause whose term and tags are good.
fn push_clause(policy: &mut Policy, tags: Tags, term: crate::term::TermId, span: Span) {
    let name = tags.name.unwrap_or_else(|| format!("range!{}", policy.clauses.len() + 1));
    policy.clauses.push(Clause {
        name,
        member: 0,
        kind: tags.kind,
        section: tags.section,
        cites: tags.cites,
        source: tags.source,
        term,
        span,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_terms(terms: &[&str]) -> (Policy, Vec<&'static str>) {
        let mut text = "(declare-datatypes ((C 0)) (((red) (green) (blue))))\n\
             (declare-const a Bool)\n(declare-const b Bool)\n(declare-const i Int)\n\
             (declare-const j Int)\n(declare-const r Real)\n(declare-const c C)\n\
             (define-fun f ((x Int) (i Bool)) Bool (and i (< x j)))\n"
            .to_owned();
        for (index, term) in terms.iter().enumerate() {
            let tags = format!(":named n{index} :section \"1\" :source \"s\"");
            text.push_str(&format!("(assert (! {term} {tags}))\n"));
        }
        let (file, faults) = read("tiny", &Source::new("policy.smt2", text));
        (file.policy, faults.iter().map(|fault| fault.code).collect())
    }

    /// A term and what it means, the same up to the order of junctions.
    fn check(term: &str, meaning: &str) {
        let (policy, codes) = read_terms(&[term, meaning]);
        assert!(codes.is_empty(), "{term}: {codes:?}");
        let mut digests = crate::policy::TermDigests::default();
        let [first, second] = [0, 1].map(|at| policy.clauses[at].term);
        let printed = print_term(&policy.terms, first);
        let same = digests.of(&policy.terms, first) == digests.of(&policy.terms, second);
        assert!(same, "{term} became {printed}, not {meaning}");
    }

    /// A term and the codes of its faults.
    fn refuse(term: &str, expect: &str) {
        let (_, codes) = read_terms(&[term]);
        assert_eq!(codes.join(" "), expect, "{term}");
    }

    #[test]
    fn terms_mean_what_the_standard_says() {
        check("(<= 0 i 10)", "(and (<= 0 i) (<= i 10))");
        check("(>= i j)", "(<= j i)");
        check("(=> a b a)", "true");
        check("(=> a b (> i 0))", "(or (< 0 i) (not a) (not b))");
        check("(xor a b true)", "(= a b)");
        check("(= (- i) (- 5))", "(= (* (- 1) i) (- 5))");
        check("(< (- i j 1) (* 2 i))", "(< (+ i (* (- 1) j) (- 1)) (* 2 i))");
        check("(< (/ 1.5 3.0 2.0) r)", "(< (/ 1.0 4.0) r)");
        check("(< (* r (- 0.5)) (to_real 7))", "(< (* (- (/ 1.0 2.0)) r) 7.0)");
        check("(distinct c red blue)", "(and (not (= c red)) (not (= c blue)))");
        check("((_ is green) c)", "(= c green)");
        check("(let ((a b) (b a)) (and a (not b)))", "(and b (not a))");
        check("(let ((i a)) (f 3 i))", "(and a (< 3 j))");
        check("(f i (f 0 b))", "(and b (< 0 j) (< i j))");
    }

    #[test]
    fn what_is_outside_is_refused() {
        refuse("(f i)", "arity");
        refuse("(f a i)", "sort-mismatch sort-mismatch");
        refuse("(= i r)", "mixed-arithmetic");
        refuse("(< (* i j) 3)", "non-linear");
        refuse("(= 0 (mod i 2))", "refused-term");
        refuse("(or nowhere (= i nothing) (not 3))", "unknown-name unknown-name sort-mismatch");
        refuse("(and i (or nowhere b j))", "sort-mismatch unknown-name sort-mismatch");
        refuse("(= a b a)", "syntax");
        refuse("i", "sort-mismatch");
    }

    #[test]
    fn logics_within_are_taken() {
        let within = ["UF", "LIA", "LRA", "UFDTLIA", "DT", "UFLIRA", "RDL", "IDL", ""];
        assert!(within.iter().all(|name| outside(name).is_none()));
        assert_eq!(outside("UFNIA").as_deref(), Some("NIA"));
        assert_eq!(outside("ABV").as_deref(), Some("ABV"));
    }
}
