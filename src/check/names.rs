//! Names that nothing reads, facts that a clause defines, and definitions that go one way.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::{Finding, at_clause};
use crate::diag::Diagnostic;
use crate::policy::{Clause, ClauseKind, Policy};
use crate::project::{Member, Project};
use crate::term::{ConstId, Sort, Term};

pub(super) fn check(project: &Project, id: &str, member: &Member, found: &mut Vec<Finding>) {
    let policy = &member.file.policy;
    let imported: BTreeSet<&str> = member
        .file
        .imports
        .iter()
        .flat_map(|import| import.names.iter().map(|(name, _)| name.as_str()))
        .collect();
    for clause in &policy.clauses {
        if matches!(policy.terms.get(clause.term), Term::Bool(true)) {
            let message = format!("`{}` is true whatever the facts are", clause.name);
            let finding = at_clause(policy, clause, "vacuous-clause", message);
            found.push(finding.hint("remove it, or look for a slip in it"));
        }
    }
    // Clauses by the constants they mention.
    let mut readers: Vec<Vec<&Clause>> = vec![Vec::new(); policy.declared.len()];
    for clause in &policy.clauses {
        for constant in policy.terms.constants_in(clause.term) {
            if let Some(list) = readers.get_mut(constant.index()) {
                list.push(clause);
            }
        }
    }
    unused(project, id, member, &readers, found);
    for ((constant, _), readers) in policy.terms.constants().zip(&readers) {
        let name = &policy.terms.constant(constant).name;
        if imported.contains(name.as_str()) {
            continue;
        }
        if member.vocabulary.words(constant).is_some_and(|words| words.ask) {
            asked(policy, constant, readers, found);
        } else {
            one_way(policy, constant, readers, found);
        }
    }
}

fn unused(
    project: &Project,
    id: &str,
    member: &Member,
    readers: &[Vec<&Clause>],
    found: &mut Vec<Finding>,
) {
    let policy = &member.file.policy;
    let read = |id: &ConstId| readers.get(id.index()).is_some_and(|list| !list.is_empty());
    // What another policy imports, a determination decides or a definition reads is used.
    let elsewhere: BTreeSet<&str> = project
        .manifest
        .policies
        .keys()
        .filter_map(|other| project.member(other))
        .flat_map(|other| other.file.imports.iter().filter(|import| import.policy == id))
        .flat_map(|import| import.names.iter().map(|(name, _)| name.as_str()))
        .collect();
    let mentions = mentions(member);
    let seldom = |name: &str| mentions.get(name).is_none_or(|count| *count < 2);
    let decided = |name: &str| {
        let mut all = project.manifest.determinations.iter();
        all.any(|determination| {
            let verdict = &determination.verdict.name;
            verdict == name && determination.policy.name == id
                || *verdict == format!("{id}.{name}")
                || determination.opaque.iter().any(|o| o.name == name)
        })
    };
    for (name, term) in &policy.names {
        let defined = policy
            .constant(name)
            .is_none_or(|constant| policy.terms.constant(constant).name != *name);
        let idle = match (policy.terms.get(*term), defined) {
            (Term::Const(constant), false) => !read(constant) && seldom(name),
            _ => seldom(name),
        };
        if !idle || elsewhere.contains(name.as_str()) || decided(name) {
            continue;
        }
        let lint = "unused-name";
        let span = policy.constant(name).and_then(|constant| policy.declaration(constant));
        let mut diagnostic = Diagnostic::warning(lint, format!("nothing reads `{name}`"));
        diagnostic = match span {
            Some(declared) => diagnostic.at(declared.span.clone(), "declared here"),
            None => diagnostic.in_file(member.file.source.path()),
        };
        let diagnostic = diagnostic.hint("remove it, or write the clause that needs it");
        found.push(Finding { lint, at: vec![id.to_owned(), name.clone()], diagnostic });
    }
}

/// How often each word stands in the formalization, comments, texts and lists of imports left out.
fn mentions(member: &Member) -> FxHashMap<&str, usize> {
    let mut count = FxHashMap::default();
    let text = member.file.source.text();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| !c.is_whitespace() && !"()".contains(c)) {
        rest = rest.get(start..).unwrap_or("");
        let end = match rest.chars().next() {
            Some(';') => rest.find('\n'),
            Some(quote @ ('"' | '|')) => {
                rest.get(1..).and_then(|inner| inner.find(quote)).map(|at| at + 2)
            }
            _ => rest.find(|c: char| c.is_whitespace() || "();\"|".contains(c)),
        };
        let (word, after) = rest.split_at_checked(end.unwrap_or(rest.len())).unwrap_or((rest, ""));
        *count.entry(word).or_default() += 1;
        rest = after;
    }
    count
}

/// A fact that a rule defines as equal to something else.
fn asked(policy: &Policy, constant: ConstId, readers: &[&Clause], found: &mut Vec<Finding>) {
    for clause in readers.iter().filter(|clause| clause.kind == ClauseKind::Rule) {
        let Term::Eq(a, b) = policy.terms.get(clause.term) else { continue };
        let is = |side| matches!(policy.terms.get(side), Term::Const(id) if *id == constant);
        let other = if is(*a) {
            *b
        } else if is(*b) {
            *a
        } else {
            continue;
        };
        // `fact = literal` is a rule about facts, and so is a fact that equals another.
        let reads = policy.terms.constants_in(other);
        if reads.is_empty() || reads.contains(&constant) || reads.len() < 2 {
            continue;
        }
        let name = &policy.terms.constant(constant).name;
        let message = format!("`{name}` may be asked, and `{}` defines it", clause.name);
        let mut finding = at_clause(policy, clause, "asked-definition", message);
        finding.at.push(name.clone());
        let hint = format!("write `ask = false` under `[facts.{name}]`, or a one-way rule");
        found.push(finding.hint(hint));
    }
}

/// A derived condition that clauses can only make true.
fn one_way(policy: &Policy, constant: ConstId, readers: &[&Clause], found: &mut Vec<Finding>) {
    let terms = &policy.terms;
    if terms.constant(constant).sort != Sort::Bool {
        return;
    }
    let mut heads = Vec::new();
    for clause in readers {
        let Term::Or(parts) = terms.get(clause.term) else { return };
        let is = |term| matches!(terms.get(term), Term::Const(id) if *id == constant);
        let head = parts.iter().any(|part| is(*part));
        let body = parts.iter().any(|part| match terms.get(*part) {
            Term::Not(inner) => {
                is(*inner)
                    || matches!(terms.get(*inner), Term::And(all) if all.iter().any(|a| is(*a)))
            }
            _ => false,
        });
        match (head, body) {
            (true, false) => heads.push(clause),
            (false, true) => {}
            // It stands deeper: what it says is not that simple.
            _ => return,
        }
    }
    let Some(first) = heads.first() else { return };
    let name = &terms.constant(constant).name;
    let message = format!("clauses make `{name}` true, and none makes it false");
    let mut finding = at_clause(policy, first, "one-way-definition", message);
    finding.at.push(name.clone());
    let hint = match heads.len() {
        1 => format!("if it holds only then, write `(= {name} …)`"),
        count => format!("if it holds only by these {count} clauses, write `(= {name} (or …))`"),
    };
    found.push(finding.hint(hint));
}
