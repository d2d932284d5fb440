//! Two copies of a space side by side.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::linear::Constraint;
use crate::space::{Level, Space};
use crate::substitute::Substitution;
use crate::term::{ConstId, Sort, SortFault, Term, TermId, Terms, Value};

/// A level in both copies.
pub(super) struct Mirrored {
    pub(super) faces: [Face; 2],
    /// Both copies have the same value.
    pub(super) same: TermId,
    pub(super) values: Vec<Value>,
    pub(super) askable: bool,
}

/// A level in one copy.
pub(super) enum Face {
    Constant(ConstId),
    /// Its term, and its form over the numbers of the first copy.
    Constraint(TermId, Constraint),
}

/// The terms of a space with a second copy of every constant.
pub struct Mirror {
    pub(super) terms: Terms,
    /// What holds in every scenario, by copy.
    pub(super) asserts: [Vec<TermId>; 2],
    /// The copies' verdicts differ.
    pub(super) differ: TermId,
    /// `verdict = value` in the first copy.
    pub(super) verdict_is: Vec<TermId>,
    pub(super) levels: Vec<Mirrored>,
    /// Askable numbers that something mentions, each with its copy.
    pub(super) numbers: Vec<[ConstId; 2]>,
    /// Hidden constants of the first copy that no equation gives.
    pub(super) hidden: Vec<ConstId>,
    /// Clauses over numbers alone that mention none of `hidden`.
    pub(super) plain: Vec<TermId>,
    /// By verdict value: some other clause fails, or the verdict is another.
    pub(super) fails: Vec<TermId>,
    pub(super) silent: u8,
}

impl Mirror {
    /// Copies a space.
    ///
    /// # Errors
    /// A copy is of another sort, which copying rules out.
    pub fn new(space: &Space) -> Result<Self, SortFault> {
        let mut terms = space.terms.clone();
        let constants: Vec<(ConstId, String, Sort)> =
            terms.constants().map(|(id, c)| (id, c.name.clone(), c.sort)).collect();
        let mut twins = FxHashMap::default();
        for (id, name, sort) in constants {
            let twin = terms.declare(&format!("{name}!2"), sort);
            twins.insert(id, twin);
        }
        let by = twins.iter().map(|(id, twin)| (*id, terms.constant_term(*twin))).collect();
        let mut copy = Substitution::new(by);
        let first: Vec<TermId> = space.rules.iter().chain(&space.background).copied().collect();
        let mut second = Vec::with_capacity(first.len());
        for term in &first {
            second.push(copy.apply(&mut terms, *term)?);
        }
        let mut differ = Vec::new();
        let mut verdict_is = Vec::new();
        for value in &space.values {
            let sort = terms.sort(space.verdict);
            let value = terms.value(value, sort);
            let here = terms.eq(space.verdict, value)?;
            let there = copy.apply(&mut terms, here)?;
            differ.push(terms.xor(here, there)?);
            verdict_is.push(here);
        }
        let mut levels = Vec::with_capacity(space.levels.len());
        for (at, level) in (0_u16..).zip(&space.levels) {
            levels.push(mirror(&mut terms, &mut copy, space, at, level)?);
        }
        let mut mirror = Self {
            differ: terms.or(&differ)?,
            terms,
            asserts: [first, second],
            verdict_is,
            levels,
            numbers: Vec::new(),
            hidden: Vec::new(),
            plain: Vec::new(),
            fails: Vec::new(),
            silent: space.silent(),
        };
        mirror.tell_apart(space, &twins)?;
        Ok(mirror)
    }

    /// Askable numbers from hidden constants, and the clauses that tell of either.
    fn tell_apart(
        &mut self,
        space: &Space,
        twins: &FxHashMap<ConstId, ConstId>,
    ) -> Result<(), SortFault> {
        let linked: FxHashSet<ConstId> = space.linked.iter().map(|(id, _)| *id).collect();
        let mut rest = Vec::new();
        for (at, term) in self.asserts[0].iter().enumerate() {
            let constants = self.terms.constants_in(*term);
            let hidden = |id: &ConstId| !space.askable.contains(id) && !linked.contains(id);
            if at < space.rules.len() || constants.iter().any(hidden) {
                rest.push(*term);
            } else {
                self.plain.push(*term);
            }
        }
        let mut all: Vec<ConstId> = Vec::new();
        for term in self.asserts[0].iter().chain([&space.verdict]) {
            all.extend(self.terms.constants_in(*term));
        }
        all.sort_unstable();
        all.dedup();
        for id in all {
            if !space.askable.contains(&id) {
                self.hidden.extend((!linked.contains(&id)).then_some(id));
            } else if self.terms.constant(id).sort.is_numeric() {
                self.numbers.extend(twins.get(&id).map(|twin| [id, *twin]));
            }
        }
        let holds = self.terms.and(&rest)?;
        for verdict in &self.verdict_is {
            let both = self.terms.and(&[holds, *verdict])?;
            self.fails.push(self.terms.not(both)?);
        }
        Ok(())
    }
}

fn mirror(
    terms: &mut Terms,
    copy: &mut Substitution,
    space: &Space,
    at: u16,
    level: &Level,
) -> Result<Mirrored, SortFault> {
    let here = match level {
        Level::Constraint(constraint) => constraint.term(terms)?,
        Level::Constant(id) => terms.constant_term(*id),
    };
    let there = copy.apply(terms, here)?;
    let face = |term: TermId| match (level, terms.get(term)) {
        (Level::Constraint(constraint), _) => Face::Constraint(term, constraint.clone()),
        (Level::Constant(_), Term::Const(id)) => Face::Constant(*id),
        (Level::Constant(id), _) => Face::Constant(*id),
    };
    let faces = [face(here), face(there)];
    let same = terms.eq(here, there)?;
    let values = terms.values_of(terms.sort(here)).unwrap_or_default();
    let askable = space.constraints.contains(&at) || space.facts.iter().any(|(_, l)| *l == at);
    Ok(Mirrored { faces, same, values, askable })
}
