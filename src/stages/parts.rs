//! What stands behind a digest in a key, part by part, so that `explain` can name what moved.
//!
//! A digest and its parts come from one list: the list is hashed for the key and stored beside the
//! results under that digest.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Prepared, Run};
use crate::digest::{Digest, Encoder, Fields};
use crate::policy::{ClauseKind, TermDigests};
use crate::slice::Slice;
use crate::smtlib::print_term;
use crate::store::{Mode, Store};
use crate::term::{ConstId, Terms};
use crate::vocabulary::Phrases;

/// Named parts of something, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Parts(Vec<(String, String)>);

/// One part that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The part, such as "clause `s1`".
    pub part: String,
    /// What it was.
    pub old: Option<String>,
    /// What it is.
    pub new: Option<String>,
}

/// Longest text shown of a part.
const SHOWN: usize = 240;

fn sort_text(terms: &Terms, id: ConstId) -> String {
    let sort = terms.constant(id).sort;
    let values = terms.values_of(sort).unwrap_or_default();
    let values: Vec<String> = values.iter().map(|value| terms.spell(value)).collect();
    format!("{} {}", terms.sort_name(sort), values.join(" ")).trim_end().to_owned()
}

fn short(text: String) -> String {
    if text.chars().count() <= SHOWN {
        return text;
    }
    let start: String = text.chars().take(SHOWN).collect();
    format!("{start}… ({})", Digest::of(text.as_bytes()).hex().get(..8).unwrap_or(""))
}

impl Parts {
    fn push(&mut self, name: String, value: String) {
        self.0.push((name, value));
    }

    pub(super) fn digest(&self) -> Digest {
        let mut encoder = Encoder::new();
        for (name, value) in &self.0 {
            encoder.text(name).text(value);
        }
        encoder.finish()
    }

    /// Clauses of a slice, its constants, its facts in order and the verdict. Comments and layout
    /// are not in it; the order of clauses is not either.
    pub(super) fn meaning(prepared: &Prepared, slice: &Slice) -> Self {
        let policy = &prepared.inquiry.policy;
        let mut parts = Self::clauses(prepared, slice);
        let facts = slice.askable.iter().map(|id| &*policy.terms.constant(*id).name);
        parts.push("facts in order".to_owned(), facts.collect::<Vec<_>>().join(", "));
        let verdict = &prepared.inquiry.verdict;
        let same = TermDigests::default().of(&policy.terms, verdict.term).hex();
        let text = short(print_term(&policy.terms, verdict.term));
        parts.push(format!("verdict `{}`", verdict.name), format!("{text}\u{1f}{same}"));
        parts
    }

    /// Clauses, whatever their order, and the sorts of what they are about.
    pub(super) fn clauses(prepared: &Prepared, slice: &Slice) -> Self {
        let policy = &prepared.inquiry.policy;
        let mut parts = Self::default();
        let mut digests = TermDigests::default();
        let mut clauses = Vec::new();
        for clause in slice.kept.iter().filter_map(|at| policy.clauses.get(*at)) {
            let term = short(print_term(&policy.terms, clause.term));
            let same = digests.of(&policy.terms, clause.term).hex();
            if clause.kind == ClauseKind::Rule {
                let labels = clause.section.iter().chain(&clause.cites);
                let labels: Vec<String> = labels.map(|s| policy.spell_section(s)).collect();
                let name = format!("clause `{}`", clause.qualified(policy));
                clauses.push((name, format!("{term} §{}", labels.join("; ")), same));
            } else {
                clauses.push((format!("range clause `{term}`"), String::new(), same));
            }
        }
        // Equal up to the order of arguments: shown by its text, told apart by its digest.
        clauses.sort_by(|a, b| (&a.0, &a.2).cmp(&(&b.0, &b.2)));
        for (name, text, same) in clauses {
            parts.push(name, format!("{text}\u{1f}{same}"));
        }
        let kept = slice.kept.iter().filter_map(|at| policy.clauses.get(*at));
        let mut about: Vec<ConstId> =
            kept.flat_map(|clause| policy.terms.constants_in(clause.term)).collect();
        about.extend(policy.terms.constants_in(prepared.inquiry.verdict.term));
        let mut sorts: Vec<(&str, String)> = about
            .into_iter()
            .map(|id| (&*policy.terms.constant(id).name, sort_text(&policy.terms, id)))
            .collect();
        sorts.sort_unstable();
        sorts.dedup();
        for (name, sort) in sorts {
            parts.push(format!("sort of `{name}`"), sort);
        }
        parts
    }

