//! A determination with its names resolved, ready to be asked for its stages.

use std::collections::BTreeSet;

use crate::diag::Diagnostic;
use crate::digest::Digest;
use crate::docket::Customs;
use crate::manifest::{Determination, Sampling};
use crate::numbers::Habits;
use crate::policy::Inquiry;
use crate::render::Wording;
use crate::slice::{self, Slice};
use crate::term::{ConstId, Number, Sort};
use crate::vocabulary::Vocabulary;

/// A determination ready to be asked for its stages.
pub struct Prepared {
    /// The joined policy and the resolved names.
    pub inquiry: Inquiry,
    /// Its clauses.
    pub slice: Slice,
    /// Digest of the slice's meaning.
    pub meaning: Digest,
    /// Words.
    pub vocabulary: Vocabulary,
    /// Controls.
    pub sampling: Sampling,
    /// Question and answers.
    pub wording: Wording,
}

impl Prepared {
    /// Resolves a determination.
    ///
    /// # Errors
    /// Answers that do not cover the verdict's values.
    pub fn new(
        determination: &Determination,
        inquiry: Inquiry,
        vocabulary: Vocabulary,
        canary: String,
        no_slice: bool,
    ) -> Result<Self, Vec<Diagnostic>> {
        let exact = slice::slice(&inquiry, &[]);
        let meaning = slice::meaning(&inquiry, &exact);
        let slice = if no_slice { slice::whole(&inquiry) } else { exact };
        let mut answers = Vec::new();
        let mut faults = Vec::new();
        for value in &inquiry.verdict.values {
            let spelled = inquiry.policy.terms.spell(value);
            match determination.answers.iter().find(|(name, _)| name.name == spelled) {
                Some((_, words)) => answers.push(words.clone()),
                None => faults.push(
                    Diagnostic::error(
                        "answer",
                        format!("`answers` has no wording for `{spelled}`"),
                    )
                    .at(determination.id.span.clone(), "this determination")
                    .hint(format!("add `{spelled} = \"…\"` to `answers`")),
                ),
            }
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let wording = Wording {
            question: determination.question.name.clone(),
            answers,
            meaning: meaning.to_string(),
            canary,
            salt: None,
        };
        let sampling = determination.sampling.clone();
        Ok(Self { inquiry, slice, meaning, vocabulary, sampling, wording })
    }

    pub(super) fn id(&self) -> &str {
        &self.inquiry.id
    }

    /// Constants that a clause of the slice, the verdict or a fact of the slice is about.
    pub(super) fn in_slice(&self) -> BTreeSet<ConstId> {
        let policy = &self.inquiry.policy;
        let clauses = self.slice.kept.iter().filter_map(|at| policy.clauses.get(*at));
        let mut found: BTreeSet<ConstId> =
            clauses.flat_map(|clause| policy.terms.constants_in(clause.term)).collect();
        found.extend(policy.terms.constants_in(self.inquiry.verdict.term));
        found.extend(&self.slice.askable);
        found
    }

    /// What the vocabulary says that bears on proofs.
    #[must_use]
    pub fn customs(&self) -> Customs {
        let mut customs = Customs::default();
        for words in self.vocabulary.iter() {
            if words.sort.is_numeric() {
                let step = words.step.clone().unwrap_or_else(|| match words.sort {
                    Sort::Real => Number::new(1.into(), 100.into()),
                    _ => Number::from_integer(1.into()),
                });
                let habits = Habits {
                    sort: words.sort,
                    bounds: words.bounds.clone(),
                    typical: words.typical.clone(),
                    step,
                };
                customs.habits.insert(words.constant, habits);
            }
            if let Some(value) = &words.presumed {
                customs.presumed.push((words.constant, value.clone()));
            }
        }
        customs
    }
}
