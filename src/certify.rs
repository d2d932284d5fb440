//! A candidate path becomes a certified claim, or is dropped for a stated reason.
//!
//! Certification is about the facts exactly as the entry states them, concrete numbers included
//! (DESIGN.md section 2). Every `unknown` of a worker's incremental solver is asked once more on a
//! fresh one with the same limit, and only that answer counts, so results do not depend on what a
//! worker was asked before. Each witness is evaluated by our own evaluator and by Z3's.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::claim::{Claim, Drop};
use crate::docket::{Docket, Scenario};
use crate::draw::{Candidate, Kind, Nei};
use crate::eval::Evaluation;
use crate::numbers::{Interval, Position, candidates, intervals, smallest};
use crate::policy::Facts;
use crate::solver::{Answer, Lit, Session, Why};
use crate::space::Level;
use crate::term::{ConstId, Number, Sort, Value};
use crate::twin::Twin;

/// A certified claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certified {
    /// What was claimed and is proved.
    pub kind: Kind,
    /// The facts with concrete numbers, in path order.
    pub facts: Facts,
    /// Stated facts that follow from the chosen numbers.
    pub implied: Vec<ConstId>,
    /// Possible verdict values, each with a scenario that has it.
    pub possible: Vec<(usize, Scenario)>,
    /// Size of the first minimal set of the facts that forces the answer; 0 for NEI.
    pub needed: usize,
}

/// A claim about the program that does not hold: a bug, reported with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a witness fails its own check: {0}")]
pub struct Bug(pub String);

/// Certified, dropped, or a bug.
pub type Outcome = Result<Result<Certified, Drop>, Bug>;

/// Signs of regions, numbers in path order, and where in a region they are to lie.
type Regions = (Vec<Claim>, Vec<ConstId>, Position);

/// One worker's prepared solvers.
pub struct Worker<'d> {
    docket: &'d Docket,
    slice: Session<'d>,
    numbers: Session<'d>,
    twin: Option<Twin>,
    chosen: FxHashMap<Regions, Option<Vec<Number>>>,
    /// Where numbers lie in their regions.
    pub position: Position,
}

impl<'d> Worker<'d> {
    /// Prepares solvers for a docket.
    #[must_use]
    pub fn new(docket: &'d Docket) -> Self {
        Self {
            docket,
            slice: Session::new(&docket.terms, &docket.asserts, docket.limits.clone()),
            numbers: Session::new(&docket.terms, &docket.background, docket.limits.clone()),
            twin: None,
            chosen: FxHashMap::default(),
            position: Position::One,
        }
    }

    fn literals(docket: &Docket, session: &mut Session<'_>, claims: &[Claim]) -> Vec<Lit> {
        let literal = |claim: &Claim| match claim {
            Claim::Fact(id, value) => Some(session.fact(*id, value)),
            Claim::Verdict(at) => Some(session.term(*docket.verdict_is.get(*at)?, true)),
            Claim::NotVerdict(at) => Some(session.term(*docket.verdict_is.get(*at)?, false)),
            Claim::Sign(level, value) => {
                let term = docket.constraints.get(usize::from(*level)).copied().flatten()?;
                Some(session.term(term, *value == 1))
            }
            Claim::Bounded(id, bound, upper) => Some(session.bounded(*id, bound, *upper)),
        };
        claims.iter().filter_map(literal).collect()
    }

    /// Asks the slice; what the incremental solver leaves open is asked once more on a fresh one.
    pub fn ask(&mut self, claims: &[Claim]) -> Result<bool, Drop> {
        let literals = Self::literals(self.docket, &mut self.slice, claims);
        match self.slice.check(&literals) {
            Answer::Sat => Ok(true),
            Answer::Unsat(_) => Ok(false),
            Answer::Unknown(_) => {
                let docket = self.docket;
                let mut fresh = Session::new(&docket.terms, &docket.asserts, docket.limits.clone());
                let literals = Self::literals(docket, &mut fresh, claims);
                match fresh.check(&literals) {
                    Answer::Sat => Ok(true),
                    Answer::Unsat(_) => Ok(false),
                    Answer::Unknown(Why::Limit | Why::Incomplete) => Err(Drop::Unknown),
                }
            }
        }
    }

