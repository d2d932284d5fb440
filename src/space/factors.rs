//! Conditions that hold together, and the removal of hidden levels from them.
//!
//! The diagram may be reordered between any two steps, which renames every function: whatever has
//! to outlive a step is held here.

#![expect(clippy::indexing_slicing, reason = "positions of the functions held")]

use crate::diagram::{ALWAYS, Diagram, Full, NodeId};

/// Conditions whose conjunction is wanted.
pub(super) struct Factors<'a> {
    pub(super) diagram: &'a mut Diagram,
    pub(super) factors: Vec<NodeId>,
    /// Other functions in use.
    pub(super) kept: Vec<NodeId>,
}

impl Factors<'_> {
    /// Does a piece of work that can be repeated, reordering where the diagram has grown much.
    pub(super) fn attempt<T>(
        &mut self,
        work: impl Fn(&mut Diagram, &[NodeId], &[NodeId]) -> Result<T, Full>,
    ) -> Result<T, Full> {
        loop {
            match work(self.diagram, &self.factors, &self.kept) {
                Err(Full) => {
                    let kept = self.factors.iter_mut().chain(&mut self.kept);
                    self.diagram.relieve(&mut kept.collect::<Vec<_>>())?;
                }
                Ok(done) => return Ok(done),
            }
        }
    }

    /// Removes levels existentially, each as early as the factors allow.
    pub(super) fn eliminate(&mut self, levels: &[u16]) -> Result<(), Full> {
        let mut left = levels.to_vec();
        while !left.is_empty() {
            let supports: Vec<Vec<u16>> =
                self.factors.iter().map(|node| self.diagram.support(*node).to_vec()).collect();
            let sizes: Vec<usize> =
                self.factors.iter().map(|node| self.diagram.size(*node)).collect();
            let touches = |at: usize, level: u16| supports[at].binary_search(&level).is_ok();
            // The level that the fewest nodes can look at goes first.
            let cost = |level: &u16| -> (usize, u16) {
                let touched = (0..supports.len()).filter(|at| touches(*at, *level));
                (touched.map(|at| sizes[at]).sum(), *level)
            };
            let Some(level) = left.iter().copied().min_by_key(cost) else {
                break;
            };
            left.retain(|other| *other != level);
            let (with, without): (Vec<usize>, Vec<usize>) =
                (0..supports.len()).partition(|at| touches(*at, level));
            let set = self.diagram.level_set(&[level]);
            let removed = self.attempt(|diagram, factors, _| {
                let together = conjunction(diagram, with.iter().map(|at| factors[*at]).collect())?;
                diagram.exists(together, set)
            })?;
            self.factors = without.iter().map(|at| self.factors[*at]).collect();
            self.factors.push(removed);
        }
        Ok(())
    }

    /// The conjunction.
    pub(super) fn conjoin(&mut self) -> Result<NodeId, Full> {
        self.attempt(|diagram, factors, _| conjunction(diagram, factors.to_vec()))
    }
}

/// All conditions together; the two smallest first, so that what grows stays small for long.
fn conjunction(diagram: &mut Diagram, nodes: Vec<NodeId>) -> Result<NodeId, Full> {
    let mut sized: Vec<(usize, NodeId)> =
        nodes.into_iter().map(|node| (diagram.size(node), node)).collect();
    sized.sort_unstable_by(|a, b| b.cmp(a));
    while let Some((_, first)) = sized.pop() {
        let Some((_, second)) = sized.pop() else {
            return Ok(first);
        };
        let both = diagram.and(first, second)?;
        let entry = (diagram.size(both), both);
        let at = sized.partition_point(|other| *other > entry);
        sized.insert(at, entry);
    }
    Ok(ALWAYS)
}
