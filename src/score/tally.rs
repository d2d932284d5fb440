//! Outcomes per entry and the figures of a model.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::gold::{Gold, Key};
use super::labels::{Match, best};
use super::predictions::Answers;
use super::statistics::{Estimate, estimate, halfway};

/// How an answer stands to the right one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The right answer.
    Right,
    /// A definite answer to a definite entry, but another one.
    Flipped,
    /// A definite answer to an NEI entry.
    Presumptuous,
    /// "Not enough information" to a definite entry.
    Timid,
    /// A reply without an answer.
    Unparsed,
    /// No reply.
    Missing,
}

/// One entry and what a model made of it.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Position of the answer given.
    pub answer: Option<usize>,
    /// Against the right one.
    pub verdict: Verdict,
    /// Citations; for definite entries with a support.
    pub citations: Option<Match>,
}

impl Outcome {
    /// 1 if right.
    #[must_use]
    pub fn right(&self) -> f64 {
        self.is(Verdict::Right)
    }

    fn is(&self, verdict: Verdict) -> f64 {
        f64::from(u8::from(self.verdict == verdict))
    }
}

/// The figures of one model.
#[derive(Clone, Debug, Serialize)]
pub struct Score {
    /// Its name.
    pub model: String,
    /// Right among definite entries.
    pub definite: Option<Estimate>,
    /// Right among NEI entries.
    pub nei: Option<Estimate>,
    /// The mean of both.
    pub balanced: Option<Estimate>,
    /// Right among all.
    pub accuracy: Option<Estimate>,
    /// Definite answers among NEI entries.
    pub presumptuous: Option<Estimate>,
    /// NEI answers among definite entries.
    pub timid: Option<Estimate>,
    /// Another definite answer among definite entries.
    pub flipped: Option<Estimate>,
    /// Entries by verdict.
    pub counts: BTreeMap<&'static str, usize>,
    /// Citations of definite entries.
    pub citation_precision: Option<Estimate>,
    /// Citations of definite entries.
    pub citation_recall: Option<Estimate>,
    /// Citations of definite entries.
    pub citation_f1: Option<Estimate>,
    /// Right answer and citations that are exactly a support.
    pub right_and_cited: Option<Estimate>,
    /// Groups with every member right.
    pub group_consistency: Option<Estimate>,
    /// Accuracy by what entries have.
    pub breakdown: Vec<Breakdown>,
}

/// Accuracy on the entries that share a property.
#[derive(Clone, Debug, Serialize)]
pub struct Breakdown {
    /// `determination`, `verdict`, `depth` and so on.
    pub by: &'static str,
    /// Its value or range.
    pub value: String,
    /// Right among them.
    pub accuracy: Estimate,
}

/// Every entry against a model's answers.
#[must_use]
pub(super) fn judge(gold: &Gold, model: &Answers) -> Vec<Outcome> {
    let one = |key: &Key| match model.by_id.get(&key.id) {
        None => outcome(key, None, true),
        Some(prediction) => {
            let mut outcome = outcome(key, prediction.reading(&key.choices).choice(), false);
            if key.kind == "definite" {
                outcome.citations = best(&prediction.cited(), &key.supports, &gold.texts);
            }
            outcome
        }
    };
    gold.keys.iter().map(one).collect()
}

fn outcome(key: &Key, answer: Option<usize>, missing: bool) -> Outcome {
    let nei = key.nei_choice();
    let verdict = match answer {
        _ if missing => Verdict::Missing,
        None => Verdict::Unparsed,
        Some(at) if at == key.answer => Verdict::Right,
        Some(at) if at == nei => Verdict::Timid,
        Some(_) if key.answer == nei => Verdict::Presumptuous,
        Some(_) => Verdict::Flipped,
    };
    let supported = key.kind == "definite" && key.supports.iter().any(|set| !set.is_empty());
    Outcome { answer, verdict, citations: supported.then(Match::default) }
}

/// Answerers that read nothing: always NEI, and per determination the most frequent answer of all
/// entries, and of the definite ones.
#[must_use]
pub(super) fn baselines(gold: &Gold) -> Vec<(String, Vec<Outcome>)> {
    let most = |definite: bool| -> BTreeMap<&str, usize> {
        let mut counts: BTreeMap<&str, BTreeMap<usize, usize>> = BTreeMap::new();
        for key in gold.keys.iter().filter(|key| !definite || key.kind == "definite") {
            *counts.entry(&key.determination).or_default().entry(key.answer).or_default() += 1;
        }
        let best = |counts: BTreeMap<usize, usize>| {
            let best = counts.into_iter().max_by_key(|(at, n)| (*n, std::cmp::Reverse(*at)));
            best.map_or(0, |(at, _)| at)
        };
        counts.into_iter().map(|(id, counts)| (id, best(counts))).collect()
    };
    let fixed = |name: &str, answer: &dyn Fn(&Key) -> usize| {
        let outcomes = gold.keys.iter().map(|key| outcome(key, Some(answer(key)), false));
        (name.to_owned(), outcomes.collect())
    };
    let (majority, definite) = (most(false), most(true));
    let of = |table: &BTreeMap<&str, usize>, key: &Key| {
        table.get(key.determination.as_str()).copied().unwrap_or(0)
    };
    vec![
        fixed("always NEI", &Key::nei_choice),
        fixed("majority", &|key| of(&majority, key)),
        fixed("majority of definite", &|key| of(&definite, key)),
    ]
}

