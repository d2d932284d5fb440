//! Terms and joined policies as SMT-LIB text that stock solvers read.

use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::policy::{Clause, ClauseKind, Policy};
use crate::term::{Sort, Term, TermId, Terms, smtlib_number};

/// Above this many nodes, shared parts of a term are printed once, in a `let`.
const TREE: u64 = 2_000;

/// A name as a symbol: quoted where SMT-LIB needs it.
#[must_use]
pub fn symbol(name: &str) -> String {
    let simple = |byte: u8| byte.is_ascii_alphanumeric() || b"~!@$%^&*_-+=<>.?/".contains(&byte);
    let plain = name.bytes().all(simple)
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if plain { name.to_owned() } else { format!("|{name}|") }
}

/// A sort as SMT-LIB text.
fn sort(terms: &Terms, sort: Sort) -> String {
    symbol(&terms.sort_name(sort))
}

/// A term as SMT-LIB text on one line.
#[must_use]
pub fn print_term(terms: &Terms, id: TermId) -> String {
    let nodes = below(terms, id);
    let mut sizes: FxHashMap<TermId, u64> = FxHashMap::default();
    let mut uses: FxHashMap<TermId, u32> = FxHashMap::default();
    for node in &nodes {
        let mut size = 1_u64;
        for arg in terms.args(*node) {
            size = size.saturating_add(sizes.get(&arg).copied().unwrap_or(1));
            *uses.entry(arg).or_default() += 1;
        }
        sizes.insert(*node, size);
    }
    let mut names: FxHashMap<TermId, String> = FxHashMap::default();
    let mut text = String::new();
    let mut lets = 0;
    if sizes.get(&id).is_some_and(|size| *size > TREE) {
        for node in nodes.iter().filter(|node| **node != id) {
            let shared = uses.get(node).is_some_and(|count| *count > 1);
            if shared && !terms.args(*node).is_empty() {
                let name = format!("?{lets}");
                let _ = write!(text, "(let (({name} ");
                write_tree(terms, *node, &names, &mut text);
                text.push_str(")) ");
                names.insert(*node, name);
                lets += 1;
            }
        }
    }
    write_tree(terms, id, &names, &mut text);
    text.push_str(&")".repeat(lets));
    text
}

/// All terms a term is made of, arguments before what uses them.
fn below(terms: &Terms, id: TermId) -> Vec<TermId> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut found = Vec::new();
    let mut stack = vec![id];
    while let Some(term) = stack.pop() {
        if seen.insert(term) {
            found.push(term);
            stack.extend(terms.args(term));
        }
    }
    // Arguments have smaller ids than what is built of them.
    found.sort_unstable();
    found
}

enum Part {
    Term(TermId),
    Space,
    Close,
}

fn write_tree(terms: &Terms, id: TermId, names: &FxHashMap<TermId, String>, text: &mut String) {
    let mut stack = vec![Part::Term(id)];
    while let Some(part) = stack.pop() {
        match part {
            Part::Space => text.push(' '),
            Part::Close => text.push(')'),
            Part::Term(id) => match names.get(&id) {
                Some(name) => text.push_str(name),
                None => write_head(terms, id, text, &mut stack),
            },
        }
    }
}

fn write_head(terms: &Terms, id: TermId, text: &mut String, stack: &mut Vec<Part>) {
    let head = match terms.get(id) {
        Term::Bool(truth) => return text.push_str(if *truth { "true" } else { "false" }),
        Term::Number(number, sort) => return text.push_str(&smtlib_number(number, *sort)),
        Term::Ctor(sort, at) => {
            let constructors = &terms.enumeration(*sort).constructors;
            let name = constructors.get(*at as usize).map_or("", String::as_str);
            return text.push_str(&symbol(name));
        }
        Term::Const(id) => return text.push_str(&symbol(&terms.constant(*id).name)),
        Term::Scale(factor, base) => {
            let _ = write!(text, "(* {}", smtlib_number(factor, terms.sort(*base)));
            "".to_owned()
        }
        Term::Not(_) => "(not".to_owned(),
        Term::And(_) => "(and".to_owned(),
        Term::Or(_) => "(or".to_owned(),
        Term::Ite(..) => "(ite".to_owned(),
        Term::Eq(..) => "(=".to_owned(),
        Term::Le(..) => "(<=".to_owned(),
        Term::Lt(..) => "(<".to_owned(),
        Term::Sum(_) => "(+".to_owned(),
        Term::ToReal(_) => "(to_real".to_owned(),
    };
    text.push_str(&head);
    stack.push(Part::Close);
    for arg in terms.args(id).into_iter().rev() {
        stack.push(Part::Term(arg));
        stack.push(Part::Space);
    }
}

/// How the tags of clauses are printed beside their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagStyle {
    /// As attributes, which solvers ignore with a warning each.
    Attributes,
    /// As comments: nothing that a solver would mention.
    Comments,
}

/// A joined policy as a complete file: every enumeration, constant and clause, with names and labels
/// qualified by policy.
#[must_use]
pub fn print_policy(policy: &Policy, tags: TagStyle) -> String {
    let terms = &policy.terms;
    let mut text = "(set-logic ALL)\n".to_owned();
    for (_, enumeration) in terms.enumerations() {
        let values: Vec<String> =
            enumeration.constructors.iter().map(|name| format!("({})", symbol(name))).collect();
        let (name, values) = (symbol(&enumeration.name), values.join(" "));
        let _ = writeln!(text, "(declare-datatypes (({name} 0)) (({values})))");
    }
    for (_, constant) in terms.constants() {
        let (name, sort) = (symbol(&constant.name), sort(terms, constant.sort));
        let _ = writeln!(text, "(declare-const {name} {sort})");
    }
    for clause in &policy.clauses {
        let term = print_term(terms, clause.term);
        let name = symbol(&clause.qualified(policy));
        let _ = match tags {
            TagStyle::Attributes => {
                let tags = attributes(policy, clause);
                writeln!(text, "(assert (! {term}\n  :named {name}{tags}))")
            }
            TagStyle::Comments => {
                let tags = comment(policy, clause);
                writeln!(text, "; {tags}\n(assert (! {term} :named {name}))")
            }
        };
    }
    text
}

fn cites(policy: &Policy, clause: &Clause) -> String {
    let labels: Vec<String> =
        clause.cites.iter().map(|section| policy.spell_section(section)).collect();
    labels.join("; ")
}

fn attributes(policy: &Policy, clause: &Clause) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut text = String::new();
    if let Some(section) = &clause.section {
        let _ = write!(text, " :section {}", quoted(&policy.spell_section(section)));
    }
    if !clause.cites.is_empty() {
        let _ = write!(text, " :cites {}", quoted(&cites(policy, clause)));
    }
    if clause.kind == ClauseKind::Range {
        text.push_str(" :kind range");
    }
    if !clause.source.is_empty() {
        let _ = write!(text, " :source {}", quoted(&clause.source));
    }
    text
}

fn comment(policy: &Policy, clause: &Clause) -> String {
    let mut text = match &clause.section {
        Some(section) => policy.spell_section(section),
        None => format!("{} range", policy.member(clause.member)),
    };
    if !clause.cites.is_empty() {
        let _ = write!(text, ", see {}", cites(policy, clause));
    }
    for word in clause.source.split_whitespace() {
        let _ = write!(text, " {word}");
    }
    text
}
