//! Which values the levels of one component can have together, known from both sides.
//!
//! From above: what no lemma forbids. From below: what some numbers have, each point together with
//! all that it shows of others. Where the two meet, for the levels that still matter under the
//! facts decided so far, the solver is not needed any more.

#![expect(clippy::indexing_slicing, reason = "components index the theory that made them")]

use rustc_hash::FxHashMap;

use super::Stop;
use crate::diagram::{ALWAYS, Diagram, EMPTY, Full, NodeId, Path};
use crate::space::Space;
use crate::theory::{Asked, Theory, Unsettled};

/// Checks of the solver up to which a whole component is settled before the tree is grown.
const AT_FIRST: usize = 1_500;
/// The same for a component whose levels are removed before classes are formed.
const REMOVED: usize = 30_000;
/// The same for what still matters at one state of the tree, and levels up to which it is tried.
const AT_A_STATE: usize = 300;
const LEVELS: usize = 24;

/// Memory of a diagram in which one component is settled.
const OWN_MEBIBYTES: usize = 128;

/// What is known of one component.
struct Region {
    at: usize,
    above: NodeId,
    below: NodeId,
    /// Points of the theory that are in `below`.
    points: usize,
    lemmas: Vec<Path>,
}

/// What is known of all components.
pub(super) struct Regions {
    /// Those whose patterns are not all known.
    open: Vec<Region>,
    /// Those whose patterns are, until the class function takes them in.
    known: Vec<Region>,
    answers: FxHashMap<(usize, Path, Vec<u16>), Option<NodeId>>,
    news: Vec<Path>,
}

impl Regions {
    pub(super) fn new(theory: &Theory<'_>) -> Self {
        let region = |at| Region { at, above: ALWAYS, below: EMPTY, points: 0, lemmas: Vec::new() };
        Self {
            open: (0..theory.components().len()).map(region).collect(),
            known: Vec::new(),
            answers: FxHashMap::default(),
            news: Vec::new(),
        }
    }

    /// Hidden comparisons are removed before classes are formed, so all about them must be known.
    pub(super) fn settle_hidden(
        &mut self,
        space: &mut Space,
        theory: &mut Theory<'_>,
    ) -> Result<(), Stop> {
        for at in self.unknown() {
            let levels = &theory.components()[at].levels;
            if levels.iter().any(|level| space.unsettled.contains(level))
                && !self.settle_whole(&mut space.diagram, theory, at, REMOVED)?
            {
                return Err(Stop::Full(Full));
            }
        }
        self.set_apart();
        Ok(())
    }

    /// Settles every component for which a limited number of checks is enough.
    pub(super) fn settle_all(
        &mut self,
        diagram: &mut Diagram,
        theory: &mut Theory<'_>,
    ) -> Result<(), Stop> {
        for at in self.unknown() {
            self.settle_whole(diagram, theory, at, AT_FIRST)?;
        }
        self.set_apart();
        Ok(())
    }

    /// In a diagram of its own, since what is tried on the way is forgotten.
    fn settle_whole(
        &mut self,
        diagram: &mut Diagram,
        theory: &mut Theory<'_>,
        at: usize,
        checks: usize,
    ) -> Result<bool, Stop> {
        let levels = theory.components()[at].levels.clone();
        let view = View { at, decided: &Path::new(), open: &levels };
        let mut own = diagram.fresh(OWN_MEBIBYTES);
        let Some(region) = self.open.iter_mut().find(|region| region.at == at) else {
            return Ok(true);
        };
        region.start(&mut own)?;
        let known = match self.search(&mut own, theory, &view, checks) {
            Ok(known) => known,
            Err(Stop::Full(Full)) => None,
            Err(stop) => return Err(stop),
        };
        let Some(region) = self.open.iter_mut().find(|region| region.at == at) else {
            return Ok(true);
        };
        match known {
            Some(known) => {
                region.above = diagram.copy(&own, known, &|level| level)?;
                region.below = region.above;
            }
            None => region.start(diagram)?,
        }
        Ok(known.is_some())
    }

