//! The first paths by rank, kept while paths are offered one by one: memory follows what is wanted,
//! not what is offered.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::{Ranked, Wanted};
use crate::digest::Digest;

/// The first paths by rank, no more than wanted of one signature.
pub(super) struct Ranking {
    most: usize,
    per_signature: usize,
    all: BTreeMap<Digest, Ranked>,
    /// The first of each signature, where their number is limited.
    of_signature: FxHashMap<Digest, BTreeMap<Digest, Ranked>>,
}

impl Ranking {
    pub(super) fn new(wanted: &Wanted) -> Self {
        Self {
            most: wanted.most,
            per_signature: wanted.per_signature,
            all: BTreeMap::new(),
            of_signature: FxHashMap::default(),
        }
    }

    /// Keeps a path if it is among the first.
    pub(super) fn offer(&mut self, rank: Digest, signature: Digest, path: impl FnOnce() -> Ranked) {
        let (list, most) = match self.per_signature {
            0 => (&mut self.all, self.most),
            limit => (self.of_signature.entry(signature).or_default(), limit),
        };
        let full = list.len() >= most;
        if full && list.last_key_value().is_none_or(|(last, _)| rank >= *last) {
            return;
        }
        if list.insert(rank, path()).is_none() && full {
            list.pop_last();
        }
    }

    /// The paths kept, by rank.
    pub(super) fn first(mut self) -> Vec<Ranked> {
        // In which order signatures come makes no difference: paths are sorted by rank.
        let mut lists: Vec<_> = self.of_signature.into_values().collect();
        for list in &mut lists {
            self.all.append(list);
        }
        self.all.into_values().take(self.most).collect()
    }
}