    fn ask_numbers(&mut self, claims: &[Claim]) -> Result<bool, Drop> {
        let literals = Self::literals(self.docket, &mut self.numbers, claims);
        match self.numbers.check(&literals) {
            Answer::Sat => Ok(true),
            Answer::Unsat(_) => Ok(false),
            Answer::Unknown(_) => Err(Drop::Unknown),
        }
    }

    /// Asks everything about a candidate but its witnesses.
    ///
    /// # Errors
    /// Why it is dropped.
    pub fn claim(&mut self, candidate: &Candidate) -> Result<Certified, Drop> {
        self.settle(candidate)?
    }

    /// Facts and possible values, asked; witnesses are still missing.
    fn settle(&mut self, candidate: &Candidate) -> Result<Result<Certified, Drop>, Drop> {
        let path = Path::read(self.docket, candidate);
        let Some(guess) = self.numbers_alone(&path)? else {
            return Ok(Err(Drop::Inconsistent));
        };
        let mut facts = path.facts(self.docket, &guess);
        match candidate.kind {
            Kind::Definite(value) => {
                let mut claims = claims_of(&facts);
                claims.push(Claim::Verdict(value));
                if !self.ask(&claims)? {
                    let Some(numbers) = self.numbers_with(&path, value)? else {
                        return Ok(Err(self.unless_inconsistent(&path, Drop::Unentailed)?));
                    };
                    facts = path.facts(self.docket, &numbers);
                }
                let mut claims = claims_of(&facts);
                claims.push(Claim::NotVerdict(value));
                if self.ask(&claims)? {
                    return Ok(Err(Drop::Unentailed));
                }
                let needed = self.needed(&facts, value)?;
                let implied = self.implied(&facts)?;
                let possible = vec![(value, Scenario::new())];
                Ok(Ok(Certified { kind: candidate.kind, facts, implied, possible, needed }))
            }
            Kind::Nei(nei) => {
                let mut possible = self.possible(&facts)?;
                if possible.len() == 1 && nei == Nei::Hole && path.numbers.is_empty() {
                    return Ok(Err(Drop::NoClaim));
                }
                if possible.len() < 2 {
                    let numbers = self.twin_numbers(&path)?;
                    let Some(numbers) = numbers else {
                        // Without any number the tree is wrong.
                        let plain = path.numbers.is_empty();
                        let why = if plain { Drop::Unentailed } else { Drop::DecidedByNumbers };
                        return Ok(Err(self.unless_inconsistent(&path, why)?));
                    };
                    facts = path.facts(self.docket, &numbers);
                    possible = self.possible(&facts)?;
                }
                if possible.is_empty() {
                    return Ok(Err(Drop::Inconsistent));
                }
                if possible.len() < 2 {
                    return Ok(Err(Drop::DecidedByNumbers));
                }
                if nei != Nei::Silent && !self.open_as_presumed(&facts)? {
                    return Ok(Err(Drop::Presumed));
                }
                let implied = self.implied(&facts)?;
                let possible = possible.into_iter().map(|value| (value, Scenario::new())).collect();
                let kind = candidate.kind;
                Ok(Ok(Certified { kind, facts, implied, possible, needed: 0 }))
            }
        }
    }

    /// Why no numbers hold a path's claim: this, unless its facts contradict each other.
    fn unless_inconsistent(&mut self, path: &Path, why: Drop) -> Result<Drop, Drop> {
        Ok(if self.ask(&path.claims())? { why } else { Drop::Inconsistent })
    }

