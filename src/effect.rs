//! What an edit did to a determination: its tree, and the entries that came, went or changed their
//! answer. An entry's id leaves its answer out, so the same facts keep their id.

use std::collections::BTreeMap;

use crate::build::BuildEntry;
use crate::dataset::Row;

/// What changed between two builds of one determination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Effect {
    /// Figures that moved: name, old, new.
    pub figures: Vec<(&'static str, String, String)>,
    /// The same facts with another answer: old and new.
    pub relabelled: Vec<(Row, Row)>,
    /// Entries that are gone.
    pub lost: Vec<Row>,
    /// Entries that are new.
    pub gained: Vec<Row>,
    /// Entries whose facts and answer stay, and whose words or sections changed.
    pub reworded: usize,
}

/// Examples shown.
const EXAMPLES: usize = 2;

impl Effect {
    /// Compares two builds.
    #[must_use]
    pub fn between(old: (&BuildEntry, &[Row]), new: (&BuildEntry, &[Row])) -> Self {
        let mut effect = Self::default();
        let (was, is) = (&old.0.figures, &new.0.figures);
        let mut figure = |name, was: String, is: String| {
            if was != is {
                effect.figures.push((name, was, is));
            }
        };
        figure("depth", was.depth.to_string(), is.depth.to_string());
        figure("definite paths", was.paths_definite.clone(), is.paths_definite.clone());
        figure("NEI paths", was.paths_nei.clone(), is.paths_nei.clone());
        figure("silent", was.silent.clone(), is.silent.clone());
        let before: BTreeMap<&str, &Row> = old.1.iter().map(|row| (row.id.as_str(), row)).collect();
        let after: BTreeMap<&str, &Row> = new.1.iter().map(|row| (row.id.as_str(), row)).collect();
        // An NEI entry that becomes definite has another id: its kind is part of it.
        let facts = |row: &Row| -> Vec<(String, String)> {
            let pairs = row.facts.iter().map(|f| (f.variable.clone(), f.value.clone()));
            let mut pairs: Vec<_> = pairs.collect();
            pairs.sort_unstable();
            pairs
        };
        let gone = old.1.iter().filter(|row| !after.contains_key(row.id.as_str()));
        let mut gone: BTreeMap<Vec<(String, String)>, &Row> =
            gone.map(|row| (facts(row), row)).collect();
        for row in new.1 {
            let former = before.get(row.id.as_str()).copied();
            match former.or_else(|| gone.remove(&facts(row))) {
                Some(former) if former.answer_value != row.answer_value => {
                    effect.relabelled.push((former.clone(), row.clone()));
                }
                Some(former) => effect.reworded += usize::from(former != row),
                None => effect.gained.push(row.clone()),
            }
        }
        let mut lost: Vec<Row> = gone.into_values().cloned().collect();
        lost.sort_by(|a, b| a.id.cmp(&b.id));
        effect.lost = lost;
        effect
    }

    /// Nothing changed.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Lines for a person: changed answers first, since they may be mistakes.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let moved: Vec<String> =
            self.figures.iter().map(|(name, old, new)| format!("{name} {old} -> {new}")).collect();
        if !moved.is_empty() {
            lines.push(moved.join(", "));
        }
        let counts = [
            (self.relabelled.len(), "with another answer"),
            (self.lost.len(), "lost"),
            (self.gained.len(), "gained"),
            (self.reworded, "reworded or cited otherwise"),
        ];
        let counts: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        if !counts.is_empty() {
            lines.push(format!("entries: {}", counts.join(", ")));
        }
        let relabelled = self.relabelled.iter().map(|(old, new)| {
            format!("{} -> {}: {}", old.answer, new.answer, new.facts_text.join(" "))
        });
        let lost = self.lost.iter();
        let lost = lost.map(|row| format!("lost, {}: {}", row.answer, row.facts_text.join(" ")));
        let gained = self.gained.iter();
        let gained =
            gained.map(|row| format!("gained, {}: {}", row.answer, row.facts_text.join(" ")));
        lines.extend(relabelled.chain(lost).chain(gained).take(EXAMPLES));
        lines
    }
}
