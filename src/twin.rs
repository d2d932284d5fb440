//! Two copies of a slice side by side: can the same stated facts go with two verdicts?

use rustc_hash::FxHashMap;

use crate::claim::{Claim, Drop};
use crate::docket::Docket;
use crate::solver::{Answer, Session};
use crate::term::{ConstId, SortFault, Term, TermId, Terms};

/// The slice's terms with a second copy of every constant.
pub struct Twin {
    terms: Terms,
    asserts: Vec<TermId>,
    other: FxHashMap<ConstId, ConstId>,
    same: FxHashMap<ConstId, TermId>,
}

impl Twin {
    /// Copies a docket's slice.
    ///
    /// # Errors
    /// A copy does not fit its sort, which copying rules out.
    pub fn new(docket: &Docket) -> Result<Self, SortFault> {
        let mut terms = docket.terms.clone();
        let mut other = FxHashMap::default();
        let constants: Vec<(ConstId, String, crate::term::Sort)> =
            terms.constants().map(|(id, c)| (id, c.name.clone(), c.sort)).collect();
        let mut same = FxHashMap::default();
        for (id, name, sort) in constants {
            let twin = terms.declare(&format!("{name}!2"), sort);
            other.insert(id, twin);
            let (left, right) = (terms.constant_term(id), terms.constant_term(twin));
            same.insert(id, terms.eq(left, right)?);
        }
        let mut copies = FxHashMap::default();
        let mut asserts = docket.asserts.clone();
        for clause in &docket.asserts {
            asserts.push(copy(&mut terms, *clause, &other, &mut copies)?);
        }
        // Some value is the one copy's verdict and not the other's.
        let mut differ = Vec::new();
        for verdict in &docket.verdict_is {
            let twin = copy(&mut terms, *verdict, &other, &mut copies)?;
            differ.push(terms.xor(*verdict, twin)?);
        }
        asserts.push(terms.or(&differ)?);
        Ok(Self { terms, asserts, other, same })
    }

    /// Whether two scenarios with these claims, the same stated facts and the same numbers have
    /// different verdicts.
    ///
    /// # Errors
    /// The solver did not answer.
    pub fn differs(
        &self,
        docket: &Docket,
        claims: &[Claim],
        numbers: &[ConstId],
    ) -> Result<bool, Drop> {
        let mut session = Session::new(&self.terms, &self.asserts, docket.limits.clone());
        let mut literals = Vec::new();
        for id in numbers {
            literals.extend(self.same.get(id).map(|term| session.term(*term, true)));
        }
        for claim in claims {
            match claim {
                Claim::Fact(id, value) => {
                    literals.push(session.fact(*id, value));
                    literals.extend(self.other.get(id).map(|twin| session.fact(*twin, value)));
                }
                Claim::Sign(level, value) => {
                    let term = docket.constraints.get(usize::from(*level)).copied().flatten();
                    literals.extend(term.map(|term| session.term(term, *value == 1)));
                }
                Claim::Bounded(id, bound, upper) => {
                    literals.push(session.bounded(*id, bound, *upper));
                }
                Claim::Verdict(_) | Claim::NotVerdict(_) => {}
            }
        }
        match session.check(&literals) {
            Answer::Sat => Ok(true),
            Answer::Unsat(_) => Ok(false),
            Answer::Unknown(_) => Err(Drop::Unknown),
        }
    }
}

/// A term with every constant replaced by its copy.
fn copy(
    terms: &mut Terms,
    root: TermId,
    other: &FxHashMap<ConstId, ConstId>,
    copies: &mut FxHashMap<TermId, TermId>,
) -> Result<TermId, SortFault> {
    let mut stack = vec![(root, false)];
    while let Some((term, ready)) = stack.pop() {
        if copies.contains_key(&term) {
            continue;
        }
        let args = terms.args(term);
        if !ready {
            stack.push((term, true));
            stack.extend(args.iter().map(|arg| (*arg, false)));
            continue;
        }
        let args: Vec<TermId> = args.iter().filter_map(|arg| copies.get(arg).copied()).collect();
        let built = match (terms.get(term).clone(), args.as_slice()) {
            (Term::Const(id), _) => match other.get(&id) {
                Some(twin) => terms.constant_term(*twin),
                None => term,
            },
            (Term::Not(_), [a]) => terms.not(*a)?,
            (Term::And(_), _) => terms.and(&args)?,
            (Term::Or(_), _) => terms.or(&args)?,
            (Term::Ite(..), [a, b, c]) => terms.ite(*a, *b, *c)?,
            (Term::Eq(..), [a, b]) => terms.eq(*a, *b)?,
            (Term::Le(..), [a, b]) => terms.le(*a, *b)?,
            (Term::Lt(..), [a, b]) => terms.lt(*a, *b)?,
            (Term::Sum(_), _) => terms.sum(&args)?,
            (Term::Scale(factor, _), [a]) => terms.scale(&factor, *a)?,
            (Term::ToReal(_), [a]) => terms.to_real(*a)?,
            _ => term,
        };
        copies.insert(term, built);
    }
    Ok(copies.get(&root).copied().unwrap_or(root))
}
