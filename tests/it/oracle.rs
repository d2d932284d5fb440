//! Section 2 of the design by brute force, over the listed scenarios of a small policy.
//!
//! Classes, dropping, questions and the tree follow the text word for word. The engine contributes
//! one thing: the list of constraints, taken as the definition of what a sign is. Their signs, and
//! everything else, are computed here.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use deogen::policy::Inquiry;
use deogen::space::Space;
use deogen::term::ConstId;
use deogen::tree::{Node, Tree};

use crate::scenarios::{Domains, Scenario, Table, spell};

/// Facts and signs of a scenario, two bits each, and its class.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
struct Row {
    code: u128,
    class: u8,
}

/// The scenarios of a determination as the tree sees them.
pub(crate) struct Oracle {
    rows: Vec<Row>,
    facts: Vec<ConstId>,
    /// The numbers of each constraint; its position is the facts' number and its own.
    constraints: Vec<Vec<ConstId>>,
    numbers: Vec<ConstId>,
    /// Level of each position.
    levels: Vec<u16>,
    pub(crate) silent: u8,
    pruned: HashMap<(Vec<Row>, u128), u128>,
    built: HashMap<(Vec<Row>, u128, Vec<ConstId>), Rc<Question>>,
}

/// A node of the tree, unfolded but for sharing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Question {
    Leaf(u8),
    Ask {
        variables: Vec<ConstId>,
        /// Variables that were dropped here or above.
        dropped: Vec<ConstId>,
        branches: BTreeMap<Vec<(u16, u8)>, Rc<Question>>,
    },
}

const fn at(position: usize) -> u128 {
    3 << (2 * position)
}

/// Rows of scenarios by the answer they give.
type Branches = BTreeMap<u128, Vec<Row>>;

impl Oracle {
    /// Sees scenarios through the facts and constraints of a space.
    pub(crate) fn new(
        inquiry: &Inquiry,
        space: &Space,
        domains: &Domains,
        scenarios: &[Scenario],
    ) -> Result<Self, String> {
        let facts: Vec<ConstId> = space.facts.iter().map(|(id, _)| *id).collect();
        let mut levels: Vec<u16> = space.facts.iter().map(|(_, level)| *level).collect();
        levels.extend(&space.constraints);
        assert!(levels.len() <= 64, "the oracle has room for 64 facts and signs");
        let term = |level: &u16| space.constraint_terms[*level as usize].unwrap();
        let mut signs: Vec<Table<'_>> =
            space.constraints.iter().map(|level| Table::new(&space.terms, term(level))).collect();
        let constraints: Vec<Vec<ConstId>> =
            signs.iter().map(|table| table.constants.clone()).collect();
        let numbers: BTreeSet<ConstId> = constraints.iter().flatten().copied().collect();
        let silent = u8::try_from(inquiry.verdict.values.len() + 1).unwrap();
        let mut classes: BTreeMap<u128, (u8, &Scenario)> = BTreeMap::new();
        for scenario in scenarios {
            let mut code = 0;
            let values = facts.iter().map(|id| scenario.chosen[id.index()]);
            let signs = signs.iter_mut().map(|sign| sign.holds(domains, &scenario.chosen).into());
            for (position, value) in values.chain(signs.collect::<Vec<u8>>()).enumerate() {
                code |= u128::from(value) << (2 * position);
            }
            let class = match scenario.possible.count_ones() {
                1 => u8::try_from(scenario.possible.trailing_zeros()).unwrap() + 1,
                _ => silent,
            };
            let (known, other) = *classes.entry(code).or_insert((class, scenario));
            if known != class {
                let show = |scenario: &Scenario| spell(inquiry, domains, scenario);
                return Err(format!(
                    "facts and signs leave the class open: {known} with {}, but {class} with {}",
                    show(other),
                    show(scenario)
                ));
            }
        }
        let rows = classes.iter().map(|(code, (class, _))| Row { code: *code, class: *class });
        Ok(Self {
            rows: rows.collect(),
            facts,
            constraints,
            numbers: numbers.into_iter().collect(),
            levels,
            silent,
            pruned: HashMap::new(),
            built: HashMap::new(),
        })
    }

    /// The tree.
    pub(crate) fn tree(&mut self) -> Rc<Question> {
        let all = (0..self.levels.len()).map(at).sum();
        self.node(&self.rows.clone(), all, &BTreeSet::new())
    }

    /// Some scenario is silent.
    pub(crate) fn has_silence(&self) -> bool {
        self.rows.iter().any(|row| row.class == self.silent)
    }

    /// The live positions of the constraints that mention a number.
    fn mentioning(&self, number: ConstId) -> u128 {
        let constraints = self.constraints.iter().enumerate();
        let mentioning = constraints.filter(|(_, numbers)| numbers.contains(&number));
        mentioning.map(|(position, _)| at(self.facts.len() + position)).sum()
    }

