//! What a build would do, asked of the build itself with a store that only answers.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;
use serde::Serialize;

use super::{Built, Ended, Opened, Options, chosen, one, outputs, rows_path, run, stamp};
use crate::diag::Diagnostic;
use crate::digest::Fields;
use crate::manifest::Determination;
use crate::project::Project;
use crate::stages::{Failure, Miss, News};
use crate::store::{Mode, Store};

/// What is to be done for one determination.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Planned {
    /// The determination.
    #[serde(rename = "determination")]
    pub id: String,
    /// `fresh`, `stale` or `missing`.
    pub state: &'static str,
    /// The first stage that is to be made.
    pub stage: String,
    /// Why.
    pub reason: String,
}

/// What is to be done.
#[derive(Debug, Default)]
pub struct Plan {
    /// By determination, in the manifest's order.
    pub determinations: Vec<Planned>,
    /// Outputs that are not as a build leaves them.
    pub files: Vec<String>,
    /// What is wrong with the files.
    pub diagnostics: Vec<Diagnostic>,
    /// A failure that is none of the user's files.
    pub failure: Option<Failure>,
}

impl Plan {
    /// Nothing is to be done.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.files.is_empty() && self.determinations.iter().all(|planned| planned.state == "fresh")
    }
}

fn fresh(id: &str) -> Planned {
    Planned { id: id.to_owned(), state: "fresh", stage: String::new(), reason: String::new() }
}

/// What a build with these options would do. Starts no solver and writes nothing.
#[must_use]
pub fn plan(options: &Options, interrupted: &AtomicBool) -> Plan {
    let options = Options { cache: Mode::Require, ..options.clone() };
    let store = Store::new(&options.root.join("cache"), options.cache);
    if let Some((stamp, _)) = stamp::unchanged(&options, &store) {
        let all = stamp.summary.determinations.iter().map(|outcome| fresh(&outcome.id));
        return Plan { determinations: all.collect(), ..Plan::default() };
    }
    let opened = Opened::read(&options);
    let mut ended = Ended { diagnostics: opened.diagnostics(), ..Ended::default() };
    let Ok(project) = &opened.project else {
        return Plan { diagnostics: ended.diagnostics, ..Plan::default() };
    };
    let silent = |_: &str, _: &str, _: News<'_>| {};
    let run = run(&options, project, &store, interrupted, &silent);
    let chosen = chosen(&options, project);
    let built: Vec<Result<Built, Failure>> =
        chosen.par_iter().map(|det| one(&run, project, det)).collect();
    let missed: Vec<Option<Miss>> = built
        .iter()
        .map(|result| match result {
            Err(Failure::Missing(miss)) => Some((**miss).clone()),
            _ => None,
        })
        .collect();
    let outputs = outputs::assemble(&options, project, &chosen, built, &mut ended);
    let mut files = outputs.differing(&options.root);
    let mut plan = Plan::default();
    let outcomes = chosen.iter().zip(missed).zip(&ended.summary.determinations);
    for ((det, missed), outcome) in outcomes {
        let rows = rows_path(&det.id.name, &det.policy.name);
        let mut planned = fresh(&det.id.name);
        if let Some(miss) = missed {
            planned.stage = miss.stage.to_owned();
            planned.reason = miss.reason();
        } else if outcome.state != "fresh" {
            planned.reason.clone_from(&outcome.reason);
        } else if files.contains(&rows) {
            planned.reason = format!("{} is not as built", outputs.dist.join(&rows).display());
        } else {
            plan.determinations.push(planned);
            continue;
        }
        let known = outputs.former.determinations.contains_key(&det.id.name);
        let there = options.root.join(&outputs.dist).join(&rows).exists();
        planned.state = if known && there { "stale" } else { "missing" };
        plan.determinations.push(planned);
    }
    if plan.determinations.iter().any(|planned| planned.state != "fresh") {
        // What hangs on a determination follows it.
        files.clear();
    }
    plan.files = files;
    plan.diagnostics = ended.diagnostics;
    plan.failure = ended.failure.filter(|failure| !matches!(failure, Failure::Missing(_)));
    plan
}

/// One stage of a determination.
#[derive(Clone, Debug)]
pub struct Step {
    /// What it is made for: the determination, or its policy.
    pub of: String,
    /// The stage.
    pub stage: String,
    /// Its key.
    pub fields: Fields,
    /// Why it is to be made; none where its result is there.
    pub miss: Option<Miss>,
}

/// The stages of one determination as far as they can be told, as [`plan`] sees them.
///
/// # Errors
/// Anything but a missing result.
pub fn explain(
    options: &Options,
    project: &Project,
    det: &Determination,
    store: &Store,
    interrupted: &AtomicBool,
) -> Result<Vec<Step>, Failure> {
    let steps = Mutex::new(Vec::new());
    let watch = |_: &str, stage: &str, news: News<'_>| {
        let (fields, miss) = match news {
            News::Hit(fields) => (fields, None),
            News::Miss(miss) => (&miss.fields, Some(miss.clone())),
            _ => return,
        };
        if let Ok(mut steps) = steps.lock() {
            let shared = stage == "consistency";
            let of = if shared { det.policy.name.clone() } else { det.id.name.clone() };
            steps.push(Step { of, stage: stage.to_owned(), fields: fields.clone(), miss });
        }
    };
    let run = run(options, project, store, interrupted, &watch);
    match one(&run, project, det) {
        Ok(_) | Err(Failure::Missing(_)) => {}
        Err(failure) => return Err(failure),
    }
    Ok(steps.into_inner().unwrap_or_default())
}
