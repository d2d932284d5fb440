//! `deogen release`: what was built, pinned and laid out so that others can load, prove and score
//! it.
//!
//! Everything is made in memory from the build's files and the lock, so the same lock gives the
//! same bytes anywhere; the folder appears whole, by renaming.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use crate::build::{BuildFile, rows_path};
use crate::dataset::{Row, canary};
use crate::formats::card::{self, About, Line, Part};
use crate::formats::croissant::{Listed, croissant};
use crate::formats::{columns, tasks};
use crate::lock::{LOCK, Lock};
use crate::project::{MANIFEST, Project};
use crate::query;

/// Sums of every file but itself.
pub const SUMS: &str = "SHA256SUMS";

/// Files of a release by path.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Why there is no release.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseFault {
    /// A file that cannot be read or written.
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    /// Outputs of an earlier build, or none.
    #[error("{0}")]
    Stale(String),
    /// The target holds something else.
    #[error("`{0}` holds `{1}`, which is no part of an earlier release of this name")]
    Foreign(PathBuf, String),
    /// The lock would change.
    #[error("{LOCK} would change")]
    Moved(Vec<String>),
    /// A format's library.
    #[error("{0}")]
    Format(String),
}

fn read(path: &Path) -> Result<Vec<u8>, ReleaseFault> {
    fs::read(path).map_err(|error| ReleaseFault::File(path.to_path_buf(), error))
}

/// SHA-256 in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The release of a project that was just built, and its lock.
///
/// # Errors
/// [`ReleaseFault`].
pub fn assemble(root: &Path, project: &Project) -> Result<(Files, Lock), ReleaseFault> {
    let dist = root.join(&project.manifest.about.dist);
    let build = read(&dist.join("build.json"))?;
    let file: BuildFile = serde_json::from_slice(&build)
        .map_err(|error| ReleaseFault::Stale(format!("build.json: {error}")))?;
    if let Some((id, entry)) = file.determinations.iter().find(|(_, entry)| entry.stale) {
        return Err(ReleaseFault::Stale(format!("`{id}` is stale: {}", entry.reason)));
    }
    let mut files = Files::new();
    let mut rows: BTreeMap<String, Vec<Map<String, Value>>> = BTreeMap::new();
    let mut slices = BTreeMap::new();
    let mut lines = Vec::new();
    for det in &project.manifest.determinations {
        let (id, policy) = (&det.id.name, &det.policy.name);
        let built = file.determinations.get(id);
        let Some(built) = built else {
            return Err(ReleaseFault::Stale(format!("`{id}` is not built")));
        };
        let path = rows_path(id, policy);
        let bytes = read(&dist.join(&path))?;
        let records = records(&bytes).map_err(|error| {
            ReleaseFault::Stale(format!("{}: {error}", dist.join(&path).display()))
        })?;
        if let Some(first) = records.first().and_then(|row| row.get("meaning")?.as_str()) {
            slices.insert(id.clone(), first.to_owned());
        }
        rows.entry(policy.clone()).or_default().extend(records);
        files.insert(format!("jsonl/{path}"), bytes);
        let inquiry = project
            .inquiry(det)
            .map_err(|_| ReleaseFault::Stale(format!("the policy of `{id}` is at fault")))?;
        files.insert(
            format!("certificates/{}", path.replace(".jsonl", ".smt2")),
            query::export(&inquiry).into_bytes(),
        );
        lines.push(Line {
            id: id.clone(),
            question: det.question.name.replace('|', "\\|"),
            definite: built.entries.0,
            nei: built.entries.1,
            paths: built.figures.paths_definite.clone(),
        });
    }
    sources(root, project, &mut files)?;
    for name in ["prompt.txt", "policies.jsonl", "build.json"] {
        files.insert(name.to_owned(), read(&dist.join(name))?);
    }
    for policy in rows.keys() {
        let plain = read(&dist.join(format!("{policy}/witnesses.jsonl")))?;
        let packed = zstd::encode_all(plain.as_slice(), 19)
            .map_err(|error| ReleaseFault::Format(error.to_string()))?;
        files.insert(format!("certificates/{policy}/witnesses.jsonl.zst"), packed);
    }
    let lock = Lock::new(project, &file, &slices, &files);
    files.insert(LOCK.to_owned(), lock.text().into_bytes());
    describe(project, &lock, lines, &rows, &mut files)?;
    let sums: String =
        files.iter().map(|(path, bytes)| format!("{}  {path}\n", sha256(bytes))).collect();
    files.insert(SUMS.to_owned(), sums.into_bytes());
    Ok((files, lock))
}

fn records(bytes: &[u8]) -> Result<Vec<Map<String, Value>>, serde_json::Error> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            // A line that is no row of this version must not be released.
            let _: Row = serde_json::from_slice(line)?;
            serde_json::from_slice(line)
        })
        .collect()
}

/// The project itself: with it anybody can build the release again.
fn sources(root: &Path, project: &Project, files: &mut Files) -> Result<(), ReleaseFault> {
    files.insert(format!("source/{MANIFEST}"), read(&root.join(MANIFEST))?);
    for entry in project.manifest.policies.values() {
        for name in ["policy.smt2", "policy.md", "vocabulary.toml"] {
            let path = entry.path.join(name);
            let shown = path.components().map(|part| part.as_os_str().to_string_lossy());
            let shown = shown.collect::<Vec<_>>().join("/");
            files.insert(format!("source/{shown}"), read(&root.join(&path))?);
        }
    }
    Ok(())
}

