//! One scenario answered and explained: the verdict or what is missing, the sections that settle
//! it, how it follows, and which clauses and facts clash if they do.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::citations::{Reach, Switched};
use crate::claim::Drop;
use crate::derivation::{Riddle, Subject, derive};
use crate::docket::Customs;
use crate::minimal;
use crate::missing::{Gaps, Needs};
use crate::policy::{Facts, Inquiry};
use crate::render::{NEI_ANSWER, Wording};
use crate::slice::{Slice, slice};
use crate::solver::{Answer, Limits, Lit, Session};
use crate::term::{ConstId, SortFault, TermId, Terms, Value};
use crate::vocabulary::Vocabulary;

pub mod facts;

/// Sets of missing facts listed for each verdict, at most.
const MOST_SETS: usize = 8;

/// Everything there is to say about one scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reply {
    /// `answer`.
    pub kind: &'static str,
    /// The determination.
    pub determination: String,
    /// Name of the verdict.
    pub verdict: String,
    /// `definite`, `nei`, or `contradiction`.
    pub status: &'static str,
    /// The question.
    pub question: String,
    /// The wording of the answer; empty where the facts contradict the policy.
    pub answer: String,
    /// The verdict value of a definite answer, or empty.
    pub answer_value: String,
    /// Verdict values that some scenario with these facts has.
    pub possible_values: Vec<String>,
    /// The facts asked about.
    pub facts: Vec<Stated>,
    /// A minimal set of sections that settles a definite answer.
    pub sections: Vec<String>,
    /// Smallest sets of facts that could decide, as names.
    pub missing: Vec<Vec<String>>,
    /// There are no other minimal sets.
    pub missing_complete: bool,
    /// What each possible verdict would need.
    pub needs: Vec<Need>,
    /// What follows, step by step.
    pub derivation: Vec<Derived>,
    /// What clashes, where the facts contradict the policy.
    pub clash: Clash,
}

/// A fact with its words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stated {
    /// Its name as rows write it.
    pub variable: String,
    /// Its value.
    pub value: String,
    /// Its sentence, or empty where it has none.
    pub text: String,
}

/// What one verdict value would need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Need {
    /// The verdict value.
    pub value: String,
    /// Its wording.
    pub answer: String,
    /// Sets of facts that decide it.
    pub sets: Vec<NeedSet>,
    /// There are no other minimal sets.
    pub complete: bool,
}

/// Facts that would decide, each with a choice that does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NeedSet {
    /// No smaller set decides this value; otherwise only no part of this one does.
    pub smallest: bool,
    /// The facts.
    pub facts: Vec<Needed>,
}

/// One fact that is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Needed {
    /// Its name as rows write it.
    pub variable: String,
    /// A noun phrase for it.
    pub name: String,
    /// A value, or a stretch of numbers, that decides.
    pub choice: String,
}

/// One step of a derivation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Derived {
    /// The condition.
    pub condition: String,
    /// Its words.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The clauses it follows by.
    pub clauses: Vec<Cited>,
    /// The facts and conditions it follows from.
    pub since: Vec<Stated>,
    /// The verdict rests on it.
    pub needed: bool,
    /// It rests on a stated fact.
    pub stated: bool,
}

/// A clause as explanations name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cited {
    /// Qualified name.
    pub clause: String,
    /// Section as rows write it, or empty for a natural range.
    pub section: String,
    /// Paraphrase of its source.
    pub source: String,
    /// `path:line`.
    pub place: String,
}

/// A minimal set of clauses and facts that have no scenario together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Clash {
    /// The clauses.
    pub clauses: Vec<Cited>,
    /// The facts.
    pub facts: Vec<Stated>,
}

/// What is asked about.
pub struct Question<'q> {
    /// The determination, resolved.
    pub inquiry: &'q Inquiry,
    /// Words of facts.
    pub vocabulary: &'q Vocabulary,
    /// Words of question and answers.
    pub wording: &'q Wording,
    /// What the vocabulary says of numbers and of what is presumed.
    pub customs: Customs,
    /// Limits of every check.
    pub limits: Limits,
}

