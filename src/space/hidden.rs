//! Hidden numbers that are compared with askable ones, removed exactly.
//!
//! After Fourier and Motzkin: some value of a number satisfies its bounds exactly if each lower
//! bound is below each upper one. So for any two constraints of the number, signs that make the one
//! a lower and the other an upper bound are possible together exactly where a third constraint,
//! over the remaining numbers, has one sign. That third constraint becomes a level, and the fact a
//! [`Resolvent`]. With those as conditions the number's own levels are free to be removed: which of
//! their signs are possible is a function of the remaining signs. Over whole numbers this needs
//! room for one between the bounds, after Pugh: given where one of the two factors is one, or where
//! bounds are parallel and far apart; elsewhere there is a fault, and no class function.

use std::collections::BTreeSet;

use num_traits::{One, Signed};

use super::expand::Builder;
use super::{Level, SpaceFault};
use crate::diagram::{ALWAYS, Diagram, EMPTY, Full, NodeId};
use crate::linear::{Comparison, Constraint, Linear, compare};
use crate::term::{ConstId, Number, Sort, TermId};

/// Two signs that occur together exactly where a third one holds, or never.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Resolvent {
    together: [(u16, u8); 2],
    then: Option<(u16, u8)>,
}

impl Resolvent {
    /// What it says, as a diagram.
    pub(super) fn condition(&self, diagram: &mut Diagram) -> Result<NodeId, Full> {
        let mut signs = ALWAYS;
        for (level, value) in self.together {
            let literal = diagram.literal(level, value)?;
            signs = diagram.and(signs, literal)?;
        }
        let not = diagram.not(signs)?;
        let then = match self.then {
            Some((level, value)) => diagram.literal(level, value)?,
            None => EMPTY,
        };
        diagram.or(not, then)
    }
}

/// A bound of one number: `factor * number + rest <= 0`, or `<` where strict.
struct Bound {
    sign: (u16, u8),
    left: Linear,
    strict: bool,
}

/// Signs of two constraints, and the comparison that holds exactly where they occur together.
type Pair = ([(u16, u8); 2], Comparison);

/// Constraints of one number up to which all pairs are resolved.
const MOST: usize = 64;

