//! Laws of the front end: what is printed reads back as it was, what is said is heard as it was meant,
//! and an inquiry leaves out what only opaque conditions read.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use deogen::diag::{Diagnostic, Source};
use deogen::document;
use deogen::manifest::{Cut, Manifest};
use deogen::policy::{Policy, TermDigests};
use deogen::project::Project;
use deogen::smtlib::{self, TagStyle, print_policy, print_term};
use deogen::term::{Number, Sort, TermId, Value};
use deogen::vocabulary::Vocabulary;
use proptest::prelude::*;

const HEAD: &str = "(set-logic ALL)
(declare-datatypes ((Color 0)) (((red) (green) (blue))))
(declare-const b Bool)
(declare-const i Int)
(declare-const j Int)
(declare-const r Real)
(declare-const c Color)
(declare-const d Color)
";

fn read(text: &str) -> (Policy, Vec<Diagnostic>) {
    let (file, faults) = smtlib::read("tiny", &Source::new("policy.smt2", text));
    (file.policy, faults)
}

fn assertion(term: &str) -> String {
    format!("{HEAD}(assert (! {term} :named a :section \"1\" :source \"s\"))\n")
}

fn digest(policy: &Policy, term: TermId) -> String {
    TermDigests::default().of(&policy.terms, term).to_string()
}

/// A random Bool term as text, of some depth; `let`, chains and testers included.
fn boolean() -> BoxedStrategy<String> {
    let literal = prop_oneof![(0..2000_i64).prop_map(|n| n.to_string()), Just("(- 7)".to_owned())];
    let int = prop_oneof![Just("i".to_owned()), Just("j".to_owned()), literal];
    let int = int.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(+ {a} {b} 1)")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(- {a} {b})")),
            inner.clone().prop_map(|a| format!("(- {a})")),
            (2..9, inner.clone()).prop_map(|(k, a)| format!("(* {k} {a})")),
            (inner.clone(), inner).prop_map(|(a, b)| format!("(ite b {a} {b})")),
        ]
    });
    let real = prop_oneof![
        Just("r".to_owned()),
        Just("(/ 7.0 3.0)".to_owned()),
        (0..999).prop_map(|n| format!("{}.{:02}", n / 100, n % 100)),
        int.clone().prop_map(|i| format!("(to_real {i})")),
        int.clone().prop_map(|i| format!("(* 0.5 (to_real {i}))")),
    ];
    let color = prop_oneof![Just("c"), Just("d"), Just("red"), Just("blue"), Just("(ite b c d)")];
    let leaf = prop_oneof![
        Just("b".to_owned()),
        Just("true".to_owned()),
        (int.clone(), int.clone(), int.clone()).prop_map(|(x, y, z)| format!("(<= {x} {y} {z})")),
        (int.clone(), int.clone()).prop_map(|(x, y)| format!("(> {x} {y})")),
        (int.clone(), int).prop_map(|(x, y)| format!("(distinct {x} {y})")),
        (real.clone(), real).prop_map(|(x, y)| format!("(< {x} {y})")),
        (color.clone(), color.clone()).prop_map(|(x, y)| format!("(= {x} {y})")),
        color.prop_map(|x| format!("((_ is green) {x})")),
    ];
    let term = leaf.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| format!("(and {})", all.join(" "))),
            prop::collection::vec(inner.clone(), 1..4)
                .prop_map(|all| format!("(or {})", all.join(" "))),
            inner.clone().prop_map(|a| format!("(not {a})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(x, y, z)| format!("(=> {x} {y} {z})")),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("(xor {x} {y})")),
            (inner.clone(), inner.clone()).prop_map(|(x, y)| format!("(= {x} {y})")),
            (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(x, y, z)| format!("(ite {x} {y} {z})")),
            (inner.clone(), inner).prop_map(|(x, y)| format!("(let ((b {x})) (or b {y}))")),
        ]
    });
    term.boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_is_printed_reads_back(term in boolean()) {
        let (policy, faults) = read(&assertion(&term));
        prop_assert!(faults.is_empty(), "{term}: {faults:?}");
        let clause = &policy.clauses[0];
        let printed = print_term(&policy.terms, clause.term);
        let (again, faults) = read(&assertion(&printed));
        prop_assert!(faults.is_empty(), "{printed}: {faults:?}");
        prop_assert_eq!(digest(&policy, clause.term), digest(&again, again.clauses[0].term));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[-()a-z0-9 \"|;:!_.=<\n\\\\é§]{0,80}") {
        let _ = read(&format!("{HEAD}{text}"));
        let _ = read(&assertion(&text));
        let (file, _) = smtlib::read("tiny", &Source::new("policy.smt2", HEAD));
        let _ = Vocabulary::read(&Source::new("vocabulary.toml", text.as_str()), &file);
        let _ = Manifest::read(&Source::new("deogen.toml", text.as_str()));
        let _ = document::read(&Source::new("policy.md", text));
    }
}

#[test]
fn shared_parts_are_printed_once() {
    let mut text = HEAD.to_owned();
    let mut name = "b".to_owned();
    for step in 0..60 {
        let _ =
            writeln!(text, "(define-const s{step} Bool (= {name} (< (ite {name} i j) {step})))");
        name = format!("s{step}");
    }
    let _ = writeln!(text, "(assert (! {name} :named a :section \"1\" :source \"s\"))");
    let (policy, faults) = read(&text);
    assert!(faults.is_empty(), "{faults:?}");
    let printed = print_term(&policy.terms, policy.clauses[0].term);
    assert!(printed.len() < 10_000, "{} bytes", printed.len());
    let (again, faults) = read(&assertion(&printed));
    assert!(faults.is_empty(), "{faults:?}");
    let terms = (policy.clauses[0].term, again.clauses[0].term);
    assert_eq!(digest(&policy, terms.0), digest(&again, terms.1));
}

