//! A tree in portable form: what the later stages read, and what the store keeps.
//!
//! Levels are described by names and numbers, never by ids of an arena, so an outline means the
//! same in every run. Absent here: solvers, diagrams, and how the tree was grown.

#![expect(clippy::indexing_slicing, reason = "levels and nodes index the outline that holds them")]

use serde::{Deserialize, Serialize};

use crate::diagram::Path;
use crate::linear::{Constraint, Linear};
use crate::policy::Policy;
use crate::space::{Level, Space};
use crate::term::{ConstId, Sort, read_number};
use crate::tree::{Node, Tree};

/// What a decided level says, by name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Portable {
    /// A fact and its values in declaration order.
    Fact {
        /// Name of the constant.
        name: String,
        /// Its values, spelled.
        values: Vec<String>,
    },
    /// `sum of factor * number <= bound`, or `<` where strict.
    Constraint {
        /// Factors and numbers.
        form: Vec<(String, String)>,
        /// The bound.
        bound: String,
        /// `<` instead of `<=`.
        strict: bool,
    },
}

/// A node by name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum PortableNode {
    /// One class is left.
    Leaf(u8),
    /// A question: the variables it states, and for each answer what it decides and the node below.
    Ask(Vec<String>, Vec<(Path, u32)>),
}

/// A number written by others: its name, factors and names, and the offset.
type PortableLink = (String, Vec<(String, String)>, String);

/// The stored form.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PortableOutline {
    levels: Vec<Portable>,
    nodes: Vec<PortableNode>,
    root: u32,
    silent: u8,
    linked: Vec<PortableLink>,
    /// How the tree was grown: `diagram` or `solver`.
    pub engine: String,
}

/// A tree whose levels speak of a policy's constants.
#[derive(Clone, Debug)]
pub struct Outline {
    /// What each level stands for; levels that no node decides may be missing constants.
    pub levels: Vec<Level>,
    /// The tree.
    pub tree: Tree,
    /// Numbers replaced by others through an equation of the policy.
    pub linked: Vec<(ConstId, Linear)>,
    /// How the tree was grown: `diagram` or `solver`.
    pub engine: String,
}

fn form_text(policy: &Policy, form: &Linear) -> Vec<(String, String)> {
    form.constants()
        .map(|id| (form.factor(id).to_string(), policy.terms.constant(id).name.clone()))
        .collect()
}

fn form_read(policy: &Policy, form: &[(String, String)]) -> Option<Linear> {
    let mut sum = Linear::default();
    for (factor, name) in form {
        sum = sum.plus(&read_number(factor)?, &Linear::constant(policy.constant(name)?));
    }
    Some(sum)
}

impl Outline {
    /// No question at all, for proofs that need no tree.
    #[must_use]
    pub fn empty() -> Self {
        let tree = Tree { nodes: vec![Node::Leaf(0)], root: 0, silent: 1 };
        Self { levels: Vec::new(), tree, linked: Vec::new(), engine: String::new() }
    }

    /// The outline of a grown tree. Constant ids of a space are those of its policy.
    #[must_use]
    pub fn new(space: &Space, tree: Tree, engine: &str) -> Self {
        Self {
            levels: space.levels.clone(),
            tree,
            linked: space.linked.clone(),
            engine: engine.to_owned(),
        }
    }

    /// The stored form.
    #[must_use]
    pub fn portable(&self, policy: &Policy) -> PortableOutline {
        let name = |id: ConstId| policy.terms.constant(id).name.clone();
        let levels = self.levels.iter().map(|level| match level {
            Level::Constant(id) => {
                let values = policy.terms.values_of(policy.terms.constant(*id).sort);
                let values = values.unwrap_or_default();
                let values = values.iter().map(|value| policy.terms.spell(value)).collect();
                Portable::Fact { name: name(*id), values }
            }
            Level::Constraint(constraint) => Portable::Constraint {
                form: form_text(policy, constraint.form()),
                bound: constraint.bound().to_string(),
                strict: constraint.strict(),
            },
        });
        let nodes = self.tree.nodes.iter().map(|node| match node {
            Node::Leaf(class) => PortableNode::Leaf(*class),
            Node::Ask { variables, branches } => {
                PortableNode::Ask(variables.iter().map(|id| name(*id)).collect(), branches.clone())
            }
        });
        let linked = self
            .linked
            .iter()
            .map(|(id, form)| (name(*id), form_text(policy, form), form.offset().to_string()));
        PortableOutline {
            levels: levels.collect(),
            nodes: nodes.collect(),
            root: self.tree.root,
            silent: self.tree.silent,
            linked: linked.collect(),
            engine: self.engine.clone(),
        }
    }

    /// Reads a stored form; none where a name or number is not of this policy.
    #[must_use]
    pub fn resolve(stored: &PortableOutline, policy: &Policy) -> Option<Self> {
        let mut levels = Vec::with_capacity(stored.levels.len());
        for level in &stored.levels {
            levels.push(match level {
                Portable::Fact { name, .. } => Level::Constant(policy.constant(name)?),
                Portable::Constraint { form, bound, strict } => {
                    let form = form_read(policy, form)?;
                    let whole =
                        form.constants().all(|id| policy.terms.constant(id).sort == Sort::Int);
                    let sort = if whole { Sort::Int } else { Sort::Real };
                    Level::Constraint(Constraint::canonical(
                        form,
                        read_number(bound)?,
                        *strict,
                        sort,
                    ))
                }
            });
        }
        let mut nodes: Vec<Node> = Vec::with_capacity(stored.nodes.len());
        for node in &stored.nodes {
            nodes.push(match node {
                PortableNode::Leaf(class) => Node::Leaf(*class),
                PortableNode::Ask(variables, branches) => {
                    let below = branches.iter().all(|(path, node)| {
                        (*node as usize) < nodes.len()
                            && path.iter().all(|(level, _)| (*level as usize) < levels.len())
                    });
                    if !below {
                        return None;
                    }
                    let ids: Option<Vec<ConstId>> =
                        variables.iter().map(|name| policy.constant(name)).collect();
                    Node::Ask { variables: ids?, branches: branches.clone() }
                }
            });
        }
        if stored.root as usize >= nodes.len() {
            return None;
        }
        let mut linked = Vec::new();
        for (name, form, offset) in &stored.linked {
            let form = form_read(policy, form)?;
            let offset = Linear::literal(read_number(offset)?);
            let one = read_number("1")?;
            linked.push((policy.constant(name)?, form.plus(&one, &offset)));
        }
        Some(Self {
            levels,
            tree: Tree { nodes, root: stored.root, silent: stored.silent },
            linked,
            engine: stored.engine.clone(),
        })
    }

    /// Whether some leaf is silent.
    #[must_use]
    pub fn has_silence(&self) -> bool {
        self.tree.nodes.contains(&Node::Leaf(self.tree.silent))
    }

    /// A node of the tree.
    #[must_use]
    pub fn node(&self, at: u32) -> &Node {
        &self.tree.nodes[at as usize]
    }

    /// What a level stands for.
    #[must_use]
    pub fn level(&self, level: u16) -> &Level {
        &self.levels[level as usize]
    }
}
