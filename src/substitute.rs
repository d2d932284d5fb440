//! Terms with constants replaced by other terms.

use rustc_hash::FxHashMap;

use crate::term::{ConstId, SortFault, Term, TermId, Terms};

/// What replaces which constants, with the terms replaced so far.
#[derive(Debug, Default)]
pub struct Substitution {
    by: FxHashMap<ConstId, TermId>,
    known: FxHashMap<TermId, TermId>,
}

impl Substitution {
    /// Replaces each constant by a term of its sort.
    #[must_use]
    pub fn new(by: FxHashMap<ConstId, TermId>) -> Self {
        Self { by, known: FxHashMap::default() }
    }

    /// The term with all constants replaced at once.
    ///
    /// # Errors
    /// A replacement is of another sort than its constant.
    pub fn apply(&mut self, terms: &mut Terms, root: TermId) -> Result<TermId, SortFault> {
        let by = &self.by;
        rewrite(terms, &mut self.known, root, |_, term| match term {
            Term::Const(id) => by.get(id).copied(),
            _ => None,
        })
    }
}

/// The term with everything that `leaf` names replaced; `known` holds the terms rewritten so far.
///
/// # Errors
/// A replacement is of another sort than what it replaces.
pub fn rewrite(
    terms: &mut Terms,
    known: &mut FxHashMap<TermId, TermId>,
    root: TermId,
    leaf: impl Fn(&mut Terms, &Term) -> Option<TermId>,
) -> Result<TermId, SortFault> {
    let mut stack = vec![(root, false)];
    while let Some((term, ready)) = stack.pop() {
        if known.contains_key(&term) {
            continue;
        }
        let args = terms.args(term);
        if !ready {
            stack.push((term, true));
            stack.extend(args.into_iter().map(|arg| (arg, false)));
            continue;
        }
        let args: Vec<TermId> = args.iter().filter_map(|arg| known.get(arg).copied()).collect();
        let shape = terms.get(term).clone();
        let built = match (&shape, args.as_slice()) {
            (Term::Not(_), [a]) => terms.not(*a)?,
            (Term::And(_), _) => terms.and(&args)?,
            (Term::Or(_), _) => terms.or(&args)?,
            (Term::Ite(..), [a, b, c]) => terms.ite(*a, *b, *c)?,
            (Term::Eq(..), [a, b]) => terms.eq(*a, *b)?,
            (Term::Le(..), [a, b]) => terms.le(*a, *b)?,
            (Term::Lt(..), [a, b]) => terms.lt(*a, *b)?,
            (Term::Sum(_), _) => terms.sum(&args)?,
            (Term::Scale(factor, _), [a]) => terms.scale(factor, *a)?,
            (Term::ToReal(_), [a]) => terms.to_real(*a)?,
            _ => leaf(terms, &shape).unwrap_or(term),
        };
        known.insert(term, built);
    }
    Ok(known.get(&root).copied().unwrap_or(root))
}
