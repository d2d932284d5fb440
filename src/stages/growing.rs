//! The tree of a determination and its figures.

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use super::{Failure, News, Prepared, Run};
use crate::classes::{DiagramClasses, Lemmas, Stop};
use crate::count::{self, Below};
use crate::diag::Diagnostic;
use crate::digest::Digest;
use crate::outline::{Outline, PortableOutline};
use crate::reference::{Mirror, SolverClasses};
use crate::space::{Space, SpaceFault};
use crate::theory::{Layout, Theory};
use crate::tree::{Estimate, Node, Variables, grow};

/// Figures of a tree (CONTRACTS.md section 7); counts are decimal strings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Figures {
    /// Clauses of the slice.
    pub clauses: usize,
    /// Facts of the slice.
    pub facts: usize,
    /// Questions on the longest path.
    pub depth: usize,
    /// Definite leaves.
    pub paths_definite: String,
    /// By verdict value.
    pub by_value: Vec<String>,
    /// Inner nodes but the root.
    pub paths_nei: String,
    /// Of them, those from which two definite verdicts can be reached.
    pub cut: String,
    /// Silent leaves.
    pub silent: String,
    /// Distinct sets of variables within kind and answer.
    pub signatures: String,
    /// Nodes of the shared tree.
    pub states: usize,
    /// How it was grown.
    pub engine: String,
}

/// A grown tree with its counts.
pub struct Grown {
    /// The tree by name.
    pub outline: Outline,
    /// Counts per node.
    pub counts: Vec<Below>,
    /// Figures.
    pub figures: Figures,
    /// Digest of the stored form.
    pub digest: Digest,
}

impl Run<'_> {
    /// The tree.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn tree(&self, prepared: &Prepared) -> Result<Grown, Failure> {
        let fields = self.tree_key(prepared);
        let policy = &prepared.inquiry.policy;
        let ((stored, mut figures), digest) =
            self.stage::<(PortableOutline, Figures)>("tree", prepared, &fields, || {
                let outline = self.grow(prepared)?;
                let counts = count::count(&outline.tree);
                let figures = figures(&outline, &counts);
                Ok((outline.portable(policy), figures))
            })?;
        // Equal meanings may be written with more or fewer clauses.
        figures.clauses = prepared.slice.kept.len();
        figures.facts = prepared.slice.askable.len();
        let outline = Outline::resolve(&stored, policy)
            .ok_or_else(|| Failure::Bug("a stored tree does not fit its policy".to_owned()))?;
        let counts = count::count(&outline.tree);
        Ok(Grown { outline, counts, figures, digest })
    }

    fn grow(&self, prepared: &Prepared) -> Result<Outline, Failure> {
        let mut space = match Space::build(&prepared.inquiry, &prepared.slice, self.diagram_mib) {
            Ok(space) => space,
            Err(SpaceFault::Sort(fault)) => return Err(Failure::Bug(fault.to_string())),
            Err(fault) => return self.ask_at_every_node(prepared, &fault.to_string()),
        };
        let arity: Vec<u8> =
            (0_u16..).take(space.levels.len()).map(|level| space.diagram.arity(level)).collect();
        let layout = Layout::new(&arity);
        let terms = space.terms.clone();
        let theory = Theory::new(&terms, &space, layout.clone(), self.limits());
        let variables = Variables::new(&space);
        let silent = space.silent();
        let tree = DiagramClasses::new(&mut space, theory, layout, Lemmas::Pairs).and_then(
            |mut classes| grow(&mut classes, &variables, silent, Estimate::Mean, self.interrupted),
        );
        match tree {
            Ok(tree) => Ok(Outline::new(&space, tree, "diagram")),
            Err(Stop::Full(full)) => self.ask_at_every_node(prepared, &full.to_string()),
            Err(Stop::Interrupted) => Err(Failure::Interrupted),
            Err(stop) => Err(too_hard(prepared, &stop)),
        }
    }

    /// The same tree without a diagram: slower, and as exact.
    fn ask_at_every_node(&self, prepared: &Prepared, reason: &str) -> Result<Outline, Failure> {
        let bug = |fault: &dyn std::fmt::Display| Failure::Bug(fault.to_string());
        let space = match Space::lay_out(&prepared.inquiry, &prepared.slice) {
            Ok(space) => space,
            Err(SpaceFault::Sort(fault)) => return Err(bug(&fault)),
            Err(fault) => return Err(too_hard(prepared, &fault)),
        };
        let note = format!("{reason}: asking the solver at every node instead, which is slower");
        (self.watch)(prepared.id(), "tree", News::Note(&note));
        let mirror = Mirror::new(&space).map_err(|fault| bug(&fault))?;
        let mut classes = SolverClasses::new(&mirror, &self.limits());
        let variables = Variables::new(&space);
        let silent = space.silent();
        match grow(&mut classes, &variables, silent, Estimate::Mean, self.interrupted) {
            Ok(tree) => Ok(Outline::new(&space, tree, "solver")),
            Err(Stop::Interrupted) => Err(Failure::Interrupted),
            Err(stop) => Err(too_hard(prepared, &stop)),
        }
    }
}

fn too_hard(prepared: &Prepared, reason: &dyn std::fmt::Display) -> Failure {
    Failure::Faults(vec![
        Diagnostic::error("too-hard", format!("`{}`: {reason}", prepared.id())).hint(
            "raise `diagram_mib` or `rlimit` under `[limits]`, or make a derived condition \
             `opaque`",
        ),
    ])
}

fn figures(outline: &Outline, counts: &[Below]) -> Figures {
    let zero = Below::default();
    let root = counts.get(outline.tree.root as usize).unwrap_or(&zero);
    let less_root = |count: &BigUint| {
        let asks = matches!(outline.node(outline.tree.root), Node::Ask { .. });
        if asks { (count - 1_u8).to_string() } else { count.to_string() }
    };
    let two = root.classes() >= 2;
    Figures {
        clauses: 0,
        facts: 0,
        depth: root.depth,
        paths_definite: root.leaves().to_string(),
        by_value: root.definite.iter().map(BigUint::to_string).collect(),
        paths_nei: less_root(&root.inner),
        cut: if two { less_root(&root.cut) } else { root.cut.to_string() },
        silent: root.silent.to_string(),
        signatures: count::signatures(&outline.tree).to_string(),
        states: outline.tree.nodes.len(),
        engine: outline.engine.clone(),
    }
}