    /// Whole numbers, facts, single constraints; each in declaration order.
    fn trials(&self) -> Vec<u128> {
        let numbers = self.numbers.iter().map(|number| self.mentioning(*number));
        numbers.chain((0..self.levels.len()).map(at)).collect()
    }

    fn droppable(rows: &[Row], live: u128, group: u128) -> bool {
        let mut classes: HashMap<u128, u8> = HashMap::new();
        rows.iter().all(|row| {
            let known = *classes.entry(row.code & live & !group).or_insert(row.class);
            known == row.class
        })
    }

    fn prune(&mut self, rows: &[Row], live: u128) -> u128 {
        let key = (rows.to_vec(), live);
        if let Some(known) = self.pruned.get(&key) {
            return *known;
        }
        let mut left = live;
        for group in self.trials() {
            if left & group != 0 && Self::droppable(rows, left, left & group) {
                left &= !group;
            }
        }
        for group in self.trials() {
            let kept = left & group == 0 || !Self::droppable(rows, left, left & group);
            assert!(kept, "one pass of dropping leaves nothing droppable");
        }
        self.pruned.insert(key, left);
        left
    }

    /// Variables that are not dropped or decided.
    fn variables(&self, live: u128) -> Vec<ConstId> {
        let numbers = self.numbers.iter().filter(|number| live & self.mentioning(**number) != 0);
        let facts = self.facts.iter().enumerate();
        let facts = facts.filter(|(position, _)| live & at(*position) != 0).map(|(_, id)| id);
        let mut all: Vec<ConstId> = numbers.chain(facts).copied().collect();
        all.sort_unstable();
        all
    }

    fn questions(&self, live: u128) -> BTreeSet<Vec<ConstId>> {
        let mut questions = BTreeSet::new();
        for (position, id) in self.facts.iter().enumerate() {
            if live & at(position) != 0 {
                questions.insert(vec![*id]);
            }
        }
        for (position, numbers) in self.constraints.iter().enumerate() {
            if live & at(self.facts.len() + position) != 0 {
                questions.insert(numbers.clone());
            }
        }
        questions
    }

    /// What an answer to a question decides once these variables are stated.
    fn decides(&self, live: u128, question: &[ConstId], stated: &BTreeSet<ConstId>) -> u128 {
        if let Some(position) = self.facts.iter().position(|id| question == [*id]) {
            return at(position);
        }
        let known = |number: &ConstId| stated.contains(number) || question.contains(number);
        let constraints = self.constraints.iter().enumerate();
        let settled = constraints.filter(|(_, numbers)| numbers.iter().all(known));
        settled.map(|(position, _)| live & at(self.facts.len() + position)).sum()
    }

    fn node(&mut self, rows: &[Row], live: u128, stated: &BTreeSet<ConstId>) -> Rc<Question> {
        let dropped_above = live;
        let live = self.prune(rows, live);
        let classes: BTreeSet<u8> = rows.iter().map(|row| row.class).collect();
        assert_eq!(classes.len() == 1, live == 0, "the tree ends where one class is left");
        if live == 0 {
            return Rc::new(Question::Leaf(rows[0].class));
        }
        let key = (rows.to_vec(), dropped_above, stated.iter().copied().collect());
        if let Some(known) = self.built.get(&key) {
            return Rc::clone(known);
        }
        let mut best: Option<(usize, usize, Vec<ConstId>, Branches)> = None;
        for question in self.questions(live) {
            assert!(question.iter().any(|id| !stated.contains(id)), "something new is asked");
            let decides = self.decides(live, &question, stated);
            let mut branches: BTreeMap<u128, Vec<Row>> = BTreeMap::new();
            for row in rows {
                branches.entry(row.code & decides).or_default().push(*row);
            }
            let mut left = 0;
            for rows in branches.values() {
                let below = self.prune(rows, live & !decides);
                left += self.variables(below).len();
            }
            let count = branches.len();
            if best.as_ref().is_none_or(|(sum, n, ..)| left * n < sum * count) {
                best = Some((left, count, question, branches));
            }
        }
        let (_, _, question, branches) = best.unwrap();
        let decides = self.decides(live, &question, stated);
        let mut below = stated.clone();
        below.extend(&question);
        let mut built = BTreeMap::new();
        for (code, rows) in branches {
            built.insert(self.path(decides, code), self.node(&rows, live & !decides, &below));
        }
        let still = self.variables(live);
        let all = self.facts.iter().chain(&self.numbers);
        let dropped = all.filter(|id| !still.contains(id) && !stated.contains(id));
        let dropped = dropped.copied().collect();
        let node = Rc::new(Question::Ask { variables: question, dropped, branches: built });
        self.built.insert(key, Rc::clone(&node));
        node
    }

