//! What a diagram says about single functions: where they look, which classes they take, and points
//! that show it. Absent here: new functions, except where a question needs one.

#![expect(clippy::indexing_slicing, reason = "node ids index the manager that made them")]

use super::{CONFLICT, Diagram, Full, LevelSet, NodeId, Op, Path, TERMINALS};

/// Nodes seen on a walk.
struct Seen(Vec<u64>);

impl Seen {
    fn new(diagram: &Diagram) -> Self {
        Self(vec![0; diagram.place.len().div_ceil(64)])
    }

    /// Whether the node is new to the walk.
    fn insert(&mut self, node: u32) -> bool {
        let bit = 1_u64 << (node % 64);
        let word = &mut self.0[(node / 64) as usize];
        let new = *word & bit == 0;
        *word |= bit;
        new
    }

    fn contains(&self, node: u32) -> bool {
        self.0[(node / 64) as usize] >> (node % 64) & 1 == 1
    }
}

impl Diagram {
    /// Every node of a function once, constants included.
    fn walk(&self, f: u32, mut visit: impl FnMut(u32)) {
        let mut seen = Seen::new(self);
        let mut stack = vec![f];
        while let Some(node) = stack.pop() {
            if seen.insert(node) {
                visit(node);
                stack.extend(self.kids_of(node));
            }
        }
    }

    /// Nodes reachable from a function.
    #[must_use]
    pub fn size(&self, f: NodeId) -> usize {
        let mut size = 0;
        self.walk(f.0, |node| size += usize::from(node >= TERMINALS));
        size
    }

    /// The terminals a function takes anywhere, ascending, "no scenario" left out.
    #[must_use]
    pub fn classes(&self, f: NodeId) -> Vec<u8> {
        let mut found = Vec::new();
        self.walk(f.0, |node| found.extend(u8::try_from(node).ok().filter(|class| *class > 0)));
        found.sort_unstable();
        found
    }

    /// The class at a point; 0 where the path leaves out a level that matters.
    #[must_use]
    pub fn class_at(&self, f: NodeId, path: &Path) -> u8 {
        let mut node = f.0;
        while let Some(level) = self.top(NodeId(node)) {
            let Ok(at) = path.binary_search_by_key(&level, |(at, _)| *at) else {
                return 0;
            };
            node = self.kids_of(node)[path[at].1 as usize];
        }
        u8::try_from(node).unwrap_or(0)
    }

    /// The first path (in value order) to a terminal that is accepted, consistent with `given`;
    /// sorted by level.
    #[must_use]
    pub fn find(&self, f: NodeId, given: &Path, accept: impl Fn(u8) -> bool) -> Option<Path> {
        let mut dead = Seen::new(self);
        let mut path = Path::new();
        let found = self.find_below(f.0, given, &accept, &mut dead, &mut path);
        path.sort_unstable();
        found.then_some(path)
    }

    fn find_below(
        &self,
        f: u32,
        given: &Path,
        accept: &impl Fn(u8) -> bool,
        dead: &mut Seen,
        path: &mut Path,
    ) -> bool {
        if let Ok(terminal) = u8::try_from(f) {
            return accept(terminal);
        }
        if dead.contains(f) {
            return false;
        }
        let level = self.order[self.place[f as usize] as usize];
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
            let level = self.order[self.place[node as usize] as usize];
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
                path.sort_unstable();
                return Ok(Some((path, a, b)));
            }
            let place = self.place[f as usize].min(self.place[g as usize]);
            let mut next = None;
            for value in 0..self.arity[place as usize] {
                let below_f = self.below(f, place, value as usize);
                let below_g = self.below(g, place, value as usize);
                if self.apply(Op::Merge, below_f, below_g)? == CONFLICT {
                    next = Some((value, below_f, below_g));
                    break;
                }
            }
            let Some((value, below_f, below_g)) = next else {
                return Ok(None);
            };
            path.push((self.order[place as usize], value));
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
