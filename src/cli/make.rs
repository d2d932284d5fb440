//! `deogen build` and `deogen cache`.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::Instant;

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use super::{BuildArgs, CacheCommand, Shell, Status};
use crate::build::{self, Ended, Outcome};
use crate::manifest::Manifest;
use crate::project::Project;
use crate::stages::Failure;
use crate::store::{Mode, Store};

pub(super) fn build(shell: &Shell, args: &BuildArgs) -> Status {
    let started = Instant::now();
    let options = shell.options(args);
    if let Err(status) = known(shell, &args.determinations) {
        return status;
    }
    let progress = Progress::new(shell);
    let watch = |of: &str, stage: &str, what: &str| progress.tell(of, stage, what);
    let ended = build::build(&options, &shell.interrupted, &watch);
    progress.finish();
    shell.diagnostics(&ended.diagnostics);
    for warning in &ended.warnings {
        shell.say(&format!("warning: {warning}"));
    }
    report(shell, &ended, started.elapsed().as_secs_f64());
    status(shell, &ended)
}

/// Every determination named must exist.
fn known(shell: &Shell, wanted: &[String]) -> Result<(), Status> {
    if wanted.is_empty() {
        return Ok(());
    }
    let Ok(project) = Project::load(&shell.root) else { return Ok(()) };
    for id in wanted {
        if project.manifest.determination(id).is_none() {
            return Err(unknown(shell, &project.manifest, id));
        }
    }
    Ok(())
}

/// Says that a determination is not in the manifest, and which might be meant.
pub(super) fn unknown(shell: &Shell, manifest: &Manifest, id: &str) -> Status {
    shell.error(&format!("there is no determination `{id}`"));
    let all: Vec<&str> = manifest.determinations.iter().map(|det| det.id.name.as_str()).collect();
    match crate::diag::nearest(id, all.iter().copied()) {
        Some(near) => shell.say(&format!("help: did you mean `{near}`?")),
        None => shell.say(&format!("help: there are {}", all.join(", "))),
    }
    Status::Usage
}

fn status(shell: &Shell, ended: &Ended) -> Status {
    let failed = ended.failure.as_ref().map(|failure| shell.failure(failure));
    let stale = ended.summary.determinations.iter().any(|outcome| outcome.state != "fresh");
    let dropped =
        |outcome: &Outcome, reason: &str| outcome.dropped.get(reason).copied().unwrap_or(0) > 0;
    match failed {
        Some(status) => status,
        None if build::has_errors(&ended.diagnostics) || stale => Status::Faults,
        None if ended.summary.determinations.iter().any(|o| dropped(o, "unentailed")) => {
            shell.error("a path's facts do not force its answer: this is a bug in deogen");
            Status::Bug
        }
        None => Status::Done,
    }
}

fn report(shell: &Shell, ended: &Ended, seconds: f64) {
    let summary = &ended.summary;
    if shell.json {
        let line = serde_json::json!({
            "kind": "summary",
            "seconds": (seconds * 1000.0).round() / 1000.0,
            "solver_checks": summary.solver_checks,
            "determinations": summary.determinations,
        });
        let _ = shell.out(&format!("{line}\n"));
        return;
    }
    if summary.determinations.is_empty() || shell.quiet {
        return;
    }
    let mut rows = vec![
        [
            "determination",
            "clauses",
            "facts",
            "depth",
            "definite",
            "NEI",
            "silent",
            "signatures",
            "entries",
            "",
        ]
        .map(str::to_owned),
    ];
    for outcome in &summary.determinations {
        let figures = &outcome.figures;
        rows.push([
            outcome.id.clone(),
            figures.clauses.to_string(),
            figures.facts.to_string(),
            figures.depth.to_string(),
            figures.paths_definite.clone(),
            figures.paths_nei.clone(),
            figures.silent.clone(),
            figures.signatures.clone(),
            format!("{} + {}", outcome.entries_definite, outcome.entries_nei),
            match (outcome.state.as_str(), outcome.cached) {
                ("fresh", true) => "kept".to_owned(),
                ("fresh", false) => "made".to_owned(),
                (state, _) => format!("{state}: {}", outcome.reason),
            },
        ]);
    }
    let _ = shell.out(&format!("{}\n", table(&rows)));
    for outcome in &summary.determinations {
        let dropped: Vec<String> = outcome
            .dropped
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(reason, count)| format!("{count} {}", reason.replace('_', " ")))
            .collect();
        if !dropped.is_empty() {
            let _ = shell.out(&format!("{}: dropped {}\n", outcome.id, dropped.join(", ")));
        }
    }
    let fresh = summary.determinations.iter().filter(|o| o.state == "fresh");
    let entries: usize = fresh.map(|o| o.entries_definite + o.entries_nei).sum();
    let work = match summary.solver_checks {
        0 => "nothing had to be asked of the solver".to_owned(),
        checks => format!("{checks} solver checks"),
    };
    let _ = shell.out(&format!("{entries} entries in {seconds:.2} s, {work}\n"));
}

