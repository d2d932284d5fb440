//! What is stored of a certified candidate: names and values only, so that it means the same in
//! every run and can be worded again without a solver.

use serde::{Deserialize, Serialize};

use crate::draw::{Kind, Nei};
use crate::policy::Policy;
use crate::term::{ConstId, Value};

/// A certified candidate with everything but words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settled {
    /// What is proved.
    #[serde(with = "kind_text")]
    pub kind: Kind,
    /// Facts in path order, as names and spelled values.
    pub facts: Vec<(String, String)>,
    /// Facts that follow from the numbers stated.
    pub implied: Vec<String>,
    /// Possible values, each with its scenario.
    pub witnesses: Vec<(usize, Vec<(String, String)>)>,
    /// Size of the first minimal set of facts that forces the answer.
    pub needed: usize,
    /// Sections through which the facts reach the verdict.
    pub sections: Vec<String>,
    /// Minimal sets of sections.
    pub supports: Vec<Vec<String>>,
    /// There are no others.
    pub supports_complete: bool,
    /// Smallest sets of missing facts that could decide, as names of constants.
    pub missing: Vec<Vec<String>>,
    /// Questions from the root.
    pub depth: usize,
    /// Fewest and most facts withheld.
    pub cut: (usize, Option<usize>),
    /// Digest of the variables stated.
    pub signature: String,
}

impl Settled {
    /// The facts as the policy's constants and values; none where a name is not of this policy.
    #[must_use]
    pub fn facts(&self, policy: &Policy) -> Option<Vec<(ConstId, Value)>> {
        let read = |(name, value): &(String, String)| {
            let id = policy.constant(name)?;
            Some((id, policy.terms.read(value, policy.terms.constant(id).sort)?))
        };
        self.facts.iter().map(read).collect()
    }
}

mod kind_text {
    use super::{Kind, Nei};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
        match kind {
            Kind::Definite(value) => serializer.serialize_str(&format!("definite {value}")),
            Kind::Nei(nei) => serializer.serialize_str(nei.name()),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Kind, D::Error> {
        let text = String::deserialize(d)?;
        let nei = [Nei::Cut, Nei::Hole, Nei::Mixed, Nei::Silent];
        if let Some(nei) = nei.into_iter().find(|nei| nei.name() == text) {
            return Ok(Kind::Nei(nei));
        }
        let value = text.strip_prefix("definite ").and_then(|value| value.parse().ok());
        value.map(Kind::Definite).ok_or_else(|| D::Error::custom("unknown kind of entry"))
    }
}
