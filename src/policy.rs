//! What a policy is, and what a scenario states.
//!
//! A [`Policy`] is either one folder as its author wrote it or several joined for a determination;
//! both have the same shape. It is made by the front end alone, so it is well sorted and every
//! clause has its section label.

use std::collections::BTreeMap;

use crate::diag::Span;
use crate::digest::{Digest, Encoder};
use crate::term::{ConstId, Sort, SortFault, Term, TermId, Terms, Value};

/// A section label of one policy, as rows write it: `irs-129:129(d)(1)`.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Section {
    /// Position of the policy in [`Policy::members`].
    pub member: usize,
    /// The label, ASCII, without the section sign.
    pub label: String,
}

/// What a clause is for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum ClauseKind {
    /// A rule of the text, with a section.
    Rule,
    /// A natural range or link of numbers (`:kind range`): always on, never cited.
    Range,
}

/// One assertion.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Its `:named`, unique in its policy; ranges without one are named `range!<n>` by position.
    pub name: String,
    /// Position of its policy in [`Policy::members`].
    pub member: usize,
    /// Rule or range.
    pub kind: ClauseKind,
    /// The label it is filed under; a rule has one, a range none.
    pub section: Option<Section>,
    /// Further labels it leans on (`:cites`).
    pub cites: Vec<Section>,
    /// Short paraphrase of its source.
    pub source: String,
    /// The assertion, Bool.
    pub term: TermId,
    /// Where it stands.
    pub span: Span,
}

impl Clause {
    /// The clause's qualified name: `irs-152:s152_c_1`.
    #[must_use]
    pub fn qualified(&self, policy: &Policy) -> String {
        format!("{}:{}", policy.member(self.member), self.name)
    }
}

/// What the vocabulary says of a declared constant beside its words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Declared {
    /// Position in [`Policy::members`] of the policy that declares it.
    pub member: usize,
    /// Its name inside that policy.
    pub local: String,
    /// The vocabulary lists it as a fact that may be asked.
    pub askable: bool,
    /// Where it is declared.
    pub span: Span,
}

/// A policy, or several joined.
#[derive(Clone, Debug)]
pub struct Policy {
    /// Id of the policy, or of the one a joined set was made for.
    pub id: String,
    /// Ids of the policies joined here: the main one first, then the used ones by id.
    pub members: Vec<String>,
    /// All terms.
    pub terms: Terms,
    /// One per constant of `terms`, in the same order.
    pub declared: Vec<Declared>,
    /// Clauses in document order: by member, then as written.
    pub clauses: Vec<Clause>,
    /// Every name a determination may use: constants and `define-const` names, qualified where the
    /// member is not the main one.
    pub names: BTreeMap<String, TermId>,
    /// Labels of each member's text in document order.
    pub labels: Vec<Vec<String>>,
}

impl Policy {
    /// Id of a member.
    #[must_use]
    pub fn member(&self, index: usize) -> &str {
        self.members.get(index).map_or("", String::as_str)
    }

    /// A label as rows write it.
    #[must_use]
    pub fn spell_section(&self, section: &Section) -> String {
        format!("{}:{}", self.member(section.member), section.label)
    }

    /// Place of a section in reading order: by member, then by the text.
    #[must_use]
    pub fn section_rank(&self, section: &Section) -> (usize, usize) {
        let at = self
            .labels
            .get(section.member)
            .and_then(|labels| labels.iter().position(|label| *label == section.label));
        (section.member, at.unwrap_or(usize::MAX))
    }

    /// The constant of a name, if the name is a constant.
    #[must_use]
    pub fn constant(&self, name: &str) -> Option<ConstId> {
        match self.terms.get(*self.names.get(name)?) {
            Term::Const(id) => Some(*id),
            _ => None,
        }
    }

    /// What is known of a constant's declaration.
    #[must_use]
    pub fn declaration(&self, id: ConstId) -> Option<&Declared> {
        self.declared.get(id.index())
    }
}

/// The term a determination decides.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerdictAtom {
    /// The name the manifest gives.
    pub name: String,
    /// Its term, Bool or enumeration.
    pub term: TermId,
    /// Its values in declaration order (`false`, `true` for Bool).
    pub values: Vec<Value>,
}

/// What a determination asks of a joined policy, with the manifest's names resolved.
#[derive(Clone, Debug)]
pub struct Inquiry {
    /// Id of the determination.
    pub id: String,
    /// The policy and all it uses.
    pub policy: Policy,
    /// The term to decide.
    pub verdict: VerdictAtom,
    /// Facts a scenario may state, in declaration order, opaque conditions included; facts that
    /// only opaque conditions' definitions read are left out.
    pub askable: Vec<ConstId>,
    /// Derived conditions that are asked instead of expanded.
    pub opaque: Vec<ConstId>,
}

/// Facts of a scenario in a fixed order. They may contradict the policy; the evaluator and Z3 say
/// so.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Facts(Vec<(ConstId, Value)>);

