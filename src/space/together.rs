//! Which facts go together once the numbers of a component have values.

use rustc_hash::FxHashMap;

use super::SpaceFault;
use super::compile::Compiler;
use super::factors::Factors;
use crate::diagram::{Diagram, NodeId};
use crate::term::{ConstId, Sort, TermId, Terms, Value};

/// Which facts go together, in a diagram of its own.
pub struct Together {
    /// The diagram.
    pub diagram: Diagram,
    /// Where the facts go together.
    pub root: NodeId,
    /// The space's level of each level here.
    pub levels: Vec<u16>,
}

impl Together {
    /// Where facts, with their levels in a space, satisfy clauses for some values of what is
    /// hidden, once all numbers are given.
    ///
    /// # Errors
    /// The diagram does not fit.
    pub fn new(
        terms: &Terms,
        clauses: &[TermId],
        facts: &[(ConstId, u16)],
        hidden: &[ConstId],
        given: FxHashMap<ConstId, Value>,
    ) -> Result<Self, SpaceFault> {
        let facts_of: FxHashMap<ConstId, u16> = facts.iter().copied().collect();
        let mut ids: Vec<ConstId> = hidden.iter().chain(facts_of.keys()).copied().collect();
        ids.sort_unstable();
        let mut arity = Vec::with_capacity(ids.len());
        for id in &ids {
            arity.push(match terms.constant(*id).sort {
                Sort::Enum(sort) => u8::try_from(terms.enumeration(sort).constructors.len())
                    .map_err(|_| SpaceFault::TooMany("values of one enumeration"))?,
                _ => 2,
            });
        }
        let mut diagram = Diagram::new(arity, MEBIBYTES);
        let mut compiler = Compiler {
            terms,
            linked: &[],
            given,
            level_of: (0_u16..).zip(&ids).map(|(level, id)| (*id, level)).collect(),
            level_of_constraint: FxHashMap::default(),
            diagram: &mut diagram,
            conditions: FxHashMap::default(),
            choices: FxHashMap::default(),
            numbers: FxHashMap::default(),
        };
        let conditions = compiler.rules(clauses)?;
        let mut factors = Factors { diagram: &mut diagram, factors: conditions, kept: Vec::new() };
        let removed = (0_u16..).zip(&ids).filter(|(_, id)| !facts_of.contains_key(id));
        factors.diagram.pause_early();
        factors.eliminate(&removed.map(|(level, _)| level).collect::<Vec<_>>())?;
        let root = factors.conjoin()?;
        let levels = ids.iter().map(|id| facts_of.get(id).copied().unwrap_or(u16::MAX)).collect();
        Ok(Self { diagram, root, levels })
    }
}

/// Memory of a diagram for one question.
const MEBIBYTES: usize = 64;
