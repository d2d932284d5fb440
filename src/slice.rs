//! The clauses a verdict depends on, and why each of the others may be dropped.
//!
//! Exact for the verdict and the facts (DESIGN.md section 5): a definition nobody reads can always
//! be satisfied, and a part that shares no constant with the rest is satisfiable by itself, as one
//! stored scenario of the whole policy proves. Nothing else is dropped.

#![expect(clippy::indexing_slicing, reason = "positions of clauses of the policy at hand")]

use rustc_hash::{FxHashMap, FxHashSet};

use crate::digest::{Digest, Encoder};
use crate::policy::{ClauseKind, Inquiry, Policy, TermDigests};
use crate::term::{ConstId, Sort, Term, TermId, Terms};

/// Why a clause may be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It defines a constant that neither the verdict, a fact nor a remaining clause reads.
    Unread(ConstId),
    /// It shares no constant with the verdict, not even through other clauses.
    Unconnected,
}

/// What is left of a policy for one verdict and its facts.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Positions of the clauses kept, ascending.
    pub kept: Vec<usize>,
    /// Positions of the clauses dropped, ascending, each with its reason.
    pub dropped: Vec<(usize, Reason)>,
    /// The facts that some kept clause or the verdict mentions, in declaration order.
    pub askable: Vec<ConstId>,
}

/// `d = t` read as a definition: `d` a declared constant that does not occur in `t`. A bare `d` or
/// `(not d)` defines `d` too.
#[must_use]
pub fn definitions(terms: &Terms, clause: TermId) -> Vec<(ConstId, Option<TermId>)> {
    let mut found = Vec::new();
    match terms.get(clause) {
        Term::Const(id) => found.push((*id, None)),
        Term::Not(inner) => {
            if let Term::Const(id) = terms.get(*inner) {
                found.push((*id, None));
            }
            // (not (= a b)) over Bool is (= a (not b)); authors write it seldom: left as it is.
        }
        Term::Eq(a, b) => {
            for (left, right) in [(*a, *b), (*b, *a)] {
                if let Term::Const(id) = terms.get(left)
                    && terms.constants_in(right).binary_search(id).is_err()
                {
                    found.push((*id, Some(right)));
                }
            }
        }
        _ => {}
    }
    found
}

/// Slices for the inquiry's verdict and its askable facts, and for further facts (distractors,
/// facts given to `ask`), whose clauses then stay too.
#[must_use]
pub fn slice(inquiry: &Inquiry, further: &[ConstId]) -> Slice {
    let policy = &inquiry.policy;
    let mut facts: FxHashSet<ConstId> = inquiry.askable.iter().copied().collect();
    facts.extend(further);
    let verdict = policy.terms.constants_in(inquiry.verdict.term);
    let mut mentions: Vec<Vec<ConstId>> =
        policy.clauses.iter().map(|clause| policy.terms.constants_in(clause.term)).collect();
    let mut dropped = drop_unread(policy, &facts, &verdict, &mentions);
    for (at, _) in &dropped {
        mentions[*at].clear();
    }
    let mut seeds: Vec<ConstId> = verdict;
    seeds.extend(further);
    let connected = closure(&mentions, &seeds);
    let gone: FxHashSet<usize> = dropped.iter().map(|(at, _)| *at).collect();
    let mut kept = Vec::new();
    for (at, constants) in mentions.iter().enumerate() {
        if gone.contains(&at) {
            continue;
        }
        // A clause without constants is true or false whatever the facts are: it stays.
        if constants.is_empty() || constants.iter().any(|id| connected.contains(id)) {
            kept.push(at);
        } else {
            dropped.push((at, Reason::Unconnected));
        }
    }
    dropped.sort_unstable_by_key(|(at, _)| *at);
    let askable = inquiry.askable.iter().copied().filter(|id| connected.contains(id)).collect();
    Slice { kept, dropped, askable }
}

/// The slice that keeps everything, for `--no-slice`.
#[must_use]
pub fn whole(inquiry: &Inquiry) -> Slice {
    let askable = slice(inquiry, &[]).askable;
    Slice { kept: (0..inquiry.policy.clauses.len()).collect(), dropped: Vec::new(), askable }
}

