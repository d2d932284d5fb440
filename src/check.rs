//! Findings about a formalization, each with a stable name, its place and a way out.
//!
//! Fast lints read the files and ask the solver a few questions; deep ones ask about every clause
//! and every fact. What is accepted stands in the manifest, with a reason; an acceptance that
//! matches nothing is a finding itself.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use crate::diag::{Diagnostic, Severity, nearest};
use crate::manifest::Determination;
use crate::policy::{Clause, Inquiry, Policy};
use crate::project::Project;
use crate::slice::slice;
use crate::solver::Limits;
use crate::vocabulary::Vocabulary;

mod names;
mod numbers;
mod proofs;
mod silence;
mod text;
mod values;

/// One kind of finding.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Lint {
    /// Its stable name.
    pub name: &'static str,
    /// `error` or `warning`.
    pub level: &'static str,
    /// Only with `--deep`.
    pub deep: bool,
    /// What it finds, one line.
    pub meaning: &'static str,
}

const fn lint(name: &'static str, level: &'static str, deep: bool, meaning: &'static str) -> Lint {
    Lint { name, level, deep, meaning }
}

/// All lints, the fast ones first.
pub const LINTS: [Lint; 18] = [
    lint("contradiction", "error", false, "the clauses of a policy have no scenario together"),
    lint("verdict-impossible", "warning", false, "a verdict value that no scenario has"),
    lint("vacuous-clause", "warning", false, "a clause that is true whatever the facts are"),
    lint("one-way-definition", "warning", false, "a condition that clauses make true, never false"),
    lint(
        "asked-definition",
        "warning",
        false,
        "a fact that may be asked although a clause defines it",
    ),
    lint("unused-name", "warning", false, "a constant or definition that nothing reads"),
    lint("no-words", "warning", false, "a constant with neither words nor a definition"),
    lint(
        "values-not-told-apart",
        "warning",
        false,
        "values of an enumeration that no clause tells apart",
    ),
    lint(
        "off-by-one",
        "warning",
        false,
        "one number compared with one bound by `<` here and `<=` there",
    ),
    lint(
        "label-without-clause",
        "warning",
        false,
        "a label of the text that no clause is filed under or cites",
    ),
    lint("heading-without-clause", "warning", false, "a heading with no label under it"),
    lint("clause-in-no-slice", "warning", false, "clauses that no determination depends on"),
    lint(
        "unused-allowance",
        "warning",
        false,
        "an acceptance in the manifest that matches no finding",
    ),
    lint("implied-clause", "warning", true, "a clause that follows from the others"),
    lint("empty-region", "warning", true, "a threshold with no number on one side"),
    lint("verdict-undecided", "warning", true, "a verdict value that no scenario forces"),
    lint("silent-scenario", "warning", true, "a full scenario on which the policy is silent"),
    lint("section-in-no-support", "warning", true, "sections that settle no current entry"),
];

/// One finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Name of its lint, or the code of a fault in the files.
    pub lint: &'static str,
    /// What it may be accepted at: policy, clause, name or determination.
    pub at: Vec<String>,
    /// What is wrong and the way out.
    pub diagnostic: Diagnostic,
}

/// What to look at.
pub struct Task<'t> {
    /// The project.
    pub project: &'t Project,
    /// Policies and determinations; all if empty.
    pub only: &'t [String],
    /// Deep lints, too.
    pub deep: bool,
    /// Limits of every check.
    pub limits: Limits,
    /// Sections that some current entry rests on, as rows write them; none where nothing is built.
    pub supported: Option<BTreeSet<String>>,
    /// Set by Ctrl-C.
    pub interrupted: &'t AtomicBool,
}

/// A finding at a clause.
fn at_clause(policy: &Policy, clause: &Clause, lint: &'static str, message: String) -> Finding {
    let diagnostic = Diagnostic::warning(lint, message).at(clause.span.clone(), "");
    let at = vec![
        policy.member(clause.member).to_owned(),
        clause.name.clone(),
        clause.qualified(policy),
    ];
    Finding { lint, at, diagnostic }
}

