//! The seam between the tree and whatever knows which classes are possible.
//!
//! [`Classes`] answers exactly the questions section 2 of the design asks of a set of scenarios;
//! the tree is built from nothing else. [`DiagramClasses`] answers them from the shared diagram and
//! is the engine; `reference.rs` answers them with one solver query after the other and is its
//! judge.
//!
//! Invariant: a positive answer ("this branch exists", "this variable cannot be dropped") rests on
//! scenarios whose numbers exist; a negative one rests on the diagram alone, which holds at least
//! every real scenario. So no answer depends on which lemmas are known.

#![expect(clippy::indexing_slicing, reason = "levels index the space, words the masks made for it")]

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagram::{ALWAYS, Diagram, EMPTY, Full, LevelSet, NodeId, Path};
use crate::space::Space;
use crate::term::ConstId;
use crate::theory::{Bits, Feasible, Layout, Theory, Unsettled};

/// Why the tree cannot be grown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stop {
    /// The diagram does not fit: ask the solver at every node instead.
    #[error("{0}")]
    Full(#[from] Full),
    /// The solver's limit was reached.
    #[error("{0}")]
    Unsettled(#[from] Unsettled),
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// Sets of scenarios with some levels decided and some dropped, and what is still possible there.
pub trait Classes {
    /// Such a set; equal states have equal subtrees.
    type State: Clone + Eq + Hash;

    /// All scenarios.
    ///
    /// # Errors
    /// [`Stop`], as for all questions below.
    fn root(&mut self) -> Result<Self::State, Stop>;

    /// The levels neither decided nor dropped, ascending.
    fn open(&self, state: &Self::State) -> Vec<u16>;

    /// The class of a state without open levels.
    fn class(&self, state: &Self::State) -> u8;

    /// The scenarios with these levels at these values, or none.
    ///
    /// # Errors
    /// [`Stop`].
    fn assign(&mut self, state: &Self::State, path: &Path) -> Result<Option<Self::State>, Stop>;

    /// The state without these levels, or none where two scenarios that agree on all other open
    /// levels are in different classes.
    ///
    /// # Errors
    /// [`Stop`].
    fn drop(&mut self, state: &Self::State, group: &Group) -> Result<Option<Self::State>, Stop>;

    /// How many of these groups surely could not be dropped after `path`: a quick lower bound that
    /// may be zero.
    fn surely_kept(&mut self, _state: &Self::State, _path: &Path, _groups: &[Group]) -> usize {
        0
    }
}

/// Open levels that are tried together: a fact, a whole number, or a single constraint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    /// Position in the trial order; stays the same while levels of the group are decided or
    /// dropped.
    pub trial: usize,
    /// Its open levels, ascending.
    pub levels: Vec<u16>,
}

/// Which lemmas to learn before growing. The result does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lemmas {
    /// Nothing in advance.
    None,
    /// All infeasible signs and pairs of signs.
    Pairs,
    /// All infeasible triples, too.
    Triples,
}

struct Context {
    /// Decided levels, sorted.
    decided: Path,
    /// Dropped sets in order.
    dropped: Vec<LevelSet>,
    /// All dropped levels.
    gone: Bits,
    /// Decided levels as bits.
    facts: Bits,
    /// Neither decided nor dropped, ascending.
    open: Vec<u16>,
    /// What further arithmetic depends on beside the diagram: decided and open constraints of
    /// groups of numbers whose patterns are not all known.
    key: Vec<(u16, u8)>,
}

/// A state of the diagram engine.
#[derive(Clone)]
pub struct DiagramState {
    node: NodeId,
    context: Rc<Context>,
}

impl PartialEq for DiagramState {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node && self.context.key == other.context.key
    }
}

impl Eq for DiagramState {}

impl Hash for DiagramState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.node.hash(state);
        self.context.key.hash(state);
    }
}

/// Two scenarios of different classes.
struct Pair {
    first: Vec<u64>,
    difference: Vec<u64>,
}

enum Step<T> {
    Done(T),
    /// A lemma was learnt: refresh and ask again.
    Again,
}

