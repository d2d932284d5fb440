//! `deogen ask`: against every scenario of small policies under the pure evaluator, and as a
//! command.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assert_cmd::Command;
use deogen::ask::{Question, Reply};
use deogen::docket::Customs;
use deogen::policy::{Facts, Inquiry};
use deogen::render::Wording;
use deogen::term::{ConstId, Value};
use deogen::vocabulary::Vocabulary;

use crate::draft::Dice;
use crate::engine::{inquiry, limits};
use crate::scenarios::{Domains, Scenario, scenarios};

/// A policy over Bools, an enumeration and one number from 0 to 3.
fn policy(dice: &mut Dice) -> (String, Vec<String>) {
    let mut text = String::from(
        "(set-logic ALL)\n(declare-datatype Color ((red) (green) (blue)))\n\
         (declare-const color Color)\n(declare-const n Int)\n(declare-const v Bool)\n\
         (declare-const d Bool)\n(declare-const e Bool)\n\
         (assert (! (and (>= n 0) (<= n 3)) :kind range))\n",
    );
    let mut facts = vec!["color".to_owned(), "n".to_owned()];
    for at in 0..3 {
        text += &format!("(declare-const b{at} Bool)\n");
        facts.push(format!("b{at}"));
    }
    let atoms =
        ["b0", "b1", "b2", "(= color red)", "(= color blue)", "(<= n 1)", "(< n 3)", "(not b0)"];
    let atom = |dice: &mut Dice| (*dice.pick(&atoms)).to_owned();
    let rules = [
        format!("(= d (or {} {}))", atom(dice), atom(dice)),
        format!("(= e (and d {}))", atom(dice)),
        if dice.chance(70) {
            format!("(= v (or e (and {} {})))", atom(dice), atom(dice))
        } else {
            format!("(=> (and d {}) v)", atom(dice))
        },
        format!("(=> {} {})", atom(dice), atom(dice)),
        format!("(=> (and {} {}) (not {}))", atom(dice), atom(dice), atom(dice)),
    ];
    for (at, rule) in rules.iter().enumerate() {
        text += &format!("(assert (! {rule} :named r{at} :section \"{at}\" :source \"s\"))\n");
    }
    (text, facts)
}

fn domains(inquiry: &Inquiry) -> Domains {
    let terms = &inquiry.policy.terms;
    let number = |at: i64| Value::Number(num(at));
    let values = |sort| terms.values_of(sort).unwrap_or_else(|| (0..4).map(number).collect());
    terms.constants().map(|(_, constant)| values(constant.sort)).collect()
}

fn num(at: i64) -> deogen::term::Number {
    deogen::term::read_number(&at.to_string()).unwrap()
}

fn reply(inquiry: &Inquiry, facts: &Facts) -> Reply {
    let vocabulary = Vocabulary::default();
    let wording = Wording {
        question: "?".to_owned(),
        answers: vec!["no".to_owned(), "yes".to_owned()],
        meaning: String::new(),
        canary: String::new(),
        salt: None,
    };
    let question = Question {
        inquiry,
        vocabulary: &vocabulary,
        wording: &wording,
        customs: Customs::default(),
        limits: limits(),
    };
    question.ask(facts).unwrap()
}

/// Every policy has five facts, so that sets of all sizes are looked at.
struct Table<'t> {
    inquiry: &'t Inquiry,
    domains: &'t Domains,
    all: &'t [Scenario],
}

