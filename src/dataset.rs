//! The row of an entry, its id, and the files beside the rows.

use serde::{Deserialize, Serialize};

use crate::digest::{Encoder, base32};

/// Version of the row's layout; part of every id.
pub const SCHEMA: u32 = 1;

/// One stated fact of a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowFact {
    /// Name of the variable, qualified where it is another policy's.
    pub variable: String,
    /// Its value in SMT-LIB spelling without sort.
    pub value: String,
    /// The fact follows from the numbers stated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub implied_by_numbers: bool,
}

/// What the solver answered, and the witnesses by digest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowCertificate {
    /// `["sat", "unsat"]` for a definite entry, `["sat", "sat"]` or more for NEI.
    pub queries: Vec<String>,
    /// Digests of the scenarios, by possible value.
    pub witnesses: Vec<String>,
}

/// How hard an entry is by its structure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difficulty {
    /// Sections of the first support.
    pub core: usize,
    /// Sections through which the stated facts reach the verdict.
    pub sections: usize,
    /// Policies among them.
    pub policies: usize,
    /// Numbers stated.
    pub numbers: usize,
    /// Distractors added.
    pub distractors: usize,
}

/// One row: one JSON object a line (CONTRACTS.md section 4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// 26 letters of base 32.
    pub id: String,
    /// [`SCHEMA`].
    pub schema: u32,
    /// Policy of the determination.
    pub policy: String,
    /// The determination.
    pub determination: String,
    /// `definite` or `nei`.
    pub kind: String,
    /// `cut`, `hole`, `mixed`, `silent`, or empty.
    pub nei_kind: String,
    /// Shared by the members of a pair or triple, or empty.
    pub group: String,
    /// Name of the verdict.
    pub verdict: String,
    /// Facts in path order.
    pub facts: Vec<RowFact>,
    /// Facts as sentences, in the order a reader sees them.
    pub facts_text: Vec<String>,
    /// The question.
    pub question: String,
    /// Allowed answers, "not enough information" last.
    pub choices: Vec<String>,
    /// The right one.
    pub answer: String,
    /// Its verdict value; empty for NEI.
    pub answer_value: String,
    /// Possible verdict values.
    pub possible_values: Vec<String>,
    /// Sections through which the stated facts reach the verdict.
    pub sections: Vec<String>,
    /// Minimal sets of sections that force the answer, the canonical one first; for NEI one set per
    /// possible value, for its witness.
    pub supports: Vec<Vec<String>>,
    /// There are no further sets.
    pub supports_complete: bool,
    /// For NEI: sections in the support of one value and not of all.
    pub open_sections: Vec<String>,
    /// Digest of the set of variables stated, within (kind, answer).
    pub signature: String,
    /// Facts stated.
    pub fact_count: usize,
    /// Size of the first minimal set of facts that forces the answer; 0 for NEI.
    pub needed_facts: usize,
    /// Questions from the root.
    pub tree_depth: usize,
    /// For NEI, the fewest facts that decide.
    pub cut_depth: usize,
    /// Fewest facts withheld.
    pub withheld_min: usize,
    /// Most facts withheld; `-1` where some completion never decides.
    pub withheld_max: i64,
    /// Smallest sets of missing facts that could decide.
    pub missing: Vec<Vec<String>>,
    /// Structural difficulty.
    pub difficulty: Difficulty,
    /// What was proved.
    pub certificate: RowCertificate,
    /// Digest of the slice's meaning.
    pub meaning: String,
    /// A mark that tells training sets to leave this row out.
    pub canary: String,
}

/// What an id is made of: never the answer, a text, an order, sections or versions.
#[derive(Debug)]
pub struct Identity<'a> {
    /// The determination.
    pub determination: &'a str,
    /// `definite` or `nei`.
    pub kind: &'a str,
    /// Kind of NEI or empty.
    pub nei_kind: &'a str,
    /// Facts in any order.
    pub facts: &'a [RowFact],
    /// Distractors were added.
    pub distractors: bool,
    /// Secret salt, if any.
    pub salt: Option<&'a [u8; 32]>,
}

impl Identity<'_> {
    /// The id.
    #[must_use]
    pub fn id(&self) -> String {
        let mut facts: Vec<(&str, &str)> =
            self.facts.iter().map(|f| (f.variable.as_str(), f.value.as_str())).collect();
        facts.sort_unstable();
        let mut encoder = Encoder::new();
        encoder.number(u64::from(SCHEMA)).text(self.determination).text(self.kind);
        encoder.text(self.nei_kind).number(facts.len() as u64);
        for (variable, value) in facts {
            encoder.text(variable).text(value);
        }
        encoder.number(u64::from(self.distractors));
        if let Some(salt) = self.salt {
            encoder.bytes(salt);
        }
        base32(encoder.finish().bytes(), 26)
    }
}

/// The canary of a project's rows.
#[must_use]
pub fn canary(project: &str, version: &str) -> String {
    let digest = Encoder::new().text("deogen canary").text(project).text(version).finish();
    format!("deogen-canary-{}", base32(digest.bytes(), 26))
}

/// Rows as JSON lines.
#[must_use]
pub fn lines(rows: &[Row]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for row in rows {
        bytes.extend(serde_json::to_vec(row).unwrap_or_default());
        bytes.push(b'\n');
    }
    bytes
}

/// A full scenario stored once beside the rows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Witness {
    /// Digest of the values.
    pub id: String,
    /// The determination it was made for.
    pub determination: String,
    /// Value of every constant, by name.
    pub values: Vec<(String, String)>,
}

impl Witness {
    /// A scenario named by its content.
    #[must_use]
    pub fn new(determination: &str, mut values: Vec<(String, String)>) -> Self {
        values.sort_unstable();
        let mut encoder = Encoder::new();
        for (name, value) in &values {
            encoder.text(name).text(value);
        }
        let id = base32(encoder.finish().bytes(), 26);
        Self { id, determination: determination.to_owned(), values }
    }
}

/// What every reader of the entries is told first.
pub const PROMPT: &str = include_str!("prompt.txt");
