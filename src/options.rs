//! What a scenario may choose for a fact, as a short list: the values of a finite sort, and for a
//! number the stretches between the thresholds that a policy compares it with.
//!
//! A number that only ever stands alone in a comparison with a literal has exact stretches: no
//! clause tells two numbers of one stretch apart. A number that is added to or compared with
//! another has none; for it there are likely values, and the list says that it is not exact.

use std::collections::{BTreeMap, BTreeSet};

use crate::linear::{Comparison, Constraint, Linear, compare};
use crate::numbers::{Habits, Interval, Position, candidates};
use crate::term::{ConstId, Number, Sort, SortFault, Term, TermId, Terms, Value};

/// Likely values tried for a number without exact stretches.
const MOST_VALUES: usize = 24;

/// One choice for a fact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Choice {
    /// A value.
    Is(Value),
    /// Numbers above one threshold, up to and with another: of `x <= b` (or `x < b`) the first is
    /// false and the second true.
    Between(Option<Threshold>, Option<Threshold>),
}

/// Where a comparison of one number changes: `x <= number`, or `x < number` where `strict`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Threshold {
    /// The number.
    pub number: Number,
    /// Order: `x < n` changes before `x <= n`.
    weak: bool,
}

impl Threshold {
    /// `x < number` instead of `x <= number`.
    #[must_use]
    pub fn strict(&self) -> bool {
        !self.weak
    }

    fn of(constraint: &Constraint) -> Option<(ConstId, Self)> {
        let [id] = constraint.constants() else { return None };
        // The only factor of a canonical form is positive.
        let number = constraint.bound() / constraint.form().factor(*id);
        Some((*id, Self { number, weak: !constraint.strict() }))
    }

    fn holds(&self, number: &Number) -> bool {
        if self.weak { number <= &self.number } else { number < &self.number }
    }

    fn term(&self, terms: &mut Terms, constant: ConstId) -> Result<TermId, SortFault> {
        let sort = terms.constant(constant).sort;
        let left = terms.constant_term(constant);
        let right = terms.number(self.number.clone(), sort);
        if self.weak { terms.le(left, right) } else { terms.lt(left, right) }
    }
}

/// The choices for one fact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// In order.
    pub choices: Vec<Choice>,
    /// They are all there is, and no clause tells the numbers of one apart.
    pub exact: bool,
}

impl Options {
    /// Which choice a value falls under.
    #[must_use]
    pub fn place(&self, value: &Value) -> Option<usize> {
        self.choices.iter().position(|choice| match (choice, value) {
            (Choice::Is(known), _) => known == value,
            (Choice::Between(above, upto), Value::Number(number)) => {
                above.as_ref().is_none_or(|above| !above.holds(number))
                    && upto.as_ref().is_none_or(|upto| upto.holds(number))
            }
            _ => false,
        })
    }
}

impl Choice {
    /// The choice as a term.
    ///
    /// # Errors
    /// It belongs to another sort.
    pub fn term(&self, terms: &mut Terms, constant: ConstId) -> Result<TermId, SortFault> {
        match self {
            Self::Is(value) => {
                let sort = terms.constant(constant).sort;
                let left = terms.constant_term(constant);
                let right = terms.value(value, sort);
                terms.eq(left, right)
            }
            Self::Between(above, upto) => {
                let mut parts = Vec::new();
                if let Some(above) = above {
                    let below = above.term(terms, constant)?;
                    parts.push(terms.not(below)?);
                }
                if let Some(upto) = upto {
                    parts.push(upto.term(terms, constant)?);
                }
                terms.and(&parts)
            }
        }
    }

    /// The choice in the words of a list: `true`, `13 to 17`, `at least 65`.
    #[must_use]
    pub fn spell(&self, terms: &Terms, sort: Sort) -> String {
        let (above, upto) = match self {
            Self::Is(value) => return terms.spell(value),
            Self::Between(above, upto) => (above, upto),
        };
        let whole = sort == Sort::Int;
        let one = Number::from_integer(1.into());
        let low = above.as_ref().map(|above| match (whole, above.weak) {
            (true, _) => (&above.number + &one, true),
            (false, weak) => (above.number.clone(), !weak),
        });
        match (low, upto) {
            (None, None) => "any number".to_owned(),
            (Some((low, true)), Some(upto)) if upto.weak && low == upto.number => low.to_string(),
            (Some((low, true)), Some(upto)) if upto.weak => format!("{low} to {}", upto.number),
            (Some((low, with)), None) => {
                format!("{} {low}", if with { "at least" } else { "more than" })
            }
            (None, Some(upto)) => {
                let words = if upto.weak { "at most" } else { "less than" };
                format!("{words} {}", upto.number)
            }
            (Some((low, with)), Some(upto)) => {
                let first = if with { "at least" } else { "more than" };
                let second = if upto.weak { "at most" } else { "less than" };
                format!("{first} {low} and {second} {}", upto.number)
            }
        }
    }
}