impl Table<'_> {
    fn value(&self, scenario: &Scenario, id: ConstId) -> &Value {
        &self.domains[id.index()][scenario.chosen[id.index()] as usize]
    }

    /// Verdicts possible with some facts, as bits.
    fn possible(&self, facts: &[(ConstId, Value)]) -> u32 {
        let fits = |s: &&Scenario| facts.iter().all(|(id, v)| self.value(s, *id) == v);
        self.all.iter().filter(fits).fold(0, |bits, scenario| bits | scenario.possible)
    }

    /// Whether some values of `set` decide for `value`.
    fn decides(&self, stated: &[(ConstId, Value)], set: &[ConstId], value: u32) -> bool {
        let fits = |s: &&Scenario| stated.iter().all(|(id, v)| self.value(s, *id) == v);
        self.all.iter().filter(fits).any(|scenario| {
            let mut facts = stated.to_vec();
            facts.extend(set.iter().map(|id| (*id, self.value(scenario, *id).clone())));
            self.possible(&facts) == value
        })
    }

    /// All minimal sets that can decide for `value`.
    fn minimal(&self, stated: &[(ConstId, Value)], value: u32) -> BTreeSet<Vec<String>> {
        let known = |id: &ConstId| stated.iter().any(|(other, _)| other == id);
        let open: Vec<ConstId> =
            self.inquiry.askable.iter().copied().filter(|id| !known(id)).collect();
        let mut found: Vec<Vec<ConstId>> = Vec::new();
        let mut masks: Vec<u32> = (0..1 << open.len()).collect();
        masks.sort_by_key(|mask| mask.count_ones());
        for mask in masks {
            let set: Vec<ConstId> =
                (0..open.len()).filter(|at| mask >> at & 1 == 1).map(|at| open[at]).collect();
            let smaller = found.iter().any(|known| known.iter().all(|id| set.contains(id)));
            if !smaller && self.decides(stated, &set, value) {
                found.push(set);
            }
        }
        let name = |id: &ConstId| self.inquiry.policy.terms.constant(*id).name.clone();
        found.iter().map(|set| set.iter().map(name).collect()).collect()
    }
}

#[test]
fn replies_agree_with_every_scenario() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..60 {
        let mut dice = Dice::new(seed);
        let (text, names) = policy(&mut dice);
        let inquiry = inquiry(&text, &names, "v", &[]);
        let domains = domains(&inquiry);
        let all = scenarios(&inquiry, &domains);
        if all.is_empty() {
            continue;
        }
        let table = Table { inquiry: &inquiry, domains: &domains, all: &all };
        for _ in 0..4 {
            let mut stated = Vec::new();
            // The list of scenarios has one value for what nothing mentions.
            let mentioned = |id: &&ConstId| {
                let terms = &inquiry.policy.terms;
                let mut clauses = inquiry.policy.clauses.iter();
                clauses.any(|clause| terms.constants_in(clause.term).contains(id))
            };
            for id in inquiry.askable.iter().filter(mentioned) {
                if dice.chance(40) {
                    stated.push((*id, dice.pick(&domains[id.index()]).clone()));
                }
            }
            let reply = reply(&inquiry, &Facts::new(stated.iter().cloned()));
            *seen.entry(reply.status).or_default() += 1;
            agree(&table, &stated, &reply, &text);
        }
    }
    assert!(seen.values().all(|count| *count > 10) && seen.len() == 3, "{seen:?}");
}