impl Finding {
    fn hint(mut self, hint: impl Into<String>) -> Self {
        self.diagnostic = self.diagnostic.hint(hint);
        self
    }
}

/// Everything found and not accepted, in a fixed order: faults, policies by id, determinations as
/// the manifest lists them, acceptances.
#[must_use]
pub fn check(task: &Task<'_>) -> Vec<Finding> {
    let project = task.project;
    let mut found = Vec::new();
    for id in project.manifest.policies.keys() {
        if task.wants(id) {
            policy(task, id, &mut found);
        }
    }
    for determination in &project.manifest.determinations {
        if task.wants(&determination.id.name) || task.wants(&determination.policy.name) {
            decide(task, determination, &mut found);
        }
    }
    accept(task, found)
}

impl Task<'_> {
    fn wants(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == id)
    }

    fn stopped(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// A resolved determination.
struct Case<'c> {
    inquiry: &'c Inquiry,
    vocabulary: &'c Vocabulary,
    determination: &'c Determination,
}

fn policy(task: &Task<'_>, id: &str, found: &mut Vec<Finding>) {
    let project = task.project;
    let fault = |fault: &Diagnostic| Finding {
        lint: fault.code,
        at: vec![id.to_owned()],
        diagnostic: fault.clone(),
    };
    found.extend(project.faults(id).iter().map(fault));
    let broken = |id: &String| project.faults(id).iter().any(|f| f.severity == Severity::Error);
    let mut members = vec![id.to_owned()];
    members.extend(project.manifest.uses(id));
    if members.iter().any(broken) {
        return;
    }
    let Some(member) = project.member(id) else { return };
    text::check(id, member, found);
    names::check(project, id, member, found);
    values::check(project, id, member, found);
    let Ok(joined) = project.joined(id) else { return };
    if let Err(faults) = project.vocabulary(&joined) {
        found.extend(faults.iter().map(fault));
    }
    numbers::check(&joined, found);
    unsliced(project, id, &joined, found);
    if !proofs::consistent(task, &joined, found) {
        return;
    }
    if task.deep && !task.stopped() {
        proofs::clauses(task, &joined, found);
    }
}

fn decide(task: &Task<'_>, determination: &Determination, found: &mut Vec<Finding>) {
    let project = task.project;
    let inquiry = match project.inquiry(determination) {
        Ok(inquiry) => inquiry,
        Err(faults) => {
            // Faults of the policies were reported with them.
            let known: Vec<Diagnostic> =
                found.iter().map(|finding| finding.diagnostic.clone()).collect();
            let new = faults.into_iter().filter(|fault| !known.contains(fault));
            found.extend(new.map(|fault| Finding {
                lint: fault.code,
                at: vec![determination.id.name.clone()],
                diagnostic: fault,
            }));
            return;
        }
    };
    let Ok(vocabulary) = project.vocabulary(&inquiry.policy) else { return };
    let case = Case { inquiry: &inquiry, vocabulary: &vocabulary, determination };
    proofs::verdict(task, &case, found);
    if task.deep && !task.stopped() {
        silence::check(task, &case, found);
        unsupported(task, &case, found);
    }
}

