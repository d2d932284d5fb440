//! The files of a build: what they hold, and writing only what changed.
//!
//! Nothing is written where a run failed or was interrupted: `dist/` then stays as the last build
//! that ended left it. Only files that an earlier build listed are ever removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Built, Ended, Options, Outcome, has_errors};
use crate::dataset::{self, PROMPT, Witness};
use crate::digest::Digest;
use crate::draw::seed_key;
use crate::manifest::Determination;
use crate::project::Project;
use crate::solver;
use crate::stages::{Failure, Figures};
use crate::store::{StoreError, is_left_over, remove_left_over};

/// `dist/build.json`: no time, no host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildFile {
    /// Version of the tool.
    pub tool: String,
    /// Name and version of the solver.
    pub solver: String,
    /// Public commitment to the seed or salt.
    pub seed: String,
    /// By determination.
    pub determinations: BTreeMap<String, BuildEntry>,
    /// Files of this build with their digests.
    pub files: BTreeMap<String, Digest>,
}

/// A determination in `dist/build.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildEntry {
    /// Digest of its rows.
    pub digest: String,
    /// Figures of its tree.
    pub figures: Figures,
    /// Entries written.
    pub entries: (usize, usize),
    /// Candidates dropped.
    pub dropped: BTreeMap<String, u64>,
    /// Its policies are at fault; the rows are those of an earlier build.
    pub stale: bool,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// Where the rows of a determination are, relative to `dist`.
#[must_use]
pub fn rows_path(determination: &str, policy: &str) -> String {
    match determination.split_once('/') {
        Some((first, rest)) => format!("{first}/{rest}.jsonl"),
        None => format!("{policy}/{determination}.jsonl"),
    }
}

/// What a build leaves in its folder.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    /// The folder, relative to the project.
    pub(super) dist: PathBuf,
    /// By path in the folder.
    pub(super) files: BTreeMap<String, Vec<u8>>,
    /// `build.json`.
    pub(super) file: BuildFile,
    /// `build.json` of the build before.
    pub(super) former: BuildFile,
}

