//! The seam between the tree and whatever knows which classes are possible.
//!
//! [`Classes`] answers exactly the questions section 2 of the design asks of a set of scenarios;
//! the tree is built from nothing else. [`DiagramClasses`] answers them from the shared diagram and
//! is the engine; `reference.rs` answers them with one solver query after the other and is its
//! judge.
//!
//! A state of the diagram engine is *exact* once its diagram holds real scenarios only: then every
//! question is a question to the diagram. Above, where the numbers of some component have too many
//! regions to know them all, a positive answer ("this branch exists", "this variable cannot be
//! dropped") rests on scenarios whose numbers exist, and a negative one on the diagram alone, which
//! holds at least every real scenario. So no answer depends on which lemmas are known.

use std::hash::Hash;

use crate::diagram::{Full, Path};
use crate::theory::Unsettled;

mod engine;
mod evidence;
mod regions;

pub use engine::{DiagramClasses, DiagramState};

/// Why the tree cannot be grown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The diagram does not fit: ask the solver at every node instead.
    #[error("{0}")]
    Full(#[from] Full),
    /// The solver's limit was reached.
    #[error("{0}")]
    Unsettled(#[from] Unsettled),
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// Sets of scenarios with some levels decided and some dropped, and what is still possible there.
pub trait Classes {
    /// Such a set; equal states have equal subtrees.
    type State: Clone + Eq + Hash;

    /// All scenarios.
    ///
    /// # Errors
    /// [`Stop`], as for all questions below.
    fn root(&mut self) -> Result<Self::State, Stop>;

    /// The levels neither decided nor dropped, ascending; those that no class depends on may be
    /// left out.
    fn open(&mut self, state: &Self::State) -> Vec<u16>;

    /// The class of a state without open levels.
    fn class(&self, state: &Self::State) -> u8;

    /// The scenarios with these levels at these values, or none.
    ///
    /// # Errors
    /// [`Stop`].
    fn assign(&mut self, state: &Self::State, path: &Path) -> Result<Option<Self::State>, Stop>;

    /// The state without these levels, or none where two scenarios that agree on all other open
    /// levels are in different classes.
    ///
    /// # Errors
    /// [`Stop`].
    fn drop(&mut self, state: &Self::State, group: &Group) -> Result<Option<Self::State>, Stop>;

    /// Whether [`Classes::surely_kept`] can be more than zero.
    fn has_evidence(&self, _state: &Self::State) -> bool {
        false
    }

    /// How many of these groups surely could not be dropped after `path`: a quick lower bound that
    /// may be zero.
    fn surely_kept(&mut self, _state: &Self::State, _path: &Path, _groups: &[Group]) -> usize {
        0
    }
}

/// Open levels that are tried together: a fact, a whole number, or a single constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Position in the trial order; stays the same while levels of the group are decided or
    /// dropped.
    pub trial: usize,
    /// Its open levels, ascending.
    pub levels: Vec<u16>,
}

/// Which lemmas to learn before growing. The result does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lemmas {
    /// Nothing in advance.
    None,
    /// All infeasible signs and pairs of signs.
    Pairs,
    /// All infeasible triples, too.
    Triples,
}

/// Both paths' levels; where both have one, the first path's value.
#[must_use]
pub fn merge(a: &Path, b: &Path) -> Path {
    let mut all = a.clone();
    for (level, value) in b {
        if a.binary_search_by_key(level, |(at, _)| *at).is_err() {
            all.push((*level, *value));
        }
    }
    all.sort_unstable();
    all
}
