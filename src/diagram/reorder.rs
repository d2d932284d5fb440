//! Another order of places for a whole manager.

#![expect(clippy::indexing_slicing, reason = "node ids index the manager that made them")]

use super::sift::Sifter;
use super::{Diagram, Full, NOTHING, NodeId, Supports, TERMINALS};

/// Nodes, dead ones counted, from which on a reordering may pay.
const FIRST_PAUSE: usize = 1 << 14;

impl Diagram {
    /// Operations fail with [`Full`] from some size on, for [`Diagram::relieve`] to reorder.
    pub fn pause_early(&mut self) {
        self.pause = self.limit.min(FIRST_PAUSE.max(self.place.len() * 2));
    }

    /// Operations fail at the limit of memory only.
    pub fn pause_late(&mut self) {
        self.pause = self.limit;
    }

    /// After [`Full`]: reorders for the functions of `keep`, which are renamed, and forgets all
    /// others, so that what failed can be tried again.
    ///
    /// # Errors
    /// [`Full`] where the limit itself is reached.
    pub fn relieve(&mut self, keep: &mut [&mut NodeId]) -> Result<(), Full> {
        if self.place.len() < self.pause || self.pause >= self.limit {
            return Err(Full);
        }
        self.reorder(keep);
        // Growing by a factor each time bounds what repeating costs.
        self.pause = self.limit.min((self.pause * 2).max(self.place.len() * 4));
        Ok(())
    }

    /// Sifts the levels for the functions of `keep`, which are renamed, and forgets all others.
    pub fn reorder(&mut self, keep: &mut [&mut NodeId]) {
        let mut sifter = Sifter::new(self.arity.clone());
        let mut reached: Vec<u32> = Vec::new();
        let mut name = vec![u32::MAX; self.place.len()];
        for value in 0..TERMINALS {
            name[value as usize] = value;
        }
        let mut stack: Vec<u32> = keep.iter().map(|node| node.0).collect();
        while let Some(node) = stack.pop() {
            if name[node as usize] == u32::MAX {
                name[node as usize] = 0;
                reached.push(node);
                stack.extend(self.kids_of(node));
            }
        }
        // Children are older than their parents.
        reached.sort_unstable();
        for node in &reached {
            let kids: Vec<u32> =
                self.kids_of(*node).iter().map(|kid| name[*kid as usize]).collect();
            name[*node as usize] = sifter.make(self.place[*node as usize], &kids);
        }
        for node in keep.iter_mut() {
            node.0 = name[node.0 as usize];
            sifter.hold(node.0);
        }
        for node in reached {
            sifter.release(name[node as usize]);
        }
        sifter.sift();
        self.adopt(&sifter, keep);
    }

    /// Becomes what the sifter holds.
    fn adopt(&mut self, sifter: &Sifter, keep: &mut [&mut NodeId]) {
        let arity: Vec<u8> =
            sifter.order().iter().map(|place| self.arity[*place as usize]).collect();
        self.order = sifter.order().iter().map(|place| self.order[*place as usize]).collect();
        self.arity = arity;
        for (place, level) in (0_u16..).zip(&self.order) {
            self.places[*level as usize] = place;
        }
        for at in 0..self.sets.len() {
            self.sets[at].flags = self.flags(&self.sets[at].levels);
        }
        self.place.truncate(TERMINALS as usize);
        self.start.truncate(TERMINALS as usize + 1);
        self.kids.clear();
        self.unique = vec![0; (sifter.len() * 2).next_power_of_two().max(1 << 12)];
        self.cache.fill(NOTHING);
        self.supports = Supports::default();
        let pause = std::mem::replace(&mut self.pause, usize::MAX);
        let mut name: Vec<u32> = (0..sifter.names()).collect();
        for place in (0..u16::try_from(self.order.len()).unwrap_or(u16::MAX)).rev() {
            for node in sifter.nodes(sifter.order()[place as usize]) {
                let kids: Vec<u32> =
                    sifter.kids(node).iter().map(|kid| name[*kid as usize]).collect();
                // There are no more nodes than before, which fitted.
                name[node as usize] = self.make_at(place, &kids).unwrap_or(0);
            }
        }
        self.pause = pause;
        for node in keep {
            node.0 = name[node.0 as usize];
        }
    }
}
