//! What is right: the rows of a release, of `dist`, or of one file.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::labels::Label;
use crate::dataset::Row;
use crate::rows::Shelf;

/// What scoring reads of a row.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its id.
    pub id: String,
    /// The determination.
    pub determination: String,
    /// Its policy.
    pub policy: String,
    /// `definite` or `nei`.
    pub kind: String,
    /// Group of a pair or triple, or empty.
    pub group: String,
    /// Allowed answers, "not enough information" last.
    pub choices: Vec<String>,
    /// Position of the right one.
    pub answer: usize,
    /// The verdict value, or `NEI`.
    pub value: String,
    /// Sets of sections, each enough for the answer.
    pub supports: Vec<Vec<Label>>,
    /// Entries of one class share their derivation: the unit of resampling.
    pub cluster: String,
    /// Facts stated.
    pub facts: usize,
    /// Facts that force the answer.
    pub needed: usize,
    /// Questions from the root.
    pub depth: usize,
    /// Facts withheld.
    pub cut: usize,
    /// Sections of the first support.
    pub core: usize,
    /// The release's mark.
    pub canary: String,
}

impl Key {
    fn new(row: Row) -> Option<Self> {
        let answer = row.choices.iter().position(|choice| *choice == row.answer)?;
        let label = |section: &String| Label::qualified(section);
        Some(Self {
            cluster: format!("{} {} {} {}", row.determination, row.kind, row.answer, row.signature),
            value: if row.kind == "nei" { "NEI".to_owned() } else { row.answer_value },
            supports: row.supports.iter().map(|set| set.iter().map(label).collect()).collect(),
            id: row.id,
            determination: row.determination,
            policy: row.policy,
            kind: row.kind,
            group: row.group,
            choices: row.choices,
            answer,
            facts: row.fact_count,
            needed: row.needed_facts,
            depth: row.tree_depth,
            cut: row.cut_depth,
            core: row.difficulty.core,
            canary: row.canary,
        })
    }

    /// Position of "not enough information".
    #[must_use]
    pub fn nei_choice(&self) -> usize {
        self.choices.len().saturating_sub(1)
    }
}

/// The rows that are scored.
#[derive(Clone, Debug)]
pub struct Gold {
    /// Name of the release, or of the folder.
    pub name: String,
    /// By id.
    pub keys: Vec<Key>,
    /// Every id there is, also those left out by a selection.
    pub known: BTreeSet<String>,
    /// Labels of the texts, by policy.
    pub texts: BTreeMap<String, BTreeSet<String>>,
}

impl Gold {
    /// Reads the rows below a folder or in a file; `only` selects policies and determinations.
    ///
    /// # Errors
    /// What could not be read, with its place.
    pub fn read(path: &Path, only: &[String]) -> Result<Self, String> {
        let Shelf { rows, texts, faults } = Shelf::read(path)?;
        if let Some(fault) = faults.into_iter().next() {
            return Err(fault);
        }
        let mut keys = Vec::with_capacity(rows.len());
        for (id, row) in rows {
            let key = Key::new(row).ok_or(format!("`{id}`: its answer is none of its choices"))?;
            keys.push(key);
        }
        let texts = texts.into_iter().map(|(id, text)| (id, labels_of(&text))).collect();
        let known: BTreeSet<String> = keys.iter().map(|key| key.id.clone()).collect();
        let name =
            path.canonicalize().ok().and_then(|path| path.file_name().map(ToOwned::to_owned));
        let name = name.map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let chosen = |key: &Key| {
            only.is_empty() || only.contains(&key.determination) || only.contains(&key.policy)
        };
        keys.retain(chosen);
        if keys.is_empty() {
            return Err(format!("there are no entries to score in `{}`", path.display()));
        }
        Ok(Self { name, keys, known, texts })
    }
}

/// The labels of a text: bold, at the start of a paragraph.
fn labels_of(text: &str) -> BTreeSet<String> {
    let labels = text.lines().filter_map(|line| line.strip_prefix("**§")?.split_once("**"));
    labels.map(|(label, _)| label.to_owned()).collect()
}
