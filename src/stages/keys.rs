//! The keys of the stages: everything that a stage's result depends on, and nothing else.

use super::parts::Parts;
use super::{Prepared, Run};
use crate::digest::{Digest, Fields};
use crate::manifest::Sampling;
use crate::slice;
use crate::solver;

/// Versions of the stages. A change of what a stage writes needs a new number here; a golden test
/// holds the outputs on fixture policies.
pub const VERSIONS: [(&str, u32); 4] =
    [("consistency", 2), ("tree", 2), ("certify", 4), ("render", 2)];

impl Run<'_> {
    fn fields(&self, stage: &str, solver: bool) -> Fields {
        let version = VERSIONS.iter().find(|(name, _)| *name == stage).map_or(0, |(_, v)| *v);
        let fields = Fields::new().with("stage version", version);
        if solver {
            fields.with("solver", solver::version()).with("rlimit", self.rlimit)
        } else {
            fields
        }
    }

    /// Without slicing the same meaning goes another way to the same result, and is kept apart.
    fn slicing(&self) -> &'static str {
        if self.no_slice { "off" } else { "exact" }
    }

    pub(super) fn consistency_key(&self, prepared: &Prepared) -> Fields {
        let inquiry = &prepared.inquiry;
        let asked = inquiry.askable.iter().map(|id| &*inquiry.policy.terms.constant(*id).name);
        self.fields("consistency", true)
            .with("policy", self.whole(prepared))
            .with("customs", self.keep(&Parts::customs(prepared, |_| true)))
            .with("asked", asked.collect::<Vec<_>>().join(" "))
    }

    /// Every clause of the joined policy.
    fn whole(&self, prepared: &Prepared) -> Digest {
        let whole = slice::whole(&prepared.inquiry);
        self.keep(&Parts::clauses(prepared, &whole))
    }

    /// The slice, by name and part; rows carry [`Prepared::meaning`], which says no more.
    fn slice(&self, prepared: &Prepared) -> Digest {
        self.keep(&Parts::meaning(prepared, &prepared.slice))
    }

    pub(super) fn tree_key(&self, prepared: &Prepared) -> Fields {
        self.fields("tree", true)
            .with("meaning", self.slice(prepared))
            .with("slicing", self.slicing())
            .with("diagram_mib", self.diagram_mib)
            .with("estimate", "mean")
    }

    pub(super) fn certify_key(&self, prepared: &Prepared, tree: Digest) -> Fields {
        let inside = prepared.in_slice();
        let customs = Parts::customs(prepared, |id| inside.contains(&id));
        let id = prepared.id();
        self.fields("certify", true)
            .with("determination", id)
            .with("meaning", self.slice(prepared))
            .with("slicing", self.slicing())
            .with("tree", tree)
            .with("customs", self.keep(&customs))
            .with("sections", self.keep(&Parts::sections(prepared)))
            .with("controls", controls(&prepared.sampling))
            .with("seed", Digest::of(&self.key))
    }

    pub(super) fn render_key(
        &self,
        prepared: &Prepared,
        certificates: Digest,
        base: Digest,
    ) -> Fields {
        let wording = &prepared.wording;
        self.fields("render", false)
            .with("determination", prepared.id())
            .with("certificates", certificates)
            .with("meaning", prepared.meaning)
            .with("policy", self.whole(prepared))
            .with("scenario", base)
            .with("words", self.keep(&Parts::words(prepared)))
            .with("question", &wording.question)
            .with("answers", format!("{:?}", wording.answers))
            .with("canary", &wording.canary)
    }
}

fn controls(sampling: &Sampling) -> String {
    format!(
        "definite {} nei {} per_signature {} facts {:?} needed {:?} cut {:?} kinds {:?} \
         representatives {:?} certify {:?} list_cap {} distractors {} state_linked {}",
        sampling.definite,
        sampling.nei,
        sampling.per_signature,
        sampling.facts,
        sampling.needed,
        sampling.cut,
        sampling.kinds,
        sampling.representatives,
        sampling.certify,
        sampling.list_cap,
        sampling.distractors,
        sampling.state_linked,
    )
}