    /// What the vocabulary says of some constants that bears on proofs, and the order and sorts of
    /// those constants: representatives are chosen in that order.
    pub(super) fn customs(prepared: &Prepared, of: impl Fn(ConstId) -> bool) -> Self {
        let terms = &prepared.inquiry.policy.terms;
        let mut parts = Self::default();
        for (id, constant) in terms.constants().filter(|(id, _)| of(*id)) {
            let mut text = sort_text(terms, id);
            if let Some(words) = prepared.vocabulary.words(id) {
                let spell = |numbers: &mut dyn Iterator<Item = &crate::term::Number>| {
                    numbers.map(ToString::to_string).collect::<Vec<_>>().join(", ")
                };
                if let Some((low, high)) = &words.bounds {
                    text += &format!(", bounds [{low}, {high}]");
                }
                if !words.typical.is_empty() {
                    text += &format!(", typical [{}]", spell(&mut words.typical.iter()));
                }
                if let Some(step) = &words.step {
                    text += &format!(", step {step}");
                }
                if let Some(value) = &words.presumed {
                    text += &format!(", presumed {}", terms.spell(value));
                }
            }
            parts.push(format!("`{}`", constant.name), text);
        }
        parts
    }

    /// Sections of the slice in reading order: supports are searched in it.
    pub(super) fn sections(prepared: &Prepared) -> Self {
        let policy = &prepared.inquiry.policy;
        let clauses = prepared.slice.kept.iter().filter_map(|at| policy.clauses.get(*at));
        let mut sections: Vec<_> =
            clauses.flat_map(|clause| clause.section.iter().chain(&clause.cites)).collect();
        sections.sort_by_key(|section| policy.section_rank(section));
        sections.dedup();
        let mut parts = Self::default();
        for section in sections {
            parts.push(policy.spell_section(section), String::new());
        }
        parts
    }

    /// The words of the slice's facts.
    pub(super) fn words(prepared: &Prepared) -> Self {
        let mut parts = Self::default();
        let list = |phrases: &[crate::vocabulary::Phrase]| {
            phrases.iter().map(|phrase| phrase.text.as_str()).collect::<Vec<_>>().join(" / ")
        };
        parts.push("subjects in order".to_owned(), prepared.vocabulary.subjects().join(", "));
        let askable = &prepared.slice.askable;
        for words in prepared.vocabulary.iter().filter(|w| askable.contains(&w.constant)) {
            let name = &prepared.inquiry.policy.terms.constant(words.constant).name;
            let phrases = match &words.phrases {
                Phrases::None => String::new(),
                Phrases::Bool { yes, no } => format!("{} // {}", list(yes), list(no)),
                Phrases::Number(all) => list(all),
                Phrases::Enum(lists) => {
                    lists.iter().map(|all| list(all)).collect::<Vec<_>>().join(" // ")
                }
            };
            let head = format!("{} | {} | {:?}", words.subject, words.name, words.unit);
            parts.push(format!("words of `{name}`"), format!("{head} | {phrases}"));
        }
        parts
    }
}

fn key(digest: &str) -> Fields {
    Fields::new().with("parts", digest)
}

impl Run<'_> {
    /// The digest of some parts, which are kept for later explanations.
    pub(super) fn keep(&self, parts: &Parts) -> Digest {
        let digest = parts.digest();
        let fields = key(&digest.to_string());
        if !self.store.has("parts", &fields) {
            let bytes = serde_json::to_vec(parts).unwrap_or_default();
            // Parts only explain: without them a digest is shown.
            let _ = match self.store.mode() {
                Mode::Use => self.store.put("parts", "", &fields, &bytes),
                Mode::Require => {
                    self.store.hold("parts", &fields, bytes);
                    Ok(())
                }
                Mode::Off => Ok(()),
            };
        }
        digest
    }
}

/// What differs between two digests of one field, if the parts behind both are known.
#[must_use]
pub fn changes(store: &Store, old: &str, new: &str) -> Option<Vec<Change>> {
    let load = |digest: &str| -> Option<Parts> {
        serde_json::from_slice(&store.get("parts", &key(digest))?).ok()
    };
    let (old, new) = (load(old)?, load(new)?);
    // Two range clauses may print alike: a part is its name and how many of that name came before.
    let number = |parts: &Parts| -> BTreeMap<(String, usize), String> {
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut all = BTreeMap::new();
        for (name, value) in &parts.0 {
            let count = seen.entry(name.clone()).or_default();
            all.insert((name.clone(), *count), value.clone());
            *count += 1;
        }
        all
    };
    let (before, after) = (number(&old), number(&new));
    let show = |value: Option<&String>| {
        value.map(|value| value.split('\u{1f}').next().unwrap_or("").to_owned())
    };
    let mut found = Vec::new();
    let keys = after.keys().chain(before.keys().filter(|key| !after.contains_key(*key)));
    for key in keys {
        let (was, is) = (before.get(key), after.get(key));
        if was != is {
            found.push(Change { part: key.0.clone(), old: show(was), new: show(is) });
        }
    }
    if found.is_empty() && old != new {
        found.push(Change { part: "the order".to_owned(), old: None, new: None });
    }
    Some(found)
}
