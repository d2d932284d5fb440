//! Walks `tests/policies`: whole tiny projects, good ones that load and broken ones whose messages are
//! in `expected.txt`. `UPDATE_EXPECT=1` rewrites those; read the difference.

use std::fs;
use std::path::{Path, PathBuf};

use deogen::diag::Severity;
use deogen::project::Project;

/// Whether a project has an error, and everything that is said about it.
fn report(root: &Path) -> (bool, String) {
    let found = match Project::load(root) {
        Ok(project) => project.diagnostics(),
        Err(faults) => faults,
    };
    let broken = found.iter().any(|fault| fault.severity == Severity::Error);
    let drawn: Vec<String> = found.iter().map(|fault| fault.draw(false)).collect();
    (broken, drawn.join("\n\n") + "\n")
}

fn projects(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies").join(kind);
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    paths
}

#[test]
fn good_projects_load() {
    let projects = projects("good");
    assert!(projects.len() >= 5, "{} good projects", projects.len());
    for path in projects {
        let (broken, text) = report(&path);
        assert!(!broken && text.trim().is_empty(), "{}:\n{text}", path.display());
    }
}

#[test]
fn broken_projects_say_what_is_wrong() {
    let projects = projects("bad");
    assert!(projects.len() >= 30, "{} broken projects", projects.len());
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    for path in projects {
        let (broken, text) = report(&path);
        assert!(broken, "{} has no fault", path.display());
        let expected = path.join("expected.txt");
        if update {
            fs::write(&expected, &text).unwrap();
        } else if fs::read_to_string(&expected).unwrap_or_default() != text {
            wrong.push(format!("{}:\n{text}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "not as expected:\n{}", wrong.join("\n"));
}
