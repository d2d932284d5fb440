//! `deogen.toml`: raw tables to a manifest that holds, with the place of everything later checks
//! may have to point at.
//!
//! It reads one text and touches no other file: what a manifest names is looked up by `project.rs`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::diag::{Diagnostic, Source, Span};

mod check;
mod raw;

pub use raw::schema;

/// A name in the manifest with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Where it stands.
    pub span: Span,
}

/// The project's own table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Name of the project and its releases.
    pub name: String,
    /// Version of the data.
    pub version: String,
    /// License of the data.
    pub license: String,
    /// Seed of all draws.
    pub seed: u64,
    /// Folder of the outputs, relative to the project.
    pub dist: PathBuf,
}

/// A policy the project has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyEntry {
    /// Its id, and where it is declared.
    pub id: Named,
    /// Policies it imports from.
    pub uses: Vec<Named>,
    /// Its folder, relative to the project.
    pub path: PathBuf,
}

/// Least and greatest number of something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// At least.
    pub min: u64,
    /// At most.
    pub max: u64,
}

/// How many facts an NEI entry withholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cut {
    /// One fact.
    One,
    /// About half of the facts.
    Half,
    /// Nearly all facts.
    Most,
    /// This many facts.
    Exactly(u64),
}

/// A kind of NEI entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NeiKind {
    /// The first facts of a path.
    Cut,
    /// A needed fact removed anywhere.
    Hole,
    /// One verdict value, or the policy is silent.
    Mixed,
    /// The policy is silent.
    Silent,
}

/// Which number stands for a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Representative {
    /// One, the most natural.
    One,
    /// Near the lower end.
    Low,
    /// In the middle.
    Middle,
    /// Near the upper end.
    High,
    /// On both sides of a threshold.
    Boundary,
}

/// Which paths are certified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Certify {
    /// Those drawn for the data set.
    Drawn,
    /// All, up to the cap of listed paths.
    All,
}

/// Sampling controls of a determination, defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sampling {
    /// Definite entries.
    pub definite: u64,
    /// NEI entries.
    pub nei: u64,
    /// Entries per signature; 0: no limit.
    pub per_signature: u64,
    /// Facts an entry states.
    pub facts: Range,
    /// Facts that are needed together.
    pub needed: Range,
    /// Cut depths of NEI entries.
    pub cut: Vec<Cut>,
    /// Kinds of NEI entries.
    pub kinds: Vec<NeiKind>,
    /// Numbers of a region.
    pub representatives: Vec<Representative>,
    /// What is certified.
    pub certify: Certify,
    /// Paths listed at most, per determination and kind.
    pub list_cap: u64,
    /// Facts that do not matter, added to an entry.
    pub distractors: u64,
    /// Environment variable with a secret salt; empty: none.
    pub salt_env: String,
    /// State linked numbers both.
    pub state_linked: bool,
}

/// Limits of a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Work of one solver check.
    pub rlimit: u64,
    /// Memory of a diagram in MiB.
    pub diagram_mib: u64,
    /// Size of the store in bytes.
    pub cache: u64,
}

/// One thing to decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Determination {
    /// Its id.
    pub id: Named,
    /// The policy it is about.
    pub policy: Named,
    /// Name of the constant or definition to decide.
    pub verdict: Named,
    /// The question as a reader sees it.
    pub question: Named,
    /// The wording of each verdict value, by value as SMT-LIB spells it, in the manifest's order.
    pub answers: Vec<(Named, String)>,
    /// Derived conditions asked instead of expanded.
    pub opaque: Vec<Named>,
    /// Sampling controls.
    pub sampling: Sampling,
}

/// A finding that is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// Name of the lint.
    pub lint: Named,
    /// Policy, clause or determination it is accepted at.
    pub at: String,
    /// Why.
    pub reason: String,
}

/// The project file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The project.
    pub about: About,
    /// Its policies by id.
    pub policies: BTreeMap<String, PolicyEntry>,
    /// Limits.
    pub limits: Limits,
    /// Its determinations in the order written.
    pub determinations: Vec<Determination>,
    /// Accepted findings.
    pub allow: Vec<Allow>,
    /// The file.
    pub source: Source,
}

impl Manifest {
    /// Reads `deogen.toml`.
    ///
    /// # Errors
    /// Every fault of the file.
    pub fn read(source: &Source) -> Result<Self, Vec<Diagnostic>> {
        check::read(source)
    }

    /// A determination by id.
    #[must_use]
    pub fn determination(&self, id: &str) -> Option<&Determination> {
        self.determinations.iter().find(|determination| determination.id.name == id)
    }

    /// All policies that one uses, directly or not, by id and without itself.
    #[must_use]
    pub fn uses(&self, policy: &str) -> Vec<String> {
        let mut found = std::collections::BTreeSet::new();
        let mut stack = vec![policy.to_owned()];
        while let Some(id) = stack.pop() {
            let Some(entry) = self.policies.get(&id) else { continue };
            for used in &entry.uses {
                if used.name != policy && found.insert(used.name.clone()) {
                    stack.push(used.name.clone());
                }
            }
        }
        found.into_iter().collect()
    }
}
