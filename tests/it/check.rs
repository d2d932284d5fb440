//! `deogen check`: for each lint the smallest policy that triggers it and the nearest that does
//! not.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use assert_cmd::Command;
use deogen::check::{LINTS, Task, check};
use deogen::project::Project;

use crate::engine::limits;

/// A project of one policy: clauses after the usual declarations, text, words, end of the manifest.
#[derive(Clone, Copy)]
struct Small<'s> {
    clauses: &'s str,
    text: &'s str,
    words: &'s str,
    manifest: &'s str,
}

const PLAIN: Small<'static> = Small {
    clauses: "(assert (! (= v (and a b (<= n 17))) :named c1 :section \"1\" :source \"s\"))\n",
    text: "**§1** V is a and b.\n",
    words: "",
    manifest: "",
};

fn write(root: &Path, small: Small<'_>) {
    let folder = root.join("policies/p");
    fs::create_dir_all(&folder).unwrap();
    let head = "(set-logic ALL)\n(declare-const a Bool)\n(declare-const b Bool)\n\
                (declare-const n Int)\n(declare-const v Bool)\n\
                (assert (! (and (>= n 0) (<= n 99)) :kind range))\n";
    fs::write(folder.join("policy.smt2"), format!("{head}{}", small.clauses)).unwrap();
    fs::write(folder.join("policy.md"), small.text).unwrap();
    let mut words = String::new();
    for name in ["a", "b"] {
        words += &format!("[facts.{name}]\ntrue = [\"{name}.\"]\nfalse = [\"Not {name}.\"]\n");
    }
    words += "[facts.n]\nsay = [\"It is {value}.\"]\n";
    fs::write(folder.join("vocabulary.toml"), words + small.words).unwrap();
    let manifest = format!(
        "[project]\nname = \"t\"\nversion = \"1\"\nlicense = \"CC0-1.0\"\n[policies.p]\n\
         [[determination]]\nid = \"p\"\npolicy = \"p\"\nverdict = \"v\"\nquestion = \"V?\"\n\
         answers = {{ true = \"yes\", false = \"no\" }}\n{}",
        small.manifest
    );
    fs::write(root.join("deogen.toml"), manifest).unwrap();
}

/// Names of the lints that find something, with the hints.
fn found(small: Small<'_>, supported: Option<&[&str]>) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), small);
    let project = Project::load(folder.path()).unwrap();
    let task = Task {
        project: &project,
        only: &[],
        deep: true,
        limits: limits(),
        supported: supported.map(|list| list.iter().map(|s| (*s).to_owned()).collect()),
        interrupted: &AtomicBool::new(false),
    };
    let findings = check(&task);
    let drawn = findings.iter().map(|f| (f.lint.to_owned(), f.diagnostic.draw(false)));
    drawn.collect()
}

fn clause(name: &str, term: &str) -> String {
    format!("(assert (! {term} :named {name} :section \"1\" :source \"s\"))\n")
}

/// Clauses beside the plain one, or instead of it, that trigger a lint, and the nearest that don't.
const CLAUSES: [(&str, bool, &[&str], &[&str]); 10] = [
    ("contradiction", true, &["a", "(not a)"], &["a", "(not b)"]),
    ("verdict-impossible", true, &["(not v)"], &["(=> v (<= n 5))"]),
    ("vacuous-clause", true, &["(=> a (or a b))"], &["(=> a b)"]),
    ("vacuous-clause", true, &["(=> a (<= n 99))"], &["(=> a (<= n 98))"]),
    ("one-way-definition", false, &["(=> (and a b) v)"], &["(= v (and a b))"]),
    ("asked-definition", true, &["(= a (and b (<= n 17)))"], &["(=> (and b (<= n 17)) a)"]),
    (
        "off-by-one",
        false,
        &["(= v (and a (< n 18)))", "(=> b (<= n 18))"],
        &["(= v (and a (< n 18)))", "(=> b (< n 18))"],
    ),
    ("implied-clause", true, &["(=> v a)"], &["(=> a v)"]),
    ("empty-region", true, &["(=> (<= n 120) (or a b))"], &["(=> (= n 99) (or a b))"]),
    ("silent-scenario", false, &["(=> a v)", "(=> (not a) (not (and v b)))"], &["(= v (and a b))"]),
];

#[test]
fn each_lint_of_clauses_finds_its_fault_and_no_other() {
    for (lint, beside, faulty, sound) in CLAUSES {
        for (terms, expect) in [(faulty, true), (sound, false)] {
            let mut clauses = if beside { PLAIN.clauses.to_owned() } else { String::new() };
            for (at, term) in terms.iter().enumerate() {
                clauses += &clause(&format!("x{at}"), term);
            }
            let all = found(Small { clauses: &clauses, ..PLAIN }, None);
            let named = all.iter().any(|(name, _)| name == lint);
            assert_eq!(named, expect, "{lint} of {terms:?}: {all:?}");
        }
    }
}

#[test]
fn the_plain_policy_is_clean() {
    let all = found(PLAIN, None);
    assert!(all.is_empty(), "{all:?}");
}

/// `lint`, what triggers it, and the nearest that does not.
fn pair(lint: &str, faulty: Small<'_>, sound: Small<'_>) {
    let all = found(faulty, None);
    assert!(all.iter().any(|(name, _)| name == lint), "{lint} is missing: {all:?}");
    let all = found(sound, None);
    assert!(all.iter().all(|(name, _)| name != lint), "{lint} is there: {all:?}");
}

