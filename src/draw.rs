//! Which paths become candidates for entries, in which order: by content alone.
//!
//! Up to the cap every path is listed and ranked by a keyed hash of its content; beyond it paths
//! are drawn by walking down with exact counts. A path's content is what it says of each variable
//! and its answer, never node numbers, question order or chosen numbers, so an unrelated edit
//! leaves its rank alone. Absent here: solvers; a candidate may still be dropped when it is
//! certified.

#![expect(clippy::indexing_slicing, reason = "nodes and levels index the outline at hand")]

use num_bigint::BigUint;
use num_traits::Zero;
use rustc_hash::{FxHashMap, FxHashSet};

mod content;
mod ranking;

use content::Content;
use ranking::Ranking;

use crate::count::Below;
use crate::digest::{Digest, Encoder};
use crate::outline::Outline;
use crate::policy::Policy;
use crate::term::ConstId;
use crate::tree::Node;

/// Why an entry's facts leave the verdict open.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Nei {
    /// The first facts of a path.
    Cut,
    /// A definite path with one needed fact removed.
    Hole,
    /// One definite class and silence can be reached.
    Mixed,
    /// The policy is silent whatever else is known.
    Silent,
}

impl Nei {
    /// As rows spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cut => "cut",
            Self::Hole => "hole",
            Self::Mixed => "mixed",
            Self::Silent => "silent",
        }
    }
}

/// Definite for verdict value `i`, or not enough information.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Only this verdict value is possible.
    Definite(usize),
    /// Two or more are.
    Nei(Nei),
}

/// One answer on a path: the variables the question states and the levels it decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The variables, as the question names them.
    pub variables: Vec<ConstId>,
    /// Levels decided by the answer.
    pub decided: Vec<(u16, u8)>,
}

/// A path that may become an entry.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Candidate {
    /// What it claims.
    pub kind: Kind,
    /// Its steps in path order, a hole's step left out.
    pub steps: Vec<Step>,
    /// For a hole, the variables of the step left out.
    pub withheld: Vec<ConstId>,
    /// The node or leaf the path ends at, a hole's step taken.
    pub end: u32,
    /// Questions from the root to the node or leaf, before anything was withheld.
    pub depth: usize,
    /// Fewest and most questions that definite leaves below add; none for `most` where a silent
    /// completion exists.
    pub cut: (usize, Option<usize>),
    /// Its rank: smaller comes first.
    pub rank: Digest,
    /// Digest of the set of variables it states.
    pub signature: Digest,
}

impl Kind {
    /// As keys of the draw spell it.
    fn tag(self) -> String {
        match self {
            Self::Definite(value) => format!("definite {value}"),
            Self::Nei(nei) => nei.name().to_owned(),
        }
    }
}

impl Candidate {
    /// The variables it states, in path order, each once.
    #[must_use]
    pub fn variables(&self) -> Vec<ConstId> {
        let mut seen = FxHashSet::default();
        let steps = self.steps.iter().flat_map(|step| step.variables.iter().copied());
        steps.filter(|id| seen.insert(*id)).collect()
    }
}

/// Which nodes count as a cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// One more fact decides.
    One,
    /// Between one and most.
    Half,
    /// Three quarters or more of the facts are withheld.
    Most,
    /// Exactly so many more facts decide, at the least.
    Exactly(usize),
}

impl Depth {
    fn admits(self, stated: usize, fewest: usize) -> bool {
        let most = fewest * 4 >= (stated + fewest) * 3;
        match self {
            Self::One => fewest == 1,
            Self::Most => fewest > 1 && most,
            Self::Half => fewest > 1 && !most,
            Self::Exactly(facts) => fewest == facts,
        }
    }
}

/// What to draw.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Determination id: part of every key.
    pub determination: String,
    /// Seed or salt of the keyed hash.
    pub key: [u8; 32],
    /// Fewest and most facts.
    pub facts: (usize, usize),
    /// Kinds of NEI.
    pub kinds: Vec<Nei>,
    /// Cuts.
    pub cut: Vec<Depth>,
    /// Paths per kind up to which all are listed.
    pub list_cap: u64,
    /// Candidates kept per list.
    pub most: usize,
    /// Candidates of one signature kept per list; 0 is no limit.
    pub per_signature: usize,
}

/// Ranked candidates, a list for each verdict value and each kind (and depth) of NEI.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// By verdict value.
    pub definite: Vec<Vec<Candidate>>,
    /// By kind, cuts further by the depths wanted.
    pub nei: Vec<Vec<Candidate>>,
    /// All paths were listed.
    pub listed: bool,
}

