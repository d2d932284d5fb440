//! Rates with intervals. Entries of one class (same determination, answer and facts asked) share a
//! derivation, so a class counts as one draw.

use std::collections::BTreeMap;

use serde::Serialize;

/// Two-sided 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// A mean with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The mean.
    pub value: f64,
    /// Lower end at 95 %.
    pub low: f64,
    /// Upper end at 95 %.
    pub high: f64,
    /// Entries.
    pub n: usize,
    /// Classes.
    pub clusters: usize,
}

/// The mean of values between 0 and 1, each with its cluster: a Wilson interval for as many draws
/// as the clustered standard error is worth. Where all values are equal the classes count.
#[must_use]
pub(super) fn estimate<'a>(values: impl IntoIterator<Item = (f64, &'a str)>) -> Option<Estimate> {
    let mut clusters: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let (mut sum, mut n, mut squares) = (0.0, 0_usize, 0.0);
    for (value, cluster) in values {
        let slot = clusters.entry(cluster).or_default();
        slot.0 += value;
        slot.1 += 1.0;
        sum += value;
        squares += value * value;
        n += 1;
    }
    if n == 0 {
        return None;
    }
    let (size, groups) = (n as f64, clusters.len() as f64);
    let mean = sum / size;
    let spread = clusters.values().map(|(total, count)| (total - count * mean).powi(2));
    let correction = if groups > 1.0 { groups / (groups - 1.0) } else { 1.0 };
    let clustered = spread.sum::<f64>() * correction / (size * size);
    let plain = (squares / size - mean * mean).max(0.0) / size;
    let worth = if plain <= 1e-12 || groups < 2.0 {
        groups
    } else {
        (size * plain / clustered.max(plain)).max(1.0)
    };
    let (low, high) = wilson(mean, worth);
    Some(Estimate { value: mean, low, high, n, clusters: clusters.len() })
}

/// Wilson's interval for a rate over `n` draws.
fn wilson(rate: f64, n: f64) -> (f64, f64) {
    let below = 1.0 + Z * Z / n;
    let center = (rate + Z * Z / (2.0 * n)) / below;
    let half = Z * (rate * (1.0 - rate) / n + Z * Z / (4.0 * n * n)).max(0.0).sqrt() / below;
    ((center - half).clamp(0.0, rate), (center + half).clamp(rate, 1.0))
}

/// The mean of two estimates over entries that share no class (the distances of the ends add up in
/// squares).
#[must_use]
pub(super) fn halfway(a: &Estimate, b: &Estimate) -> Estimate {
    let value = f64::midpoint(a.value, b.value);
    let reach = |x: f64, y: f64| (x * x + y * y).sqrt() / 2.0;
    Estimate {
        value,
        low: (value - reach(a.value - a.low, b.value - b.low)).max(0.0),
        high: (value + reach(a.high - a.value, b.high - b.value)).min(1.0),
        n: a.n + b.n,
        clusters: a.clusters + b.clusters,
    }
}

/// A weighted sum of differences per class, its interval, and how often chance alone would give one
/// as large: signs of whole classes flipped, with a fixed seed (all flips where few enough).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// First less second.
    pub value: f64,
    /// Lower end at 95 %.
    pub low: f64,
    /// Upper end at 95 %.
    pub high: f64,
    /// Two-sided.
    pub p: f64,
}

/// Flips drawn where there are too many to try all.
const FLIPS: u32 = 9_999;

