//! Two models on the same entries.

use std::collections::BTreeMap;

use serde::Serialize;

use super::gold::Gold;
use super::statistics::{Difference, difference};
use super::tally::Outcome;

/// The first model less the second, entry by entry.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The first.
    pub first: String,
    /// The second.
    pub second: String,
    /// Difference of balanced accuracy.
    pub balanced: Difference,
    /// Difference on definite entries.
    pub definite: Difference,
    /// Difference on NEI entries.
    pub nei: Difference,
    /// Entries that only the first has right.
    pub only_first: usize,
    /// Entries that only the second has right.
    pub only_second: usize,
    /// `p` of the balanced difference, corrected for the number of comparisons (Holm).
    pub p_corrected: f64,
}

/// Every two models, in order.
#[must_use]
pub(super) fn all(gold: &Gold, models: &[(String, Vec<Outcome>)]) -> Vec<Comparison> {
    let mut found = Vec::new();
    for (at, (first, a)) in models.iter().enumerate() {
        for (second, b) in models.iter().skip(at + 1) {
            found.push(compare(gold, (first, a), (second, b)));
        }
    }
    holm(&mut found);
    found
}

fn compare(gold: &Gold, a: (&str, &[Outcome]), b: (&str, &[Outcome])) -> Comparison {
    let nei = gold.keys.iter().filter(|key| key.kind == "nei").count() as f64;
    let definite = gold.keys.len() as f64 - nei;
    // Weights that make the sums the differences of the rates.
    let mut classes: [BTreeMap<&str, f64>; 2] = Default::default();
    let [of_definite, of_nei] = &mut classes;
    let (mut only_first, mut only_second) = (0, 0);
    for ((key, x), y) in gold.keys.iter().zip(a.1).zip(b.1) {
        let apart = x.right() - y.right();
        only_first += usize::from(apart > 0.0);
        only_second += usize::from(apart < 0.0);
        if key.kind == "nei" {
            *of_nei.entry(&key.cluster).or_default() += apart / nei;
        } else {
            *of_definite.entry(&key.cluster).or_default() += apart / definite;
        }
    }
    // A class holds entries of one kind.
    let [of_definite, of_nei] = classes.map(|classes| classes.into_values().collect::<Vec<f64>>());
    let share = if nei > 0.0 && definite > 0.0 { 0.5 } else { 1.0 };
    let halved = |totals: &[f64]| totals.iter().map(|total| share * total).collect();
    let balanced = difference(&[halved(&of_definite), halved(&of_nei)]);
    Comparison {
        first: a.0.to_owned(),
        second: b.0.to_owned(),
        balanced,
        definite: difference(&[of_definite]),
        nei: difference(&[of_nei]),
        only_first,
        only_second,
        p_corrected: balanced.p,
    }
}

fn holm(comparisons: &mut [Comparison]) {
    let mut order: Vec<usize> = (0..comparisons.len()).collect();
    let p = |at: usize| comparisons.get(at).map_or(1.0, |found| found.balanced.p);
    order.sort_by(|a, b| p(*a).total_cmp(&p(*b)).then(a.cmp(b)));
    let mut floor: f64 = 0.0;
    let total = order.len();
    for (rank, at) in order.into_iter().enumerate() {
        if let Some(found) = comparisons.get_mut(at) {
            floor = floor.max((found.balanced.p * (total - rank) as f64).min(1.0));
            found.p_corrected = floor;
        }
    }
}
