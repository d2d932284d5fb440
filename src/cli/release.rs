//! `deogen release`, `verify` and `diff`.

use std::path::PathBuf;
use std::time::Instant;

use indicatif::ProgressBar;

use super::progress::Progress;
use super::{Shell, Status};
use crate::build::{self, Ended, Options};
use crate::diff;
use crate::project::Project;
use crate::release::{self, Files, ReleaseFault, SUMS};
use crate::stages::{Failure, News};
use crate::store::Mode;
use crate::verify::{self, Cvc5, Prover, Verified};

/// Where a release goes.
#[derive(clap::Args, Debug)]
pub(super) struct ReleaseArgs {
    /// The folder; `dist/release/<name>-<version>` unless given.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Fail where deogen.lock would change.
    #[arg(long)]
    locked: bool,
}

/// Which release, and how.
#[derive(clap::Args, Debug)]
pub(super) struct VerifyArgs {
    /// The release.
    release: PathBuf,
    /// Who proves it again.
    #[arg(long, default_value = "z3")]
    solver: Solver,
    /// Build it again from its own sources, too, and compare every byte.
    #[arg(long)]
    rebuild: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Solver {
    /// Z3, through its own parser.
    Z3,
    /// cvc5 (`make cvc5` fetches it).
    Cvc5,
}

/// What to compare.
#[derive(clap::Args, Debug)]
pub(super) struct DiffArgs {
    /// The older one: a release, or a project that is built.
    a: PathBuf,
    /// The newer one.
    b: PathBuf,
    /// Entries listed of each sort.
    #[arg(long, default_value_t = 20)]
    most: usize,
}

pub(super) fn release(shell: &Shell, args: &ReleaseArgs) -> Result<(), Status> {
    let (project, ended) = built(shell, &shell.root)?;
    let said = |fault: ReleaseFault| refused(shell, &fault);
    let (files, lock) = release::assemble(&shell.root, &project).map_err(said)?;
    let moved = release::pin(&shell.root, &lock, args.locked).map_err(said)?;
    for what in &moved {
        shell.say(&format!("deogen.lock: {what}"));
    }
    let target = args.out.clone().unwrap_or_else(|| {
        let dist = shell.root.join(&project.manifest.about.dist);
        dist.join("release").join(release::name(&project))
    });
    release::write(&target, &files, &lock).map_err(said)?;
    let entries: usize = ended
        .summary
        .determinations
        .iter()
        .map(|outcome| outcome.entries_definite + outcome.entries_nei)
        .sum();
    let bytes: usize = files.values().map(Vec::len).sum();
    if shell.json {
        let line = serde_json::json!({
            "kind": "release", "folder": target, "entries": entries, "files": files.len(),
            "bytes": bytes, "sums": sums(&files),
        });
        return shell.out(&format!("{line}\n"));
    }
    shell.out(&format!(
        "{}: {entries} entries, {} files, {bytes} bytes\nSHA-256 of its sums: {}\n",
        target.display(),
        files.len(),
        sums(&files)
    ))
}

fn sums(files: &Files) -> String {
    files.get(SUMS).map(|bytes| release::sha256(bytes)).unwrap_or_default()
}

/// Builds everything and refuses what is not fresh.
fn built(shell: &Shell, root: &std::path::Path) -> Result<(Project, Ended), Status> {
    let options = Options { root: root.to_path_buf(), cache: Mode::Use, ..Options::default() };
    let progress = Progress::new(shell);
    let watch = |of: &str, stage: &str, news: News<'_>| progress.tell(of, stage, news);
    let ended = build::build(&options, &shell.interrupted, &watch);
    progress.finish();
    shell.diagnostics(&ended.diagnostics);
    if let Some(failure) = &ended.failure {
        return Err(shell.failure(failure));
    }
    let stale = ended.summary.determinations.iter().find(|outcome| outcome.state != "fresh");
    if build::has_errors(&ended.diagnostics) || stale.is_some() {
        shell.error("nothing is released while something is at fault");
        return Err(Status::Faults);
    }
    let project = Project::load(root).map_err(|f| shell.failure(&Failure::Faults(f)))?;
    Ok((project, ended))
}

fn refused(shell: &Shell, fault: &ReleaseFault) -> Status {
    shell.error(&fault.to_string());
    match fault {
        ReleaseFault::File(..) => Status::Environment,
        ReleaseFault::Format(_) => Status::Bug,
        ReleaseFault::Stale(_) => {
            shell.say("help: run `deogen build` and mend what it reports");
            Status::Faults
        }
        ReleaseFault::Foreign(..) => {
            shell.say("help: name an empty folder with `--out`, or move that file away");
            Status::Faults
        }
        ReleaseFault::Moved(moved) => {
            for what in moved {
                shell.error(&format!("it moved: {what}"));
            }
            shell.say("help: `deogen release` without `--locked` writes the new lock");
            Status::Stale
        }
    }
}

pub(super) fn verify(shell: &Shell, args: &VerifyArgs) -> Result<(), Status> {
    let started = Instant::now();
    let prover = match args.solver {
        Solver::Z3 => Prover::Z3,
        Solver::Cvc5 => Prover::Cvc5(Cvc5::find(&args.release).map_err(|error| {
            shell.error(&error);
            Status::Environment
        })?),
    };
    let bar = if shell.quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
    let tick = |done: usize, all: usize| {
        bar.set_length(all as u64);
        bar.set_position(done as u64);
    };
    let verified = verify::verify(&args.release, &prover, &shell.interrupted, &tick);
    bar.finish_and_clear();
    let verified = verified.map_err(|error| {
        shell.error(&error);
        if error.contains("cvc5") { Status::Environment } else { Status::Faults }
    })?;
    if shell.interrupted.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(Status::Interrupted);
    }
    tell(shell, &verified, started.elapsed().as_secs_f64())?;
    if !verified.findings.is_empty() {
        return Err(Status::Broken);
    }
    if args.rebuild { rebuild(shell, args) } else { Ok(()) }
}

