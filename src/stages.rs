//! The stages of one determination, and the store between them.
//!
//! slice -> consistency -> tree -> certify (draw included) -> render. A stage's key (`keys.rs`)
//! holds its own version, the output digests of what it reads and its parameters; solver name,
//! version and limits only where the stored result holds solver answers. Never in a key: job count,
//! paths, host, time.
//!
//! [`Run::stage`] alone decides whether a stage is up to date. `build`, `plan`, `status` and
//! `explain` all walk through it, so they can never disagree.

use std::sync::atomic::AtomicBool;

use serde::{Deserialize, Serialize};

use crate::diag::Diagnostic;
use crate::digest::{Digest, Fields, Moved};
use crate::sample::Halt;
use crate::solver::{Limits, Meter};
use crate::store::{Mode, Store, StoreError};

mod consistency;
mod growing;
mod keys;
mod parts;
mod prepared;
mod proving;
mod wording;

pub use growing::{Figures, Grown};
pub use keys::VERSIONS;
pub use parts::{Change, changes};
pub use prepared::Prepared;
pub use proving::Certificates;
pub use wording::Rendered;

/// What is told of a determination's stage while it runs.
#[derive(Clone, Copy, Debug)]
pub enum News<'n> {
    /// Its stages are looked at.
    Start,
    /// The stage's result is in the store.
    Hit(&'n Fields),
    /// It is not; why.
    Miss(&'n Miss),
    /// So many entries of so many are proved.
    Progress(usize, usize),
    /// Something the user should know.
    Note(&'n str),
    /// All stages are done.
    End,
}

/// Told of news: determination, stage, what.
pub type Watch<'w> = &'w (dyn Fn(&str, &str, News<'_>) + Sync);

/// What all determinations of a run share.
pub struct Run<'r> {
    /// The store.
    pub store: &'r Store,
    /// Z3's limit per check.
    pub rlimit: u32,
    /// Z3's seed; reaches no output.
    pub solver_seed: u32,
    /// Memory of a diagram.
    pub diagram_mib: usize,
    /// Keep every clause.
    pub no_slice: bool,
    /// Checks of the run.
    pub meter: Meter,
    /// Set by Ctrl-C.
    pub interrupted: &'r AtomicBool,
    /// Told of each stage.
    pub watch: Watch<'r>,
    /// Seed or salt of draws, and whether it is secret.
    pub key: [u8; 32],
}

/// A result that is not in the store, and what moved since the last one of this kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The stage.
    pub stage: &'static str,
    /// What it was to be made for.
    pub of: String,
    /// Its key.
    pub fields: Fields,
    /// Parts of the key that differ; none where nothing was ever stored.
    pub moved: Vec<Moved>,
}

impl Miss {
    /// In a few words.
    #[must_use]
    pub fn reason(&self) -> String {
        if self.moved.is_empty() {
            return "never made, or removed from the cache".to_owned();
        }
        let names: Vec<&str> = self.moved.iter().map(|moved| moved.field.as_str()).collect();
        format!("{} moved", names.join(", "))
    }
}

/// Why a determination has no result.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user's files.
    #[error("the user's files are at fault")]
    Faults(Vec<Diagnostic>),
    /// The store or a file.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// A bug of ours.
    #[error("{0}")]
    Bug(String),
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// A result was missing under `--cache=require`, or while only asking what is to be done.
    #[error("`{}` of `{}` is not in the cache: {}", .0.stage, .0.of, .0.reason())]
    Missing(Box<Miss>),
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Bug(bug) => Self::Bug(bug.to_string()),
            Halt::Interrupted => Self::Interrupted,
        }
    }
}

impl Run<'_> {
    /// Limits of every check.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits { rlimit: self.rlimit, seed: self.solver_seed, meter: self.meter.clone() }
    }

    /// The stored result of a stage, or a fresh one that is then stored: the one place where it is
    /// decided whether a stage runs.
    fn stage<T: Serialize + for<'d> Deserialize<'d>>(
        &self,
        stage: &'static str,
        prepared: &Prepared,
        fields: &Fields,
        make: impl FnOnce() -> Result<T, Failure>,
    ) -> Result<(T, Digest), Failure> {
        // Determinations of one policy share its consistency, whichever of them comes first.
        let id = prepared.id();
        let of = if stage == "consistency" { &prepared.inquiry.policy.id } else { id };
        if let Some(bytes) = self.store.get(stage, fields)
            && let Ok(result) = serde_json::from_slice(&bytes)
        {
            (self.watch)(id, stage, News::Hit(fields));
            return Ok((result, Digest::of(&bytes)));
        }
        let former = self.store.former(stage, of, fields);
        let moved = former.map_or_else(Vec::new, |old| fields.moved_since(&old.fields));
        let miss = Miss { stage, of: id.to_owned(), fields: fields.clone(), moved };
        (self.watch)(id, stage, News::Miss(&miss));
        if self.store.mode() == Mode::Require {
            return Err(Failure::Missing(Box::new(miss)));
        }
        let result = make()?;
        let bytes = serde_json::to_vec(&result).map_err(|error| Failure::Bug(error.to_string()))?;
        self.store.put(stage, of, fields, &bytes)?;
        Ok((result, Digest::of(&bytes)))
    }
}

fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
