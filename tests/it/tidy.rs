//! The house rules that no compiler checks: floors, sizes, words, and who may know what.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

/// A Rust file: its path from the root of the repository, and its text.
struct File {
    path: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(folders: &[&str]) -> Vec<File> {
    let mut found = Vec::new();
    for folder in folders.iter().filter(|folder| root().join(folder).is_dir()) {
        for entry in WalkDir::new(root().join(folder)).sort_by_file_name() {
            let path = entry.unwrap().into_path();
            if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let path = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                found.push(File { path, text });
            }
        }
    }
    assert!(found.len() > 10, "no files found");
    found
}

fn report(what: &str, wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{what}:\n  {}", wrong.join("\n  "));
}

/// The modules of `lib.rs` in its order.
fn floors() -> Vec<String> {
    let text = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let names = text.lines().filter_map(|line| {
        let line = line.trim_start_matches("pub ").trim_start_matches("mod ");
        line.strip_suffix(';')
            .filter(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
    });
    names.map(str::to_owned).collect()
}

/// The top-level module a file of `src` belongs to.
fn module(path: &str) -> &str {
    let rest = path.trim_start_matches("src/").trim_end_matches(".rs");
    rest.split('/').next().unwrap()
}

/// The first names of all paths that start with `crate::`, grouped imports included.
fn used(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let rest = &text[at + "crate::".len()..];
        let group = rest.strip_prefix('{').map(|rest| &rest[..rest.find("};").unwrap_or(0)]);
        for part in group.unwrap_or(rest).split(if group.is_some() { ',' } else { '\n' }) {
            let name: String =
                part.trim().chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
            found.insert(name);
            if group.is_none() {
                break;
            }
        }
    }
    found
}

#[test]
fn files_use_only_floors_below_them() {
    let floors = floors();
    let mut wrong = Vec::new();
    for file in files(&["src"]) {
        let name = module(&file.path);
        let Some(own) = floors.iter().position(|floor| floor == name) else {
            assert!(["lib", "main"].contains(&name), "{} is not in lib.rs", file.path);
            continue;
        };
        for used in used(&file.text) {
            let below = floors.iter().position(|floor| *floor == used);
            if below.is_some_and(|below| below > own) {
                wrong.push(format!("{} uses {used}, which stands above it", file.path));
            }
        }
    }
    report("imports go down the floors of lib.rs", wrong);
}

/// Files that are longer than the limit for now, with the length they must not pass. The list only
/// ever shrinks: a file that is split is taken off it.
const LONG: [(&str, usize); 4] =
    [("src/certify.rs", 600), ("src/draw.rs", 500), ("src/solver.rs", 540), ("src/term.rs", 670)];

/// Functions that are longer than the limit for now; this list only ever shrinks, too.
const LONG_FUNCTIONS: [&str; 1] = ["src/render.rs"];

#[test]
fn files_functions_and_lines_have_a_size() {
    let mut wrong = Vec::new();
    for file in files(&["src", "tests", "benches"]) {
        let path = &file.path;
        let lines: Vec<&str> = file.text.lines().collect();
        let known = LONG.iter().find(|(long, _)| long == path);
        if lines.len() > known.map_or(450, |(_, limit)| *limit) {
            wrong.push(format!("{path} has {} lines; split it by noun", lines.len()));
        }
        for (index, line) in lines.iter().enumerate() {
            if line.chars().count() > 100 {
                wrong.push(format!("{path}:{} is longer than 100 characters", index + 1));
            }
        }
        for (start, length) in functions(&lines) {
            if length > 70 && !LONG_FUNCTIONS.contains(&path.as_str()) {
                wrong.push(format!("{path}:{} is a function of {length} lines", start + 1));
            }
        }
    }
    report("files end at 450 lines, functions at 70, lines at 100", wrong);
}

/// First line and length of each function, as rustfmt lays them out: the closing brace stands alone
/// under the first letter of the line with `fn`.
fn functions(lines: &[&str]) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (start, line) in lines.iter().enumerate() {
        let bare = line.trim_start();
        let is_function = ["fn ", "pub fn ", "pub(super) fn ", "pub(crate) fn ", "const fn "]
            .iter()
            .any(|head| bare.starts_with(head));
        if !is_function || bare.ends_with(';') || bare.ends_with('}') {
            continue;
        }
        let close = format!("{}}}", &line[..line.len() - bare.len()]);
        if let Some(length) = lines[start..].iter().position(|line| *line == close) {
            found.push((start, length + 1));
        }
    }
    found
}

#[test]
fn every_file_says_what_it_is_for() {
    let without = files(&["src", "tests", "benches"])
        .into_iter()
        .filter(|file| !file.text.starts_with("//! "));
    report("files without `//!` at their head", without.map(|file| file.path).collect());
}

#[test]
fn some_words_are_not_written() {
    // Put together here, so that this file does not hold them.
    let banned = [
        ["to", "do!("].concat(),
        ["unimple", "mented!("].concat(),
        ["#[ign", "ore"].concat(),
        ["db", "g!("].concat(),
        ["XX", "X"].concat(),
        ["FIX", "ME"].concat(),
    ];
    let exit = ["process::", "exit"].concat();
    let mut wrong = Vec::new();
    for file in files(&["src", "tests", "benches"]) {
        for word in banned.iter().filter(|word| file.text.contains(word.as_str())) {
            wrong.push(format!("{} has {word}", file.path));
        }
        if file.text.contains(&exit) && file.path != "src/main.rs" {
            wrong.push(format!("{} has {exit}", file.path));
        }
    }
    report("words that must not be there", wrong);
}

#[test]
fn one_file_knows_each_solver_and_parser() {
    // Who knows it, and how it is written.
    let known = [
        // `replay` reads text with Z3's own parser and shares nothing with `solver`.
        (["solver", "replay"], "z3::"),
        (["smtlib", "smtlib"], "yaspar"),
        (["diag", "diag"], "annotate_snippets"),
        (["formats", "formats"], "parquet::"),
    ];
    let mut wrong = Vec::new();
    for file in files(&["src"]) {
        for (owners, word) in known {
            let code = file.text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let owned = owners.contains(&module(&file.path));
            if !owned && code.clone().any(|line| line.contains(word)) {
                wrong.push(format!("{} mentions {word}, which {owners:?} alone know", file.path));
            }
        }
    }
    report("libraries known to one file", wrong);
}

#[test]
fn the_test_binary_lists_every_file() {
    let folder = root().join("tests/it");
    let text = fs::read_to_string(folder.join("main.rs")).unwrap();
    let listed: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned))
        .collect();
    let mut there = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path: &Path = &entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if name != "main" && path.extension().is_some_and(|extension| extension == "rs") {
            there.insert(name);
        }
    }
    assert_eq!(listed, there, "`mod` lines of tests/it/main.rs against the folder");
}

#[test]
fn the_checks_see_what_they_look_for() {
    let names: Vec<String> =
        used("use crate::{term, diag::X};\ncrate::policy::Y").into_iter().collect();
    assert_eq!(names, ["diag", "policy", "term"]);
    let lines = ["impl X {", "    fn a() {", "        b", "    }", "}", "fn c() {}"];
    assert_eq!(functions(&lines), [(1, 3)]);
    assert_eq!(floors().first().map(String::as_str), Some("diag"));
}
