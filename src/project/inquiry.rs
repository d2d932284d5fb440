//! A determination's names resolved in its joined policy: verdict, answers, opaque conditions and
//! the facts a scenario may state.

use std::collections::{BTreeMap, BTreeSet};

use super::Project;
use crate::diag::{Diagnostic, nearest};
use crate::manifest::{Determination, Named};
use crate::policy::{ClauseKind, Inquiry, Policy, VerdictAtom};
use crate::term::{ConstId, Sort, Term, TermId};
use crate::vocabulary::Phrases;

pub(super) fn inquiry(
    project: &Project,
    determination: &Determination,
    policy: Policy,
) -> Result<Inquiry, Vec<Diagnostic>> {
    let mut faults = Vec::new();
    let verdict = verdict(&policy, determination, &mut faults);
    let mut opaque = Vec::new();
    for name in &determination.opaque {
        opaque.extend(condition(project, &policy, determination, name, &mut faults));
    }
    opaque.sort_unstable();
    match verdict {
        Some(verdict) if faults.is_empty() => {
            let askable = askable(&policy, &verdict, &opaque);
            Ok(Inquiry { id: determination.id.name.clone(), policy, verdict, askable, opaque })
        }
        _ => Err(faults),
    }
}

/// What a name stands for, or a fault with the nearest name.
fn resolve(policy: &Policy, name: &Named, faults: &mut Vec<Diagnostic>) -> Option<TermId> {
    if let Some(term) = policy.names.get(&name.name) {
        return Some(*term);
    }
    let own = name.name.strip_prefix(&format!("{}.", policy.id));
    let suffix = format!(".{}", name.name);
    let imported = policy.names.keys().find(|known| known.ends_with(&suffix));
    let near = own
        .filter(|own| policy.names.contains_key(*own))
        .or(imported.map(String::as_str))
        .or_else(|| nearest(&name.name, policy.names.keys().map(String::as_str)));
    let hint = near.map_or_else(
        || format!("name a constant or definition that policy `{}` or one it uses has", policy.id),
        |near| format!("did you mean `{near}`?"),
    );
    faults.push(
        Diagnostic::error("unknown-name", format!("no constant `{}`", name.name))
            .at(name.span.clone(), "")
            .hint(hint),
    );
    None
}

fn verdict(
    policy: &Policy,
    determination: &Determination,
    faults: &mut Vec<Diagnostic>,
) -> Option<VerdictAtom> {
    let name = &determination.verdict;
    let term = resolve(policy, name, faults)?;
    let sort = policy.terms.sort(term);
    let Some(values) = policy.terms.values_of(sort) else {
        let message = format!("verdict `{}` is {}", name.name, policy.terms.sort_name(sort));
        faults.push(
            Diagnostic::error("infinite-verdict", message)
                .at(name.span.clone(), "")
                .hint("a verdict is a Bool or an enumeration: define one, such as `(> x 0)`"),
        );
        return None;
    };
    let (silent, hint) = match policy.constant(&name.name) {
        Some(constant) => {
            if policy.declaration(constant).is_some_and(|declared| declared.askable) {
                let message = format!("verdict `{}` is a fact of the vocabulary", name.name);
                faults.push(
                    Diagnostic::error("stated-verdict", message)
                        .at(name.span.clone(), "")
                        .hint("remove it there, or write `ask = false`"),
                );
            }
            let mut rules = policy.clauses.iter();
            let read =
                rules.any(|clause| policy.terms.constants_in(clause.term).contains(&constant));
            (!read, "is in no clause")
        }
        None => (policy.terms.constants_in(term).is_empty(), "is over no constant"),
    };
    if silent {
        faults.push(
            Diagnostic::error("idle-verdict", format!("verdict `{}` {hint}", name.name))
                .at(name.span.clone(), "nothing settles it")
                .hint("assert what it follows from, or name another verdict"),
        );
    }
    answers(policy, determination, sort, &values, faults);
    Some(VerdictAtom { name: name.name.clone(), term, values })
}

