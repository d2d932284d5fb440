//! An incremental build gives the bytes of a clean one and makes only what an edit touched.

use std::collections::BTreeSet;

use crate::draft::Dice;
use crate::terrace::Hillside;
use crate::workshop::{Ran, Workshop, same};

/// How many sequences and how long; `make test-system` asks for more.
fn size(name: &str, plain: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(plain)
}

/// The determinations that `plan` says need a tree or proofs.
fn planned(ran: &Ran) -> BTreeSet<String> {
    let events = ran.events();
    let text = |event: &serde_json::Value, key: &str| event[key].as_str().unwrap().to_owned();
    let named = events.iter().filter(|event| {
        text(event, "kind") == "plan" && ["tree", "certify"].contains(&&*text(event, "stage"))
    });
    named.map(|event| text(event, "determination")).collect()
}

#[test]
fn random_edits_give_clean_bytes_and_remake_what_they_touch() {
    for seed in 0..size("DEOGEN_SEQUENCES", 2) {
        let mut dice = Dice::new(seed);
        let workshop = Workshop::new();
        let mut project = Hillside::new();
        let mut past = vec![project.clone()];
        let (mut slices, mut proofs) = (BTreeSet::new(), BTreeSet::new());
        let mut done = vec!["first build".to_owned()];
        for step in 0..size("DEOGEN_EDITS", 9) {
            if step > 0 {
                done.push(project.edit(&mut dice, &past));
            }
            past.push(project.clone());
            project.write(&workshop);
            let why = format!("sequence {seed}: {}", done.join("; "));
            let plan = workshop.run(&["plan", "--message-format", "json"]).ended(0);
            let ran = workshop.build().ended(0);
            let (mut trees, mut certified) = (BTreeSet::new(), BTreeSet::new());
            for (id, slice, proof) in project.slices() {
                if slices.insert(slice) {
                    trees.insert(id.clone());
                }
                if proofs.insert(proof) {
                    certified.insert(id);
                }
            }
            assert_eq!(ran.made(&["tree"]), trees, "{why}");
            assert_eq!(ran.made(&["certify"]), certified, "{why}");
            assert_eq!(planned(&plan), ran.made(&["tree", "certify"]), "{why}");
            same(&workshop.files("dist"), &workshop.clean(), &why);
            workshop.run(&["status"]).ended(0);
        }
    }
}

#[test]
fn edits_that_mean_nothing_ask_the_solver_nothing() {
    let workshop = Workshop::init();
    workshop.build().ended(0);
    let before = workshop.files("dist");
    let smt2 = "policies/leave/policy.smt2";
    let text = workshop.read(smt2);
    workshop.write(smt2, &format!("; a comment\n{}", text.replace("\n    ", "\n\t  ")));
    workshop.run(&["status"]).ended(0);
    let ran = workshop.build().ended(0);
    assert_eq!(ran.checks(), 0);
    assert_eq!(ran.made(&["consistency", "tree", "certify", "render"]), BTreeSet::new());
    same(&workshop.files("dist"), &before, "a comment and another layout");
    // Clauses in another order.
    let (head, clauses) = text.split_once("(assert (! (= paid_leave").unwrap();
    let (first, second) = clauses.split_once("(assert (! (= reason_accepted").unwrap();
    let swapped =
        format!("{head}(assert (! (= reason_accepted{second}\n(assert (! (= paid_leave{first}");
    workshop.write(smt2, &swapped);
    assert_eq!(workshop.build().ended(0).checks(), 0);
    same(&workshop.files("dist"), &before, "clauses in another order");
}

#[test]
fn words_are_written_again_without_the_solver() {
    let workshop = Workshop::init();
    workshop.build().ended(0);
    workshop.edit("policies/leave/vocabulary.toml", "a doctor's note for", "a sick note for");
    workshop.edit("policies/leave/vocabulary.toml", "whether there is a doctor", "if a doctor");
    let ran = workshop.build().ended(0);
    assert_eq!(ran.checks(), 0);
    assert_eq!(ran.made(&["render"]).len(), 1);
    let text = workshop.read("dist/leave/paid.jsonl");
    assert!(text.contains("a sick note") && !text.contains("whether there is a doctor"));
    same(&workshop.files("dist"), &workshop.clean(), "new words");
}

