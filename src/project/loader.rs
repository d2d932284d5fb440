//! The door to a project's files.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::diag::{Diagnostic, Source, Span};
use crate::digest::Digest;

/// Reads files below a folder and remembers which, with their digests: what `watch` has to look at.
#[derive(Clone, Debug)]
pub struct Loader {
    root: PathBuf,
    files: BTreeMap<PathBuf, Option<Digest>>,
}

impl Loader {
    /// A loader for the project in a folder.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_path_buf(), files: BTreeMap::new() }
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Every file asked for, relative to the folder, with its digest; none if it could not be read.
    #[must_use]
    pub fn files(&self) -> &BTreeMap<PathBuf, Option<Digest>> {
        &self.files
    }

    /// Checks that a folder of the project is there and inside.
    pub(super) fn folder(&mut self, path: &Path) -> Result<(), Diagnostic> {
        self.files.entry(path.to_path_buf()).or_insert(None);
        // A folder that comes later is known by this file.
        self.files.entry(path.join("policy.smt2")).or_insert(None);
        self.inside(path)?;
        if self.root.join(path).is_dir() {
            return Ok(());
        }
        Err(Diagnostic::error("missing-file", "this is a file, not a folder")
            .in_file(path)
            .hint("a policy is a folder with policy.smt2, policy.md and vocabulary.toml"))
    }

    /// Whether a path leads to something inside the project, symbolic links followed.
    fn inside(&self, path: &Path) -> Result<PathBuf, Diagnostic> {
        let full = self.root.join(path);
        let real = full.canonicalize().map_err(|error| missing(path, &error))?;
        let root = self.root.canonicalize().map_err(|error| missing(path, &error))?;
        if real.starts_with(root) {
            return Ok(real);
        }
        Err(Diagnostic::error("outside-path", "a symbolic link leads out of the project")
            .in_file(path)
            .hint("copy what it points to into the project"))
    }

    /// Reads a text. There is a source if the text can be looked at further; it is good only if
    /// there are no faults.
    pub fn read(&mut self, path: &Path) -> (Option<Source>, Vec<Diagnostic>) {
        let read = self
            .inside(path)
            .and_then(|real| fs::read(real).map_err(|error| missing(path, &error)));
        let bytes = match read {
            Ok(bytes) => bytes,
            Err(fault) => {
                self.files.insert(path.to_path_buf(), None);
                return (None, vec![fault]);
            }
        };
        self.files.insert(path.to_path_buf(), Some(Digest::of(&bytes)));
        text(path, bytes)
    }
}

fn missing(path: &Path, error: &std::io::Error) -> Diagnostic {
    let fault = match error.kind() {
        ErrorKind::NotFound => Diagnostic::error("missing-file", "there is no such file or folder"),
        ErrorKind::PermissionDenied => Diagnostic::error("unreadable-file", "it cannot be read")
            .hint("give yourself permission to read it"),
        ErrorKind::IsADirectory => {
            Diagnostic::error("unreadable-file", "this is a folder, not a file")
                .hint("put a file of that name in its place")
        }
        _ => Diagnostic::error("unreadable-file", error.to_string()),
    };
    fault.in_file(path)
}

/// Bytes as a text: UTF-8, no byte order mark, lines that end with LF.
fn text(path: &Path, bytes: Vec<u8>) -> (Option<Source>, Vec<Diagnostic>) {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            // Up to the fault, the replaced text is the text itself.
            let good = error.utf8_error().valid_up_to();
            let shown = Source::new(path, String::from_utf8_lossy(error.as_bytes()));
            let fault = Diagnostic::error("not-utf8", "this is not UTF-8")
                .at(Span::new(&shown, good..good + 1), "from here on")
                .hint("save the file as UTF-8");
            return (None, vec![fault]);
        }
    };
    if let Some(rest) = text.strip_prefix('\u{feff}') {
        let shown = Source::new(path, rest);
        let fault = Diagnostic::error("byte-order-mark", "the file starts with a byte order mark")
            .at(Span::new(&shown, 0..1), "before this")
            .hint("save it as UTF-8 without one (`UTF-8`, not `UTF-8 with BOM`)");
        return (None, vec![fault]);
    }
    let source = Source::new(path, text);
    let mut faults = Vec::new();
    if let Some(at) = source.text().find('\r') {
        let count = source.text().matches('\r').count();
        let message = format!("{count} line(s) end with CR LF or hold a CR");
        faults.push(
            Diagnostic::error("carriage-return", message)
                .at(Span::new(&source, at..at + 1), "the first one")
                .hint(
                    "lines end with LF: `sed -i 's/\\r$//' FILE`, and `eol=lf` in .gitattributes",
                ),
        );
    }
    (Some(source), faults)
}
