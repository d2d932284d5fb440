//! Laws that hold for every policy, on hundreds of invented ones.

use rayon::prelude::*;

use deogen::classes::Lemmas;
use deogen::slice;
use deogen::space::Level;
use deogen::term::Sort;

use crate::engine;
use crate::invent::{Invented, invent};
use crate::oracle::{self, Oracle, Shape};

/// Policies a run looks at; `DEOGEN_POLICIES` and `DEOGEN_SEED` widen a search by hand.
fn numbers() -> std::ops::Range<u64> {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = read("DEOGEN_SEED").unwrap_or(20_261_130);
    first..first + read("DEOGEN_POLICIES").unwrap_or(480)
}

/// What the generator's shares are counted from.
struct Traits {
    shape: Shape,
    silent: bool,
    linked: bool,
    enumeration: bool,
}

enum Outcome {
    /// Too many scenarios, or none.
    Skipped,
    /// A hidden number that no linear constraint replaces.
    Refused(String),
    Agreed(Traits),
    Wrong(String),
}

fn judge(policy: &Invented) -> Outcome {
    let Invented { text, inquiry, domains } = policy;
    let scenarios = oracle::scenarios(inquiry, domains);
    if scenarios.is_empty() {
        return Outcome::Skipped;
    }
    let slice = slice::slice(inquiry, &[]);
    let (space, tree) = match engine::tree(inquiry, &slice, Lemmas::Pairs) {
        Ok(grown) => grown,
        Err(fault) => return Outcome::Refused(fault),
    };
    let wrong = |fault: String| Outcome::Wrong(format!("{fault}\n{text}"));
    let mut oracle = match Oracle::new(inquiry, &space, domains, &scenarios) {
        Ok(oracle) => oracle,
        Err(fault) => return wrong(fault),
    };
    if let Err(fault) = oracle.audit(&tree) {
        return wrong(fault);
    }
    let expected = oracle.tree();
    if let Err(fault) = oracle::compare(inquiry, &tree, tree.root, &expected) {
        return wrong(fault);
    }
    let two = |level: &Level| match level {
        Level::Constraint(constraint) => constraint.constants().len() > 1,
        Level::Constant(_) => false,
    };
    let terms = &inquiry.policy.terms;
    let numeric = |id| terms.constant(id).sort.is_numeric();
    let pair = |term| {
        let constants = terms.constants_in(term);
        constants.len() > 1 && constants.into_iter().all(numeric)
    };
    let kept = slice.kept.iter().map(|at| inquiry.policy.clauses[*at].term);
    Outcome::Agreed(Traits {
        shape: oracle::shape(&expected, oracle.silent),
        silent: oracle.has_silence(),
        linked: space.levels.iter().any(two) || kept.into_iter().any(pair),
        enumeration: matches!(terms.sort(inquiry.verdict.term), Sort::Enum(_)),
    })
}

#[test]
fn trees_agree_with_brute_force() {
    let outcomes: Vec<(u64, Outcome)> = numbers()
        .into_par_iter()
        .map(|seed| (seed, invent(seed).map_or(Outcome::Skipped, |policy| judge(&policy))))
        .collect();
    let mut traits = Vec::new();
    let mut refused = Vec::new();
    let mut wrong = Vec::new();
    for (seed, outcome) in outcomes {
        match outcome {
            Outcome::Skipped => {}
            Outcome::Refused(fault) => refused.push(format!("policy {seed}: {fault}")),
            Outcome::Agreed(found) => traits.push(found),
            Outcome::Wrong(fault) => wrong.push(format!("policy {seed}: {fault}")),
        }
    }
    let count = |has: &dyn Fn(&Traits) -> bool| traits.iter().filter(|found| has(found)).count();
    let share = |has: &dyn Fn(&Traits) -> bool| count(has) * 100 / traits.len().max(1);
    let grown =
        share(&|found| found.shape.leaves >= 3 && found.shape.depth >= 3 && found.shape.nei > 0);
    let (silent, linked) = (share(&|found| found.silent), share(&|found| found.linked));
    let enumeration = share(&|found| found.enumeration);
    eprintln!(
        "{} policies, {} refused; {grown} % have three leaves, depth 3 and an NEI path, {silent} % a \
         silent scenario, {linked} % a linked pair, {enumeration} % an enumeration verdict",
        traits.len(),
        refused.len(),
    );
    eprintln!(
        "leaves {}, of them silent {}, NEI paths {}, deepest {}",
        traits.iter().map(|found| found.shape.leaves).sum::<usize>(),
        traits.iter().map(|found| found.shape.silent).sum::<usize>(),
        traits.iter().map(|found| found.shape.nei).sum::<usize>(),
        traits.iter().map(|found| found.shape.depth).max().unwrap_or(0),
    );
    for line in &refused {
        eprintln!("{line}");
    }
    assert!(wrong.is_empty(), "{} wrong, the first:\n{}", wrong.len(), wrong[0]);
    assert!(traits.len() >= 300, "only {} policies", traits.len());
    assert!(grown >= 60 && silent >= 20 && linked >= 20 && enumeration >= 20);
    assert!(refused.len() * 50 <= traits.len(), "{} policies refused", refused.len());
}

#[test]
fn show_one() {
    let Some(seed) = std::env::var("DEOGEN_SHOW").ok().and_then(|text| text.parse().ok()) else {
        return;
    };
    if let Some(policy) = invent(seed) {
        eprintln!("{}", policy.text);
        eprintln!("askable {:?}", policy.inquiry.askable);
    }
}
