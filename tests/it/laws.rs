//! Laws that hold for every policy, on hundreds of invented ones.

use rayon::prelude::*;

use deogen::classes::Lemmas;
use deogen::policy::Inquiry;
use deogen::slice::{self, Slice};
use deogen::space::{Level, Space};
use deogen::term::Sort;
use deogen::tree::Tree;

use crate::engine;
use crate::invent::{Invented, invent};
use crate::oracle::{self, Oracle, Question, Shape};
use crate::scenarios::{self, Domains};

/// Policies a run looks at; `DEOGEN_POLICIES` and `DEOGEN_SEED` widen a search by hand.
fn policies(count: u64) -> std::ops::Range<u64> {
    let read = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = read("DEOGEN_SEED").unwrap_or(20_261_130);
    first..first + read("DEOGEN_POLICIES").unwrap_or(count)
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

/// Compares the tree of a policy with brute force; nothing where no scenario is possible, or where
/// a hidden number leaves no class function.
fn judge(inquiry: &Inquiry, domains: &Domains, lemmas: Lemmas) -> Outcome {
    let scenarios = scenarios::scenarios(inquiry, domains);
    if scenarios.is_empty() {
        return Outcome::Skipped;
    }
    let slice = slice::slice(inquiry, &[]);
    let (space, tree) = match engine::tree(inquiry, &slice, lemmas) {
        Ok(grown) => grown,
        Err(fault) => return Outcome::Refused(fault),
    };
    let mut oracle = match Oracle::new(inquiry, &space, domains, &scenarios) {
        Ok(oracle) => oracle,
        Err(fault) => return Outcome::Wrong(fault),
    };
    if let Err(fault) = oracle.audit(&tree) {
        return Outcome::Wrong(fault);
    }
    let expected = oracle.tree();
    if let Err(fault) = oracle::compare(inquiry, &tree, tree.root, &expected) {
        return Outcome::Wrong(fault);
    }
    Outcome::Agreed(traits(inquiry, &slice, &space, &oracle, &expected))
}

/// That a policy's tree is what brute force says.
pub(crate) fn agrees(inquiry: &Inquiry, domains: &Domains, lemmas: Lemmas) -> Result<(), String> {
    match judge(inquiry, domains, lemmas) {
        Outcome::Agreed(_) => Ok(()),
        Outcome::Skipped => Err("no scenario is possible".to_owned()),
        Outcome::Refused(fault) | Outcome::Wrong(fault) => Err(fault),
    }
}

fn traits(
    inquiry: &Inquiry,
    slice: &Slice,
    space: &Space,
    oracle: &Oracle,
    tree: &Question,
) -> Traits {
    let two = |level: &Level| match level {
        Level::Constraint(constraint) => constraint.constants().len() > 1,
        Level::Constant(_) => false,
    };
    let terms = &inquiry.policy.terms;
    let pair = |term| {
        let constants = terms.constants_in(term);
        constants.len() > 1 && constants.iter().all(|id| terms.constant(*id).sort.is_numeric())
    };
    let mut kept = slice.kept.iter().map(|at| inquiry.policy.clauses[*at].term);
    Traits {
        shape: oracle::shape(tree, oracle.silent),
        silent: oracle.has_silence(),
        linked: space.levels.iter().any(two) || kept.any(pair),
        enumeration: matches!(terms.sort(inquiry.verdict.term), Sort::Enum(_)),
    }
}

#[test]
fn trees_agree_with_brute_force() {
    let outcomes: Vec<(u64, Outcome)> = policies(400)
        .into_par_iter()
        .map(|seed| {
            let Some(Invented { text, inquiry, domains }) = invent(seed) else {
                return (seed, Outcome::Skipped);
            };
            match judge(&inquiry, &domains, Lemmas::Pairs) {
                Outcome::Wrong(fault) => (seed, Outcome::Wrong(format!("{fault}\n{text}"))),
                outcome => (seed, outcome),
            }
        })
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
        "{} policies, {} refused; {grown} % have three leaves, depth 3 and an NEI path, \
         {silent} % a silent scenario, {linked} % a linked pair, {enumeration} % an enumeration \
         verdict",
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

/// Judges policies one by one; prints how many and fails with the first that is wrong.
fn each(what: &str, count: u64, judge: impl Fn(&Invented) -> Option<Result<(), String>> + Sync) {
    let found: Vec<Option<Result<(), String>>> = policies(count)
        .into_par_iter()
        .map(|seed| {
            let policy = invent(seed)?;
            // Without any scenario there is no tree.
            if scenarios::scenarios(&policy.inquiry, &policy.domains).is_empty() {
                return None;
            }
            let wrong = |fault| format!("policy {seed}: {fault}\n{}", policy.text);
            judge(&policy).map(|verdict| verdict.map_err(wrong))
        })
        .collect();
    let found: Vec<Result<(), String>> = found.into_iter().flatten().collect();
    eprintln!("{what}: {} policies", found.len());
    let wrong: Vec<String> = found.iter().filter_map(|found| found.clone().err()).collect();
    assert!(wrong.is_empty(), "{what}: {} wrong, the first:\n{}", wrong.len(), wrong[0]);
    assert!(found.len() * 10 >= usize::try_from(count).unwrap() * 8, "too few policies");
}

#[test]
fn lemmas_given_in_advance_change_nothing() {
    each("lemmas", 400, |Invented { inquiry, .. }| {
        let slice = slice::slice(inquiry, &[]);
        let grown = [Lemmas::Pairs, Lemmas::None, Lemmas::Triples]
            .map(|lemmas| engine::tree(inquiry, &slice, lemmas).map(|(_, tree)| tree));
        let [Ok(pairs), Ok(none), Ok(triples)] = &grown else { return None };
        Some(match (pairs == none, pairs == triples) {
            (true, true) => Ok(()),
            (false, _) => Err("no lemmas and pairs of signs grow different trees".to_owned()),
            (_, false) => Err("pairs and triples of signs grow different trees".to_owned()),
        })
    });
}

#[test]
fn slicing_changes_no_tree() {
    each("slices", 400, |Invented { inquiry, .. }| {
        let sliced = engine::tree(inquiry, &slice::slice(inquiry, &[]), Lemmas::Pairs).ok()?;
        let whole = engine::tree(inquiry, &slice::whole(inquiry), Lemmas::Pairs);
        let same =
            |(space, tree): &(Space, Tree)| engine::alike((&sliced.0, &sliced.1), (space, tree));
        Some(match whole {
            Ok(whole) if same(&whole) => Ok(()),
            Ok(_) => Err("slicing changes the tree".to_owned()),
            Err(fault) => Err(format!("unsliced, {fault}")),
        })
    });
}

#[test]
fn the_solver_alone_grows_the_same_trees() {
    each("reference", 400, |Invented { inquiry, .. }| {
        let (space, tree) =
            engine::tree(inquiry, &slice::slice(inquiry, &[]), Lemmas::Pairs).ok()?;
        let slice = slice::slice(inquiry, &[]);
        let outline = Space::lay_out(inquiry, &slice).unwrap();
        assert_eq!(outline.levels, space.levels, "a diagram adds no level");
        Some(match engine::solver_tree(&outline) {
            Ok(other) if other == tree => Ok(()),
            Ok(_) => Err("diagram and solver grow different trees".to_owned()),
            Err(fault) => Err(fault),
        })
    });
}
