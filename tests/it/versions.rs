//! What each stage writes for the fixture policies, with the stage's version: a change of the one
//! needs a change of the other, else results of an older program would be taken for new ones.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use deogen::stages::VERSIONS;

use crate::workshop::{Workshop, files};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stages.txt")
}

/// By project, determination and stage: the digest of what is stored.
fn outputs() -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/policies/good");
    for project in ["bool", "enumeration", "imports", "numbers", "opaque"] {
        let workshop = Workshop::new();
        for (name, bytes) in files(&fixtures.join(project)) {
            workshop.write(&name, &String::from_utf8(bytes).unwrap());
        }
        workshop.run(&["build"]).ended(0);
        for (name, bytes) in workshop.files("cache") {
            let (stage, _) = name.split_once('/').unwrap();
            if !VERSIONS.iter().any(|(known, _)| *known == stage) {
                continue;
            }
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap();
            let head: serde_json::Value = serde_json::from_slice(line).unwrap();
            let text = |key: &str| head[key].as_str().unwrap().to_owned();
            let contents: &mut Vec<String> =
                found.entry(format!("{project} {} {stage}", text("of"))).or_default();
            contents.push(text("content"));
        }
    }
    // Where determinations of one policy ask for different facts it has several scenarios.
    let join = |(name, mut contents): (String, Vec<String>)| {
        contents.sort_unstable();
        (name, contents.join(","))
    };
    found.into_iter().map(join).collect()
}

#[test]
fn what_a_stage_writes_changes_only_with_its_version() {
    let version = |name: &str| {
        let stage = name.rsplit(' ').next().unwrap();
        VERSIONS.iter().find(|(known, _)| *known == stage).unwrap().1
    };
    let found = outputs();
    let lines: Vec<String> =
        found.iter().map(|(name, digest)| format!("{name} {} {digest}", version(name))).collect();
    let text = lines.join("\n") + "\n";
    let known = fs::read_to_string(golden()).unwrap_or_default();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(golden(), text).unwrap();
        return;
    }
    let mut wrong = Vec::new();
    for line in known.lines().filter(|line| !lines.iter().any(|new| new == line)) {
        let parts: Vec<&str> = line.split(' ').collect();
        let [project, of, stage, old, _] = parts[..] else { panic!("{line}") };
        let name = format!("{project} {of} {stage}");
        if !found.contains_key(&name) {
            wrong.push(format!("{name}: gone"));
        } else if old == version(&name).to_string() {
            wrong.push(format!("{name}: bump the stage's version in src/stages/keys.rs"));
        } else {
            wrong.push(format!("{name}: read the change, then UPDATE_EXPECT=1"));
        }
    }
    assert!(wrong.is_empty() && lines.len() == known.lines().count(), "{}", wrong.join("\n"));
}
