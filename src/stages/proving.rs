//! Candidates drawn and certified.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Failure, Grown, News, Prepared, Run, size};
use crate::citations::{Reach, Switched};
use crate::claim::Drop;
use crate::digest::Digest;
use crate::docket::{Docket, Scenario};
use crate::draw::{self, Depth, Drawn, Nei, Wanted};
use crate::manifest::{Cut, NeiKind};
use crate::outline::Outline;
use crate::sample::{Filled, Quota, fill};
use crate::settled::Settled;

/// What the certify stage stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificates {
    /// Definite, then NEI, in order of acceptance.
    pub entries: Vec<Settled>,
    /// Candidates dropped, by reason.
    pub dropped: BTreeMap<String, u64>,
}

impl Run<'_> {
    /// Draws candidates and certifies as many as are wanted.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn certify(
        &self,
        prepared: &Prepared,
        grown: &Grown,
        base: &Scenario,
    ) -> Result<(Certificates, Digest), Failure> {
        let fields = self.certify_key(prepared, grown.digest);
        self.stage("certify", prepared, &fields, || {
            let docket = self.docket(prepared, &grown.outline, base)?;
            self.certified(prepared, grown, &docket)
        })
    }

    /// What proofs and evaluations of a determination read.
    pub(super) fn docket(
        &self,
        prepared: &Prepared,
        outline: &Outline,
        base: &Scenario,
    ) -> Result<Docket, Failure> {
        let (inquiry, slice) = (&prepared.inquiry, &prepared.slice);
        Docket::new(inquiry, slice, outline, base.clone(), prepared.customs(), self.limits())
            .map_err(|fault| Failure::Bug(fault.to_string()))
    }

    fn certified(
        &self,
        prepared: &Prepared,
        grown: &Grown,
        docket: &Docket,
    ) -> Result<Certificates, Failure> {
        let sampling = &prepared.sampling;
        let drawn = self.drawn(prepared, grown);
        let id = prepared.id();
        let wanted = size(sampling.definite.saturating_add(sampling.nei));
        let tell = |done: usize| (self.watch)(id, "certify", News::Progress(done, wanted));
        let needed = (size(sampling.needed.min), size(sampling.needed.max));
        let quota = |entries: u64| Quota { entries: size(entries), needed, single: 20, effort: 12 };
        let definite =
            fill(docket, &drawn.definite, quota(sampling.definite), self.interrupted, &tell)?;
        let before = definite.entries.len();
        let nei = fill(docket, &drawn.nei, quota(sampling.nei), self.interrupted, &|done| {
            tell(before + done);
        })?;
        let mut certificates = Certificates::default();
        for drop in Drop::ALL {
            let count = |filled: &Filled| filled.dropped.get(&drop).copied().unwrap_or(0);
            let sum = count(&definite) + count(&nei);
            certificates.dropped.insert(drop.name().to_owned(), sum);
        }
        let reach = Reach::new(&prepared.inquiry, &prepared.slice);
        let switched = Switched::new(&prepared.inquiry, &prepared.slice, self.limits())
            .map_err(|fault| Failure::Bug(fault.to_string()))?;
        let mut entries = definite.entries;
        entries.extend(nei.entries);
        certificates.entries = crate::settle::settle(
            &crate::settle::Setting {
                inquiry: &prepared.inquiry,
                reach: &reach,
                switched: &switched,
                outline: &grown.outline,
                interrupted: self.interrupted,
            },
            entries,
        )?;
        // Of a scenario, what the slice is about: the rest is added when rows are written, so that
        // an edit outside the slice asks the solver nothing.
        let policy = &prepared.inquiry.policy;
        let inside = prepared.in_slice();
        for (_, scenario) in certificates.entries.iter_mut().flat_map(|e| &mut e.witnesses) {
            scenario.retain(|(name, _)| policy.constant(name).is_some_and(|c| inside.contains(&c)));
        }
        Ok(certificates)
    }

    /// Candidates by rank.
    #[must_use]
    pub fn drawn(&self, prepared: &Prepared, grown: &Grown) -> Drawn {
        let sampling = &prepared.sampling;
        let kinds = sampling.kinds.iter().map(|kind| match kind {
            NeiKind::Cut => Nei::Cut,
            NeiKind::Hole => Nei::Hole,
            NeiKind::Mixed => Nei::Mixed,
            NeiKind::Silent => Nei::Silent,
        });
        let cut = sampling.cut.iter().map(|cut| match cut {
            Cut::One => Depth::One,
            Cut::Half => Depth::Half,
            Cut::Most => Depth::Most,
            Cut::Exactly(facts) => Depth::Exactly(size(*facts)),
        });
        let wanted = Wanted {
            determination: prepared.id().to_owned(),
            key: self.key,
            facts: (size(sampling.facts.min), size(sampling.facts.max)),
            kinds: kinds.collect(),
            cut: cut.collect(),
            list_cap: sampling.list_cap,
            most: size(sampling.definite.max(sampling.nei)).saturating_mul(12).max(200),
            per_signature: size(sampling.per_signature),
        };
        draw::draw(&prepared.inquiry.policy, &grown.outline, &grown.counts, &wanted)
    }
}