    /// Learns all infeasible sets of up to `size` signs in components not known.
    pub(super) fn learn_up_to(
        &mut self,
        size: usize,
        diagram: &mut Diagram,
        theory: &mut Theory<'_>,
    ) -> Result<(), Stop> {
        for region in &mut self.open {
            let compared = theory.components()[region.at].compared();
            let signs: Vec<(u16, u8)> =
                compared.flat_map(|level| [(level, 0), (level, 1)]).collect();
            region.combine(&signs, &Path::new(), 0, size, theory);
            region.start(diagram)?;
        }
        self.set_apart();
        Ok(())
    }

    /// What each component allows.
    pub(super) fn conditions(&self) -> Vec<NodeId> {
        self.known.iter().chain(&self.open).map(|region| region.above).collect()
    }

    /// After the diagram has forgotten all but the class function: what is known goes on there,
    /// what is not begins again with its lemmas and points.
    pub(super) fn begin_again(&mut self, diagram: &mut Diagram) -> Result<(), Full> {
        self.known.clear();
        self.open.iter_mut().try_for_each(|region| region.start(diagram))
    }

    /// Lemmas known, for reports only.
    pub(super) fn lemmas(&self) -> usize {
        self.known.iter().chain(&self.open).map(|region| region.lemmas.len()).sum()
    }

    /// The components not known.
    pub(super) fn unknown(&self) -> Vec<usize> {
        self.open.iter().map(|region| region.at).collect()
    }

    fn set_apart(&mut self) {
        let (known, open) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|region| region.above == region.below);
        self.open = open;
        self.known.extend::<Vec<Region>>(known);
    }

    /// The regions of components that have come to be known; the class function is to take them in.
    pub(super) fn done(&mut self) -> Vec<NodeId> {
        self.set_apart();
        std::mem::take(&mut self.known).into_iter().map(|region| region.below).collect()
    }

    /// Lemmas learnt since last asked.
    pub(super) fn news(&mut self) -> Vec<Path> {
        std::mem::take(&mut self.news)
    }

    /// Where `open` levels of a component have values that go with the decided ones; none where
    /// that takes too long to find out.
    pub(super) fn settle(
        &mut self,
        diagram: &mut Diagram,
        theory: &mut Theory<'_>,
        at: usize,
        decided: &Path,
        open: &[u16],
    ) -> Result<Option<NodeId>, Stop> {
        let key = (at, decided.clone(), open.to_vec());
        if let Some(answer) = self.answers.get(&key) {
            return Ok(*answer);
        }
        let view = View { at, decided, open };
        let found = match open.len() {
            0..=LEVELS => self.search(diagram, theory, &view, AT_A_STATE)?,
            _ => None,
        };
        self.answers.insert(key, found);
        Ok(found)
    }

    fn search(
        &mut self,
        diagram: &mut Diagram,
        theory: &mut Theory<'_>,
        view: &View<'_>,
        checks: usize,
    ) -> Result<Option<NodeId>, Stop> {
        let Some(region) = self.open.iter_mut().find(|region| region.at == view.at) else {
            return Ok(Some(ALWAYS));
        };
        let decides = |level: &u16| view.decided.iter().any(|(other, _)| other == level);
        let levels = theory.components()[view.at].levels.iter().copied();
        let others: Vec<u16> =
            levels.filter(|level| !view.open.contains(level) && !decides(level)).collect();
        let others = diagram.level_set(&others);
        for _ in 0..checks {
            region.take_points(diagram, theory)?;
            let mut sides = [region.above, region.below];
            for side in &mut sides {
                for (level, value) in view.decided {
                    *side = diagram.restrict(*side, *level, *value)?;
                }
                *side = diagram.exists(*side, others)?;
            }
            let [above, below] = sides;
            if above == below {
                return Ok(Some(below));
            }
            let outside = diagram.not(below)?;
            let gap = diagram.and(above, outside)?;
            let found = diagram.find(gap, &Path::new(), |terminal| terminal == 1);
            let mut pattern = found.unwrap_or_default();
            pattern.extend(view.decided.iter().copied());
            pattern.sort_unstable();
            match theory.ask(view.at, &pattern) {
                Ok(Asked::Point(_)) => {}
                Ok(Asked::No(core)) => {
                    let allowed = not_all(diagram, &core)?;
                    region.above = diagram.and(region.above, allowed)?;
                    region.lemmas.push(core.clone());
                    self.news.push(core);
                }
                // Too hard for the solver as a whole; where fewer numbers matter it need not be.
                Err(Unsettled(_)) => break,
            }
        }
        Ok(None)
    }
}

