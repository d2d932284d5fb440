//! `deogen diff`: what changed between two releases or built projects, and which clauses moved an
//! answer.
//!
//! Entries are matched by determination and facts, whatever their ids: a changed answer may change
//! the kind, and with it the id. A clause is responsible for a changed answer if taking its change
//! back brings the old answer back; where no single one does, the smallest set found is named.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde::Serialize;

use crate::build::rows_path;
use crate::dataset::Row;
use crate::lock::LOCK;
use crate::project::{MANIFEST, Project};
use crate::query;
use crate::rows::Shelf;

mod blame;

/// Determination, facts, and whether a fact was taken out of the middle: a cut and a hole may state
/// the same facts.
type Key = (String, String, bool);

/// The key of the other sort.
fn other((determination, facts, hole): &Key) -> Key {
    (determination.clone(), facts.clone(), !hole)
}

/// One side: rows and what the policies say.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Rows by determination and facts.
    rows: BTreeMap<Key, Row>,
    /// Exported policy of each determination.
    exports: BTreeMap<String, String>,
}

impl State {
    /// Reads a release, a built project, or a folder or file of rows alone.
    ///
    /// # Errors
    /// It holds no rows.
    pub fn read(path: &Path) -> Result<Self, String> {
        let mut state = Self::default();
        let mut rows = path.to_path_buf();
        if path.join(LOCK).exists() && path.join("jsonl").is_dir() {
            rows = path.join("jsonl");
        } else if path.join(MANIFEST).exists() {
            let project = Project::load(path).map_err(|faults| {
                let first = faults.first().map(|fault| fault.message.clone());
                format!("{}: {}", path.display(), first.unwrap_or_default())
            })?;
            let dist = path.join(&project.manifest.about.dist);
            for det in &project.manifest.determinations {
                let file = dist.join(rows_path(&det.id.name, &det.policy.name));
                if file.exists() {
                    state.add(Shelf::read(&file)?);
                }
                if let Ok(inquiry) = project.inquiry(det) {
                    state.exports.insert(det.id.name.clone(), query::export(&inquiry));
                }
            }
            return state.filled(path);
        }
        state.add(Shelf::read(&rows)?);
        let known: BTreeSet<(String, String)> = state
            .rows
            .values()
            .map(|row| (row.determination.clone(), row.policy.clone()))
            .collect();
        for (determination, policy) in known {
            let file = rows_path(&determination, &policy).replace(".jsonl", ".smt2");
            if let Ok(text) = fs::read_to_string(path.join("certificates").join(file)) {
                state.exports.insert(determination, text);
            }
        }
        state.filled(path)
    }

    fn filled(self, path: &Path) -> Result<Self, String> {
        if self.rows.is_empty() {
            return Err(format!("there are no entries in `{}`: is it built?", path.display()));
        }
        Ok(self)
    }

    fn add(&mut self, shelf: Shelf) {
        for row in shelf.rows.into_values() {
            let mut facts: Vec<String> =
                row.facts.iter().map(|fact| format!("{}={}", fact.variable, fact.value)).collect();
            facts.sort_unstable();
            let hole = row.nei_kind == "hole";
            self.rows.insert((row.determination.clone(), facts.join(" "), hole), row);
        }
    }
}

/// An entry whose answer is another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Relabelled {
    /// Its id now.
    pub id: String,
    /// The determination.
    pub determination: String,
    /// The old answer.
    pub old: String,
    /// The new one.
    pub new: String,
    /// Clauses that were added, removed or changed and moved it.
    pub clauses: Vec<String>,
}

/// Figures of one determination.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Entries before.
    pub before: usize,
    /// Entries after.
    pub after: usize,
    /// Only after.
    pub added: usize,
    /// Only before.
    pub removed: usize,
    /// With another answer.
    pub relabelled: usize,
    /// With the same answer in other words.
    pub reworded: usize,
    /// With the same answer and words, but other sections.
    pub recited: usize,
}

/// What changed.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Changes {
    /// By determination.
    pub determinations: BTreeMap<String, Counts>,
    /// Clauses added, removed or changed, by determination.
    pub clauses: BTreeMap<String, Vec<String>>,
    /// Ids only after.
    pub added: Vec<String>,
    /// Ids only before.
    pub removed: Vec<String>,
    /// With another answer.
    pub relabelled: Vec<Relabelled>,
    /// Ids of the same answer in other words.
    pub reworded: Vec<String>,
    /// Ids with other supports or sections.
    pub recited: Vec<String>,
}

