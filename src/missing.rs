//! Which facts that are not stated could decide a verdict, and what each verdict would need.
//!
//! A set of facts could decide a verdict value if some choice for them, consistent with what is
//! stated, leaves only that value. The smallest such sets are found by size, then by declaration
//! order. Each choice that fails yields a scenario with another value, kept as a counterexample;
//! models only propose, and every step rests on yes/no answers, so what is listed is the same for
//! every solver.

#![expect(clippy::indexing_slicing, reason = "positions of the facts and values at hand")]

use std::collections::BTreeMap;

use crate::claim::Drop;
use crate::docket::Customs;
use crate::minimal::{self, Hitting};
use crate::numbers::Habits;
use crate::options::{Choice, Comparisons, Options};
use crate::policy::{Facts, Inquiry};
use crate::slice::Slice;
use crate::solver::{Answer, Limits, Lit, Session};
use crate::term::{ConstId, Number, Sort, SortFault, TermId, Terms};

/// Combinations of facts that may be looked at; it bounds the size of sets. Each costs some
/// questions to the solver.
const MOST_COMBINATIONS: usize = 400;
/// Ways to avoid all sets found that may be looked at to prove that there are no others.
const MOST_WAYS: usize = 64;

/// Facts that could decide, each with a choice that does, in declaration order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Deciding {
    /// The facts.
    pub facts: Vec<(ConstId, Choice)>,
    /// No smaller set decides this value; otherwise only no part of this one does.
    pub smallest: bool,
}

/// What one verdict value would need.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Sets, the smallest first.
    pub sets: Vec<Deciding>,
    /// There are no other sets that are minimal.
    pub complete: bool,
}

/// A slice prepared for the question what is missing.
pub struct Gaps {
    terms: Terms,
    asserts: Vec<TermId>,
    verdict_is: Vec<TermId>,
    facts: Vec<ConstId>,
    options: Vec<Options>,
    /// The order in which choices are tried, by fact.
    order: Vec<Vec<usize>>,
    /// The fact is among those considered, by fact.
    picked: Vec<ConstId>,
    /// A term for each choice, by fact.
    is: Vec<Vec<TermId>>,
    /// `picked, and another choice than this`, by fact and choice.
    differs: Vec<Vec<TermId>>,
    limits: Limits,
}

impl Gaps {
    /// Prepares a slice for the facts that are not stated.
    ///
    /// # Errors
    /// Sorts do not meet, which the front end has ruled out.
    pub fn new(
        inquiry: &Inquiry,
        slice: &Slice,
        stated: &Facts,
        customs: &Customs,
        limits: Limits,
    ) -> Result<Self, SortFault> {
        let mut terms = inquiry.policy.terms.clone();
        let term_of = |at: &usize| inquiry.policy.clauses.get(*at).map(|clause| clause.term);
        let mut asserts: Vec<TermId> = slice.kept.iter().filter_map(term_of).collect();
        let roots = asserts.iter().copied().chain([inquiry.verdict.term]);
        let comparisons = Comparisons::read(&terms, roots);
        let mut verdict_is = Vec::new();
        for value in &inquiry.verdict.values {
            let sort = terms.sort(inquiry.verdict.term);
            let value = terms.value(value, sort);
            verdict_is.push(terms.eq(inquiry.verdict.term, value)?);
        }
        let unstated = |id: &ConstId| stated.get(*id).is_none();
        let facts: Vec<ConstId> = slice.askable.iter().copied().filter(unstated).collect();
        let mut gaps = Self {
            terms: Terms::new(),
            asserts: Vec::new(),
            verdict_is,
            options: Vec::with_capacity(facts.len()),
            order: Vec::with_capacity(facts.len()),
            picked: Vec::with_capacity(facts.len()),
            is: Vec::with_capacity(facts.len()),
            differs: Vec::with_capacity(facts.len()),
            facts,
            limits,
        };
        for (at, id) in gaps.facts.iter().enumerate() {
            let habits = customs.habits.get(id).cloned().unwrap_or_else(|| habits(&terms, *id));
            let options = comparisons.options(&terms, *id, &habits);
            let mut order: Vec<usize> = (0..options.choices.len()).collect();
            let presumed = customs.presumed.iter().find(|(known, _)| known == id);
            let first = presumed.and_then(|(_, value)| options.place(value));
            order.sort_by_key(|choice| (Some(*choice) != first, *choice));
            let picked = terms.declare(&format!("deogen!picked!{at}"), Sort::Bool);
            let flag = terms.constant_term(picked);
            let mut is = Vec::new();
            for choice in &options.choices {
                is.push(choice.term(&mut terms, *id)?);
            }
            let mut differs = Vec::new();
            for choice in 0..is.len() {
                let others = is.iter().enumerate().filter(|(other, _)| *other != choice);
                let others: Vec<TermId> = others.map(|(_, term)| *term).collect();
                let other = terms.or(&others)?;
                differs.push(terms.and(&[flag, other])?);
            }
            if !options.exact {
                let any = terms.or(&is)?;
                asserts.push(terms.implies(flag, any)?);
            }
            gaps.options.push(options);
            gaps.order.push(order);
            gaps.picked.push(picked);
            gaps.is.push(is);
            gaps.differs.push(differs);
        }
        gaps.terms = terms;
        gaps.asserts = asserts;
        Ok(gaps)
    }

