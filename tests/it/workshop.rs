//! A project in a temporary folder, and the real program run on it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use walkdir::WalkDir;

/// A folder that goes away with its owner.
pub(crate) struct Workshop {
    folder: tempfile::TempDir,
}

/// The built program.
pub(crate) fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_deogen"))
}

/// What a run of the program gave.
pub(crate) struct Ran {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Ran {
    /// The run, which must have ended with this status.
    pub(crate) fn ended(self, status: i32) -> Self {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The lines of `--message-format json`.
    pub(crate) fn events(&self) -> Vec<Value> {
        let lines = self.stdout.lines();
        lines.map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
    }

    /// Which determinations had one of these stages made.
    pub(crate) fn made(&self, stages: &[&str]) -> BTreeSet<String> {
        let events = self.events();
        let text = |event: &Value, key: &str| event[key].as_str().unwrap_or_default().to_owned();
        let made = events.iter().filter(|event| {
            text(event, "kind") == "miss" && stages.contains(&&*text(event, "stage"))
        });
        made.map(|event| text(event, "determination")).collect()
    }

    /// Checks the solver was asked.
    pub(crate) fn checks(&self) -> u64 {
        self.events().last().unwrap()["solver_checks"].as_u64().unwrap()
    }
}

impl Workshop {
    /// An empty folder.
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The project that `deogen init` makes.
    pub(crate) fn init() -> Self {
        let workshop = Self::new();
        workshop.run(&["init"]).ended(0);
        workshop
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    /// Replaces a text that must be there.
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} has no {from}");
        self.write(path, &text.replacen(from, to, 1));
    }

    /// The program with an empty environment, from `/`.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command.env_clear().current_dir("/").arg("-C").arg(self.root()).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.command(arguments).output().unwrap().into()
    }

    /// A build with events.
    pub(crate) fn build(&self) -> Ran {
        self.run(&["build", "--message-format", "json"])
    }

    /// Every file below a folder with its bytes.
    pub(crate) fn files(&self, folder: &str) -> BTreeMap<String, Vec<u8>> {
        files(&self.path(folder))
    }

    /// What a build of the same sources without a cache and without outputs gives.
    pub(crate) fn clean(&self) -> BTreeMap<String, Vec<u8>> {
        let clean = Self::new();
        for entry in WalkDir::new(self.root()).min_depth(1) {
            let entry = entry.unwrap();
            let path = entry.path().strip_prefix(self.root()).unwrap();
            if path.starts_with("cache") || path.starts_with("dist") {
                continue;
            }
            let to = clean.root().join(path);
            if entry.file_type().is_dir() {
                fs::create_dir_all(to).unwrap();
            } else {
                fs::copy(entry.path(), to).unwrap();
            }
        }
        let ran = clean.run(&["build", "--cache", "off"]);
        assert!(ran.status <= 1, "{}", ran.stderr);
        clean.files("dist")
    }
}

/// Every file below a folder with its bytes.
pub(crate) fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in WalkDir::new(folder).into_iter().flatten() {
        if entry.file_type().is_file() {
            let name = entry.path().strip_prefix(folder).unwrap().to_string_lossy().into_owned();
            found.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// Says which files differ, and fails if any does.
pub(crate) fn same(left: &BTreeMap<String, Vec<u8>>, right: &BTreeMap<String, Vec<u8>>, why: &str) {
    let names: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    for name in names {
        let text = |files: &BTreeMap<String, Vec<u8>>| {
            files.get(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        assert!(
            left.get(name) == right.get(name),
            "{why}: {name} differs:\n{:.600}\n---\n{:.600}",
            text(left).unwrap_or("(not there)".to_owned()),
            text(right).unwrap_or("(not there)".to_owned())
        );
    }
}
