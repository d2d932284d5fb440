//! Which sign patterns of constraints some numbers have, with the policy's clauses over numbers.
//!
//! Answers come from known points first (a point found once shows any pattern it fits to be
//! feasible), then from Z3. An infeasible pattern is shrunk to a minimal one: a lemma. Points and
//! lemmas are evidence for yes/no answers only; which ones are known never changes a result.

#![expect(clippy::indexing_slicing, reason = "levels index the space, words the masks made for it")]

use rustc_hash::FxHashMap;

use crate::diagram::Path;
use crate::linear::Constraint;
use crate::solver::{Answer, Limits, Lit, Session, Why};
use crate::space::{Space, SpaceFault, Together};
use crate::term::{ConstId, Number, Sort, TermId, Terms, Value};

mod bits;
mod connect;
mod spread;

pub use bits::{Bits, Layout};
pub use spread::Spread;

use connect::connect;
use spread::Freedom;

/// A pattern's verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Feasible {
    /// Some numbers have it: the values that these give every level the theory judges, as bits.
    Yes(Vec<u64>),
    /// None have it; already these signs together are impossible, and no fewer of them.
    No(Path),
}

/// A pattern of one component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// This point has it.
    Point(usize),
    /// None has; already these signs together are impossible, and no fewer of them.
    No(Path),
}

/// The solver did not settle a question within its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the solver's limit was reached while the tree was grown")]
pub struct Unsettled(pub Why);

/// The judge of sign patterns.
pub struct Theory<'s> {
    terms: &'s Terms,
    layout: Layout,
    limits: Limits,
    components: Vec<Component<'s>>,
    /// The component of each level that the theory judges.
    home: Vec<Option<usize>>,
}

/// Levels whose numbers and background hang together; components are independent of each other.
pub struct Component<'s> {
    /// Its levels, ascending: constraints, and facts that its background mentions.
    pub levels: Vec<u16>,
    /// Whether the background ties facts into it.
    pub tied: bool,
    background: Vec<TermId>,
    members: Vec<(u16, Member)>,
    numbers: Vec<ConstId>,
    /// All its other constants that are no facts.
    others: Vec<ConstId>,
    /// Started when first asked.
    session: Option<Session<'s>>,
    literals: FxHashMap<(u16, u8), Lit>,
    /// The values that numbers found so far give its levels.
    points: Vec<Vec<u64>>,
    freedom: Freedom,
    /// For each point the values of all constants that are no facts.
    models: Vec<Vec<(ConstId, Value)>>,
    /// Patterns asked before, with the point that has them.
    known: FxHashMap<Bits, usize>,
}

#[derive(Clone)]
enum Member {
    Constraint(Constraint, TermId),
    Fact(ConstId),
}

impl<'s> Theory<'s> {
    /// A judge for the constraints of a space, asked with these limits.
    #[must_use]
    pub fn new(terms: &'s Terms, space: &Space, layout: Layout, limits: Limits) -> Self {
        let components = connect(space);
        let mut home = vec![None; space.levels.len()];
        for (at, component) in components.iter().enumerate() {
            for level in &component.levels {
                home[*level as usize] = Some(at);
            }
        }
        Self { terms, layout, limits, components, home }
    }

    /// The components, in the order of their first levels.
    #[must_use]
    pub fn components(&self) -> &[Component<'s>] {
        &self.components
    }

    /// The component of a level, if the theory judges it.
    #[must_use]
    pub fn home(&self, level: u16) -> Option<usize> {
        self.home.get(level as usize).copied().flatten()
    }

    /// The terms of background and constraints.
    #[must_use]
    pub fn terms(&self) -> &'s Terms {
        self.terms
    }

    /// Where each level's bits are.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Whether some numbers give these levels of one component these values.
    ///
    /// # Errors
    /// The solver reached its limit.
    pub fn ask(&mut self, component: usize, pattern: &Path) -> Result<Asked, Unsettled> {
        let component = &mut self.components[component];
        component.feasible(pattern, self.terms, &self.layout, &self.limits)
    }

    /// Whether some numbers give these levels these values; levels that the theory does not judge
    /// are passed over.
    ///
    /// # Errors
    /// The solver reached its limit.
    pub fn feasible(&mut self, pattern: &Path) -> Result<Feasible, Unsettled> {
        let mut all = vec![0_u64; self.layout.words()];
        for (at, component) in self.components.iter_mut().enumerate() {
            let own: Path = pattern
                .iter()
                .copied()
                .filter(|(level, _)| self.home[*level as usize] == Some(at))
                .collect();
            match component.feasible(&own, self.terms, &self.layout, &self.limits)? {
                Asked::Point(point) => {
                    for (word, bits) in all.iter_mut().zip(&component.points[point]) {
                        *word |= bits;
                    }
                }
                Asked::No(core) => return Ok(Feasible::No(core)),
            }
        }
        Ok(Feasible::Yes(all))
    }
}

impl<'s> Component<'s> {
    /// The values that numbers found so far give its levels, as bits.
    #[must_use]
    pub fn points(&self) -> &[Vec<u64>] {
        &self.points
    }

    /// The values of all its constants that are no facts, at a point.
    #[must_use]
    pub fn model(&self, point: usize) -> &[(ConstId, Value)] {
        &self.models[point]
    }

