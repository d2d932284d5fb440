//! The pure evaluator: a full scenario in, the value of a term out. It owes nothing to Z3.
//!
//! Absent here: solvers, search, defaults. A term that mentions a constant without a value has no
//! value, even where the rest would decide it.

use num_traits::Zero;

use crate::term::{ConstId, Number, Term, TermId, Terms, Value};

/// Evaluates terms under one scenario, remembering every value it computes.
#[derive(Debug)]
pub struct Evaluation<'a> {
    terms: &'a Terms,
    constants: Vec<Option<Value>>,
    known: Vec<Option<Value>>,
}

impl<'a> Evaluation<'a> {
    /// An evaluation that knows the given constants.
    pub fn new(terms: &'a Terms, scenario: impl IntoIterator<Item = (ConstId, Value)>) -> Self {
        let mut constants = vec![None; terms.constants().count()];
        for (constant, value) in scenario {
            if let Some(slot) = constants.get_mut(constant.index()) {
                *slot = Some(value);
            }
        }
        Self { terms, constants, known: vec![None; terms.len()] }
    }

    /// Gives a constant that had no value one; terms without a value may gain one.
    pub fn define(&mut self, constant: ConstId, value: Value) {
        if let Some(slot) = self.constants.get_mut(constant.index()) {
            *slot = Some(value);
        }
    }

    /// The value of a constant, if it has one.
    #[must_use]
    pub fn constant(&self, constant: ConstId) -> Option<&Value> {
        self.constants.get(constant.index()).and_then(Option::as_ref)
    }

    /// The value of a term, or none if a constant in it has none.
    pub fn value(&mut self, root: TermId) -> Option<Value> {
        let mut needed = Vec::new();
        let mut stack = vec![root];
        while let Some(term) = stack.pop() {
            if self.peek(term).is_none() {
                needed.push(term);
                stack.extend(self.terms.args(term));
            }
        }
        needed.sort_unstable();
        needed.dedup();
        for term in needed {
            let value = self.compute(term)?;
            if let Some(slot) = self.known.get_mut(term.index()) {
                *slot = Some(value);
            }
        }
        self.peek(root).cloned()
    }

    /// Whether a Bool term is true.
    pub fn holds(&mut self, term: TermId) -> bool {
        self.value(term) == Some(Value::Bool(true))
    }

    fn peek(&self, term: TermId) -> Option<&Value> {
        self.known.get(term.index()).and_then(Option::as_ref)
    }

    fn compute(&self, term: TermId) -> Option<Value> {
        step(self.terms, term, &|id| self.constant(id).cloned(), &|arg| self.peek(arg).cloned())
    }
}

/// The value of one small term, computed without memory, or none if a constant in it has none.
#[must_use]
pub fn evaluate(
    terms: &Terms,
    term: TermId,
    constant: &impl Fn(ConstId) -> Option<Value>,
) -> Option<Value> {
    step(terms, term, constant, &|arg| evaluate(terms, arg, constant))
}

/// The value of a term from those of its arguments.
fn step(
    terms: &Terms,
    term: TermId,
    constant: &impl Fn(ConstId) -> Option<Value>,
    value: &impl Fn(TermId) -> Option<Value>,
) -> Option<Value> {
    let number = |arg: TermId| match value(arg) {
        Some(Value::Number(number)) => Some(number),
        _ => None,
    };
    let truth = |arg: TermId| match value(arg) {
        Some(Value::Bool(truth)) => Some(truth),
        _ => None,
    };
    Some(match terms.get(term) {
        Term::Bool(truth) => Value::Bool(*truth),
        Term::Number(number, _) => Value::Number(number.clone()),
        Term::Ctor(id, at) => Value::Enum(*id, *at),
        Term::Const(id) => constant(*id)?,
        Term::Not(arg) => Value::Bool(!truth(*arg)?),
        Term::And(args) => {
            let mut all = true;
            for arg in args {
                all &= truth(*arg)?;
            }
            Value::Bool(all)
        }
        Term::Or(args) => {
            let mut any = false;
            for arg in args {
                any |= truth(*arg)?;
            }
            Value::Bool(any)
        }
        Term::Ite(condition, then, otherwise) => {
            value(if truth(*condition)? { *then } else { *otherwise })?
        }
        Term::Eq(a, b) => Value::Bool(value(*a)? == value(*b)?),
        Term::Le(a, b) => Value::Bool(number(*a)? <= number(*b)?),
        Term::Lt(a, b) => Value::Bool(number(*a)? < number(*b)?),
        Term::Sum(args) => {
            let mut sum = Number::zero();
            for arg in args {
                sum += number(*arg)?;
            }
            Value::Number(sum)
        }
        Term::Scale(factor, arg) => Value::Number(factor * number(*arg)?),
        Term::ToReal(arg) => Value::Number(number(*arg)?),
    })
}
