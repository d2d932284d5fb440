//! The rest of what an entry records, once its claim is certified: sections, supports, and for NEI
//! the facts that are missing.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::certify::Certified;
use crate::citations::{Judge, Reach, Supports, Switched};
use crate::docket::Scenario;
use crate::draw::{Candidate, Kind, Nei};
use crate::outline::Outline;
use crate::policy::{Facts, Inquiry, Section};
use crate::sample::Halt;
use crate::settled::Settled;
use crate::term::ConstId;
use crate::tree::Node;

/// What settling reads.
pub struct Setting<'s> {
    /// The joined policy.
    pub inquiry: &'s Inquiry,
    /// Through which sections facts reach the verdict.
    pub reach: &'s Reach,
    /// The slice with a switch per section.
    pub switched: &'s Switched,
    /// The tree.
    pub outline: &'s Outline,
    /// Set by Ctrl-C.
    pub interrupted: &'s AtomicBool,
}

/// Supports listed per entry, at most.
const MOST_SUPPORTS: usize = 4;
/// Sets of missing facts listed per entry, at most.
const MOST_MISSING: usize = 3;

/// Completes certified claims, in order.
///
/// # Errors
/// Interrupted.
pub fn settle(
    setting: &Setting<'_>,
    entries: Vec<(Candidate, Certified)>,
) -> Result<Vec<Settled>, Halt> {
    let threads = rayon::current_num_threads().max(1);
    let chunk = entries.len().div_ceil(threads).max(1);
    let parts: Vec<Option<Vec<Settled>>> = entries
        .par_chunks(chunk)
        .map(|part| {
            let mut judge = setting.switched.judge();
            let mut settled = Vec::with_capacity(part.len());
            for (candidate, certified) in part {
                if setting.interrupted.load(Ordering::Relaxed) {
                    return None;
                }
                settled.push(complete(setting, &mut judge, candidate, certified));
            }
            Some(settled)
        })
        .collect();
    let mut all = Vec::with_capacity(entries.len());
    for part in parts {
        all.extend(part.ok_or(Halt::Interrupted)?);
    }
    Ok(all)
}

fn complete(
    setting: &Setting<'_>,
    judge: &mut Judge<'_>,
    candidate: &Candidate,
    certified: &Certified,
) -> Settled {
    let policy = &setting.inquiry.policy;
    let name = |id: ConstId| policy.terms.constant(id).name.clone();
    let stated = certified.facts.iter().map(|(id, _)| id);
    let sections = setting.reach.sections(stated);
    let (supports, supports_complete) = supports(setting, judge, certified, &sections);
    let spell = |sections: &[Section]| -> Vec<String> {
        sections.iter().map(|section| policy.spell_section(section)).collect()
    };
    let mut ordered: Vec<Section> = sections.into_iter().collect();
    ordered.sort_by_key(|section| policy.section_rank(section));
    let named = |scenario: &Scenario| -> Vec<(String, String)> {
        scenario.iter().map(|(id, value)| (name(*id), policy.terms.spell(value))).collect()
    };
    let nei = matches!(certified.kind, Kind::Nei(_));
    Settled {
        kind: certified.kind,
        facts: named(&certified.facts.iter().map(|(id, v)| (id, v.clone())).collect()),
        implied: certified.implied.iter().map(|id| name(*id)).collect(),
        witnesses: certified.possible.iter().map(|(at, s)| (*at, named(s))).collect(),
        needed: certified.needed,
        sections: spell(&ordered),
        supports: supports.iter().map(|set| spell(set)).collect(),
        supports_complete,
        missing: if nei { missing(setting, candidate) } else { Vec::new() },
        depth: candidate.depth,
        cut: candidate.cut,
        signature: candidate.signature.hex().get(..16).unwrap_or("").to_owned(),
    }
}

/// For a definite entry the minimal sets; for NEI the first set of each possible value's witness.
fn supports(
    setting: &Setting<'_>,
    judge: &mut Judge<'_>,
    certified: &Certified,
    preferred: &BTreeSet<Section>,
) -> (Vec<Vec<Section>>, bool) {
    if let Kind::Definite(value) = certified.kind {
        let found = judge.supports(&certified.facts, value, preferred, MOST_SUPPORTS);
        let Supports { sets, complete } = found.unwrap_or_default();
        return (sets, complete);
    }
    if certified.kind == Kind::Nei(Nei::Silent) {
        return (Vec::new(), false);
    }
    let mut all = Vec::new();
    let mut complete = true;
    for (value, scenario) in &certified.possible {
        let asked = scenario.iter().filter(|(id, _)| setting.inquiry.askable.contains(id));
        let facts = Facts::new(asked.cloned());
        let found = judge.supports(&facts, *value, preferred, 1).unwrap_or_default();
        complete &= !found.sets.is_empty();
        all.push(found.sets.into_iter().next().unwrap_or_default());
    }
    (all, complete)
}

/// The smallest sets of further facts that lead to a definite leaf.
fn missing(setting: &Setting<'_>, candidate: &Candidate) -> Vec<Vec<String>> {
    let policy = &setting.inquiry.policy;
    let name = |id: &ConstId| policy.terms.constant(*id).name.clone();
    if !candidate.withheld.is_empty() {
        return vec![candidate.withheld.iter().map(name).collect()];
    }
    let stated = candidate.variables();
    let mut found: BTreeSet<Vec<ConstId>> = BTreeSet::new();
    let mut least = usize::MAX;
    let mut queue: VecDeque<(u32, Vec<ConstId>)> = VecDeque::from([(candidate.end, Vec::new())]);
    let mut seen: BTreeSet<(u32, Vec<ConstId>)> = BTreeSet::new();
    let mut looked = 0;
    while let Some((node, asked)) = queue.pop_front() {
        looked += 1;
        if asked.len() > least || looked > 20_000 {
            break;
        }
        match setting.outline.node(node) {
            Node::Leaf(class) if *class == setting.outline.tree.silent => {}
            Node::Leaf(_) => {
                least = least.min(asked.len());
                if asked.len() == least {
                    found.insert(asked);
                }
            }
            Node::Ask { variables, branches } => {
                let mut more = asked;
                more.extend(variables.iter().filter(|id| !stated.contains(id)));
                more.sort_unstable();
                more.dedup();
                for (_, below) in branches {
                    if seen.insert((*below, more.clone())) {
                        queue.push_back((*below, more.clone()));
                    }
                }
            }
        }
    }
    let smallest = found.iter().filter(|set| set.len() == least);
    smallest.take(MOST_MISSING).map(|set| set.iter().map(name).collect()).collect()
}