    fn path(&self, decides: u128, code: u128) -> Vec<(u16, u8)> {
        let positions = (0..self.levels.len()).filter(|position| decides & at(*position) != 0);
        let value = |position: usize| u8::try_from((code >> (2 * position)) & 3).unwrap();
        let mut path: Vec<(u16, u8)> =
            positions.map(|position| (self.levels[position], value(position))).collect();
        path.sort_unstable();
        path
    }

    /// Follows every scenario down a tree: each takes one branch at every question, inner nodes
    /// leave two classes or more open, leaves are what they say.
    pub(crate) fn audit(&self, tree: &Tree) -> Result<(), String> {
        self.audit_below(tree, tree.root, &self.rows)
    }

    fn audit_below(&self, tree: &Tree, node: u32, rows: &[Row]) -> Result<(), String> {
        let classes: BTreeSet<u8> = rows.iter().map(|row| row.class).collect();
        match &tree.nodes[node as usize] {
            Node::Leaf(class) if classes == BTreeSet::from([*class]) => Ok(()),
            Node::Leaf(class) => {
                Err(format!("a leaf of class {class} has scenarios of {classes:?}"))
            }
            Node::Ask { .. } if classes.len() < 2 => {
                Err(format!("a question where only {classes:?} is possible"))
            }
            Node::Ask { branches, .. } => {
                let mut followed = 0;
                for (path, below) in branches {
                    let agrees = |row: &&Row| {
                        path.iter().all(|(level, value)| {
                            let position = self.levels.iter().position(|l| l == level).unwrap();
                            (row.code >> (2 * position)) & 3 == u128::from(*value)
                        })
                    };
                    let rows: Vec<Row> = rows.iter().filter(agrees).copied().collect();
                    if rows.is_empty() {
                        return Err(format!("no scenario takes the branch {path:?}"));
                    }
                    followed += rows.len();
                    self.audit_below(tree, *below, &rows)?;
                }
                match followed == rows.len() {
                    true => Ok(()),
                    false => Err(format!("{} scenarios take {followed} branches", rows.len())),
                }
            }
        }
    }
}

/// Whether a tree is the expected one, node by node.
pub(crate) fn compare(
    inquiry: &Inquiry,
    tree: &Tree,
    node: u32,
    expected: &Question,
) -> Result<(), String> {
    let names = |ids: &[ConstId]| {
        let name = |id: &ConstId| inquiry.policy.terms.constant(*id).name.clone();
        ids.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    match (&tree.nodes[node as usize], expected) {
        (Node::Leaf(class), Question::Leaf(expected)) if class == expected => Ok(()),
        (Node::Leaf(class), Question::Leaf(expected)) => {
            Err(format!("a leaf of class {class}, not {expected}"))
        }
        (Node::Leaf(class), Question::Ask { variables, .. }) => {
            Err(format!("a leaf of class {class}, not a question for {}", names(variables)))
        }
        (Node::Ask { variables, .. }, Question::Leaf(expected)) => {
            Err(format!("a question for {}, not a leaf of {expected}", names(variables)))
        }
        (
            Node::Ask { variables, branches },
            Question::Ask { variables: asked, dropped, branches: below },
        ) => {
            if let Some(id) = variables.iter().find(|id| dropped.contains(id)) {
                return Err(format!("`{}` is asked, which is droppable", names(&[*id])));
            }
            if variables != asked {
                return Err(format!(
                    "a question for {}, not for {}",
                    names(variables),
                    names(asked)
                ));
            }
            if branches.len() != below.len() {
                let (n, m) = (branches.len(), below.len());
                return Err(format!("{n} branches of {}, not {m}", names(asked)));
            }
            for (path, child) in branches {
                let Some(expected) = below.get(path) else {
                    return Err(format!("{} has no branch {path:?}", names(asked)));
                };
                compare(inquiry, tree, *child, expected)
                    .map_err(|fault| format!("{} {path:?} > {fault}", names(asked)))?;
            }
            Ok(())
        }
    }
}

/// What a tree looks like, for the shares of the generator.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) leaves: usize,
    /// Inner nodes but the root.
    pub(crate) nei: usize,
    pub(crate) silent: usize,
    pub(crate) depth: usize,
}

/// Counts over the unfolding.
pub(crate) fn shape(question: &Question, silent: u8) -> Shape {
    fn below(question: &Question, silent: u8) -> Shape {
        match question {
            Question::Leaf(class) => {
                Shape { leaves: 1, nei: 0, silent: usize::from(*class == silent), depth: 0 }
            }
            Question::Ask { branches, .. } => {
                let mut sum = Shape { nei: 1, ..Shape::default() };
                for branch in branches.values() {
                    let part = below(branch, silent);
                    sum.leaves += part.leaves;
                    sum.nei += part.nei;
                    sum.silent += part.silent;
                    sum.depth = sum.depth.max(part.depth + 1);
                }
                sum
            }
        }
    }
    let mut sum = below(question, silent);
    sum.nei = sum.nei.saturating_sub(1);
    sum
}
