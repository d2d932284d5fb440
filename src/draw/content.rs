//! What a path says, kept while walking up and down a tree.
//!
//! The content of a path is a set: what it says of each fact and, of each form over numbers, the
//! bounds. Each part has a 256-bit digest; the digest of the set is their sum (an additive multiset
//! hash, Clarke et al. 2003), so one step down or up costs a few additions, whatever the length of
//! the path, and the order in which things were asked leaves no trace.

#![expect(clippy::indexing_slicing, reason = "levels, values and forms index the outline at hand")]

use rustc_hash::FxHashMap;

use super::Taken;
use crate::digest::{Digest, Encoder};
use crate::linear::Linear;
use crate::outline::Outline;
use crate::policy::Policy;
use crate::space::Level;
use crate::term::{ConstId, Number, Sort, Value};
use crate::tree::Node;

/// A number modulo 2^256.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
struct Sum([u64; 4]);

impl Sum {
    fn of(digest: &Digest) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(digest.bytes().as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Self(words)
    }

    fn add(&mut self, other: Self) {
        let mut carry = false;
        for (word, more) in self.0.iter_mut().zip(other.0) {
            (*word, carry) = word.carrying_add(more, carry);
        }
    }

    fn subtract(&mut self, other: Self) {
        let mut borrow = false;
        for (word, less) in self.0.iter_mut().zip(other.0) {
            (*word, borrow) = word.borrowing_sub(less, borrow);
        }
    }

    fn bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|word| word.to_le_bytes()).collect()
    }
}

/// What a level says.
enum Part {
    /// A fact: the digest of each of its values.
    Fact(Vec<Sum>),
    /// A bound of a form: the form, and the bound's place among all bounds of that form.
    Bound(usize, usize),
}

/// The largest lower and the smallest upper bound of a form, by place.
type Bounds = (Option<usize>, Option<usize>);

struct Form {
    text: String,
    bounds: Vec<Number>,
}

/// The content of the path from the root to where a walk stands.
pub(super) struct Content<'a> {
    outline: &'a Outline,
    parts: Vec<Part>,
    forms: Vec<Form>,
    regions: FxHashMap<(usize, Bounds), Sum>,
    names: FxHashMap<ConstId, Sum>,
    /// Per form: the step, whether from above, and the bound's place.
    decided: Vec<Vec<(usize, bool, usize)>>,
    stated: FxHashMap<ConstId, usize>,
    taken: Vec<Taken>,
    sum: Sum,
    signature: Sum,
}

impl<'a> Content<'a> {
    /// At the root.
    pub(super) fn new(policy: &Policy, outline: &'a Outline) -> Self {
        let terms = &policy.terms;
        let mut index: FxHashMap<Linear, usize> = FxHashMap::default();
        let mut forms: Vec<Form> = Vec::new();
        let mut places = Vec::with_capacity(outline.levels.len());
        for level in &outline.levels {
            let Level::Constraint(constraint) = level else {
                places.push(0);
                continue;
            };
            let next = forms.len();
            let place = *index.entry(constraint.form().clone()).or_insert(next);
            if place == next {
                let form = constraint.form();
                let name = |id: ConstId| terms.constant(id).name.as_str();
                let text = form.constants().map(|id| format!("{}*{}", form.factor(id), name(id)));
                let text = text.collect::<Vec<_>>().join("+");
                forms.push(Form { text, bounds: Vec::new() });
            }
            forms[place].bounds.push(constraint.bound().clone());
            places.push(place);
        }
        for form in &mut forms {
            form.bounds.sort_unstable();
            form.bounds.dedup();
        }
        let part = |(level, place): (&Level, &usize)| match level {
            Level::Constant(id) => {
                let constant = terms.constant(*id);
                let values = match constant.sort {
                    Sort::Enum(_) => terms.values_of(constant.sort).unwrap_or_default(),
                    _ => vec![Value::Bool(false), Value::Bool(true)],
                };
                let digest = |value: &Value| {
                    let mut encoder = Encoder::new();
                    encoder.text(&constant.name).text(&terms.spell(value));
                    Sum::of(&encoder.finish())
                };
                Part::Fact(values.iter().map(digest).collect())
            }
            Level::Constraint(constraint) => {
                let bounds = &forms[*place].bounds;
                Part::Bound(*place, bounds.binary_search(constraint.bound()).unwrap_or(0))
            }
        };
        let parts = outline.levels.iter().zip(&places).map(part).collect();
        let names = terms.constants().map(|(id, constant)| {
            (id, Sum::of(&Encoder::new().text("stated").text(&constant.name).finish()))
        });
        Self {
            outline,
            parts,
            decided: vec![Vec::new(); forms.len()],
            forms,
            regions: FxHashMap::default(),
            names: names.collect(),
            stated: FxHashMap::default(),
            taken: Vec::new(),
            sum: Sum::default(),
            signature: Sum::default(),
        }
    }

