//! Which sign patterns of constraints some numbers have, with the policy's clauses over numbers.
//!
//! Answers come from known points first (a point found once shows any pattern it fits to be
//! feasible), then from Z3. An infeasible pattern is shrunk to a minimal one: a lemma. Points and
//! lemmas are evidence for yes/no answers only; which ones are known never changes a result.

#![expect(clippy::indexing_slicing, reason = "levels index the space, words the masks made for it")]

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagram::Path;
use crate::linear::Constraint;
use crate::solver::{Answer, Limits, Lit, Session, Why};
use crate::space::{Level, Space};
use crate::term::{ConstId, Number, Sort, TermId, Terms, Value};

/// A set of levels with values, as bits: each level has as many bits as its values need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Bits {
    mask: Vec<u64>,
    value: Vec<u64>,
}

/// Where each level's bits are.
#[derive(Clone, Debug)]
pub struct Layout {
    start: Vec<u32>,
    width: Vec<u32>,
    words: usize,
}

impl Layout {
    /// Bits for levels with these numbers of values.
    #[must_use]
    pub fn new(arity: &[u8]) -> Self {
        let mut layout = Self { start: Vec::new(), width: Vec::new(), words: 0 };
        let mut next = 0_u32;
        for values in arity {
            let width = u8::BITS - values.saturating_sub(1).leading_zeros();
            // A level never straddles two words.
            if next % 64 + width > 64 {
                next = next.next_multiple_of(64);
            }
            layout.start.push(next);
            layout.width.push(width);
            next += width;
        }
        layout.words = (next as usize).div_ceil(64).max(1);
        layout
    }

    /// Words of a mask.
    #[must_use]
    pub fn words(&self) -> usize {
        self.words
    }

    /// Nothing set.
    #[must_use]
    pub fn empty(&self) -> Bits {
        Bits { mask: vec![0; self.words], value: vec![0; self.words] }
    }

    /// Sets a level.
    pub fn set(&self, bits: &mut Bits, level: u16, value: u8) {
        let (word, shift, ones) = self.place(level);
        bits.mask[word] |= ones << shift;
        bits.value[word] &= !(ones << shift);
        bits.value[word] |= u64::from(value) << shift;
    }

    /// The value of a level in full bits.
    #[must_use]
    pub fn get(&self, value: &[u64], level: u16) -> u8 {
        let (word, shift, ones) = self.place(level);
        u8::try_from((value[word] >> shift) & ones).unwrap_or(0)
    }

    fn place(&self, level: u16) -> (usize, u32, u64) {
        let start = self.start[level as usize];
        let ones = (1_u64 << self.width[level as usize]) - 1;
        ((start / 64) as usize, start % 64, ones)
    }
}

impl Bits {
    /// The levels that are set, as ones.
    #[must_use]
    pub fn mask(&self) -> &[u64] {
        &self.mask
    }

    /// Their values; zero elsewhere.
    #[must_use]
    pub fn value(&self) -> &[u64] {
        &self.value
    }

    /// Whether full bits agree with what is set here.
    #[must_use]
    pub fn fits(&self, full: &[u64]) -> bool {
        self.mask
            .iter()
            .zip(&self.value)
            .zip(full)
            .all(|((mask, value), full)| (full ^ value) & mask == 0)
    }
}

/// Numbers that satisfy the background, with the signs they give every constraint.
#[derive(Clone, Debug)]
pub struct Point {
    /// The numbers.
    pub numbers: FxHashMap<ConstId, Number>,
    /// The sign of every constraint level, as bits.
    pub signs: Vec<u64>,
}

/// A pattern's verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feasible {
    /// Some numbers have it: the position of a point.
    Yes(usize),
    /// None have it; already these signs together are impossible, and no fewer of them.
    No(Path),
}

/// The solver did not settle a question within its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the solver's limit was reached while the tree was grown")]
pub struct Unsettled(pub Why);

/// The judge of sign patterns.
pub struct Theory<'s> {
    terms: &'s Terms,
    session: Session<'s>,
    layout: Layout,
    constraints: Vec<Option<(Constraint, TermId)>>,
    /// Facts that the background mentions, by level.
    facts: Vec<Option<ConstId>>,
    numbers: Vec<ConstId>,
    literals: FxHashMap<(u16, u8), Lit>,
    points: Vec<Point>,
}

