//! The reference engine: every question of the tree is a question to the solver, with no diagram.
//!
//! Slow and short of ideas on purpose, it judges the diagram engine in tests and takes over where a
//! diagram does not fit. Two copies of the policy stand side by side for "two scenarios that agree
//! on these levels, in different classes". Such a pair has a definite scenario; it is the first
//! copy, and whenever the solver offers a silent scenario there, that one is refused and the
//! question repeated.
//!
//! What it remembers (scenarios, pairs of them, unsatisfiable cores) are proofs of yes/no answers
//! and change none.

#![expect(clippy::indexing_slicing, reason = "levels index the space that made them")]

use rustc_hash::{FxHashMap, FxHashSet};

use crate::classes::{Classes, Group, Stop, merge};
use crate::diagram::Path;
use crate::solver::{Answer, Limits, Lit, Session, Why};
use crate::term::{ConstId, Value};
use crate::theory::Unsettled;

mod mirror;

pub use mirror::Mirror;

use mirror::Face;

/// Some decided levels, and what is left open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SolverState {
    decided: Path,
    open: Vec<u16>,
    class: u8,
}

/// A scenario by the values of all askable levels; hidden levels are 0.
type Pattern = Vec<u8>;

/// Numbers of the first copy.
type Numbers = Vec<(ConstId, Value)>;

/// Assumptions that cannot hold together: levels with values, and levels with equal values.
struct Core {
    decided: Path,
    same: Vec<u16>,
}

/// The reference engine.
pub struct SolverClasses<'m> {
    mirror: &'m Mirror,
    /// One copy.
    single: Session<'m>,
    /// Two copies with different verdicts, the first one definite.
    double: Session<'m>,
    /// What follows from signs alone.
    implied: Session<'m>,
    all: Vec<u16>,
    class_of: FxHashMap<Pattern, u8>,
    scenarios: Vec<Pattern>,
    pairs: Vec<(Pattern, Pattern)>,
    none: Vec<Path>,
    cores: Vec<Core>,
}

/// One check's answer, read off before anything else is asked.
enum Found {
    Scenario(Pattern, Numbers),
    Core(Vec<Lit>),
}

impl<'m> SolverClasses<'m> {
    /// The engine for a mirrored space, asked with these limits.
    #[must_use]
    pub fn new(mirror: &'m Mirror, limits: &Limits) -> Self {
        let terms = &mirror.terms;
        let single = Session::new(terms, &mirror.asserts[0], limits.clone());
        let mut double = Session::new(terms, &mirror.asserts.concat(), limits.clone());
        double.assert(mirror.differ);
        let implied = Session::new(terms, &mirror.plain, limits.clone());
        let levels = (0_u16..).zip(&mirror.levels);
        let all = levels.filter(|(_, level)| level.askable).map(|(at, _)| at).collect();
        Self {
            mirror,
            single,
            double,
            implied,
            all,
            class_of: FxHashMap::default(),
            scenarios: Vec::new(),
            pairs: Vec::new(),
            none: Vec::new(),
            cores: Vec::new(),
        }
    }

    /// Whether some scenario of one copy has these levels, asked without memory.
    fn ask(&mut self, literals: &[Lit]) -> Result<Found, Stop> {
        match self.single.check(literals) {
            Answer::Sat => {
                let read = read(self.mirror, &mut self.single, 0);
                read.map(|(pattern, numbers)| Found::Scenario(pattern, numbers)).ok_or(UNREAD)
            }
            Answer::Unsat(core) => Ok(Found::Core(core)),
            Answer::Unknown(why) => Err(Unsettled(why).into()),
        }
    }

    /// The class of a scenario with these levels and numbers, and hidden constants for up to two
    /// verdicts that are possible with it.
    fn judge(&mut self, pattern: &Pattern, numbers: &Numbers) -> Result<(u8, Vec<Witness>), Stop> {
        let mut literals: Vec<Lit> = Vec::new();
        for (level, mirrored) in self.mirror.levels.iter().enumerate() {
            if let (true, Face::Constant(id)) = (mirrored.askable, &mirrored.faces[0]) {
                let value = &mirrored.values[pattern[level] as usize];
                literals.push(self.single.fact(*id, value));
            }
        }
        for (id, value) in numbers {
            literals.push(self.single.fact(*id, value));
        }
        let mut witnesses = Vec::new();
        for (at, verdict) in self.mirror.verdict_is.iter().enumerate() {
            literals.push(self.single.term(*verdict, true));
            match self.single.check(&literals) {
                Answer::Sat => {
                    let hidden = values(&mut self.single, &self.mirror.hidden).ok_or(UNREAD)?;
                    witnesses.push(Witness { verdict: at, hidden });
                }
                Answer::Unsat(_) => {}
                Answer::Unknown(why) => return Err(Unsettled(why).into()),
            }
            literals.pop();
            if witnesses.len() == 2 {
                break;
            }
        }
        let class = match witnesses.as_slice() {
            [only] => u8::try_from(only.verdict + 1).unwrap_or(0),
            [] => 0,
            _ => self.mirror.silent,
        };
        self.class_of.insert(pattern.clone(), class);
        Ok((class, witnesses))
    }