/// Key of the draw from a public seed.
#[must_use]
pub fn seed_key(seed: u64) -> [u8; 32] {
    *Encoder::new().text("deogen seed").number(seed).finish().bytes()
}

/// Draws candidates.
#[must_use]
pub fn draw(policy: &Policy, outline: &Outline, counts: &[Below], wanted: &Wanted) -> Drawn {
    let root = &counts[outline.tree.root as usize];
    let total = root.leaves() + &root.inner + &root.silent;
    let mut drawer = Drawer {
        outline,
        counts,
        wanted,
        content: Content::new(policy, outline),
        definite: root.definite.iter().map(|_| Ranking::new(wanted)).collect(),
        nei: FxHashMap::default(),
    };
    let listed = total <= BigUint::from(wanted.list_cap);
    if listed {
        drawer.list(outline.tree.root);
    } else {
        drawer.walk();
    }
    drawer.finish(listed)
}

/// A branch taken: the node and the position of the branch.
type Taken = (u32, usize);

struct Ranked {
    rank: Digest,
    signature: Digest,
    taken: Vec<Taken>,
    hole: Option<usize>,
}

struct Drawer<'a> {
    outline: &'a Outline,
    counts: &'a [Below],
    wanted: &'a Wanted,
    content: Content<'a>,
    definite: Vec<Ranking>,
    nei: FxHashMap<(Nei, usize), Ranking>,
}

