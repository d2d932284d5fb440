//! `deogen verify`: a release proved again from its own files.
//!
//! Sums; rows against their Parquet copy, their id and their words; the exported policy against the
//! sources; every claim by a solver that reads the export with its own parser; every witness by the
//! pure evaluator on the sources. One fault never hides another: all are listed.

mod entry;
mod second;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::build::rows_path;
use crate::dataset::{Row, Witness};
use crate::formats::columns;
use crate::lock::{LOCK, Lock};
use crate::policy::Inquiry;
use crate::project::Project;
use crate::query::{self, Query};
use crate::release::{SUMS, present, sha256};
use crate::replay::{self, Said};
use crate::rows::Shelf;
use crate::vocabulary::Vocabulary;

pub use second::Cvc5;

/// Who proves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prover {
    /// Z3, through its own parser.
    Z3,
    /// cvc5, in processes of its own.
    Cvc5(Cvc5),
}

/// What does not hold, and of what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// An entry's id, or a file.
    pub of: String,
    /// Why.
    pub reason: String,
}

/// What was verified.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Verified {
    /// Name and version of the release.
    pub release: String,
    /// Name and version of the solver.
    pub solver: String,
    /// Files whose sum holds.
    pub files: usize,
    /// Entries of every check.
    pub entries: usize,
    /// Definite among them.
    pub definite: usize,
    /// NEI among them.
    pub nei: usize,
    /// Answers of the solver.
    pub answers: usize,
    /// Witnesses evaluated.
    pub witnesses: usize,
    /// What does not hold.
    pub findings: Vec<Finding>,
}

/// Work of one question in Z3's units: ten times what a build allows.
const RLIMIT: u32 = 50_000_000;

/// A determination of the release.
struct Case {
    inquiry: Inquiry,
    vocabulary: Vocabulary,
    /// The exported policy, as the release has it.
    text: String,
    answers: BTreeMap<String, String>,
}

/// Verifies a release; `tick` is told of every entry.
///
/// # Errors
/// The folder is no release, or the second solver is not there.
pub fn verify(
    root: &Path,
    prover: &Prover,
    interrupted: &AtomicBool,
    tick: &(dyn Fn(usize, usize) + Sync),
) -> Result<Verified, String> {
    let lock = fs::read_to_string(root.join(LOCK)).ok().and_then(|text| Lock::read(&text));
    let Some(lock) = lock else {
        return Err(format!("`{}` is no release: it has no {LOCK}", root.display()));
    };
    let mut verified = Verified {
        release: format!("{} {}", lock.name, lock.release),
        solver: match prover {
            Prover::Z3 => crate::solver::version(),
            Prover::Cvc5(cvc5) => cvc5.version()?,
        },
        ..Verified::default()
    };
    let mut findings = BTreeSet::new();
    verified.files = sums(root, &mut findings);
    let shelf = Shelf::read(&root.join("jsonl"))?;
    for fault in shelf.faults {
        findings.insert(Finding { of: short(root, &fault), reason: "a line is no row".to_owned() });
    }
    compare_parquet(root, &lock, &shelf.rows, &mut findings);
    let witnesses = witnesses(root, &lock, &mut findings);
    let cases = cases(root, &lock, &mut findings);
    count(&lock, &shelf.rows, &mut findings);
    let rows: Vec<&Row> = shelf.rows.values().collect();
    let done = AtomicUsize::new(0);
    let checked: Vec<entry::Checked> = rows
        .par_iter()
        .map(|row| {
            let checked = match cases.get(&row.determination) {
                Some(_) if interrupted.load(Ordering::Relaxed) => entry::Checked::default(),
                Some(case) => entry::check(case, row, &witnesses),
                None => entry::Checked::fault("its determination is not in the release"),
            };
            tick(done.fetch_add(1, Ordering::Relaxed) + 1, rows.len());
            checked
        })
        .collect();
    let said = match prover {
        Prover::Z3 => rows.par_iter().map(|row| z3(&cases, row, interrupted)).collect(),
        Prover::Cvc5(cvc5) => cvc5.ask(&queries(&cases, &rows), interrupted)?,
    };
    for ((row, checked), said) in rows.iter().zip(checked).zip(said) {
        let fault = |reason: String| Finding { of: row.id.clone(), reason };
        verified.witnesses += checked.witnesses;
        findings.extend(checked.faults.into_iter().map(fault));
        match said {
            Ok(answers) => {
                verified.answers += answers.len();
                findings.extend(judge(row, &answers).map(fault));
            }
            Err(reason) => {
                findings.insert(fault(reason));
            }
        }
        verified.entries += 1;
        verified.definite += usize::from(row.kind == "definite");
        verified.nei += usize::from(row.kind == "nei");
    }
    verified.findings = findings.into_iter().collect();
    Ok(verified)
}

