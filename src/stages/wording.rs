//! Certified claims as rows, and their witnesses as scenarios of the whole policy.

use serde::{Deserialize, Serialize};

use super::{Certificates, Failure, Prepared, Run};
use crate::dataset::{Row, Witness};
use crate::digest::Digest;
use crate::docket::{Docket, Scenario};
use crate::eval::Evaluation;
use crate::outline::Outline;
use crate::render;
use crate::settled::Settled;

/// What the render stage stores.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rendered {
    /// Rows, definite then NEI, each by id.
    pub rows: Vec<Row>,
    /// Their scenarios, by id.
    pub witnesses: Vec<Witness>,
    /// Entries that could not be worded.
    pub text_drops: u64,
}

impl Run<'_> {
    /// Rows in words.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn render(
        &self,
        prepared: &Prepared,
        certificates: &Certificates,
        digest: Digest,
        base: (&Scenario, Digest),
    ) -> Result<(Rendered, Digest), Failure> {
        let wording = &prepared.wording;
        let fields = self.render_key(prepared, digest, base.1);
        self.stage("render", prepared, &fields, || {
            let docket = self.docket(prepared, &Outline::empty(), base.0)?;
            let mut rendered = Rendered::default();
            for settled in &certificates.entries {
                let whole = whole(prepared, &docket, settled)?;
                match render::row(&prepared.inquiry, &prepared.vocabulary, wording, &whole) {
                    Some((row, witnesses)) => {
                        rendered.rows.push(row);
                        rendered.witnesses.extend(witnesses);
                    }
                    None => rendered.text_drops += 1,
                }
            }
            rendered.rows.sort_by(|a, b| a.kind.cmp(&b.kind).then_with(|| a.id.cmp(&b.id)));
            if let Some([a, _]) = rendered.rows.array_windows().find(|[a, b]| a.id == b.id) {
                return Err(Failure::Bug(format!("two entries have the id {}", a.id)));
            }
            rendered.witnesses.sort();
            rendered.witnesses.dedup();
            Ok(rendered)
        })
    }
}

/// A settled claim whose scenarios fix every constant of the policy and satisfy every clause of it,
/// with the words of the facts that are missing.
fn whole(prepared: &Prepared, docket: &Docket, settled: &Settled) -> Result<Settled, Failure> {
    let policy = &prepared.inquiry.policy;
    let mut settled = settled.clone();
    for (_, scenario) in &mut settled.witnesses {
        let read = |(name, value): &(String, String)| {
            let id = policy.constant(name)?;
            Some((id, policy.terms.read(value, policy.terms.constant(id).sort)?))
        };
        let mut evaluation =
            Evaluation::new(&docket.terms, scenario.iter().filter_map(read).collect::<Vec<_>>());
        for (id, value) in &docket.base {
            let computed = docket.computed.iter().any(|(known, _)| known == id);
            if evaluation.constant(*id).is_none() && !computed {
                evaluation.define(*id, value.clone());
            }
        }
        for (id, body) in &docket.computed {
            if evaluation.constant(*id).is_none()
                && let Some(value) = evaluation.value(*body)
            {
                evaluation.define(*id, value);
            }
        }
        if let Some(at) = docket.whole.iter().position(|clause| !evaluation.holds(*clause)) {
            let name = policy.clauses.get(at).map_or_else(String::new, |c| c.qualified(policy));
            return Err(Failure::Bug(format!("clause `{name}` does not hold in a witness")));
        }
        let all = policy.terms.constants().filter_map(|(id, constant)| {
            let value = policy.terms.spell(evaluation.constant(id)?);
            Some((constant.name.clone(), value))
        });
        *scenario = all.collect();
    }
    for name in settled.missing.iter_mut().flatten() {
        let words = policy.constant(name).and_then(|id| prepared.vocabulary.words(id));
        if let Some(words) = words {
            name.clone_from(&words.name);
        }
    }
    Ok(settled)
}
