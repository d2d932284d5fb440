//! Terms to diagrams.

#![expect(clippy::indexing_slicing, reason = "levels and terms index the space that made them")]

use num_traits::One;
use rustc_hash::FxHashMap;

use super::{Level, Space, SpaceFault};
use crate::diagram::{ALWAYS, Diagram, EMPTY, Full, NodeId};
use crate::linear::{Comparison, Constraint, Linear, compare};
use crate::term::{ConstId, Number, Sort, Term, TermId, Terms, Value};

/// A number as alternatives: under a condition, this form. Conditions exclude each other.
pub(super) type Alternatives = Vec<(NodeId, Linear)>;

impl Space {
    /// Makes the diagram, which may take `mebibytes`.
    ///
    /// # Errors
    /// [`SpaceFault`].
    pub fn compile(&mut self, mebibytes: usize) -> Result<(), SpaceFault> {
        if self.values.len() > 200 {
            return Err(SpaceFault::TooMany("verdict values"));
        }
        let levels = 0_u16..;
        let arity = levels.clone().zip(&self.levels).map(|(level, _)| self.diagram.arity(level));
        let mut diagram = Diagram::new(arity.collect(), mebibytes);
        let mut compiler = Compiler {
            terms: &self.terms,
            linked: &self.linked,
            given: FxHashMap::default(),
            level_of: FxHashMap::default(),
            level_of_constraint: FxHashMap::default(),
            diagram: &mut diagram,
            conditions: FxHashMap::default(),
            choices: FxHashMap::default(),
            numbers: FxHashMap::default(),
        };
        for (at, level) in levels.zip(&self.levels) {
            match level {
                Level::Constant(id) => compiler.level_of.insert(*id, at),
                Level::Constraint(constraint) => {
                    compiler.level_of_constraint.insert(constraint.clone(), at)
                }
            };
        }
        let (parts, conditions) = compiler.compile(self.verdict, &self.rules)?;
        self.parts = parts;
        self.conditions = conditions;
        for resolvent in &self.resolvents {
            self.conditions.push(resolvent.condition(&mut diagram)?);
        }
        self.diagram = diagram;
        Ok(())
    }
}

pub(super) struct Compiler<'a> {
    pub(super) terms: &'a Terms,
    pub(super) linked: &'a [(ConstId, Linear)],
    /// Constants that have a value.
    pub(super) given: FxHashMap<ConstId, Value>,
    pub(super) level_of: FxHashMap<ConstId, u16>,
    pub(super) level_of_constraint: FxHashMap<Constraint, u16>,
    pub(super) diagram: &'a mut Diagram,
    pub(super) conditions: FxHashMap<TermId, NodeId>,
    pub(super) choices: FxHashMap<TermId, Vec<NodeId>>,
    pub(super) numbers: FxHashMap<TermId, Alternatives>,
}

impl Compiler<'_> {
    /// Where each value of the verdict is chosen, and the rules.
    fn compile(
        &mut self,
        verdict: TermId,
        rules: &[TermId],
    ) -> Result<(Vec<NodeId>, Vec<NodeId>), SpaceFault> {
        let rules = self.rules_and(rules, Some(verdict))?;
        let parts = match self.conditions.get(&verdict) {
            Some(yes) => vec![self.diagram.not(*yes)?, *yes],
            None => self.choice(verdict)?,
        };
        Ok((parts, rules))
    }

    pub(super) fn rules(&mut self, rules: &[TermId]) -> Result<Vec<NodeId>, SpaceFault> {
        self.rules_and(rules, None)
    }

    /// The conditions of clauses, with another term known beside them.
    fn rules_and(
        &mut self,
        rules: &[TermId],
        other: Option<TermId>,
    ) -> Result<Vec<NodeId>, SpaceFault> {
        self.diagram.pause_early();
        for term in rules.iter().chain(&other) {
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
        Ok(rules.iter().map(|rule| self.conditions[rule]).collect())
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
            Term::Bool(true) => ALWAYS,
            Term::Bool(false) => EMPTY,
            Term::Const(id) => match self.given.get(&id) {
                Some(Value::Bool(true)) => ALWAYS,
                Some(_) => EMPTY,
                None => self.diagram.literal(self.level_of[&id], 1)?,
            },
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
                let given = self.given.get(&id).cloned();
                for (index, value) in (0_u8..).take(count).enumerate() {
                    nodes.push(match &given {
                        Some(Value::Enum(_, at)) if *at as usize == index => ALWAYS,
                        Some(_) => EMPTY,
                        None => self.diagram.literal(self.level_of[&id], value)?,
                    });
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
            Term::Const(id) if self.given.contains_key(&id) => match &self.given[&id] {
                Value::Number(number) => vec![(ALWAYS, Linear::literal(number.clone()))],
                _ => Vec::new(),
            },
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
