//! A project on disk: its manifest and policies, checked against each other, and the inquiries its
//! determinations make.
//!
//! A fault in the manifest stops everything; a fault in one policy stops only the determinations that
//! use it. The [`Loader`] is the only door to the files of a project, and remembers what it read.

use std::collections::BTreeMap;
use std::path::Path;

use crate::diag::{Diagnostic, Severity, Source};
use crate::document::{self, Document};
use crate::manifest::{Determination, Manifest, PolicyEntry};
use crate::policy::{Inquiry, Policy};
use crate::smtlib::{self, PolicyFile};
use crate::vocabulary::Vocabulary;

mod check;
mod inquiry;
mod join;
mod loader;

pub use loader::Loader;

/// The file that makes a folder a project.
pub const MANIFEST: &str = "deogen.toml";

/// One policy as its three files say it.
#[derive(Clone, Debug)]
pub struct Member {
    /// The formalization.
    pub file: PolicyFile,
    /// The text.
    pub document: Document,
    /// The words of its facts.
    pub vocabulary: Vocabulary,
}

/// A policy of the project: what could be read of it, and what is wrong with it.
#[derive(Clone, Debug, Default)]
struct Loaded {
    member: Option<Member>,
    faults: Vec<Diagnostic>,
}

/// A project whose manifest holds.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its manifest.
    pub manifest: Manifest,
    policies: BTreeMap<String, Loaded>,
}

impl Project {
    /// Reads the project in a folder.
    ///
    /// # Errors
    /// Faults of the manifest. Faults of policies are kept: see [`Project::diagnostics`].
    pub fn load(root: &Path) -> Result<Self, Vec<Diagnostic>> {
        Self::load_with(&mut Loader::new(root))
    }

    /// Reads the project through a loader, which then knows what was read, whatever the outcome.
    ///
    /// # Errors
    /// Faults of the manifest.
    pub fn load_with(loader: &mut Loader) -> Result<Self, Vec<Diagnostic>> {
        let (source, mut faults) = loader.read(Path::new(MANIFEST));
        let Some(source) = source else {
            let hint = "run `deogen init`, or name the project's folder with `-C DIR`";
            return Err(faults.into_iter().map(|fault| fault.hint(hint)).collect());
        };
        let manifest = match Manifest::read(&source) {
            Ok(manifest) => manifest,
            Err(more) => {
                faults.extend(more);
                return Err(faults);
            }
        };
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut policies = BTreeMap::new();
        for (id, entry) in &manifest.policies {
            policies.insert(id.clone(), load_policy(loader, entry));
        }
        let mut project = Self { manifest, policies };
        project.check_policies();
        Ok(project)
    }

    /// A policy of which all three files could be read; it may have faults.
    #[must_use]
    pub fn member(&self, policy: &str) -> Option<&Member> {
        self.policies.get(policy)?.member.as_ref()
    }

    /// Faults and warnings of one policy.
    #[must_use]
    pub fn faults(&self, policy: &str) -> &[Diagnostic] {
        self.policies.get(policy).map_or(&[], |loaded| &loaded.faults)
    }

    /// Everything that is wrong anywhere: policies by id, then determinations in the manifest's order.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut all: Vec<Diagnostic> =
            self.policies.values().flat_map(|loaded| loaded.faults.iter().cloned()).collect();
        for determination in &self.manifest.determinations {
            if let (true, Err(faults)) =
                (self.errors(determination).is_empty(), self.inquiry(determination))
            {
                all.extend(faults);
            }
        }
        all
    }

    /// The errors of the policies a determination uses.
    fn errors(&self, determination: &Determination) -> Vec<Diagnostic> {
        let used = self.manifest.uses(&determination.policy.name);
        let ids = std::iter::once(&determination.policy.name).chain(&used);
        ids.flat_map(|id| self.faults(id))
            .filter(|fault| fault.severity == Severity::Error)
            .cloned()
            .collect()
    }

    /// What a determination asks: the joined policy, the verdict and the facts that may be stated.
    ///
    /// # Errors
    /// Errors of the policies it uses; if there are none, those of the determination itself.
    pub fn inquiry(&self, determination: &Determination) -> Result<Inquiry, Vec<Diagnostic>> {
        let errors = self.errors(determination);
        if !errors.is_empty() {
            return Err(errors);
        }
        let policy = self.joined(&determination.policy.name)?;
        let inquiry = inquiry::inquiry(self, determination, policy)?;
        // Two policies may each be well worded and share a sentence.
        self.vocabulary(&inquiry.policy)?;
        Ok(inquiry)
    }

    /// A policy with all it uses as one.
    ///
    /// # Errors
    /// A policy could not be read.
    pub fn joined(&self, policy: &str) -> Result<Policy, Vec<Diagnostic>> {
        join::join(self, policy)
    }

    /// The words of a joined policy.
    ///
    /// # Errors
    /// Two facts share a sentence.
    pub fn vocabulary(&self, policy: &Policy) -> Result<Vocabulary, Vec<Diagnostic>> {
        Vocabulary::join(policy, |id| {
            self.member(id).map(|member| (&member.file.policy, &member.vocabulary))
        })
    }
}

fn load_policy(loader: &mut Loader, entry: &PolicyEntry) -> Loaded {
    if let Err(fault) = loader.folder(&entry.path) {
        let hint = "a policy is the folder `policies/<id>`, or the one that `path = \"…\"` names";
        let fault = fault.at(entry.id.span.clone(), "declared here").hint(hint);
        return Loaded { member: None, faults: vec![fault] };
    }
    let mut faults = Vec::new();
    let mut read = |name: &str, hint: &str| -> Option<Source> {
        let (source, found) = loader.read(&entry.path.join(name));
        let missing = source.is_none();
        faults.extend(found.into_iter().map(|fault| {
            if missing && fault.code == "missing-file" { fault.hint(hint) } else { fault }
        }));
        source
    };
    let smt2 = read("policy.smt2", "it holds the formalization: `(set-logic ALL)` …");
    let text = read("policy.md", "it holds the text, each label once: `**§129(d)(1)** …`");
    let words = read("vocabulary.toml", "it holds the words of each fact: `[facts.x]` …");
    let file = smt2.map(|source| smtlib::read(&entry.id.name, &source));
    let document = text.map(|source| document::read(&source));
    let (file, document) = match (file, document) {
        (Some((file, more)), document) => {
            faults.extend(more);
            (file, document)
        }
        (None, document) => {
            faults.extend(document.into_iter().flat_map(|(_, more)| more));
            return Loaded { member: None, faults };
        }
    };
    let vocabulary = words.map(|source| Vocabulary::read(&source, &file));
    let mut member = None;
    if let (Some((document, _)), Some((vocabulary, _))) = (&document, &vocabulary) {
        let (document, vocabulary) = (document.clone(), vocabulary.clone());
        member = Some(Member { file, document, vocabulary });
    }
    faults.extend(document.into_iter().flat_map(|(_, more)| more));
    faults.extend(vocabulary.into_iter().flat_map(|(_, more)| more));
    Loaded { member, faults }
}