fn describe(
    project: &Project,
    lock: &Lock,
    lines: Vec<Line>,
    rows: &BTreeMap<String, Vec<Map<String, Value>>>,
    files: &mut Files,
) -> Result<(), ReleaseFault> {
    let format = |error: String| ReleaseFault::Format(error);
    let mut parts = Vec::new();
    let mut listed = Vec::new();
    for (policy, records) in rows {
        let path = format!("data/{policy}/test-00000-of-00001.parquet");
        let bytes = columns::parquet(records).map_err(|error| format(error.to_string()))?;
        listed.push(Listed { policy: policy.clone(), path: path.clone(), sha256: sha256(&bytes) });
        parts.push(Part { policy: policy.clone(), rows: records.len(), file: path.clone() });
        files.insert(path, bytes);
    }
    let about = &project.manifest.about;
    let first = rows.values().flatten().next();
    let about = About {
        name: about.name.clone(),
        version: about.version.clone(),
        license: about.license.clone(),
        canary: canary(&about.name, &about.version),
        tool: lock.tool.clone(),
        solver: lock.solver.clone(),
        parts,
        lines,
        columns: first.map(columns::columns).unwrap_or_default(),
    };
    let card = card::card(&about).map_err(|error| format(error.to_string()))?;
    files.insert("README.md".to_owned(), card.into_bytes());
    files.insert("CITATION.cff".to_owned(), card::citation(&about).into_bytes());
    files.insert("LICENSE".to_owned(), card::license(&about).into_bytes());
    files.insert("croissant.json".to_owned(), croissant(&about, &listed).into_bytes());
    for (path, text) in tasks::tasks(&about) {
        files.insert(path, text.into_bytes());
    }
    Ok(())
}

/// The name of a project's release.
#[must_use]
pub fn name(project: &Project) -> String {
    format!("{}-{}", project.manifest.about.name, project.manifest.about.version)
}

/// Compares the lock with the one in the project; without `locked` the new one is written.
///
/// # Errors
/// The lock would change and must not, or it cannot be written.
pub fn pin(root: &Path, lock: &Lock, locked: bool) -> Result<Vec<String>, ReleaseFault> {
    let path = root.join(LOCK);
    let text = fs::read_to_string(&path).unwrap_or_default();
    if text == lock.text() {
        return Ok(Vec::new());
    }
    let moved = match Lock::read(&text) {
        Some(old) => old.moved(lock),
        None if text.is_empty() => vec![format!("there is no {LOCK} yet")],
        None => vec![format!("{LOCK} cannot be read")],
    };
    if locked {
        return Err(ReleaseFault::Moved(moved));
    }
    fs::write(&path, lock.text()).map_err(|error| ReleaseFault::File(path, error))?;
    Ok(moved)
}

/// Writes a release into a folder, which must be missing, empty, or an earlier release of the same
/// project. Nothing but the files of that release is ever removed.
///
/// # Errors
/// A foreign target, or a file that cannot be written.
pub fn write(target: &Path, files: &Files, lock: &Lock) -> Result<(), ReleaseFault> {
    let fail = |path: &Path| {
        let path = path.to_path_buf();
        move |error: io::Error| ReleaseFault::File(path, error)
    };
    owned(target, lock)?;
    let parent = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    fs::create_dir_all(parent).map_err(fail(parent))?;
    let staging =
        tempfile::Builder::new().prefix(".release").tempdir_in(parent).map_err(fail(parent))?;
    let fresh = staging.path().join("new");
    for (path, bytes) in files {
        let path = fresh.join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fail(folder))?;
        }
        fs::write(&path, bytes).map_err(fail(&path))?;
    }
    if target.exists() {
        fs::rename(target, staging.path().join("old")).map_err(fail(target))?;
    }
    fs::rename(&fresh, target).map_err(fail(target))
}

/// Refuses a target that holds anything but a release of the same name.
fn owned(target: &Path, lock: &Lock) -> Result<(), ReleaseFault> {
    if !target.exists() {
        return Ok(());
    }
    let foreign = |what: String| ReleaseFault::Foreign(target.to_path_buf(), what);
    let present = present(target)?;
    if present.is_empty() && target.is_dir() {
        return Ok(());
    }
    let old = fs::read_to_string(target.join(LOCK)).ok().and_then(|text| Lock::read(&text));
    if old.is_none_or(|old| old.name != lock.name) {
        return Err(foreign(present.into_iter().next().unwrap_or_default()));
    }
    let sums = fs::read_to_string(target.join(SUMS)).unwrap_or_default();
    let known: Vec<&str> = sums.lines().filter_map(|line| Some(line.split_once("  ")?.1)).collect();
    match present.into_iter().find(|path| path != SUMS && !known.contains(&path.as_str())) {
        Some(path) => Err(foreign(path)),
        None => Ok(()),
    }
}

/// Every file below a folder, relative and with `/`.
///
/// # Errors
/// A folder that cannot be read.
pub fn present(folder: &Path) -> Result<Vec<String>, ReleaseFault> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(folder).sort_by_file_name() {
        let entry =
            entry.map_err(|error| ReleaseFault::File(folder.to_path_buf(), error.into()))?;
        if !entry.file_type().is_dir() {
            let path = entry.path().strip_prefix(folder).unwrap_or(entry.path());
            let parts = path.components().map(|part| part.as_os_str().to_string_lossy());
            found.push(parts.collect::<Vec<_>>().join("/"));
        }
    }
    Ok(found)
}
