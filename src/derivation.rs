//! What stated facts force beside the verdict, step by step: each derived condition that became
//! true or false, by which clause and since which facts or conditions before it.
//!
//! A step rests on one clause wherever one is enough. Only yes/no answers of the solver count.

use std::collections::{BTreeMap, BTreeSet};

use crate::claim::Drop;
use crate::minimal;
use crate::policy::{ClauseKind, Facts, Policy};
use crate::slice::{Slice, definitions};
use crate::solver::{Answer, Limits, Lit, Session};
use crate::term::{ConstId, SortFault, Term, TermId, Terms, Value};

/// What a step settles.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Subject {
    /// A constant that is not stated.
    Constant(ConstId),
    /// The verdict, where it is a term of its own.
    Verdict,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// What is settled.
    pub subject: Subject,
    /// Its value.
    pub value: Value,
    /// Positions of the clauses it follows by; none if it is a matter of logic alone.
    pub clauses: Vec<usize>,
    /// Stated facts and settled constants it follows from, in the order they became known.
    pub since: Vec<ConstId>,
    /// The verdict rests on it.
    pub needed: bool,
    /// It rests on a stated fact.
    pub stated: bool,
}

/// What is to be explained.
pub struct Riddle<'r> {
    /// The joined policy.
    pub policy: &'r Policy,
    /// The clauses that count.
    pub slice: &'r Slice,
    /// The term the determination decides.
    pub verdict: TermId,
    /// Its value, if the facts force one.
    pub value: Option<&'r Value>,
    /// Limits of every check.
    pub limits: Limits,
}

/// The steps that consistent facts lead to.
///
/// # Errors
/// The solver did not answer.
pub fn derive(riddle: &Riddle<'_>, facts: &Facts) -> Result<Vec<Step>, Drop> {
    let forced = forced(riddle, facts)?;
    let mut terms = riddle.policy.terms.clone();
    let mut is = BTreeMap::new();
    for (id, value) in &forced {
        let term = equal(&mut terms, *id, value).map_err(|_| Drop::Unknown)?;
        is.insert(Subject::Constant(*id), (term, value.clone()));
    }
    let plain = matches!(terms.get(riddle.verdict), Term::Const(_));
    if let (Some(value), false) = (riddle.value, plain) {
        let sort = terms.sort(riddle.verdict);
        let literal = terms.value(value, sort);
        let term = terms.eq(riddle.verdict, literal).map_err(|_| Drop::Unknown)?;
        is.insert(Subject::Verdict, (term, value.clone()));
    }
    let mut prover = Prover::new(riddle, &terms, is, facts);
    prover.run()?;
    let mut steps = prover.steps;
    mark(riddle, facts, &mut steps);
    Ok(steps)
}

fn equal(terms: &mut Terms, id: ConstId, value: &Value) -> Result<TermId, SortFault> {
    let sort = terms.constant(id).sort;
    let left = terms.constant_term(id);
    let right = terms.value(value, sort);
    terms.eq(left, right)
}

/// Every constant of the slice that the facts leave one value, in declaration order.
fn forced(riddle: &Riddle<'_>, facts: &Facts) -> Result<Vec<(ConstId, Value)>, Drop> {
    let policy = riddle.policy;
    let clauses = || riddle.slice.kept.iter().filter_map(|at| policy.clauses.get(*at));
    let asserts: Vec<TermId> = clauses().map(|clause| clause.term).collect();
    let mentioned: BTreeSet<ConstId> = clauses()
        .flat_map(|clause| policy.terms.constants_in(clause.term))
        .chain(policy.terms.constants_in(riddle.verdict))
        .filter(|id| facts.get(*id).is_none())
        .collect();
    let mut open: Vec<(ConstId, Value)> = Vec::new();
    {
        let mut session = Session::new(&policy.terms, &asserts, riddle.limits.clone());
        let base: Vec<Lit> = facts.iter().map(|(id, value)| session.fact(id, value)).collect();
        if session.check(&base) != Answer::Sat {
            return Err(Drop::Unknown);
        }
        for id in mentioned {
            open.extend(session.model_value(id).map(|value| (id, value)));
        }
    }
    let mut terms = policy.terms.clone();
    let mut is = Vec::with_capacity(open.len());
    for (id, value) in &open {
        is.push(equal(&mut terms, *id, value).map_err(|_| Drop::Unknown)?);
    }
    let mut session = Session::new(&terms, &asserts, riddle.limits.clone());
    let base: Vec<Lit> = facts.iter().map(|(id, value)| session.fact(id, value)).collect();
    let mut candidates: Vec<(ConstId, Value, TermId)> =
        open.into_iter().zip(is).map(|((id, value), term)| (id, value, term)).rev().collect();
    let mut found = Vec::new();
    while let Some((id, value, term)) = candidates.pop() {
        let mut literals = base.clone();
        literals.push(session.term(term, false));
        match session.check(&literals) {
            Answer::Unsat(_) => found.push((id, value)),
            Answer::Unknown(_) => return Err(Drop::Unknown),
            // A scenario that gives another constant another value settles that one, too.
            Answer::Sat => {
                candidates
                    .retain(|(id, value, _)| session.model_value(*id).as_ref() == Some(value));
            }
        }
    }
    Ok(found)
}