/// Gathers the outputs of a run, and what became of each determination.
pub(super) fn assemble(
    options: &Options,
    project: &Project,
    chosen: &[&Determination],
    built: Vec<Result<Built, Failure>>,
    ended: &mut Ended,
) -> Outputs {
    let dist = project.manifest.about.dist.clone();
    let folder = options.root.join(&dist);
    let former: BuildFile = fs::read(folder.join("build.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let file = BuildFile {
        tool: format!("deogen {}", env!("CARGO_PKG_VERSION")),
        solver: solver::version(),
        seed: Digest::of(&seed_key(project.manifest.about.seed)).to_string(),
        ..BuildFile::default()
    };
    let mut outputs = Outputs { dist, files: BTreeMap::new(), file, former };
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut witnesses: BTreeMap<String, BTreeSet<Witness>> = BTreeMap::new();
    for (det, result) in chosen.iter().zip(built) {
        match result {
            Ok(built) => {
                outputs.add(det, &built, ended);
                let all = witnesses.entry(det.policy.name.clone()).or_default();
                all.extend(built.rendered.witnesses);
            }
            Err(failure) => outputs.keep(det, failure, &mut kept, ended),
        }
    }
    for det in &project.manifest.determinations {
        // Rows that this run did not make keep their scenarios.
        if !options.only.is_empty() && !options.only.contains(&det.id.name) {
            kept.insert(format!("{}/witnesses.jsonl", det.policy.name));
        }
    }
    for (policy, set) in witnesses {
        let path = format!("{policy}/witnesses.jsonl");
        let made: BTreeSet<&str> = chosen.iter().map(|det| det.id.name.as_str()).collect();
        let stale = |id: &str| outputs.file.determinations.get(id).is_some_and(|entry| entry.stale);
        let old = if kept.contains(&path) { fs::read(folder.join(&path)).ok() } else { None };
        let lines = witness_lines(set, old, |id| !made.contains(id) || stale(id));
        outputs.files.insert(path, lines);
    }
    outputs.files.insert("prompt.txt".to_owned(), PROMPT.as_bytes().to_vec());
    let old = fs::read_to_string(folder.join("policies.jsonl")).unwrap_or_default();
    outputs.files.insert("policies.jsonl".to_owned(), policies(project, &old));
    outputs.list(&kept, options.only.is_empty());
    outputs
}

impl Outputs {
    fn add(&mut self, det: &Determination, built: &Built, ended: &mut Ended) {
        let id = &det.id.name;
        let rows = dataset::lines(&built.rendered.rows);
        let outcome = outcome(id, built, &rows);
        self.file.determinations.insert(id.clone(), entry(&outcome));
        ended.summary.determinations.push(outcome);
        self.files.insert(rows_path(id, &det.policy.name), rows);
    }

    /// Keeps what an earlier build made of a determination that now has no result.
    fn keep(
        &mut self,
        det: &Determination,
        failure: Failure,
        kept: &mut BTreeSet<String>,
        ended: &mut Ended,
    ) {
        let id = &det.id.name;
        let reason = match &failure {
            Failure::Faults(faults) => {
                for fault in faults {
                    if !ended.diagnostics.contains(fault) {
                        ended.diagnostics.push(fault.clone());
                    }
                }
                faults.first().map_or(String::new(), |fault| fault.message.clone())
            }
            other => other.to_string(),
        };
        if let Some(mut old) = self.former.determinations.get(id).cloned() {
            old.stale = true;
            old.reason.clone_from(&reason);
            ended.summary.determinations.push(stale(id, &old));
            self.file.determinations.insert(id.clone(), old);
            kept.insert(rows_path(id, &det.policy.name));
            kept.insert(format!("{}/witnesses.jsonl", det.policy.name));
        } else {
            let missing = BuildEntry { reason, ..BuildEntry::default() };
            ended.summary.determinations.push(stale(id, &missing));
        }
        if !matches!(failure, Failure::Faults(_)) {
            let first = ended.failure.get_or_insert(Failure::Interrupted);
            // Of several, the one that matters most: a bug, then the disk, then the rest.
            if rank(&failure) > rank(first) {
                *first = failure;
            }
        }
    }

    /// Lists the files of this build and those it keeps.
    fn list(&mut self, kept: &BTreeSet<String>, everything: bool) {
        for path in kept.iter().filter(|path| !self.files.contains_key(*path)) {
            if let Some(digest) = self.former.files.get(path) {
                self.file.files.insert(path.clone(), *digest);
            }
        }
        if !everything {
            for (path, digest) in &self.former.files {
                self.file.files.entry(path.clone()).or_insert(*digest);
            }
            for (id, old) in &self.former.determinations {
                self.file.determinations.entry(id.clone()).or_insert_with(|| old.clone());
            }
        }
        for (path, bytes) in &self.files {
            self.file.files.insert(path.clone(), Digest::of(bytes));
        }
    }

    /// `build.json` as it is written.
    pub(super) fn build_json(&self) -> Vec<u8> {
        json(&self.file)
    }

    /// Paths whose files are not as this build leaves them.
    pub(super) fn differing(&self, root: &Path) -> Vec<String> {
        let folder = root.join(&self.dist);
        let same = |path: &str, bytes: &[u8]| fs::read(folder.join(path)).is_ok_and(|b| b == bytes);
        let mut found: Vec<String> = Vec::new();
        for (path, bytes) in &self.files {
            if !same(path, bytes) {
                found.push(path.clone());
            }
        }
        let listed = |path: &&String| self.file.files.contains_key(*path);
        let orphans = self.former.files.keys().filter(|path| !listed(path));
        found.extend(orphans.filter(|path| folder.join(path).exists()).cloned());
        if !same("build.json", &self.build_json()) {
            found.push("build.json".to_owned());
        }
        found
    }

    /// Writes what changed.
    pub(super) fn write(&self, options: &Options) -> Result<(), StoreError> {
        let folder = options.root.join(&self.dist);
        for path in self.file.files.keys() {
            sweep(&folder.join(path));
        }
        sweep(&folder.join("build.json"));
        let put = |path: &str, bytes: &[u8]| -> Result<(), StoreError> {
            let path = folder.join(path);
            if fs::read(&path).is_ok_and(|old| old == bytes) {
                return Ok(());
            }
            options.disk.write(&path, bytes)
        };
        // New files are listed before they are there: whatever happens in between, a later build
        // knows whose they are.
        let new = self.file.files.iter().filter(|(path, _)| !self.former.files.contains_key(*path));
        let mut interim = self.former.clone();
        interim.files.extend(new.map(|(path, digest)| (path.clone(), *digest)));
        if interim.files.len() > self.former.files.len() {
            put("build.json", &json(&interim))?;
        }
        for (path, bytes) in &self.files {
            put(path, bytes)?;
        }
        for path in self.former.files.keys().filter(|path| !self.file.files.contains_key(*path)) {
            let _ = fs::remove_file(folder.join(path));
            // A policy's folder goes with its last file.
            if let Some(parent) = Path::new(path).parent().filter(|p| !p.as_os_str().is_empty()) {
                let _ = fs::remove_dir(folder.join(parent));
            }
        }
        put("build.json", &self.build_json())
    }
}

/// Removes what a killed build left beside a file.
fn sweep(path: &Path) {
    let entries = path.parent().and_then(|folder| fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        if is_left_over(&entry.path()) {
            remove_left_over(&entry.path());
        }
    }
}

fn json(file: &BuildFile) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(file).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn rank(failure: &Failure) -> usize {
    match failure {
        Failure::Bug(_) => 4,
        Failure::Store(_) => 3,
        Failure::Missing(_) => 2,
        Failure::Interrupted => 1,
        Failure::Faults(_) => 0,
    }
}

fn witness_lines(
    set: BTreeSet<Witness>,
    old: Option<Vec<u8>>,
    keep: impl Fn(&str) -> bool,
) -> Vec<u8> {
    let mut all = set;
    for line in old.unwrap_or_default().split(|byte| *byte == b'\n') {
        let witness: Result<Witness, _> = serde_json::from_slice(line);
        all.extend(witness.ok().filter(|witness| keep(&witness.determination)));
    }
    let mut bytes = Vec::new();
    for witness in all {
        bytes.extend(serde_json::to_vec(&witness).unwrap_or_default());
        bytes.push(b'\n');
    }
    bytes
}

/// The texts of the policies; of one that is at fault, the text its kept rows were made from.
fn policies(project: &Project, old: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for id in project.manifest.policies.keys() {
        if has_errors(project.faults(id)) {
            let former = old.lines().find(|line| {
                let known: Option<serde_json::Value> = serde_json::from_str(line).ok();
                known.is_some_and(|known| known.get("id").and_then(|v| v.as_str()) == Some(id))
            });
            if let Some(former) = former {
                bytes.extend(former.as_bytes());
                bytes.push(b'\n');
                continue;
            }
        }
        let Some(member) = project.member(id) else { continue };
        let text = member.document.source.text();
        let line = serde_json::json!({
            "id": id,
            "text": text,
            "uses": project.manifest.uses(id),
            "digest": Digest::of(text.as_bytes()),
        });
        bytes.extend(line.to_string().into_bytes());
        bytes.push(b'\n');
    }
    bytes
}

fn outcome(id: &str, built: &Built, rows: &[u8]) -> Outcome {
    let count = |kind: &str| built.rendered.rows.iter().filter(|row| row.kind == kind).count();
    let mut dropped = built.certificates.dropped.clone();
    *dropped.entry("text".to_owned()).or_default() += built.rendered.text_drops;
    Outcome {
        id: id.to_owned(),
        state: "fresh".to_owned(),
        cached: built.cached,
        figures: built.figures.clone(),
        certified_own: built.certificates.entries.len().to_string(),
        certified_by_subset: "0".to_owned(),
        dropped,
        entries_definite: count("definite"),
        entries_nei: count("nei"),
        digest: Digest::of(rows).to_string(),
        reason: String::new(),
    }
}

fn entry(outcome: &Outcome) -> BuildEntry {
    BuildEntry {
        digest: outcome.digest.clone(),
        figures: outcome.figures.clone(),
        entries: (outcome.entries_definite, outcome.entries_nei),
        dropped: outcome.dropped.clone(),
        stale: false,
        reason: String::new(),
    }
}

fn stale(id: &str, old: &BuildEntry) -> Outcome {
    Outcome {
        id: id.to_owned(),
        state: if old.digest.is_empty() { "missing" } else { "stale" }.to_owned(),
        cached: false,
        figures: old.figures.clone(),
        certified_own: "0".to_owned(),
        certified_by_subset: "0".to_owned(),
        dropped: old.dropped.clone(),
        entries_definite: old.entries.0,
        entries_nei: old.entries.1,
        digest: old.digest.clone(),
        reason: old.reason.clone(),
    }
}
