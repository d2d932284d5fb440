//! A slice as a space of scenarios: which facts and constraints there are, which class each
//! scenario is in, and which clauses only say which numbers exist.
//!
//! Definitions are inlined, if-then-else is lifted out of arithmetic, and every linear comparison
//! becomes a two-valued level of the diagram. Clauses over numbers alone stay outside as the
//! *background* that decides which sign patterns are feasible. Derived conditions are inlined;
//! whatever else is hidden is removed existentially before classes are formed. A space is laid out
//! first (what the levels are) and compiled then (the diagram); the reference engine needs no
//! diagram.

#![expect(clippy::indexing_slicing, reason = "levels and terms index the space that made them")]

use rustc_hash::FxHashSet;

use crate::diagram::{Diagram, EMPTY, Full, NodeId};
use crate::linear::{Constraint, Linear};
use crate::policy::Inquiry;
use crate::slice::Slice;
use crate::term::{ConstId, SortFault, TermId, Terms, Value};

mod compile;
mod expand;
mod factors;
mod hidden;
mod levels;
mod together;

pub use together::Together;

use expand::Builder;
use factors::Factors;
use hidden::Resolvent;

/// What a level of the diagram stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Level {
    /// A Bool or enumeration constant; its values in declaration order.
    Constant(ConstId),
    /// A linear constraint: value 1 where it holds.
    Constraint(Constraint),
}

