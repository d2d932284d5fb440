//! Scenarios with known answers, written beside the policies by reading their texts.
//!
//! Each line of `tests/scenarios/<policy>.jsonl` states facts and what the policy makes of them: a
//! verdict value, `nei` or `inconsistent`. Nothing of the tree, the draw or the slices is used.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use serde::Deserialize;

use deogen::manifest::Determination;
use deogen::project::Project;
use deogen::solver::{Answer, Limits, Meter, Session};

/// One line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    determination: String,
    facts: BTreeMap<String, String>,
    expect: String,
    why: String,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scenarios")
}

/// The repository's policies under the manifest of the scenarios, which names more determinations.
fn project() -> Project {
    let root = tempfile::tempdir().unwrap();
    fs::copy(folder().join("deogen.toml"), root.path().join("deogen.toml")).unwrap();
    let policies = Path::new(env!("CARGO_MANIFEST_DIR")).join("policies");
    for policy in fs::read_dir(policies).unwrap() {
        let policy = policy.unwrap();
        let to = root.path().join("policies").join(policy.file_name());
        fs::create_dir_all(&to).unwrap();
        for file in ["policy.smt2", "policy.md", "vocabulary.toml"] {
            fs::copy(policy.path().join(file), to.join(file)).unwrap();
        }
    }
    let drawn = |faults: Vec<deogen::diag::Diagnostic>| {
        faults.iter().map(|fault| fault.draw(false)).collect::<Vec<_>>().join("\n")
    };
    let project = Project::load(root.path()).unwrap_or_else(|faults| panic!("{}", drawn(faults)));
    let faults = project.diagnostics();
    assert!(!deogen::build::has_errors(&faults), "{}", drawn(faults));
    project
}

/// By determination, each with its place.
fn scenarios() -> BTreeMap<String, Vec<(String, Scenario)>> {
    let mut found: BTreeMap<String, Vec<(String, Scenario)>> = BTreeMap::new();
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "jsonl") {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        for (at, line) in fs::read_to_string(&path).unwrap().lines().enumerate() {
            let place = format!("{name}:{}", at + 1);
            let scenario: Scenario =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{place}: {error}"));
            found.entry(scenario.determination.clone()).or_default().push((place, scenario));
        }
    }
    found
}

/// What is wrong with the scenarios of a determination, a line each.
fn faults(project: &Project, det: &Determination, scenarios: &[(String, Scenario)]) -> Vec<String> {
    let mut inquiry = project.inquiry(det).unwrap_or_else(|_| panic!("{}", det.id.name));
    let mut is = Vec::new();
    for value in inquiry.verdict.values.clone() {
        let terms = &mut inquiry.policy.terms;
        let term = terms.value(&value, terms.sort(inquiry.verdict.term));
        is.push(terms.eq(inquiry.verdict.term, term).unwrap());
    }
    let policy = &inquiry.policy;
    let vocabulary = project.vocabulary(policy).unwrap_or_else(|_| panic!("{}", det.id.name));
    let asserts: Vec<_> = policy.clauses.iter().map(|clause| clause.term).collect();
    let limits = Limits { rlimit: 0, seed: 0, meter: Meter::default() };
    let mut session = Session::new(&policy.terms, &asserts, limits);
    let mut wrong = Vec::new();
    for (place, scenario) in scenarios {
        let mut literals = Vec::new();
        let mut unknown = Vec::new();
        for (name, value) in &scenario.facts {
            // Conditions that are opaque in some determination can be stated, too.
            let askable = policy.constant(name).filter(|id| vocabulary.words(*id).is_some());
            let read = askable.and_then(|id| {
                Some((id, policy.terms.read(value, policy.terms.constant(id).sort)?))
            });
            match read {
                Some((id, value)) => literals.push(session.fact(id, &value)),
                None => unknown.push(format!("{name} = {value}")),
            }
        }
        if !unknown.is_empty() {
            wrong.push(format!("{place}: no facts: {}", unknown.join(", ")));
            continue;
        }
        let mut possible = Vec::new();
        for (term, value) in is.iter().zip(&inquiry.verdict.values) {
            let verdict = session.term(*term, true);
            literals.push(verdict);
            match session.check(&literals) {
                Answer::Sat => possible.push(policy.terms.spell(value)),
                Answer::Unsat(_) => {}
                Answer::Unknown(why) => panic!("{place}: {why:?} without a limit"),
            }
            literals.pop();
        }
        let answer = match possible.as_slice() {
            [] => "inconsistent",
            [value] => value,
            _ => "nei",
        };
        if answer != scenario.expect {
            let Scenario { expect, why, .. } = scenario;
            wrong.push(format!("{place}: {expect} expected ({why}), but {possible:?}"));
        }
    }
    wrong
}

#[test]
fn scenarios_have_the_answers_the_texts_give() {
    let project = project();
    let scenarios = scenarios();
    let dets = &project.manifest.determinations;
    for id in scenarios.keys() {
        assert!(dets.iter().any(|det| det.id.name == *id), "no determination {id}");
    }
    let wrong: Vec<String> = dets
        .par_iter()
        .flat_map(|det| {
            let of = scenarios.get(&det.id.name).map_or(&[] as &[_], Vec::as_slice);
            faults(&project, det, of)
        })
        .collect();
    let count: usize = scenarios.values().map(Vec::len).sum();
    eprintln!("{count} scenarios of {} determinations", scenarios.len());
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
    // The determinations of the data set itself all have some.
    let own = Project::load(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap_or_else(|_| panic!());
    for det in &own.manifest.determinations {
        let many = scenarios.get(&det.id.name).map_or(0, Vec::len);
        assert!(many >= 20, "{} has {many} scenarios", det.id.name);
    }
}
