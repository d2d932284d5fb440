//! The sections that settle an entry: minimal sets of sections which, with the facts and the
//! clauses on natural ranges, force the answer.
//!
//! Units are whole sections. Sets are minimised by yes/no answers alone, from the whole slice, path
//! sections preferred and then in document order (QuickXplain, Junker 2004); further sets by
//! Reiter's hitting-set tree. Cores the solver returns only answer later questions faster, never
//! differently.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rustc_hash::FxHashSet;

use crate::claim::Drop;
use crate::minimal;
use crate::policy::{ClauseKind, Facts, Inquiry, Section};
use crate::slice::{Slice, definitions};
use crate::solver::{Answer, Limits, Lit, Session};
use crate::term::{ConstId, SortFault, Term, TermId, Terms};

/// The slice with a switch per section.
pub struct Switched {
    terms: Terms,
    asserts: Vec<TermId>,
    /// Sections in document order, each with its switch.
    switches: Vec<(Section, TermId)>,
    verdict_is: Vec<TermId>,
    limits: Limits,
}

/// Minimal sets of sections, the canonical one first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Supports {
    /// Each in document order.
    pub sets: Vec<Vec<Section>>,
    /// There are no others.
    pub complete: bool,
}

impl Switched {
    /// Prepares a slice.
    ///
    /// # Errors
    /// A clause is not Bool, which the front end has ruled out.
    pub fn new(inquiry: &Inquiry, slice: &Slice, limits: Limits) -> Result<Self, SortFault> {
        let policy = &inquiry.policy;
        let mut terms = policy.terms.clone();
        let mut by_section: BTreeMap<(usize, usize), (Section, Vec<TermId>)> = BTreeMap::new();
        let mut asserts = Vec::new();
        for at in &slice.kept {
            let Some(clause) = policy.clauses.get(*at) else { continue };
            match (&clause.section, clause.kind) {
                (Some(section), ClauseKind::Rule) => by_section
                    .entry(policy.section_rank(section))
                    .or_insert_with(|| (section.clone(), Vec::new()))
                    .1
                    .push(clause.term),
                _ => asserts.push(clause.term),
            }
        }
        let mut switches = Vec::new();
        for (at, (section, clauses)) in by_section.into_values().enumerate() {
            let id = terms.declare(&format!("deogen!section!{at}"), crate::term::Sort::Bool);
            let switch = terms.constant_term(id);
            for clause in clauses {
                asserts.push(terms.implies(switch, clause)?);
            }
            switches.push((section, switch));
        }
        let mut verdict_is = Vec::new();
        for value in &inquiry.verdict.values {
            let sort = terms.sort(inquiry.verdict.term);
            let value = terms.value(value, sort);
            verdict_is.push(terms.eq(inquiry.verdict.term, value)?);
        }
        Ok(Self { terms, asserts, switches, verdict_is, limits })
    }

    /// A worker's solver over the switched slice.
    #[must_use]
    pub fn judge(&self) -> Judge<'_> {
        let session = Session::new(&self.terms, &self.asserts, self.limits.clone());
        Judge { switched: self, session, base: Vec::new(), forcing: Vec::new(), open: Vec::new() }
    }
}

/// One worker's solver, asked which sets of sections force an answer.
pub struct Judge<'s> {
    switched: &'s Switched,
    session: Session<'s>,
    base: Vec<Lit>,
    /// Sets known to force the answer, and sets known not to.
    forcing: Vec<Vec<usize>>,
    open: Vec<Vec<usize>>,
}

fn within(small: &[usize], large: &[usize]) -> bool {
    small.iter().all(|at| large.binary_search(at).is_ok())
}