    /// Every fact considered has exact choices.
    #[must_use]
    pub fn exact(&self) -> bool {
        self.options.iter().all(|options| options.exact)
    }

    /// What each of some verdict values would need, at most `most` sets a value.
    ///
    /// # Errors
    /// The solver did not answer.
    pub fn needs(
        &self,
        stated: &Facts,
        values: &[usize],
        most: usize,
    ) -> Result<BTreeMap<usize, Needs>, Drop> {
        let mut session = Session::new(&self.terms, &self.asserts, self.limits.clone());
        let base = stated.iter().map(|(id, value)| session.fact(id, value)).collect();
        let mut all = BTreeMap::new();
        let mut search = Search { gaps: self, session, base, value: 0, against: Vec::new() };
        for value in values {
            search.value = *value;
            search.against.clear();
            all.insert(*value, search.needs(most)?);
        }
        Ok(all)
    }
}

fn habits(terms: &Terms, id: ConstId) -> Habits {
    let sort = terms.constant(id).sort;
    let hundredth = Number::new(1.into(), 100.into());
    let step = if sort == Sort::Real { hundredth } else { Number::from_integer(1.into()) };
    Habits { sort, step, ..Habits::default() }
}

/// The search for one verdict value.
struct Search<'g> {
    gaps: &'g Gaps,
    session: Session<'g>,
    base: Vec<Lit>,
    value: usize,
    /// Scenarios with another value: a literal that says "differs in a fact considered".
    against: Vec<Lit>,
}

