//! What one point shows of others: numbers that meet in no constraint and no clause may be moved
//! each along its own line while all others stay, and every combination is a point again.

#![expect(
    clippy::indexing_slicing,
    reason = "levels and points index the component that made them"
)]

use num_traits::{One, Zero};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Component, Member};
use crate::eval::evaluate;
use crate::linear::Linear;
use crate::term::{ConstId, Number, Sort, Term, TermId, Terms, Value};

/// The patterns that one point shows.
pub struct Spread {
    /// Levels that stay as they are at the point.
    pub fixed: Vec<u16>,
    /// For each number that moves its levels, and the values they have together on its line.
    pub lines: Vec<(Vec<u16>, Vec<Vec<u8>>)>,
}

/// Sets of numbers that may move at once, and what bounds them.
#[derive(Default)]
pub(super) struct Freedom {
    sets: Vec<Vec<ConstId>>,
    clauses: Vec<Clause>,
}

/// A clause over numbers alone.
struct Clause {
    term: TermId,
    numbers: Vec<ConstId>,
    /// The differences of both sides of its comparisons.
    forms: Vec<Linear>,
}

/// Sets of numbers tried per point: more show more patterns, and take longer.
const MOST_SETS: usize = 3;
/// Forms that one side of a comparison may take; the numbers of clauses with more of them stay.
const MOST_FORMS: usize = 64;

impl Freedom {
    /// For the clauses and constraints of a component.
    pub(super) fn new(terms: &Terms, background: &[TermId], members: &[(u16, Member)]) -> Self {
        let mut together: Vec<Vec<ConstId>> = Vec::new();
        let mut clauses = Vec::new();
        // Facts decide what clauses about them say of numbers: such numbers stay.
        let mut bound: FxHashSet<ConstId> = FxHashSet::default();
        for term in background {
            let constants = terms.constants_in(*term);
            let pure = constants.iter().all(|id| terms.constant(*id).sort.is_numeric());
            match comparisons(terms, *term).filter(|_| pure) {
                Some(forms) => {
                    together.push(constants.clone());
                    clauses.push(Clause { term: *term, numbers: constants, forms });
                }
                None => bound.extend(constants),
            }
        }
        let mut weight: FxHashMap<ConstId, usize> = FxHashMap::default();
        for (_, member) in members {
            if let Member::Constraint(constraint, _) = member {
                together.push(constraint.constants().to_vec());
                for id in constraint.constants() {
                    *weight.entry(*id).or_default() += 1;
                }
            }
        }
        let mut numbers: Vec<ConstId> =
            weight.keys().copied().filter(|id| !bound.contains(id)).collect();
        numbers.sort_by_key(|id| (std::cmp::Reverse(weight[id]), *id));
        let meet = |a: ConstId, b: ConstId| {
            together.iter().any(|group| group.contains(&a) && group.contains(&b))
        };
        let mut sets: Vec<Vec<ConstId>> = Vec::new();
        for first in &numbers {
            let mut set = vec![*first];
            for id in &numbers {
                if !set.contains(id) && set.iter().all(|other| !meet(*id, *other)) {
                    set.push(*id);
                }
            }
            set.sort_unstable();
            if !sets.contains(&set) && sets.len() < MOST_SETS {
                sets.push(set);
            }
        }
        Self { sets, clauses }
    }
}

impl Component<'_> {
    /// The patterns that a point shows, its own among them.
    #[must_use]
    pub fn spreads(&self, terms: &Terms, point: usize) -> Vec<Spread> {
        let mut numbers: FxHashMap<ConstId, Number> = FxHashMap::default();
        for (id, value) in self.model(point) {
            if let Value::Number(number) = value {
                numbers.insert(*id, number.clone());
            }
        }
        let mut spreads = Vec::new();
        for set in &self.freedom.sets {
            let moves = |id: &ConstId| set.contains(id);
            let mut spread = Spread { fixed: Vec::new(), lines: Vec::new() };
            for (level, member) in &self.members {
                if let Member::Constraint(constraint, _) = member
                    && !constraint.constants().iter().any(moves)
                {
                    spread.fixed.push(*level);
                }
            }
            for id in set {
                spread.lines.push(self.line(terms, *id, &mut numbers));
            }
            spreads.push(spread);
        }
        if spreads.is_empty() {
            spreads.push(Spread { fixed: self.compared().collect(), lines: Vec::new() });
        }
        spreads
    }

    /// The values a number's levels have together somewhere on its line.
    fn line(
        &self,
        terms: &Terms,
        id: ConstId,
        numbers: &mut FxHashMap<ConstId, Number>,
    ) -> (Vec<u16>, Vec<Vec<u8>>) {
        let own = self.members.iter().filter_map(|(level, member)| match member {
            Member::Constraint(constraint, _) if constraint.constants().contains(&id) => {
                Some((*level, constraint))
            }
            _ => None,
        });
        let own: Vec<_> = own.collect();
        let clauses = self.freedom.clauses.iter().filter(|clause| clause.numbers.contains(&id));
        let clauses: Vec<&Clause> = clauses.collect();
        let start = numbers.get(&id).cloned();
        let mut turns: Vec<Number> = Vec::new();
        for (_, constraint) in &own {
            let bound = Linear::literal(constraint.bound().clone());
            turns.extend(root(&constraint.form().plus(&-Number::one(), &bound), id, numbers));
        }
        for form in clauses.iter().flat_map(|clause| &clause.forms) {
            turns.extend(root(form, id, numbers));
        }
        let mut values = samples(turns, terms.constant(id).sort == Sort::Int);
        values.extend(start.clone());
        let mut seen: FxHashSet<Vec<u8>> = FxHashSet::default();
        let mut patterns = Vec::new();
        for value in values {
            numbers.insert(id, value);
            let known = |id: ConstId| numbers.get(&id).cloned().map(Value::Number);
            let possible = clauses
                .iter()
                .all(|clause| evaluate(terms, clause.term, &known) == Some(Value::Bool(true)));
            if !possible {
                continue;
            }
            let sign = |constraint: &crate::linear::Constraint| {
                u8::from(constraint.holds(|id| numbers.get(&id).cloned()) == Some(true))
            };
            let pattern: Vec<u8> = own.iter().map(|(_, constraint)| sign(constraint)).collect();
            if seen.insert(pattern.clone()) {
                patterns.push(pattern);
            }
        }
        if let Some(start) = start {
            numbers.insert(id, start);
        }
        (own.iter().map(|(level, _)| *level).collect(), patterns)
    }
}