struct Prover<'p> {
    riddle: &'p Riddle<'p>,
    session: Session<'p>,
    is: BTreeMap<Subject, (TermId, Value)>,
    known: BTreeMap<ConstId, Value>,
    /// Constants in the order in which they became known.
    order: Vec<ConstId>,
    /// Clauses of the slice: position, constants.
    clauses: Vec<(usize, Vec<ConstId>)>,
    steps: Vec<Step>,
}

impl<'p> Prover<'p> {
    fn new(
        riddle: &'p Riddle<'p>,
        terms: &'p Terms,
        is: BTreeMap<Subject, (TermId, Value)>,
        facts: &Facts,
    ) -> Self {
        let policy = riddle.policy;
        let read = |at: &usize| {
            let clause = policy.clauses.get(*at)?;
            Some((*at, policy.terms.constants_in(clause.term)))
        };
        let mut clauses: Vec<(usize, Vec<ConstId>)> =
            riddle.slice.kept.iter().filter_map(read).collect();
        // Rules explain better than natural ranges.
        let is_range =
            |at: &usize| policy.clauses.get(*at).is_some_and(|c| c.kind == ClauseKind::Range);
        clauses.sort_by_key(|(at, _)| (is_range(at), *at));
        Self {
            riddle,
            session: Session::new(terms, &[], riddle.limits.clone()),
            is,
            known: facts.iter().map(|(id, value)| (id, value.clone())).collect(),
            order: facts.iter().map(|(id, _)| id).collect(),
            clauses,
            steps: Vec::new(),
        }
    }

    fn open(&self, subject: Subject) -> bool {
        match subject {
            Subject::Constant(id) => {
                self.is.contains_key(&subject) && !self.known.contains_key(&id)
            }
            Subject::Verdict => !self.steps.iter().any(|step| step.subject == subject),
        }
    }

    fn run(&mut self) -> Result<(), Drop> {
        self.single()?;
        // Where no clause settles the verdict by itself it follows from several, as by a
        // distinction of cases.
        let subject = match self.riddle.policy.terms.get(self.riddle.verdict) {
            Term::Const(id) => Subject::Constant(*id),
            _ => Subject::Verdict,
        };
        if self.is.contains_key(&subject) && self.open(subject) {
            self.together(subject)?;
        }
        Ok(())
    }

    /// Steps by one clause each, until there are none.
    fn single(&mut self) -> Result<(), Drop> {
        let mut tried: Vec<usize> = vec![0; self.clauses.len()];
        loop {
            let before = self.steps.len();
            for index in 0..self.clauses.len() {
                let Some((at, constants)) = self.clauses.get(index).cloned() else { continue };
                let known = constants.iter().filter(|id| self.known.contains_key(id)).count() + 1;
                let open = constants.iter().filter(|id| self.open(Subject::Constant(**id)));
                let open: Vec<ConstId> = open.copied().collect();
                match tried.get_mut(index) {
                    Some(tried) if *tried < known && !open.is_empty() => *tried = known,
                    _ => continue,
                }
                // A definition settles what it defines before it settles what it reads.
                let term = self.riddle.policy.clauses.get(at).map(|clause| clause.term);
                let heads: Vec<ConstId> = term
                    .map(|term| definitions(&self.riddle.policy.terms, term))
                    .unwrap_or_default()
                    .into_iter()
                    .map(|(id, _)| id)
                    .collect();
                let (first, rest): (Vec<ConstId>, Vec<ConstId>) =
                    open.into_iter().partition(|id| heads.contains(id));
                for id in first.into_iter().chain(rest) {
                    let subject = Subject::Constant(id);
                    if self.open(subject)
                        && self.follows(subject, &[at], &self.premises(&constants))?
                    {
                        self.keep(subject, vec![at], &constants)?;
                    }
                }
            }
            self.verdict()?;
            if self.steps.len() == before {
                return Ok(());
            }
        }
    }

