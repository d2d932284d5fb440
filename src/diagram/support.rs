//! Where functions look, and sets of levels.

#![expect(clippy::indexing_slicing, reason = "node ids index the manager that made them")]

use rustc_hash::FxHashMap;

use super::{Diagram, LevelSet, NodeId, Set, TERMINALS};

/// The levels that functions depend on, each set held once.
#[derive(Default)]
pub(super) struct Supports {
    /// By node; one more than the position of the set, 0 where not known.
    of: Vec<u32>,
    sets: Vec<Vec<u16>>,
    known: FxHashMap<Vec<u16>, u32>,
}

impl Diagram {
    /// The levels a function depends on, ascending; remembered for every node on the way.
    pub fn support(&mut self, f: NodeId) -> &[u16] {
        let at = self.support_at(f.0);
        &self.supports.sets[at as usize]
    }

    fn support_at(&mut self, node: u32) -> u32 {
        if self.supports.of.len() < self.place.len() {
            self.supports.of.resize(self.place.len() + self.place.len() / 2, 0);
        }
        let known = self.supports.of[node as usize];
        if known > 0 {
            return known - 1;
        }
        let mut levels: Vec<u16> = Vec::new();
        if node >= TERMINALS {
            levels.push(self.order[self.place[node as usize] as usize]);
            for kid in self.start[node as usize]..self.start[node as usize + 1] {
                let below = self.support_at(self.kids[kid as usize]);
                levels.extend_from_slice(&self.supports.sets[below as usize]);
            }
            levels.sort_unstable();
            levels.dedup();
        }
        let supports = &mut self.supports;
        let at = match supports.known.get(&levels) {
            Some(at) => *at,
            None => {
                let at = u32::try_from(supports.sets.len()).unwrap_or(u32::MAX);
                supports.sets.push(levels.clone());
                supports.known.insert(levels, at);
                at
            }
        };
        supports.of[node as usize] = at + 1;
        at
    }

    /// Registers a set of levels for [`Diagram::drop_levels`] and [`Diagram::exists`].
    pub fn level_set(&mut self, levels: &[u16]) -> LevelSet {
        if let Some(known) = self.known_sets.get(levels) {
            return *known;
        }
        let mut sorted = levels.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        if let Some(known) = self.known_sets.get(&sorted) {
            return *known;
        }
        let set = LevelSet(u32::try_from(self.sets.len()).unwrap_or(u32::MAX));
        self.sets.push(Set { flags: self.flags(&sorted), levels: sorted.clone() });
        self.known_sets.insert(sorted, set);
        set
    }

    pub(super) fn flags(&self, levels: &[u16]) -> Vec<bool> {
        let places = || levels.iter().map(|level| self.places[*level as usize] as usize);
        let mut flags = vec![false; places().max().map_or(0, |last| last + 1)];
        for place in places() {
            flags[place] = true;
        }
        flags
    }

    /// The levels of a registered set, ascending.
    #[must_use]
    pub fn levels(&self, set: LevelSet) -> &[u16] {
        &self.sets[set.0 as usize].levels
    }
}
