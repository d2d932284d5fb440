//! Definitions inlined, numbers tied by equations replaced, clauses over numbers set apart.

#![expect(clippy::indexing_slicing, reason = "clauses of the policy, terms that were expanded")]

use num_traits::{One, Signed};
use rustc_hash::{FxHashMap, FxHashSet};

use super::hidden::Resolvent;
use super::{Level, SpaceFault};
use crate::linear::{Constraint, Linear};
use crate::policy::Inquiry;
use crate::slice::{Slice, definitions};
use crate::term::{ConstId, Number, Sort, SortFault, Term, TermId, Terms};

/// Lays a space out, step by step.
pub(super) struct Builder<'a> {
    pub(super) inquiry: &'a Inquiry,
    slice: &'a Slice,
    pub(super) terms: Terms,
    pub(super) askable: FxHashSet<ConstId>,
    definitions: FxHashMap<ConstId, TermId>,
    defining: FxHashSet<usize>,
    pub(super) linked: Vec<(ConstId, Linear)>,
    expanded: FxHashMap<TermId, TermId>,
    pub(super) rules: Vec<TermId>,
    pub(super) background: Vec<TermId>,
    pub(super) verdict: TermId,
    pub(super) levels: Vec<Level>,
    pub(super) level_of: FxHashMap<ConstId, u16>,
    pub(super) level_of_constraint: FxHashMap<Constraint, u16>,
    pub(super) forms: FxHashMap<TermId, Vec<Linear>>,
    /// Hidden numbers removed by resolvents.
    pub(super) removed: FxHashSet<ConstId>,
    pub(super) resolvents: Vec<Resolvent>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(inquiry: &'a Inquiry, slice: &'a Slice) -> Self {
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
            removed: FxHashSet::default(),
            resolvents: Vec::new(),
        }
    }

    /// Takes the first acyclic definition of every hidden constant.
    pub(super) fn read_definitions(&mut self) {
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

    /// Numbers tied by an equation of the policy: one is written by the others.
    pub(super) fn link_numbers(&mut self) -> Result<(), SpaceFault> {
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
            let Some(id) = self.replaceable(&form) else { continue };
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

    /// The number of an equation that is best written by the others: a hidden one where there is
    /// one, since what is asked must not be written by what is not; the last declared among equals.
    ///
    /// A whole number may be written by a fraction only where all others are askable: the equation
    /// stays in the background, so numbers that make no whole number of it are infeasible by
    /// themselves. With another hidden number in it, divisibility would get lost when that one is
    /// removed.
    fn replaceable(&self, form: &Linear) -> Option<ConstId> {
        let hidden = |id: &ConstId| !self.askable.contains(id);
        let count = form.constants().filter(hidden).count();
        let whole = |id: ConstId| self.terms.constant(id).sort == Sort::Int;
        let all_whole = form.offset().is_integer()
            && form.constants().all(|id| whole(id) && form.factor(id).is_integer());
        let clean = |id: &ConstId| !whole(*id) || (all_whole && form.factor(*id).abs().is_one());
        let eligible = || form.constants().rev().filter(|id| count == 0 || hidden(id));
        eligible().find(clean).or_else(|| eligible().find(|_| count < 2))
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

    /// Definitions inlined in every clause; what only says which facts go together is set apart.
    pub(super) fn expand_clauses(&mut self) -> Result<(), SpaceFault> {
        self.verdict = self.expand(self.verdict)?;
        let mut mixed = Vec::new();
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
                mixed.push(term);
            }
        }
        let near = self.hidden_near_verdict(&mixed);
        for term in mixed {
            let hidden = self.hidden_in(term);
            if hidden.is_empty() || hidden.iter().any(|id| near.contains(id)) {
                self.rules.push(term);
            } else {
                self.background.push(term);
            }
        }
        Ok(())
    }

    fn hidden_in(&self, term: TermId) -> Vec<ConstId> {
        let mut hidden = self.terms.constants_in(term);
        hidden.retain(|id| !self.askable.contains(id));
        hidden
    }

    /// Hidden constants that bear on the verdict, directly or through clauses that share them. What
    /// other clauses hide only says which facts can be stated together, so those clauses stay
    /// outside the diagram, in the background.
    fn hidden_near_verdict(&self, clauses: &[TermId]) -> FxHashSet<ConstId> {
        let groups: Vec<Vec<ConstId>> =
            clauses.iter().chain(&self.background).map(|term| self.hidden_in(*term)).collect();
        let mut near: FxHashSet<ConstId> = self.hidden_in(self.verdict).into_iter().collect();
        loop {
            let before = near.len();
            for group in &groups {
                if group.iter().any(|id| near.contains(id)) {
                    near.extend(group);
                }
            }
            if near.len() == before {
                return near;
            }
        }
    }
}
