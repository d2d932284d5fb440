//! Every entry of the data set proved again from what is published: the exported SMT-LIB, read by
//! Z3's own parser, and the facts of the rows. Nothing of `src/` is used.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use z3::ast::Bool;
use z3::{SatResult, Solver};

use crate::checkout::Checkout;

/// An exported policy with a literal for each `name = value` that was asked for.
struct Exported {
    text: String,
    sorts: BTreeMap<String, String>,
    literals: BTreeMap<(String, String), usize>,
}

impl Exported {
    fn new(text: String) -> Self {
        let declared = text.lines().filter_map(|line| {
            let words: Vec<&str> = line.trim_matches(['(', ')']).split_whitespace().collect();
            match words.as_slice() {
                ["declare-const", name, sort] | ["define-const", name, sort, ..] => {
                    Some(((*name).to_owned(), sort.trim_end_matches(')').to_owned()))
                }
                _ => None,
            }
        });
        let sorts = declared.collect();
        Self { text, sorts, literals: BTreeMap::new() }
    }

    /// The number of the literal `name = value`.
    fn literal(&mut self, name: &str, value: &str) -> usize {
        let key = (name.to_owned(), value.to_owned());
        if let Some(known) = self.literals.get(&key) {
            return *known;
        }
        let sort = self.sorts.get(name).unwrap_or_else(|| panic!("{name} is not exported"));
        let spelled = spell(value, sort);
        let at = self.literals.len();
        self.text +=
            &format!("(declare-const lit!{at} Bool)\n(assert (= lit!{at} (= {name} {spelled})))\n");
        self.literals.insert(key, at);
        at
    }
}

/// A value of a row as SMT-LIB.
fn spell(value: &str, sort: &str) -> String {
    if !["Int", "Real"].contains(&sort) {
        return value.to_owned();
    }
    let point = if sort == "Real" { ".0" } else { "" };
    let (minus, size) = value.strip_prefix('-').map_or((false, value), |size| (true, size));
    let size = match size.split_once('/') {
        Some((over, under)) => format!("(/ {over}{point} {under}{point})"),
        None => format!("{size}{point}"),
    };
    if minus { format!("(- {size})") } else { size }
}

fn text(row: &Value, key: &str) -> String {
    row[key].as_str().unwrap_or_else(|| panic!("{key} of {row}")).to_owned()
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item.as_str().unwrap().to_owned()).collect()
}

/// What a row claims, as literals: its facts, and for each possible value the verdict and a
/// witness.
struct Claim {
    id: String,
    definite: bool,
    facts: Vec<usize>,
    values: Vec<usize>,
    witnesses: Vec<Vec<usize>>,
}

fn claim(exported: &mut Exported, row: &Value, witnesses: &BTreeMap<String, Value>) -> Claim {
    let verdict = text(row, "verdict");
    let facts: Vec<(String, String)> = row["facts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fact| (text(fact, "variable"), text(fact, "value")))
        .collect();
    let definite = row["kind"] == "definite";
    let possible = texts(&row["possible_values"]);
    assert_eq!(definite, possible.len() == 1, "{}", row["id"]);
    if definite {
        assert_eq!(row["answer_value"].as_str(), Some(possible[0].as_str()), "{}", row["id"]);
    }
    let mut full = Vec::new();
    for digest in texts(&row["certificate"]["witnesses"]) {
        let pairs = witnesses[&digest]["values"].as_array().unwrap();
        let values: BTreeMap<String, String> = pairs
            .iter()
            .map(|pair| (pair[0].as_str().unwrap().into(), pair[1].as_str().unwrap().into()))
            .collect();
        for (name, value) in &facts {
            assert_eq!(values.get(name), Some(value), "{name} of {}", row["id"]);
        }
        let literals = values.iter().map(|(name, value)| exported.literal(name, value));
        full.push(literals.collect());
    }
    assert_eq!(full.len(), possible.len(), "{}", row["id"]);
    Claim {
        id: text(row, "id"),
        definite,
        facts: facts.iter().map(|(name, value)| exported.literal(name, value)).collect(),
        values: possible.iter().map(|value| exported.literal(&verdict, value)).collect(),
        witnesses: full,
    }
}

/// Proves the rows of a determination; returns how many were definite and how many were not.
fn prove(checkout: &Checkout, determination: &str) -> (usize, usize) {
    let exported = checkout.run(&["export", determination]).ended(0).stdout;
    let mut exported = Exported::new(exported);
    let lines = |path: &str| -> Vec<Value> {
        let text = checkout.read(path);
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let rows = lines(&format!("dist/{determination}.jsonl"));
    let policy = determination.split('/').next().unwrap();
    let witnesses = lines(&format!("dist/{policy}/witnesses.jsonl"));
    let witnesses = witnesses.into_iter().map(|line| (text(&line, "id"), line)).collect();
    let claims: Vec<Claim> = rows.iter().map(|row| claim(&mut exported, row, &witnesses)).collect();
    // Tags are attributes of ours; Z3 would say of each that it does not know it.
    z3::set_global_param("warning", "false");
    let solver = Solver::new();
    solver.from_string(exported.text.clone());
    let parsed = solver.get_assertions().len();
    let asserted = exported.text.matches("(assert ").count();
    assert_eq!(parsed, asserted, "Z3 read all of {determination}");
    let literal = |at: &usize| Bool::new_const(format!("lit!{at}"));
    let ask = |literals: Vec<Bool>| solver.check_assumptions(&literals);
    let mut counts = (0, 0);
    let mut wrong = BTreeSet::new();
    for claim in &claims {
        let facts: Vec<Bool> = claim.facts.iter().map(literal).collect();
        let and = |more: Bool| ask(facts.iter().cloned().chain([more]).collect());
        let mut holds = claim.values.iter().all(|value| and(literal(value)) == SatResult::Sat);
        if claim.definite {
            holds &= and(literal(&claim.values[0]).not()) == SatResult::Unsat;
            counts.0 += 1;
        } else {
            counts.1 += 1;
        }
        for (witness, value) in claim.witnesses.iter().zip(&claim.values) {
            let all = witness.iter().chain([value]).map(literal).collect();
            holds &= ask(all) == SatResult::Sat;
        }
        if !holds {
            wrong.insert(&claim.id);
        }
    }
    assert!(wrong.is_empty(), "{determination}: not proved are {wrong:?}");
    counts
}

#[test]
fn every_entry_is_proved_again_from_the_export() {
    let checkout = Checkout::built();
    let build: Value = serde_json::from_str(&checkout.read("dist/build.json")).unwrap();
    let built = build["determinations"].as_object().unwrap();
    assert!(built.len() >= 3, "only {} determinations", built.len());
    for (id, entry) in built {
        let (definite, open) = prove(checkout, id);
        eprintln!("{id}: {definite} definite and {open} NEI entries proved again");
        assert_eq!(entry["entries"], serde_json::json!([definite, open]), "{id}");
        assert!(definite > 0 && open > 0, "{id} has entries of both kinds");
    }
}