/// A place inside the release.
fn short(root: &Path, text: &str) -> String {
    text.replace(&format!("{}/", root.display()), "")
}

/// Every file against its sum, and no file without one.
fn sums(root: &Path, findings: &mut BTreeSet<Finding>) -> usize {
    let mut say = |of: &str, reason: &str| {
        findings.insert(Finding { of: of.to_owned(), reason: reason.to_owned() });
    };
    let text = fs::read_to_string(root.join(SUMS)).unwrap_or_default();
    let mut held = 0;
    let mut listed = BTreeSet::new();
    for line in text.lines() {
        let Some((sum, path)) = line.split_once("  ") else {
            say(SUMS, "a line is no sum and path");
            continue;
        };
        listed.insert(path.to_owned());
        match fs::read(root.join(path)) {
            Ok(bytes) if sha256(&bytes) == sum => held += 1,
            Ok(_) => say(path, "its bytes are not those of the release: the SHA-256 differs"),
            Err(error) => say(path, &error.to_string()),
        }
    }
    for path in present(root).unwrap_or_default() {
        if path != SUMS && !listed.contains(&path) {
            say(&path, "is not in SHA256SUMS");
        }
    }
    held
}

/// The Parquet copy must hold the same rows; what only one of them has is named.
fn compare_parquet(
    root: &Path,
    lock: &Lock,
    rows: &BTreeMap<String, Row>,
    findings: &mut BTreeSet<Finding>,
) {
    let policies: BTreeSet<&str> = rows.values().map(|row| row.policy.as_str()).collect();
    let locked = lock.determinations.keys().filter_map(|id| Some(id.split_once('/')?.0));
    let mut seen = BTreeSet::new();
    for policy in policies.into_iter().chain(locked).collect::<BTreeSet<&str>>() {
        let path = format!("data/{policy}/test-00000-of-00001.parquet");
        let read = fs::File::open(root.join(&path))
            .map_err(|error| error.to_string())
            .and_then(|file| columns::records(file).map_err(|error| error.to_string()));
        let records = match read {
            Ok(records) => records,
            Err(error) => {
                findings.insert(Finding { of: path, reason: error });
                continue;
            }
        };
        for record in records {
            let id = record.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
            let same = rows.get(&id).map(|row| serde_json::to_value(row).unwrap_or_default());
            let reason = match same {
                None => Some("stands in the Parquet copy and not in jsonl/"),
                Some(Value::Object(row)) if equal(&row, &record) => None,
                Some(_) => Some("differs between jsonl/ and the Parquet copy"),
            };
            if let Some(reason) = reason {
                findings.insert(Finding { of: id.clone(), reason: reason.to_owned() });
            }
            seen.insert(id);
        }
    }
    for id in rows.keys().filter(|id| !seen.contains(*id)) {
        let reason = "stands in jsonl/ and not in the Parquet copy".to_owned();
        findings.insert(Finding { of: id.clone(), reason });
    }
}

fn equal(a: &Map<String, Value>, b: &Map<String, Value>) -> bool {
    a.len() == b.len() && a.iter().all(|(key, value)| b.get(key) == Some(value))
}

fn witnesses(
    root: &Path,
    lock: &Lock,
    findings: &mut BTreeSet<Finding>,
) -> BTreeMap<String, Witness> {
    let mut found = BTreeMap::new();
    let policies = lock.determinations.keys().filter_map(|id| Some(id.split_once('/')?.0));
    for policy in policies.collect::<BTreeSet<&str>>() {
        let path = format!("certificates/{policy}/witnesses.jsonl.zst");
        let plain = fs::read(root.join(&path)).and_then(|bytes| zstd::decode_all(bytes.as_slice()));
        let plain = match plain {
            Ok(plain) => plain,
            Err(error) => {
                findings.insert(Finding { of: path, reason: error.to_string() });
                continue;
            }
        };
        for line in plain.split(|byte| *byte == b'\n') {
            if let Ok(witness) = serde_json::from_slice::<Witness>(line) {
                found.insert(witness.id.clone(), witness);
            }
        }
    }
    found
}

