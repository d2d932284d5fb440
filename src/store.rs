//! The content-addressed store under `cache/`.
//!
//! A record is a plain file named by stage and key: one line of JSON (what went into the key, and
//! the digest of the content), then the content, compressed. It is written beside its place, synced
//! and renamed, so it appears whole or not at all; every read re-hashes, and anything broken is a
//! miss with one warning. Correct without locks. `mtime` is only ever a hint of age for `gc`.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use crate::digest::{Digest, Fields};

/// The first line of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Stage that made it.
    pub stage: String,
    /// What it was made for, such as a determination.
    pub of: String,
    /// The parts of its key.
    pub fields: Fields,
    /// Digest of the content.
    pub content: Digest,
}

/// Why the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file or folder cannot be written.
    #[error("cannot write `{path}`: {source}")]
    Write {
        /// Where.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// How the store may be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// Read and write.
    #[default]
    Use,
    /// Every miss is an error of the caller.
    Require,
    /// Neither read nor write.
    Off,
}

/// The store of a project.
#[derive(Debug)]
pub struct Store {
    root: PathBuf,
    mode: Mode,
    warnings: Mutex<Vec<String>>,
    used: Mutex<BTreeSet<PathBuf>>,
}

/// What a sweep found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Records.
    pub records: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Records that do not hold.
    pub broken: Vec<String>,
    /// Records removed.
    pub removed: u64,
}

impl Store {
    /// The store in a folder, which need not exist yet.
    #[must_use]
    pub fn new(root: &Path, mode: Mode) -> Self {
        let root = root.to_path_buf();
        Self { root, mode, warnings: Mutex::default(), used: Mutex::default() }
    }

    /// How it may be used.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    fn place(&self, stage: &str, key: &Digest) -> PathBuf {
        let hex = key.hex();
        let (shard, rest) = hex.split_at(2);
        self.root.join(stage).join(shard).join(rest)
    }

    fn warn(&self, text: String) {
        if let Ok(mut warnings) = self.warnings.lock() {
            warnings.push(text);
        }
    }

    /// Warnings so far, each once; they are taken.
    pub fn take_warnings(&self) -> Vec<String> {
        self.warnings.lock().map(|mut warnings| std::mem::take(&mut *warnings)).unwrap_or_default()
    }

    fn mark(&self, path: PathBuf) {
        if let Ok(mut used) = self.used.lock() {
            used.insert(path);
        }
    }

    /// The content stored under a key, or none. A broken record is a miss.
    #[must_use]
    pub fn get(&self, stage: &str, fields: &Fields) -> Option<Vec<u8>> {
        if self.mode == Mode::Off {
            return None;
        }
        let path = self.place(stage, &fields.digest());
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.warn(format!("cannot read `{}`: {error}", path.display()));
                return None;
            }
        };
        match open(&bytes) {
            Some((head, content)) if head.stage == stage && head.fields == *fields => {
                self.mark(path);
                Some(content)
            }
            _ => {
                self.warn(format!("broken record `{}` is made again", path.display()));
                None
            }
        }
    }

    /// Stores content under a key.
    ///
    /// # Errors
    /// The folder cannot be written; nothing already stored is lost.
    pub fn put(
        &self,
        stage: &str,
        of: &str,
        fields: &Fields,
        content: &[u8],
    ) -> Result<(), StoreError> {
        if self.mode == Mode::Off {
            return Ok(());
        }
        let path = self.place(stage, &fields.digest());
        let head = Head {
            stage: stage.to_owned(),
            of: of.to_owned(),
            fields: fields.clone(),
            content: Digest::of(content),
        };
        let mut bytes = serde_json::to_vec(&head).unwrap_or_default();
        bytes.push(b'\n');
        let packed = zstd::bulk::compress(content, 3).unwrap_or_default();
        bytes.extend(packed);
        write_atomically(&path, &bytes)?;
        self.mark(path);
        Ok(())
    }

    /// The newest record of a stage for `of` beside the one with `fields`: what `explain` compares
    /// with.
    #[must_use]
    pub fn former(&self, stage: &str, of: &str, fields: &Fields) -> Option<Head> {
        let mut best: Option<(SystemTime, Head)> = None;
        for (path, time, _) in self.records(Some(stage)) {
            let Some(head) = fs::read(&path).ok().and_then(|bytes| head(&bytes)) else { continue };
            let newer = best.as_ref().is_none_or(|(known, _)| time > *known);
            if head.of == of && head.fields != *fields && newer {
                best = Some((time, head));
            }
        }
        best.map(|(_, head)| head)
    }

    fn records(&self, stage: Option<&str>) -> Vec<(PathBuf, SystemTime, u64)> {
        let root = stage.map_or_else(|| self.root.clone(), |stage| self.root.join(stage));
        let depth = if stage.is_some() { 2 } else { 3 };
        let mut all = Vec::new();
        for entry in WalkDir::new(root).min_depth(depth).max_depth(depth).sort_by_file_name() {
            let Ok(entry) = entry else { continue };
            let Ok(meta) = entry.metadata() else { continue };
            if meta.is_file() {
                let time = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                all.push((entry.into_path(), time, meta.len()));
            }
        }
        all
    }

    /// Counts records; with `verify` re-hashes each.
    #[must_use]
    pub fn stats(&self, verify: bool) -> Stats {
        let mut stats = Stats::default();
        for (path, _, bytes) in self.records(None) {
            stats.records += 1;
            stats.bytes += bytes;
            if verify && fs::read(&path).ok().and_then(|bytes| open(&bytes)).is_none() {
                stats.broken.push(path.display().to_string());
            }
        }
        stats
    }

    /// Removes the oldest records until no more than `budget` bytes are left, never one that this
    /// run read or wrote, and what crashed writers left behind.
    #[must_use]
    pub fn collect(&self, budget: u64) -> Stats {
        let used = self.used.lock().map(|used| used.clone()).unwrap_or_default();
        let mut records = self.records(None);
        records.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut stats = Stats::default();
        for (path, time, bytes) in records {
            let stale = time.elapsed().is_ok_and(|age| age.as_secs() > 3600);
            let left_over =
                path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".new"));
            let kept = used.contains(&path) || (!left_over && stats.bytes + bytes <= budget);
            if kept || (left_over && !stale) || fs::remove_file(&path).is_err() {
                stats.records += 1;
                stats.bytes += bytes;
            } else {
                stats.removed += 1;
            }
        }
        stats
    }
}

fn head(bytes: &[u8]) -> Option<Head> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    serde_json::from_slice(bytes.get(..end)?).ok()
}

fn open(bytes: &[u8]) -> Option<(Head, Vec<u8>)> {
    let end = bytes.iter().position(|byte| *byte == b'\n')?;
    let head = head(bytes)?;
    let content = zstd::stream::decode_all(bytes.get(end + 1..)?).ok()?;
    (Digest::of(&content) == head.content).then_some((head, content))
}

/// Writes a file so that it appears whole or not at all.
///
/// # Errors
/// The folder cannot be made or the file cannot be written; the old file is untouched.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let fail = |source: io::Error| StoreError::Write { path: path.to_path_buf(), source };
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(fail)?;
    let mut file = tempfile::Builder::new().prefix(".new").tempfile_in(folder).map_err(fail)?;
    file.write_all(bytes).map_err(fail)?;
    file.as_file().sync_data().map_err(fail)?;
    file.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}