impl Judge<'_> {
    /// Minimal sets that force `verdict = value` under the facts: at most `most`.
    ///
    /// # Errors
    /// The solver did not answer.
    pub fn supports(
        &mut self,
        facts: &Facts,
        value: usize,
        preferred: &BTreeSet<Section>,
        most: usize,
    ) -> Result<Supports, Drop> {
        self.base = facts.iter().map(|(id, value)| self.session.fact(id, value)).collect();
        if let Some(term) = self.switched.verdict_is.get(value) {
            self.base.push(self.session.term(*term, false));
        }
        self.forcing.clear();
        self.open.clear();
        let count = self.switched.switches.len();
        let mut order: Vec<usize> = (0..count).collect();
        order.sort_by_key(|at| {
            let section = self.switched.switches.get(*at).map(|(section, _)| section);
            (!section.is_some_and(|section| preferred.contains(section)), *at)
        });
        let mut sets: Vec<Vec<usize>> = Vec::new();
        let mut queue: VecDeque<BTreeSet<usize>> = VecDeque::from([BTreeSet::new()]);
        let mut seen: BTreeSet<BTreeSet<usize>> = BTreeSet::new();
        let mut looked = 0;
        while let Some(without) = queue.pop_front() {
            looked += 1;
            if looked > most * 8 {
                return Ok(self.named(sets, false));
            }
            let known = sets.iter().find(|set| set.iter().all(|at| !without.contains(at)));
            let set = if let Some(set) = known {
                set.clone()
            } else {
                let left: Vec<usize> =
                    order.iter().copied().filter(|at| !without.contains(at)).collect();
                let mut all = left.clone();
                all.sort_unstable();
                if !self.forces(&all)? {
                    continue;
                }
                if sets.len() >= most {
                    return Ok(self.named(sets, false));
                }
                let mut set = minimal::first(&left, &mut |part| {
                    let mut part = part.to_vec();
                    part.sort_unstable();
                    self.forces(&part)
                })?;
                set.sort_unstable();
                sets.push(set.clone());
                set
            };
            for at in set {
                let mut more = without.clone();
                more.insert(at);
                if seen.insert(more.clone()) {
                    queue.push_back(more);
                }
            }
        }
        Ok(self.named(sets, true))
    }

    fn named(&self, sets: Vec<Vec<usize>>, complete: bool) -> Supports {
        let name = |at: &usize| self.switched.switches.get(*at).map(|(s, _)| s.clone());
        let sets = sets.iter().map(|set| set.iter().filter_map(name).collect()).collect();
        Supports { sets, complete }
    }

    fn forces(&mut self, set: &[usize]) -> Result<bool, Drop> {
        if self.forcing.iter().any(|known| within(known, set)) {
            return Ok(true);
        }
        if self.open.iter().any(|known| within(set, known)) {
            return Ok(false);
        }
        let mut literals = self.base.clone();
        let mut switches = Vec::with_capacity(set.len());
        for at in set {
            if let Some((_, term)) = self.switched.switches.get(*at) {
                let literal = self.session.term(*term, true);
                switches.push((literal, *at));
                literals.push(literal);
            }
        }
        match self.session.check(&literals) {
            Answer::Unsat(core) => {
                let core: FxHashSet<Lit> = core.into_iter().collect();
                let part = switches.iter().filter(|(literal, _)| core.contains(literal));
                self.forcing.push(part.map(|(_, at)| *at).collect());
                Ok(true)
            }
            Answer::Sat => {
                self.open.push(set.to_vec());
                Ok(false)
            }
            Answer::Unknown(_) => Err(Drop::Unknown),
        }
    }
}

/// Through which sections stated facts reach a verdict.
#[derive(Debug)]
pub struct Reach {
    /// Clauses: what each defines or reads, and its section.
    clauses: Vec<(Option<ConstId>, Vec<ConstId>, Option<Section>)>,
    verdict: Vec<ConstId>,
}

impl Reach {
    /// Prepares a slice.
    #[must_use]
    pub fn new(inquiry: &Inquiry, slice: &Slice) -> Self {
        let policy = &inquiry.policy;
        let mut defined: FxHashSet<ConstId> = FxHashSet::default();
        let mut clauses = Vec::new();
        for clause in slice.kept.iter().filter_map(|at| policy.clauses.get(*at)) {
            let free = |id: &ConstId| !inquiry.askable.contains(id) && !defined.contains(id);
            let head = definitions(&policy.terms, clause.term)
                .into_iter()
                .map(|(id, _)| id)
                .find(|id| free(id));
            defined.extend(head);
            let mut reads = policy.terms.constants_in(clause.term);
            reads.retain(|id| Some(*id) != head);
            clauses.push((head, reads, clause.section.clone()));
        }
        let verdict = match policy.terms.get(inquiry.verdict.term) {
            Term::Const(id) => vec![*id],
            _ => policy.terms.constants_in(inquiry.verdict.term),
        };
        Self { clauses, verdict }
    }

    /// The sections of clauses that stand between the stated facts and the verdict.
    #[must_use]
    pub fn sections(&self, stated: impl Iterator<Item = ConstId>) -> BTreeSet<Section> {
        let stated: FxHashSet<ConstId> = stated.collect();
        // Upwards: what the facts bear on.
        let mut touched = stated;
        loop {
            let before = touched.len();
            for (head, reads, _) in &self.clauses {
                if let Some(head) = head
                    && reads.iter().any(|id| touched.contains(id))
                {
                    touched.insert(*head);
                }
            }
            if touched.len() == before {
                break;
            }
        }
        // Downwards: what the verdict reads, through definitions that the facts bear on.
        let mut wanted: FxHashSet<ConstId> = self.verdict.iter().copied().collect();
        let mut found = BTreeSet::new();
        loop {
            let before = (wanted.len(), found.len());
            for (head, reads, section) in &self.clauses {
                let leads = match head {
                    Some(head) => wanted.contains(head),
                    None => reads.iter().any(|id| wanted.contains(id)),
                };
                if leads && reads.iter().any(|id| touched.contains(id)) {
                    found.extend(section.clone());
                    if head.is_some() {
                        wanted.extend(reads.iter().filter(|id| touched.contains(id)));
                    }
                }
            }
            if (wanted.len(), found.len()) == before {
                return found;
            }
        }
    }
}