/// A numeric term without alternatives as a form.
#[must_use]
pub fn form(terms: &Terms, term: TermId) -> Option<Linear> {
    let one = Number::from_integer(1.into());
    match terms.get(term) {
        Term::Number(number, _) => Some(Linear::literal(number.clone())),
        Term::Const(id) => Some(Linear::constant(*id)),
        Term::Scale(factor, arg) => Some(form(terms, *arg)?.scaled(factor)),
        Term::ToReal(arg) => form(terms, *arg),
        Term::Sum(args) => args.iter().try_fold(Linear::default(), |sum, arg| {
            let arg = form(terms, *arg)?;
            Some(sum.plus(&one, &arg))
        }),
        _ => None,
    }
}

/// The numeric constants of a comparison; those of conditions inside it are compared elsewhere.
fn numbers_of(terms: &Terms, term: TermId) -> Vec<ConstId> {
    let mut found = Vec::new();
    let mut stack = terms.args(term);
    while let Some(next) = stack.pop() {
        match terms.get(next) {
            Term::Const(id) if terms.constant(*id).sort.is_numeric() => found.push(*id),
            Term::Ite(_, then, otherwise) => stack.extend([*then, *otherwise]),
            _ => stack.extend(terms.args(next)),
        }
    }
    found
}

/// Every thing some terms compare numbers with.
#[derive(Clone, Debug, Default)]
pub struct Comparisons {
    /// Thresholds of each number that is compared with literals, ascending.
    pub thresholds: BTreeMap<ConstId, BTreeSet<Threshold>>,
    /// Numbers that stand in a comparison with another number or under an alternative.
    pub linked: BTreeSet<ConstId>,
}

impl Comparisons {
    /// Reads terms with all their parts.
    #[must_use]
    pub fn read(terms: &Terms, roots: impl IntoIterator<Item = TermId>) -> Self {
        let mut found = Self::default();
        let mut seen = vec![false; terms.len()];
        let mut stack: Vec<TermId> = roots.into_iter().collect();
        while let Some(term) = stack.pop() {
            let Some(flag) = seen.get_mut(term.index()) else { continue };
            if std::mem::replace(flag, true) {
                continue;
            }
            found.comparison(terms, term);
            stack.extend(terms.args(term));
        }
        found
    }

    fn comparison(&mut self, terms: &Terms, term: TermId) {
        let (left, right, strictness): (TermId, TermId, &[bool]) = match terms.get(term) {
            Term::Le(a, b) => (*a, *b, &[false]),
            Term::Lt(a, b) => (*a, *b, &[true]),
            Term::Eq(a, b) if terms.sort(*a).is_numeric() => (*a, *b, &[false, true]),
            _ => return,
        };
        let minus = Number::from_integer((-1).into());
        let difference = form(terms, left).zip(form(terms, right));
        let difference = difference.map(|(left, right)| left.plus(&minus, &right));
        for strict in strictness {
            let threshold = difference.as_ref().map(|form| compare(terms, form, *strict));
            match threshold {
                Some(Comparison::Settled(_)) => {}
                Some(Comparison::Live(constraint, _)) => match Threshold::of(&constraint) {
                    Some((id, threshold)) => {
                        self.thresholds.entry(id).or_default().insert(threshold);
                    }
                    None => self.linked.extend(constraint.constants()),
                },
                None => self.linked.extend(numbers_of(terms, term)),
            }
        }
    }

    /// The choices for a fact, given what the vocabulary says of it if it is a number.
    #[must_use]
    pub fn options(&self, terms: &Terms, constant: ConstId, habits: &Habits) -> Options {
        let sort = terms.constant(constant).sort;
        if let Some(values) = terms.values_of(sort) {
            let choices = values.into_iter().map(Choice::Is).collect();
            return Options { choices, exact: true };
        }
        let thresholds: Vec<Threshold> =
            self.thresholds.get(&constant).into_iter().flatten().cloned().collect();
        if self.linked.contains(&constant) {
            let mut values = candidates(habits, &Interval::default(), Position::One);
            let step = &habits.step;
            let near = |threshold: &Threshold| {
                let at = (&threshold.number / step).floor() * step;
                [at.clone(), &at + step]
            };
            values.extend(thresholds.iter().flat_map(near));
            let mut choices: Vec<Choice> = Vec::new();
            for value in values {
                let choice = Choice::Is(Value::Number(value));
                if choices.len() < MOST_VALUES && !choices.contains(&choice) {
                    choices.push(choice);
                }
            }
            return Options { choices, exact: false };
        }
        let mut choices = Vec::new();
        let mut above = None;
        for threshold in thresholds {
            choices.push(Choice::Between(above, Some(threshold.clone())));
            above = Some(threshold);
        }
        choices.push(Choice::Between(above, None));
        Options { choices, exact: true }
    }
}
