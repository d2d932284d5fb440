//! The diagram engine: states, and the questions of the tree.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use super::evidence::{Context, Evidence};
use super::regions::{Regions, forbid};
use super::{Classes, Group, Lemmas, Stop, merge};
use crate::diagram::{Diagram, EMPTY, LevelSet, NodeId, Path};
use crate::space::Space;
use crate::theory::{Layout, Theory};

/// A state of the diagram engine.
#[derive(Clone)]
pub struct DiagramState {
    pub(super) node: NodeId,
    /// None where the diagram holds real scenarios only.
    pub(super) context: Option<Rc<Context>>,
}

impl PartialEq for DiagramState {
    fn eq(&self, other: &Self) -> bool {
        match (&self.context, &other.context) {
            (None, None) => self.node == other.node,
            // The same facts and the same dropped levels leave the same scenarios.
            (Some(one), Some(two)) => one.facts == two.facts && one.gone == two.gone,
            _ => false,
        }
    }
}

impl Eq for DiagramState {}

impl Hash for DiagramState {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match &self.context {
            None => self.node.hash(state),
            Some(context) => {
                context.facts.hash(state);
                context.gone.hash(state);
            }
        }
    }
}

/// The diagram engine.
pub struct DiagramClasses<'s> {
    pub(super) diagram: &'s mut Diagram,
    pub(super) theory: Theory<'s>,
    pub(super) layout: Layout,
    /// The class function; it may hold scenarios without numbers where lemmas are missing.
    pub(super) root: NodeId,
    pub(super) evidence: Evidence,
    regions: Regions,
    all: Vec<u16>,
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
        let mut regions = Regions::new(&theory);
        regions.settle_hidden(space, &mut theory)?;
        match lemmas {
            Lemmas::None => {}
            Lemmas::Pairs => {
                regions.settle_all(&mut space.diagram, &mut theory)?;
                regions.learn_up_to(2, &mut space.diagram, &mut theory)?;
            }
            Lemmas::Triples => {
                regions.learn_up_to(3, &mut space.diagram, &mut theory)?;
                regions.settle_all(&mut space.diagram, &mut theory)?;
            }
        }
        let lemmas = regions.lemmas();
        regions.news();
        let root = space.classes(&regions.conditions())?;
        regions.begin_again(&mut space.diagram)?;
        let mut all: Vec<u16> = space.facts.iter().map(|(_, level)| *level).collect();
        all.extend(&space.constraints);
        all.sort_unstable();
        Ok(Self {
            diagram: &mut space.diagram,
            theory,
            evidence: Evidence::new(&layout, &all),
            layout,
            root,
            regions,
            all,
            lemmas,
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

    pub(super) fn learn(&mut self, core: &Path) -> Result<(), Stop> {
        self.root = forbid(self.diagram, self.root, core)?;
        self.lemmas += 1;
        Ok(())
    }

    /// The node of a context from the root as it is now.
    pub(super) fn replay(&mut self, decided: &Path, dropped: &[LevelSet]) -> Result<NodeId, Stop> {
        let node = self.restrict(self.root, decided)?;
        self.without(node, dropped)
    }

    fn restrict(&mut self, mut node: NodeId, path: &Path) -> Result<NodeId, Stop> {
        for (level, value) in path {
            node = self.diagram.restrict(node, *level, *value)?;
        }
        Ok(node)
    }

    fn without(&mut self, mut node: NodeId, dropped: &[LevelSet]) -> Result<NodeId, Stop> {
        for set in dropped {
            // What could be dropped with more scenarios can be dropped with fewer.
            node = self.diagram.drop_levels(node, *set)?.unwrap_or(node);
        }
        Ok(node)
    }

    /// The node of a context with real scenarios only, where the regions of its numbers can be
    /// known. An open level that no class looks at counts, too: numbers tie others to it, and while
    /// it is there, those can be dropped. Of the dropped levels those count that rules look at.
    fn exact(&mut self, context: &Context) -> Result<Option<NodeId>, Stop> {
        let mut node = self.restrict(self.root, &context.decided)?;
        let support = self.diagram.support(node).to_vec();
        for at in self.regions.unknown() {
            let of = |level: &u16| self.theory.home(*level) == Some(at);
            let decided = |level: &u16| context.decided.iter().any(|(other, _)| other == level);
            let own: Path =
                context.decided.iter().copied().filter(|(level, _)| of(level)).collect();
            let mut live: Vec<u16> = support.iter().chain(&context.open).copied().collect();
            live.retain(|level| of(level) && !decided(level));
            live.sort_unstable();
            live.dedup();
            let Some(known) =
                self.regions.settle(self.diagram, &mut self.theory, at, &own, &live)?
            else {
                return Ok(None);
            };
            node = self.diagram.guard(known, node)?;
        }
        self.without(node, &context.dropped).map(Some)
    }

    /// What was learnt of regions lately goes into the class function.
    fn take_news(&mut self) -> Result<(), Stop> {
        for core in self.regions.news() {
            self.learn(&core)?;
        }
        for region in self.regions.done() {
            self.root = self.diagram.guard(region, self.root)?;
        }
        Ok(())
    }

    fn state(&mut self, context: Context) -> Result<Option<DiagramState>, Stop> {
        let exact = self.exact(&context)?;
        self.take_news()?;
        if let Some(node) = exact {
            return Ok((node != EMPTY).then_some(DiagramState { node, context: None }));
        }
        let node = self.replay(&context.decided, &context.dropped)?;
        let Some(node) = self.inhabited(node, &context)? else {
            return Ok(None);
        };
        Ok(Some(DiagramState { node, context: Some(Rc::new(context)) }))
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
        };
        let nothing = DiagramState { node: EMPTY, context: None };
        Ok(self.state(context)?.unwrap_or(nothing))
    }

    fn open(&mut self, state: &DiagramState) -> Vec<u16> {
        match &state.context {
            None => self.diagram.support(state.node).to_vec(),
            Some(context) => context.open.clone(),
        }
    }

    fn class(&self, state: &DiagramState) -> u8 {
        Diagram::as_terminal(state.node).unwrap_or(0)
    }

    fn assign(&mut self, state: &DiagramState, path: &Path) -> Result<Option<DiagramState>, Stop> {
        let Some(context) = &state.context else {
            let node = self.restrict(state.node, path)?;
            return Ok((node != EMPTY).then_some(DiagramState { node, context: None }));
        };
        let mut facts = context.facts.clone();
        for (level, value) in path {
            self.layout.set(&mut facts, *level, *value);
        }
        let decided = |level: &u16| path.iter().any(|(at, _)| at == level);
        let open = context.open.iter().copied().filter(|level| !decided(level)).collect();
        self.state(Context {
            decided: merge(&context.decided, path),
            dropped: context.dropped.clone(),
            gone: context.gone.clone(),
            facts,
            open,
        })
    }

    fn drop(&mut self, state: &DiagramState, group: &Group) -> Result<Option<DiagramState>, Stop> {
        let set = self.diagram.level_set(&group.levels);
        let Some(context) = &state.context else {
            let node = self.diagram.drop_levels(state.node, set)?;
            return Ok(node.map(|node| DiagramState { node, context: None }));
        };
        if self.has_pair(context, group) {
            return Ok(None);
        }
        let mut node = state.node;
        loop {
            if let Some(node) = self.diagram.drop_levels(node, set)? {
                let context = Rc::new(context.without(&self.layout, &group.levels, set));
                return Ok(Some(DiagramState { node, context: Some(context) }));
            }
            let pair = self.diagram.conflict(node, set)?;
            if let Some(pair) = pair
                && self.prove_kept(node, context, group, pair)?
            {
                return Ok(None);
            }
            node = self.replay(&context.decided, &context.dropped)?;
        }
    }

    fn has_evidence(&self, state: &DiagramState) -> bool {
        state.context.is_some()
    }

    fn surely_kept(&mut self, state: &DiagramState, path: &Path, groups: &[Group]) -> usize {
        let Some(context) = &state.context else {
            return 0;
        };
        let mut after = context.facts.clone();
        for (level, value) in path {
            self.layout.set(&mut after, *level, *value);
        }
        let context = context.with_facts(after);
        let mut kept = 0;
        for group in groups {
            kept += usize::from(self.has_pair(&context, group));
        }
        kept
    }
}