impl Builder<'_> {
    /// Removes every hidden number that levels compare, directly or through other hidden numbers,
    /// with askable ones.
    pub(super) fn remove_hidden_numbers(&mut self) -> Result<(), SpaceFault> {
        let mut group = self.entangled();
        // Clauses over numbers alone bound them, too.
        let mut clauses = Vec::new();
        for term in self.background.clone() {
            if self.numbers_in(term).iter().any(|id| group.contains(id)) {
                clauses.push(term);
            }
        }
        self.rules.extend(&clauses);
        self.find_levels_of(clauses)?;
        self.removed.extend(&group);
        while let Some(id) = self.resolve_one(&group)? {
            group.remove(&id);
        }
        Ok(())
    }

    /// The numbers of a term once linked ones are replaced.
    fn numbers_in(&self, term: TermId) -> BTreeSet<ConstId> {
        let mut numbers = BTreeSet::new();
        for id in self.terms.constants_in(term) {
            match self.linked.iter().find(|(linked, _)| *linked == id) {
                Some((_, form)) => numbers.extend(form.constants()),
                None => {
                    numbers.insert(id);
                }
            }
        }
        numbers
    }

    /// Hidden numbers of levels, and those that occur with them, where an askable number does, too.
    fn entangled(&self) -> BTreeSet<ConstId> {
        let levels = self.levels.iter().filter_map(|level| match level {
            Level::Constraint(constraint) => {
                Some((constraint.constants().iter().copied().collect(), true))
            }
            Level::Constant(_) => None,
        });
        let background = self.background.iter().map(|term| (self.numbers_in(*term), false));
        // Hidden numbers that occur together; whether an askable one does, whether a level reads
        // them.
        let mut groups: Vec<(BTreeSet<ConstId>, bool, bool)> = Vec::new();
        for (numbers, level) in levels.chain(background) {
            let (beside, mut hidden): (BTreeSet<ConstId>, BTreeSet<ConstId>) =
                numbers.into_iter().partition(|id| self.askable.contains(id));
            if hidden.is_empty() {
                continue;
            }
            let (mut mixed, mut read) = (!beside.is_empty(), level);
            groups.retain(|(other, other_mixed, other_read)| {
                let apart = other.is_disjoint(&hidden);
                if !apart {
                    hidden.extend(other);
                    mixed |= other_mixed;
                    read |= other_read;
                }
                apart
            });
            groups.push((hidden, mixed, read));
        }
        let entangled = groups.into_iter().filter(|(_, mixed, read)| *mixed && *read);
        entangled.flat_map(|(numbers, ..)| numbers).collect()
    }

    fn constraints_on(&self, id: ConstId) -> Vec<(u16, Constraint)> {
        let mut all = Vec::new();
        for (at, level) in (0_u16..).zip(&self.levels) {
            if let Level::Constraint(constraint) = level
                && constraint.constants().contains(&id)
            {
                all.push((at, constraint.clone()));
            }
        }
        all
    }

    /// Resolves one number of the group: a decimal first, else a whole number that leaves no gap.
    fn resolve_one(&mut self, group: &BTreeSet<ConstId>) -> Result<Option<ConstId>, SpaceFault> {
        let whole = |id: &ConstId| self.terms.constant(*id).sort == Sort::Int;
        let (last, first): (Vec<ConstId>, Vec<ConstId>) =
            group.iter().rev().partition(|id| whole(id));
        for id in first.into_iter().chain(last) {
            if let Some(pairs) = self.pairs(id)? {
                self.resolve(pairs)?;
                return Ok(Some(id));
            }
        }
        match group.first() {
            Some(id) => Err(SpaceFault::HiddenNumber(self.terms.constant(*id).name.clone())),
            None => Ok(None),
        }
    }

    /// For every lower and upper bound of a number, where it leaves room for it; none where that is
    /// no linear constraint.
    fn pairs(&self, id: ConstId) -> Result<Option<Vec<Pair>>, SpaceFault> {
        let constraints = self.constraints_on(id);
        if constraints.len() > MOST {
            return Err(SpaceFault::TooMany("constraints of one hidden number"));
        }
        let whole = |id: &ConstId| self.terms.constant(*id).sort == Sort::Int;
        let pure = constraints.iter().all(|(_, c)| c.constants().iter().all(whole));
        if whole(&id) && !pure {
            return Ok(None);
        }
        let mut pairs = Vec::new();
        for (at, upper) in &constraints {
            let upper = self.bound(*at, upper, id, true);
            for (other, lower) in &constraints {
                if at == other {
                    continue;
                }
                let lower = self.bound(*other, lower, id, false);
                let (up, down) = (upper.left.factor(id), lower.left.factor(id).abs());
                let sum = upper.left.scaled(&down).plus(&up, &lower.left);
                let strict = upper.strict || lower.strict;
                let then = compare(&self.terms, &sum, strict);
                if whole(&id) {
                    let one = Number::one();
                    let room = Linear::literal((&up - &one) * (&down - &one));
                    if compare(&self.terms, &sum.plus(&one, &room), strict) != then {
                        return Ok(None);
                    }
                }
                pairs.push(([upper.sign, lower.sign], then));
            }
        }
        Ok(Some(pairs))
    }

    fn resolve(&mut self, pairs: Vec<Pair>) -> Result<(), SpaceFault> {
        let new = pairs.iter().filter_map(|(_, then)| match then {
            Comparison::Live(constraint, _) => Some(Level::Constraint(constraint.clone())),
            Comparison::Settled(_) => None,
        });
        self.place(new.collect())?;
        for (together, then) in pairs {
            let then = match then {
                Comparison::Settled(true) => continue,
                Comparison::Settled(false) => None,
                Comparison::Live(constraint, positive) => {
                    let level = self.level_of_constraint.get(&constraint);
                    level.map(|level| (*level, u8::from(positive)))
                }
            };
            self.resolvents.push(Resolvent { together, then });
        }
        Ok(())
    }

    /// The constraint, or its negation, as an upper or lower bound of a number.
    fn bound(&self, level: u16, constraint: &Constraint, id: ConstId, upper: bool) -> Bound {
        let positive = constraint.form().factor(id).is_positive() == upper;
        let minus = -Number::one();
        let bound = Linear::literal(constraint.bound().clone());
        let left = constraint.form().plus(&minus, &bound);
        if positive {
            return Bound { sign: (level, 1), left, strict: constraint.strict() };
        }
        let left = left.scaled(&minus);
        let whole = |id: &ConstId| self.terms.constant(*id).sort == Sort::Int;
        if constraint.constants().iter().all(whole) {
            // Over whole numbers, more is at least one more.
            let left = left.plus(&Number::one(), &Linear::literal(Number::one()));
            return Bound { sign: (level, 0), left, strict: false };
        }
        Bound { sign: (level, 0), left, strict: !constraint.strict() }
    }
}