/// Clauses of a policy that no determination depends on, where some determination reads it.
fn unsliced(project: &Project, id: &str, joined: &Policy, found: &mut Vec<Finding>) {
    let mut kept: BTreeSet<String> = BTreeSet::new();
    let mut read = false;
    for determination in &project.manifest.determinations {
        let policy = &determination.policy.name;
        if policy != id && !project.manifest.uses(policy).iter().any(|used| used == id) {
            continue;
        }
        let Ok(inquiry) = project.inquiry(determination) else { return };
        read = true;
        for at in slice(&inquiry, &[]).kept {
            let clause = inquiry.policy.clauses.get(at);
            kept.extend(clause.map(|clause| clause.qualified(&inquiry.policy)));
        }
    }
    let own = joined.clauses.iter().filter(|clause| clause.member == 0);
    let idle: Vec<&Clause> =
        own.filter(|clause| !kept.contains(&clause.qualified(joined))).collect();
    let (true, Some(first)) = (read, idle.first()) else { return };
    let names: Vec<&str> = idle.iter().skip(1).take(8).map(|c| c.name.as_str()).collect();
    let count = idle.len();
    let message = match count {
        1 => format!("no determination depends on `{}`", first.name),
        _ => format!("no determination depends on {count} clauses of `{id}`"),
    };
    let mut finding = at_clause(joined, first, "clause-in-no-slice", message);
    finding.at.truncate(if count == 1 { 3 } else { 1 });
    if !names.is_empty() {
        let more = if count > 9 { ", …" } else { "" };
        finding = finding.hint(format!("also `{}`{more}", names.join("`, `")));
    }
    found.push(finding.hint("add a determination that needs them, or remove them"));
}

/// Sections of a slice that settle no current entry.
fn unsupported(task: &Task<'_>, case: &Case<'_>, found: &mut Vec<Finding>) {
    let Some(supported) = &task.supported else { return };
    let policy = &case.inquiry.policy;
    let mut idle: Vec<String> = Vec::new();
    for at in slice(case.inquiry, &[]).kept {
        let section = policy.clauses.get(at).and_then(|clause| clause.section.as_ref());
        let spelled = section.map(|section| policy.spell_section(section));
        idle.extend(spelled.filter(|s| !supported.contains(s) && !idle.contains(s)));
    }
    if idle.is_empty() {
        return;
    }
    let id = &case.determination.id;
    let lint = "section-in-no-support";
    let message = format!("{} sections settle no current entry of `{}`", idle.len(), id.name);
    let shown: Vec<&str> = idle.iter().take(12).map(String::as_str).collect();
    let more = if idle.len() > shown.len() { ", …" } else { "" };
    let diagnostic = Diagnostic::warning(lint, message)
        .at(id.span.clone(), "this determination")
        .hint(format!("they are {}{more}", shown.join(", ")))
        .hint("draw more entries, or look whether the clauses can matter at all");
    found.push(Finding { lint, at: vec![id.name.clone()], diagnostic });
}

/// Leaves out what the manifest accepts and reports acceptances that match nothing. Errors cannot
/// be accepted.
fn accept(task: &Task<'_>, found: Vec<Finding>) -> Vec<Finding> {
    let allow = &task.project.manifest.allow;
    let mut used = vec![false; allow.len()];
    let mut kept = Vec::new();
    for finding in found {
        let mut accepted = false;
        for (one, used) in allow.iter().zip(&mut used) {
            let matches = one.lint.name == finding.lint && finding.at.contains(&one.at);
            if matches && finding.diagnostic.severity == Severity::Warning {
                accepted = true;
                *used = true;
            }
        }
        if !accepted {
            kept.push(finding);
        }
    }
    for (one, used) in allow.iter().zip(used) {
        let known = LINTS.iter().find(|lint| lint.name == one.lint.name);
        let skipped = known.is_some_and(|lint| lint.deep) && !task.deep;
        if used || skipped || !task.only.is_empty() {
            continue;
        }
        let name = &one.lint.name;
        let lint = "unused-allowance";
        let message = match known {
            Some(_) => format!("no finding `{name}` at `{}`", one.at),
            None => format!("there is no lint `{name}`"),
        };
        let near = nearest(name, LINTS.iter().map(|lint| lint.name)).filter(|near| near != name);
        let hint = near.map_or_else(
            || "remove it; `deogen check --list` prints all lints".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        let diagnostic =
            Diagnostic::warning(lint, message).at(one.lint.span.clone(), "").hint(hint);
        kept.push(Finding { lint, at: vec![one.at.clone()], diagnostic });
    }
    kept
}
