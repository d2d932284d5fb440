//! Waiting until a file that the last run read says something else.
//!
//! The system's notices are only a reason to look: a run starts when the bytes of such a file
//! differ from those read. So reads and writes of our own, touched files and equal saves start
//! nothing. Folders are watched, not files, so that files replaced, removed or made anew are seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::digest::Digest;

/// What wakes the one who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something happened in a watched folder.
    Touched,
    /// The user wants to stop.
    Stop,
    /// The build of this number has ended.
    Done(u64),
}

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// A file has another content.
    Changed,
    /// The user wants to stop.
    Stop,
    /// The build waited for has ended.
    Done,
}

/// Notices of one save come within this time of each other.
const QUIET: Duration = Duration::from_millis(15);
/// A stream of notices without a pause is looked into after this time.
const PATIENCE: Duration = Duration::from_millis(150);
/// An editor may remove or garble a file for a moment; this long it is given to finish.
const SETTLING: Duration = Duration::from_millis(120);
/// How often files are looked at where the system gives no notices.
const FALLBACK: Duration = Duration::from_millis(500);

/// Files read, by path from the project's folder, with their digests.
type Files = BTreeMap<PathBuf, Option<Digest>>;

/// Watches the files of a project.
pub struct Watcher {
    root: PathBuf,
    files: Files,
    system: Option<RecommendedWatcher>,
    armed: BTreeSet<PathBuf>,
    poll: Option<Duration>,
    sender: Sender<Event>,
    receiver: Receiver<Event>,
}

impl Watcher {
    /// A watcher for the project in a folder; with `poll` it looks by itself, every so often.
    #[must_use]
    pub fn new(root: &Path, poll: Option<Duration>) -> Self {
        let (sender, receiver) = channel();
        let root = root.canonicalize().unwrap_or_else(|_| root.to_path_buf());
        let notices = sender.clone();
        let tell = move |event: notify::Result<notify::Event>| {
            if event.as_ref().map_or(true, matters) {
                let _ = notices.send(Event::Touched);
            }
        };
        let system = match poll {
            Some(_) => None,
            None => notify::recommended_watcher(tell).ok(),
        };
        let poll = if system.is_none() { poll.or(Some(FALLBACK)) } else { None };
        let (files, armed) = (Files::new(), BTreeSet::new());
        Self { root, files, system, armed, poll, sender, receiver }
    }

    /// For whoever is to wake it.
    #[must_use]
    pub fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Looks by itself instead of being told.
    #[must_use]
    pub fn polls(&self) -> bool {
        self.poll.is_some()
    }

    /// From now on these files count, as they were read.
    pub fn follow(&mut self, files: &Files) {
        self.files.clone_from(files);
        self.arm();
    }

    /// Watches every folder on the way to a file, those that symbolic links lead to included. Done
    /// anew after each notice: a folder may have been replaced.
    fn arm(&mut self) {
        let Some(system) = &mut self.system else { return };
        let mut wanted: BTreeSet<PathBuf> = BTreeSet::new();
        for path in self.files.keys() {
            let full = self.root.join(path);
            let real = full.canonicalize().ok();
            for path in std::iter::once(full).chain(real) {
                let folders =
                    path.ancestors().skip(1).take_while(|dir| dir.starts_with(&self.root));
                wanted.extend(folders.filter(|dir| dir.is_dir()).map(Path::to_path_buf));
            }
        }
        for folder in &self.armed {
            let _ = system.unwatch(folder);
        }
        let mut failed = false;
        for folder in &wanted {
            failed |= system.watch(folder, RecursiveMode::NonRecursive).is_err() && folder.is_dir();
        }
        self.armed = wanted;
        if failed {
            // Too many watches on this machine, or a file system without them.
            self.system = None;
            self.poll = Some(FALLBACK);
        }
    }

    /// The content of a file now.
    fn now(&self, path: &Path) -> Content {
        match fs::read(self.root.join(path)) {
            Ok(bytes) if std::str::from_utf8(&bytes).is_err() => Content::Odd(Digest::of(&bytes)),
            Ok(bytes) => Content::Text(Digest::of(&bytes)),
            Err(_) => Content::None,
        }
    }

    /// Whether any file differs from what was read, and whether that looks like a moment in the
    /// middle of a save.
    fn look(&self) -> (bool, bool) {
        let (mut changed, mut odd) = (false, false);
        for (path, read) in &self.files {
            let now = self.now(path);
            let digest = match &now {
                Content::Text(digest) | Content::Odd(digest) => Some(*digest),
                Content::None => None,
            };
            if digest != *read {
                changed = true;
                odd |= !matches!(now, Content::Text(_));
            }
        }
        (changed, odd)
    }

    /// Waits until a file has another content, the user wants to stop, or the build of this number
    /// has ended.
    pub fn wait(&mut self, build: Option<u64>) -> Woken {
        // What was saved between reading and watching.
        if let Some(woken) = self.check(build) {
            return woken;
        }
        loop {
            let event = match self.poll {
                Some(interval) => match self.receiver.recv_timeout(interval) {
                    Err(RecvTimeoutError::Timeout) => Ok(Event::Touched),
                    other => other,
                },
                None => self.receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match event {
                Ok(Event::Stop) | Err(_) => return Woken::Stop,
                Ok(Event::Done(number)) if build == Some(number) => return Woken::Done,
                Ok(Event::Done(_)) => {}
                Ok(Event::Touched) => {
                    if let Some(woken) = self.gather(build, QUIET, PATIENCE) {
                        return woken;
                    }
                    self.arm();
                    if let Some(woken) = self.check(build) {
                        return woken;
                    }
                }
            }
        }
    }

    /// Looks at the files, and once more after a while where a save seems to be under way.
    fn check(&mut self, build: Option<u64>) -> Option<Woken> {
        let start = Instant::now();
        loop {
            match self.look() {
                (false, _) => return None,
                (true, odd) if !odd || start.elapsed() >= SETTLING => return Some(Woken::Changed),
                (true, _) => {
                    if let Some(woken) = self.gather(build, QUIET, QUIET) {
                        return Some(woken);
                    }
                    self.arm();
                }
            }
        }
    }

    /// Takes notices until there are none for `quiet`.
    fn gather(&self, build: Option<u64>, quiet: Duration, patience: Duration) -> Option<Woken> {
        let start = Instant::now();
        while start.elapsed() <= patience {
            match self.receiver.recv_timeout(quiet) {
                Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return Some(Woken::Stop),
                Ok(Event::Done(number)) if build == Some(number) => return Some(Woken::Done),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return None,
            }
        }
        None
    }
}

/// What a file holds.
enum Content {
    Text(Digest),
    /// Not text, perhaps for a moment.
    Odd(Digest),
    None,
}

/// Whether a notice may be about a change: reading a file, as we do, is none.
fn matters(event: &notify::Event) -> bool {
    match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => event.need_rescan(),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{CreateKind, Flag};

    #[test]
    fn reading_is_no_change() {
        let of = |kind| matters(&notify::Event::new(kind));
        assert!(!of(EventKind::Access(AccessKind::Open(AccessMode::Any))));
        assert!(!of(EventKind::Access(AccessKind::Close(AccessMode::Read))));
        assert!(of(EventKind::Access(AccessKind::Close(AccessMode::Write))));
        assert!(of(EventKind::Create(CreateKind::Folder)));
        let lost = notify::Event::new(EventKind::Access(AccessKind::Any)).set_flag(Flag::Rescan);
        assert!(matters(&lost), "after lost notices everything is looked at");
    }
}