fn drop_unread(
    policy: &Policy,
    facts: &FxHashSet<ConstId>,
    verdict: &[ConstId],
    mentions: &[Vec<ConstId>],
) -> Vec<(usize, Reason)> {
    let mut readers: FxHashMap<ConstId, usize> = FxHashMap::default();
    let mut clauses_of: FxHashMap<ConstId, Vec<usize>> = FxHashMap::default();
    for (at, constants) in mentions.iter().enumerate() {
        for id in constants {
            *readers.entry(*id).or_default() += 1;
            clauses_of.entry(*id).or_default().push(at);
        }
    }
    let removable = |at: usize, readers: &FxHashMap<ConstId, usize>| {
        definitions(&policy.terms, policy.clauses[at].term).into_iter().map(|(id, _)| id).find(
            |id| {
                !facts.contains(id)
                    && !verdict.contains(id)
                    && readers.get(id).copied().unwrap_or(0) == 1
            },
        )
    };
    let mut dropped: Vec<(usize, Reason)> = Vec::new();
    let mut gone = vec![false; mentions.len()];
    let mut queue: Vec<usize> = (0..mentions.len()).collect();
    while let Some(at) = queue.pop() {
        if gone[at] {
            continue;
        }
        let Some(id) = removable(at, &readers) else {
            continue;
        };
        gone[at] = true;
        dropped.push((at, Reason::Unread(id)));
        for other in &mentions[at] {
            if let Some(count) = readers.get_mut(other) {
                *count -= 1;
            }
            queue.extend(clauses_of.get(other).into_iter().flatten().copied());
        }
    }
    dropped
}

fn closure(mentions: &[Vec<ConstId>], seeds: &[ConstId]) -> FxHashSet<ConstId> {
    let mut reached: FxHashSet<ConstId> = seeds.iter().copied().collect();
    let mut clauses_of: FxHashMap<ConstId, Vec<usize>> = FxHashMap::default();
    for (at, constants) in mentions.iter().enumerate() {
        for id in constants {
            clauses_of.entry(*id).or_default().push(at);
        }
    }
    let mut stack: Vec<ConstId> = seeds.to_vec();
    while let Some(id) = stack.pop() {
        for at in clauses_of.get(&id).into_iter().flatten() {
            for other in &mentions[*at] {
                if reached.insert(*other) {
                    stack.push(*other);
                }
            }
        }
    }
    reached
}

/// The digest of what a slice means: its clauses by name, label and term, whatever their order, the
/// sorts and order of its facts, and the verdict. Comments, layout and dropped clauses are not in
/// it.
#[must_use]
pub fn meaning(inquiry: &Inquiry, slice: &Slice) -> Digest {
    let policy = &inquiry.policy;
    let mut terms = TermDigests::default();
    let mut clauses: Vec<Digest> = Vec::with_capacity(slice.kept.len());
    for at in &slice.kept {
        let clause = &policy.clauses[*at];
        let mut encoder = Encoder::new();
        encoder.text(policy.member(clause.member));
        if clause.kind == ClauseKind::Rule {
            encoder.text(&clause.name);
            for section in clause.section.iter().chain(&clause.cites) {
                encoder.text(&policy.spell_section(section));
            }
        }
        encoder.digest(&terms.of(&policy.terms, clause.term));
        clauses.push(encoder.finish());
    }
    clauses.sort_unstable();
    clauses.dedup();
    let mut encoder = Encoder::new();
    encoder.number(clauses.len() as u64);
    for clause in &clauses {
        encoder.digest(clause);
    }
    let mut hidden: Vec<ConstId> = slice
        .kept
        .iter()
        .flat_map(|at| policy.terms.constants_in(policy.clauses[*at].term))
        .filter(|id| !slice.askable.contains(id))
        .collect();
    hidden.sort_by_key(|id| &policy.terms.constant(*id).name);
    hidden.dedup();
    // Facts in declaration order; hidden constants by name, since their order means nothing.
    for id in slice.askable.iter().chain(&hidden) {
        let constant = policy.terms.constant(*id);
        encoder.text(&constant.name).text(&policy.terms.sort_name(constant.sort));
        if let Sort::Enum(sort) = constant.sort {
            for value in &policy.terms.enumeration(sort).constructors {
                encoder.text(value);
            }
        }
    }
    encoder.text(&inquiry.verdict.name);
    encoder.digest(&terms.of(&policy.terms, inquiry.verdict.term));
    for value in &inquiry.verdict.values {
        encoder.text(&policy.terms.spell(value));
    }
    encoder.finish()
}
