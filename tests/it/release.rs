//! Releases: the same bytes anywhere, proved again from their files, broken in every way, compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use deogen::release::sha256;
use serde_json::Value;
use tempfile::TempDir;

/// A project with the smallest policy of the repository.
fn project() -> TempDir {
    let dir = TempDir::new().unwrap();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let to = dir.path().join("policies/fellows-hiring");
    fs::create_dir_all(&to).unwrap();
    for name in ["policy.smt2", "policy.md", "vocabulary.toml"] {
        fs::copy(root.join("policies/fellows-hiring").join(name), to.join(name)).unwrap();
    }
    let manifest = r#"[project]
name = "hiring"
version = "0.1.0"
license = "CC0-1.0"
[policies.fellows-hiring]
uses = []
[[determination]]
id = "fellows-hiring/appointment-type"
policy = "fellows-hiring"
verdict = "appointment_type"
question = "Which appointment type does the policy determine?"
[determination.answers]
postdoctoral_appointee = "postdoctoral appointee"
postgraduate_appointee = "postgraduate appointee"
visiting_fellow = "visiting fellow"
"#;
    fs::write(dir.path().join("deogen.toml"), manifest).unwrap();
    dir
}

fn deogen(root: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deogen"));
    command.current_dir("/").arg("-C").arg(root).args(args).output().unwrap()
}

