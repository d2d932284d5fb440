//! The one place where a build writes: files that appear whole or not at all.

use std::fs;
use std::io::{self, ErrorKind, Write};
#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Why a file is not there.
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

impl StoreError {
    /// The folder is not ours to write, as opposed to a disk that is full or broken.
    #[must_use]
    pub fn is_refusal(&self) -> bool {
        let Self::Write { source, .. } = self;
        matches!(
            source.kind(),
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem | ErrorKind::NotADirectory
        )
    }
}

/// Where files are written.
#[derive(Clone, Debug, Default)]
pub struct Disk {
    /// Bytes that still fit; none: as many as the system takes.
    left: Option<Arc<AtomicU64>>,
}

/// How names of files start that are not complete.
const LEFT_OVER: &str = ".deogen-new-";

impl Disk {
    /// A disk that is full after so many bytes: what a build does then can be seen without filling
    /// a real one.
    #[must_use]
    pub fn with_space(bytes: u64) -> Self {
        Self { left: Some(Arc::new(AtomicU64::new(bytes))) }
    }

    /// Writes a file so that it appears whole or not at all, and stays after a power cut.
    ///
    /// # Errors
    /// The folder cannot be made or the file cannot be written; the old file is untouched.
    pub fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        let fail = |source: io::Error| StoreError::Write { path: path.to_path_buf(), source };
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut tries = 0;
        loop {
            fs::create_dir_all(folder).map_err(fail)?;
            let written = self.attempt(folder, path, bytes);
            match written {
                // Between the making of the file and its lock, a sweep took it for a left-over, or
                // somebody removed the folder.
                Err(error) if error.kind() == ErrorKind::NotFound && tries < 3 => tries += 1,
                Err(error) => return Err(fail(error)),
                Ok(()) => return Ok(()),
            }
        }
    }

    fn attempt(&self, folder: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut builder = tempfile::Builder::new();
        // As any new file: who may read it is for the user's mask to say, not for the owner alone.
        #[cfg(unix)]
        builder.permissions(fs::Permissions::from_mode(0o666));
        let mut file = builder.prefix(LEFT_OVER).tempfile_in(folder)?;
        // Held until the file has its name; where locks do not work, age protects it.
        let _ = file.as_file().try_lock();
        if let Some(left) = &self.left {
            let size = bytes.len() as u64;
            let fits = left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(size));
            if fits.is_err() {
                file.write_all(bytes.get(..bytes.len() / 2).unwrap_or(bytes))?;
                return Err(ErrorKind::StorageFull.into());
            }
        }
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        // The name is on the disk once its folder is. Some file systems refuse; then it is later.
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

/// Whether a file is one that a writer has not completed.
#[must_use]
pub fn is_left_over(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(LEFT_OVER))
}

/// Removes what a killed writer left, unless its writer still lives. A failure is no failure of the
/// build.
pub fn remove_left_over(path: &Path) {
    let Ok(file) = fs::File::open(path) else { return };
    let dead = match file.try_lock() {
        Ok(()) => true,
        Err(fs::TryLockError::WouldBlock) => false,
        // No locks here: an hour is longer than any write.
        Err(fs::TryLockError::Error(_)) => {
            let time = file.metadata().and_then(|meta| meta.modified());
            let hour = Duration::from_secs(3600);
            time.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > hour))
        }
    };
    if dead {
        let _ = fs::remove_file(path);
    }
}