/// Where a form is zero along one number's line.
fn root(form: &Linear, id: ConstId, numbers: &FxHashMap<ConstId, Number>) -> Option<Number> {
    let factor = form.factor(id);
    if factor.is_zero() {
        return None;
    }
    let at_zero =
        form.value(
            |other| {
                if other == id { Some(Number::zero()) } else { numbers.get(&other).cloned() }
            },
        )?;
    Some(-at_zero / factor)
}

/// Numbers in every region that the turning points make, the turning points among them.
fn samples(mut turns: Vec<Number>, whole: bool) -> Vec<Number> {
    turns.sort();
    turns.dedup();
    let mut values = Vec::with_capacity(turns.len() * 3);
    for (at, turn) in turns.iter().enumerate() {
        if whole {
            let floor = turn.floor();
            values.extend([&floor - Number::one(), floor.clone(), floor + Number::one()]);
        } else {
            values.push(turn.clone());
            if let Some(next) = turns.get(at + 1) {
                values.push((turn + next) / (Number::one() + Number::one()));
            }
        }
    }
    if !whole && let (Some(first), Some(last)) = (turns.first(), turns.last()) {
        values.extend([first - Number::one(), last + Number::one()]);
    }
    values.sort();
    values.dedup();
    values
}

/// The differences of both sides of every comparison in a clause; none where there are too many.
fn comparisons(terms: &Terms, clause: TermId) -> Option<Vec<Linear>> {
    let mut found = Vec::new();
    let mut stack = vec![clause];
    while let Some(term) = stack.pop() {
        if let Term::Le(a, b) | Term::Lt(a, b) | Term::Eq(a, b) = terms.get(term)
            && terms.sort(*a).is_numeric()
        {
            let (left, right) = (alternatives(terms, *a)?, alternatives(terms, *b)?);
            found.extend(differences(&left, &right));
        }
        stack.extend(terms.args(term));
    }
    Some(found)
}

fn differences<'l>(left: &'l [Linear], right: &'l [Linear]) -> impl Iterator<Item = Linear> + 'l {
    left.iter().flat_map(|x| right.iter().map(|y| x.plus(&-Number::one(), y)))
}

/// The forms a numeric term may take; none where there are too many.
fn alternatives(terms: &Terms, term: TermId) -> Option<Vec<Linear>> {
    let forms = match terms.get(term) {
        Term::Number(number, _) => vec![Linear::literal(number.clone())],
        Term::Const(id) => vec![Linear::constant(*id)],
        Term::Ite(_, then, otherwise) => {
            let mut all = alternatives(terms, *then)?;
            all.extend(alternatives(terms, *otherwise)?);
            all
        }
        Term::Sum(args) => {
            let mut sums = vec![Linear::default()];
            for arg in args {
                let parts = alternatives(terms, *arg)?;
                if sums.len() * parts.len() > MOST_FORMS {
                    return None;
                }
                let one = Number::one();
                let add = |sum: &Linear| parts.iter().map(|part| sum.plus(&one, part)).collect();
                sums = sums.iter().flat_map(|sum| -> Vec<Linear> { add(sum) }).collect();
            }
            sums
        }
        Term::Scale(factor, arg) => {
            alternatives(terms, *arg)?.iter().map(|form| form.scaled(factor)).collect()
        }
        Term::ToReal(arg) => return alternatives(terms, *arg),
        _ => Vec::new(),
    };
    (forms.len() <= MOST_FORMS).then_some(forms)
}