    /// Refuses a silent scenario as the first of a pair, and others that the same hidden constants
    /// show to be silent.
    fn refuse(&mut self, pattern: &Pattern, witnesses: &[Witness]) -> Result<(), Stop> {
        let mut needed: FxHashSet<u16> = FxHashSet::default();
        let mut literals: Vec<(Lit, u16)> = Vec::new();
        for level in self.all.clone() {
            let lit = literal(&mut self.implied, self.mirror, 0, level, pattern[level as usize]);
            literals.push((lit, level));
        }
        for witness in witnesses {
            let mut asked: Vec<Lit> = literals.iter().map(|(lit, _)| *lit).collect();
            for (id, value) in &witness.hidden {
                asked.push(self.implied.fact(*id, value));
            }
            asked.push(self.implied.term(self.mirror.fails[witness.verdict], true));
            match self.implied.check(&asked) {
                Answer::Unsat(core) => {
                    let used = literals.iter().filter(|(lit, _)| core.contains(lit));
                    needed.extend(used.map(|(_, level)| *level));
                }
                Answer::Sat => needed.extend(&self.all),
                Answer::Unknown(why) => return Err(Unsettled(why).into()),
            }
        }
        let mut others = Vec::new();
        for level in self.all.clone().into_iter().filter(|level| needed.contains(level)) {
            let values = self.mirror.levels[level as usize].values.len();
            for value in (0_u8..).take(values).filter(|value| *value != pattern[level as usize]) {
                others.push(literal(&mut self.double, self.mirror, 0, level, value));
            }
        }
        self.double.require(&others);
        Ok(())
    }

    /// Two scenarios with these levels decided that agree on others, in different classes.
    fn differing(&mut self, decided: &Path, same: &[u16]) -> Result<bool, Stop> {
        let known = |core: &Core| {
            let is = |sign: &(u16, u8)| decided.binary_search(sign).is_ok();
            let agree = |level: &u16| {
                same.binary_search(level).is_ok()
                    || decided.binary_search_by_key(level, |(at, _)| *at).is_ok()
            };
            core.decided.iter().all(is) && core.same.iter().all(agree)
        };
        if self.cores.iter().rev().any(known) {
            return Ok(false);
        }
        let mut literals: Vec<Lit> = Vec::new();
        for (level, value) in decided {
            for copy in [0, 1] {
                literals.push(literal(&mut self.double, self.mirror, copy, *level, *value));
            }
        }
        for level in same {
            literals.push(self.double.term(self.mirror.levels[*level as usize].same, true));
        }
        loop {
            match self.double.check(&literals) {
                Answer::Sat => {}
                Answer::Unsat(core) => {
                    let used = |at: usize| core.contains(&literals[at]);
                    let signs = decided.iter().enumerate();
                    let signs = signs.filter(|(at, _)| used(2 * at) || used(2 * at + 1));
                    let rest = same.iter().enumerate();
                    let rest = rest.filter(|(at, _)| used(2 * decided.len() + at));
                    self.cores.push(Core {
                        decided: signs.map(|(_, sign)| *sign).collect(),
                        same: rest.map(|(_, level)| *level).collect(),
                    });
                    return Ok(false);
                }
                Answer::Unknown(why) => return Err(Unsettled(why).into()),
            }
            let (first, numbers) = read(self.mirror, &mut self.double, 0).ok_or(UNREAD)?;
            let (second, _) = read(self.mirror, &mut self.double, 1).ok_or(UNREAD)?;
            let (class, witnesses) = self.judge(&first, &numbers)?;
            if class != self.mirror.silent {
                self.pairs.push((first, second));
                return Ok(true);
            }
            self.refuse(&first, &witnesses)?;
        }
    }

    fn has_pair(&self, decided: &Path, same: &[u16]) -> bool {
        self.pairs.iter().rev().any(|(first, second)| {
            let has = |(level, value): &(u16, u8)| {
                first[*level as usize] == *value && second[*level as usize] == *value
            };
            decided.iter().all(has)
                && same.iter().all(|level| first[*level as usize] == second[*level as usize])
        })
    }

