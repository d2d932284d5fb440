//! `deogen.lock`: what a release depends on, by content.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::build::BuildFile;
use crate::digest::{Digest, Encoder};
use crate::manifest::{Determination, Named};
use crate::policy::Policy;
use crate::project::Project;
use crate::smtlib::print_term;
use crate::stages::{Figures, VERSIONS};

/// Name of the file in a project and in a release.
pub const LOCK: &str = "deogen.lock";

/// The lock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    /// Version of this layout.
    pub version: u32,
    /// Name of the project.
    pub name: String,
    /// Version of the data.
    pub release: String,
    /// The tool.
    pub tool: String,
    /// The solver.
    pub solver: String,
    /// Public commitment to the seed or salt.
    pub seed: String,
    /// Versions of the stages.
    pub stages: BTreeMap<String, u32>,
    /// The policies.
    pub policies: BTreeMap<String, LockedPolicy>,
    /// The determinations.
    pub determinations: BTreeMap<String, LockedDetermination>,
}

/// A policy, by its bytes and by its meaning.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedPolicy {
    /// Digest of `policy.smt2`.
    pub formalization: String,
    /// Digest of `policy.md`.
    pub text: String,
    /// Digest of `vocabulary.toml`.
    pub vocabulary: String,
    /// Digest of what the formalization says, joined with what it uses.
    pub meaning: String,
}

/// A determination: its slice, its tree, its sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockedDetermination {
    /// Digest of the slice's meaning.
    pub slice: String,
    /// Digest of its rows.
    pub rows: String,
    /// Definite entries.
    pub definite: usize,
    /// NEI entries.
    pub nei: usize,
    /// Wording of each verdict value.
    pub answers: BTreeMap<String, String>,
    /// Figures of its tree.
    pub tree: Figures,
    /// Candidates dropped.
    pub dropped: BTreeMap<String, u64>,
}

impl Lock {
    /// The lock of a project that was just built; `slices` are the meanings in its rows, `files`
    /// hold its sources below `source/`.
    #[must_use]
    pub fn new(
        project: &Project,
        file: &BuildFile,
        slices: &BTreeMap<String, String>,
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Self {
        let entries = project.manifest.policies.iter();
        let policies = entries.map(|(id, entry)| {
            let digest = |name: &str| {
                let path = std::path::Path::new("source").join(&entry.path).join(name);
                let bytes = files.get(&path.to_string_lossy().replace('\\', "/"));
                bytes.map(|bytes| Digest::of(bytes).to_string()).unwrap_or_default()
            };
            let joined = project.joined(id).map(|policy| meaning(&policy).to_string());
            let locked = LockedPolicy {
                formalization: digest("policy.smt2"),
                text: digest("policy.md"),
                vocabulary: digest("vocabulary.toml"),
                meaning: joined.unwrap_or_default(),
            };
            (id.clone(), locked)
        });
        let determination = |det: &Determination| {
            let id = det.id.name.clone();
            let built = file.determinations.get(&id).cloned().unwrap_or_default();
            let word = |(name, words): &(Named, String)| (name.name.clone(), words.clone());
            let answers = det.answers.iter().map(word);
            let locked = LockedDetermination {
                slice: slices.get(&id).cloned().unwrap_or_default(),
                rows: built.digest,
                definite: built.entries.0,
                nei: built.entries.1,
                answers: answers.collect(),
                tree: built.figures,
                dropped: built.dropped,
            };
            (id, locked)
        };
        Self {
            version: 1,
            name: project.manifest.about.name.clone(),
            release: project.manifest.about.version.clone(),
            tool: file.tool.clone(),
            solver: file.solver.clone(),
            seed: file.seed.clone(),
            stages: VERSIONS.iter().map(|(name, version)| ((*name).to_owned(), *version)).collect(),
            policies: policies.collect(),
            determinations: project.manifest.determinations.iter().map(determination).collect(),
        }
    }

    /// The file's text.
    #[must_use]
    pub fn text(&self) -> String {
        let body = toml::to_string(self).unwrap_or_default();
        format!("# Written by `deogen release`; with `--locked` nothing here may change.\n{body}")
    }

    /// Reads the file's text.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        toml::from_str(text).ok()
    }

    /// What differs from another lock, in words.
    #[must_use]
    pub fn moved(&self, other: &Self) -> Vec<String> {
        let mut found = Vec::new();
        let mut say = |differs: bool, what: String| {
            if differs {
                found.push(what);
            }
        };
        say(self.tool != other.tool, format!("the tool: {} -> {}", self.tool, other.tool));
        let solvers = format!("the solver: {} -> {}", self.solver, other.solver);
        say(self.solver != other.solver, solvers);
        say(self.stages != other.stages, "the versions of the stages".to_owned());
        say(self.seed != other.seed, "the seed".to_owned());
        say(
            (&self.name, &self.release) != (&other.name, &other.release),
            "name or version of the project".to_owned(),
        );
        for id in keys(&self.policies, &other.policies) {
            let same = self.policies.get(id) == other.policies.get(id);
            say(!same, format!("the policy `{id}`"));
        }
        for id in keys(&self.determinations, &other.determinations) {
            let same = self.determinations.get(id) == other.determinations.get(id);
            say(!same, format!("the determination `{id}`"));
        }
        found
    }
}

fn keys<'m, T>(a: &'m BTreeMap<String, T>, b: &'m BTreeMap<String, T>) -> Vec<&'m String> {
    let mut all: Vec<&String> = a.keys().chain(b.keys()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// What a joined policy says: its declarations and clauses, whatever their layout.
fn meaning(policy: &Policy) -> Digest {
    let terms = &policy.terms;
    let mut encoder = Encoder::new();
    for (_, enumeration) in terms.enumerations() {
        encoder.text(&enumeration.name).text(&enumeration.constructors.join(" "));
    }
    for (_, constant) in terms.constants() {
        encoder.text(&constant.name).text(&terms.sort_name(constant.sort));
    }
    for clause in &policy.clauses {
        encoder.text(&clause.qualified(policy)).text(&print_term(terms, clause.term));
        for section in clause.section.iter().chain(&clause.cites) {
            encoder.text(&policy.spell_section(section));
        }
    }
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_read_back_and_says_what_moved() {
        let mut lock = Lock { version: 1, name: "n".to_owned(), ..Lock::default() };
        let built = LockedDetermination { definite: 3, ..LockedDetermination::default() };
        lock.determinations.insert("p/q".to_owned(), built);
        assert_eq!(Lock::read(&lock.text()), Some(lock.clone()));
        let mut other = lock.clone();
        assert!(lock.moved(&other).is_empty());
        other.determinations.clear();
        other.policies.insert("p".to_owned(), LockedPolicy::default());
        assert_eq!(lock.moved(&other), ["the policy `p`", "the determination `p/q`"]);
    }
}