/// Columns aligned: names to the left, figures to the right.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let mut line = String::new();
        for (at, (cell, width)) in row.iter().zip(widths).enumerate() {
            let pad = " ".repeat(width - cell.chars().count());
            if at == 0 {
                line.push_str(&format!("{cell}{pad}"));
            } else if at + 1 == N {
                line.push_str(&format!("  {cell}"));
            } else {
                line.push_str(&format!("  {pad}{cell}"));
            }
        }
        lines.push(line.trim_end().to_owned());
    }
    lines.join("\n")
}

/// Bars on a terminal, a line per finished determination elsewhere, events on request.
struct Progress<'s> {
    shell: &'s Shell,
    bars: Option<MultiProgress>,
    running: Mutex<BTreeMap<String, ProgressBar>>,
}

impl<'s> Progress<'s> {
    fn new(shell: &'s Shell) -> Self {
        let terminal = std::io::stderr().is_terminal() && !shell.quiet && !shell.json;
        Self { shell, bars: terminal.then(MultiProgress::new), running: Mutex::default() }
    }

    fn tell(&self, of: &str, stage: &str, what: &str) {
        if self.shell.json {
            let kind = match what {
                "hit" | "miss" => what,
                _ if stage == "done" => "end",
                _ => "progress",
            };
            let line = serde_json::json!({
                "kind": kind, "determination": of, "stage": stage, "reason": what,
            });
            let _ = self.shell.out(&format!("{line}\n"));
            return;
        }
        let Some(bars) = &self.bars else {
            if stage == "done" {
                self.shell.say(&format!("built {of}"));
            }
            return;
        };
        let Ok(mut running) = self.running.lock() else { return };
        if stage == "done" {
            if let Some(bar) = running.remove(of) {
                bar.finish_and_clear();
            }
            return;
        }
        let bar = running.entry(of.to_owned()).or_insert_with(|| {
            let bar = bars.add(ProgressBar::new_spinner());
            let style = ProgressStyle::with_template("{spinner} {prefix}: {msg} ({elapsed})");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.set_prefix(of.to_owned());
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            bar
        });
        bar.set_message(match what {
            "hit" => format!("{stage} kept"),
            "miss" => stage.to_owned(),
            count => format!("{stage}, {count} entries"),
        });
    }

    fn finish(&self) {
        if let Some(bars) = &self.bars {
            let _ = bars.clear();
        }
    }
}

pub(super) fn cache(shell: &Shell, command: &CacheCommand) -> Result<(), Status> {
    let store = Store::new(&shell.root.join("cache"), Mode::Use);
    match command {
        CacheCommand::Stats => {
            let stats = store.stats(false);
            if shell.json {
                return shell.out(&format!("{}\n", serde_json::json!(stats)));
            }
            shell.out(&format!("{} records, {} bytes\n", stats.records, stats.bytes))
        }
        CacheCommand::Verify => {
            let stats = store.stats(true);
            for path in &stats.broken {
                shell.out(&format!("broken: {path}\n"))?;
            }
            shell.out(&format!("{} records, {} broken\n", stats.records, stats.broken.len()))?;
            if stats.broken.is_empty() { Ok(()) } else { Err(Status::Broken) }
        }
        CacheCommand::Gc => {
            let budget = Project::load(&shell.root)
                .map_err(|faults| shell.failure(&Failure::Faults(faults)))?
                .manifest
                .limits
                .cache;
            let stats = store.collect(budget);
            shell.out(&format!(
                "{} records removed, {} left with {} bytes\n",
                stats.removed, stats.records, stats.bytes
            ))
        }
    }
}
