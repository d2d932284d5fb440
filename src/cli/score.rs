//! `deogen score`.

use std::path::PathBuf;

use super::{Shell, Status};
use crate::score::{self, Answers, Gold};

/// Which predictions, against what.
#[derive(clap::Args, Debug)]
pub(super) struct ScoreArgs {
    /// A release, a `dist` folder, or a file of rows.
    release: PathBuf,
    /// Predictions: JSON lines, sample logs of lm-evaluation-harness, logs of Inspect. `NAME=FILE`
    /// gives the model a name.
    #[arg(required = true)]
    predictions: Vec<String>,
    /// Score these policies or determinations alone.
    #[arg(long, value_name = "ID")]
    only: Vec<String>,
    /// Write the report as a page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the report as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) fn score(shell: &Shell, args: &ScoreArgs) -> Result<(), Status> {
    let gold = Gold::read(&args.release, &args.only).map_err(|fault| {
        shell.error(&fault);
        shell.say("help: name a release or a folder that `deogen build` made");
        Status::Faults
    })?;
    let mut models: Vec<Answers> = Vec::new();
    let mut faults = Vec::new();
    for given in &args.predictions {
        let (name, path) = match given.split_once('=') {
            Some((name, path)) if !std::path::Path::new(given).exists() => (Some(name), path),
            _ => (None, given.as_str()),
        };
        match score::read(std::path::Path::new(path), &gold) {
            Ok(found) => {
                for mut model in found {
                    if let Some(name) = name {
                        name.clone_into(&mut model.name);
                    }
                    merge(&mut models, model, path, &mut faults);
                }
            }
            Err(found) => faults.extend(found),
        }
    }
    if !faults.is_empty() {
        const MOST: usize = 20;
        for fault in faults.iter().take(MOST) {
            shell.error(fault);
        }
        if faults.len() > MOST {
            shell.error(&format!("and {} more", faults.len() - MOST));
        }
        shell.say("help: nothing is scored unless every line is read; docs/scoring.md says how");
        return Err(Status::Faults);
    }
    let report = score::score(&gold, &models);
    for (path, text) in [(&args.html, score::page(&report)), (&args.json, report.json())] {
        if let Some(path) = path
            && let Err(error) = std::fs::write(path, text)
        {
            shell.error(&format!("{}: {error}", path.display()));
            return Err(Status::Environment);
        }
    }
    if shell.json { shell.out(&report.json()) } else { shell.out(&score::text(&report)) }
}

/// A model's answers may come in several files, one per task, as the harness writes them.
fn merge(models: &mut Vec<Answers>, model: Answers, path: &str, faults: &mut Vec<String>) {
    let Some(known) = models.iter_mut().find(|known| known.name == model.name) else {
        models.push(model);
        return;
    };
    for (id, prediction) in model.by_id {
        let line = prediction.line;
        if known.by_id.insert(id.clone(), prediction).is_some() {
            faults.push(format!(
                "{path}:{line}: a second answer of `{}` to `{id}`; name the models: NAME=FILE",
                known.name
            ));
        }
    }
}
