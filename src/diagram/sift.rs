//! A better order for the levels of some functions, found by sifting.
//!
//! Every level in turn is moved through all places by swaps of neighbours and stays where the
//! fewest nodes are left. Deterministic: the same functions in the same order end in the same
//! order. Absent here: what levels mean, and any node that the functions do not reach. After Rudell
//! (ICCAD 1993), with nodes of any number of children.

#![expect(clippy::indexing_slicing, reason = "places and nodes index the tables made for them")]

use super::TERMINALS;

/// A level may make the functions larger by this share on its way before the way is given up.
const GROWTH: (usize, usize) = (6, 5);
/// Rounds of sifting at most.
const ROUNDS: usize = 4;
const NONE: u32 = u32::MAX;

/// The nodes of one level, as chains.
#[derive(Clone, Default)]
struct Table {
    heads: Vec<u32>,
    count: usize,
}

/// Some functions with a table per level, so that two neighbouring levels can change places.
pub(super) struct Sifter {
    arity: Vec<u8>,
    /// Level at each place.
    order: Vec<u16>,
    /// Level of each node.
    level: Vec<u16>,
    start: Vec<u32>,
    kids: Vec<u32>,
    uses: Vec<u32>,
    next: Vec<u32>,
    tables: Vec<Table>,
    free: Vec<u32>,
    free_kids: Vec<Vec<u32>>,
    live: usize,
}

