//! `deogen build`, `plan` and `status`.

use std::time::Instant;

use super::progress::Progress;
use super::{BuildArgs, Shell, Status};
use crate::build::{self, Ended, Outcome, Plan};
use crate::manifest::Manifest;
use crate::project::Project;
use crate::stages::News;

pub(super) fn build(shell: &Shell, args: &BuildArgs) -> Status {
    let started = Instant::now();
    let options = shell.options(args);
    if let Err(status) = known(shell, &args.determinations) {
        return status;
    }
    let progress = Progress::new(shell);
    let watch = |of: &str, stage: &str, news: News<'_>| progress.tell(of, stage, news);
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

pub(super) fn status(shell: &Shell, ended: &Ended) -> Status {
    let failed = ended.failure.as_ref().map(|failure| shell.failure(failure));
    let stale = ended.summary.determinations.iter().any(|outcome| outcome.state != "fresh");
    let dropped =
        |outcome: &Outcome, reason: &str| outcome.dropped.get(reason).copied().unwrap_or(0) > 0;
    match failed {
        Some(Status::Environment) => Status::Environment,
        Some(Status::Stale) if build::has_errors(&ended.diagnostics) => Status::Faults,
        Some(status) => status,
        None if build::has_errors(&ended.diagnostics) || stale => Status::Faults,
        None if ended.summary.determinations.iter().any(|o| dropped(o, "unentailed")) => {
            shell.error("a path's facts do not force its answer: this is a bug in deogen");
            Status::Bug
        }
        None => Status::Done,
    }
}

/// What a build would do.
pub(super) fn plan(shell: &Shell, args: &BuildArgs) -> Status {
    match look(shell, args) {
        Ok(_) => Status::Done,
        Err(status) => status,
    }
}

/// Whether a build would do anything.
pub(super) fn state(shell: &Shell, args: &BuildArgs) -> Status {
    match look(shell, args) {
        Ok(plan) if plan.is_fresh() => Status::Done,
        Ok(_) => Status::Stale,
        Err(status) => status,
    }
}

fn look(shell: &Shell, args: &BuildArgs) -> Result<Plan, Status> {
    known(shell, &args.determinations)?;
    let plan = build::plan(&shell.options(args), &shell.interrupted);
    shell.diagnostics(&plan.diagnostics);
    if let Some(failure) = &plan.failure {
        return Err(shell.failure(failure));
    }
    for planned in &plan.determinations {
        let text = if shell.json {
            let mut line = serde_json::json!(planned);
            if let Some(line) = line.as_object_mut() {
                line.insert("kind".to_owned(), "plan".into());
            }
            line.to_string()
        } else if planned.state == "fresh" {
            format!("fresh    {}", planned.id)
        } else {
            let from = if planned.stage.is_empty() {
                String::new()
            } else {
                format!(" from `{}` on", planned.stage)
            };
            format!("{:<8} {}{from}: {}", planned.state, planned.id, planned.reason)
        };
        shell.out(&format!("{text}\n"))?;
    }
    if !shell.json {
        for path in &plan.files {
            shell.out(&format!("{path} is not as a build leaves it\n"))?;
        }
    }
    if build::has_errors(&plan.diagnostics) { Err(Status::Faults) } else { Ok(plan) }
}

pub(super) fn report(shell: &Shell, ended: &Ended, seconds: f64) {
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
