//! Real scenarios as evidence where a diagram alone cannot answer yes.

#![expect(clippy::indexing_slicing, reason = "levels index the space, words the masks made for it")]

use rustc_hash::FxHashMap;

use super::engine::DiagramClasses;
use super::{Group, Stop, merge};
use crate::diagram::{EMPTY, LevelSet, NodeId, Path};
use crate::theory::{Bits, Feasible, Layout};

/// Where a state without a diagram of its own stands.
pub(super) struct Context {
    /// Decided levels, sorted.
    pub(super) decided: Path,
    /// Dropped sets in order.
    pub(super) dropped: Vec<LevelSet>,
    /// All dropped levels.
    pub(super) gone: Bits,
    /// Decided levels as bits.
    pub(super) facts: Bits,
    /// Neither decided nor dropped, ascending.
    pub(super) open: Vec<u16>,
}

impl Context {
    pub(super) fn without(&self, layout: &Layout, levels: &[u16], set: LevelSet) -> Self {
        let mut gone = self.gone.clone();
        for level in levels {
            layout.set(&mut gone, *level, 0);
        }
        let mut dropped = self.dropped.clone();
        dropped.push(set);
        let open = self.open.iter().copied().filter(|level| !levels.contains(level)).collect();
        Self { decided: self.decided.clone(), dropped, gone, facts: self.facts.clone(), open }
    }

    pub(super) fn with_facts(&self, facts: Bits) -> Self {
        let (decided, dropped, open) = (Path::new(), Vec::new(), Vec::new());
        Self { decided, dropped, gone: self.gone.clone(), facts, open }
    }
}

/// Two scenarios of different classes.
struct Pair {
    first: Vec<u64>,
    difference: Vec<u64>,
}

/// Scenarios found so far.
pub(super) struct Evidence {
    pairs: FxHashMap<usize, Vec<Pair>>,
    /// End to end.
    scenarios: Vec<u64>,
    /// Bits of the levels a scenario can state.
    stated: Vec<u64>,
    masks: FxHashMap<LevelSet, Vec<u64>>,
}

impl Evidence {
    pub(super) fn new(layout: &Layout, all: &[u16]) -> Self {
        let mut stated = layout.empty();
        for level in all {
            layout.set(&mut stated, *level, 0);
        }
        Self {
            pairs: FxHashMap::default(),
            scenarios: Vec::new(),
            stated: stated.mask().to_vec(),
            masks: FxHashMap::default(),
        }
    }

    fn known_scenario(&self, words: usize, facts: &Bits) -> bool {
        self.scenarios.rchunks_exact(words).any(|full| facts.fits(full))
    }
}

impl DiagramClasses<'_> {
    /// The context's node, once a real scenario has shown that there is one.
    pub(super) fn inhabited(
        &mut self,
        mut node: NodeId,
        context: &Context,
    ) -> Result<Option<NodeId>, Stop> {
        while node != EMPTY && !self.evidence.known_scenario(self.layout.words(), &context.facts) {
            let Some(found) = self.diagram.find(node, &Path::new(), |terminal| terminal != 0)
            else {
                break;
            };
            let class = self.diagram.class_at(node, &found);
            match self.witness(&merge(&context.decided, &found), class)? {
                Some(one) => self.evidence.scenarios.extend_from_slice(&one),
                None => node = self.replay(&context.decided, &context.dropped)?,
            }
        }
        Ok((node != EMPTY).then_some(node))
    }

    /// A real scenario that agrees with `given` and is in class `class`, as bits; none where a
    /// lemma was learnt instead, and the question is to be asked again.
    fn witness(&mut self, given: &Path, class: u8) -> Result<Option<Vec<u64>>, Stop> {
        let Some(found) = self.diagram.find(self.root, given, |terminal| terminal == class) else {
            return Ok(None);
        };
        let mut pattern = given.clone();
        for (level, value) in found {
            if pattern.binary_search_by_key(&level, |(at, _)| *at).is_err() {
                pattern.push((level, value));
            }
        }
        match self.theory.feasible(&pattern)? {
            Feasible::No(core) => {
                self.learn(&core)?;
                Ok(None)
            }
            Feasible::Yes(signs) => {
                let mut bits = self.layout.empty();
                for (level, value) in &pattern {
                    self.layout.set(&mut bits, *level, *value);
                }
                let full = bits.value().iter().zip(&signs).map(|(value, sign)| value | sign);
                let stated = full.zip(&self.evidence.stated).map(|(full, stated)| full & stated);
                Ok(Some(stated.collect()))
            }
        }
    }

    fn mask(&mut self, set: LevelSet) -> Vec<u64> {
        if let Some(known) = self.evidence.masks.get(&set) {
            return known.clone();
        }
        let mut bits = self.layout.empty();
        for level in self.diagram.levels(set) {
            self.layout.set(&mut bits, *level, 0);
        }
        self.evidence.masks.insert(set, bits.mask().to_vec());
        bits.mask().to_vec()
    }

    /// Whether two scenarios found earlier show that the group cannot be dropped.
    pub(super) fn has_pair(&mut self, context: &Context, group: &Group) -> bool {
        let set = self.diagram.level_set(&group.levels);
        let mask = self.mask(set);
        let Some(pairs) = self.evidence.pairs.get_mut(&group.trial) else {
            return false;
        };
        let gone = context.gone.mask();
        let (facts, values) = (context.facts.mask(), context.facts.value());
        let fits = |pair: &Pair| {
            (0..mask.len()).all(|at| {
                let outside = !(gone[at] | mask[at]);
                let first = (pair.first[at] ^ values[at]) & facts[at];
                // A decided level must have its value in both scenarios.
                first == 0 && pair.difference[at] & (outside | facts[at]) == 0
            })
        };
        let Some(at) = pairs.iter().rposition(fits) else {
            return false;
        };
        // What served once serves again soon: keep it near the end, where the search begins.
        let last = pairs.len() - 1;
        pairs.swap(at, usize::midpoint(at, last).max(at));
        true
    }

    /// Whether two real scenarios show that the group cannot be dropped; where not, a lemma was
    /// learnt, and the question is to be asked again.
    pub(super) fn prove_kept(
        &mut self,
        node: NodeId,
        context: &Context,
        group: &Group,
        pair: (Path, Path),
    ) -> Result<bool, Stop> {
        let first = merge(&context.decided, &pair.0);
        let a = self.diagram.class_at(node, &pair.0);
        let b = self.diagram.class_at(node, &pair.1);
        let Some(one) = self.witness(&first, a)? else {
            return Ok(false);
        };
        // The second scenario agrees with the first on every other open level. In the group it may
        // have any values of its class: those of the pair belong to values that the first scenario
        // need not have where the pair leaves levels open.
        let levels = &group.levels;
        let mut agreed: Path = context
            .open
            .iter()
            .filter(|level| !levels.contains(level))
            .map(|level| (*level, self.layout.get(&one, *level)))
            .collect();
        agreed.extend(context.decided.iter().copied());
        agreed.sort_unstable();
        let Some(two) = self.witness(&agreed, b)? else {
            return Ok(false);
        };
        let difference = one.iter().zip(&two).map(|(a, b)| a ^ b).collect();
        self.evidence.scenarios.extend_from_slice(&one);
        self.evidence.scenarios.extend_from_slice(&two);
        let pairs = self.evidence.pairs.entry(group.trial).or_default();
        pairs.push(Pair { first: one, difference });
        Ok(true)
    }
}
