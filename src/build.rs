//! `deogen build`: every determination through its stages, then the files in `dist/`.
//!
//! A run that finds the same inputs and outputs as the last one reads no policy and opens no tree:
//! a *stamp* in the store holds the digests of both. Files are written atomically and only where
//! their bytes change; files that an earlier build listed and nobody owns any more are removed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dataset::{self, PROMPT, Witness};
use crate::diag::{Diagnostic, Severity};
use crate::digest::{Digest, Encoder, Fields};
use crate::draw::seed_key;
use crate::manifest::{Determination, Manifest};
use crate::project::{Loader, MANIFEST, Project};
use crate::solver::{self, Meter};
use crate::stages::{Certificates, Failure, Figures, Prepared, Rendered, Run};
use crate::store::{Mode, Store, StoreError, write_atomically};

/// How to build.
#[derive(Clone, Debug)]
pub struct Options {
    /// The project's folder.
    pub root: PathBuf,
    /// How the store is used.
    pub cache: Mode,
    /// Keep every clause.
    pub no_slice: bool,
    /// Z3's seed; reaches no output.
    pub solver_seed: u32,
    /// Only these determinations; empty: all.
    pub only: Vec<String>,
}

/// What became of one determination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// Its id.
    pub id: String,
    /// `fresh`, or `stale` where its policies are at fault and an earlier result is kept.
    pub state: String,
    /// Every stage came from the store.
    pub cached: bool,
    /// Figures of its tree.
    #[serde(flatten)]
    pub figures: Figures,
    /// Entries certified by their own facts.
    pub certified_own: String,
    /// Paths certified by an unsatisfiable subset of their facts.
    pub certified_by_subset: String,
    /// Candidates dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
    /// Definite entries written.
    pub entries_definite: usize,
    /// NEI entries written.
    pub entries_nei: usize,
    /// Digest of the rows.
    pub digest: String,
    /// Why it is stale.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// A whole build.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// By determination, in the manifest's order.
    pub determinations: Vec<Outcome>,
    /// Checks the solver was asked.
    #[serde(default)]
    pub solver_checks: u64,
}

/// What ended a build.
#[derive(Debug)]
pub struct Ended {
    /// What was made.
    pub summary: Summary,
    /// The user's faults, and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Warnings of the store.
    pub warnings: Vec<String>,
    /// A failure that is none of the user's files.
    pub failure: Option<Failure>,
}

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

#[derive(Serialize, Deserialize)]
struct Stamp {
    summary: Summary,
    files: BTreeMap<String, Digest>,
}

/// Told of each stage of each determination.
pub type Watch<'w> = &'w (dyn Fn(&str, &str, &str) + Sync);

/// Builds.
pub fn build(options: &Options, interrupted: &AtomicBool, watch: Watch<'_>) -> Ended {
    let mut ended = Ended {
        summary: Summary::default(),
        diagnostics: Vec::new(),
        warnings: Vec::new(),
        failure: None,
    };
    let store = Store::new(&options.root.join("cache"), options.cache);
    if let Some(stamp) = unchanged(options, &store) {
        ended.summary = stamp.summary;
        ended.summary.solver_checks = 0;
        for outcome in &mut ended.summary.determinations {
            outcome.cached = true;
        }
        return ended;
    }
    let mut loader = Loader::new(&options.root);
    let project = match Project::load_with(&mut loader) {
        Ok(project) => project,
        Err(faults) => {
            ended.diagnostics = faults;
            return ended;
        }
    };
    ended.diagnostics = project.diagnostics();
    let meter = Meter::default();
    let run = Run {
        store: &store,
        rlimit: u32::try_from(project.manifest.limits.rlimit).unwrap_or(u32::MAX),
        solver_seed: options.solver_seed,
        diagram_mib: usize::try_from(project.manifest.limits.diagram_mib).unwrap_or(usize::MAX),
        no_slice: options.no_slice,
        meter: meter.clone(),
        interrupted,
        watch,
        key: seed_key(project.manifest.about.seed),
    };
    let chosen: Vec<&Determination> = project
        .manifest
        .determinations
        .iter()
        .filter(|det| options.only.is_empty() || options.only.contains(&det.id.name))
        .collect();
    let built: Vec<Result<Built, Failure>> =
        chosen.par_iter().map(|determination| one(&run, &project, determination)).collect();
    ended.summary.solver_checks = meter.checks();
    if let Err(error) = write(options, &project, &chosen, built, &mut ended) {
        ended.failure = Some(Failure::Store(error));
    }
    ended.summary.solver_checks = meter.checks();
    let clean = ended.failure.is_none() && !has_errors(&ended.diagnostics);
    if clean && options.only.is_empty() && store.mode() != Mode::Off {
        stamp(options, &store, &loader, &ended);
        let used = store.stats(false).bytes;
        if used > project.manifest.limits.cache {
            let _ = store.collect(project.manifest.limits.cache);
        }
    }
    ended.warnings = store.take_warnings();
    ended
}

