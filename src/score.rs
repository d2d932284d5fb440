//! `deogen score`: predictions against the entries of a release.
//!
//! Absent here: solvers, policies, anything that is not in the rows. A prediction that is missing
//! or cannot be read counts as wrong; it is never left out of a denominator.

mod compare;
mod draw;
mod extract;
mod gold;
mod html;
mod labels;
mod predictions;
mod statistics;
mod table;
mod tally;

use serde::Serialize;

pub use compare::Comparison;
pub use extract::{Reading, read_answer, read_sections};
pub use gold::{Gold, Key};
pub use html::page;
pub use labels::{Label, Labels};
pub use predictions::{Answers, Prediction, read};
pub use statistics::Estimate;
pub use table::text;
pub use tally::{Breakdown, Outcome, Score, Verdict};

/// Everything `deogen score` has to say.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Name of the release, or of the folder.
    pub release: String,
    /// Entries scored.
    pub entries: usize,
    /// Definite among them.
    pub definite: usize,
    /// NEI among them.
    pub nei: usize,
    /// Classes of definite entries (same determination, answer and facts asked).
    pub clusters_definite: usize,
    /// Classes of NEI entries.
    pub clusters_nei: usize,
    /// One score per model, in the order given.
    pub models: Vec<Score>,
    /// Answerers that read nothing.
    pub baselines: Vec<Score>,
    /// Every two models.
    pub comparisons: Vec<Comparison>,
}

impl Report {
    /// The report as JSON, indented, with a final line end.
    #[must_use]
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// Scores every model and compares them.
#[must_use]
pub fn score(gold: &Gold, models: &[Answers]) -> Report {
    let judged: Vec<(String, Vec<Outcome>)> =
        models.iter().map(|model| (model.name.clone(), tally::judge(gold, model))).collect();
    let baselines = tally::baselines(gold);
    let of = |pairs: &[(String, Vec<Outcome>)]| -> Vec<Score> {
        pairs.iter().map(|(name, outcomes)| tally::score(gold, name, outcomes)).collect()
    };
    let clusters = |nei: bool| {
        let keys = gold.keys.iter().filter(|key| (key.kind == "nei") == nei);
        keys.map(|key| key.cluster.as_str()).collect::<std::collections::BTreeSet<_>>().len()
    };
    let nei = gold.keys.iter().filter(|key| key.kind == "nei").count();
    Report {
        release: gold.name.clone(),
        entries: gold.keys.len(),
        definite: gold.keys.len() - nei,
        nei,
        clusters_definite: clusters(false),
        clusters_nei: clusters(true),
        models: of(&judged),
        baselines: of(&baselines),
        comparisons: compare::all(gold, &judged),
    }
}
