//! Linear forms over numeric constants and the comparisons of them that a verdict can depend on.
//!
//! A comparison is kept in one canonical spelling, so that `x > 5`, `(not (<= x 5))` and, for whole
//! numbers, `x >= 6` are one [`Constraint`] and its negation.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use crate::term::{ConstId, Number, Sort, SortFault, TermId, Terms};

/// `sum of factor * constant + offset`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Linear {
    factors: BTreeMap<ConstId, Number>,
    offset: Number,
}

impl Linear {
    /// A literal.
    #[must_use]
    pub fn literal(offset: Number) -> Self {
        Self { factors: BTreeMap::new(), offset }
    }

    /// One constant.
    #[must_use]
    pub fn constant(id: ConstId) -> Self {
        Self { factors: BTreeMap::from([(id, Number::one())]), offset: Number::zero() }
    }

    /// This form plus `factor` times another.
    #[must_use]
    pub fn plus(&self, factor: &Number, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.offset += factor * &other.offset;
        for (id, number) in &other.factors {
            let entry = sum.factors.entry(*id).or_insert_with(Number::zero);
            *entry += factor * number;
        }
        sum.factors.retain(|_, number| !number.is_zero());
        sum
    }

    /// `factor` times this form.
    #[must_use]
    pub fn scaled(&self, factor: &Number) -> Self {
        Self::default().plus(factor, self)
    }

    /// The factor of a constant, zero where it does not occur.
    #[must_use]
    pub fn factor(&self, id: ConstId) -> Number {
        self.factors.get(&id).cloned().unwrap_or_else(Number::zero)
    }

    /// The constants that occur, in declaration order.
    pub fn constants(&self) -> impl DoubleEndedIterator<Item = ConstId> + '_ {
        self.factors.keys().copied()
    }

    /// The literal part.
    #[must_use]
    pub fn offset(&self) -> &Number {
        &self.offset
    }

    /// This form with a constant replaced.
    #[must_use]
    pub fn substitute(&self, id: ConstId, by: &Self) -> Self {
        let factor = self.factor(id);
        if factor.is_zero() {
            return self.clone();
        }
        let mut rest = self.clone();
        rest.factors.remove(&id);
        rest.plus(&factor, by)
    }

    /// The value once every constant has one.
    #[must_use]
    pub fn value(&self, value: impl Fn(ConstId) -> Option<Number>) -> Option<Number> {
        let mut sum = self.offset.clone();
        for (id, factor) in &self.factors {
            sum += factor * value(*id)?;
        }
        Some(sum)
    }

    /// The form as a term of a sort.
    ///
    /// # Errors
    /// Sorts do not meet, which the front end has ruled out.
    pub fn term(&self, terms: &mut Terms, sort: Sort) -> Result<TermId, SortFault> {
        let mut parts = Vec::with_capacity(self.factors.len() + 1);
        for (id, factor) in &self.factors {
            let mut constant = terms.constant_term(*id);
            if terms.sort(constant) == Sort::Int && sort == Sort::Real {
                constant = terms.to_real(constant)?;
            }
            parts.push(terms.scale(factor, constant)?);
        }
        parts.push(terms.number(self.offset.clone(), sort));
        terms.sum(&parts)
    }
}

/// `form <= bound`, or `form < bound` where `strict`. The form has no offset, its first factor is
/// positive; over whole numbers alone the factors are whole without common divisor, the bound is
/// whole, and it is never strict. Order: by constants as declared, then factors, then bound.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Constraint {
    /// The constants that occur, in declaration order.
    constants: Vec<ConstId>,
    form: Linear,
    bound: Number,
    strict: bool,
    sort: Sort,
}

/// A comparison after normalizing: settled, or a constraint or its negation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Comparison {
    /// True or false for all numbers.
    Settled(bool),
    /// The constraint, or (false) its negation.
    Live(Constraint, bool),
}

impl Constraint {
    /// A constraint already in canonical spelling, as one read back from the store.
    #[must_use]
    pub fn canonical(form: Linear, bound: Number, strict: bool, sort: Sort) -> Self {
        let constants = form.constants().collect();
        Self { constants, form, bound, strict, sort }
    }

    /// The numbers it compares, in declaration order.
    #[must_use]
    pub fn constants(&self) -> &[ConstId] {
        &self.constants
    }

    /// Its left side.
    #[must_use]
    pub fn form(&self) -> &Linear {
        &self.form
    }

    /// Its right side.
    #[must_use]
    pub fn bound(&self) -> &Number {
        &self.bound
    }

    /// `<` instead of `<=`.
    #[must_use]
    pub fn strict(&self) -> bool {
        self.strict
    }

    /// Whether the numbers satisfy it; none while one is missing.
    #[must_use]
    pub fn holds(&self, value: impl Fn(ConstId) -> Option<Number>) -> Option<bool> {
        let left = self.form.value(value)?;
        Some(if self.strict { left < self.bound } else { left <= self.bound })
    }

    /// The constraint as a term.
    ///
    /// # Errors
    /// Sorts do not meet, which the front end has ruled out.
    pub fn term(&self, terms: &mut Terms) -> Result<TermId, SortFault> {
        let left = self.form.term(terms, self.sort)?;
        let right = terms.number(self.bound.clone(), self.sort);
        if self.strict { terms.lt(left, right) } else { terms.le(left, right) }
    }
}

/// `left <= 0`, or `left < 0` where `strict`, in canonical spelling.
#[must_use]
pub fn compare(terms: &Terms, left: &Linear, strict: bool) -> Comparison {
    let Some(first) = left.constants().next() else {
        let zero = Number::zero();
        return Comparison::Settled(if strict { left.offset < zero } else { left.offset <= zero });
    };
    let whole = left.constants().all(|id| terms.constant(id).sort == Sort::Int);
    // Divide by the size of the first factor, or for whole numbers make factors whole and coprime.
    let size = if whole { unit(left) } else { left.factor(first).abs() };
    let mut form = left.scaled(&size.recip());
    let mut bound = -form.offset.clone();
    form.offset = Number::zero();
    let negative = form.factor(first).is_negative();
    let (mut strict, positive) = if negative {
        // -f <= b is f >= -b, which is not (f < -b).
        form = form.scaled(&-Number::one());
        bound = -bound;
        (!strict, false)
    } else {
        (strict, true)
    };
    if whole {
        bound = if strict { bound.ceil() - Number::one() } else { bound.floor() };
        strict = false;
    }
    let sort = if whole { Sort::Int } else { Sort::Real };
    let constants = form.constants().collect();
    Comparison::Live(Constraint { constants, form, bound, strict, sort }, positive)
}

/// The positive number by which a form over whole numbers is divided to make its factors whole and
/// coprime.
fn unit(left: &Linear) -> Number {
    let mut denominator = BigInt::one();
    for id in left.constants() {
        denominator = denominator.lcm(left.factor(id).denom());
    }
    let mut divisor = BigInt::zero();
    for id in left.constants() {
        let whole = left.factor(id) * BigRational::from(denominator.clone());
        divisor = divisor.gcd(whole.numer());
    }
    BigRational::new(divisor, denominator)
}
