//! Shared decision diagrams over finite variables, reduced and ordered, so equal functions are equal
//! nodes.
//!
//! One manager holds functions into small terminals: 0 and 1 for conditions, and for class functions
//! 0 ("no scenario") and one terminal per class. A level is one variable with two or more values.
//! Absent here: policies, arithmetic, solvers, and any effect of the order of calls on what a
//! function means. After Bryant's ROBDDs and their multi-valued form; see OxiDD for a general
//! library (docs/engine.md says why this is our own).

#![expect(clippy::indexing_slicing, reason = "node ids index the manager that made them")]

use rustc_hash::FxHashSet;

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
    arity: Vec<u8>,
    level: Vec<u16>,
    start: Vec<u32>,
    kids: Vec<u32>,
    unique: Vec<u32>,
    cache: Vec<Cached>,
    sets: Vec<Vec<bool>>,
    limit: usize,
}

fn mix(mut hash: u64, part: u32) -> u64 {
    hash = (hash ^ u64::from(part)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

impl Diagram {
    /// A manager for variables of these numbers of values, in level order, holding up to `mebibytes`.
    #[must_use]
    pub fn new(arity: Vec<u8>, mebibytes: usize) -> Self {
        // A binary node takes 6 bytes of fields, 8 of children and about 8 of the unique table.
        let limit = (mebibytes << 20) / 24;
        let empty = Cached { op: u32::MAX, f: 0, g: 0, result: 0 };
        Self {
            arity,
            level: vec![u16::MAX; TERMINALS as usize],
            start: vec![0; TERMINALS as usize + 1],
            kids: Vec::new(),
            unique: vec![0; 1 << 12],
            cache: vec![empty; 1 << 16],
            sets: Vec::new(),
            limit,
        }
    }

    /// Nodes made so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.level.len() - TERMINALS as usize
    }

    /// Nothing but terminals.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of values of a level.
    #[must_use]
    pub fn arity(&self, level: u16) -> u8 {
        self.arity[level as usize]
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
        let level = self.level[node.0 as usize];
        (level != u16::MAX).then_some(level)
    }

    /// The functions below a node, one per value of its level.
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.kids_of(node.0).iter().map(|kid| NodeId(*kid))
    }

    fn kids_of(&self, node: u32) -> &[u32] {
        &self.kids[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }

    fn slot(&self, level: u16, kids: &[u32]) -> usize {
        let seed = u64::from(level).wrapping_mul(0x517c_c1b7_2722_0a95);
        let hash = kids.iter().fold(seed, |hash, kid| mix(hash, *kid));
        usize::try_from(hash >> 20).unwrap_or(0) & (self.unique.len() - 1)
    }

    /// The function that looks at `level` and continues with one of `kids`.
    ///
    /// # Errors
    /// [`Full`] (so for every operation below).
    pub fn make(&mut self, level: u16, kids: &[u32]) -> Made {
        if kids.iter().all(|kid| *kid == kids[0]) {
            return Ok(NodeId(kids[0]));
        }
        let mut slot = self.slot(level, kids);
        loop {
            let node = self.unique[slot];
            if node == 0 {
                break;
            }
            if self.level[node as usize] == level && self.kids_of(node) == kids {
                return Ok(NodeId(node));
            }
            slot = (slot + 1) & (self.unique.len() - 1);
        }
        if self.level.len() >= self.limit {
            return Err(Full);
        }
        let id = u32::try_from(self.level.len()).map_err(|_| Full)?;
        self.level.push(level);
        self.kids.extend_from_slice(kids);
        self.start.push(u32::try_from(self.kids.len()).map_err(|_| Full)?);
        self.unique[slot] = id;
        if self.level.len() * 2 > self.unique.len() {
            self.grow();
        }
        Ok(NodeId(id))
    }

    fn grow(&mut self) {
        self.unique = vec![0; self.unique.len() * 4];
        for node in TERMINALS..u32::try_from(self.level.len()).unwrap_or(u32::MAX) {
            let mut slot = self.slot(self.level[node as usize], self.kids_of(node));
            while self.unique[slot] != 0 {
                slot = (slot + 1) & (self.unique.len() - 1);
            }
            self.unique[slot] = node;
        }
        let wanted = self.unique.len().min(1 << 21);
        if wanted > self.cache.len() {
            let empty = Cached { op: u32::MAX, f: 0, g: 0, result: 0 };
            self.cache = vec![empty; wanted];
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

    fn leaf(op: Op, f: u32, g: u32) -> Option<u32> {
        match op {
            Op::And => match (f, g) {
                (0, _) | (_, 0) => Some(0),
                (1, other) | (other, 1) => Some(other),
                _ if f == g => Some(f),
                _ => None,
            },
            Op::Or => match (f, g) {
                (1, _) | (_, 1) => Some(1),
                (0, other) | (other, 0) => Some(other),
                _ if f == g => Some(f),
                _ => None,
            },
            // f a condition, g a class function: g where f holds, no scenario elsewhere.
            Op::Guard => match (f, g) {
                (0, _) | (_, 0) => Some(0),
                (1, other) => Some(other),
                _ => None,
            },
            // Two class functions that are nowhere both present.
            Op::Join => match (f, g) {
                (0, other) | (other, 0) => Some(other),
                _ if f == g => Some(f),
                (a, b) if a < TERMINALS && b < TERMINALS => Some(a.max(b)),
                _ => None,
            },
            Op::Merge => match (f, g) {
                (0, other) | (other, 0) => Some(other),
                _ if f == g => Some(f),
                (a, b) if a < TERMINALS && b < TERMINALS => Some(CONFLICT),
                _ => None,
            },
            // Bit sets of possible verdicts, each a terminal.
            Op::Union => match (f, g) {
                (0, other) | (other, 0) => Some(other),
                _ if f == g => Some(f),
                (a, b) if a < TERMINALS && b < TERMINALS => Some(a | b),
                _ => None,
            },
            Op::Restrict | Op::Drop | Op::Not | Op::Exists => None,
        }
    }

    fn apply(&mut self, op: Op, f: u32, g: u32) -> Result<u32, Full> {
        if let Some(result) = Self::leaf(op, f, g) {
            return Ok(result);
        }
        let (f, g) = if f > g && !matches!(op, Op::Guard) { (g, f) } else { (f, g) };
        if let (_, Some(result)) = self.cached(op as u32, f, g) {
            return Ok(result);
        }
        let (level_f, level_g) = (self.level[f as usize], self.level[g as usize]);
        let level = level_f.min(level_g);
        let arity = self.arity(level) as usize;
        let mut kids = [0_u32; 256];
        for at in 0..arity {
            let below_f = if level_f == level { self.kids_of(f)[at] } else { f };
            let below_g = if level_g == level { self.kids_of(g)[at] } else { g };
            kids[at] = self.apply(op, below_f, below_g)?;
            if kids[at] == CONFLICT {
                self.remember(op as u32, f, g, CONFLICT);
                return Ok(CONFLICT);
            }
        }
        let result = self.make(level, &kids[..arity])?.0;
        self.remember(op as u32, f, g, result);
        Ok(result)
    }

    /// Both conditions.
    ///
    /// # Errors
    /// [`Full`].
    pub fn and(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::And, f.0, g.0).map(NodeId)
    }

    /// Either condition.
    ///
    /// # Errors
    /// [`Full`].
    pub fn or(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::Or, f.0, g.0).map(NodeId)
    }

    /// The condition's negation.
    ///
    /// # Errors
    /// [`Full`].
    pub fn not(&mut self, f: NodeId) -> Made {
        self.map(Op::Not, f.0, 0).map(NodeId)
    }

    /// The class function `g` where the condition `f` holds, "no scenario" elsewhere.
    ///
    /// # Errors
    /// [`Full`].
    pub fn guard(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::Guard, f.0, g.0).map(NodeId)
    }

    /// Two class functions together; where both have a class the caller has ruled out a difference.
    ///
    /// # Errors
    /// [`Full`].
    pub fn join(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::Join, f.0, g.0).map(NodeId)
    }

    /// Point by point the union of bit sets.
    ///
    /// # Errors
    /// [`Full`].
    pub fn union(&mut self, f: NodeId, g: NodeId) -> Made {
        self.apply(Op::Union, f.0, g.0).map(NodeId)
    }

    /// The function once `level` has `value`.
    ///
    /// # Errors
    /// [`Full`].
    pub fn restrict(&mut self, f: NodeId, level: u16, value: u8) -> Made {
        let code = u32::from(level) << 8 | u32::from(value);
        self.map(Op::Restrict, f.0, code).map(NodeId)
    }

    /// Registers a set of levels for [`Diagram::drop_levels`] and [`Diagram::exists`].
    pub fn level_set(&mut self, levels: &[u16]) -> LevelSet {
        let last = levels.iter().max().map_or(0, |level| *level as usize + 1);
        let mut set = vec![false; last];
        for level in levels {
            set[*level as usize] = true;
        }
        let known = self.sets.iter().position(|other| *other == set);
        let at = known.unwrap_or_else(|| {
            self.sets.push(set);
            self.sets.len() - 1
        });
        LevelSet(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// The levels of a registered set.
    #[must_use]
    pub fn levels(&self, set: LevelSet) -> Vec<u16> {
        let flags = self.sets[set.0 as usize].iter().enumerate();
        flags.filter(|(_, on)| **on).filter_map(|(at, _)| u16::try_from(at).ok()).collect()
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
        let level = self.level[f as usize];
        match op {
            Op::Not if f < TERMINALS => return Ok(1 - f.min(1)),
            Op::Restrict if level == u16::MAX || u32::from(level) > argument >> 8 => return Ok(f),
            Op::Restrict if u32::from(level) == argument >> 8 => {
                return Ok(self.kids_of(f)[(argument & 255) as usize]);
            }
            Op::Drop | Op::Exists if self.sets[argument as usize].len() <= level as usize => {
                return Ok(f);
            }
            _ => {}
        }
        if let (_, Some(result)) = self.cached(op as u32, f, argument) {
            return Ok(result);
        }
        let arity = self.arity(level) as usize;
        let mut kids = [0_u32; 256];
        for at in 0..arity {
            kids[at] = self.map(op, self.kids_of(f)[at], argument)?;
            if kids[at] == CONFLICT {
                self.remember(op as u32, f, argument, CONFLICT);
                return Ok(CONFLICT);
            }
        }
        let fold = match op {
            Op::Drop if self.sets[argument as usize][level as usize] => Some(Op::Merge),
            Op::Exists if self.sets[argument as usize][level as usize] => Some(Op::Or),
            _ => None,
        };
        let mut result = kids[0];
        if let Some(fold) = fold {
            for kid in &kids[1..arity] {
                result = self.apply(fold, result, *kid)?;
                if result == CONFLICT {
                    break;
                }
            }
        } else {
            result = self.make(level, &kids[..arity])?.0;
        }
        self.remember(op as u32, f, argument, result);
        Ok(result)
    }

    /// The levels a function depends on, ascending.
    #[must_use]
    pub fn support(&self, f: NodeId) -> Vec<u16> {
        let mut seen = FxHashSet::default();
        let mut levels = vec![false; self.arity.len()];
        let mut stack = vec![f.0];
        while let Some(node) = stack.pop() {
            if node >= TERMINALS && seen.insert(node) {
                levels[self.level[node as usize] as usize] = true;
                stack.extend(self.kids_of(node));
            }
        }
        let flags = levels.iter().enumerate();
        flags.filter(|(_, on)| **on).filter_map(|(at, _)| u16::try_from(at).ok()).collect()
    }

    /// Nodes reachable from a function.
    #[must_use]
    pub fn size(&self, f: NodeId) -> usize {
        let mut seen = FxHashSet::default();
        let mut stack = vec![f.0];
        while let Some(node) = stack.pop() {
            if node >= TERMINALS && seen.insert(node) {
                stack.extend(self.kids_of(node));
            }
        }
        seen.len()
    }

    /// The terminals a function takes anywhere, ascending, "no scenario" left out.
    #[must_use]
    pub fn classes(&self, f: NodeId) -> Vec<u8> {
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        let mut stack = vec![f.0];
        while let Some(node) = stack.pop() {
            if !seen.insert(node) {
                continue;
            }
            match u8::try_from(node) {
                Ok(0) => {}
                Ok(terminal) => found.push(terminal),
                Err(_) => stack.extend(self.kids_of(node)),
            }
        }
        found.sort_unstable();
        found
    }

    /// The first path (in value order) to a terminal that is accepted, consistent with `given`.
    #[must_use]
    pub fn find(&self, f: NodeId, given: &Path, accept: impl Fn(u8) -> bool) -> Option<Path> {
        let mut dead = FxHashSet::default();
        let mut path = Path::new();
        self.find_below(f.0, given, &accept, &mut dead, &mut path).then_some(path)
    }

    fn find_below(
        &self,
        f: u32,
        given: &Path,
        accept: &impl Fn(u8) -> bool,
        dead: &mut FxHashSet<u32>,
        path: &mut Path,
    ) -> bool {
        if let Ok(terminal) = u8::try_from(f) {
            return accept(terminal);
        }
        if dead.contains(&f) {
            return false;
        }
        let level = self.level[f as usize];
        let fixed = given.binary_search_by_key(&level, |(at, _)| *at).ok().map(|at| given[at].1);
        let kids = self.kids_of(f).iter().enumerate();
        for (value, kid) in kids {
            let value = u8::try_from(value).unwrap_or(u8::MAX);
            if fixed.is_some_and(|fixed| fixed != value) {
                continue;
            }
            path.push((level, value));
            if self.find_below(*kid, given, accept, dead, path) {
                return true;
            }
            path.pop();
        }
        dead.insert(f);
        false
    }

    /// Two points of different classes that differ only in the levels of `set`, as partial paths,
    /// where [`Diagram::drop_levels`] finds none to drop.
    ///
    /// # Errors
    /// [`Full`].
    pub fn conflict(&mut self, f: NodeId, set: LevelSet) -> Result<Option<(Path, Path)>, Full> {
        let mut prefix = Path::new();
        let mut node = f.0;
        loop {
            if node < TERMINALS || self.map(Op::Drop, node, set.0)? != CONFLICT {
                return Ok(None);
            }
            let level = self.level[node as usize];
            let kids: Vec<u32> = self.kids_of(node).to_vec();
            let mut dropped = Vec::with_capacity(kids.len());
            let mut inside = None;
            for (value, kid) in (0_u8..).zip(&kids) {
                let below = self.map(Op::Drop, *kid, set.0)?;
                if below == CONFLICT {
                    inside = Some((value, *kid));
                    break;
                }
                dropped.push(below);
            }
            if let Some((value, kid)) = inside {
                prefix.push((level, value));
                node = kid;
                continue;
            }
            for (i, (low, a)) in (0_u8..).zip(&dropped).enumerate() {
                for (high, b) in (low + 1..).zip(dropped.iter().skip(i + 1)) {
                    let Some((agreed, class_a, class_b)) = self.clash(*a, *b)? else {
                        continue;
                    };
                    let side = |value: u8, kid: u32, class: u8| {
                        let below = self.find(NodeId(kid), &agreed, |found| found == class)?;
                        let mut path = prefix.clone();
                        path.push((level, value));
                        path.extend(below);
                        Some(with(path, &agreed))
                    };
                    let first = side(low, kids[low as usize], class_a);
                    let second = side(high, kids[high as usize], class_b);
                    return Ok(first.zip(second));
                }
            }
            return Ok(None);
        }
    }

    /// A point where two class functions have different classes.
    fn clash(&mut self, mut f: u32, mut g: u32) -> Result<Option<(Path, u8, u8)>, Full> {
        let mut path = Path::new();
        loop {
            if self.apply(Op::Merge, f, g)? != CONFLICT {
                return Ok(None);
            }
            if let (Ok(a), Ok(b)) = (u8::try_from(f), u8::try_from(g)) {
                return Ok(Some((path, a, b)));
            }
            let (level_f, level_g) = (self.level[f as usize], self.level[g as usize]);
            let level = level_f.min(level_g);
            let mut next = None;
            for value in 0..self.arity(level) {
                let at = value as usize;
                let below_f = if level_f == level { self.kids_of(f)[at] } else { f };
                let below_g = if level_g == level { self.kids_of(g)[at] } else { g };
                if self.apply(Op::Merge, below_f, below_g)? == CONFLICT {
                    next = Some((value, below_f, below_g));
                    break;
                }
            }
            let Some((value, below_f, below_g)) = next else {
                return Ok(None);
            };
            path.push((level, value));
            (f, g) = (below_f, below_g);
        }
    }
}

/// A path with further levels, sorted; levels already there keep their value.
fn with(mut path: Path, more: &Path) -> Path {
    for (level, value) in more {
        if !path.iter().any(|(at, _)| at == level) {
            path.push((*level, *value));
        }
    }
    path.sort_unstable();
    path
}