impl Drawer<'_> {
    fn list(&mut self, node: u32) {
        self.visit(node);
        if let Node::Ask { branches, .. } = self.outline.node(node) {
            for (at, (_, below)) in branches.iter().enumerate() {
                self.content.push((node, at));
                self.list(*below);
                self.content.pop();
            }
        }
    }

    /// Offers the node or leaf where the content ends as a candidate of each kind it can be.
    fn visit(&mut self, node: u32) {
        let below = &self.counts[node as usize];
        let depth = self.content.taken().len();
        match self.outline.node(node) {
            Node::Leaf(class) if *class == self.outline.tree.silent => {
                self.offer(Kind::Nei(Nei::Silent), None, 0);
            }
            Node::Leaf(class) => {
                let value = usize::from(*class).saturating_sub(1);
                self.offer(Kind::Definite(value), None, 0);
                if depth > 1 && self.wanted.kinds.contains(&Nei::Hole) {
                    let place = self.rank(Kind::Nei(Nei::Hole), None).0.rank();
                    // Without its last fact a path is a cut.
                    let last = depth as u64 - 1;
                    let hole = usize::try_from(place % last).unwrap_or(0);
                    self.offer(Kind::Nei(Nei::Hole), Some(hole), 1);
                }
            }
            Node::Ask { .. } if depth == 0 => {}
            Node::Ask { .. } => {
                let nei = if below.classes() >= 2 { Nei::Cut } else { Nei::Mixed };
                let fewest = below.to_definite.map_or(0, |(fewest, _)| fewest);
                self.offer(Kind::Nei(nei), None, fewest);
            }
        }
    }

    fn offer(&mut self, kind: Kind, hole: Option<usize>, fewest: usize) {
        if let Kind::Nei(nei) = kind
            && !self.wanted.kinds.contains(&nei)
        {
            return;
        }
        let (rank, signature, stated) = self.rank(kind, hole);
        let (least, most) = self.wanted.facts;
        if stated == 0 || stated < least || stated > most {
            return;
        }
        let mut bucket = 0;
        if kind == Kind::Nei(Nei::Cut) {
            let admitted = self.wanted.cut.iter().position(|cut| cut.admits(stated, fewest));
            let Some(at) = admitted else { return };
            bucket = at;
        }
        let ranking = match kind {
            Kind::Definite(value) => self.definite.get_mut(value),
            Kind::Nei(nei) => {
                Some(self.nei.entry((nei, bucket)).or_insert_with(|| Ranking::new(self.wanted)))
            }
        };
        let Some(ranking) = ranking else { return };
        let taken = self.content.taken();
        ranking.offer(rank, signature, || Ranked { rank, signature, taken: taken.to_vec(), hole });
    }

    /// Rank, signature and number of variables of the path at hand, one step left out.
    fn rank(&mut self, kind: Kind, hole: Option<usize>) -> (Digest, Digest, usize) {
        let wanted = self.wanted;
        let read = |content: &Content<'_>| {
            let mut encoder = Encoder::new();
            encoder.text(&wanted.determination).text(&kind.tag()).bytes(&content.digest());
            (encoder.finish_keyed(&wanted.key), content.signature(), content.facts())
        };
        match hole {
            Some(step) => self.content.without(step, read),
            None => read(&self.content),
        }
    }

    /// Walks down, draw by draw, for every class of leaf and for inner nodes.
    fn walk(&mut self) {
        let classes: Vec<Option<usize>> =
            (0..self.definite.len()).map(Some).chain([None]).collect();
        for class in classes {
            let mut seen: FxHashSet<Vec<Taken>> = FxHashSet::default();
            for draw in 0..self.wanted.most as u64 * 20 {
                if seen.len() >= self.wanted.most {
                    break;
                }
                self.content.clear();
                let Some(node) = self.walk_once(class, draw) else { break };
                if seen.insert(self.content.taken().to_vec()) {
                    self.visit(node);
                }
            }
        }
    }

    fn walk_once(&mut self, class: Option<usize>, draw: u64) -> Option<u32> {
        let counts = self.counts;
        let weight = |node: u32| -> &BigUint {
            let below = &counts[node as usize];
            match class {
                Some(value) => &below.definite[value],
                None => &below.inner,
            }
        };
        let tag = class.map_or("inner".to_owned(), |value| Kind::Definite(value).tag());
        let mut node = self.outline.tree.root;
        if weight(node).is_zero() {
            return None;
        }
        loop {
            let Node::Ask { branches, .. } = self.outline.node(node) else {
                return Some(node);
            };
            let mut encoder = Encoder::new();
            encoder.text(&self.wanted.determination).text(&tag).number(draw);
            encoder.bytes(&self.content.digest());
            let hash = BigUint::from_bytes_be(encoder.finish_keyed(&self.wanted.key).bytes());
            let mut at: BigUint = (hash * weight(node)) >> 256_u32;
            // An inner node is itself one of its own inner nodes; the root is no entry.
            if class.is_none() && !self.content.taken().is_empty() {
                if at.is_zero() {
                    return Some(node);
                }
                at -= BigUint::from(1_u8);
            }
            let mut chosen = None;
            for (branch, (_, below)) in branches.iter().enumerate() {
                let here = weight(*below);
                if at < *here {
                    chosen = Some((branch, *below));
                    break;
                }
                at -= here;
            }
            let (branch, below) = chosen?;
            self.content.push((node, branch));
            node = below;
        }
    }

    fn finish(mut self, listed: bool) -> Drawn {
        let mut nei: Vec<((Nei, usize), Ranking)> =
            std::mem::take(&mut self.nei).into_iter().collect();
        nei.sort_by_key(|(key, _)| *key);
        let definite = std::mem::take(&mut self.definite);
        let select = |kind: Kind, ranking: Ranking| {
            ranking.first().iter().map(|ranked| self.candidate(kind, ranked)).collect()
        };
        let definite = definite.into_iter().enumerate();
        let definite = definite.map(|(value, list)| select(Kind::Definite(value), list)).collect();
        let nei = nei.into_iter().map(|((nei, _), list)| select(Kind::Nei(nei), list)).collect();
        Drawn { definite, nei, listed }
    }

    fn candidate(&self, kind: Kind, ranked: &Ranked) -> Candidate {
        let mut steps = Vec::with_capacity(ranked.taken.len());
        let mut withheld = Vec::new();
        let mut end = self.outline.tree.root;
        for (at, (node, branch)) in ranked.taken.iter().enumerate() {
            let Node::Ask { variables, branches } = self.outline.node(*node) else { continue };
            end = branches[*branch].1;
            if ranked.hole == Some(at) {
                withheld.clone_from(variables);
            } else {
                let decided = branches[*branch].0.clone();
                steps.push(Step { variables: variables.clone(), decided });
            }
        }
        let below = &self.counts[end as usize];
        let (fewest, most) = below.to_definite.unwrap_or((0, 0));
        let cut = match kind {
            Kind::Nei(Nei::Hole) => (1, Some(1)),
            _ => (fewest, below.silent.is_zero().then_some(most)),
        };
        Candidate {
            kind,
            steps,
            withheld,
            end,
            depth: ranked.taken.len(),
            cut,
            rank: ranked.rank,
            signature: ranked.signature,
        }
    }
}
