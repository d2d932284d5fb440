//! `deogen build`: every determination through its stages, then the files in `dist/`.
//!
//! A run that finds the same inputs and outputs as the last one reads no policy and opens no tree
//! (`build/stamp.rs`). What a run would do is asked of the same code with a store that only answers
//! (`build/plan.rs`). Files are written atomically and only where their bytes change
//! (`build/outputs.rs`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::dataset;
use crate::diag::{Diagnostic, Severity};
use crate::digest::Digest;
use crate::draw::seed_key;
use crate::manifest::Determination;
use crate::project::{Loader, Project};
use crate::solver::Meter;
use crate::stages::{Certificates, Failure, Figures, News, Prepared, Rendered, Run, Watch};
use crate::store::{Disk, Mode, Store};

mod outputs;
mod plan;
mod stamp;

pub use outputs::{BuildEntry, BuildFile, rows_path};
pub use plan::{Plan, Planned, Step, explain, plan};

/// How to build.
#[derive(Clone, Debug, Default)]
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
    /// Where files are written.
    pub disk: Disk,
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
#[derive(Debug, Default)]
pub struct Ended {
    /// What was made.
    pub summary: Summary,
    /// The user's faults, and warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Warnings of the store.
    pub warnings: Vec<String>,
    /// A failure that is none of the user's files.
    pub failure: Option<Failure>,
    /// The files that were read, with their digests; none where a file could not be read.
    pub files: BTreeMap<PathBuf, Option<Digest>>,
}

/// A project as it was read.
#[derive(Debug)]
pub struct Opened {
    /// It, or what is wrong with its manifest.
    pub project: Result<Project, Vec<Diagnostic>>,
    /// Who read it, and what.
    pub loader: Loader,
}

impl Opened {
    /// Reads the project.
    #[must_use]
    pub fn read(options: &Options) -> Self {
        let mut loader = Loader::new(&options.root);
        let project = Project::load_with(&mut loader);
        Self { project, loader }
    }

    /// Everything that is wrong with its files as far as reading them tells.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match &self.project {
            Ok(project) => project.diagnostics(),
            Err(faults) => faults.clone(),
        }
    }
}

/// Builds.
pub fn build(options: &Options, interrupted: &AtomicBool, watch: Watch<'_>) -> Ended {
    let store = Store::on(&options.root.join("cache"), options.cache, options.disk.clone());
    if let Some((stamp, files)) = stamp::unchanged(options, &store) {
        let mut ended = Ended { summary: stamp.summary, files, ..Ended::default() };
        ended.warnings = store.take_warnings();
        return ended;
    }
    let mut ended = build_opened(options, &Opened::read(options), interrupted, watch);
    ended.warnings.splice(0..0, store.take_warnings());
    ended
}

/// Builds what was read.
pub fn build_opened(
    options: &Options,
    opened: &Opened,
    interrupted: &AtomicBool,
    watch: Watch<'_>,
) -> Ended {
    let store = Store::on(&options.root.join("cache"), options.cache, options.disk.clone());
    let files = opened.loader.files().clone();
    let mut ended = Ended { diagnostics: opened.diagnostics(), files, ..Ended::default() };
    let Ok(project) = &opened.project else { return ended };
    let run = run(options, project, &store, interrupted, watch);
    let chosen = chosen(options, project);
    let built: Vec<Result<Built, Failure>> =
        chosen.par_iter().map(|determination| one(&run, project, determination)).collect();
    let outputs = outputs::assemble(options, project, &chosen, built, &mut ended);
    ended.summary.solver_checks = run.meter.checks();
    if ended.failure.is_none()
        && let Err(error) = outputs.write(options)
    {
        ended.failure = Some(Failure::Store(error));
    }
    let clean = ended.failure.is_none() && !has_errors(&ended.diagnostics);
    if clean && options.only.is_empty() && store.mode() == Mode::Use {
        stamp::stamp(options, &store, &ended, &outputs);
    }
    let budget = project.manifest.limits.cache;
    if store.mode() == Mode::Use && store.stats(false).bytes > budget {
        let _ = store.collect(budget);
    }
    ended.warnings = store.take_warnings();
    ended
}

/// The determinations asked for, in the manifest's order.
fn chosen<'p>(options: &Options, project: &'p Project) -> Vec<&'p Determination> {
    let all = project.manifest.determinations.iter();
    all.filter(|det| options.only.is_empty() || options.only.contains(&det.id.name)).collect()
}

/// What all determinations of a project share.
pub fn run<'r>(
    options: &Options,
    project: &Project,
    store: &'r Store,
    interrupted: &'r AtomicBool,
    watch: Watch<'r>,
) -> Run<'r> {
    Run {
        store,
        rlimit: u32::try_from(project.manifest.limits.rlimit).unwrap_or(u32::MAX),
        solver_seed: options.solver_seed,
        diagram_mib: usize::try_from(project.manifest.limits.diagram_mib).unwrap_or(usize::MAX),
        no_slice: options.no_slice,
        meter: Meter::default(),
        interrupted,
        watch,
        key: seed_key(project.manifest.about.seed),
    }
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
    if run.interrupted.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted);
    }
    let id = &det.id.name;
    (run.watch)(id, "", News::Start);
    let prepared = prepare(run, project, det)?;
    let misses = AtomicU64::new(0);
    let watch = |of: &str, stage: &str, news: News<'_>| {
        if matches!(news, News::Miss(_)) {
            misses.fetch_add(1, Ordering::Relaxed);
        }
        (run.watch)(of, stage, news);
    };
    let run = Run { watch: &watch, meter: run.meter.clone(), ..*run };
    let (base, scenario) = match run.consistency(&prepared) {
        // A store that only answers: what hangs on the slice alone is looked up all the same, so
        // that an edit elsewhere in the policy is told from one of the slice.
        Err(Failure::Missing(miss)) => {
            let grown = run.tree(&prepared)?;
            run.certify(&prepared, &grown, &Vec::new())?;
            return Err(Failure::Missing(miss));
        }
        consistent => consistent?,
    };
    let grown = run.tree(&prepared)?;
    let (certificates, digest) = run.certify(&prepared, &grown, &base)?;
    let (rendered, _) = run.render(&prepared, &certificates, digest, (&base, scenario))?;
    (run.watch)(id, "", News::End);
    let cached = misses.load(Ordering::Relaxed) == 0;
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
