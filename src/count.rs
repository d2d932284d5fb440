//! Exact counts over the unfolding of a shared tree, without unfolding it.
//!
//! Families of signatures are kept as zero-suppressed diagrams (Minato): a set of sets of
//! variables, shared like the tree itself, so that distinct signatures are counted without listing
//! paths.

#![expect(clippy::indexing_slicing, reason = "nodes index the tree and the family store")]

use num_bigint::BigUint;
use num_traits::{One, Zero};
use rustc_hash::FxHashMap;

use crate::term::ConstId;
use crate::tree::{Node, Tree};

/// What lies at and below one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Below {
    /// Definite leaves by class; class `1 + i` at position `i`.
    pub definite: Vec<BigUint>,
    /// Silent leaves.
    pub silent: BigUint,
    /// Inner nodes, this one included.
    pub inner: BigUint,
    /// Inner nodes below which two definite classes can be reached, this one included.
    pub cut: BigUint,
    /// Questions on the longest path.
    pub depth: usize,
    /// Fewest and most questions down to a definite leaf.
    pub to_definite: Option<(usize, usize)>,
}

impl Below {
    /// Definite leaves of any class.
    #[must_use]
    pub fn leaves(&self) -> BigUint {
        self.definite.iter().sum()
    }

    /// Definite classes below.
    #[must_use]
    pub fn classes(&self) -> usize {
        self.definite.iter().filter(|count| !count.is_zero()).count()
    }
}

/// Counts for every node of a tree.
#[must_use]
pub fn count(tree: &Tree) -> Vec<Below> {
    let classes = usize::from(tree.silent.saturating_sub(1));
    let mut all: Vec<Below> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let mut here = Below { definite: vec![BigUint::zero(); classes], ..Below::default() };
        match node {
            Node::Leaf(class) if *class == tree.silent => here.silent = BigUint::one(),
            Node::Leaf(class) => {
                if let Some(count) = here.definite.get_mut(usize::from(*class).wrapping_sub(1)) {
                    *count = BigUint::one();
                }
                here.to_definite = Some((0, 0));
            }
            Node::Ask { branches, .. } => {
                for (_, below) in branches {
                    let below = &all[*below as usize];
                    for (count, more) in here.definite.iter_mut().zip(&below.definite) {
                        *count += more;
                    }
                    here.silent += &below.silent;
                    here.inner += &below.inner;
                    here.cut += &below.cut;
                    here.depth = here.depth.max(below.depth + 1);
                    if let Some((least, most)) = below.to_definite {
                        let known = here.to_definite.unwrap_or((least + 1, most + 1));
                        here.to_definite = Some((known.0.min(least + 1), known.1.max(most + 1)));
                    }
                }
                here.inner += BigUint::one();
                if here.classes() >= 2 {
                    here.cut += BigUint::one();
                }
            }
        }
        all.push(here);
    }
    all
}

/// Mean number of questions on a path to a leaf, every path alike; for reports.
#[must_use]
pub fn mean_depth(tree: &Tree) -> (BigUint, BigUint) {
    let mut all: Vec<(BigUint, BigUint)> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        all.push(match node {
            Node::Leaf(_) => (BigUint::zero(), BigUint::one()),
            Node::Ask { branches, .. } => {
                let mut sum = (BigUint::zero(), BigUint::zero());
                for (_, below) in branches {
                    let (total, leaves) = &all[*below as usize];
                    sum.0 += total + leaves;
                    sum.1 += leaves;
                }
                sum
            }
        });
    }
    all.get(tree.root as usize).cloned().unwrap_or_default()
}

/// A set of sets of variables; 0 is the empty family, 1 the family of the empty set alone.
type Family = u32;

#[derive(Default)]
struct Families {
    nodes: Vec<(u32, Family, Family)>,
    index: FxHashMap<(u32, Family, Family), Family>,
    unions: FxHashMap<(Family, Family), Family>,
    inserts: FxHashMap<(Family, u32), Family>,
    counts: FxHashMap<Family, BigUint>,
}