#[test]
fn explain_names_what_moved_with_old_and_new() {
    let workshop = Workshop::init();
    workshop.build().ended(0);
    workshop.edit("policies/leave/policy.smt2", "days_employed 90", "days_employed 60");
    let text = workshop.run(&["explain", "leave/paid"]).ended(0).stdout;
    for part in [
        "tree: to be made",
        "clause `leave:s1_a` changed",
        "old: (= paid_leave (and reason_accepted (<= 90 days_employed)))",
        "new: (= paid_leave (and reason_accepted (<= 60 days_employed)))",
        "certify: hangs on the result of `tree`",
    ] {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
    assert!(!text.contains("s1_b"), "{text}");
    // After the build it says why it was made, and what stopped there.
    workshop.build().ended(0);
    workshop.edit("deogen.toml", "definite = 20", "definite = 3");
    workshop.build().ended(0);
    let text = workshop.run(&["explain", "leave/paid"]).ended(0).stdout;
    assert!(text.contains("controls moved: definite 20"), "{text}");
    assert!(text.contains("-> definite 3"), "{text}");
    let events = workshop.run(&["explain", "leave/paid", "--message-format", "json"]).events();
    assert!(events.iter().all(|event| event["kind"] == "hit"), "{events:?}");
}

#[test]
fn a_broken_policy_stops_only_what_uses_it() {
    let workshop = Workshop::new();
    let mut project = Hillside::new();
    project.write(&workshop);
    workshop.build().ended(0);
    let before = workshop.files("dist");
    project.set_broken(0, true);
    project.write(&workshop);
    workshop.run(&["status"]).ended(1);
    let ran = workshop.build().ended(1);
    let users = project.using(0);
    assert_eq!(users.len(), 6);
    let file: serde_json::Value = serde_json::from_str(&workshop.read("dist/build.json")).unwrap();
    for outcome in ran.events().last().unwrap()["determinations"].as_array().unwrap() {
        let id = outcome["id"].as_str().unwrap();
        let stale = users.iter().any(|user| user == id);
        assert_eq!(outcome["state"], if stale { "stale" } else { "fresh" }, "{id}");
        let entry = &file["determinations"][id];
        assert_eq!(entry["stale"], stale, "{id}");
        assert_eq!(entry["reason"].as_str().is_some_and(|text| !text.is_empty()), stale, "{id}");
    }
    // Kept files are as they were, the text they were made from included.
    let mut after = workshop.files("dist");
    after.insert("build.json".to_owned(), before["build.json"].clone());
    same(&after, &before, "kept files");
    project.set_broken(0, false);
    project.write(&workshop);
    assert_eq!(workshop.build().ended(0).checks(), 0);
    same(&workshop.files("dist"), &before, "repaired");
}

#[test]
fn a_determination_that_goes_takes_its_files_along_and_no_others() {
    let workshop = Workshop::init();
    workshop.build().ended(0);
    workshop.write("dist/notes.txt", "mine");
    workshop.write("dist/leave/notes.txt", "mine");
    let text = workshop.read("deogen.toml");
    let renamed = text.replace("id = \"leave/paid\"", "id = \"leave/entitled\"");
    workshop.write("deogen.toml", &renamed);
    workshop.build().ended(0);
    let files: Vec<String> = workshop.files("dist").into_keys().collect();
    assert!(!files.contains(&"leave/paid.jsonl".to_owned()), "{files:?}");
    for kept in ["notes.txt", "leave/notes.txt", "leave/entitled.jsonl"] {
        assert!(files.contains(&kept.to_owned()), "{kept} of {files:?}");
    }
}

#[test]
fn two_determinations_alike_but_for_their_id_draw_for_themselves() {
    let workshop = Workshop::init();
    let text = workshop.read("deogen.toml");
    let (_, det) = text.split_once("[[determination]]").unwrap();
    let twin = det.replace("leave/paid", "leave/twin");
    let few = text.replace("definite = 20", "definite = 3").replace("nei = 20", "nei = 2");
    workshop.write("deogen.toml", &format!("{few}\n[[determination]]{twin}"));
    workshop.build().ended(0);
    same(&workshop.files("dist"), &workshop.clean(), "twins");
    assert_ne!(workshop.read("dist/leave/paid.jsonl"), workshop.read("dist/leave/twin.jsonl"));
}

#[test]
fn other_ways_of_running_change_no_byte() {
    let workshop = Workshop::new();
    Hillside::new().write(&workshop);
    workshop.build().ended(0);
    let before = workshop.files("dist");
    let ways: [&[&str]; 3] = [&["-j", "1"], &["--solver-seed", "7"], &["-j", "3"]];
    for flags in ways {
        let arguments = [&["build", "--cache", "off"], flags].concat();
        workshop.run(&arguments).ended(0);
        same(&workshop.files("dist"), &before, flags[0]);
    }
    workshop.run(&["build", "--no-slice"]).ended(0);
    let mut whole = workshop.files("dist");
    // Its figures count all clauses; the entries are the same.
    whole.insert("build.json".to_owned(), before["build.json"].clone());
    same(&whole, &before, "--no-slice");
    workshop.build().ended(0);
    same(&workshop.files("dist"), &before, "after --no-slice");
}

#[test]
fn a_diagram_without_room_gives_the_same_entries() {
    let workshop = Workshop::init();
    workshop.build().ended(0);
    let before = workshop.files("dist");
    let text = workshop.read("deogen.toml");
    workshop
        .write("deogen.toml", &text.replace("[sampling]", "[limits]\ndiagram_mib = 0\n[sampling]"));
    let ran = workshop.run(&["build"]);
    let ran = ran.ended(0);
    assert!(ran.stderr.contains("asking the solver at every node"), "{}", ran.stderr);
    let rows = |files: &std::collections::BTreeMap<String, Vec<u8>>| {
        files.get("leave/paid.jsonl").cloned()
    };
    assert_eq!(rows(&workshop.files("dist")), rows(&before));
}