impl Facts {
    /// Facts in the order given; a constant stated twice keeps its first value.
    #[must_use]
    pub fn new(pairs: impl IntoIterator<Item = (ConstId, Value)>) -> Self {
        let mut facts = Self::default();
        for (constant, value) in pairs {
            facts.push(constant, value);
        }
        facts
    }

    /// Adds a fact unless its constant is stated already.
    pub fn push(&mut self, constant: ConstId, value: Value) {
        if self.get(constant).is_none() {
            self.0.push((constant, value));
        }
    }

    /// The value stated for a constant.
    #[must_use]
    pub fn get(&self, constant: ConstId) -> Option<&Value> {
        self.0.iter().find(|(id, _)| *id == constant).map(|(_, value)| value)
    }

    /// The facts in order.
    pub fn iter(&self) -> impl Iterator<Item = (ConstId, &Value)> {
        self.0.iter().map(|(id, value)| (*id, value))
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// None at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same facts without those of some constants.
    #[must_use]
    pub fn without(&self, dropped: impl Fn(ConstId) -> bool) -> Self {
        Self(self.0.iter().filter(|(id, _)| !dropped(*id)).cloned().collect())
    }

    /// The conjunction `variable = value` of all facts, as terms.
    ///
    /// # Errors
    /// A value is not of its constant's sort.
    pub fn literals(&self, terms: &mut Terms) -> Result<Vec<TermId>, SortFault> {
        let mut literals = Vec::with_capacity(self.0.len());
        for (constant, value) in &self.0 {
            let sort = terms.constant(*constant).sort;
            let left = terms.constant_term(*constant);
            let right = terms.value(value, sort);
            literals.push(terms.eq(left, right)?);
        }
        Ok(literals)
    }
}

/// Canonical digests of terms: equal exactly for terms that are equal up to the order of junctions,
/// whatever arena they live in and in whatever order they were built.
#[derive(Debug, Default)]
pub struct TermDigests {
    known: Vec<Option<Digest>>,
}

impl TermDigests {
    /// The digest of one term; arguments of commutative operators are sorted by their digests.
    pub fn of(&mut self, terms: &Terms, id: TermId) -> Digest {
        self.known.resize(terms.len().max(self.known.len()), None);
        let mut stack = vec![id];
        while let Some(term) = stack.last().copied() {
            if self.known.get(term.index()).copied().flatten().is_some() {
                stack.pop();
                continue;
            }
            let missing: Vec<TermId> = terms
                .args(term)
                .into_iter()
                .filter(|arg| self.known.get(arg.index()).copied().flatten().is_none())
                .collect();
            if missing.is_empty() {
                let digest = self.compose(terms, term);
                if let Some(slot) = self.known.get_mut(term.index()) {
                    *slot = Some(digest);
                }
                stack.pop();
            } else {
                stack.extend(missing);
            }
        }
        self.known.get(id.index()).copied().flatten().unwrap_or(Digest::of(b""))
    }

    fn compose(&self, terms: &Terms, id: TermId) -> Digest {
        let mut encoder = Encoder::new();
        let mut args: Vec<Digest> = terms
            .args(id)
            .iter()
            .filter_map(|arg| self.known.get(arg.index()).copied().flatten())
            .collect();
        match terms.get(id) {
            Term::Bool(truth) => encoder.text("bool").text(if *truth { "t" } else { "f" }),
            Term::Number(number, sort) => {
                encoder.text("number").text(&number.to_string()).text(&terms.sort_name(*sort))
            }
            Term::Ctor(sort, at) => {
                encoder.text("ctor").text(&terms.spell(&Value::Enum(*sort, *at)))
            }
            Term::Const(constant) => {
                let constant = terms.constant(*constant);
                encoder.text("const").text(&constant.name).text(&terms.sort_name(constant.sort))
            }
            Term::Not(_) => encoder.text("not"),
            Term::And(_) => encoder.text("and"),
            Term::Or(_) => encoder.text("or"),
            Term::Ite(..) => encoder.text("ite"),
            Term::Eq(..) => encoder.text("="),
            Term::Le(..) => encoder.text("<="),
            Term::Lt(..) => encoder.text("<"),
            Term::Sum(_) => encoder.text("+"),
            Term::Scale(factor, _) => encoder.text("*").text(&factor.to_string()),
            Term::ToReal(_) => encoder.text("to_real"),
        };
        if matches!(terms.get(id), Term::And(_) | Term::Or(_) | Term::Sum(_) | Term::Eq(..)) {
            args.sort_unstable();
        }
        for arg in &args {
            encoder.digest(arg);
        }
        encoder.finish()
    }
}

/// Whether a value may be given to a constant of a sort.
#[must_use]
pub fn fits(value: &Value, sort: Sort) -> bool {
    match (value, sort) {
        (Value::Bool(_), Sort::Bool) | (Value::Number(_), Sort::Real) => true,
        (Value::Number(number), Sort::Int) => number.is_integer(),
        (Value::Enum(id, _), Sort::Enum(expected)) => *id == expected,
        _ => false,
    }
}
