//! The decision tree of a determination, as section 2 of the design defines it, held as a shared
//! diagram whose unfolding is the tree.
//!
//! At a node every open variable is tried in a fixed order and dropped where the class stays a
//! function of the rest; then the question with the smallest mean number of variables left over its
//! branches is asked. Absent here: solvers, samples, texts, and any way to see how [`Classes`]
//! answers.

use std::sync::atomic::{AtomicBool, Ordering};

use num_rational::Ratio;
use rustc_hash::FxHashMap;

use crate::classes::{Classes, Group, Stop};
use crate::diagram::Path;
use crate::space::Space;
use crate::term::ConstId;

/// A node of the shared tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// One class is left: `1 + i` for "only verdict value i", or the silent class.
    Leaf(u8),
    /// A question.
    Ask {
        /// The variables it states: one fact, or the numbers of one constraint.
        variables: Vec<ConstId>,
        /// What is decided by each answer, and the node below; in content order.
        branches: Vec<(Path, u32)>,
    },
}

/// The tree; children come before parents, and equal subtrees are one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// All nodes.
    pub nodes: Vec<Node>,
    /// The root.
    pub root: u32,
    /// The class of silent scenarios.
    pub silent: u8,
}

/// The variables of a space and the order in which they are tried.
#[derive(Clone, Debug)]
pub struct Variables {
    /// Bool and enumeration facts with their level and number of values.
    facts: Vec<(ConstId, u16, u8)>,
    /// Constraints in their own order: level and numbers.
    constraints: Vec<(u16, Vec<ConstId>)>,
    /// Levels that are tried together, ascending: whole numbers first, then facts, last single
    /// constraints.
    trials: Vec<Vec<u16>>,
    /// Trials of whole numbers and facts: the variables.
    counted: usize,
}

impl Variables {
    /// The variables of a space.
    #[must_use]
    pub fn new(space: &Space) -> Self {
        let facts = space.facts.iter();
        let facts: Vec<(ConstId, u16, u8)> =
            facts.map(|(id, level)| (*id, *level, space.diagram.arity(*level))).collect();
        let constraints = space.constraints.iter();
        let constraints: Vec<(u16, Vec<ConstId>)> = constraints
            .filter_map(|level| Some((*level, space.constraint(*level)?.constants().to_vec())))
            .collect();
        let mut trials: Vec<Vec<u16>> = Vec::new();
        for number in space.numbers() {
            let of = constraints.iter().filter(|(_, numbers)| numbers.contains(&number));
            let mut levels: Vec<u16> = of.map(|(level, _)| *level).collect();
            levels.sort_unstable();
            trials.push(levels);
        }
        trials.extend(facts.iter().map(|(_, level, _)| vec![*level]));
        let counted = trials.len();
        trials.extend(constraints.iter().map(|(level, _)| vec![*level]));
        Self { facts, constraints, trials, counted }
    }

    /// The variables among the trials: numbers and facts that are open.
    fn groups(&self, open: &[u16]) -> Vec<Group> {
        let mut groups = Vec::new();
        for (trial, levels) in self.trials.iter().enumerate().take(self.counted) {
            let mut levels = levels.clone();
            levels.retain(|level| open.binary_search(level).is_ok());
            if !levels.is_empty() {
                groups.push(Group { trial, levels });
            }
        }
        groups
    }

    /// How many variables are open.
    fn count(&self, open: &[u16]) -> u64 {
        let is_open = |level: &u16| open.binary_search(level).is_ok();
        let variables = self.trials.iter().take(self.counted);
        variables.filter(|levels| levels.iter().any(is_open)).count() as u64
    }

    /// Open constraints whose numbers are all among the given ones, in their own order.
    fn settled_by(&self, open: &[u16], numbers: &[ConstId]) -> Vec<u16> {
        let among = |ids: &[ConstId]| ids.iter().all(|id| numbers.contains(id));
        self.constraints
            .iter()
            .filter(|(level, ids)| open.binary_search(level).is_ok() && among(ids))
            .map(|(level, _)| *level)
            .collect()
    }

    /// The questions that can be asked, in declaration order of their variables.
    fn questions(&self, open: &[u16]) -> Vec<Vec<ConstId>> {
        let mut questions: Vec<Vec<ConstId>> = Vec::new();
        for (id, level, _) in &self.facts {
            if open.binary_search(level).is_ok() {
                questions.push(vec![*id]);
            }
        }
        for (level, numbers) in &self.constraints {
            if open.binary_search(level).is_ok() {
                questions.push(numbers.clone());
            }
        }
        questions.sort_unstable();
        questions.dedup();
        questions
    }
}

