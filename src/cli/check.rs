//! `deogen check`: what is wrong or odd in a formalization.

use std::collections::BTreeSet;

use super::inspect::{project, rows};
use super::{Shell, Status};
use crate::check::{Finding, LINTS, Task, check as look};
use crate::diag::Severity;
use crate::solver::{Limits, Meter};

/// Arguments of `deogen check`.
#[derive(clap::Args, Debug)]
pub(super) struct CheckArgs {
    /// Policies or determinations; all if none is named.
    only: Vec<String>,
    /// The lints that ask the solver about every clause and fact, too.
    #[arg(long)]
    deep: bool,
    /// Print all lints with what they find.
    #[arg(long)]
    list: bool,
}

pub(super) fn check(shell: &Shell, args: &CheckArgs) -> Result<(), Status> {
    if args.list {
        return list(shell);
    }
    let project = project(shell)?;
    known(shell, &project.manifest, &args.only)?;
    let mut supported = BTreeSet::new();
    let mut built = false;
    for determination in &project.manifest.determinations {
        for row in rows(shell, &project, determination) {
            built = true;
            supported.extend(row.supports.into_iter().flatten());
        }
    }
    let task = Task {
        project: &project,
        only: &args.only,
        deep: args.deep,
        limits: Limits {
            rlimit: u32::try_from(project.manifest.limits.rlimit).unwrap_or(u32::MAX),
            seed: 0,
            meter: Meter::default(),
        },
        supported: built.then_some(supported),
        interrupted: &shell.interrupted,
    };
    let found = look(&task);
    if shell.interrupted.load(std::sync::atomic::Ordering::Relaxed) {
        return Err(shell.failure(&crate::stages::Failure::Interrupted));
    }
    let error = |finding: &&Finding| finding.diagnostic.severity == Severity::Error;
    let errors = found.iter().filter(error).count();
    let warnings = found.len() - errors;
    report(shell, &found)?;
    if shell.json {
        let line = serde_json::json!({
            "kind": "check", "errors": errors, "warnings": warnings, "deep": args.deep,
            "skipped": skipped(args.deep),
        });
        shell.out(&format!("{line}\n"))?;
    } else {
        shell.say(&format!("{errors} errors, {warnings} warnings"));
        if !args.deep {
            shell.say(&format!("skipped without --deep: {}", skipped(false).join(", ")));
        }
    }
    if errors > 0 { Err(Status::Faults) } else { Ok(()) }
}

fn skipped(deep: bool) -> Vec<&'static str> {
    LINTS.iter().filter(|lint| lint.deep && !deep).map(|lint| lint.name).collect()
}

fn report(shell: &Shell, found: &[Finding]) -> Result<(), Status> {
    for finding in found {
        if !shell.json {
            shell.diagnostics(std::slice::from_ref(&finding.diagnostic));
            continue;
        }
        let fault = &finding.diagnostic;
        let line = serde_json::json!({
            "kind": "finding",
            "lint": finding.lint,
            "severity": format!("{:?}", fault.severity).to_lowercase(),
            "at": finding.at,
            "message": fault.message,
            "position": fault.position(),
            "hints": fault.hints,
        });
        shell.out(&format!("{line}\n"))?;
    }
    Ok(())
}

fn known(
    shell: &Shell,
    manifest: &crate::manifest::Manifest,
    only: &[String],
) -> Result<(), Status> {
    for id in only {
        if manifest.policies.contains_key(id) || manifest.determination(id).is_some() {
            continue;
        }
        shell.error(&format!("there is no policy and no determination `{id}`"));
        let determinations = manifest.determinations.iter().map(|det| det.id.name.as_str());
        let all = manifest.policies.keys().map(String::as_str).chain(determinations);
        if let Some(near) = crate::diag::nearest(id, all) {
            shell.say(&format!("help: did you mean `{near}`?"));
        }
        return Err(Status::Usage);
    }
    Ok(())
}

fn list(shell: &Shell) -> Result<(), Status> {
    for lint in &LINTS {
        if shell.json {
            shell.out(&format!("{}\n", serde_json::to_string(lint).unwrap_or_default()))?;
        } else {
            let when = if lint.deep { "--deep" } else { "" };
            let (name, level, meaning) = (lint.name, lint.level, lint.meaning);
            shell.out(&format!("{name:<24}{level:<9}{when:<8}{meaning}\n"))?;
        }
    }
    Ok(())
}
