//! Bounds that one clause includes and another leaves out.

use std::collections::BTreeMap;

use super::{Finding, at_clause};
use crate::options::form;
use crate::policy::{Clause, ClauseKind, Policy};
use crate::term::{ConstId, Number, Term, TermId};

/// Clauses by number and literal: those for which the literal itself lies below, and above.
type Sides<'c> = BTreeMap<(ConstId, Number), [Vec<&'c Clause>; 2]>;

pub(super) fn check(policy: &Policy, found: &mut Vec<Finding>) {
    let mut sides: Sides<'_> = BTreeMap::new();
    for clause in policy.clauses.iter().filter(|clause| clause.kind == ClauseKind::Rule) {
        let mut stack = vec![clause.term];
        while let Some(term) = stack.pop() {
            if let Some((id, number, above)) = bound(policy, term) {
                let [below, over] = sides.entry((id, number)).or_default();
                let list = if above { over } else { below };
                if !list.iter().any(|known| known.name == clause.name) {
                    list.push(clause);
                }
            }
            stack.extend(policy.terms.args(term));
        }
    }
    for ((id, number), [below, above]) in sides {
        let apart = |a: &&&Clause| !above.iter().any(|b| b.name == a.name);
        let Some(first) = below.iter().find(apart) else { continue };
        let Some(second) = above.iter().find(|b| !below.iter().any(|a| a.name == b.name)) else {
            continue;
        };
        if first.member != 0 && second.member != 0 {
            continue;
        }
        let name = &policy.terms.constant(id).name;
        let message = format!("`{name}` is cut on both sides of {number}");
        let mut finding = at_clause(policy, first, "off-by-one", message);
        finding.at.extend([second.name.clone(), second.qualified(policy), name.clone()]);
        if let Some((_, label)) = finding.diagnostic.places.first_mut() {
            *label = format!("here {number} counts with the smaller numbers");
        }
        let label = "and here with the larger ones";
        finding.diagnostic = finding.diagnostic.at(second.span.clone(), label);
        found.push(finding.hint(
            "if both mean the same bound, write both with `<` or both with `<=`; else accept it",
        ));
    }
}

/// A comparison of a number with a literal: whether the literal lies with the larger numbers.
fn bound(policy: &Policy, term: TermId) -> Option<(ConstId, Number, bool)> {
    let terms = &policy.terms;
    let (left, right, strict) = match terms.get(term) {
        Term::Le(a, b) => (*a, *b, false),
        Term::Lt(a, b) => (*a, *b, true),
        _ => return None,
    };
    match (terms.get(left), terms.get(right)) {
        // x <= n: n is with the smaller; x < n: with the larger.
        (Term::Const(id), _) => Some((*id, literal(policy, right)?, strict)),
        // n <= x: n is with the larger; n < x: with the smaller.
        (_, Term::Const(id)) => Some((*id, literal(policy, left)?, !strict)),
        _ => None,
    }
}

fn literal(policy: &Policy, term: TermId) -> Option<Number> {
    let form = form(&policy.terms, term)?;
    form.constants().next().is_none().then(|| form.offset().clone())
}
