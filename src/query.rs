//! A determination and its entries as plain SMT-LIB that any solver can replay.
//!
//! Absent here: a solver. The text of a determination holds the whole joined policy, unsliced; an
//! entry adds its facts and one named question for each value its certificate is about.

use std::fmt::Write as _;

use crate::dataset::Row;
use crate::policy::Inquiry;
use crate::smtlib::{TagStyle, print_policy, print_term, symbol};
use crate::term::{Sort, Term, Terms, read_number, smtlib_number};

/// The joined policy of a determination; a verdict that is no constant is defined at its end.
#[must_use]
pub fn export(inquiry: &Inquiry) -> String {
    let mut text = print_policy(&inquiry.policy, TagStyle::Comments);
    let terms = &inquiry.policy.terms;
    if !matches!(terms.get(inquiry.verdict.term), Term::Const(_)) {
        let sort = match terms.sort(inquiry.verdict.term) {
            Sort::Enum(id) => symbol(&terms.enumeration(id).name),
            Sort::Bool => "Bool".to_owned(),
            Sort::Int => "Int".to_owned(),
            Sort::Real => "Real".to_owned(),
        };
        let (name, term) = (symbol(&inquiry.verdict.name), print_term(terms, inquiry.verdict.term));
        let _ = writeln!(text, "(define-fun {name} () {sort} {term})");
    }
    text
}

/// Asserts that a text holds.
#[must_use]
pub fn asserts(text: &str) -> usize {
    text.lines().filter(|line| line.starts_with("(assert ")).count()
}

/// What is asked of a solver about an entry, and what it must answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// The policy, the facts and the definitions of the questions.
    pub text: String,
    /// Names of the questions with the answer that certifies the entry: sat is true.
    pub questions: Vec<(String, bool)>,
}

impl Query {
    /// The query of an entry on the text of its determination.
    ///
    /// # Errors
    /// A fact or value that is none of the policy's.
    pub fn new(policy: &str, row: &Row, sorts: &Terms) -> Result<Self, String> {
        let mut text = policy.to_owned();
        for fact in &row.facts {
            let value = value(sorts, &fact.variable, &fact.value)?;
            let _ = writeln!(text, "(assert (= {} {value}))", symbol(&fact.variable));
        }
        let mut questions = Vec::new();
        let mut ask = |name: String, term: String, wanted: bool| {
            let _ = writeln!(text, "(declare-const {name} Bool)\n(assert (=> {name} {term}))");
            questions.push((name, wanted));
        };
        let verdict = symbol(&row.verdict);
        for (at, possible) in row.possible_values.iter().enumerate() {
            let term = format!("(= {verdict} {})", symbol(possible));
            ask(format!("|ask {at}|"), term, true);
        }
        if row.kind == "definite" {
            let term = format!("(not (= {verdict} {}))", symbol(&row.answer_value));
            ask("|ask other|".to_owned(), term, false);
        }
        Ok(Self { text, questions })
    }

    /// The query as a file for a solver of its own.
    #[must_use]
    pub fn script(&self) -> String {
        let mut text = self.text.clone();
        for (name, _) in &self.questions {
            let _ = writeln!(text, "(check-sat-assuming ({name}))");
        }
        text
    }
}

/// A row's value as SMT-LIB of the variable's sort.
fn value(terms: &Terms, variable: &str, value: &str) -> Result<String, String> {
    let constant = terms.constants().find(|(_, constant)| constant.name == variable);
    let Some((_, constant)) = constant else {
        return Err(format!("`{variable}` is no constant of the policy"));
    };
    if terms.read(value, constant.sort).is_none() {
        return Err(format!("`{value}` is no value of `{variable}`"));
    }
    Ok(match constant.sort {
        Sort::Int | Sort::Real => {
            let number = read_number(value).ok_or(format!("`{value}` is no number"))?;
            smtlib_number(&number, constant.sort)
        }
        Sort::Bool | Sort::Enum(_) => symbol(value),
    })
}
