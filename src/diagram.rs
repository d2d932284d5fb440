//! Shared decision diagrams over finite variables, reduced and ordered, so equal functions are
//! equal nodes.
//!
//! One manager holds functions into small terminals: 0 and 1 for conditions, and for class
//! functions 0 ("no scenario") and one terminal per class. A level is one variable with two or more
//! values; at which *place* a level is looked at is the manager's own affair and may change while
//! it works. Absent here: policies, arithmetic, solvers, and any effect of the order of calls on
//! what a function means. After Bryant's ROBDDs and their multi-valued form; see OxiDD for a
//! general library (docs/engine.md says why this is our own).

#![expect(clippy::indexing_slicing, reason = "node ids index the manager that made them")]

use rustc_hash::FxHashMap;

mod apply;
mod copy;
mod paths;
mod reorder;
mod sift;
mod support;

use support::Supports;

/// A function of one manager. Ids below [`TERMINALS`] are the constant functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct NodeId(u32);

/// Constant functions have the ids `0..TERMINALS`.
pub const TERMINALS: u32 = 256;
/// The condition that never holds, and "no scenario" of class functions.
pub const EMPTY: NodeId = NodeId(0);
/// The condition that always holds.
pub const ALWAYS: NodeId = NodeId(1);
const CONFLICT: u32 = u32::MAX;

/// The manager reached its limit of nodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the diagram reached its memory limit")]
pub struct Full;

/// A node or the news that the limit is reached.
pub type Made = Result<NodeId, Full>;

/// Values given to some levels, sorted by level.
pub type Path = Vec<(u16, u8)>;

/// A registered set of levels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LevelSet(u32);

#[derive(Clone, Copy)]
enum Op {
    And,
    Or,
    Guard,
    Join,
    Merge,
    Restrict,
    Drop,
    Not,
    Exists,
    Union,
}

#[derive(Clone, Copy)]
struct Cached {
    op: u32,
    f: u32,
    g: u32,
    result: u32,
}

/// The manager.
pub struct Diagram {
    /// Number of values by place.
    arity: Vec<u8>,
    /// Level at each place, and place of each level.
    order: Vec<u16>,
    places: Vec<u16>,
    /// Place of each node; below all others for constants.
    place: Vec<u16>,
    start: Vec<u32>,
    kids: Vec<u32>,
    unique: Vec<u32>,
    cache: Vec<Cached>,
    sets: Vec<Set>,
    known_sets: FxHashMap<Vec<u16>, LevelSet>,
    limit: usize,
    /// Where operations stop for the caller to reorder.
    pause: usize,
    supports: Supports,
}

/// A registered set: its levels, and by place up to the last whether the level there is in it.
struct Set {
    levels: Vec<u16>,
    flags: Vec<bool>,
}

const NOTHING: Cached = Cached { op: u32::MAX, f: 0, g: 0, result: 0 };