/// How the question is chosen; others than `Mean` are measured in docs/engine.md only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// Mean over the branches of the variables left: what section 2 fixes.
    Mean,
    /// Most variables left in any branch.
    Worst,
    /// Sum over the branches of the variables left.
    Sum,
}

/// Grows the tree.
///
/// # Errors
/// [`Stop`], also when `interrupted` becomes true.
pub fn grow<C: Classes>(
    classes: &mut C,
    variables: &Variables,
    silent: u8,
    estimate: Estimate,
    interrupted: &AtomicBool,
) -> Result<Tree, Stop> {
    let mut grower = Grower {
        classes,
        variables,
        estimate,
        interrupted,
        pruned: FxHashMap::default(),
        built: FxHashMap::default(),
        shared: FxHashMap::default(),
        nodes: Vec::new(),
    };
    let start = grower.classes.root()?;
    let root = grower.node(&start, &[])?;
    Ok(Tree { nodes: grower.nodes, root, silent })
}

/// A node by content: the variables asked and the branches, or a leaf's class in place of both.
type Shape = (Vec<ConstId>, Vec<(Path, u32)>);

struct Grower<'a, C: Classes> {
    classes: &'a mut C,
    variables: &'a Variables,
    estimate: Estimate,
    interrupted: &'a AtomicBool,
    pruned: FxHashMap<C::State, C::State>,
    built: FxHashMap<(C::State, Vec<ConstId>), u32>,
    shared: FxHashMap<Shape, u32>,
    nodes: Vec<Node>,
}

/// A question with the states below it.
struct Candidate<S> {
    variables: Vec<ConstId>,
    branches: Vec<(Path, S)>,
    /// Per branch, variables that cannot be dropped there for sure.
    kept: Vec<u64>,
    least: Ratio<u64>,
}