/// The answers are worded for exactly the values of the verdict.
fn answers(
    policy: &Policy,
    determination: &Determination,
    sort: Sort,
    values: &[crate::term::Value],
    faults: &mut Vec<Diagnostic>,
) {
    let spelled: Vec<String> = values.iter().map(|value| policy.terms.spell(value)).collect();
    let kind = policy.terms.sort_name(sort);
    for (key, _) in &determination.answers {
        if spelled.contains(&key.name) {
            continue;
        }
        let hint = nearest(&key.name, spelled.iter().map(String::as_str)).map_or_else(
            || format!("its values are `{}`", spelled.join("`, `")),
            |near| format!("did you mean `{near}`?"),
        );
        faults.push(
            Diagnostic::error("unknown-answer", format!("`{}` is no value of {kind}", key.name))
                .at(key.span.clone(), "")
                .at(determination.verdict.span.clone(), "the verdict")
                .hint(hint),
        );
    }
    let missing: Vec<&str> = spelled
        .iter()
        .map(String::as_str)
        .filter(|value| !determination.answers.iter().any(|(key, _)| key.name == *value))
        .collect();
    if !missing.is_empty() {
        let list = missing.join("`, `");
        faults.push(
            Diagnostic::error("missing-answer", format!("no answer for `{list}`"))
                .at(determination.verdict.span.clone(), "a value of this verdict")
                .hint(format!("add `{list} = \"…\"` to `answers`")),
        );
    }
}

fn condition(
    project: &Project,
    policy: &Policy,
    determination: &Determination,
    name: &Named,
    faults: &mut Vec<Diagnostic>,
) -> Option<ConstId> {
    resolve(policy, name, faults)?;
    let mut refuse = |code, message: String, hint: &str| {
        faults.push(Diagnostic::error(code, message).at(name.span.clone(), "").hint(hint));
        None
    };
    let Some(constant) = policy.constant(&name.name) else {
        let message = format!("`{}` is a definition, which no scenario can state", name.name);
        return refuse("bad-opaque", message, "declare a constant and define it by a clause");
    };
    if name.name == determination.verdict.name {
        let message = format!("`{}` is the verdict", name.name);
        return refuse("bad-opaque", message, "the verdict is asked of the reader, not stated");
    }
    let declared = policy.declaration(constant)?;
    if declared.askable {
        let message = format!("`{}` is a fact already", name.name);
        return refuse("bad-opaque", message, "remove it here: facts are stated as they are");
    }
    let home = policy.member(declared.member);
    let words = project.member(home).and_then(|member| {
        let local = member.file.policy.constant(&declared.local)?;
        member.vocabulary.words(local)
    });
    if words.is_none_or(|words| words.phrases == Phrases::None) {
        let message = format!("`{}` has no words", name.name);
        let hint = format!(
            "add `[facts.{}]` with `ask = false` and its sentences to the vocabulary of `{home}`",
            declared.local
        );
        return refuse("bad-opaque", message, &hint);
    }
    Some(constant)
}

/// A clause that says what a constant is, or a clause that reads constants.
struct Reading {
    /// The constants it may define: `d = t` where `d` is not in `t`.
    defines: Vec<ConstId>,
    reads: BTreeSet<ConstId>,
}

/// Facts of the vocabulary and opaque conditions, without facts that only the defining clauses of
/// opaque conditions read, directly or through derived constants that only they read.
fn askable(policy: &Policy, verdict: &VerdictAtom, opaque: &[ConstId]) -> Vec<ConstId> {
    let is_fact =
        |id: &ConstId| opaque.contains(id) || policy.declaration(*id).is_some_and(|d| d.askable);
    let rules = policy.clauses.iter().filter(|clause| clause.kind == ClauseKind::Rule);
    let mut clauses: Vec<Reading> = rules.map(|clause| reading(policy, clause.term)).collect();
    let stated = |id: ConstId| is_fact(&id) && !opaque.contains(&id);
    settle(&mut clauses, stated);
    let asked: BTreeSet<ConstId> = policy.terms.constants_in(verdict.term).into_iter().collect();
    let live = live(&clauses, opaque, |id| asked.contains(&id) || is_fact(&id));
    let read: BTreeSet<ConstId> = clauses
        .iter()
        .zip(&live)
        .filter(|(_, live)| **live)
        .flat_map(|(clause, _)| clause.reads.iter().copied())
        .chain(asked)
        .collect();
    let below = below(&clauses, &live, opaque);
    let facts = policy.terms.constants().map(|(id, _)| id).filter(is_fact);
    facts.filter(|id| opaque.contains(id) || !below.contains(id) || read.contains(id)).collect()
}

