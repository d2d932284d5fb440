//! What a proof may assume, and why it may fail to settle a candidate.

use crate::term::{ConstId, Number, Value};

/// Something one may ask a solver to assume.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Claim {
    /// `constant = value`.
    Fact(ConstId, Value),
    /// The verdict has value `i`.
    Verdict(usize),
    /// The verdict has another value than `i`.
    NotVerdict(usize),
    /// A level that is a constraint has this sign.
    Sign(u16, u8),
    /// `constant <= bound` (true) or `>=`.
    Bounded(ConstId, Number, bool),
}

/// Why a candidate is no entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Drop {
    /// The solver did not answer within its limit.
    Unknown,
    /// The facts contradict the policy.
    Inconsistent,
    /// The facts do not force the claimed answer.
    Unentailed,
    /// Every choice of numbers decides the verdict.
    DecidedByNumbers,
    /// Two values are possible only with numbers outside their plausible bounds.
    Implausible,
    /// What a reader takes for granted decides the verdict.
    Presumed,
    /// The text does not read back to the same facts.
    Text,
    /// No claim after all: the fact a hole leaves out is not needed, or what is left can only be
    /// decided one way. Not counted among the drops.
    NoClaim,
}

impl Drop {
    /// As the build summary spells it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Inconsistent => "inconsistent",
            Self::Unentailed => "unentailed",
            Self::DecidedByNumbers => "decided_by_numbers",
            Self::Implausible => "implausible",
            Self::Presumed => "presumed",
            Self::Text => "text",
            Self::NoClaim => "no_claim",
        }
    }

    /// All reasons in the order of the summary.
    pub const ALL: [Self; 7] = [
        Self::Unknown,
        Self::Inconsistent,
        Self::Unentailed,
        Self::DecidedByNumbers,
        Self::Implausible,
        Self::Presumed,
        Self::Text,
    ];
}