/// Whether any is an error.
#[must_use]
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// One determination's results.
pub struct Built {
    /// Figures of its tree.
    pub figures: Figures,
    /// Certificates.
    pub certificates: Certificates,
    /// Rows.
    pub rendered: Rendered,
    /// All from the store.
    pub cached: bool,
}

/// Takes one determination through its stages: the story of a build.
///
/// # Errors
/// [`Failure`].
pub fn one(run: &Run<'_>, project: &Project, det: &Determination) -> Result<Built, Failure> {
    let prepared = prepare(run, project, det)?;
    let misses = std::sync::atomic::AtomicU64::new(0);
    let watch = |of: &str, stage: &str, what: &str| {
        if what == "miss" {
            misses.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
        (run.watch)(of, stage, what);
    };
    let run = Run { watch: &watch, meter: run.meter.clone(), ..*run };
    run.consistency(&prepared)?;
    let grown = run.tree(&prepared)?;
    let (certificates, digest) = run.certify(&prepared, &grown)?;
    let (rendered, _) = run.render(&prepared, &certificates, digest)?;
    (run.watch)(&det.id.name, "done", "");
    let cached = misses.load(std::sync::atomic::Ordering::Relaxed) == 0;
    Ok(Built { figures: grown.figures, certificates, rendered, cached })
}

/// Resolves a determination of a project.
///
/// # Errors
/// Faults of the user's files.
pub fn prepare(run: &Run<'_>, project: &Project, det: &Determination) -> Result<Prepared, Failure> {
    let inquiry = project.inquiry(det).map_err(Failure::Faults)?;
    let vocabulary = project.vocabulary(&inquiry.policy).map_err(Failure::Faults)?;
    let about = &project.manifest.about;
    let canary = dataset::canary(&about.name, &about.version);
    Prepared::new(det, inquiry, vocabulary, canary, run.no_slice).map_err(Failure::Faults)
}

/// Where the rows of a determination are, relative to `dist`.
#[must_use]
pub fn rows_path(determination: &str, policy: &str) -> String {
    match determination.split_once('/') {
        Some((first, rest)) => format!("{first}/{rest}.jsonl"),
        None => format!("{policy}/{determination}.jsonl"),
    }
}

fn write(
    options: &Options,
    project: &Project,
    chosen: &[&Determination],
    built: Vec<Result<Built, Failure>>,
    ended: &mut Ended,
) -> Result<(), StoreError> {
    let dist = options.root.join(&project.manifest.about.dist);
    let former: BuildFile = fs::read(dist.join("build.json"))
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default();
    let mut file = BuildFile {
        tool: format!("deogen {}", env!("CARGO_PKG_VERSION")),
        solver: solver::version(),
        seed: Digest::of(&seed_key(project.manifest.about.seed)).to_string(),
        ..BuildFile::default()
    };
    let mut out: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut witnesses: BTreeMap<String, BTreeSet<Witness>> = BTreeMap::new();
    for (det, result) in chosen.iter().zip(built) {
        let id = &det.id.name;
        let path = rows_path(id, &det.policy.name);
        match result {
            Ok(built) => {
                let rows = dataset::lines(&built.rendered.rows);
                let outcome = outcome(id, &built, &rows);
                file.determinations.insert(id.clone(), entry(&outcome));
                ended.summary.determinations.push(outcome);
                out.insert(path, rows);
                witnesses
                    .entry(det.policy.name.clone())
                    .or_default()
                    .extend(built.rendered.witnesses);
            }
            Err(failure) => {
                let reason = match &failure {
                    Failure::Faults(faults) => {
                        let first = faults.first();
                        let text = first.map_or(String::new(), |fault| fault.message.clone());
                        for fault in faults {
                            if !ended.diagnostics.contains(fault) {
                                ended.diagnostics.push(fault.clone());
                            }
                        }
                        text
                    }
                    other => other.to_string(),
                };
                if let Some(mut old) = former.determinations.get(id).cloned() {
                    old.stale = true;
                    old.reason.clone_from(&reason);
                    ended.summary.determinations.push(stale(id, &old));
                    file.determinations.insert(id.clone(), old);
                    kept.insert(path);
                    kept.insert(format!("{}/witnesses.jsonl", det.policy.name));
                } else {
                    let missing = BuildEntry { reason: reason.clone(), ..BuildEntry::default() };
                    ended.summary.determinations.push(stale(id, &missing));
                }
                if !matches!(failure, Failure::Faults(_)) {
                    ended.failure.get_or_insert(failure);
                }
            }
        }
    }
    for (policy, set) in witnesses {
        let path = format!("{policy}/witnesses.jsonl");
        let old = if kept.contains(&path) { fs::read(dist.join(&path)).ok() } else { None };
        out.insert(path, witness_lines(set, old));
    }
    out.insert("prompt.txt".to_owned(), PROMPT.as_bytes().to_vec());
    out.insert("policies.jsonl".to_owned(), policies(project));
    for path in kept.iter().filter(|path| !out.contains_key(*path)) {
        if let Some(digest) = former.files.get(path) {
            file.files.insert(path.clone(), *digest);
        }
    }
    let everything = options.only.is_empty();
    if !everything {
        for (path, digest) in &former.files {
            file.files.entry(path.clone()).or_insert(*digest);
        }
        for (id, old) in &former.determinations {
            file.determinations.entry(id.clone()).or_insert_with(|| old.clone());
        }
    }
    for (path, bytes) in &out {
        file.files.insert(path.clone(), Digest::of(bytes));
        write_changed(&dist.join(path), bytes)?;
    }
    for path in former.files.keys().filter(|path| !file.files.contains_key(*path)) {
        // Only what an earlier build listed is ever removed.
        let _ = fs::remove_file(dist.join(path));
    }
    let mut bytes = serde_json::to_vec_pretty(&file).unwrap_or_default();
    bytes.push(b'\n');
    write_changed(&dist.join("build.json"), &bytes)
}

fn write_changed(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    if fs::read(path).is_ok_and(|old| old == bytes) {
        return Ok(());
    }
    write_atomically(path, bytes)
}

fn witness_lines(set: BTreeSet<Witness>, old: Option<Vec<u8>>) -> Vec<u8> {
    let mut all = set;
    for line in old.unwrap_or_default().split(|byte| *byte == b'\n') {
        if let Ok(witness) = serde_json::from_slice(line) {
            all.insert(witness);
        }
    }
    let mut bytes = Vec::new();
    for witness in all {
        bytes.extend(serde_json::to_vec(&witness).unwrap_or_default());
        bytes.push(b'\n');
    }
    bytes
}

fn policies(project: &Project) -> Vec<u8> {
    let mut bytes = Vec::new();
    for id in project.manifest.policies.keys() {
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

/// What a run reads, by content; none where a file cannot be read.
fn inputs(options: &Options) -> Option<Fields> {
    let bytes = fs::read(options.root.join(MANIFEST)).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let source = crate::diag::Source::new(MANIFEST, text);
    let manifest = Manifest::read(&source).ok()?;
    let mut encoder = Encoder::new();
    encoder.text(source.text());
    for (id, policy) in &manifest.policies {
        for name in ["policy.smt2", "policy.md", "vocabulary.toml"] {
            let bytes = fs::read(options.root.join(&policy.path).join(name)).ok()?;
            encoder.text(id).text(name).bytes(&bytes);
        }
    }
    let fields = Fields::new()
        .with("tool", env!("CARGO_PKG_VERSION"))
        .with("versions", format!("{:?}", crate::stages::VERSIONS))
        .with("solver", solver::version())
        .with("no_slice", options.no_slice)
        .with("inputs", encoder.finish());
    Some(fields)
}

/// The last run's summary, if its inputs and outputs are as they were.
fn unchanged(options: &Options, store: &Store) -> Option<Stamp> {
    if !options.only.is_empty() {
        return None;
    }
    let fields = inputs(options)?;
    let stamp: Stamp = serde_json::from_slice(&store.get("stamp", &fields)?).ok()?;
    let root = &options.root;
    let holds = |(path, digest): (&String, &Digest)| {
        fs::read(root.join(path)).is_ok_and(|bytes| Digest::of(&bytes) == *digest)
    };
    stamp.files.iter().all(holds).then_some(stamp)
}

fn stamp(options: &Options, store: &Store, loader: &Loader, ended: &Ended) {
    let Some(fields) = inputs(options) else { return };
    if loader.files().is_empty() {
        return;
    }
    let Ok(text) = fs::read_to_string(options.root.join(MANIFEST)) else { return };
    let Ok(manifest) = Manifest::read(&crate::diag::Source::new(MANIFEST, text)) else { return };
    let dist = &manifest.about.dist;
    let Ok(bytes) = fs::read(options.root.join(dist).join("build.json")) else { return };
    let Ok(file) = serde_json::from_slice::<BuildFile>(&bytes) else { return };
    let name = |path: &str| dist.join(path).display().to_string();
    let mut files: BTreeMap<String, Digest> =
        file.files.iter().map(|(path, digest)| (name(path), *digest)).collect();
    files.insert(name("build.json"), Digest::of(&bytes));
    let stamp = Stamp { summary: ended.summary.clone(), files };
    let content = serde_json::to_vec(&stamp).unwrap_or_default();
    // A stamp only saves work: if it cannot be written, the next run does the work again.
    let _ = store.put("stamp", "", &fields, &content);
}