    /// The verdict values that some scenario with these facts has.
    ///
    /// # Errors
    /// The solver did not answer.
    pub fn possible(&mut self, facts: &Facts) -> Result<Vec<usize>, Drop> {
        let mut possible = Vec::new();
        for value in 0..self.docket.verdict_is.len() {
            let mut claims = claims_of(facts);
            claims.push(Claim::Verdict(value));
            if self.ask(&claims)? {
                possible.push(value);
            }
        }
        Ok(possible)
    }

    /// Whether two values stay possible once everything a reader presumes is added, as far as it is
    /// consistent with the facts.
    fn open_as_presumed(&mut self, facts: &Facts) -> Result<bool, Drop> {
        let mut more = facts.clone();
        for (id, value) in self.docket.customs.presumed.clone() {
            if more.get(id).is_some() || !self.docket.askable.contains(&id) {
                continue;
            }
            let mut claims = claims_of(&more);
            claims.push(Claim::Fact(id, value.clone()));
            if self.ask(&claims)? {
                more.push(id, value);
            }
        }
        Ok(more.len() == facts.len() || self.possible(&more)?.len() >= 2)
    }

    /// Size of the first minimal set of facts that forces the value: each fact in path order goes
    /// if the rest still does.
    fn needed(&mut self, facts: &Facts, value: usize) -> Result<usize, Drop> {
        let mut claims = claims_of(facts);
        claims.push(Claim::NotVerdict(value));
        let mut at = 0;
        while at + 1 < claims.len() {
            let removed = claims.remove(at);
            if self.ask(&claims)? {
                claims.insert(at, removed);
                at += 1;
            }
        }
        Ok(claims.len() - 1)
    }

    /// Facts that follow from the numbers stated before or beside them.
    fn implied(&mut self, facts: &Facts) -> Result<Vec<ConstId>, Drop> {
        let is_number = |value: &Value| matches!(value, Value::Number(_));
        let numbers: Vec<Claim> = facts
            .iter()
            .filter(|(_, value)| is_number(value))
            .map(|(id, value)| Claim::Fact(id, value.clone()))
            .collect();
        let mut implied = Vec::new();
        if numbers.is_empty() {
            return Ok(implied);
        }
        for (id, value) in facts.iter().filter(|(_, value)| !is_number(value)) {
            let others = self.docket.terms.values_of(self.docket.terms.constant(id).sort);
            let mut open = false;
            for other in others.unwrap_or_default() {
                if other != *value && !open {
                    let mut claims = numbers.clone();
                    claims.push(Claim::Fact(id, other));
                    open = self.ask(&claims)?;
                }
            }
            if !open {
                implied.push(id);
            }
        }
        Ok(implied)
    }

    /// Numbers that clauses over numbers alone and the path's regions allow. Where they satisfy the
    /// whole claim they are what the claim itself would have chosen: what the weaker question
    /// refuses, the stronger one refuses too.
    fn numbers_alone(&mut self, path: &Path) -> Result<Option<Vec<Number>>, Drop> {
        let key = (path.signs.clone(), path.numbers.clone(), self.position);
        if let Some(known) = self.chosen.get(&key) {
            return Ok(known.clone());
        }
        let chosen =
            self.choose(path, &path.signs.clone(), |worker, claims| worker.ask_numbers(claims))?;
        self.chosen.insert(key, chosen.clone());
        Ok(chosen)
    }

    fn numbers_with(&mut self, path: &Path, value: usize) -> Result<Option<Vec<Number>>, Drop> {
        let mut claims = path.claims();
        claims.push(Claim::Verdict(value));
        self.choose(path, &claims, |worker, claims| worker.ask(claims))
    }

    fn twin_numbers(&mut self, path: &Path) -> Result<Option<Vec<Number>>, Drop> {
        let claims = path.claims();
        if self.twin.is_none() {
            self.twin = Some(Twin::new(self.docket).map_err(|_| Drop::Unknown)?);
        }
        let numbers = path.numbers.clone();
        self.choose(path, &claims, |worker, claims| match &worker.twin {
            Some(twin) => twin.differs(worker.docket, claims, &numbers),
            None => Err(Drop::Unknown),
        })
    }

