//! The words of facts: sentences out of values, and values back out of sentences.
//!
//! A vocabulary belongs to one policy file; that of a joined policy is put together from those of its
//! members. It says nothing about the logic: bounds limit representatives and witnesses only.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Severity, Source, Span};
use crate::policy::{Policy, fits};
use crate::smtlib::PolicyFile;
use crate::term::{ConstId, Number, Sort, Value};

mod raw;
mod read;
mod speech;

pub use speech::number_text;

/// One sentence as the author wrote it, placeholders included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// The text.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// The sentences of a fact, by value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phrases {
    /// None: the fact is hidden.
    None,
    /// Of a truth value.
    Bool {
        /// When it is true.
        yes: Vec<Phrase>,
        /// When it is false.
        no: Vec<Phrase>,
    },
    /// Of a number, with `{value}` and perhaps `{unit}`.
    Number(Vec<Phrase>),
    /// Of an enumeration, one list for each of its values in declaration order.
    Enum(Vec<Vec<Phrase>>),
}

/// What the vocabulary says of one fact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The fact, in the arena of the policy that the vocabulary was made for.
    pub constant: ConstId,
    /// Its sort in that arena.
    pub sort: Sort,
    /// Whether a scenario may state it without its being opaque.
    pub ask: bool,
    /// What it is about; groups facts in the text. May be empty.
    pub subject: String,
    /// A short noun phrase for lists of missing facts; the constant's name if the author gave none.
    pub name: String,
    /// Its sentences.
    pub phrases: Phrases,
    /// What is counted: one, and several.
    pub unit: Option<(String, String)>,
    /// Least and greatest plausible number.
    pub bounds: Option<(Number, Number)>,
    /// Realistic numbers.
    pub typical: Vec<Number>,
    /// Reals are multiples of it.
    pub step: Option<Number>,
    /// What a reader takes for granted unless told.
    pub presumed: Option<Value>,
    /// Where its table starts.
    pub span: Span,
}

/// The words of a policy, or of a joined one.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    words: Vec<Words>,
    /// Position in `words` by constant.
    places: Vec<Option<usize>>,
    derived: BTreeMap<String, String>,
    subjects: Vec<String>,
    hearing: speech::Hearing,
}

impl Vocabulary {
    /// Reads `vocabulary.toml` for a policy file. It holds what could be read; it is good only if no
    /// fault is an error.
    #[must_use]
    pub fn read(source: &Source, file: &PolicyFile) -> (Self, Vec<Diagnostic>) {
        let (words, derived, mut faults) = read::read(source, file);
        let usable = faults.iter().all(|fault| fault.severity != Severity::Error);
        let (vocabulary, shared) = Self::assemble(words, derived);
        if usable {
            faults.extend(shared);
        }
        (vocabulary, faults)
    }

    /// The union of the vocabularies of a joined policy's members, by their ids.
    ///
    /// # Errors
    /// Two facts share a sentence.
    pub fn join<'v>(
        policy: &Policy,
        member: impl Fn(&str) -> Option<(&'v Policy, &'v Self)>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut words = Vec::new();
        for ((id, constant), declared) in policy.terms.constants().zip(&policy.declared) {
            let Some((home, vocabulary)) = member(policy.member(declared.member)) else { continue };
            let local = home.constant(&declared.local).and_then(|local| vocabulary.words(local));
            let Some(local) = local else { continue };
            let presumed = local
                .presumed
                .as_ref()
                .and_then(|value| policy.terms.read(&home.terms.spell(value), constant.sort));
            words.push(Words { constant: id, sort: constant.sort, presumed, ..local.clone() });
        }
        let mut derived = BTreeMap::new();
        let mut subjects = Vec::new();
        for (index, name) in policy.members.iter().enumerate() {
            let Some((_, vocabulary)) = member(name) else { continue };
            subjects.extend(vocabulary.subjects.iter().cloned());
            for (constant, words) in &vocabulary.derived {
                let key = if index == 0 { constant.clone() } else { format!("{name}.{constant}") };
                derived.insert(key, words.clone());
            }
        }
        let (mut vocabulary, faults) = Self::assemble(words, derived);
        vocabulary.subjects = unique(subjects.into_iter());
        if faults.is_empty() { Ok(vocabulary) } else { Err(faults) }
    }

    fn assemble(
        mut words: Vec<Words>,
        derived: BTreeMap<String, String>,
    ) -> (Self, Vec<Diagnostic>) {
        words.sort_by_key(|entry| entry.span.range.start);
        let subjects = unique(words.iter().map(|entry| entry.subject.clone()));
        words.sort_by_key(|entry| entry.constant);
        let size = words.last().map_or(0, |last| last.constant.index() + 1);
        let mut places = vec![None; size];
        for (at, entry) in words.iter().enumerate() {
            if let Some(place) = places.get_mut(entry.constant.index()) {
                *place = Some(at);
            }
        }
        let (hearing, faults) = speech::Hearing::build(&words);
        (Self { words, places, derived, subjects, hearing }, faults)
    }

    /// The words of a fact.
    #[must_use]
    pub fn words(&self, constant: ConstId) -> Option<&Words> {
        let place = self.places.get(constant.index()).copied().flatten()?;
        self.words.get(place)
    }

    /// The words of all facts, in declaration order.
    pub fn iter(&self) -> impl Iterator<Item = &Words> {
        self.words.iter()
    }

    /// Words for a derived condition, for explanations.
    #[must_use]
    pub fn derived(&self, name: &str) -> Option<&str> {
        self.derived.get(name).map(String::as_str)
    }

    /// Subjects in the order in which the texts group facts.
    #[must_use]
    pub fn subjects(&self) -> &[String] {
        &self.subjects
    }

    /// How many phrasings there are for a value.
    #[must_use]
    pub fn choices(&self, constant: ConstId, value: &Value) -> usize {
        self.words(constant)
            .and_then(|words| speech::phrasings(words, value))
            .map_or(0, <[Phrase]>::len)
    }

    /// The sentence that states a fact; `choice` picks the phrasing, modulo how many there are. None if
    /// the fact has no words, the value is not of its sort, or a Real has no finite decimal form.
    #[must_use]
    pub fn say(&self, constant: ConstId, value: &Value, choice: usize) -> Option<String> {
        let words = self.words(constant)?;
        if !fits(value, words.sort) {
            return None;
        }
        speech::sentence(words, value, choice)
    }

    /// The fact that a sentence states: the inverse of [`Vocabulary::say`].
    #[must_use]
    pub fn hear(&self, text: &str) -> Option<(ConstId, Value)> {
        self.hearing.hear(&self.words, text)
    }

    /// What readers take for granted, in declaration order.
    pub fn presumed(&self) -> impl Iterator<Item = (ConstId, &Value)> {
        self.words.iter().filter_map(|entry| Some((entry.constant, entry.presumed.as_ref()?)))
    }
}

fn unique(items: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