/// The figures.
#[must_use]
pub(super) fn score(gold: &Gold, name: &str, outcomes: &[Outcome]) -> Score {
    let pairs: Vec<(&Key, &Outcome)> = gold.keys.iter().zip(outcomes).collect();
    let rate = |nei: Option<bool>, of: &dyn Fn(&Outcome) -> f64| {
        let kept = pairs.iter().filter(|(key, _)| nei.is_none_or(|nei| (key.kind == "nei") == nei));
        estimate(kept.map(|(key, outcome)| (of(outcome), key.cluster.as_str())))
    };
    let cited = |of: &dyn Fn(&Match) -> f64| {
        let with = pairs.iter().filter_map(|(key, o)| Some((of(o.citations.as_ref()?), *key)));
        estimate(with.map(|(value, key)| (value, key.cluster.as_str())))
    };
    let (definite, nei) = (rate(Some(false), &Outcome::right), rate(Some(true), &Outcome::right));
    let mut counts = BTreeMap::new();
    for (verdict, word) in [
        (Verdict::Right, "right"),
        (Verdict::Flipped, "flipped"),
        (Verdict::Presumptuous, "presumptuous"),
        (Verdict::Timid, "timid"),
        (Verdict::Unparsed, "unparsed"),
        (Verdict::Missing, "missing"),
    ] {
        counts.insert(word, outcomes.iter().filter(|outcome| outcome.verdict == verdict).count());
    }
    let exact = pairs.iter().filter_map(|(key, outcome)| {
        let whole = outcome.citations.as_ref()?.f1 >= 1.0;
        Some((f64::from(u8::from(whole)) * outcome.right(), key.cluster.as_str()))
    });
    Score {
        model: name.to_owned(),
        balanced: definite.as_ref().zip(nei.as_ref()).map(|(a, b)| halfway(a, b)),
        definite,
        nei,
        accuracy: rate(None, &Outcome::right),
        presumptuous: rate(Some(true), &|outcome| outcome.is(Verdict::Presumptuous)),
        timid: rate(Some(false), &|outcome| outcome.is(Verdict::Timid)),
        flipped: rate(Some(false), &|outcome| outcome.is(Verdict::Flipped)),
        counts,
        citation_precision: cited(&|found| found.precision),
        citation_recall: cited(&|found| found.recall),
        citation_f1: cited(&|found| found.f1),
        right_and_cited: estimate(exact),
        group_consistency: groups(&pairs),
        breakdown: breakdown(&pairs),
    }
}

fn groups(pairs: &[(&Key, &Outcome)]) -> Option<Estimate> {
    let mut all: BTreeMap<&str, f64> = BTreeMap::new();
    for (key, outcome) in pairs.iter().filter(|(key, _)| !key.group.is_empty()) {
        *all.entry(&key.group).or_insert(1.0) *= outcome.right();
    }
    estimate(all.into_iter().map(|(group, right)| (right, group)))
}

/// A property of entries and how it is read.
type Named<'f, T> = (&'static str, &'f dyn Fn(&Key) -> T);

fn breakdown(pairs: &[(&Key, &Outcome)]) -> Vec<Breakdown> {
    let mut all = Vec::new();
    let words: [Named<'_, String>; 2] = [
        ("determination", &|key| key.determination.clone()),
        ("verdict", &|key| format!("{}: {}", key.determination, key.value)),
    ];
    for (by, of) in words {
        let values: BTreeSet<String> = pairs.iter().map(|(key, _)| of(key)).collect();
        for value in values {
            all.extend(slice(pairs, by, value.clone(), &|key| of(key) == value));
        }
    }
    let numbers: [(&str, Named<'_, usize>); 5] = [
        ("", ("depth", &|key| key.depth)),
        ("", ("facts", &|key| key.facts)),
        ("definite", ("needed facts", &|key| key.needed)),
        ("definite", ("sections of a support", &|key| key.core)),
        ("nei", ("cut depth", &|key| key.cut)),
    ];
    for (kind, (by, of)) in numbers {
        let of_kind = |key: &Key| kind.is_empty() || key.kind == kind;
        let mut values: Vec<usize> =
            pairs.iter().filter(|(key, _)| of_kind(key)).map(|(key, _)| of(key)).collect();
        values.sort_unstable();
        for (least, most) in ranges(&values) {
            let name = if least == most { least.to_string() } else { format!("{least} to {most}") };
            all.extend(slice(pairs, by, name, &|key| {
                of_kind(key) && (least..=most).contains(&of(key))
            }));
        }
    }
    all
}

fn slice(
    pairs: &[(&Key, &Outcome)],
    by: &'static str,
    value: String,
    chosen: &dyn Fn(&Key) -> bool,
) -> Option<Breakdown> {
    let kept = pairs.iter().filter(|(key, _)| chosen(key));
    let accuracy = estimate(kept.map(|(key, o)| (o.right(), key.cluster.as_str())))?;
    Some(Breakdown { by, value, accuracy })
}

/// Up to six ranges of about as many entries each, from sorted values.
fn ranges(values: &[usize]) -> Vec<(usize, usize)> {
    let distinct: BTreeSet<usize> = values.iter().copied().collect();
    let part = values.len().div_ceil(6).max(1);
    let mut found: Vec<(usize, usize)> = Vec::new();
    let mut held = 0;
    for value in &distinct {
        let count = values.iter().filter(|known| *known == value).count();
        match found.last_mut() {
            Some(range) if distinct.len() > 6 && held < part => range.1 = *value,
            _ => {
                found.push((*value, *value));
                held = 0;
            }
        }
        held += count;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_about_as_many_entries_each() {
        assert_eq!(ranges(&[1, 1, 2, 5]), [(1, 1), (2, 2), (5, 5)]);
        let many: Vec<usize> = (0..60).collect();
        assert_eq!(ranges(&many).len(), 6);
        assert_eq!(ranges(&many).first(), Some(&(0, 9)));
        assert_eq!(ranges(&[]), []);
    }
}