/// Tests that the sum of the class totals is zero; each stratum holds classes drawn apart from the
/// others (definite and NEI).
#[must_use]
pub(super) fn difference(strata: &[Vec<f64>]) -> Difference {
    let value: f64 = strata.iter().flatten().sum();
    let variance: f64 = strata.iter().map(|totals| spread(totals)).sum();
    let half = Z * variance.sqrt();
    let moving: Vec<f64> = strata.iter().flatten().copied().filter(|t| t.abs() > 1e-15).collect();
    let extreme = value.abs() - 1e-12;
    let p = if moving.is_empty() {
        1.0
    } else if moving.len() <= 13 {
        let all = 1_u32 << moving.len();
        let hits = (0..all).filter(|mask| flipped(&moving, |at| mask >> at & 1 == 1) >= extreme);
        hits.count() as f64 / f64::from(all)
    } else {
        let mut state = 0_u64;
        let hits = (0..FLIPS).filter(|_| {
            let signs: Vec<bool> = moving.iter().map(|_| next(&mut state) >> 63 == 1).collect();
            flipped(&moving, |at| signs.get(at).copied().unwrap_or(false)) >= extreme
        });
        (hits.count() as f64 + 1.0) / (f64::from(FLIPS) + 1.0)
    };
    Difference { value, low: (value - half).max(-1.0), high: (value + half).min(1.0), p }
}

/// Variance of a sum of class totals.
fn spread(totals: &[f64]) -> f64 {
    let groups = totals.len() as f64;
    if totals.len() < 2 {
        return totals.iter().map(|total| total * total).sum();
    }
    let mean = totals.iter().sum::<f64>() / groups;
    let squares: f64 = totals.iter().map(|total| (total - mean).powi(2)).sum();
    squares * groups / (groups - 1.0)
}

fn flipped(totals: &[f64], flip: impl Fn(usize) -> bool) -> f64 {
    let signed = totals.iter().enumerate().map(|(at, t)| if flip(at) { -t } else { *t });
    signed.sum::<f64>().abs()
}

/// SplitMix64: the same numbers in every run.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-4
    }

    #[test]
    fn intervals_agree_with_the_tables() {
        // Every entry its own class: Wilson's interval of 1/5 and of 0/5.
        let names = ["a", "b", "c", "d", "e"];
        let one = estimate([1.0, 0.0, 0.0, 0.0, 0.0].into_iter().zip(names)).unwrap();
        // The clustered error is a little wider than the plain one: n/(n-1).
        assert!(close(one.value, 0.2) && one.low < 0.0363 && one.high > 0.6245, "{one:?}");
        let none = estimate([0.0; 5].into_iter().zip(names)).unwrap();
        assert!(close(none.low, 0.0) && close(none.high, 0.4345), "{none:?}");
        // Five entries of one class are one draw.
        let same = estimate([0.0; 5].into_iter().zip(["a"; 5])).unwrap();
        assert!(same.clusters == 1 && same.high > 0.79, "{same:?}");
        assert_eq!(estimate(Vec::new()), None);
    }

    #[test]
    fn classes_widen_an_interval() {
        let apart: Vec<String> = (0..40).map(|at| at.to_string()).collect();
        let values: Vec<f64> = (0..40).map(|at| f64::from(u8::from(at < 20))).collect();
        let alone = estimate(values.iter().copied().zip(apart.iter().map(String::as_str))).unwrap();
        let pairs: Vec<String> = (0..40).map(|at| (at / 10).to_string()).collect();
        let tied = estimate(values.iter().copied().zip(pairs.iter().map(String::as_str))).unwrap();
        assert!(tied.high - tied.low > 1.5 * (alone.high - alone.low), "{alone:?} {tied:?}");
    }

    #[test]
    fn differences_are_tested_by_flipping_classes() {
        // Five classes, all for the first: 2 of 32 flips are as extreme.
        let five = difference(&[vec![0.2; 5]]);
        assert!(close(five.p, 2.0 / 32.0) && close(five.value, 1.0), "{five:?}");
        let even = difference(&[vec![0.1], vec![-0.1]]);
        assert!(close(even.p, 1.0) && close(even.value, 0.0), "{even:?}");
        assert!(close(difference(&[vec![0.0; 3]]).p, 1.0));
        let many = difference(&[vec![0.01; 40]]);
        assert!(many.p < 0.001 && many == difference(&[vec![0.01; 40]]), "{many:?}");
    }
}
