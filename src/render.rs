//! A certified claim becomes a row with words: facts as sentences in a natural order, read back to
//! the same facts or refused.

use std::collections::BTreeMap;

use crate::dataset::{Difficulty, Identity, Row, RowCertificate, RowFact, SCHEMA, Witness};
use crate::digest::Encoder;
use crate::draw::{Kind, Nei};
use crate::policy::{Inquiry, Policy};
use crate::settled::Settled;
use crate::term::{ConstId, Value};
use crate::vocabulary::Vocabulary;

/// The words of a determination and what stands in each of its rows.
#[derive(Clone, Debug)]
pub struct Wording {
    /// The question.
    pub question: String,
    /// Answer wording of each verdict value, in the verdict's order.
    pub answers: Vec<String>,
    /// Digest of the slice's meaning.
    pub meaning: String,
    /// The canary.
    pub canary: String,
    /// Secret salt of a private split.
    pub salt: Option<[u8; 32]>,
}

/// How "not enough information" is worded among the choices.
pub const NEI_ANSWER: &str = "not enough information";

/// Facts as sentences, grouped by subject in the vocabulary's order; none where a fact has no words
/// or the text does not read back.
#[must_use]
pub fn sentences(
    vocabulary: &Vocabulary,
    policy: &Policy,
    facts: &[(ConstId, Value)],
    seed: &str,
) -> Option<Vec<String>> {
    let mut order: BTreeMap<ConstId, usize> = BTreeMap::new();
    let mut subjects: Vec<&str> = Vec::new();
    for (at, words) in vocabulary.iter().enumerate() {
        order.insert(words.constant, at);
    }
    for subject in vocabulary.subjects() {
        if !subjects.contains(&subject.as_str()) {
            subjects.push(subject);
        }
    }
    let place = |id: ConstId| {
        let subject = vocabulary.words(id).map_or("", |words| words.subject.as_str());
        let at = subjects.iter().position(|known| *known == subject);
        (at.unwrap_or(usize::MAX), order.get(&id).copied().unwrap_or(usize::MAX))
    };
    let mut sorted: Vec<&(ConstId, Value)> = facts.iter().collect();
    sorted.sort_by_key(|(id, _)| place(*id));
    let mut texts = Vec::with_capacity(sorted.len());
    for (id, value) in sorted {
        let name = &policy.terms.constant(*id).name;
        let choice = Encoder::new().text(seed).text(name).finish().rank();
        let count = vocabulary.choices(*id, value).max(1) as u64;
        let choice = usize::try_from(choice % count).unwrap_or(0);
        let text = vocabulary.say(*id, value, choice)?;
        // The text must say this fact and no other.
        if vocabulary.hear(&text)? != (*id, value.clone()) {
            return None;
        }
        texts.push(text);
    }
    Some(texts)
}

