//! Full scenarios on which a policy is silent, and verdicts that nothing forces.

use rustc_hash::FxHashMap;

use super::{Case, Finding, Task};
use crate::claim::Drop;
use crate::diag::Diagnostic;
use crate::policy::Facts;
use crate::slice::slice;
use crate::solver::{Answer, Session};
use crate::substitute::Substitution;
use crate::term::{ConstId, SortFault, Term, TermId, Value};

/// Sentences of an example, at most.
const MOST_SENTENCES: usize = 30;

pub(super) fn check(task: &Task<'_>, case: &Case<'_>, found: &mut Vec<Finding>) {
    let id = &case.determination.id;
    let spot = |lint: &'static str, message: String| {
        Diagnostic::warning(lint, message)
            .at(case.determination.verdict.span.clone(), "this verdict")
    };
    match example(task, case) {
        Ok(Ok(Some(facts))) => {
            let mut said: Vec<String> = facts
                .iter()
                .take(MOST_SENTENCES)
                .map(|(id, value)| sentence(case, id, value))
                .collect();
            if facts.len() > MOST_SENTENCES {
                said.push(format!("… and {} more facts", facts.len() - MOST_SENTENCES));
            }
            let lint = "silent-scenario";
            let message = format!("the policy is silent on `{}` in some full scenario", id.name);
            let diagnostic = spot(lint, message)
                .hint(format!("for example: {}", said.join(" ")))
                .hint("add the rule that settles it, or accept that the text leaves it open");
            found.push(Finding { lint, at: vec![id.name.clone()], diagnostic });
        }
        Ok(Ok(None)) => {}
        Ok(Err(_)) | Err(_) => {
            let hint = "raise `rlimit` under `[limits]` in deogen.toml";
            let message = format!("the solver cannot tell whether `{}` is ever silent", id.name);
            let diagnostic = spot("silent-scenario", message).hint(hint);
            found.push(Finding { lint: "silent-scenario", at: vec![id.name.clone()], diagnostic });
        }
    }
    undecided(task, case, found);
}

fn sentence(case: &Case<'_>, id: ConstId, value: &Value) -> String {
    let terms = &case.inquiry.policy.terms;
    let plain = || format!("{} = {}.", terms.constant(id).name, terms.spell(value));
    case.vocabulary.say(id, value, 0).unwrap_or_else(plain)
}

type Found = Result<Option<Facts>, Drop>;

/// The first facts, by declaration and order of values, that leave two verdicts: two copies of all
/// that is not stated, which agree on the facts and differ in the verdict.
fn example(task: &Task<'_>, case: &Case<'_>) -> Result<Found, SortFault> {
    let policy = &case.inquiry.policy;
    let slice = slice(case.inquiry, &[]);
    let mut terms = policy.terms.clone();
    let mut copies: FxHashMap<ConstId, TermId> = FxHashMap::default();
    for (id, constant) in policy.terms.constants() {
        if !slice.askable.contains(&id) {
            let copy = terms.declare(&format!("deogen!other!{}", id.index()), constant.sort);
            copies.insert(id, terms.constant_term(copy));
        }
    }
    let mut other = Substitution::new(copies);
    let mut asserts = Vec::new();
    for clause in slice.kept.iter().filter_map(|at| policy.clauses.get(*at)) {
        asserts.push(clause.term);
        asserts.push(other.apply(&mut terms, clause.term)?);
    }
    let there = other.apply(&mut terms, case.inquiry.verdict.term)?;
    let same = terms.eq(case.inquiry.verdict.term, there)?;
    if let Term::Bool(true) = terms.get(same) {
        return Ok(Ok(None));
    }
    asserts.push(terms.not(same)?);
    let mut session = Session::new(&terms, &asserts, task.limits.clone());
    match session.check(&[]) {
        Answer::Unsat(_) => return Ok(Ok(None)),
        Answer::Unknown(_) => return Ok(Err(Drop::Unknown)),
        Answer::Sat => {}
    }
    let mut facts = Facts::default();
    let mut literals = Vec::new();
    for id in &slice.askable {
        let words = case.vocabulary.words(*id);
        let presumed = words.and_then(|words| words.presumed.clone());
        let typical = words.map(|words| words.typical.clone()).unwrap_or_default();
        let finite = terms.values_of(terms.constant(*id).sort).unwrap_or_default();
        let order =
            presumed.into_iter().chain(finite).chain(typical.into_iter().map(Value::Number));
        for value in order {
            literals.push(session.fact(*id, &value));
            if session.check(&literals).is_sat() {
                facts.push(*id, value);
                break;
            }
            literals.pop();
        }
    }
    Ok(Ok(Some(facts)))
}

/// Verdict values that no full scenario forces.
fn undecided(task: &Task<'_>, case: &Case<'_>, found: &mut Vec<Finding>) {
    let values: Vec<usize> = (0..case.inquiry.verdict.values.len()).collect();
    let slice = slice(case.inquiry, &[]);
    let customs = crate::docket::Customs::default();
    let facts = Facts::default();
    let limits = task.limits.clone();
    let Ok(gaps) = crate::missing::Gaps::new(case.inquiry, &slice, &facts, &customs, limits) else {
        return;
    };
    let Ok(possible) = gaps.decidable(&values) else { return };
    for value in values.iter().filter(|value| !possible.contains(value)) {
        let Some(value) = case.inquiry.verdict.values.get(*value) else { continue };
        let spelled = case.inquiry.policy.terms.spell(value);
        let lint = "verdict-undecided";
        let message = format!("no facts force `{}` to be `{spelled}`", case.inquiry.verdict.name);
        let diagnostic = Diagnostic::warning(lint, message)
            .at(case.determination.verdict.span.clone(), "this verdict")
            .hint("a one-way rule leaves the other way open: add the missing rule");
        found.push(Finding { lint, at: vec![case.determination.id.name.clone()], diagnostic });
    }
}
