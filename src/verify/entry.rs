//! One entry against itself, its witnesses and its words; no solver.

use std::collections::{BTreeMap, BTreeSet};

use super::Case;
use crate::dataset::{Identity, Row, SCHEMA, Witness};
use crate::eval::Evaluation;
use crate::render::NEI_ANSWER;
use crate::term::{ConstId, Value};

/// What became of one entry.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// Witnesses evaluated.
    pub(super) witnesses: usize,
    /// What does not hold.
    pub(super) faults: Vec<String>,
}

impl Checked {
    pub(super) fn fault(reason: &str) -> Self {
        Self { witnesses: 0, faults: vec![reason.to_owned()] }
    }
}

/// Everything but proofs.
pub(super) fn check(case: &Case, row: &Row, witnesses: &BTreeMap<String, Witness>) -> Checked {
    let mut checked = Checked::default();
    let mut say = |reason: String| checked.faults.push(reason);
    identity(row, &mut say);
    answer(case, row, &mut say);
    words(case, row, &mut say);
    let mut evaluated = 0;
    if row.certificate.witnesses.len() != row.possible_values.len() {
        say("not one witness for each possible value".to_owned());
    }
    for (value, id) in row.possible_values.iter().zip(&row.certificate.witnesses) {
        match witnesses.get(id) {
            None => say(format!("its witness `{id}` is not in the release")),
            Some(witness) => {
                evaluated += 1;
                if let Some(reason) = witnessed(case, row, value, witness) {
                    say(format!("its witness `{id}` for `{value}` {reason}"));
                }
            }
        }
    }
    checked.witnesses = evaluated;
    checked
}

fn identity(row: &Row, say: &mut dyn FnMut(String)) {
    let identity = Identity {
        determination: &row.determination,
        kind: &row.kind,
        nei_kind: &row.nei_kind,
        facts: &row.facts,
        distractors: row.difficulty.distractors > 0,
        salt: None,
    };
    if row.schema != SCHEMA {
        say(format!("schema {} is not {SCHEMA}", row.schema));
    } else if identity.id() != row.id {
        say("its id is not that of its facts".to_owned());
    }
}

/// The answer, its wording and the possible values must say the same.
fn answer(case: &Case, row: &Row, say: &mut dyn FnMut(String)) {
    let distinct: BTreeSet<&String> = row.possible_values.iter().collect();
    if distinct.len() != row.possible_values.len() {
        say("a possible value stands twice".to_owned());
    }
    let words = match row.kind.as_str() {
        "definite" => {
            if row.possible_values != [row.answer_value.as_str()] {
                say("its possible values are not its answer alone".to_owned());
            }
            case.answers.get(&row.answer_value).map(String::as_str)
        }
        _ => {
            if row.possible_values.len() < 2 {
                say("an NEI entry with fewer than two possible values".to_owned());
            }
            Some(NEI_ANSWER)
        }
    };
    if words != Some(row.answer.as_str()) {
        say(format!("its answer `{}` is not the wording of its value", row.answer));
    }
    let terms = &case.inquiry.policy.terms;
    let values = case.inquiry.verdict.values.iter().map(|value| terms.spell(value));
    let mut choices: Vec<String> =
        values.filter_map(|value| case.answers.get(&value).cloned()).collect();
    choices.push(NEI_ANSWER.to_owned());
    if choices != row.choices {
        say("its choices are not those of its determination".to_owned());
    }
}

/// The sentences must read back to the facts.
fn words(case: &Case, row: &Row, say: &mut dyn FnMut(String)) {
    let facts: Option<BTreeSet<(ConstId, String)>> = row
        .facts
        .iter()
        .map(|fact| Some((case.inquiry.policy.constant(&fact.variable)?, fact.value.clone())))
        .collect();
    let terms = &case.inquiry.policy.terms;
    let heard: Option<BTreeSet<(ConstId, String)>> = row
        .facts_text
        .iter()
        .map(|text| case.vocabulary.hear(text).map(|(id, value)| (id, terms.spell(&value))))
        .collect();
    if facts.is_none() || facts != heard || row.facts.len() != row.facts_text.len() {
        say("its sentences do not say its facts".to_owned());
    }
}

/// Why a scenario does not witness a value.
fn witnessed(case: &Case, row: &Row, value: &str, witness: &Witness) -> Option<String> {
    if Witness::new(&row.determination, witness.values.clone()).id != witness.id {
        return Some("is not the scenario of its name".to_owned());
    }
    let policy = &case.inquiry.policy;
    let values: BTreeMap<&str, &str> =
        witness.values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    for fact in &row.facts {
        if values.get(fact.variable.as_str()) != Some(&fact.value.as_str()) {
            return Some(format!("does not state `{}` as the entry does", fact.variable));
        }
    }
    let mut scenario: Vec<(ConstId, Value)> = Vec::new();
    for (id, constant) in policy.terms.constants() {
        let read = values.get(constant.name.as_str());
        match read.and_then(|text| policy.terms.read(text, constant.sort)) {
            Some(value) => scenario.push((id, value)),
            None => return Some(format!("gives `{}` no value", constant.name)),
        }
    }
    let mut evaluation = Evaluation::new(&policy.terms, scenario);
    for clause in &policy.clauses {
        if !evaluation.holds(clause.term) {
            return Some(format!("breaks {}", clause.qualified(policy)));
        }
    }
    let verdict = evaluation.value(case.inquiry.verdict.term);
    let spelled = verdict.map(|value| policy.terms.spell(&value));
    (spelled.as_deref() != Some(value)).then(|| "has another verdict".to_owned())
}