/// The row of a settled claim and its witnesses; none where it cannot be worded.
#[must_use]
pub fn row(
    inquiry: &Inquiry,
    vocabulary: &Vocabulary,
    wording: &Wording,
    settled: &Settled,
) -> Option<(Row, Vec<Witness>)> {
    let policy = &inquiry.policy;
    let facts = settled.facts(policy)?;
    let row_facts: Vec<RowFact> = settled
        .facts
        .iter()
        .map(|(variable, value)| RowFact {
            variable: variable.clone(),
            value: value.clone(),
            implied_by_numbers: settled.implied.contains(variable),
        })
        .collect();
    let (kind, nei_kind) = match settled.kind {
        Kind::Definite(_) => ("definite", ""),
        Kind::Nei(nei) => ("nei", nei.name()),
    };
    let identity = Identity {
        determination: &inquiry.id,
        kind,
        nei_kind,
        facts: &row_facts,
        distractors: false,
        salt: wording.salt.as_ref(),
    };
    let id = identity.id();
    let facts_text = sentences(vocabulary, policy, &facts, &id)?;
    let value_name = |at: usize| inquiry.verdict.values.get(at).map(|v| policy.terms.spell(v));
    let (answer, answer_value) = match settled.kind {
        Kind::Definite(value) => (wording.answers.get(value)?.clone(), value_name(value)?),
        Kind::Nei(_) => (NEI_ANSWER.to_owned(), String::new()),
    };
    let mut choices = wording.answers.clone();
    choices.push(NEI_ANSWER.to_owned());
    let witnesses: Vec<Witness> = settled
        .witnesses
        .iter()
        .map(|(_, values)| Witness::new(&inquiry.id, values.clone()))
        .collect();
    let mut queries: Vec<String> = settled.witnesses.iter().map(|_| "sat".to_owned()).collect();
    if kind == "definite" {
        queries.push("unsat".to_owned());
    }
    let policies: std::collections::BTreeSet<&str> =
        settled.sections.iter().filter_map(|section| section.split(':').next()).collect();
    let numbers = facts.iter().filter(|(_, value)| matches!(value, Value::Number(_))).count();
    let difficulty = Difficulty {
        core: settled.supports.first().map_or(0, Vec::len),
        sections: settled.sections.len(),
        policies: policies.len(),
        numbers,
        distractors: 0,
    };
    let nei = matches!(settled.kind, Kind::Nei(_));
    let silent = settled.kind == Kind::Nei(Nei::Silent);
    let row = Row {
        id,
        schema: SCHEMA,
        policy: inquiry.policy.id.clone(),
        determination: inquiry.id.clone(),
        kind: kind.to_owned(),
        nei_kind: nei_kind.to_owned(),
        group: String::new(),
        verdict: inquiry.verdict.name.clone(),
        fact_count: row_facts.len(),
        facts: row_facts,
        facts_text,
        question: wording.question.clone(),
        choices,
        answer,
        answer_value,
        possible_values: settled.witnesses.iter().filter_map(|(at, _)| value_name(*at)).collect(),
        sections: settled.sections.clone(),
        supports: settled.supports.clone(),
        supports_complete: settled.supports_complete,
        open_sections: if nei { open(&settled.supports) } else { Vec::new() },
        signature: settled.signature.clone(),
        needed_facts: settled.needed,
        tree_depth: settled.depth,
        cut_depth: if nei { settled.cut.0 } else { 0 },
        withheld_min: if nei { settled.cut.0 } else { 0 },
        withheld_max: match settled.cut.1 {
            Some(most) if nei => i64::try_from(most).unwrap_or(i64::MAX),
            None if nei && !silent => -1,
            _ => 0,
        },
        missing: settled.missing.clone(),
        difficulty,
        certificate: RowCertificate {
            queries,
            witnesses: witnesses.iter().map(|witness| witness.id.clone()).collect(),
        },
        meaning: wording.meaning.clone(),
        canary: wording.canary.clone(),
    };
    Some((row, witnesses))
}

/// Sections in one support and not in all.
fn open(supports: &[Vec<String>]) -> Vec<String> {
    let mut all: Vec<&String> = supports.iter().flatten().collect();
    all.sort_unstable();
    all.dedup();
    let everywhere = |section: &String| supports.iter().all(|support| support.contains(section));
    all.into_iter().filter(|section| !everywhere(section)).cloned().collect()
}

/// A row as a person reads it.
#[must_use]
pub fn readable(row: &Row) -> String {
    let mut text = String::new();
    text.push_str("Facts\n");
    for fact in &row.facts_text {
        text.push_str(&format!("  - {fact}\n"));
    }
    text.push_str(&format!("Question\n  {}\n", row.question));
    text.push_str(&format!("  Allowed answers: {}\n", row.choices.join(" | ")));
    text.push_str(&format!("Answer\n  {}\n", row.answer));
    let mark = |section: &String| match section.split_once(':') {
        Some((policy, label)) => format!("{policy} §{label}"),
        None => section.clone(),
    };
    if row.kind == "nei" {
        text.push_str(&format!("Still possible\n  {}\n", row.possible_values.join(", ")));
        for set in &row.missing {
            text.push_str(&format!("Could be decided by\n  {}\n", set.join(", ")));
        }
        let open: Vec<String> = row.open_sections.iter().map(mark).collect();
        if !open.is_empty() {
            text.push_str(&format!("Open sections\n  {}\n", open.join(", ")));
        }
    } else if let Some(support) = row.supports.first() {
        let support: Vec<String> = support.iter().map(mark).collect();
        text.push_str(&format!("Settled by\n  {}\n", support.join(", ")));
    }
    text.push_str(&format!("Entry\n  {} ({})\n", row.id, row.determination));
    text
}
