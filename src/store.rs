//! The content-addressed store under `cache/`.
//!
//! A record is a plain file named by stage and key: one line of JSON (what went into the key, and
//! the digest of the content), then the content, compressed. It is written beside its place, synced
//! and renamed, so it appears whole or not at all; every read re-hashes, and anything broken is a
//! miss with one warning. Correct without locks: a lock on a file being written only tells the
//! sweep that its writer lives. `mtime` is only ever a hint of age for `gc`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use walkdir::WalkDir;

use crate::digest::{Digest, Fields};

mod disk;

pub use disk::{Disk, StoreError, is_left_over, remove_left_over};

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
    disk: Disk,
    warnings: Mutex<Vec<String>>,
    used: Mutex<BTreeSet<PathBuf>>,
    held: Mutex<BTreeMap<PathBuf, Vec<u8>>>,
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
        Self::on(root, mode, Disk::default())
    }

    /// The same on a disk that may be full.
    #[must_use]
    pub fn on(root: &Path, mode: Mode, disk: Disk) -> Self {
        let root = root.to_path_buf();
        Self {
            root,
            mode,
            disk,
            warnings: Mutex::default(),
            used: Mutex::default(),
            held: Mutex::default(),
        }
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
        if let Ok(mut warnings) = self.warnings.lock()
            && !warnings.contains(&text)
        {
            warnings.push(text);
        }
    }

    /// Warnings so far, each once; they are taken.
    pub fn take_warnings(&self) -> Vec<String> {
        self.warnings.lock().map(|mut warnings| std::mem::take(&mut *warnings)).unwrap_or_default()
    }

    /// A record that was of use is young again for `gc`. Written at most once an hour, so that
    /// builds that only read hardly write.
    fn refresh(path: &Path) {
        let hour = Duration::from_secs(3600);
        let Ok(file) = fs::File::options().append(true).open(path) else { return };
        let time = file.metadata().and_then(|meta| meta.modified());
        if time.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > hour)) {
            let _ = file.set_modified(SystemTime::now());
        }
    }

    /// Whether there is a record, broken or not.
    #[must_use]
    pub fn has(&self, stage: &str, fields: &Fields) -> bool {
        self.mode != Mode::Off && self.place(stage, &fields.digest()).exists()
    }

    /// Keeps content for this run only: a store that may not be written can still explain itself.
    pub fn hold(&self, stage: &str, fields: &Fields, content: Vec<u8>) {
        if let Ok(mut held) = self.held.lock() {
            held.insert(self.place(stage, &fields.digest()), content);
        }
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
        if let Some(held) = self.held.lock().ok().and_then(|held| held.get(&path).cloned()) {
            return Some(held);
        }
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
                Self::refresh(&path);
                self.mark(path);
                Some(content)
            }
            _ => {
                self.warn(format!("broken record `{}` is made again", path.display()));
                None
            }
        }
    }

    /// Stores content under a key. Where the folder may not be written at all, such as a cache that
    /// is shared read-only, the build goes on without keeping results, with one warning.
    ///
    /// # Errors
    /// The disk is full or broken; nothing already stored is lost.
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
        match self.disk.write(&path, &bytes) {
            Ok(()) => self.mark(path),
            Err(error) if error.is_refusal() => self.warn(format!(
                "results are not kept: the cache `{}` cannot be written",
                self.root.display()
            )),
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// The newest record of a stage for `of` beside the one with `fields`: what `explain` compares
    /// with.
    #[must_use]
    pub fn former(&self, stage: &str, of: &str, fields: &Fields) -> Option<Head> {
        let mut best: Option<(SystemTime, Head)> = None;
        for (path, time, _) in self.records(Some(stage)) {
            if best.as_ref().is_some_and(|(known, _)| time <= *known) {
                continue;
            }
            let Some(head) = first_line(&path) else { continue };
            if head.of == of && head.fields != *fields {
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
            if is_left_over(&path) {
                continue;
            }
            if verify && fs::read(&path).ok().and_then(|bytes| open(&bytes)).is_none() {
                stats.broken.push(path.display().to_string());
            }
            stats.records += 1;
            stats.bytes += bytes;
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
        for (path, _, bytes) in records {
            if is_left_over(&path) {
                remove_left_over(&path);
                continue;
            }
            let kept = used.contains(&path) || stats.bytes + bytes <= budget;
            // What another process removed first is gone all the same.
            if !kept && fs::remove_file(&path).is_ok() {
                stats.removed += 1;
            } else {
                stats.records += 1;
                stats.bytes += bytes;
            }
        }
        stats
    }
}

fn first_line(path: &Path) -> Option<Head> {
    let mut line = Vec::new();
    BufReader::new(fs::File::open(path).ok()?).read_until(b'\n', &mut line).ok()?;
    serde_json::from_slice(&line).ok()
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