impl Question<'_> {
    /// Answers and explains.
    ///
    /// # Errors
    /// The solver did not answer.
    pub fn ask(&self, facts: &Facts) -> Result<Reply, Drop> {
        let mut reply = Reply {
            kind: "answer",
            determination: self.inquiry.id.clone(),
            verdict: self.inquiry.verdict.name.clone(),
            question: self.wording.question.clone(),
            facts: facts.iter().map(|(id, value)| self.stated(id, value)).collect(),
            missing_complete: true,
            ..Reply::default()
        };
        if let Some(clash) = self.clash(facts)? {
            reply.status = "contradiction";
            reply.clash = clash;
            return Ok(reply);
        }
        let further: Vec<ConstId> = facts.iter().map(|(id, _)| id).collect();
        let slice = slice(self.inquiry, &further);
        let possible = self.possible(&slice, facts)?;
        let values = &self.inquiry.verdict.values;
        let spell = |at: &usize| {
            values.get(*at).map_or(String::new(), |v| self.inquiry.policy.terms.spell(v))
        };
        reply.possible_values = possible.iter().map(spell).collect();
        let mut value = None;
        if let [only] = possible.as_slice() {
            reply.status = "definite";
            reply.answer = self.wording.answers.get(*only).cloned().unwrap_or_default();
            reply.answer_value = spell(only);
            reply.sections = self.support(&slice, facts, *only)?;
            value = values.get(*only);
        } else {
            reply.status = "nei";
            NEI_ANSWER.clone_into(&mut reply.answer);
            self.gaps(&slice, facts, &possible, &mut reply)?;
        }
        reply.derivation = self.derivation(&slice, facts, value)?;
        Ok(reply)
    }

    fn name(&self, id: ConstId) -> String {
        self.inquiry.policy.terms.constant(id).name.clone()
    }

    fn stated(&self, id: ConstId, value: &Value) -> Stated {
        Stated {
            variable: self.name(id),
            value: self.inquiry.policy.terms.spell(value),
            text: self.vocabulary.say(id, value, 0).unwrap_or_default(),
        }
    }

    fn cited(&self, at: usize) -> Option<Cited> {
        let policy = &self.inquiry.policy;
        let clause = policy.clauses.get(at)?;
        let (line, _) = clause.span.source.line_column(clause.span.range.start);
        let section = clause.section.as_ref();
        Some(Cited {
            clause: clause.qualified(policy),
            section: section.map_or(String::new(), |section| policy.spell_section(section)),
            source: clause.source.clone(),
            place: format!("{}:{line}", clause.span.source.path().display()),
        })
    }

    /// The words of a constant in lists and explanations.
    fn words(&self, id: ConstId) -> String {
        let name = self.name(id);
        let fact = self.vocabulary.words(id).map(|words| words.name.clone());
        self.vocabulary.derived(&name).map(str::to_owned).or(fact).unwrap_or(name)
    }

    /// Clauses and facts that clash, if the whole policy has no scenario with the facts.
    fn clash(&self, facts: &Facts) -> Result<Option<Clash>, Drop> {
        let policy = &self.inquiry.policy;
        let asserts: Vec<TermId> = policy.clauses.iter().map(|clause| clause.term).collect();
        let mut session = Session::new(&policy.terms, &asserts, self.limits.clone());
        let stated: Vec<Lit> = facts.iter().map(|(id, value)| session.fact(id, value)).collect();
        match session.check(&stated) {
            Answer::Sat => return Ok(None),
            Answer::Unknown(_) => return Err(Drop::Unknown),
            Answer::Unsat(_) => {}
        }
        let mut session = Session::new(&policy.terms, &[], self.limits.clone());
        let mut literals: Vec<Lit> = asserts.iter().map(|term| session.term(*term, true)).collect();
        literals.extend(facts.iter().map(|(id, value)| session.fact(id, value)));
        let all: Vec<usize> = (0..literals.len()).collect();
        let part = minimal::first(&all, &mut |part| {
            let part: Vec<Lit> = part.iter().filter_map(|at| literals.get(*at).copied()).collect();
            match session.check(&part) {
                Answer::Sat => Ok(false),
                Answer::Unsat(_) => Ok(true),
                Answer::Unknown(_) => Err(Drop::Unknown),
            }
        })?;
        let stated: Vec<(ConstId, &Value)> = facts.iter().collect();
        let fact = |at: &usize| {
            let (id, value) = stated.get(at.checked_sub(asserts.len())?)?;
            Some(self.stated(*id, value))
        };
        Ok(Some(Clash {
            clauses: part.iter().filter_map(|at| self.cited(*at)).collect(),
            facts: part.iter().filter_map(fact).collect(),
        }))
    }

    fn possible(&self, slice: &Slice, facts: &Facts) -> Result<Vec<usize>, Drop> {
        let (terms, verdict_is) = self.verdict_terms().map_err(|_| Drop::Unknown)?;
        let clauses = &self.inquiry.policy.clauses;
        let asserts = slice.kept.iter().filter_map(|at| clauses.get(*at)).map(|c| c.term);
        let asserts: Vec<TermId> = asserts.collect();
        let mut session = Session::new(&terms, &asserts, self.limits.clone());
        let base: Vec<Lit> = facts.iter().map(|(id, value)| session.fact(id, value)).collect();
        let mut possible = Vec::new();
        for (at, term) in verdict_is.iter().enumerate() {
            let mut literals = base.clone();
            literals.push(session.term(*term, true));
            match session.check(&literals) {
                Answer::Sat => possible.push(at),
                Answer::Unsat(_) => {}
                Answer::Unknown(_) => return Err(Drop::Unknown),
            }
        }
        Ok(possible)
    }

    fn verdict_terms(&self) -> Result<(Terms, Vec<TermId>), SortFault> {
        let verdict = &self.inquiry.verdict;
        let mut terms = self.inquiry.policy.terms.clone();
        let sort = terms.sort(verdict.term);
        let mut all = Vec::with_capacity(verdict.values.len());
        for value in &verdict.values {
            let value = terms.value(value, sort);
            all.push(terms.eq(verdict.term, value)?);
        }
        Ok((terms, all))
    }

    fn support(&self, slice: &Slice, facts: &Facts, value: usize) -> Result<Vec<String>, Drop> {
        let policy = &self.inquiry.policy;
        let reach = Reach::new(self.inquiry, slice);
        let preferred = reach.sections(facts.iter().map(|(id, _)| id));
        let switched = Switched::new(self.inquiry, slice, self.limits.clone());
        let switched = switched.map_err(|_| Drop::Unknown)?;
        let supports = switched.judge().supports(facts, value, &preferred, 1)?;
        let first = supports.sets.into_iter().next().unwrap_or_default();
        Ok(first.iter().map(|section| policy.spell_section(section)).collect())
    }

    fn gaps(
        &self,
        slice: &Slice,
        facts: &Facts,
        possible: &[usize],
        reply: &mut Reply,
    ) -> Result<(), Drop> {
        let limits = self.limits.clone();
        let gaps = Gaps::new(self.inquiry, slice, facts, &self.customs, limits);
        let gaps = gaps.map_err(|_| Drop::Unknown)?;
        let needs = gaps.needs(facts, possible, MOST_SETS)?;
        let mut sets: BTreeSet<(usize, Vec<ConstId>)> = BTreeSet::new();
        for (at, needs) in &needs {
            reply.missing_complete &= needs.complete;
            for set in &needs.sets {
                let ids: Vec<ConstId> = set.facts.iter().map(|(id, _)| *id).collect();
                sets.insert((ids.len(), ids));
            }
            reply.needs.push(self.need(*at, needs));
        }
        let mut kept: Vec<Vec<ConstId>> = Vec::new();
        for (_, set) in sets {
            if !kept.iter().any(|known| known.iter().all(|id| set.contains(id))) {
                kept.push(set);
            }
        }
        let names = |set: &Vec<ConstId>| set.iter().map(|id| self.name(*id)).collect();
        reply.missing = kept.iter().map(names).collect();
        Ok(())
    }

    fn need(&self, at: usize, needs: &Needs) -> Need {
        let terms = &self.inquiry.policy.terms;
        let set = |deciding: &crate::missing::Deciding| NeedSet {
            smallest: deciding.smallest,
            facts: deciding
                .facts
                .iter()
                .map(|(id, choice)| Needed {
                    variable: self.name(*id),
                    name: self.words(*id),
                    choice: choice.spell(terms, terms.constant(*id).sort),
                })
                .collect(),
        };
        Need {
            value: self.inquiry.verdict.values.get(at).map_or(String::new(), |v| terms.spell(v)),
            answer: self.wording.answers.get(at).cloned().unwrap_or_default(),
            sets: needs.sets.iter().map(set).collect(),
            complete: needs.complete,
        }
    }

    fn derivation(
        &self,
        slice: &Slice,
        facts: &Facts,
        value: Option<&Value>,
    ) -> Result<Vec<Derived>, Drop> {
        let riddle = Riddle {
            policy: &self.inquiry.policy,
            slice,
            verdict: self.inquiry.verdict.term,
            value,
            limits: self.limits.clone(),
        };
        let steps = derive(&riddle, facts)?;
        let mut values: Vec<(ConstId, &Value)> = facts.iter().collect();
        let mut derivation = Vec::with_capacity(steps.len());
        for step in &steps {
            let (condition, name) = match step.subject {
                Subject::Constant(id) => {
                    values.push((id, &step.value));
                    (self.name(id), self.words(id))
                }
                Subject::Verdict => {
                    let name = self.inquiry.verdict.name.clone();
                    let words = self.vocabulary.derived(&name).map(str::to_owned);
                    (name.clone(), words.unwrap_or(name))
                }
            };
            let since = |id: &ConstId| {
                let (_, value) = values.iter().find(|(known, _)| known == id)?;
                Some(self.stated(*id, value))
            };
            derivation.push(Derived {
                condition,
                name,
                value: self.inquiry.policy.terms.spell(&step.value),
                clauses: step.clauses.iter().filter_map(|at| self.cited(*at)).collect(),
                since: step.since.iter().filter_map(since).collect(),
                needed: step.needed,
                stated: step.stated,
            });
        }
        Ok(derivation)
    }
}