impl<'s> Theory<'s> {
    /// A judge for the constraints of a space, asked with these limits.
    #[must_use]
    pub fn new(terms: &'s Terms, space: &Space, layout: Layout, limits: Limits) -> Self {
        let session = Session::new(terms, &space.background, limits);
        let constraints: Vec<_> = space
            .levels
            .iter()
            .zip(&space.constraint_terms)
            .map(|(level, term)| match (level, term) {
                (Level::Constraint(constraint), Some(term)) => Some((constraint.clone(), *term)),
                _ => None,
            })
            .collect();
        let mentioned: FxHashSet<ConstId> =
            space.background.iter().flat_map(|term| terms.constants_in(*term)).collect();
        let facts = space.levels.iter().map(|level| match level {
            Level::Constant(id) if mentioned.contains(id) => Some(*id),
            _ => None,
        });
        let facts = facts.collect();
        let mut numbers: Vec<ConstId> = constraints
            .iter()
            .flatten()
            .flat_map(|(constraint, _)| constraint.constants().iter().copied())
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        Self {
            terms,
            session,
            layout,
            constraints,
            facts,
            numbers,
            literals: FxHashMap::default(),
            points: Vec::new(),
        }
    }

    /// Whether a level is a constraint, or a fact that the background mentions.
    #[must_use]
    pub fn judges(&self, level: u16) -> bool {
        let at = level as usize;
        self.constraints.get(at).is_some_and(Option::is_some)
            || self.facts.get(at).is_some_and(Option::is_some)
    }

    /// Whether a level is a constraint.
    #[must_use]
    pub fn compares(&self, level: u16) -> bool {
        self.constraints.get(level as usize).is_some_and(Option::is_some)
    }

    /// A point by position.
    #[must_use]
    pub fn point(&self, at: usize) -> &Point {
        &self.points[at]
    }

    /// Whether some numbers give these levels these signs; levels that are no constraints are
    /// passed over.
    ///
    /// # Errors
    /// The solver reached its limit.
    pub fn feasible(&mut self, pattern: &Path) -> Result<Feasible, Unsettled> {
        let mut bits = self.layout.empty();
        let mut signs = Path::new();
        for (level, value) in pattern {
            if self.judges(*level) {
                self.layout.set(&mut bits, *level, *value);
                signs.push((*level, *value));
            }
        }
        let known = self.points.iter().rposition(|point| bits.fits(&point.signs));
        if let Some(at) = known {
            return Ok(Feasible::Yes(at));
        }
        match self.ask(&signs)? {
            None => self.remember().map(Feasible::Yes),
            Some(core) => self.shrink(core).map(Feasible::No),
        }
    }

    /// None if feasible, else some of the signs that already are not.
    fn ask(&mut self, signs: &Path) -> Result<Option<Path>, Unsettled> {
        let literals: Vec<Lit> =
            signs.iter().map(|(level, value)| self.literal(*level, *value)).collect();
        match self.session.check(&literals) {
            Answer::Sat => Ok(None),
            Answer::Unsat(core) => {
                let kept = signs.iter().zip(&literals).filter(|(_, lit)| core.contains(lit));
                Ok(Some(kept.map(|(sign, _)| *sign).collect()))
            }
            Answer::Unknown(why) => Err(Unsettled(why)),
        }
    }

    fn literal(&mut self, level: u16, value: u8) -> Lit {
        if let Some(lit) = self.literals.get(&(level, value)) {
            return *lit;
        }
        let at = level as usize;
        let lit = match (&self.constraints[at], self.facts[at]) {
            (Some((_, term)), _) => self.session.term(*term, value == 1),
            (None, Some(id)) => {
                let value = match self.terms.constant(id).sort {
                    Sort::Enum(sort) => Value::Enum(sort, u32::from(value)),
                    _ => Value::Bool(value == 1),
                };
                self.session.fact(id, &value)
            }
            (None, None) => self.session.any(&[]),
        };
        self.literals.insert((level, value), lit);
        lit
    }

    fn remember(&mut self) -> Result<usize, Unsettled> {
        let mut numbers = FxHashMap::default();
        for id in &self.numbers {
            match self.session.model_value(*id) {
                Some(Value::Number(number)) => numbers.insert(*id, number),
                _ => return Err(Unsettled(Why::Incomplete)),
            };
        }
        let mut bits = self.layout.empty();
        for (level, constraint) in (0_u16..).zip(&self.constraints) {
            if let Some((constraint, _)) = constraint {
                let holds = constraint.holds(|id| numbers.get(&id).cloned());
                self.layout.set(&mut bits, level, u8::from(holds == Some(true)));
            }
        }
        for (level, id) in (0_u16..).zip(self.facts.clone()) {
            let Some(id) = id else { continue };
            let value = match self.session.model_value(id) {
                Some(Value::Bool(truth)) => u8::from(truth),
                Some(Value::Enum(_, at)) => u8::try_from(at).unwrap_or(u8::MAX),
                _ => return Err(Unsettled(Why::Incomplete)),
            };
            self.layout.set(&mut bits, level, value);
        }
        self.points.push(Point { numbers, signs: bits.value });
        Ok(self.points.len() - 1)
    }

    /// Leaves out what is not needed, one sign after the other.
    fn shrink(&mut self, mut core: Path) -> Result<Path, Unsettled> {
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            match self.ask(&fewer)? {
                Some(smaller) => core = smaller,
                None => at += 1,
            }
        }
        Ok(core)
    }
}
