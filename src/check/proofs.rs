//! What the solver knows of a policy: contradictions, clauses that say nothing new, thresholds with
//! nothing on one side, verdicts that cannot be.

use std::collections::BTreeSet;

use super::{Case, Finding, Task, at_clause};
use crate::diag::Diagnostic;
use crate::minimal;
use crate::options::{Choice, Comparisons};
use crate::policy::{ClauseKind, Policy};
use crate::solver::{Answer, Lit, Session};
use crate::term::{Term, TermId};

/// Whether a policy has a scenario; if not, the clauses that clash are a finding.
pub(super) fn consistent(task: &Task<'_>, policy: &Policy, found: &mut Vec<Finding>) -> bool {
    let asserts: Vec<TermId> = policy.clauses.iter().map(|clause| clause.term).collect();
    let mut session = Session::new(&policy.terms, &asserts, task.limits.clone());
    match session.check(&[]) {
        Answer::Sat | Answer::Unknown(_) => return true,
        Answer::Unsat(_) => {}
    }
    let mut session = Session::new(&policy.terms, &[], task.limits.clone());
    let literals: Vec<Lit> = asserts.iter().map(|term| session.term(*term, true)).collect();
    let all: Vec<usize> = (0..literals.len()).collect();
    let part = minimal::first(&all, &mut |part| {
        let part: Vec<Lit> = part.iter().filter_map(|at| literals.get(*at).copied()).collect();
        Ok::<bool, ()>(session.check(&part).is_unsat())
    });
    let lint = "contradiction";
    let message = format!("the clauses of `{}` contradict each other", policy.id);
    let mut diagnostic = Diagnostic::error(lint, message);
    let mut at = vec![policy.id.clone()];
    for clause in part.unwrap_or_default().iter().filter_map(|at| policy.clauses.get(*at)) {
        let label = format!("`{}` clashes", clause.name);
        diagnostic = diagnostic.at(clause.span.clone(), label);
        at.push(clause.qualified(policy));
    }
    let hint = "these clauses together have no scenario, and no fewer of them clash: correct one";
    found.push(Finding { lint, at, diagnostic: diagnostic.hint(hint) });
    false
}

/// Clauses of the policy itself that follow from the others, and thresholds that cut nothing.
pub(super) fn clauses(task: &Task<'_>, policy: &Policy, found: &mut Vec<Finding>) {
    let mut session = Session::new(&policy.terms, &[], task.limits.clone());
    let literals: Vec<Lit> =
        policy.clauses.iter().map(|clause| session.term(clause.term, true)).collect();
    let ranges: Vec<Lit> = policy
        .clauses
        .iter()
        .zip(&literals)
        .filter(|(clause, _)| clause.kind == ClauseKind::Range)
        .map(|(_, literal)| *literal)
        .collect();
    for (at, clause) in policy.clauses.iter().enumerate() {
        if clause.member != 0 || clause.kind != ClauseKind::Rule || task.stopped() {
            continue;
        }
        let not = session.term(clause.term, false);
        let others = literals.iter().enumerate().filter(|(other, _)| *other != at);
        let mut claims: Vec<Lit> = others.map(|(_, literal)| *literal).collect();
        claims.push(not);
        if !session.check(&claims).is_unsat() {
            continue;
        }
        let mut alone = ranges.clone();
        alone.push(not);
        let finding = if session.check(&alone).is_unsat() {
            let message = format!("`{}` is true within the natural ranges", clause.name);
            at_clause(policy, clause, "vacuous-clause", message)
                .hint("remove it, or look for a slip in it")
        } else {
            let message = format!("`{}` follows from the other clauses", clause.name);
            at_clause(policy, clause, "implied-clause", message)
                .hint("remove it, or accept it if the text says it twice")
        };
        found.push(finding);
    }
    regions(task, policy, found);
}

fn regions(task: &Task<'_>, policy: &Policy, found: &mut Vec<Finding>) {
    let asserts: Vec<TermId> = policy.clauses.iter().map(|clause| clause.term).collect();
    let mut terms = policy.terms.clone();
    let rules = policy.clauses.iter().filter(|clause| clause.kind == ClauseKind::Rule);
    let mut cuts = Vec::new();
    let mut seen = BTreeSet::new();
    for clause in rules.filter(|clause| clause.member == 0) {
        for (id, thresholds) in inequalities(policy, clause.term).thresholds {
            for threshold in thresholds {
                if !seen.insert((id, threshold.clone())) {
                    continue;
                }
                let up = Choice::Between(None, Some(threshold.clone()));
                if let Ok(term) = up.term(&mut terms, id) {
                    cuts.push((id, threshold, term, clause));
                }
            }
        }
    }
    let mut session = Session::new(&terms, &asserts, task.limits.clone());
    for (id, threshold, term, clause) in cuts {
        if task.stopped() {
            return;
        }
        let sort = policy.terms.constant(id).sort;
        for positive in [true, false] {
            let literal = session.term(term, positive);
            if !session.check(&[literal]).is_unsat() {
                continue;
            }
            let name = &policy.terms.constant(id).name;
            let (low, high) = (Some(threshold.clone()), None);
            let side =
                if positive { Choice::Between(None, low) } else { Choice::Between(low, high) };
            let side = side.spell(&policy.terms, sort);
            let message = format!("`{name}` is never {side}");
            let mut finding = at_clause(policy, clause, "empty-region", message);
            finding.at.push(name.clone());
            found.push(
                finding.hint("the comparison decides nothing: correct the number, or the range"),
            );
        }
    }
}

/// Thresholds of a clause's inequalities. An equality may well name the last of the numbers.
fn inequalities(policy: &Policy, clause: TermId) -> Comparisons {
    let mut found = Vec::new();
    let mut stack = vec![clause];
    while let Some(term) = stack.pop() {
        match policy.terms.get(term) {
            Term::Le(..) | Term::Lt(..) => found.push(term),
            _ => stack.extend(policy.terms.args(term)),
        }
    }
    Comparisons::read(&policy.terms, found)
}

/// Verdict values that no scenario has.
pub(super) fn verdict(task: &Task<'_>, case: &Case<'_>, found: &mut Vec<Finding>) {
    let policy = &case.inquiry.policy;
    let verdict = &case.inquiry.verdict;
    let mut terms = policy.terms.clone();
    let sort = terms.sort(verdict.term);
    let mut is = Vec::new();
    for value in &verdict.values {
        let literal = terms.value(value, sort);
        is.extend(terms.eq(verdict.term, literal).ok().map(|term| (value, term)));
    }
    let asserts: Vec<TermId> = policy.clauses.iter().map(|clause| clause.term).collect();
    let mut session = Session::new(&terms, &asserts, task.limits.clone());
    if session.check(&[]).is_unsat() {
        return;
    }
    for (value, term) in is {
        let literal = session.term(term, true);
        if session.check(&[literal]).is_unsat() {
            let spelled = policy.terms.spell(value);
            let lint = "verdict-impossible";
            let id = &case.determination.id;
            let message = format!("`{}` is never `{spelled}`", verdict.name);
            let diagnostic = Diagnostic::warning(lint, message)
                .at(case.determination.verdict.span.clone(), "this verdict")
                .hint("look for a clause that rules it out, or for one that is missing");
            found.push(Finding { lint, at: vec![id.name.clone()], diagnostic });
        }
    }
}
