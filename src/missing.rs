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
use crate::numbers::Habits;
use crate::options::{Choice, Comparisons, Options};
use crate::policy::{Facts, Inquiry};
use crate::slice::Slice;
use crate::solver::{Limits, Session};
use crate::term::{ConstId, Number, Sort, SortFault, TermId, Terms};

mod search;

use search::Search;

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

    /// Those of some verdict values that a choice for all facts forces; where choices are not exact
    /// only likely numbers are tried, and what they do not force counts as forced.
    ///
    /// # Errors
    /// The solver did not answer.
    pub fn decidable(&self, values: &[usize]) -> Result<Vec<usize>, Drop> {
        let mut session = Session::new(&self.terms, &self.asserts, self.limits.clone());
        let all: Vec<usize> = (0..self.facts.len()).collect();
        let mut found = Vec::new();
        for value in values {
            let is = session.term(self.verdict_is[*value], true);
            let against = Vec::new();
            let base = Vec::new();
            let mut search = Search { gaps: self, session, base, value: *value, against };
            let impossible = !search.holds(&[is])?;
            if impossible || search.decides(&all, &[])?.is_some() || !self.exact() {
                found.push(*value);
            }
            session = search.session;
        }
        Ok(found)
    }
}

fn habits(terms: &Terms, id: ConstId) -> Habits {
    let sort = terms.constant(id).sort;
    let hundredth = Number::new(1.into(), 100.into());
    let step = if sort == Sort::Real { hundredth } else { Number::from_integer(1.into()) };
    Habits { sort, step, ..Habits::default() }
}
