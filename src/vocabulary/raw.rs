//! The tables of `vocabulary.toml` as they are written.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

/// The file as it is written.
#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RawVocabulary {
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, RawFact>")]
    pub(super) facts: BTreeMap<Spanned<String>, Spanned<RawFact>>,
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, RawDerived>")]
    pub(super) derived: BTreeMap<Spanned<String>, RawDerived>,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RawDerived {
    #[schemars(with = "String")]
    pub(super) name: Spanned<String>,
}

pub(super) type RawPhrases = Spanned<Vec<Spanned<String>>>;

#[derive(Debug, Deserialize, JsonSchema)]
pub(super) struct RawFact {
    #[serde(default = "yes")]
    pub(super) ask: bool,
    #[serde(default)]
    pub(super) subject: String,
    pub(super) name: Option<String>,
    #[schemars(with = "Option<String>")]
    pub(super) unit: Option<Spanned<String>>,
    #[schemars(with = "Option<Vec<Literal>>")]
    pub(super) bounds: Option<Spanned<Vec<Spanned<Literal>>>>,
    #[schemars(with = "Option<Vec<Literal>>")]
    pub(super) typical: Option<Spanned<Vec<Spanned<Literal>>>>,
    #[schemars(with = "Option<Literal>")]
    pub(super) step: Option<Spanned<Literal>>,
    #[schemars(with = "Option<Literal>")]
    pub(super) presumed: Option<Spanned<Literal>>,
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) say: Option<RawPhrases>,
    #[serde(rename = "true")]
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) yes: Option<RawPhrases>,
    #[serde(rename = "false")]
    #[schemars(with = "Option<Vec<String>>")]
    pub(super) no: Option<RawPhrases>,
    #[schemars(with = "Option<BTreeMap<String, Vec<String>>>")]
    pub(super) values: Option<Spanned<BTreeMap<Spanned<String>, RawPhrases>>>,
}

fn yes() -> bool {
    true
}

/// A value in TOML. A number is read again from the text, since TOML libraries make it a float.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "numbers are read from their place in the text")]
pub(super) enum Literal {
    Bool(bool),
    Number(f64),
    Text(String),
}
