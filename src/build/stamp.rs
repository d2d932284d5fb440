//! The short way: a stamp in the store says which inputs gave which outputs.
//!
//! A run whose inputs and outputs are both as a stamp says has nothing to do. Inputs are those that
//! the build read, byte for byte: a file saved while it ran belongs to the next run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::outputs::Outputs;
use super::{Ended, Options, Summary};
use crate::dataset::PROMPT;
use crate::diag::Source;
use crate::digest::{Digest, Encoder, Fields};
use crate::manifest::Manifest;
use crate::project::MANIFEST;
use crate::solver;
use crate::stages::VERSIONS;
use crate::store::Store;

#[derive(Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) summary: Summary,
    files: BTreeMap<String, Digest>,
}

/// Files read, by path, with their digests.
type Files = BTreeMap<PathBuf, Option<Digest>>;

fn fields(options: &Options, files: &Files) -> Fields {
    let mut encoder = Encoder::new();
    for (path, digest) in files {
        // Folders have no digest of their own.
        let Some(digest) = digest else { continue };
        encoder.text(&path.to_string_lossy()).digest(digest);
    }
    Fields::new()
        .with("tool", env!("CARGO_PKG_VERSION"))
        .with("versions", format!("{VERSIONS:?}"))
        .with("prompt", Digest::of(PROMPT.as_bytes()))
        .with("solver", solver::version())
        .with("no_slice", options.no_slice)
        .with("inputs", encoder.finish())
}

/// The files a run reads; none where one cannot be read.
fn inputs(root: &Path) -> Option<Files> {
    let mut files = Files::new();
    let bytes = fs::read(root.join(MANIFEST)).ok()?;
    files.insert(MANIFEST.into(), Some(Digest::of(&bytes)));
    let manifest = Manifest::read(&Source::new(MANIFEST, String::from_utf8(bytes).ok()?)).ok()?;
    for policy in manifest.policies.values() {
        files.insert(policy.path.clone(), None);
        for name in ["policy.smt2", "policy.md", "vocabulary.toml"] {
            let path = policy.path.join(name);
            let digest = Digest::of(&fs::read(root.join(&path)).ok()?);
            files.insert(path, Some(digest));
        }
    }
    Some(files)
}

/// The last run's summary and the files it read, if its inputs and outputs are as they were.
pub(super) fn unchanged(options: &Options, store: &Store) -> Option<(Stamp, Files)> {
    if !options.only.is_empty() {
        return None;
    }
    let files = inputs(&options.root)?;
    let bytes = store.get("stamp", &fields(options, &files))?;
    let stamp: Stamp = serde_json::from_slice(&bytes).ok()?;
    let holds = |(path, digest): (&String, &Digest)| {
        fs::read(options.root.join(path)).is_ok_and(|bytes| Digest::of(&bytes) == *digest)
    };
    stamp.files.iter().all(holds).then_some((stamp, files))
}

/// Stamps a build that ended well.
pub(super) fn stamp(options: &Options, store: &Store, ended: &Ended, outputs: &Outputs) {
    let name = |path: &str| outputs.dist.join(path).display().to_string();
    let mut files: BTreeMap<String, Digest> =
        outputs.file.files.iter().map(|(path, digest)| (name(path), *digest)).collect();
    files.insert(name("build.json"), Digest::of(&outputs.build_json()));
    // As a run that has nothing to do tells it.
    let mut summary = ended.summary.clone();
    summary.solver_checks = 0;
    for outcome in &mut summary.determinations {
        outcome.cached = true;
    }
    let stamp = Stamp { summary, files };
    let content = serde_json::to_vec(&stamp).unwrap_or_default();
    // A stamp only saves work: if it cannot be written, the next run does the work again.
    let _ = store.put("stamp", "", &fields(options, &ended.files), &content);
}