    /// The branches taken.
    pub(super) fn taken(&self) -> &[Taken] {
        &self.taken
    }

    /// How many variables are stated.
    pub(super) fn facts(&self) -> usize {
        self.stated.len()
    }

    fn bounds(&self, form: usize) -> Bounds {
        let all = self.decided[form].iter();
        let high = all.clone().filter(|(_, above, _)| *above).map(|(_, _, at)| *at).min();
        let low = all.filter(|(_, above, _)| !*above).map(|(_, _, at)| *at).max();
        (low, high)
    }

    fn region(&mut self, form: usize) -> Sum {
        let bounds = self.bounds(form);
        if bounds == (None, None) {
            return Sum::default();
        }
        let of = &self.forms[form];
        *self.regions.entry((form, bounds)).or_insert_with(|| {
            let spell =
                |at: Option<usize>| at.map_or("-".to_owned(), |at| of.bounds[at].to_string());
            let mut encoder = Encoder::new();
            encoder.text(&of.text).text(&spell(bounds.0)).text(&spell(bounds.1));
            Sum::of(&encoder.finish())
        })
    }

    /// Takes a branch.
    pub(super) fn push(&mut self, taken: Taken) {
        let step = self.taken.len();
        self.taken.push(taken);
        self.apply(step, taken, true);
    }

    /// Goes back up.
    pub(super) fn pop(&mut self) {
        if let Some(taken) = self.taken.pop() {
            self.apply(self.taken.len(), taken, false);
        }
    }

    /// Goes back to the root.
    pub(super) fn clear(&mut self) {
        while !self.taken.is_empty() {
            self.pop();
        }
    }

    fn apply(&mut self, step: usize, taken: Taken, down: bool) {
        let outline = self.outline;
        let Node::Ask { variables, branches } = outline.node(taken.0) else { return };
        for id in variables {
            let count = self.stated.entry(*id).or_default();
            let before = *count;
            *count = if down { before + 1 } else { before - 1 };
            let name = self.names.get(id).copied().unwrap_or_default();
            if down && before == 0 {
                self.signature.add(name);
            } else if !down && before == 1 {
                self.signature.subtract(name);
                self.stated.remove(id);
            }
        }
        for (level, value) in &branches[taken.1].0 {
            match &self.parts[usize::from(*level)] {
                Part::Fact(values) => {
                    let part = values[usize::from(*value)];
                    if down {
                        self.sum.add(part);
                    } else {
                        self.sum.subtract(part);
                    }
                }
                Part::Bound(form, at) => {
                    let (form, at) = (*form, *at);
                    let before = self.region(form);
                    self.sum.subtract(before);
                    let bound = (step, *value == 1, at);
                    if down {
                        self.decided[form].push(bound);
                    } else {
                        self.decided[form].retain(|known| *known != bound);
                    }
                    let after = self.region(form);
                    self.sum.add(after);
                }
            }
        }
    }

    /// What is asked of the content with one step left out.
    pub(super) fn without<T>(&mut self, step: usize, ask: impl FnOnce(&Self) -> T) -> T {
        let taken = self.taken[step];
        self.apply(step, taken, false);
        let answer = ask(self);
        self.apply(step, taken, true);
        answer
    }

    /// The digest of the content, as bytes.
    pub(super) fn digest(&self) -> Vec<u8> {
        self.sum.bytes()
    }

    /// The digest of the set of variables stated.
    pub(super) fn signature(&self) -> Digest {
        Digest::of(&self.signature.bytes())
    }
}
