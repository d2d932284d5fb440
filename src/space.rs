//! A slice as a space of scenarios: which facts and constraints there are, which class each scenario
//! is in, and which clauses only say which numbers exist.
//!
//! Definitions are inlined, if-then-else is lifted out of arithmetic, and every linear comparison
//! becomes a two-valued level of the diagram. Clauses over numbers alone stay outside as the
//! *background* that decides which sign patterns are feasible. Derived conditions are inlined;
//! whatever else is hidden is removed existentially before classes are formed.

#![expect(clippy::indexing_slicing, reason = "levels and terms index the space that made them")]

use num_traits::{One, Signed};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::diagram::{ALWAYS, Diagram, EMPTY, Full, NodeId};
use crate::linear::{Comparison, Constraint, Linear, compare};
use crate::policy::Inquiry;
use crate::slice::{Slice, definitions};
use crate::term::{ConstId, Number, Sort, SortFault, Term, TermId, Terms, Value};

mod factors;

use factors::Factors;

/// What a level of the diagram stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Level {
    /// A Bool or enumeration constant; its values in declaration order.
    Constant(ConstId),
    /// A linear constraint: value 1 where it holds.
    Constraint(Constraint),
}

/// Why there is no class function.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpaceFault {
    /// The diagram does not fit.
    #[error("{0}")]
    Full(#[from] Full),
    /// A term that the front end should have refused.
    #[error("{0}")]
    Sort(#[from] SortFault),
    /// A hidden number is compared with others in a way that cannot be removed exactly.
    #[error("the hidden number `{0}` cannot be removed exactly")]
    HiddenNumber(String),
    /// More verdict values, constraints or alternatives of one number than the diagram has room for.
    #[error("too many {0} for the diagram")]
    TooMany(&'static str),
}

/// The space of one determination.
pub struct Space {
    /// The policy's terms, and the constraints' own.
    pub terms: Terms,
    /// What each level stands for.
    pub levels: Vec<Level>,
    /// The term of each level that is a constraint.
    pub constraint_terms: Vec<Option<TermId>>,
    /// Askable Bool and enumeration facts, with their level, in declaration order.
    pub facts: Vec<(ConstId, u16)>,
    /// Levels of constraints over askable numbers, in the constraints' own order.
    pub constraints: Vec<u16>,
    /// Levels that classes do not depend on any more: hidden constants and their comparisons.
    pub hidden: Vec<u16>,
    /// Clauses over numbers alone.
    pub background: Vec<TermId>,
    /// Numbers replaced by others through an equation of the policy, in order of replacement.
    pub linked: Vec<(ConstId, Linear)>,
    /// Values of the verdict in declaration order; class `1 + i` is "only value i".
    pub values: Vec<Value>,
    /// The manager.
    pub diagram: Diagram,
    /// For each verdict value where it is possible, hidden levels not yet removed.
    parts: Vec<NodeId>,
    /// Conditions that hold in every scenario.
    rules: Vec<NodeId>,
}

impl Space {
    /// The class "two or more verdicts possible": the policy is silent.
    #[must_use]
    pub fn silent(&self) -> u8 {
        u8::try_from(self.values.len() + 1).unwrap_or(u8::MAX)
    }

    /// The askable numbers that occur in constraints, in declaration order.
    #[must_use]
    pub fn numbers(&self) -> Vec<ConstId> {
        let mut numbers: Vec<ConstId> = Vec::new();
        for level in &self.constraints {
            if let Level::Constraint(constraint) = &self.levels[*level as usize] {
                numbers.extend(constraint.constants());
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The constraint of a level.
    #[must_use]
    pub fn constraint(&self, level: u16) -> Option<&Constraint> {
        match self.levels.get(level as usize)? {
            Level::Constraint(constraint) => Some(constraint),
            Level::Constant(_) => None,
        }
    }

    /// Builds the space of a slice. The diagram may take `mebibytes`.
    ///
    /// # Errors
    /// [`SpaceFault`]: the caller falls back to asking the solver.
    pub fn build(inquiry: &Inquiry, slice: &Slice, mebibytes: usize) -> Result<Self, SpaceFault> {
        let mut builder = Builder::new(inquiry, slice);
        builder.read_definitions();
        builder.link_numbers()?;
        builder.expand_clauses()?;
        builder.find_levels()?;
        builder.compile(mebibytes)
    }

    /// The class function, hidden levels removed, where only the sign patterns that satisfy
    /// `feasible` count. To be asked once: it leaves the diagram with this function alone, in a good
    /// order for it.
    ///
    /// # Errors
    /// The diagram does not fit.
    pub fn classes(&mut self, feasible: NodeId) -> Result<NodeId, Full> {
        let parts = std::mem::take(&mut self.parts);
        let count = parts.len();
        let own: FxHashSet<u16> =
            parts.iter().flat_map(|part| self.diagram.support(*part)).collect();
        let (inner, outer): (Vec<u16>, Vec<u16>) =
            self.hidden.iter().partition(|level| own.contains(level));
        let silent = self.silent();
        self.diagram.pause_early();
        let mut factors = Factors {
            diagram: &mut self.diagram,
            factors: std::mem::take(&mut self.rules),
            kept: parts,
        };
        factors.factors.push(feasible);
        // What no verdict looks at is removed once for all of them.
        factors.eliminate(&outer)?;
        let common = count + factors.factors.len();
        factors.kept.append(&mut factors.factors);
        for at in 0..count {
            factors.factors = factors.kept[count..common].to_vec();
            factors.factors.push(factors.kept[at]);
            factors.eliminate(&inner)?;
            let possible = factors.conjoin()?;
            factors.kept.push(possible);
        }
        factors.factors.clear();
        factors.kept.drain(..common);
        let mut root = factors.attempt(|diagram, _, possible| decide(diagram, possible, silent))?;
        self.diagram.reorder(&mut [&mut root]);
        self.diagram.pause_late();
        Ok(root)
    }
}

/// From where each verdict is possible to where it is the only one.
fn decide(diagram: &mut Diagram, possible: &[NodeId], silent: u8) -> Result<NodeId, Full> {
    let mut root = EMPTY;
    let mut several = EMPTY;
    let mut some = EMPTY;
    for node in possible {
        let again = diagram.and(some, *node)?;
        several = diagram.or(several, again)?;
        some = diagram.or(some, *node)?;
    }
    let single = diagram.not(several)?;
    for (class, node) in (1_u8..).zip(possible) {
        let only = diagram.and(*node, single)?;
        let part = diagram.guard(only, Diagram::terminal(class))?;
        root = diagram.join(root, part)?;
    }
    let part = diagram.guard(several, Diagram::terminal(silent))?;
    diagram.join(root, part)
}

/// A number as alternatives: under a condition, this form. Conditions exclude each other.
type Alternatives = Vec<(NodeId, Linear)>;

const MOST_ALTERNATIVES: usize = 4096;

struct Builder<'a> {
    inquiry: &'a Inquiry,
    slice: &'a Slice,
    terms: Terms,
    askable: FxHashSet<ConstId>,
    definitions: FxHashMap<ConstId, TermId>,
    defining: FxHashSet<usize>,
    linked: Vec<(ConstId, Linear)>,
    expanded: FxHashMap<TermId, TermId>,
    rules: Vec<TermId>,
    background: Vec<TermId>,
    verdict: TermId,
    levels: Vec<Level>,
    level_of: FxHashMap<ConstId, u16>,
    level_of_constraint: FxHashMap<Constraint, u16>,
    forms: FxHashMap<TermId, Vec<Linear>>,
}

impl<'a> Builder<'a> {
    fn new(inquiry: &'a Inquiry, slice: &'a Slice) -> Self {
        Self {
            inquiry,
            slice,
            terms: inquiry.policy.terms.clone(),
            askable: inquiry.askable.iter().copied().collect(),
            definitions: FxHashMap::default(),
            defining: FxHashSet::default(),
            linked: Vec::new(),
            expanded: FxHashMap::default(),
            rules: Vec::new(),
            background: Vec::new(),
            verdict: inquiry.verdict.term,
            levels: Vec::new(),
            level_of: FxHashMap::default(),
            level_of_constraint: FxHashMap::default(),
            forms: FxHashMap::default(),
        }
    }

    /// Takes the first acyclic definition of every hidden constant.
    fn read_definitions(&mut self) {
        for at in &self.slice.kept {
            let term = self.inquiry.policy.clauses[*at].term;
            for (id, body) in definitions(&self.terms, term) {
                if self.askable.contains(&id) || self.definitions.contains_key(&id) {
                    continue;
                }
                let body = match body {
                    Some(body) => body,
                    None => self.terms.bool(matches!(self.terms.get(term), Term::Const(_))),
                };
                if self.reaches(body, id) {
                    continue;
                }
                self.definitions.insert(id, body);
                self.defining.insert(*at);
                break;
            }
        }
    }

    fn reaches(&self, body: TermId, id: ConstId) -> bool {
        let mut seen = FxHashSet::default();
        let mut stack = self.terms.constants_in(body);
        while let Some(other) = stack.pop() {
            if other == id {
                return true;
            }
            if seen.insert(other)
                && let Some(body) = self.definitions.get(&other)
            {
                stack.extend(self.terms.constants_in(*body));
            }
        }
        false
    }

    /// Numbers tied by an equation of the policy: the later declared one is written by the others.
    fn link_numbers(&mut self) -> Result<(), SpaceFault> {
        for at in &self.slice.kept {
            if self.defining.contains(at) {
                continue;
            }
            let term = self.expand(self.inquiry.policy.clauses[*at].term)?;
            let Term::Eq(a, b) = *self.terms.get(term) else {
                continue;
            };
            if !self.terms.sort(a).is_numeric() {
                continue;
            }
            let (Some(left), Some(right)) = (self.plain(a), self.plain(b)) else {
                continue;
            };
            let mut form = left.plus(&-Number::one(), &right);
            for (id, by) in &self.linked {
                form = form.substitute(*id, by);
            }
            // A whole number may be replaced only where no divisibility is lost.
            let terms = &self.terms;
            let all_whole = form
                .constants()
                .all(|id| terms.constant(id).sort == Sort::Int && form.factor(id).is_integer());
            let solvable = form.constants().rev().find(|id| match terms.constant(*id).sort {
                Sort::Real => true,
                _ => all_whole && form.offset().is_integer() && form.factor(*id).abs().is_one(),
            });
            let Some(id) = solvable else { continue };
            let factor = form.factor(id);
            let rest = form.plus(&-factor.clone(), &Linear::constant(id));
            let by = rest.scaled(&-factor.recip());
            for (_, other) in &mut self.linked {
                *other = other.substitute(id, &by);
            }
            self.linked.push((id, by));
        }
        Ok(())
    }

    /// A numeric term without alternatives as a form.
    fn plain(&mut self, term: TermId) -> Option<Linear> {
        match self.forms_of(term).ok()?.as_slice() {
            [only] if !self.mentions_choice(term) => Some(only.clone()),
            _ => None,
        }
    }

    fn mentions_choice(&self, term: TermId) -> bool {
        let mut stack = vec![term];
        while let Some(next) = stack.pop() {
            if matches!(self.terms.get(next), Term::Ite(..)) {
                return true;
            }
            stack.extend(self.terms.args(next));
        }
        false
    }

    /// Definitions inlined, everywhere.
    fn expand(&mut self, root: TermId) -> Result<TermId, SortFault> {
        let mut stack = vec![(root, false)];
        while let Some((term, ready)) = stack.pop() {
            if self.expanded.contains_key(&term) {
                continue;
            }
            let below = match self.terms.get(term) {
                Term::Const(id) => self.definitions.get(id).copied().into_iter().collect(),
                _ => self.terms.args(term),
            };
            if !ready {
                stack.push((term, true));
                stack.extend(below.iter().map(|arg| (*arg, false)));
                continue;
            }
            let args: Vec<TermId> = below.iter().map(|arg| self.expanded[arg]).collect();
            let built = match self.terms.get(term).clone() {
                Term::Const(_) => args.first().copied().unwrap_or(term),
                Term::Bool(_) | Term::Number(..) | Term::Ctor(..) => term,
                Term::Not(_) => self.terms.not(args[0])?,
                Term::And(_) => self.terms.and(&args)?,
                Term::Or(_) => self.terms.or(&args)?,
                Term::Ite(..) => self.terms.ite(args[0], args[1], args[2])?,
                Term::Eq(..) => self.terms.eq(args[0], args[1])?,
                Term::Le(..) => self.terms.le(args[0], args[1])?,
                Term::Lt(..) => self.terms.lt(args[0], args[1])?,
                Term::Sum(_) => self.terms.sum(&args)?,
                Term::Scale(factor, _) => self.terms.scale(&factor, args[0])?,
                Term::ToReal(_) => self.terms.to_real(args[0])?,
            };
            self.expanded.insert(term, built);
        }
        Ok(self.expanded[&root])
    }

    fn expand_clauses(&mut self) -> Result<(), SpaceFault> {
        for at in &self.slice.kept {
            if self.defining.contains(at) {
                continue;
            }
            let term = self.expand(self.inquiry.policy.clauses[*at].term)?;
            let constants = self.terms.constants_in(term);
            let numeric = |id: &ConstId| self.terms.constant(*id).sort.is_numeric();
            if !constants.is_empty() && constants.iter().all(numeric) {
                self.background.push(term);
            } else {
                self.rules.push(term);
            }
        }
        self.verdict = self.expand(self.verdict)?;
        Ok(())
    }

    /// The forms a numeric term may take, without their conditions; linked numbers replaced.
    fn forms_of(&mut self, term: TermId) -> Result<Vec<Linear>, SpaceFault> {
        if let Some(known) = self.forms.get(&term) {
            return Ok(known.clone());
        }
        let mut forms = match self.terms.get(term).clone() {
            Term::Number(number, _) => vec![Linear::literal(number)],
            Term::Const(id) => {
                let by = self.linked.iter().find(|(linked, _)| *linked == id);
                vec![by.map_or_else(|| Linear::constant(id), |(_, form)| form.clone())]
            }
            Term::Ite(_, then, otherwise) => {
                let mut forms = self.forms_of(then)?;
                forms.extend(self.forms_of(otherwise)?);
                forms
            }
            Term::Sum(args) => {
                let mut sums = vec![Linear::default()];
                for arg in args {
                    let forms = self.forms_of(arg)?;
                    if sums.len() * forms.len() > MOST_ALTERNATIVES {
                        return Err(SpaceFault::TooMany("alternatives of one number"));
                    }
                    sums = sums
                        .iter()
                        .flat_map(|sum| forms.iter().map(|form| sum.plus(&Number::one(), form)))
                        .collect();
                    sums.sort();
                    sums.dedup();
                }
                sums
            }
            Term::Scale(factor, arg) => {
                self.forms_of(arg)?.iter().map(|form| form.scaled(&factor)).collect()
            }
            Term::ToReal(arg) => self.forms_of(arg)?,
            _ => Vec::new(),
        };
        forms.sort();
        forms.dedup();
        self.forms.insert(term, forms.clone());
        Ok(forms)
    }

    /// Walks the verdict, then the rules, depth first: near in the text is near in the order, which
    /// keeps diagrams small.
    fn find_levels(&mut self) -> Result<(), SpaceFault> {
        self.forms.clear();
        let mut roots = vec![self.verdict];
        roots.extend(self.rules.iter().copied());
        let mut found: Vec<Level> = Vec::new();
        let mut seen = FxHashSet::default();
        for root in roots {
            let mut stack = vec![root];
            while let Some(term) = stack.pop() {
                if !seen.insert(term) {
                    continue;
                }
                let args = self.terms.args(term);
                match self.terms.get(term).clone() {
                    Term::Const(id) if !self.terms.constant(id).sort.is_numeric() => {
                        found.push(Level::Constant(id));
                    }
                    Term::Le(a, b) | Term::Lt(a, b) | Term::Eq(a, b)
                        if self.terms.sort(a).is_numeric() =>
                    {
                        found.extend(self.constraints_of(term, a, b)?);
                    }
                    _ => {}
                }
                stack.extend(args.into_iter().rev());
            }
        }
        self.place(found)
    }

    fn constraints_of(
        &mut self,
        term: TermId,
        a: TermId,
        b: TermId,
    ) -> Result<Vec<Level>, SpaceFault> {
        let (left, right) = (self.forms_of(a)?, self.forms_of(b)?);
        if left.len() * right.len() > MOST_ALTERNATIVES {
            return Err(SpaceFault::TooMany("alternatives of one number"));
        }
        let mut found = Vec::new();
        for x in &left {
            for y in &right {
                let form = x.plus(&-Number::one(), y);
                let strict = match self.terms.get(term) {
                    Term::Le(..) => vec![false],
                    Term::Lt(..) => vec![true],
                    _ => vec![false, true],
                };
                for strict in strict {
                    if let Comparison::Live(constraint, _) = compare(&self.terms, &form, strict) {
                        found.push(Level::Constraint(constraint));
                    }
                }
            }
        }
        Ok(found)
    }

    /// Gives levels out: constraints of one form together, in order of their bounds.
    fn place(&mut self, found: Vec<Level>) -> Result<(), SpaceFault> {
        let mut by_form: FxHashMap<Linear, Vec<Constraint>> = FxHashMap::default();
        for level in &found {
            if let Level::Constraint(constraint) = level {
                by_form.entry(constraint.form().clone()).or_default().push(constraint.clone());
            }
        }
        for level in found {
            match level {
                Level::Constant(id) => {
                    if !self.level_of.contains_key(&id) {
                        let at = self.next_level()?;
                        self.level_of.insert(id, at);
                        self.levels.push(Level::Constant(id));
                    }
                }
                Level::Constraint(constraint) => {
                    let mut family = by_form.remove(constraint.form()).unwrap_or_default();
                    family.sort();
                    family.dedup();
                    for constraint in family {
                        let at = self.next_level()?;
                        self.level_of_constraint.insert(constraint.clone(), at);
                        self.levels.push(Level::Constraint(constraint));
                    }
                }
            }
        }
        Ok(())
    }

    fn next_level(&self) -> Result<u16, SpaceFault> {
        match u16::try_from(self.levels.len()) {
            Ok(at) if at < 4096 => Ok(at),
            _ => Err(SpaceFault::TooMany("constraints and facts")),
        }
    }

    fn compile(mut self, mebibytes: usize) -> Result<Space, SpaceFault> {
        let values = self.inquiry.verdict.values.clone();
        if values.len() > 200 {
            return Err(SpaceFault::TooMany("verdict values"));
        }
        let mut arity = Vec::with_capacity(self.levels.len());
        for level in &self.levels {
            arity.push(match level {
                Level::Constraint(_) => 2,
                Level::Constant(id) => match self.terms.constant(*id).sort {
                    Sort::Enum(sort) => {
                        u8::try_from(self.terms.enumeration(sort).constructors.len())
                            .map_err(|_| SpaceFault::TooMany("values of one enumeration"))?
                    }
                    _ => 2,
                },
            });
        }
        let mut diagram = Diagram::new(arity, mebibytes);
        let mut compiler = Compiler {
            terms: &self.terms,
            linked: &self.linked,
            level_of: &self.level_of,
            level_of_constraint: &self.level_of_constraint,
            diagram: &mut diagram,
            conditions: FxHashMap::default(),
            choices: FxHashMap::default(),
            numbers: FxHashMap::default(),
        };
        let (parts, rules) = compiler.compile(self.verdict, &self.rules)?;
        let mut constraint_terms = vec![None; self.levels.len()];
        for (slot, level) in constraint_terms.iter_mut().zip(&self.levels) {
            if let Level::Constraint(constraint) = level {
                *slot = Some(constraint.term(&mut self.terms)?);
            }
        }
        let mut space = Space {
            terms: self.terms,
            levels: self.levels,
            constraint_terms,
            facts: Vec::new(),
            constraints: Vec::new(),
            hidden: Vec::new(),
            background: self.background,
            linked: self.linked,
            values,
            diagram,
            parts,
            rules,
        };
        space.sort_levels(&self.askable)?;
        Ok(space)
    }
}

impl Space {
    /// Tells askable levels from hidden ones.
    fn sort_levels(&mut self, askable: &FxHashSet<ConstId>) -> Result<(), SpaceFault> {
        for (at, level) in (0_u16..).zip(&self.levels) {
            match level {
                Level::Constant(id) if askable.contains(id) => self.facts.push((*id, at)),
                Level::Constant(_) => self.hidden.push(at),
                Level::Constraint(constraint) => {
                    let hidden: Vec<&ConstId> =
                        constraint.constants().iter().filter(|id| !askable.contains(id)).collect();
                    match hidden.first() {
                        None => self.constraints.push(at),
                        Some(id) if hidden.len() < constraint.constants().len() => {
                            let name = self.terms.constant(**id).name.clone();
                            return Err(SpaceFault::HiddenNumber(name));
                        }
                        Some(_) => self.hidden.push(at),
                    }
                }
            }
        }
        self.facts.sort_unstable();
        let levels = &self.levels;
        self.constraints.sort_by(|a, b| match (&levels[*a as usize], &levels[*b as usize]) {
            (Level::Constraint(x), Level::Constraint(y)) => x.cmp(y),
            _ => a.cmp(b),
        });
        Ok(())
    }
}

/// Terms to diagrams.
struct Compiler<'a> {
    terms: &'a Terms,
    linked: &'a [(ConstId, Linear)],
    level_of: &'a FxHashMap<ConstId, u16>,
    level_of_constraint: &'a FxHashMap<Constraint, u16>,
    diagram: &'a mut Diagram,
    conditions: FxHashMap<TermId, NodeId>,
    choices: FxHashMap<TermId, Vec<NodeId>>,
    numbers: FxHashMap<TermId, Alternatives>,
}

impl Compiler<'_> {
    /// Where each value of the verdict is chosen, and the rules.
    fn compile(
        &mut self,
        verdict: TermId,
        rules: &[TermId],
    ) -> Result<(Vec<NodeId>, Vec<NodeId>), SpaceFault> {
        self.diagram.pause_early();
        for term in rules.iter().chain([&verdict]) {
            while let Err(fault) = self.step(*term) {
                let SpaceFault::Full(Full) = fault else {
                    return Err(fault);
                };
                let mut kept: Vec<&mut NodeId> = self.conditions.values_mut().collect();
                kept.extend(self.choices.values_mut().flatten());
                kept.extend(self.numbers.values_mut().flatten().map(|(under, _)| under));
                self.diagram.relieve(&mut kept)?;
            }
        }
        self.diagram.pause_late();
        let parts = match self.conditions.get(&verdict) {
            Some(yes) => vec![self.diagram.not(*yes)?, *yes],
            None => self.choice(verdict)?,
        };
        Ok((parts, rules.iter().map(|rule| self.conditions[rule]).collect()))
    }

    /// Brings a term among the known ones.
    fn step(&mut self, term: TermId) -> Result<(), SpaceFault> {
        match self.terms.sort(term) {
            Sort::Bool => self.condition(term).map(drop),
            _ => self.choice(term).map(drop),
        }
    }

    fn condition(&mut self, term: TermId) -> Result<NodeId, SpaceFault> {
        if let Some(known) = self.conditions.get(&term) {
            return Ok(*known);
        }
        let node = match self.terms.get(term).clone() {
            Term::Bool(truth) => {
                if truth {
                    ALWAYS
                } else {
                    EMPTY
                }
            }
            Term::Const(id) => self.diagram.literal(self.level_of[&id], 1)?,
            Term::Not(arg) => {
                let arg = self.condition(arg)?;
                self.diagram.not(arg)?
            }
            Term::And(args) => {
                let mut all = ALWAYS;
                for arg in args.iter() {
                    let arg = self.condition(*arg)?;
                    all = self.diagram.and(all, arg)?;
                }
                all
            }
            Term::Or(args) => {
                let mut any = EMPTY;
                for arg in args.iter() {
                    let arg = self.condition(*arg)?;
                    any = self.diagram.or(any, arg)?;
                }
                any
            }
            Term::Ite(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let (then, otherwise) = (self.condition(then)?, self.condition(otherwise)?);
                self.choose(condition, then, otherwise)?
            }
            Term::Eq(a, b) => match self.terms.sort(a) {
                Sort::Bool => {
                    let (a, b) = (self.condition(a)?, self.condition(b)?);
                    let not_b = self.diagram.not(b)?;
                    self.choose(a, b, not_b)?
                }
                Sort::Enum(_) => {
                    let (a, b) = (self.choice(a)?, self.choice(b)?);
                    let mut any = EMPTY;
                    for (x, y) in a.iter().zip(&b) {
                        let both = self.diagram.and(*x, *y)?;
                        any = self.diagram.or(any, both)?;
                    }
                    any
                }
                Sort::Int | Sort::Real => {
                    let most = self.comparison(a, b, false)?;
                    let less = self.comparison(a, b, true)?;
                    let not_less = self.diagram.not(less)?;
                    self.diagram.and(most, not_less)?
                }
            },
            Term::Le(a, b) => self.comparison(a, b, false)?,
            Term::Lt(a, b) => self.comparison(a, b, true)?,
            _ => EMPTY,
        };
        self.conditions.insert(term, node);
        Ok(node)
    }

    fn choose(
        &mut self,
        condition: NodeId,
        then: NodeId,
        otherwise: NodeId,
    ) -> Result<NodeId, Full> {
        let yes = self.diagram.and(condition, then)?;
        let not = self.diagram.not(condition)?;
        let no = self.diagram.and(not, otherwise)?;
        self.diagram.or(yes, no)
    }

    fn choice(&mut self, term: TermId) -> Result<Vec<NodeId>, SpaceFault> {
        if let Some(known) = self.choices.get(&term) {
            return Ok(known.clone());
        }
        let count = match self.terms.sort(term) {
            Sort::Enum(id) => self.terms.enumeration(id).constructors.len(),
            _ => 0,
        };
        let mut nodes = Vec::with_capacity(count);
        match self.terms.get(term).clone() {
            Term::Ctor(_, at) => {
                nodes.extend((0..count).map(|i| if i == at as usize { ALWAYS } else { EMPTY }));
            }
            Term::Const(id) => {
                for value in (0_u8..).take(count) {
                    nodes.push(self.diagram.literal(self.level_of[&id], value)?);
                }
            }
            Term::Ite(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let (then, otherwise) = (self.choice(then)?, self.choice(otherwise)?);
                for (x, y) in then.iter().zip(&otherwise) {
                    nodes.push(self.choose(condition, *x, *y)?);
                }
            }
            _ => nodes.resize(count, EMPTY),
        }
        self.choices.insert(term, nodes.clone());
        Ok(nodes)
    }

    fn comparison(&mut self, a: TermId, b: TermId, strict: bool) -> Result<NodeId, SpaceFault> {
        let (left, right) = (self.number(a)?, self.number(b)?);
        let mut any = EMPTY;
        for (under, x) in &left {
            for (also, y) in &right {
                let under = self.diagram.and(*under, *also)?;
                if under == EMPTY {
                    continue;
                }
                let form = x.plus(&-Number::one(), y);
                let sign = match compare(self.terms, &form, strict) {
                    Comparison::Settled(truth) => {
                        if truth {
                            ALWAYS
                        } else {
                            EMPTY
                        }
                    }
                    Comparison::Live(constraint, positive) => {
                        let level = self.level_of_constraint[&constraint];
                        self.diagram.literal(level, u8::from(positive))?
                    }
                };
                let here = self.diagram.and(under, sign)?;
                any = self.diagram.or(any, here)?;
            }
        }
        Ok(any)
    }

    fn number(&mut self, term: TermId) -> Result<Alternatives, SpaceFault> {
        if let Some(known) = self.numbers.get(&term) {
            return Ok(known.clone());
        }
        let alternatives = match self.terms.get(term).clone() {
            Term::Number(number, _) => vec![(ALWAYS, Linear::literal(number))],
            Term::Const(id) => {
                let by = self.linked.iter().find(|(linked, _)| *linked == id);
                let form = by.map_or_else(|| Linear::constant(id), |(_, form)| form.clone());
                vec![(ALWAYS, form)]
            }
            Term::Ite(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let not = self.diagram.not(condition)?;
                let mut all = self.under(condition, then)?;
                all.extend(self.under(not, otherwise)?);
                all
            }
            Term::Sum(args) => {
                let mut sums: Alternatives = vec![(ALWAYS, Linear::default())];
                for arg in args.iter() {
                    let part = self.number(*arg)?;
                    let mut next = Alternatives::new();
                    for (under, sum) in &sums {
                        for (also, form) in &part {
                            let both = self.diagram.and(*under, *also)?;
                            next.push((both, sum.plus(&Number::one(), form)));
                        }
                    }
                    sums = self.tidy(next)?;
                }
                sums
            }
            Term::Scale(factor, arg) => {
                let part = self.number(arg)?;
                part.into_iter().map(|(under, form)| (under, form.scaled(&factor))).collect()
            }
            Term::ToReal(arg) => self.number(arg)?,
            _ => Vec::new(),
        };
        let alternatives = self.tidy(alternatives)?;
        self.numbers.insert(term, alternatives.clone());
        Ok(alternatives)
    }

    fn under(&mut self, condition: NodeId, term: TermId) -> Result<Alternatives, SpaceFault> {
        let mut all = Alternatives::new();
        for (under, form) in self.number(term)? {
            all.push((self.diagram.and(condition, under)?, form));
        }
        Ok(all)
    }

    /// One alternative per form, impossible ones left out.
    fn tidy(&mut self, mut all: Alternatives) -> Result<Alternatives, SpaceFault> {
        all.retain(|(under, _)| *under != EMPTY);
        all.sort_by(|(_, x), (_, y)| x.cmp(y));
        let mut tidy = Alternatives::new();
        for (under, form) in all {
            match tidy.last_mut() {
                Some((last, known)) if *known == form => *last = self.diagram.or(*last, under)?,
                _ => tidy.push((under, form)),
            }
        }
        Ok(tidy)
    }
}