impl Families {
    fn make(&mut self, variable: u32, without: Family, with: Family) -> Family {
        if with == 0 {
            return without;
        }
        let next = u32::try_from(self.nodes.len() + 2).unwrap_or(u32::MAX);
        let known = *self.index.entry((variable, without, with)).or_insert(next);
        if known == next {
            self.nodes.push((variable, without, with));
        }
        known
    }

    fn get(&self, family: Family) -> (u32, Family, Family) {
        match family {
            0 | 1 => (u32::MAX, 0, 0),
            _ => self.nodes[family as usize - 2],
        }
    }

    fn union(&mut self, a: Family, b: Family) -> Family {
        let (a, b) = (a.min(b), a.max(b));
        if a == 0 || a == b {
            return b;
        }
        if let Some(known) = self.unions.get(&(a, b)) {
            return *known;
        }
        let (va, wa, ia) = self.get(a);
        let (vb, wb, ib) = self.get(b);
        let union = match va.cmp(&vb) {
            std::cmp::Ordering::Less => {
                let without = self.union(wa, b);
                self.make(va, without, ia)
            }
            std::cmp::Ordering::Greater => {
                let without = self.union(a, wb);
                self.make(vb, without, ib)
            }
            std::cmp::Ordering::Equal => {
                let without = self.union(wa, wb);
                let with = self.union(ia, ib);
                self.make(va, without, with)
            }
        };
        self.unions.insert((a, b), union);
        union
    }

    /// Every set with `variable` added.
    fn insert(&mut self, family: Family, variable: u32) -> Family {
        if family == 0 {
            return 0;
        }
        if let Some(known) = self.inserts.get(&(family, variable)) {
            return *known;
        }
        let (top, without, with) = self.get(family);
        let inserted = match top.cmp(&variable) {
            std::cmp::Ordering::Less => {
                let without = self.insert(without, variable);
                let with = self.insert(with, variable);
                self.make(top, without, with)
            }
            std::cmp::Ordering::Equal => {
                let both = self.union(without, with);
                self.make(variable, 0, both)
            }
            std::cmp::Ordering::Greater => self.make(variable, 0, family),
        };
        self.inserts.insert((family, variable), inserted);
        inserted
    }

    fn count(&mut self, family: Family) -> BigUint {
        match family {
            0 => return BigUint::zero(),
            1 => return BigUint::one(),
            _ => {}
        }
        if let Some(known) = self.counts.get(&family) {
            return known.clone();
        }
        let (_, without, with) = self.get(family);
        let count = self.count(without) + self.count(with);
        self.counts.insert(family, count.clone());
        count
    }
}

/// The number of distinct signatures: sets of variables a path states, within definite leaves of
/// one class and within NEI nodes (the root left out).
#[must_use]
pub fn signatures(tree: &Tree) -> BigUint {
    let classes = usize::from(tree.silent.saturating_sub(1));
    let variable = |id: &ConstId| id.0;
    let mut families = Families::default();
    // Per node: a family per class, then one for inner nodes.
    let mut all: Vec<Vec<Family>> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let mut here = vec![0; classes + 1];
        match node {
            Node::Leaf(class) => {
                if let Some(family) = here[..classes].get_mut(usize::from(*class).wrapping_sub(1)) {
                    *family = 1;
                }
            }
            Node::Ask { variables, branches } => {
                for (_, below) in branches {
                    for (at, family) in here.iter_mut().enumerate() {
                        let mut more = all[*below as usize][at];
                        for id in variables {
                            more = families.insert(more, variable(id));
                        }
                        *family = families.union(*family, more);
                    }
                }
                here[classes] = families.union(here[classes], 1);
            }
        }
        all.push(here);
    }
    let Some(root) = all.get(tree.root as usize) else { return BigUint::zero() };
    let mut total: BigUint = root.iter().map(|family| families.count(*family)).sum();
    if matches!(tree.nodes[tree.root as usize], Node::Ask { .. }) {
        // The root states nothing: its empty set is no entry.
        total -= BigUint::one();
    }
    total
}
