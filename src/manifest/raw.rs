//! The tables of `deogen.toml` as they are written. Their JSON Schema ships with the tool, and the
//! same schema finds unknown keys and wrong kinds of values.

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use toml::Spanned;

use super::{Certify, NeiKind, Representative};

/// The JSON Schema of `deogen.toml`, for editors.
#[must_use]
pub fn schema() -> serde_json::Value {
    schema_for!(RawManifest).to_value()
}

/// A deogen project: policies, what to decide about them, and how to draw entries.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(title = "deogen.toml", deny_unknown_fields)]
pub(super) struct RawManifest {
    pub(super) project: RawProject,
    /// One table for each policy; its key is the policy's id.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, RawPolicy>")]
    pub(super) policies: BTreeMap<Spanned<String>, RawPolicy>,
    /// Defaults for all determinations.
    #[serde(default)]
    pub(super) sampling: RawSampling,
    #[serde(default)]
    pub(super) limits: RawLimits,
    /// One table for each thing to decide.
    #[serde(default)]
    pub(super) determination: Vec<RawDetermination>,
    #[serde(default)]
    pub(super) check: RawCheck,
}

/// The project itself.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RawProject {
    /// Name of the project and its releases.
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
    /// Version of the data.
    #[schemars(with = "String")]
    pub(super) version: Spanned<String>,
    /// License of the data, such as `CC-BY-4.0`.
    pub(super) license: String,
    /// Seed of all draws; 0 unless given.
    #[serde(default)]
    pub(super) seed: u64,
    /// Folder of the outputs; `dist` unless given.
    #[schemars(with = "Option<String>")]
    pub(super) dist: Option<Spanned<String>>,
}

/// One policy.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RawPolicy {
    /// Policies it imports from.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    pub(super) uses: Vec<Spanned<String>>,
    /// Its folder; `policies/<id>` unless given.
    #[schemars(with = "Option<String>")]
    pub(super) path: Option<Spanned<String>>,
}

/// Sampling controls. Under a determination, a key replaces the same key of the project's table.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RawSampling {
    /// Definite entries; 100 unless given.
    pub(super) definite: Option<u64>,
    /// Entries without enough information; 100 unless given.
    pub(super) nei: Option<u64>,
    /// Entries per signature; 0, the default, is no limit.
    pub(super) per_signature: Option<u64>,
    /// How many facts an entry states.
    #[schemars(with = "Option<RawRange>")]
    pub(super) facts: Option<Spanned<RawRange>>,
    /// How many facts are needed together.
    #[schemars(with = "Option<RawRange>")]
    pub(super) needed: Option<Spanned<RawRange>>,
    /// How many facts an NEI entry withholds: `one`, `half`, `most` or numbers.
    #[schemars(with = "Option<Vec<RawCut>>")]
    pub(super) cut: Option<Spanned<Vec<Spanned<RawCut>>>>,
    /// Kinds of NEI entries; `cut` and `hole` unless given.
    #[schemars(with = "Option<Vec<NeiKind>>")]
    pub(super) kinds: Option<Spanned<Vec<NeiKind>>>,
    /// Which numbers stand for a region; `one` unless given.
    #[schemars(with = "Option<Vec<Representative>>")]
    pub(super) representatives: Option<Spanned<Vec<Representative>>>,
    /// Which paths are certified; `drawn` unless given.
    pub(super) certify: Option<Certify>,
    /// Paths listed at most, per determination and kind; 1000000 unless given.
    pub(super) list_cap: Option<u64>,
    /// Facts that do not matter, added to each entry; 0 unless given.
    pub(super) distractors: Option<u64>,
    /// Environment variable with a secret salt; none unless given.
    pub(super) salt_env: Option<String>,
    /// State numbers that an equation links both; false unless given.
    pub(super) state_linked: Option<bool>,
}

/// Least and greatest number.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RawRange {
    pub(super) min: Option<u64>,
    pub(super) max: Option<u64>,
}

/// A cut depth: a word or a number of facts.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum RawCut {
    Facts(u64),
    Word(CutWord),
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum CutWord {
    One,
    Half,
    Most,
}

/// Limits of a build.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RawLimits {
    /// Work of one solver check; 5000000 unless given.
    pub(super) rlimit: Option<u64>,
    /// Memory of a diagram in MiB; 512 unless given.
    pub(super) diagram_mib: Option<u64>,
    /// Size of the store, such as `2GiB`, the default.
    #[schemars(with = "Option<String>")]
    pub(super) cache: Option<Spanned<String>>,
}

/// One thing to decide.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RawDetermination {
    /// `policy` or `policy/name`.
    #[schemars(with = "String")]
    pub(super) id: Spanned<String>,
    /// The policy it is about.
    #[schemars(with = "String")]
    pub(super) policy: Spanned<String>,
    /// Name of the constant or `define-const` to decide.
    #[schemars(with = "String")]
    pub(super) verdict: Spanned<String>,
    /// The question as a reader sees it.
    #[schemars(with = "String")]
    pub(super) question: Spanned<String>,
    /// The wording of each value of the verdict.
    #[schemars(with = "BTreeMap<String, String>")]
    pub(super) answers: BTreeMap<Spanned<String>, Spanned<String>>,
    /// Derived conditions that are asked instead of expanded.
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) opaque: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(super) sampling: RawSampling,
}

/// What `deogen check` accepts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RawCheck {
    #[serde(default)]
    pub(super) allow: Vec<RawAllow>,
}

/// An accepted finding.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct RawAllow {
    /// Name of the lint.
    #[schemars(with = "String")]
    pub(super) lint: Spanned<String>,
    /// Policy, clause or determination.
    pub(super) at: String,
    /// Why it is accepted.
    #[schemars(with = "String")]
    pub(super) reason: Spanned<String>,
}
