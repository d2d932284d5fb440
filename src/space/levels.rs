//! Which levels a space has: constants and linear constraints, in the order of the diagram.

#![expect(clippy::indexing_slicing, reason = "levels and terms index the builder that made them")]

use num_traits::One;
use rustc_hash::{FxHashMap, FxHashSet};

use super::expand::Builder;
use super::{Level, Space, SpaceFault};
use crate::diagram::Diagram;
use crate::linear::{Comparison, Constraint, Linear, compare};
use crate::term::{ConstId, Number, Sort, Term, TermId};

/// Alternatives of one number, or of one comparison, up to which a space is laid out.
const MOST_ALTERNATIVES: usize = 4096;

impl Builder<'_> {
    /// The forms a numeric term may take, without their conditions; linked numbers replaced.
    pub(super) fn forms_of(&mut self, term: TermId) -> Result<Vec<Linear>, SpaceFault> {
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
    pub(super) fn find_levels(&mut self) -> Result<(), SpaceFault> {
        self.forms.clear();
        let mut roots = vec![self.verdict];
        roots.extend(self.rules.iter().copied());
        self.find_levels_of(roots)
    }

    pub(super) fn find_levels_of(&mut self, roots: Vec<TermId>) -> Result<(), SpaceFault> {
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
    pub(super) fn place(&mut self, found: Vec<Level>) -> Result<(), SpaceFault> {
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
                    family.retain(|member| !self.level_of_constraint.contains_key(member));
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

    /// The space without a diagram: levels told apart into askable and hidden ones.
    pub(super) fn finish(mut self) -> Result<Space, SpaceFault> {
        let mut arity = Vec::with_capacity(self.levels.len());
        let mut constraint_terms = vec![None; self.levels.len()];
        for (level, slot) in self.levels.iter().zip(&mut constraint_terms) {
            arity.push(match level {
                Level::Constraint(constraint) => {
                    *slot = Some(constraint.term(&mut self.terms)?);
                    2
                }
                Level::Constant(id) => match self.terms.constant(*id).sort {
                    Sort::Enum(sort) => {
                        u8::try_from(self.terms.enumeration(sort).constructors.len())
                            .map_err(|_| SpaceFault::TooMany("values of one enumeration"))?
                    }
                    _ => 2,
                },
            });
        }
        let mut space = Space {
            diagram: Diagram::new(arity, 0),
            terms: self.terms,
            levels: self.levels,
            constraint_terms,
            askable: self.askable,
            facts: Vec::new(),
            constraints: Vec::new(),
            hidden: Vec::new(),
            unsettled: Vec::new(),
            background: self.background,
            rules: self.rules,
            verdict: self.verdict,
            linked: self.linked,
            values: self.inquiry.verdict.values.clone(),
            parts: Vec::new(),
            conditions: Vec::new(),
            resolvents: self.resolvents,
        };
        space.sort_levels(&self.removed);
        Ok(space)
    }
}

impl Space {
    /// Tells askable levels from hidden ones.
    fn sort_levels(&mut self, removed: &FxHashSet<ConstId>) {
        let askable = &self.askable;
        for (at, level) in (0_u16..).zip(&self.levels) {
            match level {
                Level::Constant(id) if askable.contains(id) => self.facts.push((*id, at)),
                Level::Constant(_) => self.hidden.push(at),
                Level::Constraint(constraint) => {
                    let numbers = constraint.constants();
                    if numbers.iter().all(|id| askable.contains(id)) {
                        self.constraints.push(at);
                        continue;
                    }
                    self.hidden.push(at);
                    if !numbers.iter().any(|id| removed.contains(id)) {
                        self.unsettled.push(at);
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
    }
}
