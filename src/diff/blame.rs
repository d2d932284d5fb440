//! Which changed clauses moved an answer.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataset::Row;
use crate::replay::{self, Said};
use crate::smtlib::symbol;

/// Work of one question in Z3's units.
const RLIMIT: u32 = 20_000_000;

/// An export taken apart: everything but clauses, and the clauses by name.
#[derive(Clone, Debug, Default)]
struct Parts {
    /// Enumerations, then constants.
    head: Vec<String>,
    clauses: BTreeMap<String, String>,
    /// The verdict's definition, if it has one.
    tail: Vec<String>,
}

impl Parts {
    fn of(text: &str) -> Self {
        let mut parts = Self::default();
        for line in text.lines() {
            if line.starts_with("(assert ") {
                let named = line.rsplit_once(" :named ").map_or("", |(_, name)| name);
                let name = named.trim_end_matches(')').trim_matches('|').to_owned();
                // A name that ends in a bracket is quoted, so nothing of it was cut.
                let name = if named.starts_with('|') {
                    named.trim_start_matches('|').split('|').next().unwrap_or("").to_owned()
                } else {
                    name
                };
                parts.clauses.insert(name, line.to_owned());
            } else if line.starts_with("(declare") {
                parts.head.push(line.to_owned());
            } else if line.starts_with("(define-fun ") {
                parts.tail.push(line.to_owned());
            }
        }
        parts
    }

    /// The name a declaration is about.
    fn declared(line: &str) -> &str {
        let after = line.split_once(' ').map_or("", |(_, rest)| rest);
        let after = after.trim_start_matches('(');
        match after.strip_prefix('|') {
            Some(quoted) => quoted.split('|').next().unwrap_or(""),
            None => after.split([' ', ')']).next().unwrap_or(""),
        }
    }
}

/// Two exports of one determination.
#[derive(Clone, Debug)]
pub(super) struct Shift {
    old: Parts,
    new: Parts,
    /// Names of clauses that are not the same on both sides.
    moved: BTreeSet<String>,
}

impl Shift {
    pub(super) fn between(old: &str, new: &str) -> Self {
        let (old, new) = (Parts::of(old), Parts::of(new));
        let names = old.clauses.keys().chain(new.clauses.keys());
        let moved = names.filter(|name| old.clauses.get(*name) != new.clauses.get(*name));
        let moved = moved.cloned().collect();
        Self { old, new, moved }
    }

    /// The clauses that moved, and how.
    pub(super) fn described(&self) -> Vec<String> {
        let how = |name: &String| match (
            self.old.clauses.contains_key(name),
            self.new.clauses.contains_key(name),
        ) {
            (true, true) => format!("{name} changed"),
            (true, false) => format!("{name} removed"),
            _ => format!("{name} added"),
        };
        self.moved.iter().map(how).collect()
    }

    /// The new policy with the changes of some clauses taken back.
    fn without(&self, back: &BTreeSet<String>) -> String {
        let mut text = String::from("(set-logic ALL)\n");
        let mut line = |line: &str| {
            text.push_str(line);
            text.push('\n');
        };
        let known: BTreeSet<&str> =
            self.new.head.iter().map(|line| Parts::declared(line)).collect();
        let gone = self.old.head.iter().filter(|line| !known.contains(Parts::declared(line)));
        let all: Vec<&String> = self.new.head.iter().chain(gone).collect();
        for enumeration in all.iter().filter(|line| line.starts_with("(declare-datatypes")) {
            line(enumeration);
        }
        for constant in all.iter().filter(|line| !line.starts_with("(declare-datatypes")) {
            line(constant);
        }
        let names: BTreeSet<&String> =
            self.old.clauses.keys().chain(self.new.clauses.keys()).collect();
        for name in names {
            let side = if back.contains(name) { &self.old } else { &self.new };
            if let Some(clause) = side.clauses.get(name) {
                line(clause);
            }
        }
        for definition in &self.new.tail {
            line(definition);
        }
        text
    }

    /// A smallest set of changes (by taking one away at a time) without which the old answer would
    /// hold; empty where even all of them taken back do not bring it back.
    pub(super) fn responsible(&self, old: &Row, new: &Row) -> Vec<String> {
        let holds = |back: &BTreeSet<String>| holds(&self.without(back), old, new).unwrap_or(false);
        let mut back = self.moved.clone();
        if !holds(&back) {
            return Vec::new();
        }
        for name in &self.moved {
            back.remove(name);
            if !holds(&back) {
                back.insert(name.clone());
            }
        }
        back.into_iter().collect()
    }
}

/// Whether a policy gives the facts the old answer.
fn holds(policy: &str, old: &Row, new: &Row) -> Option<bool> {
    let mut text = policy.to_owned();
    for fact in &new.facts {
        let value = spelled(&fact.value, policy, &fact.variable)?;
        text.push_str(&format!("(assert (= {} {value}))\n", symbol(&fact.variable)));
    }
    let mut questions = Vec::new();
    let verdict = symbol(&old.verdict);
    let mut ask = |name: &str, term: String, wanted: bool| {
        text.push_str(&format!("(declare-const {name} Bool)\n(assert (=> {name} {term}))\n"));
        questions.push((name.to_owned(), wanted));
    };
    for (at, value) in old.possible_values.iter().enumerate() {
        ask(&format!("|ask {at}|"), format!("(= {verdict} {})", symbol(value)), true);
    }
    if old.kind == "definite" {
        let term = format!("(not (= {verdict} {}))", symbol(&old.answer_value));
        ask("|ask other|", term, false);
    }
    let query = crate::query::Query { text, questions };
    let said = replay::ask(&query, RLIMIT).ok()?;
    let right = |(said, (_, wanted)): (&Said, &(String, bool))| {
        *said == if *wanted { Said::Sat } else { Said::Unsat }
    };
    Some(said.iter().zip(&query.questions).all(right))
}

/// A value as SMT-LIB of the sort that the text declares.
fn spelled(value: &str, policy: &str, variable: &str) -> Option<String> {
    let head = format!("(declare-const {} ", symbol(variable));
    let sort = policy.lines().find_map(|line| line.strip_prefix(&head))?.trim_end_matches(')');
    let sort = match sort {
        "Int" => crate::term::Sort::Int,
        "Real" => crate::term::Sort::Real,
        _ => return Some(symbol(value)),
    };
    Some(crate::term::smtlib_number(&crate::term::read_number(value)?, sort))
}