/// A question: which values of `open` go with `decided`.
struct View<'v> {
    at: usize,
    decided: &'v Path,
    open: &'v [u16],
}

impl Region {
    /// From the lemmas alone.
    fn start(&mut self, diagram: &mut Diagram) -> Result<(), Full> {
        (self.above, self.below, self.points) = (ALWAYS, EMPTY, 0);
        for core in &self.lemmas {
            let allowed = not_all(diagram, core)?;
            self.above = diagram.and(self.above, allowed)?;
        }
        Ok(())
    }

    /// Brings what new points show into `below`.
    fn take_points(&mut self, diagram: &mut Diagram, theory: &Theory<'_>) -> Result<(), Stop> {
        let component = &theory.components()[self.at];
        for (at, point) in component.points().iter().enumerate().skip(self.points) {
            let facts = if component.tied {
                // All facts that go with the point's numbers.
                let together = component.together(theory.terms(), at).map_err(|_| Full)?;
                let name = |level: u16| together.levels[level as usize];
                diagram.copy(&together.diagram, together.root, &name)?
            } else {
                ALWAYS
            };
            for spread in component.spreads(theory.terms(), at) {
                let mut cell = facts;
                for (levels, patterns) in &spread.lines {
                    let mut line = EMPTY;
                    for pattern in patterns {
                        let signs = levels.iter().copied().zip(pattern.iter().copied());
                        let one = all_of(diagram, signs.collect())?;
                        line = diagram.or(line, one)?;
                    }
                    cell = diagram.and(cell, line)?;
                }
                let value = |level: &u16| (*level, theory.layout().get(point, *level));
                let fixed = all_of(diagram, spread.fixed.iter().map(value).collect())?;
                cell = diagram.and(cell, fixed)?;
                self.below = diagram.or(self.below, cell)?;
            }
        }
        self.points = component.points().len();
        Ok(())
    }

    fn combine(
        &mut self,
        signs: &[(u16, u8)],
        chosen: &Path,
        from: usize,
        size: usize,
        theory: &mut Theory<'_>,
    ) {
        for (at, sign) in signs.iter().enumerate().skip(from) {
            if chosen.iter().any(|(level, _)| *level == sign.0) {
                continue;
            }
            let mut next = chosen.clone();
            next.push(*sign);
            if self.lemmas.iter().any(|core| core.iter().all(|sign| next.contains(sign))) {
                continue;
            }
            match theory.ask(self.at, &next) {
                Ok(Asked::No(core)) => self.lemmas.push(core),
                Ok(Asked::Point(_)) if next.len() < size => {
                    self.combine(signs, &next, at + 1, size, theory);
                }
                // What is too hard for the solver is no lemma.
                Ok(Asked::Point(_)) | Err(_) => {}
            }
        }
    }
}

/// The class function without the scenarios that have all these signs.
pub(super) fn forbid(diagram: &mut Diagram, root: NodeId, core: &Path) -> Result<NodeId, Full> {
    let allowed = not_all(diagram, core)?;
    diagram.guard(allowed, root)
}

fn not_all(diagram: &mut Diagram, core: &Path) -> Result<NodeId, Full> {
    let all = all_of(diagram, core.clone())?;
    diagram.not(all)
}

fn all_of(diagram: &mut Diagram, mut signs: Path) -> Result<NodeId, Full> {
    // From the last place up, each step adds one node.
    signs.sort_by_key(|(level, _)| std::cmp::Reverse(diagram.place_of(*level)));
    let mut all = ALWAYS;
    for (level, value) in signs {
        let literal = diagram.literal(level, value)?;
        all = diagram.and(literal, all)?;
    }
    Ok(all)
}
