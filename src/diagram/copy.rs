//! Functions from one manager to another.

use rustc_hash::FxHashMap;

use super::{Diagram, EMPTY, Made, NodeId};

impl Diagram {
    /// An empty manager for the same levels, at the same places, holding up to `mebibytes`.
    #[must_use]
    pub fn fresh(&self, mebibytes: usize) -> Self {
        let arity = (0_u16..).take(self.arity.len()).map(|level| self.arity(level)).collect();
        Self::new(arity, mebibytes)
    }

    /// The same function of another manager, whose levels are these ones under other numbers.
    ///
    /// # Errors
    /// [`Full`].
    pub fn copy(&mut self, other: &Self, f: NodeId, level: &impl Fn(u16) -> u16) -> Made {
        self.copy_below(other, f.0, level, &mut FxHashMap::default())
    }

    fn copy_below(
        &mut self,
        other: &Self,
        f: u32,
        name: &impl Fn(u16) -> u16,
        known: &mut FxHashMap<u32, NodeId>,
    ) -> Made {
        let Some(level) = other.top(NodeId(f)) else {
            return Ok(NodeId(f));
        };
        if let Some(node) = known.get(&f) {
            return Ok(*node);
        }
        let mut all = EMPTY;
        for (value, kid) in (0_u8..).zip(other.kids_of(f).to_vec()) {
            let below = self.copy_below(other, kid, name, known)?;
            let here = self.literal(name(level), value)?;
            let part = self.guard(here, below)?;
            all = self.join(all, part)?;
        }
        known.insert(f, all);
        Ok(all)
    }
}