/// Why there is no class function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpaceFault {
    /// The diagram does not fit.
    #[error("{0}")]
    Full(#[from] Full),
    /// A term that the front end should have refused.
    #[error("{0}")]
    Sort(#[from] SortFault),
    /// A hidden number is compared with others in a way that cannot be removed exactly.
    #[error("the hidden number `{0}` cannot be removed exactly")]
    HiddenNumber(String),
    /// More verdict values, constraints or alternatives of one number than the diagram has room
    /// for.
    #[error("too many {0} for the diagram")]
    TooMany(&'static str),
}

/// The space of one determination.
pub struct Space {
    /// The policy's terms, and the constraints' own.
    pub terms: Terms,
    /// What each level stands for.
    pub levels: Vec<Level>,
    /// The term of each level that is a constraint.
    pub constraint_terms: Vec<Option<TermId>>,
    /// What a scenario may state.
    pub askable: FxHashSet<ConstId>,
    /// Askable Bool and enumeration facts, with their level, in declaration order.
    pub facts: Vec<(ConstId, u16)>,
    /// Levels of constraints over askable numbers, in the constraints' own order.
    pub constraints: Vec<u16>,
    /// Levels that classes do not depend on any more: hidden constants and their comparisons.
    pub hidden: Vec<u16>,
    /// Hidden comparisons whose feasible signs must all be known before they are removed; those of
    /// other hidden numbers carry resolvents that say as much.
    pub unsettled: Vec<u16>,
    /// Clauses over numbers alone.
    pub background: Vec<TermId>,
    /// All other clauses, definitions inlined.
    pub rules: Vec<TermId>,
    /// The verdict, definitions inlined.
    pub verdict: TermId,
    /// Numbers replaced by others through an equation of the policy, in order of replacement.
    pub linked: Vec<(ConstId, Linear)>,
    /// Values of the verdict in declaration order; class `1 + i` is "only value i".
    pub values: Vec<Value>,
    /// The manager.
    pub diagram: Diagram,
    /// For each verdict value where it is possible, hidden levels not yet removed.
    parts: Vec<NodeId>,
    /// Conditions that hold in every scenario: rules and resolvents.
    conditions: Vec<NodeId>,
    resolvents: Vec<Resolvent>,
}

impl Space {
    /// The class "two or more verdicts possible": the policy is silent.
    #[must_use]
    pub fn silent(&self) -> u8 {
        u8::try_from(self.values.len() + 1).unwrap_or(u8::MAX)
    }

    /// The askable numbers that occur in constraints, in declaration order.
    #[must_use]
    pub fn numbers(&self) -> Vec<ConstId> {
        let mut numbers: Vec<ConstId> = Vec::new();
        for level in &self.constraints {
            if let Level::Constraint(constraint) = &self.levels[*level as usize] {
                numbers.extend(constraint.constants());
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The constraint of a level.
    #[must_use]
    pub fn constraint(&self, level: u16) -> Option<&Constraint> {
        match self.levels.get(level as usize)? {
            Level::Constraint(constraint) => Some(constraint),
            Level::Constant(_) => None,
        }
    }

    /// The levels of a slice, without a diagram.
    ///
    /// # Errors
    /// [`SpaceFault`], but never `Full`.
    pub fn lay_out(inquiry: &Inquiry, slice: &Slice) -> Result<Self, SpaceFault> {
        let mut builder = Builder::new(inquiry, slice);
        builder.read_definitions();
        builder.link_numbers()?;
        builder.expand_clauses()?;
        builder.find_levels()?;
        builder.remove_hidden_numbers()?;
        builder.finish()
    }

    /// The space of a slice with its diagram, which may take `mebibytes`.
    ///
    /// # Errors
    /// [`SpaceFault`]: where the diagram is full, the caller falls back to asking the solver.
    pub fn build(inquiry: &Inquiry, slice: &Slice, mebibytes: usize) -> Result<Self, SpaceFault> {
        let mut space = Self::lay_out(inquiry, slice)?;
        space.compile(mebibytes)?;
        Ok(space)
    }

    /// The class function, hidden levels removed, where only the sign patterns that satisfy all of
    /// `feasible` count. To be asked once: it leaves the diagram with this function alone, in a
    /// good order for it.
    ///
    /// # Errors
    /// The diagram does not fit.
    pub fn classes(&mut self, feasible: &[NodeId]) -> Result<NodeId, Full> {
        let parts = std::mem::take(&mut self.parts);
        let count = parts.len();
        let own: FxHashSet<u16> =
            parts.iter().flat_map(|part| self.diagram.support(*part).to_vec()).collect();
        let (inner, outer): (Vec<u16>, Vec<u16>) =
            self.hidden.iter().partition(|level| own.contains(level));
        let silent = self.silent();
        self.diagram.pause_early();
        let mut factors = Factors {
            diagram: &mut self.diagram,
            factors: std::mem::take(&mut self.conditions),
            kept: parts,
        };
        factors.factors.extend(feasible);
        // What no verdict looks at is removed once for all of them.
        factors.eliminate(&outer)?;
        let common = count + factors.factors.len();
        factors.kept.append(&mut factors.factors);
        for at in 0..count {
            factors.factors = factors.kept[count..common].to_vec();
            factors.factors.push(factors.kept[at]);
            factors.eliminate(&inner)?;
            let possible = factors.conjoin()?;
            factors.kept.push(possible);
        }
        factors.factors.clear();
        factors.kept.drain(..common);
        let mut root = factors.attempt(|diagram, _, possible| decide(diagram, possible, silent))?;
        self.diagram.reorder(&mut [&mut root]);
        self.diagram.pause_late();
        Ok(root)
    }
}

/// From where each verdict is possible to where it is the only one.
fn decide(diagram: &mut Diagram, possible: &[NodeId], silent: u8) -> Result<NodeId, Full> {
    let mut root = EMPTY;
    let mut several = EMPTY;
    let mut some = EMPTY;
    for node in possible {
        let again = diagram.and(some, *node)?;
        several = diagram.or(several, again)?;
        some = diagram.or(some, *node)?;
    }
    let single = diagram.not(several)?;
    for (class, node) in (1_u8..).zip(possible) {
        let only = diagram.and(*node, single)?;
        let part = diagram.guard(only, Diagram::terminal(class))?;
        root = diagram.join(root, part)?;
    }
    let part = diagram.guard(several, Diagram::terminal(silent))?;
    diagram.join(root, part)
}