fn tell(shell: &Shell, verified: &Verified, seconds: f64) -> Result<(), Status> {
    if shell.json {
        let mut value = serde_json::to_value(verified).unwrap_or_default();
        if let Some(object) = value.as_object_mut() {
            object.insert("kind".to_owned(), "verified".into());
            object.insert("seconds".to_owned(), ((seconds * 1e3).round() / 1e3).into());
        }
        return shell.out(&format!("{value}\n"));
    }
    for finding in &verified.findings {
        shell.error(&format!("{}: {}", finding.of, finding.reason));
    }
    let held = if verified.findings.is_empty() { "All hold." } else { "Not all hold." };
    shell.out(&format!(
        "{}: {} entries ({} definite, {} NEI) proved again by {} from the files of the release \
         alone, with {} answers; {} witnesses evaluated without it; {} files as listed. {held} \
         {seconds:.1} s\n",
        verified.release,
        verified.entries,
        verified.definite,
        verified.nei,
        verified.solver,
        verified.answers,
        verified.witnesses,
        verified.files,
    ))
}

/// Builds the release's own sources in a folder of their own and compares.
fn rebuild(shell: &Shell, args: &VerifyArgs) -> Result<(), Status> {
    let fail = |error: std::io::Error| {
        shell.error(&error.to_string());
        Status::Environment
    };
    let folder = tempfile::tempdir().map_err(fail)?;
    let source = verify::source(&args.release);
    for path in release::present(&source).map_err(|fault| refused(shell, &fault))? {
        let to = folder.path().join(&path);
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent).map_err(fail)?;
        }
        std::fs::copy(source.join(&path), to).map_err(fail)?;
    }
    let (project, _) = built(shell, folder.path())?;
    let assembled = release::assemble(folder.path(), &project);
    let (files, _) = assembled.map_err(|fault| refused(shell, &fault))?;
    let mut differ = Vec::new();
    for (path, bytes) in &files {
        if std::fs::read(args.release.join(path)).ok().as_ref() != Some(bytes) {
            differ.push(path.as_str());
        }
    }
    if differ.is_empty() {
        return shell.out(&format!("Built again from its sources: {} files alike.\n", files.len()));
    }
    shell.error(&format!("built again, these files differ: {}", differ.join(", ")));
    Err(Status::Differs)
}

pub(super) fn diff(shell: &Shell, args: &DiffArgs) -> Result<(), Status> {
    let read = |path: &PathBuf| {
        diff::State::read(path).map_err(|error| {
            shell.error(&error);
            Status::Faults
        })
    };
    let changes = diff::diff(&read(&args.a)?, &read(&args.b)?);
    if shell.json {
        let text = serde_json::to_string(&changes).unwrap_or_default();
        return shell.out(&format!("{text}\n"));
    }
    shell.out(&changes.text(args.most))
}