impl Search<'_> {
    fn needs(&mut self, most: usize) -> Result<Needs, Drop> {
        let count = self.gaps.facts.len();
        let all: Vec<usize> = (0..count).collect();
        if self.decides(&all, &[])?.is_none() {
            return Ok(Needs { sets: Vec::new(), complete: self.gaps.exact() });
        }
        let mut hitting = Hitting::default();
        let limit = sizes(count);
        let mut full = false;
        if limit < count.min(2) {
            return self.many(&all, most);
        }
        if self.decides(&[], &[])?.is_none() {
            hitting.to_meet.push(self.outside(&[])?);
            'sizes: for size in 1..=limit {
                while let Some(set) = hitting.next(size) {
                    if self.decides(&set, &[])?.is_none() {
                        hitting.to_meet.push(self.outside(&set)?);
                        continue;
                    }
                    hitting.found.push(set);
                    if hitting.found.len() >= most {
                        full = true;
                        break 'sizes;
                    }
                }
            }
        }
        let all_sizes = limit >= count && !full;
        // Among many facts the proof that nothing is left takes too long.
        let complete = self.gaps.exact() && (all_sizes || (limit > 1 && self.covered(&hitting)?));
        if hitting.found.is_empty() {
            let sets = vec![Deciding { facts: self.reason()?, smallest: false }];
            return Ok(Needs { sets, complete });
        }
        let mut sets = Vec::new();
        for set in &hitting.found {
            sets.push(Deciding { facts: self.choose(set)?, smallest: true });
        }
        Ok(Needs { sets, complete })
    }

    /// Among many facts: those that decide alone, else one scenario's reason. That nothing else
    /// decides would take too long to prove.
    fn many(&mut self, all: &[usize], most: usize) -> Result<Needs, Drop> {
        let gaps = self.gaps;
        let is = gaps.verdict_is[self.value];
        let (yes, no) = (self.session.term(is, true), self.session.term(is, false));
        let mut sets = Vec::new();
        for at in all {
            for choice in &gaps.order[*at] {
                let mut claims = self.base.clone();
                claims.push(self.session.term(gaps.is[*at][*choice], true));
                claims.push(no);
                if self.holds(&claims)? {
                    continue;
                }
                claims.pop();
                claims.push(yes);
                if self.holds(&claims)? {
                    let choice = gaps.options[*at].choices[*choice].clone();
                    sets.push(Deciding { facts: vec![(gaps.facts[*at], choice)], smallest: true });
                    break;
                }
            }
            if sets.len() >= most {
                break;
            }
        }
        if sets.is_empty() {
            sets.push(Deciding { facts: self.reason()?, smallest: false });
        }
        Ok(Needs { sets, complete: false })
    }

    fn holds(&mut self, claims: &[Lit]) -> Result<bool, Drop> {
        match self.session.check(claims) {
            Answer::Sat => Ok(true),
            Answer::Unsat(_) => Ok(false),
            Answer::Unknown(_) => Err(Drop::Unknown),
        }
    }

    /// A scenario that decides the value, with the first choice fact by fact, and of it the first
    /// facts that still decide and no part of which does.
    fn reason(&mut self) -> Result<Vec<(ConstId, Choice)>, Drop> {
        let gaps = self.gaps;
        let all: Vec<usize> = (0..gaps.facts.len()).collect();
        let facts = self.choose(&all)?;
        let mut literals = Vec::with_capacity(facts.len());
        for (at, (_, choice)) in facts.iter().enumerate() {
            let place = gaps.options[at].choices.iter().position(|other| other == choice);
            let term = gaps.is[at][place.ok_or(Drop::Unknown)?];
            literals.push(self.session.term(term, true));
        }
        let mut other = self.base.clone();
        other.push(self.session.term(gaps.verdict_is[self.value], false));
        let part = minimal::first(&all, &mut |part| {
            let mut claims = other.clone();
            claims.extend(part.iter().map(|at| literals[*at]));
            self.holds(&claims).map(|holds| !holds)
        })?;
        Ok(part.iter().map(|at| facts[*at].clone()).collect())
    }

    /// Whether every deciding set contains one that was found: none avoids them all.
    fn covered(&mut self, hitting: &Hitting) -> Result<bool, Drop> {
        let Some(ways) = hitting.transversals(MOST_WAYS) else { return Ok(false) };
        for without in ways {
            let all = 0..self.gaps.facts.len();
            let rest: Vec<usize> = all.filter(|at| !without.contains(at)).collect();
            if hitting.found.is_empty() || self.decides(&rest, &[])?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A choice for each of these facts that decides the value, the fixed ones given; none if no
    /// choice does.
    fn decides(&mut self, set: &[usize], fixed: &[Lit]) -> Result<Option<Vec<usize>>, Drop> {
        while self.proposes(set, fixed)? {
            let gaps = self.gaps;
            let mut chosen = Vec::with_capacity(set.len());
            for at in set {
                let value = self.session.model_value(gaps.facts[*at]).ok_or(Drop::Unknown)?;
                chosen.push(gaps.options[*at].place(&value).ok_or(Drop::Unknown)?);
            }
            let mut literals = self.base.clone();
            for (at, choice) in set.iter().zip(&chosen) {
                literals.push(self.session.term(gaps.is[*at][*choice], true));
            }
            let is = gaps.verdict_is[self.value];
            literals.push(self.session.term(is, false));
            match self.session.check(&literals) {
                Answer::Unknown(_) => return Err(Drop::Unknown),
                Answer::Sat => self.learn()?,
                Answer::Unsat(_) => {
                    literals.pop();
                    literals.push(self.session.term(is, true));
                    return match self.session.check(&literals) {
                        Answer::Sat => Ok(Some(chosen)),
                        _ => Err(Drop::Unknown),
                    };
                }
            }
        }
        Ok(None)
    }

    /// Whether some scenario has the value and differs from every counterexample in one of these
    /// facts.
    fn proposes(&mut self, set: &[usize], fixed: &[Lit]) -> Result<bool, Drop> {
        let mut literals = self.base.clone();
        literals.extend(fixed);
        literals.extend(&self.against);
        literals.push(self.session.term(self.gaps.verdict_is[self.value], true));
        for (at, flag) in self.gaps.picked.iter().enumerate() {
            let truth = crate::term::Value::Bool(set.contains(&at));
            literals.push(self.session.fact(*flag, &truth));
        }
        self.holds(&literals)
    }

    /// Keeps the scenario of the last check, which has another value, after asking whether it is
    /// one.
    fn learn(&mut self) -> Result<(), Drop> {
        let gaps = self.gaps;
        let mut scenario = Vec::with_capacity(gaps.facts.len());
        for id in &gaps.facts {
            scenario.push(self.session.model_value(*id).ok_or(Drop::Unknown)?);
        }
        let mut literals = self.base.clone();
        let mut differs = Vec::with_capacity(scenario.len());
        for (at, value) in scenario.iter().enumerate() {
            literals.push(self.session.fact(gaps.facts[at], value));
            differs.push(match gaps.options[at].place(value) {
                Some(choice) => self.session.term(gaps.differs[at][choice], true),
                None => {
                    let truth = crate::term::Value::Bool(true);
                    self.session.fact(gaps.picked[at], &truth)
                }
            });
        }
        literals.push(self.session.term(gaps.verdict_is[self.value], false));
        match self.session.check(&literals) {
            Answer::Sat => {
                let literal = self.session.any(&differs);
                self.against.push(literal);
                Ok(())
            }
            _ => Err(Drop::Unknown),
        }
    }

    /// The facts outside a set that contains this one and still decides nothing, by what is known:
    /// one of them at least is needed.
    fn outside(&mut self, set: &[usize]) -> Result<Vec<usize>, Drop> {
        let mut inside = set.to_vec();
        let all = 0..self.gaps.facts.len();
        let rest: Vec<usize> = all.filter(|at| !set.contains(at)).collect();
        let mut blocks = vec![rest];
        let mut outside = Vec::new();
        while let Some(block) = blocks.pop() {
            if block.is_empty() {
                continue;
            }
            let more = [inside.as_slice(), &block].concat();
            if !self.proposes(&more, &[])? {
                inside = more;
            } else if let [only] = block.as_slice() {
                outside.push(*only);
            } else {
                let (front, back) = block.split_at(block.len() / 2);
                blocks.extend([back.to_vec(), front.to_vec()]);
            }
        }
        outside.sort_unstable();
        Ok(outside)
    }

    /// The first choice that decides, fact by fact.
    fn choose(&mut self, set: &[usize]) -> Result<Vec<(ConstId, Choice)>, Drop> {
        let gaps = self.gaps;
        let mut fixed = Vec::new();
        let mut facts = Vec::new();
        let mut known: Option<Vec<usize>> = None;
        for (index, at) in set.iter().enumerate() {
            for choice in &gaps.order[*at] {
                fixed.push(self.session.term(gaps.is[*at][*choice], true));
                // A decision that was found with this choice needs no further question.
                let found = match &known {
                    Some(known) if known[index] == *choice => true,
                    _ => match self.decides(set, &fixed)? {
                        Some(found) => {
                            known = Some(found);
                            true
                        }
                        None => false,
                    },
                };
                if found {
                    let choice = gaps.options[*at].choices[*choice].clone();
                    facts.push((gaps.facts[*at], choice));
                    break;
                }
                fixed.pop();
            }
        }
        Ok(facts)
    }
}

/// The largest size of sets among `count` facts that is looked at in full.
fn sizes(count: usize) -> usize {
    let mut size = 0;
    let mut combinations = 1_usize;
    while size < count {
        combinations = combinations.saturating_mul(count - size) / (size + 1);
        if combinations > MOST_COMBINATIONS {
            break;
        }
        size += 1;
    }
    size
}