impl<C: Classes> Grower<'_, C> {
    fn prune(&mut self, state: &C::State) -> Result<C::State, Stop> {
        if let Some(known) = self.pruned.get(state) {
            return Ok(known.clone());
        }
        let mut now = state.clone();
        let mut open = self.classes.open(&now);
        let mut group = Group { trial: 0, levels: Vec::new() };
        for (trial, levels) in self.variables.trials.iter().enumerate() {
            group.trial = trial;
            group.levels.clear();
            let is_open = |level: &&u16| open.binary_search(level).is_ok();
            group.levels.extend(levels.iter().filter(is_open));
            if group.levels.is_empty() {
                continue;
            }
            if let Some(next) = self.classes.drop(&now, &group)? {
                now = next;
                open = self.classes.open(&now);
            }
        }
        self.pruned.insert(state.clone(), now.clone());
        Ok(now)
    }

    fn left(&mut self, state: &C::State) -> Result<u64, Stop> {
        let pruned = self.prune(state)?;
        let open = self.classes.open(&pruned);
        Ok(self.variables.count(&open))
    }

    fn node(&mut self, state: &C::State, stated: &[ConstId]) -> Result<u32, Stop> {
        if self.interrupted.load(Ordering::Relaxed) {
            return Err(Stop::Interrupted);
        }
        let state = self.prune(state)?;
        let open = self.classes.open(&state);
        if open.is_empty() {
            return Ok(self.share(Node::Leaf(self.classes.class(&state))));
        }
        // Numbers stated on the way matter only while a live constraint mentions them.
        let live: Vec<ConstId> = self
            .variables
            .constraints
            .iter()
            .filter(|(level, _)| open.binary_search(level).is_ok())
            .flat_map(|(_, numbers)| numbers.iter().copied())
            .filter(|number| stated.contains(number))
            .collect();
        let mut known = live;
        known.sort_unstable();
        known.dedup();
        let key = (state.clone(), known);
        if let Some(node) = self.built.get(&key) {
            return Ok(*node);
        }
        let chosen = self.choose(&state, &open, &key.1)?;
        let mut below = stated.to_vec();
        below.extend(&chosen.variables);
        let mut branches = Vec::with_capacity(chosen.branches.len());
        for (path, child) in chosen.branches {
            branches.push((path, self.node(&child, &below)?));
        }
        let node = self.share(Node::Ask { variables: chosen.variables, branches });
        self.built.insert(key, node);
        Ok(node)
    }

    fn share(&mut self, node: Node) -> u32 {
        let key = match &node {
            Node::Leaf(class) => (Vec::new(), vec![(Path::new(), u32::from(*class))]),
            Node::Ask { variables, branches } => (variables.clone(), branches.clone()),
        };
        if let Some(known) = self.shared.get(&key) {
            return *known;
        }
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push(node);
        self.shared.insert(key, id);
        id
    }

    /// The question with the smallest estimate, the first in declaration order among equals.
    fn choose(
        &mut self,
        state: &C::State,
        open: &[u16],
        stated: &[ConstId],
    ) -> Result<Candidate<C::State>, Stop> {
        let mut candidates: Vec<(Ratio<u64>, usize, Candidate<C::State>)> = Vec::new();
        for (at, variables) in self.variables.questions(open).into_iter().enumerate() {
            let branches = self.branches(state, open, &variables, stated)?;
            let mut kept = Vec::with_capacity(branches.len());
            let mut most = Vec::with_capacity(branches.len());
            for (path, child) in &branches {
                let open = self.classes.open(child);
                most.push(self.variables.count(&open));
                kept.push(self.surely_kept(state, &open, path));
            }
            let least = self.score(&kept);
            let most = self.score(&most);
            candidates.push((most, at, Candidate { variables, branches, kept, least }));
        }
        // Where little can be left, the best is likely found early, and spares work on the others.
        candidates.sort_by(|(a, i, _), (b, j, _)| a.cmp(b).then(i.cmp(j)));
        let mut best: Option<(Ratio<u64>, usize, Candidate<C::State>)> = None;
        for (_, at, candidate) in candidates {
            let beaten = |score: Ratio<u64>| {
                best.as_ref().is_some_and(|(known, first, _)| (score, at) >= (*known, *first))
            };
            let mut left = candidate.kept.clone();
            let mut hopeless = beaten(candidate.least);
            for (branch, (_, child)) in candidate.branches.iter().enumerate() {
                if hopeless {
                    break;
                }
                if let Some(entry) = left.get_mut(branch) {
                    *entry = self.left(child)?;
                }
                hopeless = beaten(self.score(&left));
            }
            if !hopeless {
                best = Some((self.score(&left), at, candidate));
            }
        }
        match best {
            Some((_, _, candidate)) => Ok(candidate),
            // An open level that no question states cannot be: every level belongs to a variable.
            None => Err(Stop::Interrupted),
        }
    }

    fn surely_kept(&mut self, state: &C::State, open: &[u16], path: &Path) -> u64 {
        if !self.classes.has_evidence(state) {
            return 0;
        }
        let groups = self.variables.groups(open);
        self.classes.surely_kept(state, path, &groups) as u64
    }

    fn score(&self, left: &[u64]) -> Ratio<u64> {
        let sum: u64 = left.iter().sum();
        match self.estimate {
            Estimate::Mean => Ratio::new(sum, (left.len() as u64).max(1)),
            Estimate::Worst => Ratio::from_integer(left.iter().copied().max().unwrap_or(0)),
            Estimate::Sum => Ratio::from_integer(sum),
        }
    }

    /// The answers to a question that some scenario gives, with the states they lead to.
    fn branches(
        &mut self,
        state: &C::State,
        open: &[u16],
        variables: &[ConstId],
        stated: &[ConstId],
    ) -> Result<Vec<(Path, C::State)>, Stop> {
        let fact = self.variables.facts.iter().find(|(id, _, _)| variables == [*id]);
        let levels: Vec<(u16, u8)> = if let Some((_, level, arity)) = fact {
            vec![(*level, *arity)]
        } else {
            let mut numbers = stated.to_vec();
            numbers.extend(variables);
            let settled = self.variables.settled_by(open, &numbers);
            settled.into_iter().map(|level| (level, 2)).collect()
        };
        let mut partial: Vec<(Path, C::State)> = vec![(Path::new(), state.clone())];
        for (level, arity) in levels {
            let mut next = Vec::with_capacity(partial.len());
            for (path, before) in partial {
                for value in 0..arity {
                    if let Some(after) = self.classes.assign(&before, &vec![(level, value)])? {
                        let mut longer = path.clone();
                        longer.push((level, value));
                        next.push((longer, after));
                    }
                }
            }
            partial = next;
        }
        for (path, _) in &mut partial {
            path.sort_unstable();
        }
        Ok(partial)
    }
}