    /// The verdict, once its own constants settle it.
    fn verdict(&mut self) -> Result<(), Drop> {
        let subject = Subject::Verdict;
        if !self.is.contains_key(&subject) || !self.open(subject) {
            return Ok(());
        }
        let constants = self.riddle.policy.terms.constants_in(self.riddle.verdict);
        if self.follows(subject, &[], &self.premises(&constants))? {
            self.keep(subject, Vec::new(), &constants)?;
        }
        Ok(())
    }

    fn together(&mut self, subject: Subject) -> Result<(), Drop> {
        let known = self.order.clone();
        let all: Vec<usize> = self.clauses.iter().map(|(at, _)| *at).collect();
        if !self.follows(subject, &all, &known)? {
            return Err(Drop::Unknown);
        }
        let mut clauses = minimal::first(&all, &mut |part| self.follows(subject, part, &known))?;
        clauses.sort_unstable();
        let mut constants: Vec<ConstId> = self
            .clauses
            .iter()
            .filter(|(at, _)| clauses.contains(at))
            .flat_map(|(_, constants)| constants.iter().copied())
            .collect();
        if subject == Subject::Verdict {
            constants.extend(self.riddle.policy.terms.constants_in(self.riddle.verdict));
        }
        self.keep(subject, clauses, &constants)
    }

    /// Those of some constants that are known, in the order in which they became so.
    fn premises(&self, constants: &[ConstId]) -> Vec<ConstId> {
        self.order.iter().copied().filter(|id| constants.contains(id)).collect()
    }

    fn keep(
        &mut self,
        subject: Subject,
        clauses: Vec<usize>,
        constants: &[ConstId],
    ) -> Result<(), Drop> {
        let premises = self.premises(constants);
        let all: Vec<usize> = (0..premises.len()).collect();
        let pick = |part: &[usize]| -> Vec<ConstId> {
            part.iter().filter_map(|at| premises.get(*at).copied()).collect()
        };
        let part = minimal::first(&all, &mut |part| self.follows(subject, &clauses, &pick(part)))?;
        let since = pick(&part);
        let Some((_, value)) = self.is.get(&subject).cloned() else { return Ok(()) };
        if let Subject::Constant(id) = subject {
            self.known.insert(id, value.clone());
            self.order.push(id);
        }
        self.steps.push(Step { subject, value, clauses, since, needed: false, stated: false });
        Ok(())
    }

    fn follows(
        &mut self,
        subject: Subject,
        clauses: &[usize],
        since: &[ConstId],
    ) -> Result<bool, Drop> {
        let Some((term, _)) = self.is.get(&subject) else { return Ok(false) };
        let mut literals = vec![self.session.term(*term, false)];
        for id in since {
            if let Some(value) = self.known.get(id) {
                literals.push(self.session.fact(*id, value));
            }
        }
        for clause in clauses.iter().filter_map(|at| self.riddle.policy.clauses.get(*at)) {
            literals.push(self.session.term(clause.term, true));
        }
        match self.session.check(&literals) {
            Answer::Unsat(_) => Ok(true),
            Answer::Sat => Ok(false),
            Answer::Unknown(_) => Err(Drop::Unknown),
        }
    }
}

/// Marks the steps that rest on facts, and those that the verdict rests on.
fn mark(riddle: &Riddle<'_>, facts: &Facts, steps: &mut [Step]) {
    let mut stated: BTreeSet<ConstId> = facts.iter().map(|(id, _)| id).collect();
    for step in steps.iter_mut() {
        step.stated = step.since.iter().any(|id| stated.contains(id));
        if let (true, Subject::Constant(id)) = (step.stated, step.subject) {
            stated.insert(id);
        }
    }
    let mut wanted: BTreeSet<ConstId> = BTreeSet::new();
    if let Term::Const(id) = riddle.policy.terms.get(riddle.verdict) {
        wanted.insert(*id);
    }
    for step in steps.iter_mut().rev() {
        step.needed = match step.subject {
            Subject::Verdict => true,
            Subject::Constant(id) => wanted.contains(&id),
        };
        if step.needed {
            wanted.extend(&step.since);
        }
    }
}
