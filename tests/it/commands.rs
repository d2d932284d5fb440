//! The built program as a user runs it: from anywhere, on good and on broken projects.

use std::fs;
use std::process::Command;

use crate::checkout::{Checkout, Files, repository, same};

const FELLOWS: &str = "fellows-hiring/appointment-type";

#[test]
fn the_program_needs_no_environment() {
    let run = Command::new(env!("CARGO_BIN_EXE_deogen"))
        .arg("--version")
        .env_clear()
        .current_dir("/")
        .output()
        .unwrap();
    assert!(run.status.success());
    let said = String::from_utf8(run.stdout).unwrap();
    assert!(said.starts_with(&format!("deogen {}", env!("CARGO_PKG_VERSION"))), "{said}");
    // The solver is asked, not quoted from a constant.
    assert!(said.contains(z3::full_version().trim_start_matches("Z3 ")), "{said}");
}

#[test]
fn the_fellows_policy_gives_the_tree_its_authors_published() {
    let again = Checkout::built().build(&[]).ended(0);
    let summary = again.summary();
    assert_eq!(summary["solver_checks"], 0, "it was built before");
    let said = Checkout::built().run(&["build"]).ended(0).stdout;
    assert!(said.contains("nothing had to be asked of the solver"), "{said}");
    let all = summary["determinations"].as_array().unwrap();
    let fellows = all.iter().find(|outcome| outcome["id"] == FELLOWS).unwrap();
    assert_eq!(fellows["depth"], 5);
    assert_eq!(fellows["paths_definite"], "8");
    let tree = Checkout::built().run(&["tree", FELLOWS, "--depth", "9"]).ended(0).stdout;
    let leaves = tree.lines().filter(|line| line.contains("= ")).count();
    assert_eq!(leaves, 8 + fellows["silent"].as_str().unwrap().parse::<usize>().unwrap());
}

#[test]
fn a_file_in_the_way_of_dist_is_told_and_exits_8() {
    let checkout = Checkout::with(&[FELLOWS]);
    checkout.write("dist", "a file of mine");
    let run = checkout.run(&["build"]).ended(8);
    assert!(run.stderr.contains("cannot write") && run.stderr.contains("dist"), "{}", run.stderr);
    assert!(run.stderr.contains("help: "), "{}", run.stderr);
    assert_eq!(checkout.read("dist"), "a file of mine");
    fs::remove_file(checkout.path("dist")).unwrap();
    // A folder where the rows are to be.
    fs::create_dir_all(checkout.path("dist/fellows-hiring/appointment-type.jsonl")).unwrap();
    let run = checkout.run(&["build"]).ended(8);
    assert!(run.stderr.contains("appointment-type.jsonl"), "{}", run.stderr);
    fs::remove_dir_all(checkout.path("dist")).unwrap();
    checkout.run(&["build"]).ended(0);
}

/// Every broken project of `tests/policies/bad`.
#[test]
fn broken_projects_exit_1_and_write_no_rows() {
    let mut count = 0;
    for entry in fs::read_dir(repository().join("tests/policies/bad")).unwrap() {
        let project = entry.unwrap().path();
        let output = Command::new(env!("CARGO_BIN_EXE_deogen"))
            .arg("-C")
            .arg(copied(&project).path())
            .args(["build", "--color", "never"])
            .env_clear()
            .current_dir("/")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{}: {said}", project.display());
        assert!(!said.contains("panicked"), "{}: {said}", project.display());
        assert!(said.contains("error"), "{}: {said}", project.display());
        count += 1;
    }
    assert!(count >= 25, "{count} broken projects");
}

fn copied(project: &std::path::Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let status =
        Command::new("cp").arg("-a").arg(project.join(".")).arg(folder.path()).status().unwrap();
    assert!(status.success());
    folder
}

#[test]
fn a_fault_leaves_the_previous_output_as_it_was() {
    let checkout = Checkout::with(&[FELLOWS]);
    checkout.run(&["build"]).ended(0);
    let dist = checkout.dist();
    let policy = "policies/fellows-hiring/policy.smt2";
    let words = "policies/fellows-hiring/vocabulary.toml";
    let breaks: [(&str, &str, &str, bool); 7] = [
        ("deogen.toml", "question = ", "qestion = ", true),
        ("deogen.toml", "[project]", "[project", true),
        ("deogen.toml", "fellows-hiring\"\nq", "felows-hiring\"\nq", true),
        (policy, "(assert", "(asert", false),
        (policy, "has_phd Bool", "has_phd Int", false),
        (policy, ":section \"2", ":section \"92", false),
        (words, "[facts.has_phd]", "[facts.has_a_phd]", false),
    ];
    for (path, from, to, manifest) in breaks {
        let good = checkout.read(path);
        if !good.contains(from) {
            // Keys of the manifest are sorted when it is cut down.
            assert!(manifest, "{path} has no {from}");
            continue;
        }
        checkout.edit(path, from, to);
        let run = checkout.run(&["build"]).ended(1);
        assert!(run.stderr.contains("error"), "{}", run.stderr);
        let untouched = |files: &Files| {
            let mut files = files.clone();
            if !manifest {
                // It says that the rows are those of an earlier build.
                files.remove("build.json");
            }
            files
        };
        same(&untouched(&dist), &untouched(&checkout.dist()), to);
        checkout.write(path, &good);
        checkout.run(&["build"]).ended(0);
        same(&dist, &checkout.dist(), "mended");
    }
}
