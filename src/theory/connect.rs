//! Which levels hang together.

#![expect(clippy::indexing_slicing, reason = "levels index the space")]

use rustc_hash::{FxHashMap, FxHashSet};

use super::spread::Freedom;
use super::{Component, Member};
use crate::space::Space;
use crate::term::{ConstId, TermId};

/// The levels that constraints and background connect.
pub(super) fn connect<'s>(space: &Space) -> Vec<Component<'s>> {
    let mut groups: Vec<FxHashSet<ConstId>> = Vec::new();
    let mut join = |ids: &[ConstId]| {
        let mut together: FxHashSet<ConstId> = ids.iter().copied().collect();
        groups.retain(|group| {
            let apart = group.is_disjoint(&together);
            if !apart {
                together.extend(group);
            }
            apart
        });
        groups.push(together);
    };
    for term in &space.background {
        join(&space.terms.constants_in(*term));
    }
    let compared = space.constraints.iter().chain(&space.unsettled);
    let mut members: Vec<(u16, ConstId, Member)> = Vec::new();
    for level in compared {
        let term = space.constraint_terms[*level as usize];
        if let (Some(constraint), Some(term)) = (space.constraint(*level), term) {
            join(constraint.constants());
            let member = Member::Constraint(constraint.clone(), term);
            members.extend(constraint.constants().first().map(|id| (*level, *id, member)));
        }
    }
    members.extend(space.facts.iter().map(|(id, level)| (*level, *id, Member::Fact(*id))));
    members.sort_by_key(|(level, _, _)| *level);
    let mut components: Vec<(FxHashSet<ConstId>, Component<'s>)> = Vec::new();
    for (level, id, member) in members {
        let at = match components.iter().position(|(group, _)| group.contains(&id)) {
            Some(at) => at,
            None => match groups.iter().position(|group| group.contains(&id)) {
                Some(group) => {
                    components.push((groups.swap_remove(group), Component::empty()));
                    components.len() - 1
                }
                None => continue,
            },
        };
        let component = &mut components[at].1;
        component.levels.push(level);
        match &member {
            Member::Fact(_) => component.tied = true,
            Member::Constraint(constraint, _) => {
                component.numbers.extend(constraint.constants().iter().copied());
            }
        }
        component.members.push((level, member));
    }
    for (group, component) in &mut components {
        let facts: FxHashSet<ConstId> = component.facts().into_iter().map(|(id, _)| id).collect();
        component.numbers.sort_unstable();
        component.numbers.dedup();
        let own =
            |term: &&TermId| space.terms.constants_in(**term).iter().any(|id| group.contains(id));
        let other = |id: &&ConstId| !facts.contains(*id) && !component.numbers.contains(*id);
        component.others = group.iter().filter(other).copied().collect();
        component.others.sort_unstable();
        component.background = space.background.iter().filter(own).copied().collect();
        component.freedom = Freedom::new(&space.terms, &component.background, &component.members);
    }
    components.into_iter().map(|(_, component)| component).collect()
}

impl Component<'_> {
    fn empty() -> Self {
        Self {
            levels: Vec::new(),
            tied: false,
            background: Vec::new(),
            members: Vec::new(),
            numbers: Vec::new(),
            others: Vec::new(),
            models: Vec::new(),
            freedom: Freedom::default(),
            session: None,
            literals: FxHashMap::default(),
            points: Vec::new(),
            known: FxHashMap::default(),
        }
    }
}