fn agree(table: &Table<'_>, stated: &[(ConstId, Value)], reply: &Reply, text: &str) {
    let inquiry = table.inquiry;
    let possible = table.possible(stated);
    let spelled: Vec<String> = (0..2)
        .filter(|at| possible >> at & 1 == 1)
        .map(|at| inquiry.policy.terms.spell(&inquiry.verdict.values[at]))
        .collect();
    assert_eq!(reply.possible_values, spelled, "{stated:?}\n{text}");
    match reply.status {
        "contradiction" => {
            // Leaving out any of the facts that clash, or any clause, must make peace.
            assert!(!reply.clash.facts.is_empty(), "{stated:?}\n{text}");
            for without in &reply.clash.facts {
                let kept = reply.clash.facts.iter().filter(|fact| *fact != without);
                let kept: Vec<(ConstId, Value)> = kept
                    .map(|fact| {
                        let id = inquiry.policy.constant(&fact.variable).unwrap();
                        let found = stated.iter().find(|(known, _)| *known == id).unwrap();
                        found.clone()
                    })
                    .collect();
                assert_ne!(table.possible(&kept), 0, "{stated:?}\n{text}");
            }
        }
        "definite" => {
            let last = reply.derivation.iter().rfind(|step| step.needed).unwrap();
            assert_eq!(last.condition, "v", "{stated:?}\n{text}");
            assert_eq!(vec![last.value.clone()], spelled);
            // Each step rests on what stands before it.
            let mut known: Vec<(String, String)> =
                reply.facts.iter().map(|f| (f.variable.clone(), f.value.clone())).collect();
            for step in &reply.derivation {
                for since in &step.since {
                    assert!(known.contains(&(since.variable.clone(), since.value.clone())));
                }
                known.push((step.condition.clone(), step.value.clone()));
            }
        }
        _ => {
            for need in &reply.needs {
                let at = spelled_at(inquiry, &need.value);
                let expect = table.minimal(stated, 1 << at);
                let sets: BTreeSet<Vec<String>> = need
                    .sets
                    .iter()
                    .map(|set| set.facts.iter().map(|fact| fact.variable.clone()).collect())
                    .collect();
                assert!(need.complete, "{stated:?}\n{text}");
                assert_eq!(sets, expect, "{} of {stated:?}\n{text}", need.value);
            }
        }
    }
}

fn spelled_at(inquiry: &Inquiry, value: &str) -> usize {
    let values = &inquiry.verdict.values;
    values.iter().position(|known| inquiry.policy.terms.spell(known) == value).unwrap()
}

fn ask(arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("deogen").unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    command.arg("-C").arg(root).arg("ask").args(arguments).write_stdin(input);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

const HIRING: &str = "fellows-hiring/appointment-type";

#[test]
fn the_command_answers_and_exits_as_promised() {
    let facts = r#"{"paid_position": true, "payer": "yale_funds"}"#;
    let (code, out, _) = ask(&[HIRING, "--facts", "-", "--fact", "has_phd=true"], facts);
    assert_eq!(code, 0, "{out}");
    assert!(out.contains("Answer\n  postdoctoral appointee\n"), "{out}");
    assert!(out.contains("How it follows"), "{out}");
    let (code, out, _) = ask(&[HIRING, "--facts", "-", "--message-format", "json"], facts);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["status"]), (0, &"nei".into()), "{out}");
    assert_eq!(json["answer"], "not enough information");
    assert_eq!(json["missing"], serde_json::json!([["has_phd"]]), "{out}");
    // The facts of a row, and a row.
    let row = r#"{"facts": [{"variable": "paid_position", "value": "false"}]}"#;
    let (code, out, _) = ask(&[HIRING, "--facts", "-"], row);
    assert!(code == 0 && out.contains("Answer\n  visiting fellow\n"), "{out}");
    let list = r#"{"variable": "paid_position", "value": "false"}"#;
    assert_eq!(ask(&[HIRING, "--facts", "-"], list).1, out);
}

#[test]
fn the_command_refuses_what_it_cannot_read() {
    let check = |arguments: &[&str], code: i32, part: &str| {
        let (found, out, err) = ask(arguments, "");
        assert_eq!(found, code, "{arguments:?}: {out}{err}");
        assert!(format!("{out}{err}").contains(part), "{arguments:?}: {out}{err}");
    };
    check(&[HIRING, "--fact", "has_pdh=true"], 1, "did you mean `has_phd`?");
    check(&[HIRING, "--fact", "payer=yale_fund"], 1, "did you mean `yale_funds`?");
    check(&[HIRING, "--fact", "payer"], 1, "states no fact");
    check(&[HIRING, "--fact", "has_jd=true", "--fact", "has_jd=false"], 1, "state each fact once");
    check(&[HIRING, "--fact", "appointment_type=visiting_fellow"], 1, "is the verdict");
    check(&["fellows-hiring/appointment-typ"], 2, "did you mean");
    check(&["irs-213/medical-care", "--fact", "d_age=-1"], 1, "The facts contradict the policy");
}
