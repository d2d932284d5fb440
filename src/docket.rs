//! What certifying needs of one determination, prepared once and shared by all workers.

use std::collections::BTreeMap;

use crate::linear::Linear;
use crate::numbers::Habits;
use crate::outline::Outline;
use crate::policy::Inquiry;
use crate::slice::{Slice, definitions};
use crate::solver::Limits;
use crate::space::Level;
use crate::term::{ConstId, Number, Sort, SortFault, TermId, Terms, Value};

/// A value for every constant of a policy.
pub type Scenario = Vec<(ConstId, Value)>;

/// What the vocabulary says that bears on numbers and presumptions.
#[derive(Clone, Debug, Default)]
pub struct Customs {
    /// Of each number.
    pub habits: BTreeMap<ConstId, Habits>,
    /// What a reader takes for granted unless told.
    pub presumed: Vec<(ConstId, Value)>,
}

/// Everything a proof may ask about.
#[derive(Clone, Debug)]
pub struct Docket {
    /// The policy's terms and those of the verdict's values and the tree's constraints.
    pub terms: Terms,
    /// Clauses of the slice.
    pub asserts: Vec<TermId>,
    /// Clauses of the whole policy.
    pub whole: Vec<TermId>,
    /// Clauses of the slice over numbers alone.
    pub background: Vec<TermId>,
    /// `verdict = value`, by value.
    pub verdict_is: Vec<TermId>,
    /// The term of each level of the tree that is a constraint.
    pub constraints: Vec<Option<TermId>>,
    /// What each level stands for.
    pub levels: Vec<Level>,
    /// Facts of the slice in declaration order.
    pub askable: Vec<ConstId>,
    /// Constants of the slice that a scenario must settle beside the facts, in declaration order.
    pub hidden: Vec<ConstId>,
    /// Definitions in an order in which each can be computed from what stands before it.
    pub computed: Vec<(ConstId, TermId)>,
    /// One scenario of the whole policy, for parts the slice left out.
    pub base: Scenario,
    /// Words that bear on numbers.
    pub customs: Customs,
    /// Numbers replaced by others.
    pub linked: Vec<(ConstId, Linear)>,
    /// The policy is silent on some scenario.
    pub silent: bool,
    /// Limits of every check.
    pub limits: Limits,
}

impl Docket {
    /// Prepares a determination.
    ///
    /// # Errors
    /// A term of the outline does not fit the policy's sorts.
    pub fn new(
        inquiry: &Inquiry,
        slice: &Slice,
        outline: &Outline,
        base: Scenario,
        customs: Customs,
        limits: Limits,
    ) -> Result<Self, SortFault> {
        let mut terms = inquiry.policy.terms.clone();
        let term_of = |at: &usize| inquiry.policy.clauses.get(*at).map(|clause| clause.term);
        let asserts: Vec<TermId> = slice.kept.iter().filter_map(term_of).collect();
        let whole: Vec<TermId> = inquiry.policy.clauses.iter().map(|clause| clause.term).collect();
        let mut verdict_is = Vec::new();
        for value in &inquiry.verdict.values {
            let sort = terms.sort(inquiry.verdict.term);
            let value = terms.value(value, sort);
            verdict_is.push(terms.eq(inquiry.verdict.term, value)?);
        }
        let mut constraints = Vec::with_capacity(outline.levels.len());
        for level in &outline.levels {
            constraints.push(match level {
                Level::Constraint(constraint) => Some(constraint.term(&mut terms)?),
                Level::Constant(_) => None,
            });
        }
        let computed = computable(inquiry, &terms);
        let mut in_slice: Vec<ConstId> = asserts
            .iter()
            .chain(&[inquiry.verdict.term])
            .flat_map(|term| terms.constants_in(*term))
            .collect();
        in_slice.sort_unstable();
        in_slice.dedup();
        let defined: Vec<ConstId> = computed.iter().map(|(id, _)| *id).collect();
        let hidden = in_slice
            .into_iter()
            .filter(|id| !slice.askable.contains(id) && !defined.contains(id))
            .collect();
        let mut background = Vec::new();
        for term in &asserts {
            let constants = terms.constants_in(*term);
            if !constants.is_empty()
                && constants.iter().all(|id| terms.constant(*id).sort.is_numeric())
            {
                background.push(*term);
            }
        }
        Ok(Self {
            terms,
            asserts,
            whole,
            background,
            verdict_is,
            constraints,
            levels: outline.levels.clone(),
            askable: slice.askable.clone(),
            hidden,
            computed,
            base,
            customs,
            linked: outline.linked.clone(),
            silent: outline.has_silence(),
            limits,
        })
    }

    /// Makes a scenario settle every constant of the policy, for the base scenario.
    pub fn cover_all(&mut self) {
        let computed: Vec<ConstId> = self.computed.iter().map(|(id, _)| *id).collect();
        self.hidden = self
            .terms
            .constants()
            .map(|(id, _)| id)
            .filter(|id| !self.askable.contains(id) && !computed.contains(id))
            .collect();
    }

    /// What the vocabulary says of a number.
    #[must_use]
    pub fn habits(&self, id: ConstId) -> Habits {
        let sort = self.terms.constant(id).sort;
        let hundredth = Number::new(1.into(), 100.into());
        let step = if sort == Sort::Real { hundredth } else { Number::from_integer(1.into()) };
        let plain = Habits { sort, step, ..Habits::default() };
        self.customs.habits.get(&id).cloned().unwrap_or(plain)
    }
}

/// The first acyclic definition of each constant that is no fact, in an order in which each can be
/// computed. Clauses that define a constant a second time are checked, not computed.
fn computable(inquiry: &Inquiry, terms: &Terms) -> Vec<(ConstId, TermId)> {
    let mut bodies: BTreeMap<ConstId, TermId> = BTreeMap::new();
    let mut order: Vec<(ConstId, TermId)> = Vec::new();
    for clause in &inquiry.policy.clauses {
        for (id, body) in definitions(terms, clause.term) {
            let Some(body) = body else { continue };
            let fact = inquiry.askable.contains(&id);
            if !fact && !bodies.contains_key(&id) && !reaches(terms, &bodies, body, id) {
                bodies.insert(id, body);
                break;
            }
        }
    }
    // Depth first: what a body needs comes before it.
    let mut done: Vec<ConstId> = Vec::new();
    for id in bodies.keys() {
        let mut stack = vec![(*id, false)];
        while let Some((id, ready)) = stack.pop() {
            let Some(body) = bodies.get(&id) else { continue };
            if done.contains(&id) {
                continue;
            }
            if ready {
                done.push(id);
                order.push((id, *body));
            } else {
                stack.push((id, true));
                stack.extend(terms.constants_in(*body).into_iter().map(|id| (id, false)));
            }
        }
    }
    order
}

fn reaches(terms: &Terms, bodies: &BTreeMap<ConstId, TermId>, body: TermId, id: ConstId) -> bool {
    let mut seen: Vec<ConstId> = Vec::new();
    let mut stack = terms.constants_in(body);
    while let Some(other) = stack.pop() {
        if other == id {
            return true;
        }
        if !seen.contains(&other) {
            seen.push(other);
            stack.extend(bodies.get(&other).map(|b| terms.constants_in(*b)).unwrap_or_default());
        }
    }
    false
}