fn hash(kids: &[u32]) -> usize {
    let mixed = kids.iter().fold(0x517c_c1b7_u64, |hash, kid| {
        let next = (hash ^ u64::from(*kid)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        next ^ (next >> 29)
    });
    usize::try_from(mixed >> 24).unwrap_or(0)
}

impl Sifter {
    /// No functions yet over levels with these numbers of values, ordered as listed.
    pub(super) fn new(arity: Vec<u8>) -> Self {
        let terminals = TERMINALS as usize;
        let most = arity.iter().copied().max().map_or(0, usize::from);
        let levels = u16::try_from(arity.len()).unwrap_or(u16::MAX);
        Self {
            order: (0..levels).collect(),
            level: vec![u16::MAX; terminals],
            start: vec![0; terminals],
            kids: Vec::new(),
            uses: vec![1; terminals],
            next: vec![NONE; terminals],
            tables: vec![Table { heads: vec![NONE; 16], count: 0 }; arity.len()],
            free: Vec::new(),
            free_kids: vec![Vec::new(); most + 1],
            live: 0,
            arity,
        }
    }

    /// Nodes in use.
    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// One more than the largest node.
    pub(super) fn names(&self) -> u32 {
        u32::try_from(self.level.len()).unwrap_or(NONE)
    }

    /// The levels from the first place to the last.
    pub(super) fn order(&self) -> &[u16] {
        &self.order
    }

    /// Keeps a node whatever becomes of the others.
    pub(super) fn hold(&mut self, node: u32) {
        self.uses[node as usize] += 1;
    }

    /// The nodes of a level, in no meaningful order.
    pub(super) fn nodes(&self, level: u16) -> Vec<u32> {
        let mut nodes = Vec::with_capacity(self.tables[level as usize].count);
        for head in &self.tables[level as usize].heads {
            let mut node = *head;
            while node != NONE {
                nodes.push(node);
                node = self.next[node as usize];
            }
        }
        nodes
    }

    /// The children of a node.
    pub(super) fn kids(&self, node: u32) -> &[u32] {
        let start = self.start[node as usize] as usize;
        &self.kids[start..start + self.arity[self.level[node as usize] as usize] as usize]
    }

    /// The node of a level with these children, one more time in use.
    pub(super) fn make(&mut self, level: u16, kids: &[u32]) -> u32 {
        let found =
            if kids.iter().all(|kid| *kid == kids[0]) { kids[0] } else { self.find(level, kids) };
        if found != NONE {
            self.uses[found as usize] += 1;
            return found;
        }
        for kid in kids {
            self.uses[*kid as usize] += 1;
        }
        let node = self.free.pop().unwrap_or_else(|| {
            self.level.push(0);
            self.start.push(0);
            self.uses.push(0);
            self.next.push(NONE);
            u32::try_from(self.level.len() - 1).unwrap_or(NONE)
        });
        self.uses[node as usize] = 1;
        self.live += 1;
        self.put(node, level, kids);
        node
    }

    fn find(&self, level: u16, kids: &[u32]) -> u32 {
        let heads = &self.tables[level as usize].heads;
        let mut node = heads[hash(kids) & (heads.len() - 1)];
        while node != NONE && self.kids(node) != kids {
            node = self.next[node as usize];
        }
        node
    }

    /// Gives a node its level and children; it is in no table before.
    fn put(&mut self, node: u32, level: u16, kids: &[u32]) {
        let start = self.free_kids[kids.len()].pop();
        if let Some(start) = start {
            self.kids[start as usize..start as usize + kids.len()].copy_from_slice(kids);
        } else {
            self.kids.extend_from_slice(kids);
        }
        let end = u32::try_from(self.kids.len() - kids.len()).unwrap_or(NONE);
        self.start[node as usize] = start.unwrap_or(end);
        self.level[node as usize] = level;
        self.link(node, level);
    }

    fn link(&mut self, node: u32, level: u16) {
        if self.tables[level as usize].count >= self.tables[level as usize].heads.len() {
            let nodes = self.nodes(level);
            let table = &mut self.tables[level as usize];
            table.heads = vec![NONE; table.heads.len() * 4];
            table.count = 0;
            for node in nodes {
                self.link(node, level);
            }
        }
        let at = hash(self.kids(node));
        let table = &mut self.tables[level as usize];
        let at = at & (table.heads.len() - 1);
        self.next[node as usize] = table.heads[at];
        table.heads[at] = node;
        table.count += 1;
    }

    fn unlink(&mut self, node: u32) {
        let at = hash(self.kids(node));
        let table = &mut self.tables[self.level[node as usize] as usize];
        table.count -= 1;
        let at = at & (table.heads.len() - 1);
        let after = self.next[node as usize];
        let mut before = table.heads[at];
        if before == node {
            table.heads[at] = after;
            return;
        }
        while self.next[before as usize] != node {
            before = self.next[before as usize];
        }
        self.next[before as usize] = after;
    }

    /// One use less; a node without any is gone, and what only it used.
    pub(super) fn release(&mut self, node: u32) {
        let mut stack = vec![node];
        while let Some(node) = stack.pop() {
            self.uses[node as usize] -= 1;
            if self.uses[node as usize] == 0 && node >= TERMINALS {
                self.unlink(node);
                stack.extend_from_slice(self.kids(node));
                let arity = self.kids(node).len();
                self.free_kids[arity].push(self.start[node as usize]);
                self.free.push(node);
                self.live -= 1;
            }
        }
    }

    /// The levels at `place` and the one after it change places. Nodes keep their function.
    fn swap(&mut self, place: usize) {
        let (upper, lower) = (self.order[place], self.order[place + 1]);
        self.order.swap(place, place + 1);
        if self.tables[lower as usize].count == 0 || self.tables[upper as usize].count == 0 {
            return;
        }
        let (wide, high) = (self.arity[upper as usize], self.arity[lower as usize]);
        let mut matrix = vec![0_u32; wide as usize * high as usize];
        let mut made = Vec::with_capacity(high as usize);
        for node in self.nodes(upper) {
            let below = self.kids(node).to_vec();
            if below.iter().all(|kid| self.level[*kid as usize] != lower) {
                continue;
            }
            self.unlink(node);
            self.free_kids[wide as usize].push(self.start[node as usize]);
            for (i, kid) in below.iter().enumerate() {
                let splits = self.level[*kid as usize] == lower;
                for j in 0..high as usize {
                    matrix[j * wide as usize + i] = if splits { self.kids(*kid)[j] } else { *kid };
                }
            }
            made.clear();
            for row in matrix.chunks_exact(wide as usize) {
                made.push(self.make(upper, row));
            }
            self.put(node, lower, &made);
            for kid in below {
                self.release(kid);
            }
        }
    }

    /// Sifts every level until a round gains little.
    pub(super) fn sift(&mut self) {
        for _ in 0..ROUNDS {
            let before = self.live;
            let mut levels: Vec<u16> = self.order.clone();
            let counts: Vec<usize> = self.tables.iter().map(|table| table.count).collect();
            levels.sort_by_key(|level| (usize::MAX - counts[*level as usize], *level));
            for level in levels {
                if counts[level as usize] > 0 {
                    self.place_best(level);
                }
            }
            if self.live * 50 > before * 49 {
                break;
            }
        }
    }

    /// Moves one level through all places, the nearer end first, and back to the best.
    fn place_best(&mut self, level: u16) {
        let Some(from) = self.order.iter().position(|other| *other == level) else {
            return;
        };
        let last = self.order.len() - 1;
        let mut at = from;
        let mut best = (self.live, from);
        let ends = if from * 2 > last { [last, 0] } else { [0, last] };
        for end in ends {
            while at != end && self.live * GROWTH.1 <= best.0 * GROWTH.0 {
                at = self.step(at, end);
                if self.live < best.0 {
                    best = (self.live, at);
                }
            }
            // The other way begins where this one did.
            while at != from {
                at = self.step(at, from);
            }
        }
        while at != best.1 {
            at = self.step(at, best.1);
        }
    }

    /// One swap towards a place.
    fn step(&mut self, at: usize, towards: usize) -> usize {
        if at < towards {
            self.swap(at);
            at + 1
        } else {
            self.swap(at - 1);
            at - 1
        }
    }
}