fn mix(mut hash: u64, part: u32) -> u64 {
    hash = (hash ^ u64::from(part)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

impl Diagram {
    /// A manager for variables of these numbers of values, in level order, holding up to
    /// `mebibytes`.
    #[must_use]
    pub fn new(arity: Vec<u8>, mebibytes: usize) -> Self {
        // A binary node takes 6 bytes of fields, 8 of children and about 8 of the unique table.
        let limit = (mebibytes << 20) / 24;
        let levels = u16::try_from(arity.len()).unwrap_or(u16::MAX);
        Self {
            arity,
            order: (0..levels).collect(),
            places: (0..levels).collect(),
            place: vec![u16::MAX; TERMINALS as usize],
            start: vec![0; TERMINALS as usize + 1],
            kids: Vec::new(),
            unique: vec![0; 1 << 12],
            cache: vec![NOTHING; 1 << 14],
            sets: Vec::new(),
            known_sets: FxHashMap::default(),
            limit,
            pause: limit,
            supports: Supports::default(),
        }
    }

    /// Nodes made so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.place.len() - TERMINALS as usize
    }

    /// Nothing but terminals.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of values of a level.
    #[must_use]
    pub fn arity(&self, level: u16) -> u8 {
        self.arity[self.places[level as usize] as usize]
    }

    /// Where a level is looked at: lower places first. Changes when the manager reorders.
    #[must_use]
    pub fn place_of(&self, level: u16) -> u16 {
        self.places[level as usize]
    }

    /// The constant function of a terminal below [`TERMINALS`].
    #[must_use]
    pub fn terminal(value: u8) -> NodeId {
        NodeId(u32::from(value))
    }

    /// The terminal of a constant function.
    #[must_use]
    pub fn as_terminal(node: NodeId) -> Option<u8> {
        u8::try_from(node.0).ok()
    }

    /// The level a function looks at first, or none for a constant.
    #[must_use]
    pub fn top(&self, node: NodeId) -> Option<u16> {
        self.order.get(self.place[node.0 as usize] as usize).copied()
    }

    /// The functions below a node, one per value of its level.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.kids_of(node.0).iter().map(|kid| NodeId(*kid))
    }

    fn kids_of(&self, node: u32) -> &[u32] {
        &self.kids[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }

    fn slot(&self, place: u16, kids: &[u32]) -> usize {
        let seed = u64::from(place).wrapping_mul(0x517c_c1b7_2722_0a95);
        let hash = kids.iter().fold(seed, |hash, kid| mix(hash, *kid));
        usize::try_from(hash >> 20).unwrap_or(0) & (self.unique.len() - 1)
    }

    /// The function that looks at `level` and continues with one of `kids`, none of which looks at
    /// the level or at a place before it.
    ///
    /// # Errors
    /// [`Full`] (so for every operation below).
    pub fn make(&mut self, level: u16, kids: &[u32]) -> Made {
        self.make_at(self.places[level as usize], kids).map(NodeId)
    }

    #[inline]
    fn make_at(&mut self, place: u16, kids: &[u32]) -> Result<u32, Full> {
        let first = kids[0];
        if kids.iter().all(|kid| *kid == first) {
            return Ok(first);
        }
        let mut slot = self.slot(place, kids);
        loop {
            let node = self.unique[slot];
            if node == 0 {
                break;
            }
            if self.place[node as usize] == place && self.kids_of(node) == kids {
                return Ok(node);
            }
            slot = (slot + 1) & (self.unique.len() - 1);
        }
        if self.place.len() >= self.pause {
            return Err(Full);
        }
        let id = u32::try_from(self.place.len()).map_err(|_| Full)?;
        self.place.push(place);
        self.kids.extend_from_slice(kids);
        self.start.push(u32::try_from(self.kids.len()).map_err(|_| Full)?);
        self.unique[slot] = id;
        if self.place.len() * 2 > self.unique.len() {
            self.grow();
        }
        Ok(id)
    }

    fn grow(&mut self) {
        self.unique = vec![0; self.unique.len() * 4];
        for node in TERMINALS..u32::try_from(self.place.len()).unwrap_or(u32::MAX) {
            let mut slot = self.slot(self.place[node as usize], self.kids_of(node));
            while self.unique[slot] != 0 {
                slot = (slot + 1) & (self.unique.len() - 1);
            }
            self.unique[slot] = node;
        }
        let wanted = self.unique.len().min(1 << 21);
        if wanted > self.cache.len() {
            self.cache = vec![NOTHING; wanted];
        }
    }

    fn cached(&self, op: u32, f: u32, g: u32) -> (usize, Option<u32>) {
        let hash = mix(mix(mix(0x2545_f491, op), f), g);
        let at = usize::try_from(hash >> 20).unwrap_or(0) & (self.cache.len() - 1);
        let entry = self.cache[at];
        let hit = entry.op == op && entry.f == f && entry.g == g;
        (at, hit.then_some(entry.result))
    }

    fn remember(&mut self, op: u32, f: u32, g: u32, result: u32) {
        let (at, _) = self.cached(op, f, g);
        self.cache[at] = Cached { op, f, g, result };
    }

    /// The condition `level = value`.
    ///
    /// # Errors
    /// [`Full`].
    pub fn literal(&mut self, level: u16, value: u8) -> Made {
        let kids: Vec<u32> = (0..self.arity(level)).map(|at| u32::from(at == value)).collect();
        self.make(level, &kids)
    }

    /// The function once `level` has `value`.
    ///
    /// # Errors
    /// [`Full`].
    pub fn restrict(&mut self, f: NodeId, level: u16, value: u8) -> Made {
        let code = u32::from(self.places[level as usize]) << 8 | u32::from(value);
        self.map(Op::Restrict, f.0, code).map(NodeId)
    }

    /// The class function without these levels, or none where two points that differ only there are
    /// in different classes. "No scenario" gives way to any class.
    ///
    /// # Errors
    /// [`Full`].
    pub fn drop_levels(&mut self, f: NodeId, set: LevelSet) -> Result<Option<NodeId>, Full> {
        let result = self.map(Op::Drop, f.0, set.0)?;
        Ok((result != CONFLICT).then_some(NodeId(result)))
    }

    /// The condition that holds where some values of these levels make `f` hold.
    ///
    /// # Errors
    /// [`Full`].
    pub fn exists(&mut self, f: NodeId, set: LevelSet) -> Made {
        self.map(Op::Exists, f.0, set.0).map(NodeId)
    }

    fn map(&mut self, op: Op, f: u32, argument: u32) -> Result<u32, Full> {
        let place = self.place[f as usize];
        match op {
            Op::Not if f < TERMINALS => return Ok(1 - f.min(1)),
            Op::Restrict if place == u16::MAX || u32::from(place) > argument >> 8 => return Ok(f),
            Op::Restrict if u32::from(place) == argument >> 8 => {
                return Ok(self.kids_of(f)[(argument & 255) as usize]);
            }
            Op::Drop | Op::Exists if self.sets[argument as usize].flags.len() <= place as usize => {
                return Ok(f);
            }
            _ => {}
        }
        if let (_, Some(result)) = self.cached(op as u32, f, argument) {
            return Ok(result);
        }
        let fold = match op {
            Op::Drop if self.sets[argument as usize].flags[place as usize] => Some(Op::Merge),
            Op::Exists if self.sets[argument as usize].flags[place as usize] => Some(Op::Or),
            _ => None,
        };
        let result = self.map_node(op, f, argument, fold)?;
        self.remember(op as u32, f, argument, result);
        Ok(result)
    }

    fn map_node(&mut self, op: Op, f: u32, argument: u32, fold: Option<Op>) -> Result<u32, Full> {
        let place = self.place[f as usize];
        let arity = self.arity[place as usize] as usize;
        if arity == 2 {
            let low = self.map(op, self.below(f, place, 0), argument)?;
            // What holds either way, or cannot be dropped on one side, is settled.
            if low == CONFLICT || (low == ALWAYS.0 && matches!(fold, Some(Op::Or))) {
                return Ok(low);
            }
            let high = self.map(op, self.below(f, place, 1), argument)?;
            return match fold {
                _ if high == CONFLICT => Ok(CONFLICT),
                Some(fold) => self.apply(fold, low, high),
                None => self.make_at(place, &[low, high]),
            };
        }
        let mut kids = Vec::with_capacity(arity);
        for at in 0..arity {
            kids.push(self.map(op, self.below(f, place, at), argument)?);
            if kids[at] == CONFLICT {
                return Ok(CONFLICT);
            }
        }
        let Some(fold) = fold else {
            return self.make_at(place, &kids);
        };
        let mut result = kids[0];
        for kid in &kids[1..] {
            result = self.apply(fold, result, *kid)?;
            if result == CONFLICT {
                break;
            }
        }
        Ok(result)
    }
}