/// The diagram engine.
pub struct DiagramClasses<'s> {
    diagram: &'s mut Diagram,
    theory: Theory<'s>,
    layout: Layout,
    root: NodeId,
    all: Vec<u16>,
    /// For each level the component of numbers it belongs to, if that is not fully known.
    unknown: Vec<Option<usize>>,
    pairs: FxHashMap<usize, Vec<Pair>>,
    /// Real scenarios found so far, end to end.
    scenarios: Vec<u64>,
    /// Bits of the levels a scenario can state.
    stated: Vec<u64>,
    masks: FxHashMap<LevelSet, Vec<u64>>,
    lemmas: usize,
}

impl<'s> DiagramClasses<'s> {
    /// The engine for a space whose class function is to be formed from `space.diagram`.
    ///
    /// # Errors
    /// The diagram does not fit, or the solver reached its limit.
    pub fn new(
        space: &'s mut Space,
        mut theory: Theory<'s>,
        layout: Layout,
        lemmas: Lemmas,
    ) -> Result<Self, Stop> {
        let mut learnt = LemmaSet::new(space);
        learnt.complete_hidden(space, &mut theory)?;
        match lemmas {
            Lemmas::None => {}
            Lemmas::Pairs => learnt.learn_up_to(2, &mut theory)?,
            Lemmas::Triples => learnt.learn_up_to(3, &mut theory)?,
        }
        if lemmas != Lemmas::None {
            learnt.complete_small(&mut theory)?;
        }
        let feasible = learnt.condition(&mut space.diagram)?;
        let root = space.classes(feasible)?;
        let mut all: Vec<u16> = space.facts.iter().map(|(_, level)| *level).collect();
        all.extend(&space.constraints);
        all.sort_unstable();
        let mut stated = layout.empty();
        for level in &all {
            layout.set(&mut stated, *level, 0);
        }
        Ok(Self {
            diagram: &mut space.diagram,
            theory,
            layout,
            root,
            all,
            unknown: learnt.unknown(),
            pairs: FxHashMap::default(),
            scenarios: Vec::new(),
            stated: stated.mask().to_vec(),
            masks: FxHashMap::default(),
            lemmas: learnt.lemmas.len(),
        })
    }

    /// Lemmas known by now; for reports only.
    #[must_use]
    pub fn lemmas(&self) -> usize {
        self.lemmas
    }

    /// Nodes of the class function; for reports only.
    #[must_use]
    pub fn size(&self) -> usize {
        self.diagram.size(self.root)
    }

    fn mask(&mut self, set: LevelSet) -> Vec<u64> {
        if let Some(known) = self.masks.get(&set) {
            return known.clone();
        }
        let mut bits = self.layout.empty();
        for level in self.diagram.levels(set) {
            self.layout.set(&mut bits, *level, 0);
        }
        self.masks.insert(set, bits.mask().to_vec());
        bits.mask().to_vec()
    }

    fn key(&self, node: NodeId, decided: &Path, open: &[u16]) -> Vec<(u16, u8)> {
        if self.unknown.iter().all(Option::is_none) {
            return Vec::new();
        }
        let mut live: FxHashSet<usize> = FxHashSet::default();
        for level in self.diagram.support(node) {
            live.extend(self.unknown[level as usize]);
        }
        let matters = |level: u16| self.unknown[level as usize].is_some_and(|c| live.contains(&c));
        let mut key: Vec<(u16, u8)> =
            decided.iter().copied().filter(|(level, _)| matters(*level)).collect();
        key.extend(open.iter().filter(|level| matters(**level)).map(|level| (*level, u8::MAX)));
        key
    }

    /// The node of a context from the root as it is now.
    fn replay(&mut self, context: &Context) -> Result<NodeId, Stop> {
        let mut node = self.root;
        for (level, value) in &context.decided {
            node = self.diagram.restrict(node, *level, *value)?;
        }
        for set in &context.dropped {
            // What could be dropped with more scenarios can be dropped with fewer.
            node = self.diagram.drop_levels(node, *set)?.unwrap_or(node);
        }
        Ok(node)
    }

    fn learn(&mut self, core: &Path) -> Result<(), Stop> {
        self.root = forbid(self.diagram, self.root, core)?;
        self.lemmas += 1;
        Ok(())
    }