fn done(root: &Path, args: &[&str]) -> String {
    let output = deogen(root, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A release in a folder of its own.
fn released() -> (TempDir, PathBuf) {
    let dir = project();
    done(dir.path(), &["release"]);
    let release = dir.path().join("dist/release/hiring-0.1.0");
    (dir, release)
}

fn verify(release: &Path) -> (Option<i32>, String) {
    let output = deogen(Path::new("/"), &["verify", release.to_str().unwrap()]);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

const ROWS: &str = "jsonl/fellows-hiring/appointment-type.jsonl";
const EXPORT: &str = "certificates/fellows-hiring/appointment-type.smt2";

/// Changes a file and its sum, so that only what the file says can give it away.
fn change(release: &Path, path: &str, to: impl Fn(String) -> String) {
    let old = fs::read_to_string(release.join(path)).unwrap();
    let new = to(old.clone());
    assert_ne!(old, new);
    fs::write(release.join(path), &new).unwrap();
    let sums = fs::read_to_string(release.join("SHA256SUMS")).unwrap();
    let sums = sums.replace(&sha256(old.as_bytes()), &sha256(new.as_bytes()));
    fs::write(release.join("SHA256SUMS"), sums).unwrap();
}

fn rows(release: &Path) -> Vec<Value> {
    let text = fs::read_to_string(release.join(ROWS)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn change_row(release: &Path, id: &str, to: impl Fn(&mut Value)) {
    change(release, ROWS, |text| {
        let lines = text.lines().map(|line| {
            let mut row: Value = serde_json::from_str(line).unwrap();
            if row["id"] == id {
                to(&mut row);
            }
            format!("{row}\n")
        });
        lines.collect()
    });
}

fn first(release: &Path, kind: &str) -> (String, Value) {
    let row = rows(release).into_iter().find(|row| row["kind"] == kind).unwrap();
    (row["id"].as_str().unwrap().to_owned(), row)
}

#[test]
fn two_folders_and_job_counts_give_the_same_release() {
    let (a, one) = released();
    let b = project();
    let other = b.path().join("elsewhere/r");
    done(b.path(), &["release", "-j", "1", "--out", other.to_str().unwrap()]);
    let sums = |release: &Path| fs::read_to_string(release.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(&one), sums(&other));
    let listed = sums(&one).lines().count();
    assert_eq!(deogen::release::present(&one).unwrap().len(), listed + 1);
    // Once more over the old one, locked: nothing moves.
    done(a.path(), &["release", "--locked"]);
    assert_eq!(sums(&one), sums(&other));
    let output = deogen(Path::new("/"), &["verify", one.to_str().unwrap(), "--rebuild"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("All hold.") && said.contains("files alike"), "{said}");
}

#[test]
fn a_lock_that_would_change_and_foreign_targets_are_refused() {
    let dir = project();
    assert_eq!(deogen(dir.path(), &["release", "--locked"]).status.code(), Some(3));
    assert!(!dir.path().join("deogen.lock").exists());
    done(dir.path(), &["release"]);
    let words = dir.path().join("policies/fellows-hiring/vocabulary.toml");
    let text = fs::read_to_string(&words).unwrap();
    fs::write(&words, text.replacen("Ph.D.", "PhD", 1)).unwrap();
    let output = deogen(dir.path(), &["release", "--locked"]);
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the policy `fellows-hiring`"), "{said}");
    // A folder with anything else in it is not touched.
    let target = dir.path().join("mine");
    fs::create_dir(&target).unwrap();
    fs::write(target.join("notes.txt"), "mine").unwrap();
    let output = deogen(dir.path(), &["release", "--out", target.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read_to_string(target.join("notes.txt")).unwrap(), "mine");
    let release = dir.path().join("dist/release/hiring-0.1.0");
    fs::write(release.join("notes.txt"), "mine").unwrap();
    assert_eq!(deogen(dir.path(), &["release"]).status.code(), Some(1));
    // A policy at fault leaves stale outputs, which are not released.
    let policy = dir.path().join("policies/fellows-hiring/policy.smt2");
    fs::write(&policy, "(assert (= 1 true))").unwrap();
    fs::remove_file(release.join("notes.txt")).unwrap();
    assert_eq!(deogen(dir.path(), &["release"]).status.code(), Some(1));
}

/// Verification fails and names what is at fault.
fn broken(release: &Path, id: &str, reason: &str) {
    let (status, said) = verify(release);
    assert_eq!(status, Some(5), "{said}");
    let named = said.lines().any(|line| line.contains(id) && line.contains(reason));
    assert!(named, "{id} {reason}:\n{said}");
}

#[test]
fn every_tampering_is_found_and_the_entry_named() {
    let (_dir, release) = released();
    assert_eq!(verify(&release), (Some(0), String::new()));
    let keep = TempDir::new().unwrap();
    let fresh = |name: &str| {
        let to = keep.path().join(name);
        for path in deogen::release::present(&release).unwrap() {
            fs::create_dir_all(to.join(&path).parent().unwrap()).unwrap();
            fs::copy(release.join(&path), to.join(&path)).unwrap();
        }
        to
    };
    let (id, row) = first(&release, "definite");
    let other = if row["answer_value"] == "visiting_fellow" {
        ("postdoctoral_appointee", "postdoctoral appointee")
    } else {
        ("visiting_fellow", "visiting fellow")
    };

    let label = fresh("label");
    change_row(&label, &id, |row| {
        row["answer_value"] = other.0.into();
        row["answer"] = other.1.into();
        row["possible_values"] = serde_json::json!([other.0]);
    });
    broken(&label, &id, "its facts exclude");
    broken(&label, &id, "has another verdict");

    let fact = fresh("fact");
    change_row(&fact, &id, |row| {
        let value = &mut row["facts"][0]["value"];
        *value = if *value == "true" { "false" } else { "true" }.into();
    });
    broken(&fact, &id, "its id is not that of its facts");
    broken(&fact, &id, "does not state");
    broken(&fact, &id, "its sentences do not say its facts");

    let witness = fresh("witness");
    let (nei, _) = first(&release, "nei");
    change_row(&witness, &nei, |row| {
        let all = row["certificate"]["witnesses"].as_array_mut().unwrap();
        all.swap(0, 1);
    });
    broken(&witness, &nei, "has another verdict");

    let clause = fresh("clause");
    change(&clause, EXPORT, |text| {
        let lines = text.lines().filter(|line| !line.starts_with("(assert "));
        lines.map(|line| format!("{line}\n")).collect()
    });
    broken(&clause, &id, "its facts do not force");
    broken(&clause, EXPORT, "is not what the policies in source/ say");
}

#[test]
fn a_truncated_a_missing_and_an_added_file_are_found() {
    let (_dir, release) = released();
    let text = fs::read_to_string(release.join(ROWS)).unwrap();
    let last = rows(&release).last().unwrap()["id"].as_str().unwrap().to_owned();
    fs::write(release.join(ROWS), &text[..text.len() - 40]).unwrap();
    broken(&release, &last, "stands in the Parquet copy and not in jsonl/");
    broken(&release, ROWS, "the SHA-256 differs");
    fs::remove_file(release.join("LICENSE")).unwrap();
    fs::write(release.join("extra"), "").unwrap();
    broken(&release, "LICENSE", "");
    broken(&release, "extra", "is not in SHA256SUMS");
}

#[test]
fn what_describes_the_release_agrees_with_it() {
    let (_dir, release) = released();
    let text = |path: &str| fs::read_to_string(release.join(path)).unwrap();
    let croissant: Value = serde_json::from_str(&text("croissant.json")).unwrap();
    let files = croissant["distribution"].as_array().unwrap();
    assert_eq!(files.len(), 1);
    for file in files {
        let bytes = fs::read(release.join(file["contentUrl"].as_str().unwrap())).unwrap();
        assert_eq!(file["sha256"], sha256(&bytes));
    }
    let columns = croissant["recordSet"][0]["field"].as_array().unwrap().len();
    let card = text("README.md");
    let header = card.split("---\n").nth(1).unwrap();
    assert_eq!(header.matches("  - name: ").count(), columns);
    let paths: Vec<&str> = header.lines().filter_map(|l| l.trim().strip_prefix("path: ")).collect();
    assert_eq!(paths, [files[0]["contentUrl"].as_str().unwrap()]);
    let canary = rows(&release)[0]["canary"].as_str().unwrap().to_owned();
    for path in ["README.md", "lm_eval/deogen/deogen_fellows_hiring.yaml", "inspect/deogen_task.py"]
    {
        assert!(text(path).contains(&canary), "{path}");
    }
    // Scoring reads the release as it is: the right answers are all right.
    let right = rows(&release).into_iter().map(|row| {
        let said = serde_json::json!({"id": row["id"], "answer": row["answer"],
            "sections": row["supports"].get(0).cloned().unwrap_or(Value::Null)});
        format!("{said}\n")
    });
    let predictions = release.parent().unwrap().join("right.jsonl");
    fs::write(&predictions, right.collect::<String>()).unwrap();
    let args = ["score", release.to_str().unwrap(), predictions.to_str().unwrap()];
    let args = [&args[..], &["--message-format", "json"]].concat();
    let report: Value = serde_json::from_str(&done(Path::new("/"), &args)).unwrap();
    for figure in ["balanced", "citation_f1", "right_and_cited"] {
        assert_eq!(report["models"][0][figure]["value"], 1.0, "{figure}");
    }
}

#[test]
fn a_difference_is_told_as_it_is() {
    let (dir, before) = released();
    let edit = |path: &str, from: &str, to: &str| -> Value {
        let path = dir.path().join("policies/fellows-hiring").join(path);
        let old = fs::read_to_string(&path).unwrap();
        let new = old.replacen(from, to, 1);
        assert_ne!(old, new, "{from}");
        fs::write(&path, &new).unwrap();
        done(dir.path(), &["build", "-q"]);
        let args = ["diff", before.to_str().unwrap(), dir.path().to_str().unwrap()];
        let args = [&args[..], &["--message-format", "json"]].concat();
        let changes = serde_json::from_str(&done(Path::new("/"), &args)).unwrap();
        fs::write(&path, old).unwrap();
        changes
    };
    let id = "fellows-hiring/appointment-type";
    let by: Value = serde_json::json!(["fellows-hiring:f2_d"]);
    // Words alone.
    let words = edit(
        "vocabulary.toml",
        "The candidate does not hold a J.D.",
        "No J.D. is held by the candidate",
    );
    let counts = &words["determinations"][id];
    assert!(counts["reworded"].as_u64().unwrap() > 0, "{words}");
    // Two entries may state the same facts: one cut from a path, one with a hole in it.
    assert_eq!(counts["before"], rows(&before).len());
    assert_eq!((&counts["relabelled"], &counts["added"]), (&0.into(), &0.into()));
    assert!(words["clauses"].as_object().unwrap().is_empty());
    // A rule says something else: its entries get another answer, and the rule is named.
    let rule = edit(
        "policy.smt2",
        "accomplished_professional))\n               (= appointment_type visiting_fellow)",
        "accomplished_professional))\n               (= appointment_type postdoctoral_appointee)",
    );
    let relabelled = rule["relabelled"].as_array().unwrap();
    assert!(!relabelled.is_empty(), "{rule}");
    for entry in relabelled {
        assert_eq!((&entry["old"], &entry["clauses"]), (&"visiting fellow".into(), &by), "{rule}");
    }
    // A comment changes nothing.
    let comment = edit("policy.smt2", "(set-logic", "; a comment\n(set-logic");
    let counts = &comment["determinations"][id];
    for name in ["added", "removed", "relabelled", "reworded", "recited"] {
        assert_eq!(counts[name], 0, "{comment}");
    }
}
