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

use crate::count::Below;
use crate::digest::{Digest, Encoder};
use crate::linear::Linear;
use crate::outline::Outline;
use crate::policy::Policy;
use crate::space::Level;
use crate::term::{ConstId, Number, Value};
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
        policy,
        outline,
        counts,
        wanted,
        forms: FxHashMap::default(),
        definite: root.definite.iter().map(|_| Vec::new()).collect(),
        nei: FxHashMap::default(),
    };
    let listed = total <= BigUint::from(wanted.list_cap);
    if listed {
        drawer.list(outline.tree.root, &mut Vec::new());
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
    policy: &'a Policy,
    outline: &'a Outline,
    counts: &'a [Below],
    wanted: &'a Wanted,
    forms: FxHashMap<(u16, u8), (Linear, Number)>,
    definite: Vec<Vec<Ranked>>,
    nei: FxHashMap<(Nei, usize), Vec<Ranked>>,
}

impl Drawer<'_> {
    fn list(&mut self, node: u32, taken: &mut Vec<Taken>) {
        self.visit(node, taken);
        if let Node::Ask { branches, .. } = self.outline.node(node) {
            for (at, (_, below)) in branches.iter().enumerate() {
                taken.push((node, at));
                self.list(*below, taken);
                taken.pop();
            }
        }
    }

    /// Offers a node or leaf as a candidate of each kind it can be.
    fn visit(&mut self, node: u32, taken: &[Taken]) {
        let below = &self.counts[node as usize];
        match self.outline.node(node) {
            Node::Leaf(class) if *class == self.outline.tree.silent => {
                self.offer(Kind::Nei(Nei::Silent), taken, None, 0);
            }
            Node::Leaf(class) => {
                let value = usize::from(*class).saturating_sub(1);
                self.offer(Kind::Definite(value), taken, None, 0);
                if taken.len() > 1 && self.wanted.kinds.contains(&Nei::Hole) {
                    let place = self.rank(Kind::Nei(Nei::Hole), taken, None).0.rank();
                    // Without its last fact a path is a cut.
                    let last = taken.len() as u64 - 1;
                    let hole = usize::try_from(place % last).unwrap_or(0);
                    self.offer(Kind::Nei(Nei::Hole), taken, Some(hole), 1);
                }
            }
            Node::Ask { .. } if taken.is_empty() => {}
            Node::Ask { .. } => {
                let nei = if below.classes() >= 2 { Nei::Cut } else { Nei::Mixed };
                let fewest = below.to_definite.map_or(0, |(fewest, _)| fewest);
                self.offer(Kind::Nei(nei), taken, None, fewest);
            }
        }
    }

    fn offer(&mut self, kind: Kind, taken: &[Taken], hole: Option<usize>, fewest: usize) {
        if let Kind::Nei(nei) = kind
            && !self.wanted.kinds.contains(&nei)
        {
            return;
        }
        let variables = self.variables(taken, hole);
        let (least, most) = self.wanted.facts;
        if variables.is_empty() || variables.len() < least || variables.len() > most {
            return;
        }
        let mut bucket = 0;
        if kind == Kind::Nei(Nei::Cut) {
            let stated = variables.len();
            let admitted = self.wanted.cut.iter().position(|cut| cut.admits(stated, fewest));
            let Some(at) = admitted else { return };
            bucket = at;
        }
        let (rank, signature) = self.rank(kind, taken, hole);
        let ranked = Ranked { rank, signature, taken: taken.to_vec(), hole };
        match kind {
            Kind::Definite(value) => {
                if let Some(list) = self.definite.get_mut(value) {
                    list.push(ranked);
                }
            }
            Kind::Nei(nei) => self.nei.entry((nei, bucket)).or_default().push(ranked),
        }
    }

    fn variables(&self, taken: &[Taken], hole: Option<usize>) -> Vec<ConstId> {
        let mut variables = Vec::new();
        for (at, (node, _)) in taken.iter().enumerate() {
            if hole != Some(at)
                && let Node::Ask { variables: asked, .. } = self.outline.node(*node)
            {
                variables.extend(asked);
            }
        }
        variables.sort_unstable();
        variables.dedup();
        variables
    }

    /// Rank and signature of a path.
    fn rank(&mut self, kind: Kind, taken: &[Taken], hole: Option<usize>) -> (Digest, Digest) {
        let mut content: Vec<String> = Vec::with_capacity(taken.len());
        let mut bounds: FxHashMap<Linear, (Option<Number>, Option<Number>)> = FxHashMap::default();
        for (at, (node, branch)) in taken.iter().enumerate() {
            let Node::Ask { branches, .. } = self.outline.node(*node) else { continue };
            if hole == Some(at) {
                continue;
            }
            for (level, value) in &branches[*branch].0 {
                match self.outline.level(*level) {
                    Level::Constant(id) => content.push(self.fact(*id, *value)),
                    Level::Constraint(constraint) => {
                        let (form, bound) = self
                            .forms
                            .entry((*level, *value))
                            .or_insert((constraint.form().clone(), constraint.bound().clone()));
                        let (low, high) = bounds.entry(form.clone()).or_default();
                        if *value == 1 && high.as_ref().is_none_or(|known| *bound < *known) {
                            *high = Some(bound.clone());
                        }
                        if *value == 0 && low.as_ref().is_none_or(|known| *bound > *known) {
                            *low = Some(bound.clone());
                        }
                    }
                }
            }
        }
        let mut bounds: Vec<_> = bounds.into_iter().collect();
        bounds.sort();
        for (form, (low, high)) in bounds {
            content.push(self.region(&form, low.as_ref(), high.as_ref()));
        }
        content.sort_unstable();
        let mut encoder = Encoder::new();
        encoder.text(&self.wanted.determination).text(&format!("{kind:?}"));
        for part in &content {
            encoder.text(part);
        }
        let rank = encoder.finish_keyed(&self.wanted.key);
        let mut signature = Encoder::new();
        for id in self.variables(taken, hole) {
            signature.text(&self.policy.terms.constant(id).name);
        }
        (rank, signature.finish())
    }

    fn fact(&self, id: ConstId, value: u8) -> String {
        let constant = self.policy.terms.constant(id);
        let value = match constant.sort {
            crate::term::Sort::Enum(sort) => Value::Enum(sort, u32::from(value)),
            _ => Value::Bool(value == 1),
        };
        format!("{}={}", constant.name, self.policy.terms.spell(&value))
    }

    fn region(&self, form: &Linear, low: Option<&Number>, high: Option<&Number>) -> String {
        let parts: Vec<String> = form
            .constants()
            .map(|id| format!("{}*{}", form.factor(id), self.policy.terms.constant(id).name))
            .collect();
        let bound = |bound: Option<&Number>| bound.map_or("-".to_owned(), Number::to_string);
        format!("{} in {}..{}", parts.join("+"), bound(low), bound(high))
    }

    /// Walks down, draw by draw, for every class of leaf and for inner nodes.
    fn walk(&mut self) {
        let root = self.outline.tree.root;
        let classes: Vec<Option<usize>> =
            (0..self.definite.len()).map(Some).chain([None]).collect();
        for class in classes {
            let mut seen: FxHashSet<Vec<Taken>> = FxHashSet::default();
            for draw in 0..self.wanted.most as u64 * 20 {
                if seen.len() >= self.wanted.most {
                    break;
                }
                let Some((taken, node)) = self.walk_once(root, class, draw) else { break };
                if seen.insert(taken.clone()) {
                    self.visit(node, &taken);
                }
            }
        }
    }

    fn walk_once(&self, root: u32, class: Option<usize>, draw: u64) -> Option<(Vec<Taken>, u32)> {
        let weight = |node: u32| -> BigUint {
            let below = &self.counts[node as usize];
            match class {
                Some(value) => below.definite[value].clone(),
                None => below.inner.clone(),
            }
        };
        if weight(root).is_zero() {
            return None;
        }
        let mut node = root;
        let mut taken: Vec<Taken> = Vec::new();
        let mut so_far: Vec<String> = Vec::new();
        loop {
            let Node::Ask { branches, .. } = self.outline.node(node) else {
                return Some((taken, node));
            };
            let mut encoder = Encoder::new();
            encoder.text(&self.wanted.determination).text(&format!("{class:?}")).number(draw);
            so_far.sort_unstable();
            for part in &so_far {
                encoder.text(part);
            }
            let hash = BigUint::from_bytes_be(encoder.finish_keyed(&self.wanted.key).bytes());
            let mut at: BigUint = (hash * weight(node)) >> 256_u32;
            // An inner node is itself one of its own inner nodes; the root is no entry.
            if class.is_none() && !taken.is_empty() {
                if at.is_zero() {
                    return Some((taken, node));
                }
                at -= BigUint::from(1_u8);
            }
            let mut chosen = None;
            for (branch, (path, below)) in branches.iter().enumerate() {
                let here = weight(*below);
                if at < here {
                    chosen = Some((branch, path, *below));
                    break;
                }
                at -= here;
            }
            let (branch, path, below) = chosen?;
            taken.push((node, branch));
            for (level, value) in path {
                so_far.push(match self.outline.level(*level) {
                    Level::Constant(id) => self.fact(*id, *value),
                    Level::Constraint(constraint) => {
                        let bound = Some(constraint.bound());
                        let (low, high) = if *value == 1 { (None, bound) } else { (bound, None) };
                        self.region(constraint.form(), low, high)
                    }
                });
            }
            node = below;
        }
    }

    fn finish(mut self, listed: bool) -> Drawn {
        let mut nei: Vec<((Nei, usize), Vec<Ranked>)> =
            std::mem::take(&mut self.nei).into_iter().collect();
        nei.sort_by_key(|(key, _)| *key);
        let definite = std::mem::take(&mut self.definite);
        let definite = definite
            .into_iter()
            .enumerate()
            .map(|(value, list)| self.select(Kind::Definite(value), list))
            .collect();
        let nei =
            nei.into_iter().map(|((nei, _), list)| self.select(Kind::Nei(nei), list)).collect();
        Drawn { definite, nei, listed }
    }

    /// The first by rank, no more than wanted of one signature, as full candidates.
    fn select(&self, kind: Kind, mut list: Vec<Ranked>) -> Vec<Candidate> {
        list.sort_by_key(|ranked| ranked.rank);
        list.dedup_by_key(|ranked| ranked.rank);
        let mut of_signature: FxHashMap<Digest, usize> = FxHashMap::default();
        let mut chosen = Vec::new();
        for ranked in list {
            if chosen.len() >= self.wanted.most {
                break;
            }
            let count = of_signature.entry(ranked.signature).or_default();
            *count += 1;
            if self.wanted.per_signature > 0 && *count > self.wanted.per_signature {
                continue;
            }
            chosen.push(self.candidate(kind, &ranked));
        }
        chosen
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