    /// A scenario with these levels decided, if there is one.
    fn scenario(&mut self, decided: &Path) -> Result<Option<usize>, Stop> {
        let has = |pattern: &Pattern| {
            decided.iter().all(|(level, value)| pattern[*level as usize] == *value)
        };
        if let Some(at) = self.scenarios.iter().rposition(has) {
            return Ok(Some(at));
        }
        let is = |sign: &(u16, u8)| decided.binary_search(sign).is_ok();
        if self.none.iter().any(|core| core.iter().all(is)) {
            return Ok(None);
        }
        let mut literals = Vec::with_capacity(decided.len());
        for (level, value) in decided {
            literals.push(literal(&mut self.single, self.mirror, 0, *level, *value));
        }
        match self.ask(&literals)? {
            Found::Scenario(pattern, numbers) => {
                if !self.class_of.contains_key(&pattern) {
                    self.judge(&pattern, &numbers)?;
                }
                self.scenarios.push(pattern);
                Ok(Some(self.scenarios.len() - 1))
            }
            Found::Core(core) => {
                let used = decided.iter().zip(&literals).filter(|(_, lit)| core.contains(lit));
                self.none.push(used.map(|(sign, _)| *sign).collect());
                Ok(None)
            }
        }
    }

    /// A state; where no level is open, with the class of all its scenarios.
    fn state(&mut self, decided: Path, open: Vec<u16>) -> Result<SolverState, Stop> {
        let mut class = 0;
        if open.is_empty()
            && let Some(at) = self.scenario(&decided)?
        {
            class = self.class_of.get(&self.scenarios[at]).copied().unwrap_or(0);
        }
        Ok(SolverState { decided, open, class })
    }
}

/// Hidden constants with which a verdict is possible.
struct Witness {
    verdict: usize,
    hidden: Vec<(ConstId, Value)>,
}

/// A model that lacks a value.
const UNREAD: Stop = Stop::Unsettled(Unsettled(Why::Incomplete));

/// The scenario of one copy in the model of the last check.
fn read(mirror: &Mirror, session: &mut Session<'_>, copy: usize) -> Option<(Pattern, Numbers)> {
    let mut numbers = Numbers::new();
    for ids in &mirror.numbers {
        numbers.push((ids[0], session.model_value(ids[copy])?));
    }
    let number = |id: ConstId| {
        let at = numbers.binary_search_by_key(&id, |(id, _)| *id).ok()?;
        match &numbers[at].1 {
            Value::Number(number) => Some(number.clone()),
            _ => None,
        }
    };
    let mut pattern = vec![0; mirror.levels.len()];
    for (slot, level) in pattern.iter_mut().zip(&mirror.levels) {
        if !level.askable {
            continue;
        }
        let value = match &level.faces[copy] {
            Face::Constant(id) => session.model_value(*id)?,
            Face::Constraint(_, constraint) => Value::Bool(constraint.holds(number)?),
        };
        let at = level.values.iter().position(|other| *other == value)?;
        *slot = u8::try_from(at).ok()?;
    }
    Some((pattern, numbers))
}

fn values(session: &mut Session<'_>, ids: &[ConstId]) -> Option<Vec<(ConstId, Value)>> {
    ids.iter().map(|id| Some((*id, session.model_value(*id)?))).collect()
}

fn literal(session: &mut Session<'_>, mirror: &Mirror, copy: usize, level: u16, value: u8) -> Lit {
    let mirrored = &mirror.levels[level as usize];
    match &mirrored.faces[copy] {
        Face::Constant(id) => session.fact(*id, &mirrored.values[value as usize]),
        Face::Constraint(term, _) => session.term(*term, value == 1),
    }
}

impl Classes for SolverClasses<'_> {
    type State = SolverState;

    fn root(&mut self) -> Result<SolverState, Stop> {
        self.state(Path::new(), self.all.clone())
    }

    fn open(&mut self, state: &SolverState) -> Vec<u16> {
        state.open.clone()
    }

    fn class(&self, state: &SolverState) -> u8 {
        state.class
    }

    fn assign(&mut self, state: &SolverState, path: &Path) -> Result<Option<SolverState>, Stop> {
        let decided = merge(&state.decided, path);
        if self.scenario(&decided)?.is_none() {
            return Ok(None);
        }
        let mut open = state.open.clone();
        open.retain(|level| path.iter().all(|(at, _)| at != level));
        self.state(decided, open).map(Some)
    }

    fn drop(&mut self, state: &SolverState, group: &Group) -> Result<Option<SolverState>, Stop> {
        let mut open = state.open.clone();
        open.retain(|level| !group.levels.contains(level));
        if self.has_pair(&state.decided, &open) || self.differing(&state.decided, &open)? {
            return Ok(None);
        }
        self.state(state.decided.clone(), open).map(Some)
    }

    fn surely_kept(&mut self, state: &SolverState, path: &Path, groups: &[Group]) -> usize {
        let decided = merge(&state.decided, path);
        let kept = |group: &&Group| {
            let same = state.open.iter().copied();
            let same: Vec<u16> = same
                .filter(|level| {
                    !group.levels.contains(level) && path.iter().all(|(at, _)| at != level)
                })
                .collect();
            self.has_pair(&decided, &same)
        };
        groups.iter().filter(kept).count()
    }
}