    /// The numbers of a path, one after the other, each the first candidate that leaves the
    /// question satisfiable.
    fn choose(
        &mut self,
        path: &Path,
        claims: &[Claim],
        ask: impl Fn(&mut Self, &[Claim]) -> Result<bool, Drop>,
    ) -> Result<Option<Vec<Number>>, Drop> {
        let mut claims = claims.to_vec();
        if !ask(self, &claims)? {
            return Ok(None);
        }
        let mut chosen = Vec::with_capacity(path.numbers.len());
        for id in &path.numbers {
            let habits = self.docket.habits(*id);
            let interval = path.intervals.get(id).cloned().unwrap_or_default();
            let mut found = None;
            for number in candidates(&habits, &interval, self.position) {
                claims.push(Claim::Fact(*id, Value::Number(number.clone())));
                if ask(self, &claims)? {
                    found = Some(number);
                    break;
                }
                claims.pop();
            }
            if found.is_none() {
                let least = smallest(&habits.step, &interval, |bound| {
                    let mut more = claims.clone();
                    more.push(Claim::Bounded(*id, bound.clone(), true));
                    ask(self, &more)
                })?;
                let Some(number) = least else { return Ok(None) };
                claims.push(Claim::Fact(*id, Value::Number(number.clone())));
                // A Real off the vocabulary's grid: the path is dropped.
                if !ask(self, &claims)? {
                    return Ok(None);
                }
                found = Some(number);
            }
            chosen.extend(found);
        }
        Ok(Some(chosen))
    }

    /// Adds a scenario for every possible value and evaluates it twice.
    ///
    /// # Errors
    /// [`Bug`] where a witness fails its own evaluation.
    pub fn witness(&mut self, mut claim: Certified) -> Outcome {
        let plausible = matches!(claim.kind, Kind::Nei(_));
        let mut possible = Vec::with_capacity(claim.possible.len());
        for (value, _) in &claim.possible {
            match self.scenario(&claim.facts, *value, plausible) {
                Ok(Some(scenario)) => {
                    self.evaluate(&scenario, &claim.facts, *value)?;
                    possible.push((*value, scenario));
                }
                Ok(None) => {}
                Err(drop) => return Ok(Err(drop)),
            }
        }
        if possible.len() < if plausible { 2 } else { 1 } {
            return Ok(Err(Drop::Implausible));
        }
        claim.possible = possible;
        if claim.kind == Kind::Nei(Nei::Hole) && self.docket.silent {
            match self.definite_ends(&claim) {
                Ok(ends) if ends >= 2 => {}
                Ok(_) => return Ok(Err(Drop::NoClaim)),
                Err(drop) => return Ok(Err(drop)),
            }
        }
        Ok(Ok(claim))
    }

    /// How many of the possible values' scenarios the policy decides.
    fn definite_ends(&mut self, claim: &Certified) -> Result<usize, Drop> {
        let mut ends = 0;
        for (value, scenario) in &claim.possible {
            let asked = scenario.iter().filter(|(id, _)| self.docket.askable.contains(id));
            let mut claims = claims_of(&Facts::new(asked.cloned()));
            claims.push(Claim::NotVerdict(*value));
            ends += usize::from(!self.ask(&claims)?);
        }
        Ok(ends)
    }