fn words() -> (Policy, Vocabulary) {
    let (file, faults) = smtlib::read("tiny", &Source::new("policy.smt2", assertion("b")));
    assert!(faults.is_empty(), "{faults:?}");
    let text = "
        [facts.b]
        true = [\"It holds.\", \"It is so.\"]
        false = [\"It does not hold.\"]
        [facts.i]
        unit = \"day|days\"
        say = [\"It took {value} {unit}.\", \"The {unit} were counted: {value}\"]
        [facts.j]
        say = [\"${value} was paid in 2024.\", \"{value}\"]
        [facts.r]
        unit = \"percent\"
        say = [\"The rate is {value} {unit}.\"]
        [facts.c.values]
        red = [\"It is red.\"]
        green = [\"It is green.\"]
        blue = [\"It is blue.\", \"Its color is blue.\"]
    ";
    let (vocabulary, faults) = Vocabulary::read(&Source::new("vocabulary.toml", text), &file);
    assert!(faults.is_empty(), "{faults:?}");
    (file.policy, vocabulary)
}

proptest! {
    #[test]
    fn what_is_said_is_heard(number in any::<i64>(), scale in 0_u32..5, choice in any::<usize>()) {
        let (policy, vocabulary) = words();
        for entry in vocabulary.iter() {
            let values = policy.terms.values_of(entry.sort).unwrap_or_else(|| {
                let divisor = if entry.sort == Sort::Real { 10_i64.pow(scale) } else { 1 };
                let number = Number::new(number.into(), divisor.into());
                let small = Number::from_integer((number.numer() % 3_i64).clone());
                vec![Value::Number(number), Value::Number(small)]
            });
            for value in values {
                let text = vocabulary.say(entry.constant, &value, choice).unwrap();
                prop_assert_eq!(vocabulary.hear(&text), Some((entry.constant, value)), "{}", text);
            }
        }
    }
}

#[test]
fn sentences_are_as_a_person_writes_them() {
    let (policy, vocabulary) = words();
    let check = |name: &str, value: &str, choice: usize, expect: Option<&str>| {
        let constant = policy.constant(name).unwrap();
        let value = policy.terms.read(value, policy.terms.constant(constant).sort).unwrap();
        assert_eq!(vocabulary.say(constant, &value, choice).as_deref(), expect);
    };
    check("i", "1", 0, Some("It took 1 day."));
    check("i", "1250", 0, Some("It took 1,250 days."));
    check("i", "0", 3, Some("The days were counted: 0"));
    check("j", "-7", 0, Some("$-7 was paid in 2024."));
    check("r", "7.50", 0, Some("The rate is 7.5 percent."));
    check("r", "1/3", 0, None);
    check("c", "blue", 1, Some("Its color is blue."));
    check("d", "blue", 0, None);
    for odd in ["It took 1 days.", "It took 2 day.", "It took 1250 days.", "It took 01 day.", ""] {
        assert_eq!(vocabulary.hear(odd), None, "{odd}");
    }
}

fn project(path: &str) -> Project {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies").join(path);
    Project::load(&root).unwrap_or_else(|faults| panic!("{path}: {faults:?}"))
}

/// Names of the facts a determination may state.
fn askable(project: &Project, id: &str) -> Vec<String> {
    let inquiry = project.inquiry(project.manifest.determination(id).unwrap()).unwrap();
    let terms = &inquiry.policy.terms;
    inquiry.askable.iter().map(|constant| terms.constant(*constant).name.clone()).collect()
}

#[test]
fn opaque_conditions_hide_what_only_they_read() {
    let opaque = project("good/opaque");
    assert_eq!(askable(&opaque, "shop/plain"), ["days", "has_receipt", "witness", "sworn"]);
    // `witness` is read by a definition too that nothing reads; that does not count.
    assert_eq!(askable(&opaque, "shop/refund"), ["days", "proven"]);
}

#[test]
fn imports_are_one_constant_under_its_own_policy_name() {
    let imports = project("good/imports");
    let fee = ["express", "shop.days", "shop.has_receipt", "shop.pay"];
    assert_eq!(askable(&imports, "fees/fee"), fee);
    assert_eq!(askable(&imports, "shop/refund"), ["days", "has_receipt", "pay"]);
    let joined = imports.joined("fees").unwrap();
    let text = print_policy(&joined, TagStyle::Attributes);
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies/good/imports/joined.smt2");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &text).unwrap();
    }
    assert_eq!(text, fs::read_to_string(path).unwrap_or_default());
    assert_eq!(joined.labels, [["1"], ["1"]]);
    let words = imports.vocabulary(&joined).unwrap();
    let heard = words.hear("The purchase was 1 day ago.").unwrap();
    assert_eq!(joined.terms.constant(heard.0).name, "shop.days");
}

#[test]
fn a_broken_policy_stops_only_what_uses_it() {
    let project = project("bad/one-policy-broken");
    let inquiry = |id| project.inquiry(project.manifest.determination(id).unwrap());
    assert!(inquiry("shop/refund").is_ok());
    assert!(inquiry("fees/fee").is_err());
}

#[test]
fn sampling_is_overridden_key_by_key() {
    let project = project("good/enumeration");
    let sampling = &project.manifest.determinations[0].sampling;
    assert_eq!((sampling.definite, sampling.nei), (5, 100));
    assert_eq!(sampling.cut, [Cut::One, Cut::Exactly(2)]);
    assert_eq!(project.manifest.determinations[1].sampling.definite, 100);
    let schema = deogen::manifest::schema();
    assert!(schema["properties"]["determination"]["items"].is_object(), "{schema}");
}
