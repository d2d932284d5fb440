//! Values of an enumeration that no clause tells apart.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::Finding;
use crate::diag::Diagnostic;
use crate::project::{Member, Project};
use crate::substitute::rewrite;
use crate::term::{EnumId, SortFault, Term, TermId, Terms};

pub(super) fn check(project: &Project, id: &str, member: &Member, found: &mut Vec<Finding>) {
    let own = &member.file;
    for (sort, span, places) in &own.enumerations {
        let enumeration = own.policy.terms.enumeration(*sort);
        let imported = own.imports.iter().any(|import| {
            let listed = import.names.iter().any(|(name, _)| *name == enumeration.name);
            let home = project.member(&import.policy);
            listed || home.is_some_and(|home| declares(home, &enumeration.name).is_some())
        });
        let decided = project.manifest.determinations.iter().any(|determination| {
            let term = own.policy.names.get(&determination.verdict.name);
            let sort_of = term.map(|term| own.policy.terms.sort(*term));
            sort_of == Some(crate::term::Sort::Enum(*sort))
        });
        if imported || decided {
            continue;
        }
        // Values are told apart if a clause of any policy that knows them does so.
        let mut readers = vec![Reader::new(member, *sort)];
        for other in project.manifest.policies.keys().filter(|other| *other != id) {
            let Some(other) = project.member(other) else { continue };
            let imports = other.file.imports.iter().any(|import| import.policy == id);
            let known = declares(other, &enumeration.name).filter(|_| imports);
            readers.extend(known.map(|sort| Reader::new(other, sort)));
        }
        let count = u32::try_from(enumeration.constructors.len()).unwrap_or(0);
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for value in 0..count {
            let same = |group: &&mut Vec<u32>| {
                let first = group.first().copied().unwrap_or(value);
                readers.iter_mut().all(|reader| !reader.told_apart(first, value).unwrap_or(true))
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(value),
                None => groups.push(vec![value]),
            }
        }
        for group in groups.iter().filter(|group| group.len() > 1) {
            let names: Vec<&str> = group
                .iter()
                .filter_map(|at| enumeration.constructors.get(*at as usize))
                .map(String::as_str)
                .collect();
            let lint = "values-not-told-apart";
            let list = names.join("`, `");
            let message = format!("no clause tells `{list}` of `{}` apart", enumeration.name);
            let place = group.last().and_then(|at| places.get(*at as usize)).unwrap_or(span);
            let diagnostic = Diagnostic::warning(lint, message)
                .at(place.clone(), "")
                .hint("make them one value, or write the clause that treats them differently");
            let at = vec![id.to_owned(), enumeration.name.clone()];
            found.push(Finding { lint, at, diagnostic });
        }
    }
}

fn declares(member: &Member, name: &str) -> Option<EnumId> {
    let terms = &member.file.policy.terms;
    let mut all = member.file.enumerations.iter();
    all.find(|(id, ..)| terms.enumeration(*id).name == name).map(|(id, ..)| *id)
}

/// The clauses of one policy that mention values of an enumeration.
struct Reader {
    terms: Terms,
    sort: EnumId,
    clauses: BTreeSet<TermId>,
    /// In how many of them each value stands.
    counts: BTreeMap<u32, usize>,
}

impl Reader {
    fn new(member: &Member, sort: EnumId) -> Self {
        let policy = &member.file.policy;
        let mut clauses = BTreeSet::new();
        let mut counts = BTreeMap::new();
        for clause in &policy.clauses {
            let mut values = BTreeSet::new();
            let mut stack = vec![clause.term];
            while let Some(term) = stack.pop() {
                match policy.terms.get(term) {
                    Term::Ctor(id, at) if *id == sort => {
                        values.insert(*at);
                    }
                    _ => stack.extend(policy.terms.args(term)),
                }
            }
            if !values.is_empty() && clauses.insert(clause.term) {
                for value in values {
                    *counts.entry(value).or_default() += 1;
                }
            }
        }
        Self { terms: policy.terms.clone(), sort, clauses, counts }
    }

    /// Whether some clause becomes another one when two values change places. Clauses that change
    /// into each other tell nothing apart.
    fn told_apart(&mut self, a: u32, b: u32) -> Result<bool, SortFault> {
        if self.counts.get(&a) != self.counts.get(&b) {
            return Ok(true);
        }
        let mut known: FxHashMap<TermId, TermId> = FxHashMap::default();
        for clause in self.clauses.clone() {
            let swapped = swap(&mut self.terms, &mut known, clause, self.sort, a, b)?;
            if !self.clauses.contains(&swapped) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn swap(
    terms: &mut Terms,
    known: &mut FxHashMap<TermId, TermId>,
    root: TermId,
    sort: EnumId,
    a: u32,
    b: u32,
) -> Result<TermId, SortFault> {
    rewrite(terms, known, root, |terms, term| match term {
        Term::Ctor(id, at) if *id == sort && *at == a => Some(terms.ctor(sort, b)),
        Term::Ctor(id, at) if *id == sort && *at == b => Some(terms.ctor(sort, a)),
        _ => None,
    })
}