    /// A real scenario that agrees with `given` and is in class `class`, as bits.
    fn witness(&mut self, given: &Path, class: u8) -> Result<Step<Vec<u64>>, Stop> {
        let Some(found) = self.diagram.find(self.root, given, |terminal| terminal == class) else {
            return Ok(Step::Again);
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
                Ok(Step::Again)
            }
            Feasible::Yes(at) => {
                let mut bits = self.layout.empty();
                for (level, value) in &pattern {
                    self.layout.set(&mut bits, *level, *value);
                }
                let signs = &self.theory.point(at).signs;
                let full = bits.value().iter().zip(signs).map(|(value, sign)| value | sign);
                let stated = full.zip(&self.stated).map(|(full, stated)| full & stated);
                Ok(Step::Done(stated.collect()))
            }
        }
    }

    fn has_pair(&mut self, context: &Context, group: &Group) -> bool {
        let set = self.diagram.level_set(&group.levels);
        let mask = self.mask(set);
        let Some(pairs) = self.pairs.get_mut(&group.trial) else {
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

    /// Looks for two real scenarios that show `set` cannot be dropped.
    fn prove_kept(
        &mut self,
        state: &DiagramState,
        group: &Group,
        pair: (Path, Path),
    ) -> Result<Step<()>, Stop> {
        let context = &state.context;
        let first = merge(&context.decided, &pair.0);
        let a = self.diagram.class_at(state.node, &pair.0);
        let b = self.diagram.class_at(state.node, &pair.1);
        let Step::Done(one) = self.witness(&first, a)? else {
            return Ok(Step::Again);
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
        let Step::Done(two) = self.witness(&agreed, b)? else {
            return Ok(Step::Again);
        };
        let difference = one.iter().zip(&two).map(|(a, b)| a ^ b).collect();
        self.scenarios.extend_from_slice(&one);
        self.scenarios.extend_from_slice(&two);
        self.pairs.entry(group.trial).or_default().push(Pair { first: one, difference });
        Ok(Step::Done(()))
    }

    /// Whether a scenario found earlier has these facts.
    fn known_scenario(&self, facts: &Bits) -> bool {
        self.scenarios.rchunks_exact(self.layout.words()).any(|full| facts.fits(full))
    }
}

impl Classes for DiagramClasses<'_> {
    type State = DiagramState;

    fn root(&mut self) -> Result<DiagramState, Stop> {
        let context = Context {
            decided: Path::new(),
            dropped: Vec::new(),
            gone: self.layout.empty(),
            facts: self.layout.empty(),
            open: self.all.clone(),
            key: self.key(self.root, &Path::new(), &self.all),
        };
        Ok(DiagramState { node: self.root, context: Rc::new(context) })
    }

    fn open(&self, state: &DiagramState) -> Vec<u16> {
        state.context.open.clone()
    }

    fn class(&self, state: &DiagramState) -> u8 {
        Diagram::as_terminal(state.node).unwrap_or(0)
    }

    fn assign(&mut self, state: &DiagramState, path: &Path) -> Result<Option<DiagramState>, Stop> {
        let decided = merge(&state.context.decided, path);
        let mut facts = state.context.facts.clone();
        for (level, value) in path {
            self.layout.set(&mut facts, *level, *value);
        }
        let open: Vec<u16> = state
            .context
            .open
            .iter()
            .copied()
            .filter(|level| path.iter().all(|(at, _)| at != level))
            .collect();
        let mut node = state.node;
        for (level, value) in path {
            node = self.diagram.restrict(node, *level, *value)?;
        }
        let mut context = Context {
            decided,
            dropped: state.context.dropped.clone(),
            gone: state.context.gone.clone(),
            facts,
            open,
            key: Vec::new(),
        };
        while node != EMPTY && !self.known_scenario(&context.facts) {
            let found = self.diagram.find(node, &Path::new(), |terminal| terminal != 0);
            let Some(found) = found else { break };
            let class = self.diagram.class_at(node, &found);
            match self.witness(&merge(&context.decided, &found), class)? {
                Step::Done(one) => self.scenarios.extend_from_slice(&one),
                Step::Again => node = self.replay(&context)?,
            }
        }
        if node == EMPTY {
            return Ok(None);
        }
        context.key = self.key(node, &context.decided, &context.open);
        Ok(Some(DiagramState { node, context: Rc::new(context) }))
    }

    fn drop(&mut self, state: &DiagramState, group: &Group) -> Result<Option<DiagramState>, Stop> {
        let levels = &group.levels;
        let set = self.diagram.level_set(levels);
        if self.has_pair(&state.context, group) {
            return Ok(None);
        }
        let mut state = state.clone();
        loop {
            if let Some(node) = self.diagram.drop_levels(state.node, set)? {
                let mut gone = state.context.gone.clone();
                for level in levels {
                    self.layout.set(&mut gone, *level, 0);
                }
                let mut dropped = state.context.dropped.clone();
                dropped.push(set);
                let open: Vec<u16> = state
                    .context
                    .open
                    .iter()
                    .copied()
                    .filter(|level| !levels.contains(level))
                    .collect();
                let key = self.key(node, &state.context.decided, &open);
                let context = Context {
                    decided: state.context.decided.clone(),
                    dropped,
                    gone,
                    facts: state.context.facts.clone(),
                    open,
                    key,
                };
                return Ok(Some(DiagramState { node, context: Rc::new(context) }));
            }
            let pair = self.diagram.conflict(state.node, set)?;
            if let Some(pair) = pair
                && let Step::Done(()) = self.prove_kept(&state, group, pair)?
            {
                return Ok(None);
            }
            state.node = self.replay(&state.context)?;
        }
    }

    fn surely_kept(&mut self, state: &DiagramState, path: &Path, groups: &[Group]) -> usize {
        let mut facts = state.context.facts.clone();
        for (level, value) in path {
            self.layout.set(&mut facts, *level, *value);
        }
        let context = Context {
            decided: Path::new(),
            dropped: Vec::new(),
            gone: state.context.gone.clone(),
            facts,
            open: Vec::new(),
            key: Vec::new(),
        };
        let mut kept = 0;
        for group in groups {
            kept += usize::from(self.has_pair(&context, group));
        }
        kept
    }
}

/// Both paths' levels; where both have one, the first path's value.
#[must_use]
pub fn merge(a: &Path, b: &Path) -> Path {
    let mut all = a.clone();
    for (level, value) in b {
        if a.binary_search_by_key(level, |(at, _)| *at).is_err() {
            all.push((*level, *value));
        }
    }
    all.sort_unstable();
    all
}

/// The class function without the scenarios that have all these signs.
fn forbid(diagram: &mut Diagram, root: NodeId, core: &Path) -> Result<NodeId, Full> {
    let allowed = not_all(diagram, core)?;
    diagram.guard(allowed, root)
}

fn not_all(diagram: &mut Diagram, core: &Path) -> Result<NodeId, Full> {
    let mut all = ALWAYS;
    for (level, value) in core.iter().rev() {
        let literal = diagram.literal(*level, *value)?;
        all = diagram.and(literal, all)?;
    }
    diagram.not(all)
}

/// Lemmas learnt before growing, by component of connected numbers.
struct LemmaSet {
    components: Vec<Vec<u16>>,
    known: Vec<bool>,
    /// Whether the background ties facts into the component; such ones are never enumerated.
    facts: Vec<bool>,
    lemmas: Vec<Path>,
    levels: usize,
}

/// Feasible patterns of one component up to which all are enumerated.
const CELLS: usize = 2_000;

impl LemmaSet {
    fn new(space: &Space) -> Self {
        let mut groups: Vec<FxHashSet<ConstId>> = Vec::new();
        let mut join = |ids: Vec<ConstId>| {
            let mut together: FxHashSet<ConstId> = ids.into_iter().collect();
            groups.retain(|group| {
                let apart = group.is_disjoint(&together);
                if !apart {
                    together.extend(group);
                }
                apart
            });
            groups.push(together);
        };
        for term in &space.background {
            join(space.terms.constants_in(*term));
        }
        let mut constraints: Vec<(u16, ConstId)> = Vec::new();
        for level in space.constraints.iter().chain(&space.unsettled) {
            if let Some(constraint) = space.constraint(*level) {
                join(constraint.constants().to_vec());
                constraints.extend(constraint.constants().first().map(|id| (*level, *id)));
            }
        }
        for (id, level) in &space.facts {
            constraints.push((*level, *id));
        }
        let mut components: Vec<Vec<u16>> = vec![Vec::new(); groups.len()];
        for (level, id) in constraints {
            if let Some(at) = groups.iter().position(|group| group.contains(&id)) {
                components[at].push(level);
            }
        }
        let has_fact =
            |component: &Vec<u16>| component.iter().any(|level| space.constraint(*level).is_none());
        components.retain(|component| !component.is_empty());
        let facts = components.iter().map(has_fact).collect();
        for component in &mut components {
            component.sort_unstable();
        }
        let known = vec![false; components.len()];
        Self { components, known, facts, lemmas: Vec::new(), levels: space.levels.len() }
    }

    /// Hidden comparisons are removed before classes are formed, so their groups must be complete.
    fn complete_hidden(&mut self, space: &Space, theory: &mut Theory<'_>) -> Result<(), Stop> {
        for at in 0..self.components.len() {
            if self.components[at].iter().any(|level| space.unsettled.contains(level))
                && !self.complete(at, CELLS * 16, theory)?
            {
                return Err(Stop::Full(Full));
            }
        }
        Ok(())
    }

    fn complete_small(&mut self, theory: &mut Theory<'_>) -> Result<(), Stop> {
        for at in 0..self.components.len() {
            if !self.known[at] && !self.facts[at] {
                self.complete(at, CELLS, theory)?;
            }
        }
        Ok(())
    }

    /// Enumerates the feasible patterns of a component; afterwards every infeasible one has a
    /// lemma.
    fn complete(&mut self, at: usize, most: usize, theory: &mut Theory<'_>) -> Result<bool, Stop> {
        let component = self.components[at].clone();
        let mut cells = 0;
        let mut stack: Vec<Path> = vec![Path::new()];
        while let Some(prefix) = stack.pop() {
            if let Some(level) = component.get(prefix.len()) {
                for value in [0, 1] {
                    let mut longer = prefix.clone();
                    longer.push((*level, value));
                    if self.lemmas.iter().any(|core| core.iter().all(|sign| longer.contains(sign)))
                    {
                        continue;
                    }
                    match theory.feasible(&longer)? {
                        Feasible::Yes(_) => stack.push(longer),
                        Feasible::No(core) => self.lemmas.push(core),
                    }
                }
            } else {
                cells += 1;
                if cells > most {
                    return Ok(false);
                }
            }
        }
        self.known[at] = true;
        Ok(true)
    }

    fn learn_up_to(&mut self, size: usize, theory: &mut Theory<'_>) -> Result<(), Stop> {
        for component in self.components.clone() {
            let constraints = component.iter().filter(|level| theory.compares(**level));
            let signs: Vec<(u16, u8)> =
                constraints.flat_map(|level| [(*level, 0), (*level, 1)]).collect();
            self.combine(&signs, &Path::new(), 0, size, theory)?;
        }
        Ok(())
    }

    fn combine(
        &mut self,
        signs: &[(u16, u8)],
        chosen: &Path,
        from: usize,
        size: usize,
        theory: &mut Theory<'_>,
    ) -> Result<(), Stop> {
        for (at, sign) in signs.iter().enumerate().skip(from) {
            if chosen.iter().any(|(level, _)| *level == sign.0) {
                continue;
            }
            let mut next = chosen.clone();
            next.push(*sign);
            if self.lemmas.iter().any(|core| core.iter().all(|sign| next.contains(sign))) {
                continue;
            }
            match theory.feasible(&next)? {
                Feasible::No(core) => self.lemmas.push(core),
                Feasible::Yes(_) if next.len() < size => {
                    self.combine(signs, &next, at + 1, size, theory)?;
                }
                Feasible::Yes(_) => {}
            }
        }
        Ok(())
    }

    fn condition(&self, diagram: &mut Diagram) -> Result<NodeId, Full> {
        let mut all = ALWAYS;
        let mut cores = self.lemmas.clone();
        cores.sort_unstable();
        for core in cores.iter().rev() {
            let allowed = not_all(diagram, core)?;
            all = diagram.and(allowed, all)?;
        }
        Ok(all)
    }

    fn unknown(&self) -> Vec<Option<usize>> {
        let mut unknown = vec![None; self.levels];
        for (at, component) in self.components.iter().enumerate() {
            if !self.known[at] {
                for level in component {
                    unknown[*level as usize] = Some(at);
                }
            }
        }
        unknown
    }
}
