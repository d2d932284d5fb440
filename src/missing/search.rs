//! The search for the facts that one verdict value needs.

#![expect(clippy::indexing_slicing, reason = "positions of the facts and values at hand")]

use super::{Deciding, Gaps, Needs};
use crate::claim::Drop;
use crate::minimal::{self, Hitting};
use crate::options::Choice;
use crate::solver::{Answer, Lit, Session};
use crate::term::{ConstId, Value};

/// Combinations of facts that may be looked at; it bounds the size of sets. Each costs some
/// questions to the solver.
const MOST_COMBINATIONS: usize = 400;
/// Ways to avoid all sets found that may be looked at to prove that there are no others.
const MOST_WAYS: usize = 64;

/// The search for one verdict value.
pub(super) struct Search<'g> {
    pub(super) gaps: &'g Gaps,
    pub(super) session: Session<'g>,
    pub(super) base: Vec<Lit>,
    pub(super) value: usize,
    /// Scenarios with another value: a literal that says "differs in a fact considered".
    pub(super) against: Vec<Lit>,
}

impl Search<'_> {
    pub(super) fn needs(&mut self, most: usize) -> Result<Needs, Drop> {
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

    pub(super) fn holds(&mut self, claims: &[Lit]) -> Result<bool, Drop> {
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
    pub(super) fn decides(
        &mut self,
        set: &[usize],
        fixed: &[Lit],
    ) -> Result<Option<Vec<usize>>, Drop> {
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
            let truth = Value::Bool(set.contains(&at));
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
                    let truth = Value::Bool(true);
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