#[test]
fn lints_of_names_and_values() {
    let with = |more: &str| format!("{more}{}", PLAIN.clauses);
    let (idle, read) = (with("(declare-const z Bool)\n"), with("(declare-const z Bool)\n"));
    let read = read + &clause("x", "(= z a)") + &clause("y", "(=> z b)");
    let words = "[derived.z]\nname = \"z\"\n";
    pair(
        "unused-name",
        Small { clauses: &idle, words, ..PLAIN },
        Small { clauses: &read, words, ..PLAIN },
    );
    pair("no-words", Small { clauses: &idle, ..PLAIN }, Small { clauses: &idle, words, ..PLAIN });
    let color = "(declare-datatype Color ((red) (green) (blue)))\n(declare-const c Color)\n";
    let words = "[facts.c.values]\nred = [\"Red.\"]\ngreen = [\"Green.\"]\nblue = [\"Blue.\"]\n";
    let one = with(color) + &clause("x", "(=> (= c red) a)");
    let two = one.clone() + &clause("y", "(=> (= c blue) b)");
    pair(
        "values-not-told-apart",
        Small { clauses: &one, words, ..PLAIN },
        Small { clauses: &two, words, ..PLAIN },
    );
    let idle = with("(declare-const z Bool)\n") + &clause("x", "(= z a)");
    pair("clause-in-no-slice", Small { clauses: &idle, ..PLAIN }, PLAIN);
}

#[test]
fn lints_of_texts() {
    let pair_of = |lint, faulty, sound| {
        pair(lint, Small { text: faulty, ..PLAIN }, Small { text: sound, ..PLAIN });
    };
    pair_of("label-without-clause", "**§1** A.\n\n**§2** B.\n", "**§1** A.\n\nB.\n");
    pair_of(
        "heading-without-clause",
        "# P\n\n**§1** A.\n\n## Q\n\nB.\n",
        "# P\n\n## Q\n\n**§1** A.\n",
    );
}

#[test]
fn a_verdict_that_nothing_forces_is_found() {
    let lint = "verdict-undecided";
    let one_way = clause("x", "(=> (and a b) v)");
    let both = one_way.clone() + &clause("y", "(=> (not a) (not v))");
    pair(lint, Small { clauses: &one_way, ..PLAIN }, Small { clauses: &both, ..PLAIN });
}

#[test]
fn a_silent_scenario_is_told_in_words() {
    let all = found(Small { clauses: &clause("x", "(=> a v)"), ..PLAIN }, None);
    let silent = all.iter().find(|(name, _)| name == "silent-scenario").unwrap();
    assert!(silent.1.contains("Not a."), "{}", silent.1);
}

#[test]
fn sections_without_an_entry_are_found() {
    let named = |supported: &[&str]| {
        let all = found(PLAIN, Some(supported));
        all.iter().any(|(name, _)| name == "section-in-no-support")
    };
    assert!(named(&["p:2"]));
    assert!(!named(&["p:1"]));
}

#[test]
fn acceptances_hide_warnings_but_no_errors_and_must_match() {
    let idle = "**§1** A.\n\n**§2** B.\n";
    let allow = |lint: &str, at: &str| {
        format!("[check]\nallow = [{{ lint = \"{lint}\", at = \"{at}\", reason = \"r\" }}]\n")
    };
    let good = allow("label-without-clause", "p");
    let all = found(Small { text: idle, manifest: &good, ..PLAIN }, None);
    assert!(all.is_empty(), "{all:?}");
    let other = allow("label-without-claus", "p");
    let all = found(Small { text: idle, manifest: &other, ..PLAIN }, None);
    let names: BTreeSet<&str> = all.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(["label-without-clause", "unused-allowance"]));
    assert!(all.iter().any(|(_, drawn)| drawn.contains("did you mean `label-without-clause`?")));
    let clash = PLAIN.clauses.to_owned() + &clause("x", "a") + &clause("y", "(not a)");
    let none = allow("contradiction", "p");
    let all = found(Small { clauses: &clash, manifest: &none, ..PLAIN }, None);
    let clash = all.iter().find(|(name, _)| name == "contradiction").unwrap();
    assert!(clash.1.contains("`x` clashes") && clash.1.contains("`y` clashes"), "{}", clash.1);
    assert!(!clash.1.contains("`c1`"), "{}", clash.1);
}

#[test]
fn the_command_exits_one_for_errors_only() {
    let run = |small: Small<'_>, arguments: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), small);
        let mut command = Command::cargo_bin("deogen").unwrap();
        let output =
            command.arg("-C").arg(folder.path()).arg("check").args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
    };
    let warned = Small { text: "**§1** A.\n\n**§2** B.\n", ..PLAIN };
    let (code, _, err) = run(warned, &[]);
    assert!(code == 0 && err.contains("0 errors, 1 warnings"), "{err}");
    assert!(err.contains("skipped without --deep: implied-clause"), "{err}");
    let (code, out, _) = run(warned, &["--deep", "--message-format", "json"]);
    assert!(code == 0 && out.contains("\"lint\":\"label-without-clause\""), "{out}");
    let clash = PLAIN.clauses.to_owned() + &clause("x", "a") + &clause("y", "(not a)");
    assert_eq!(run(Small { clauses: &clash, ..PLAIN }, &[]).0, 1);
    assert_eq!(run(PLAIN, &["q"]).0, 2);
    let (code, out, _) = run(PLAIN, &["--list"]);
    assert_eq!(code, 0);
    assert_eq!(out.lines().count(), LINTS.len());
}