/// Compares two sides.
#[must_use]
pub fn diff(a: &State, b: &State) -> Changes {
    let mut changes = Changes::default();
    let mut shifts: BTreeMap<&String, blame::Shift> = BTreeMap::new();
    for (id, new) in &b.exports {
        if let Some(old) = a.exports.get(id) {
            let shift = blame::Shift::between(old, new);
            let moved = shift.described();
            if !moved.is_empty() {
                changes.clauses.insert(id.clone(), moved);
            }
            shifts.insert(id, shift);
        }
    }
    for (key, old) in &a.rows {
        let counts = changes.determinations.entry(key.0.clone()).or_default();
        counts.before += 1;
        let Some(new) = counterpart(b, a, key) else {
            counts.removed += 1;
            changes.removed.push(old.id.clone());
            continue;
        };
        if (&old.kind, &old.answer_value) != (&new.kind, &new.answer_value) {
            counts.relabelled += 1;
            let shift = shifts.get(&key.0);
            changes.relabelled.push(Relabelled {
                id: new.id.clone(),
                determination: key.0.clone(),
                old: old.answer.clone(),
                new: new.answer.clone(),
                clauses: shift.map(|shift| shift.responsible(old, new)).unwrap_or_default(),
            });
        } else if words(old) != words(new) {
            counts.reworded += 1;
            changes.reworded.push(new.id.clone());
        } else if (&old.supports, &old.sections, &old.open_sections)
            != (&new.supports, &new.sections, &new.open_sections)
        {
            counts.recited += 1;
            changes.recited.push(new.id.clone());
        }
    }
    for (key, new) in &b.rows {
        let counts = changes.determinations.entry(key.0.clone()).or_default();
        counts.after += 1;
        if counterpart(a, b, key).is_none() {
            counts.added += 1;
            changes.added.push(new.id.clone());
        }
    }
    changes
}

/// The row of one side with the facts of a row of the other side: of the same sort, or, where
/// neither side has both sorts, of the other.
fn counterpart<'s>(side: &'s State, own: &State, key: &Key) -> Option<&'s Row> {
    let other = other(key);
    let same = side.rows.get(key);
    same.or_else(|| side.rows.get(&other).filter(|_| !own.rows.contains_key(&other)))
}

fn words(row: &Row) -> (&[String], &str, &[String]) {
    (&row.facts_text, &row.question, &row.choices)
}

impl Changes {
    /// The changes as a person reads them, at most so many entries of each sort.
    #[must_use]
    pub fn text(&self, most: usize) -> String {
        let mut out = String::new();
        for (id, counts) in &self.determinations {
            let _ = writeln!(
                out,
                "{id}: {} entries -> {}: {} added, {} removed, {} relabelled, {} reworded, {} \
                 with other sections",
                counts.before,
                counts.after,
                counts.added,
                counts.removed,
                counts.relabelled,
                counts.reworded,
                counts.recited
            );
            for clause in self.clauses.get(id).into_iter().flatten() {
                let _ = writeln!(out, "  {clause}");
            }
        }
        if !self.relabelled.is_empty() {
            out.push_str("\nrelabelled\n");
        }
        for entry in self.relabelled.iter().take(most) {
            let by = if entry.clauses.is_empty() {
                "no clause alone".to_owned()
            } else {
                entry.clauses.join(", ")
            };
            let _ = writeln!(out, "  {} {} -> {}: by {by}", entry.id, entry.old, entry.new);
        }
        let rest = self.relabelled.len().saturating_sub(most);
        if rest > 0 {
            let _ = writeln!(out, "  and {rest} more");
        }
        for (name, ids) in [
            ("added", &self.added),
            ("removed", &self.removed),
            ("reworded", &self.reworded),
            ("other sections", &self.recited),
        ] {
            if !ids.is_empty() {
                let shown: Vec<&str> = ids.iter().take(most).map(String::as_str).collect();
                let more = ids.len().saturating_sub(most);
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let _ = writeln!(out, "\n{name}\n  {}{more}", shown.join("\n  "));
            }
        }
        out
    }
}