    /// The first scenario in candidate order with these facts and this verdict; within plausible
    /// bounds if there is one, and only then if `plausible`.
    ///
    /// # Errors
    /// The solver did not answer.
    pub fn scenario(
        &mut self,
        facts: &Facts,
        value: usize,
        plausible: bool,
    ) -> Result<Option<Scenario>, Drop> {
        let docket = self.docket;
        let mut claims = claims_of(facts);
        claims.push(Claim::Verdict(value));
        let mut bounds = Vec::new();
        for (id, habits) in &docket.customs.habits {
            if let (Some((low, high)), true) = (&habits.bounds, docket.askable.contains(id)) {
                bounds.push(Claim::Bounded(*id, low.clone(), false));
                bounds.push(Claim::Bounded(*id, high.clone(), true));
            }
        }
        let mut bounded = claims.clone();
        bounded.extend(bounds);
        if self.ask(&bounded)? {
            claims = bounded;
        } else if plausible {
            return Ok(None);
        }
        let mut scenario: Scenario = facts.iter().map(|(id, value)| (id, value.clone())).collect();
        let open: Vec<ConstId> = docket.askable.iter().chain(&docket.hidden).copied().collect();
        let mut model = self.model(&open);
        for id in &open {
            let id = *id;
            if facts.get(id).is_some() {
                continue;
            }
            let value = self.first_value(id, &mut claims, &open, &mut model)?;
            let Some(value) = value else { return Ok(None) };
            claims.push(Claim::Fact(id, value.clone()));
            scenario.push((id, value));
        }
        Ok(Some(self.complete(scenario)))
    }

    /// What the model of the last check says of some constants, if that check was sat.
    fn model(&mut self, open: &[ConstId]) -> FxHashMap<ConstId, Value> {
        open.iter().filter_map(|id| Some((*id, self.slice.model_value(*id)?))).collect()
    }

    /// The first candidate for a constant that the claims allow. A model of the claims that has the
    /// candidate answers yes without another check, so models save work and decide nothing.
    fn first_value(
        &mut self,
        id: ConstId,
        claims: &mut Vec<Claim>,
        open: &[ConstId],
        model: &mut FxHashMap<ConstId, Value>,
    ) -> Result<Option<Value>, Drop> {
        let sort = self.docket.terms.constant(id).sort;
        let presumed = self.docket.customs.presumed.iter().find(|(known, _)| *known == id);
        let mut order: Vec<Value> = presumed.map(|(_, value)| value.clone()).into_iter().collect();
        if sort.is_numeric() {
            let all = candidates(&self.docket.habits(id), &Interval::default(), Position::One);
            order.extend(all.into_iter().map(Value::Number));
        } else {
            order.extend(self.docket.terms.values_of(sort).unwrap_or_default());
        }
        for value in order {
            if model.get(&id) == Some(&value) {
                return Ok(Some(value));
            }
            claims.push(Claim::Fact(id, value.clone()));
            let yes = self.ask(claims)?;
            claims.pop();
            if yes {
                *model = self.model(open);
                return Ok(Some(value));
            }
        }
        if !sort.is_numeric() {
            return Ok(None);
        }
        let step = self.docket.habits(id).step;
        let least = smallest(&step, &Interval::default(), |bound| {
            claims.push(Claim::Bounded(id, bound.clone(), true));
            let yes = self.ask(claims);
            claims.pop();
            yes
        })?;
        model.clear();
        Ok(least.filter(|number| sort != Sort::Int || number.is_integer()).map(Value::Number))
    }

    /// Adds what definitions compute and, for parts the slice left out, what the base scenario
    /// says.
    fn complete(&self, scenario: Scenario) -> Scenario {
        let docket = self.docket;
        let mut evaluation = Evaluation::new(&docket.terms, scenario);
        let mut left: Vec<ConstId> = docket.terms.constants().map(|(id, _)| id).collect();
        let computed: BTreeMap<ConstId, crate::term::TermId> =
            docket.computed.iter().copied().collect();
        for (id, value) in &docket.base {
            if evaluation.constant(*id).is_none() && !computed.contains_key(id) {
                evaluation.define(*id, value.clone());
            }
        }
        for (id, body) in &docket.computed {
            if evaluation.constant(*id).is_none()
                && let Some(value) = evaluation.value(*body)
            {
                evaluation.define(*id, value);
            }
        }
        left.retain(|id| evaluation.constant(*id).is_some());
        left.into_iter().filter_map(|id| Some((id, evaluation.constant(id)?.clone()))).collect()
    }