    /// The facts that go with the numbers of a point.
    ///
    /// # Errors
    /// A diagram for them does not fit.
    pub fn together(&self, terms: &Terms, point: usize) -> Result<Together, SpaceFault> {
        let numeric = |id: ConstId| terms.constant(id).sort.is_numeric();
        let given = self.model(point).iter().filter(|(id, _)| numeric(*id)).cloned().collect();
        let hidden: Vec<ConstId> = self.others.iter().copied().filter(|id| !numeric(*id)).collect();
        Together::new(terms, &self.background, &self.facts(), &hidden, given)
    }

    /// Its constraints' levels.
    pub fn compared(&self) -> impl Iterator<Item = u16> + '_ {
        let members = self.members.iter();
        members.filter(|(_, m)| matches!(m, Member::Constraint(..))).map(|(level, _)| *level)
    }

    /// Its facts with their levels.
    #[must_use]
    pub fn facts(&self) -> Vec<(ConstId, u16)> {
        let members = self.members.iter();
        members
            .filter_map(|(level, member)| match member {
                Member::Fact(id) => Some((*id, *level)),
                Member::Constraint(..) => None,
            })
            .collect()
    }

    /// A point that has the pattern, or the minimal part of it that no numbers have.
    fn feasible(
        &mut self,
        signs: &Path,
        terms: &'s Terms,
        layout: &Layout,
        limits: &Limits,
    ) -> Result<Asked, Unsettled> {
        let mut bits = layout.empty();
        for (level, value) in signs {
            layout.set(&mut bits, *level, *value);
        }
        if let Some(at) = self.known.get(&bits) {
            return Ok(Asked::Point(*at));
        }
        let found = self.points.iter().rposition(|point| bits.fits(point));
        let at = match found {
            Some(at) => at,
            None => match self.ask(signs, terms, limits)? {
                None => self.remember(layout)?,
                Some(core) => return self.shrink(core, terms, limits).map(Asked::No),
            },
        };
        self.known.insert(bits, at);
        Ok(Asked::Point(at))
    }

    /// None if feasible, else some of the signs that already are not.
    fn ask(
        &mut self,
        signs: &Path,
        terms: &'s Terms,
        limits: &Limits,
    ) -> Result<Option<Path>, Unsettled> {
        let literals: Vec<Lit> = signs
            .iter()
            .map(|(level, value)| self.literal(*level, *value, terms, limits))
            .collect();
        match self.session(terms, limits).check(&literals) {
            Answer::Sat => Ok(None),
            Answer::Unsat(core) => {
                let kept = signs.iter().zip(&literals).filter(|(_, lit)| core.contains(lit));
                Ok(Some(kept.map(|(sign, _)| *sign).collect()))
            }
            Answer::Unknown(why) => Err(Unsettled(why)),
        }
    }

    fn session(&mut self, terms: &'s Terms, limits: &Limits) -> &mut Session<'s> {
        let background = &self.background;
        self.session.get_or_insert_with(|| Session::new(terms, background, limits.clone()))
    }

    fn literal(&mut self, level: u16, value: u8, terms: &'s Terms, limits: &Limits) -> Lit {
        if let Some(lit) = self.literals.get(&(level, value)) {
            return *lit;
        }
        let member = self.members.iter().find(|(at, _)| *at == level).map(|(_, member)| member);
        let member = member.cloned();
        let session = self.session(terms, limits);
        let lit = match member {
            Some(Member::Constraint(_, term)) => session.term(term, value == 1),
            Some(Member::Fact(id)) => {
                let value = match terms.constant(id).sort {
                    Sort::Enum(sort) => Value::Enum(sort, u32::from(value)),
                    _ => Value::Bool(value == 1),
                };
                session.fact(id, &value)
            }
            None => session.any(&[]),
        };
        self.literals.insert((level, value), lit);
        lit
    }

    fn remember(&mut self, layout: &Layout) -> Result<usize, Unsettled> {
        let Some(session) = &mut self.session else {
            return Err(Unsettled(Why::Incomplete));
        };
        let mut numbers: FxHashMap<ConstId, Number> = FxHashMap::default();
        for id in &self.numbers {
            match session.model_value(*id) {
                Some(Value::Number(number)) => numbers.insert(*id, number),
                _ => return Err(Unsettled(Why::Incomplete)),
            };
        }
        let mut bits = layout.empty();
        for (level, member) in &self.members {
            let value = match member {
                Member::Constraint(constraint, _) => {
                    let holds = constraint.holds(|id| numbers.get(&id).cloned());
                    u8::from(holds == Some(true))
                }
                Member::Fact(id) => match session.model_value(*id) {
                    Some(Value::Bool(truth)) => u8::from(truth),
                    Some(Value::Enum(_, at)) => u8::try_from(at).unwrap_or(u8::MAX),
                    _ => return Err(Unsettled(Why::Incomplete)),
                },
            };
            layout.set(&mut bits, *level, value);
        }
        let mut model = Vec::with_capacity(self.numbers.len() + self.others.len());
        for id in &self.others {
            model.push((*id, session.model_value(*id).ok_or(Unsettled(Why::Incomplete))?));
        }
        model.extend(numbers.into_iter().map(|(id, number)| (id, Value::Number(number))));
        self.models.push(model);
        self.points.push(bits.value().to_vec());
        Ok(self.points.len() - 1)
    }

    /// Leaves out what is not needed, one sign after the other.
    fn shrink(
        &mut self,
        mut core: Path,
        terms: &'s Terms,
        limits: &Limits,
    ) -> Result<Path, Unsettled> {
        let mut at = 0;
        while at < core.len() {
            let mut fewer = core.clone();
            fewer.remove(at);
            match self.ask(&fewer, terms, limits)? {
                Some(smaller) => core = smaller,
                None => at += 1,
            }
        }
        Ok(core)
    }
}