/// Which clauses matter: not those that define an opaque condition, nor those that define a
/// constant which no clause that matters reads and which is not `kept`.
fn live(clauses: &[Reading], opaque: &[ConstId], kept: impl Fn(ConstId) -> bool) -> Vec<bool> {
    let mut live = vec![true; clauses.len()];
    let mut readers: BTreeMap<ConstId, usize> = BTreeMap::new();
    let mut definitions: BTreeMap<ConstId, Vec<usize>> = BTreeMap::new();
    for (index, clause) in clauses.iter().enumerate() {
        for read in &clause.reads {
            *readers.entry(*read).or_default() += 1;
        }
        for defined in &clause.defines {
            definitions.entry(*defined).or_default().push(index);
        }
    }
    let hidden = (0_usize..)
        .zip(clauses)
        .filter(|(_, clause)| clause.defines.iter().any(|defined| opaque.contains(defined)));
    let mut dead: Vec<usize> = hidden.map(|(index, _)| index).collect();
    // A constant's own definition reads it too, so one reader is none.
    let idle = |readers: &BTreeMap<ConstId, usize>, id: ConstId| {
        !kept(id) && readers.get(&id).is_none_or(|count| *count <= 1)
    };
    for (index, clause) in clauses.iter().enumerate() {
        if clause.defines.iter().any(|defined| idle(&readers, *defined)) {
            dead.push(index);
        }
    }
    while let Some(index) = dead.pop() {
        let (Some(flag), Some(clause)) = (live.get_mut(index), clauses.get(index)) else {
            continue;
        };
        if !std::mem::replace(flag, false) {
            continue;
        }
        for read in &clause.reads {
            if let Some(count) = readers.get_mut(read) {
                *count -= 1;
            }
            if idle(&readers, *read) {
                dead.extend(definitions.get(read).into_iter().flatten());
            }
        }
    }
    live
}

/// What lies below the opaque conditions: all that their definitions read, through definitions that
/// do not matter otherwise.
fn below(clauses: &[Reading], live: &[bool], opaque: &[ConstId]) -> BTreeSet<ConstId> {
    let mut found: BTreeSet<ConstId> = opaque.iter().copied().collect();
    loop {
        let dead = clauses.iter().zip(live).filter(|(_, live)| !**live);
        let defining = dead.filter(|(clause, _)| clause.defines.iter().any(|d| found.contains(d)));
        let more: Vec<ConstId> = defining.flat_map(|(clause, _)| &clause.reads).copied().collect();
        let before = found.len();
        found.extend(more);
        if found.len() == before {
            return found;
        }
    }
}

fn reading(policy: &Policy, term: TermId) -> Reading {
    let terms = &policy.terms;
    let reads: BTreeSet<ConstId> = terms.constants_in(term).into_iter().collect();
    let side = |id: TermId| match terms.get(id) {
        Term::Const(constant) => Some(*constant),
        _ => None,
    };
    let defines = match terms.get(term) {
        Term::Const(constant) => vec![*constant],
        Term::Not(inner) => side(*inner).into_iter().collect(),
        Term::Eq(a, b) => {
            let pairs = [(side(*a), *b), (side(*b), *a)];
            let sound = pairs.into_iter().filter_map(|(side, other)| {
                side.filter(|constant| !terms.constants_in(other).contains(constant))
            });
            sound.collect()
        }
        _ => Vec::new(),
    };
    Reading { defines, reads }
}

/// Of two constants that a clause equates, the one that is no fact, or else has no other
/// definition, is the one defined. Where that does not tell, both may be.
fn settle(clauses: &mut [Reading], stated: impl Fn(ConstId) -> bool) {
    let sure = clauses.iter().filter(|clause| clause.defines.len() == 1);
    let defined: BTreeSet<ConstId> = sure.flat_map(|clause| clause.defines.clone()).collect();
    for clause in clauses {
        let [a, b] = *clause.defines.as_slice() else {
            continue;
        };
        let only = match (stated(a), stated(b), defined.contains(&a), defined.contains(&b)) {
            (true, false, _, _) | (false, false, true, false) => b,
            (false, true, _, _) | (false, false, false, true) => a,
            _ => continue,
        };
        clause.defines = vec![only];
    }
}
