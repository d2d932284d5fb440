//! Concrete numbers for an entry: chosen for the whole path at its end, one after the other in path
//! order, the first candidate that leaves the claim satisfiable.
//!
//! Candidates are typical values of the vocabulary, round numbers, bounds, then the smallest number
//! there is, found by bisection. Only yes/no answers steer the choice.

use std::collections::BTreeMap;

use num_traits::{One, Signed, Zero};

use crate::linear::Constraint;
use crate::term::{ConstId, Number, Sort};

/// What the vocabulary says of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Habits {
    /// Int or Real.
    pub sort: Sort,
    /// Plausible values; no part of the logic.
    pub bounds: Option<(Number, Number)>,
    /// Realistic values, the preferred first.
    pub typical: Vec<Number>,
    /// A Real is a multiple of this.
    pub step: Number,
}

impl Default for Habits {
    fn default() -> Self {
        Self { sort: Sort::Int, bounds: None, typical: Vec::new(), step: Number::one() }
    }
}

/// Where in its region a number is to lie.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Position {
    /// The first candidate.
    One,
    /// The smallest plausible.
    Low,
    /// The middle.
    Middle,
    /// The largest plausible.
    High,
    /// Next to a threshold.
    Boundary,
}

/// What a region leaves of a number by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interval {
    /// The smallest value allowed.
    pub low: Option<Number>,
    /// The largest value allowed.
    pub high: Option<Number>,
}

impl Interval {
    /// Whether a number lies inside.
    #[must_use]
    pub fn holds(&self, number: &Number) -> bool {
        self.low.as_ref().is_none_or(|low| low <= number)
            && self.high.as_ref().is_none_or(|high| number <= high)
    }

    fn meet(&self, bounds: Option<&(Number, Number)>) -> Self {
        let Some((low, high)) = bounds else { return self.clone() };
        let met = Self {
            low: Some(self.low.clone().map_or(low.clone(), |known| known.max(low.clone()))),
            high: Some(self.high.clone().map_or(high.clone(), |known| known.min(high.clone()))),
        };
        if met.low <= met.high { met } else { self.clone() }
    }
}

/// The interval of every number that decided constraints over it alone leave.
#[must_use]
pub fn intervals<'a>(
    decided: impl IntoIterator<Item = (&'a Constraint, bool)>,
    habits: &BTreeMap<ConstId, Habits>,
) -> BTreeMap<ConstId, Interval> {
    let mut all: BTreeMap<ConstId, Interval> = BTreeMap::new();
    for (constraint, holds) in decided {
        let [id] = constraint.constants() else { continue };
        let grain = habits.get(id).map_or_else(Number::one, |habits| habits.step.clone());
        let bound = constraint.bound() / constraint.form().factor(*id);
        let interval = all.entry(*id).or_default();
        if holds {
            let high = if constraint.strict() { bound - grain } else { bound };
            let tighter = interval.high.as_ref().is_none_or(|known| high < *known);
            if tighter {
                interval.high = Some(high);
            }
        } else {
            let low = if constraint.strict() { bound } else { bound + grain };
            let tighter = interval.low.as_ref().is_none_or(|known| low > *known);
            if tighter {
                interval.low = Some(low);
            }
        }
    }
    all
}

/// Candidates for a number in an interval, the preferred first, each once.
#[must_use]
pub fn candidates(habits: &Habits, interval: &Interval, position: Position) -> Vec<Number> {
    let fit = interval.meet(habits.bounds.as_ref());
    let mut all: Vec<Number> = Vec::new();
    let ends = [fit.low.clone(), fit.high.clone()];
    let middle = match &ends {
        [Some(low), Some(high)] => {
            let half = (low + high) / Number::from_integer(2.into());
            Some((half / &habits.step).floor() * &habits.step)
        }
        _ => None,
    };
    match position {
        Position::One => {}
        Position::Low => all.extend(fit.low.clone()),
        Position::Middle => all.extend(middle),
        Position::High => all.extend(fit.high.clone()),
        Position::Boundary => {
            // The region's own ends are thresholds; the vocabulary's are not.
            all.extend(interval.high.clone());
            all.extend(interval.low.clone());
        }
    }
    all.extend(habits.typical.iter().filter(|number| interval.holds(number)).cloned());
    all.extend(round(&fit, &habits.step));
    all.extend(ends.into_iter().flatten());
    let mut unique: Vec<Number> = Vec::with_capacity(all.len());
    for number in all {
        let on_grid = (&number / &habits.step).is_integer();
        if on_grid && interval.holds(&number) && !unique.contains(&number) {
            unique.push(number);
        }
    }
    unique
}

/// The roundest numbers of an interval, the coarsest grid first.
fn round(interval: &Interval, step: &Number) -> Vec<Number> {
    let mut all = Vec::new();
    let ten = Number::from_integer(10.into());
    let mut grid = step.clone();
    for _ in 0..10 {
        let first = match (&interval.low, &interval.high) {
            (Some(low), _) => (low / &grid).ceil() * &grid,
            (None, Some(high)) => (high / &grid).floor() * &grid,
            (None, None) => Number::zero(),
        };
        if interval.holds(&first) {
            all.push(first);
        }
        grid *= &ten;
    }
    all.reverse();
    all.truncate(4);
    all
}

/// The smallest multiple of `step` for which `at_most` says yes, going down from nowhere: none if
/// it says no for every number up to a large one.
pub fn smallest<E>(
    step: &Number,
    interval: &Interval,
    mut at_most: impl FnMut(&Number) -> Result<bool, E>,
) -> Result<Option<Number>, E> {
    let grid = |count: &Number| count * step;
    let two = Number::from_integer(2.into());
    let far = Number::from_integer(num_bigint::BigInt::from(10).pow(15));
    let mut high = match &interval.high {
        Some(high) => (high / step).floor(),
        None => Number::one(),
    };
    while !at_most(&grid(&high))? {
        if interval.high.is_some() || high > far {
            return Ok(None);
        }
        high = high.abs() * &two + Number::one();
    }
    let mut low = match &interval.low {
        Some(low) => (low / step).ceil() - Number::one(),
        None => high.clone().min(Number::zero()) - Number::one(),
    };
    while interval.low.is_none() && at_most(&grid(&low))? {
        if low < -far.clone() {
            return Ok(Some(grid(&low)));
        }
        high = low.clone();
        low = &low * &two;
    }
    while &high - &low > Number::one() {
        let middle = ((&high + &low) / &two).floor();
        if at_most(&grid(&middle))? {
            high = middle;
        } else {
            low = middle;
        }
    }
    Ok(Some(grid(&high)))
}
