//! The repository's own project, or part of it, in a temporary folder, and the real program run on
//! it with an empty environment from `/`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use serde_json::Value;
use walkdir::WalkDir;

/// The files of a folder with their bytes.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// A folder that goes away with its owner.
pub(crate) struct Checkout {
    folder: tempfile::TempDir,
}

/// A run of the program.
pub(crate) struct Run {
    pub(crate) status: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let status = output.status.code().unwrap_or(-1);
        Self { status, stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl Run {
    /// The run, which must have ended like this.
    pub(crate) fn ended(self, status: i32) -> Self {
        assert_eq!(self.status, status, "stdout:\n{}\nstderr:\n{}", self.stdout, self.stderr);
        self
    }

    /// The last line of `build --message-format json`.
    pub(crate) fn summary(&self) -> Value {
        serde_json::from_str(self.stdout.lines().last().unwrap()).unwrap()
    }
}

pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

impl Checkout {
    /// A copy of a project's sources.
    pub(crate) fn of(project: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let sources = ["deogen.toml", "policies"].map(|name| project.join(name));
        for entry in sources.iter().flat_map(WalkDir::new) {
            let entry = entry.unwrap();
            let to = folder.path().join(entry.path().strip_prefix(project).unwrap());
            if entry.file_type().is_dir() {
                fs::create_dir_all(to).unwrap();
            } else {
                fs::copy(entry.path(), to).unwrap();
            }
        }
        Self { folder }
    }

    /// The repository's project with these determinations alone and a few entries of each.
    pub(crate) fn with(determinations: &[&str]) -> Self {
        let checkout = Self::of(&repository());
        let mut manifest: toml::Table = checkout.read("deogen.toml").parse().unwrap();
        manifest.extend("sampling = { definite = 12, nei = 12 }".parse::<toml::Table>().unwrap());
        let all = manifest["determination"].as_array_mut().unwrap();
        all.retain(|det| determinations.contains(&det["id"].as_str().unwrap()));
        assert_eq!(all.len(), determinations.len(), "of {determinations:?}");
        checkout.write("deogen.toml", &manifest.to_string());
        checkout
    }

    /// The whole of the repository's project, built once for all tests.
    pub(crate) fn built() -> &'static Self {
        static BUILT: OnceLock<Checkout> = OnceLock::new();
        BUILT.get_or_init(|| {
            let checkout = Self::of(&repository());
            checkout.run(&["build", "-q"]).ended(0);
            checkout
        })
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        fs::write(self.path(path), text).unwrap();
    }

    /// Replaces a text that must be there.
    pub(crate) fn edit(&self, path: &str, from: &str, to: &str) {
        let text = self.read(path);
        assert!(text.contains(from), "{path} has no {from}");
        self.write(path, &text.replacen(from, to, 1));
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deogen"));
        command.env_clear().current_dir("/").arg("-C").arg(self.root()).args(arguments);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).output().unwrap().into()
    }

    /// A build with events.
    pub(crate) fn build(&self, flags: &[&str]) -> Run {
        self.run(&[&["build", "--message-format", "json"], flags].concat())
    }

    /// What lies in `dist`.
    pub(crate) fn dist(&self) -> Files {
        let dist = self.path("dist");
        let entries = WalkDir::new(&dist).into_iter().flatten();
        let files = entries.filter(|entry| entry.file_type().is_file());
        files
            .map(|entry| {
                let name = entry.path().strip_prefix(&dist).unwrap();
                (name.to_string_lossy().into_owned(), fs::read(entry.path()).unwrap())
            })
            .collect()
    }
}

/// Fails with the first line that differs.
pub(crate) fn same(left: &Files, right: &Files, why: &str) {
    let names = |files: &Files| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(left), names(right), "{why}");
    for (name, bytes) in left {
        let [left, right] = [bytes, &right[name]].map(|bytes| String::from_utf8_lossy(bytes));
        let differs = left.lines().zip(right.lines()).find(|(left, right)| left != right);
        if let Some((left, right)) = differs {
            panic!("{why}: {name} differs:\n{left:.2000}\n---\n{right:.2000}");
        }
        assert!(left == right, "{why}: {name} has other lines");
    }
}