/// The determinations as the sources say them, and the exports that are replayed.
fn cases(root: &Path, lock: &Lock, findings: &mut BTreeSet<Finding>) -> BTreeMap<String, Case> {
    let mut say = |of: String, reason: &str| {
        findings.insert(Finding { of, reason: reason.to_owned() });
    };
    let mut cases = BTreeMap::new();
    let Ok(project) = Project::load(&root.join("source")) else {
        say("source/deogen.toml".to_owned(), "the project cannot be read");
        return cases;
    };
    for det in &project.manifest.determinations {
        let id = &det.id.name;
        let path = rows_path(id, &det.policy.name).replace(".jsonl", ".smt2");
        let path = format!("certificates/{path}");
        let inquiry = project.inquiry(det);
        let vocabulary =
            inquiry.as_ref().ok().and_then(|inquiry| project.vocabulary(&inquiry.policy).ok());
        let (Ok(inquiry), Some(vocabulary)) = (inquiry, vocabulary) else {
            say(id.clone(), "the policy in source/ is at fault");
            continue;
        };
        let Ok(text) = fs::read_to_string(root.join(&path)) else {
            say(path, "cannot be read");
            continue;
        };
        if query::export(&inquiry) != text {
            say(path, "is not what the policies in source/ say");
        }
        let answers = det.answers.iter().map(|(name, words)| (name.name.clone(), words.clone()));
        let answers: BTreeMap<String, String> = answers.collect();
        if lock.determinations.get(id).is_none_or(|locked| locked.answers != answers) {
            say(LOCK.to_owned(), &format!("the answers of `{id}` are not those of source/"));
        }
        cases.insert(id.clone(), Case { inquiry, vocabulary, text, answers });
    }
    cases
}

/// As many entries as the lock says.
fn count(lock: &Lock, rows: &BTreeMap<String, Row>, findings: &mut BTreeSet<Finding>) {
    for (id, locked) in &lock.determinations {
        let of = |kind: &str| {
            rows.values().filter(|row| row.determination == *id && row.kind == kind).count()
        };
        let (definite, nei) = (of("definite"), of("nei"));
        if (definite, nei) != (locked.definite, locked.nei) {
            let reason = format!(
                "{definite} definite and {nei} NEI entries; the lock says {} and {}",
                locked.definite, locked.nei
            );
            findings.insert(Finding { of: id.clone(), reason });
        }
    }
}

fn queries(cases: &BTreeMap<String, Case>, rows: &[&Row]) -> Vec<Result<Query, String>> {
    rows.iter().map(|row| query(cases, row)).collect()
}

fn query(cases: &BTreeMap<String, Case>, row: &Row) -> Result<Query, String> {
    let case = cases.get(&row.determination).ok_or("there is nothing to prove it from")?;
    Query::new(&case.text, row, &case.inquiry.policy.terms)
}

fn z3(
    cases: &BTreeMap<String, Case>,
    row: &Row,
    interrupted: &AtomicBool,
) -> Result<Vec<Said>, String> {
    if interrupted.load(Ordering::Relaxed) {
        return Err("interrupted".to_owned());
    }
    replay::ask(&query(cases, row)?, RLIMIT)
}

/// Whether the answers are those that certify the entry.
fn judge(row: &Row, answers: &[Said]) -> Option<String> {
    let definite = row.kind == "definite";
    let wanted = row.possible_values.len() + usize::from(definite);
    if answers.len() != wanted || wanted < 2 {
        return Some(format!("{} answers, {wanted} wanted", answers.len()));
    }
    let (possible, other) = answers.split_at(row.possible_values.len());
    for (value, said) in row.possible_values.iter().zip(possible) {
        match said {
            Said::Sat => {}
            Said::Unsat => return Some(format!("its facts exclude `{value}`")),
            Said::Unknown => return Some(format!("no answer about `{value}` within the limit")),
        }
    }
    match other.first() {
        Some(Said::Sat) => Some(format!("its facts do not force `{}`", row.answer_value)),
        Some(Said::Unknown) => Some("no answer about the other values within the limit".to_owned()),
        Some(Said::Unsat) | None => None,
    }
}

/// A release's own folder of sources, for building it again.
#[must_use]
pub fn source(root: &Path) -> PathBuf {
    root.join("source")
}