    fn evaluate(&mut self, scenario: &Scenario, facts: &Facts, value: usize) -> Result<(), Bug> {
        let docket = self.docket;
        let mut evaluation = Evaluation::new(&docket.terms, scenario.iter().cloned());
        for clause in &docket.whole {
            if !evaluation.holds(*clause) {
                return Err(Bug(format!("clause {} of the policy is not true", clause.index())));
            }
        }
        let verdict = docket.verdict_is.get(value).copied();
        if !verdict.is_some_and(|term| evaluation.holds(term)) {
            return Err(Bug("the verdict is another".to_owned()));
        }
        if !facts.iter().all(|(id, stated)| evaluation.constant(id) == Some(stated)) {
            return Err(Bug("a stated fact is another".to_owned()));
        }
        let mut asserts = docket.whole.clone();
        asserts.extend(verdict);
        if !self.slice.evaluates(scenario, &asserts) {
            return Err(Bug("Z3's evaluator disagrees with ours".to_owned()));
        }
        Ok(())
    }
}

/// The facts as claims.
#[must_use]
pub fn claims_of(facts: &Facts) -> Vec<Claim> {
    facts.iter().map(|(id, value)| Claim::Fact(id, value.clone())).collect()
}

/// A candidate read for certifying: facts that are no numbers, numbers to choose, signs of regions.
struct Path {
    order: Vec<ConstId>,
    stated: Vec<(ConstId, Value)>,
    numbers: Vec<ConstId>,
    signs: Vec<Claim>,
    intervals: BTreeMap<ConstId, Interval>,
}

impl Path {
    fn read(docket: &Docket, candidate: &Candidate) -> Self {
        let mut stated = Vec::new();
        let mut signs = Vec::new();
        let mut decided = Vec::new();
        for (level, value) in candidate.steps.iter().flat_map(|step| &step.decided) {
            match docket.levels.get(usize::from(*level)) {
                Some(Level::Constant(id)) => {
                    let value = match docket.terms.constant(*id).sort {
                        Sort::Enum(sort) => Value::Enum(sort, u32::from(*value)),
                        _ => Value::Bool(*value == 1),
                    };
                    stated.push((*id, value));
                }
                Some(Level::Constraint(constraint)) => {
                    signs.push(Claim::Sign(*level, *value));
                    decided.push((constraint, *value == 1));
                }
                None => {}
            }
        }
        signs.sort_by_key(|claim| match claim {
            Claim::Sign(level, _) => *level,
            _ => 0,
        });
        let order = candidate.variables();
        let numbers: Vec<ConstId> = order
            .iter()
            .copied()
            .filter(|id| docket.terms.constant(*id).sort.is_numeric())
            .collect();
        let habits = numbers.iter().map(|id| (*id, docket.habits(*id))).collect();
        let intervals = intervals(decided, &habits);
        Self { order, stated, numbers, signs, intervals }
    }

    /// What it says before numbers are chosen.
    fn claims(&self) -> Vec<Claim> {
        let stated = self.stated.iter().map(|(id, value)| Claim::Fact(*id, value.clone()));
        self.signs.iter().cloned().chain(stated).collect()
    }

    /// The facts in path order.
    fn facts(&self, docket: &Docket, numbers: &[Number]) -> Facts {
        let fact = |id: ConstId| {
            if docket.terms.constant(id).sort.is_numeric() {
                let at = self.numbers.iter().position(|number| *number == id)?;
                return Some((id, Value::Number(numbers.get(at)?.clone())));
            }
            let (_, value) = self.stated.iter().find(|(stated, _)| *stated == id)?;
            Some((id, value.clone()))
        };
        Facts::new(self.order.iter().filter_map(|id| fact(*id)))
    }
}
