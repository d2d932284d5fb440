//! Whether the whole policy has a scenario, and one of them: parts that a slice leaves out are
//! satisfiable because this scenario satisfies them.

use super::{Failure, Prepared, Run};
use crate::certify::Worker;
use crate::diag::Diagnostic;
use crate::digest::Digest;
use crate::docket::{Docket, Scenario};
use crate::outline::Outline;
use crate::policy::Facts;
use crate::slice;
use crate::solver;

impl Run<'_> {
    /// One scenario of the whole policy, or the fault that there is none.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn consistency(&self, prepared: &Prepared) -> Result<(Scenario, Digest), Failure> {
        let policy = &prepared.inquiry.policy;
        let fields = self.consistency_key(prepared);
        let (values, digest) =
            self.stage::<Vec<(String, String)>>("consistency", prepared, &fields, || {
                self.base(prepared)
            })?;
        let read = |(name, value): &(String, String)| {
            let id = policy.constant(name)?;
            Some((id, policy.terms.read(value, policy.terms.constant(id).sort)?))
        };
        Ok((values.iter().filter_map(read).collect(), digest))
    }

    fn base(&self, prepared: &Prepared) -> Result<Vec<(String, String)>, Failure> {
        let policy = &prepared.inquiry.policy;
        let whole = slice::whole(&prepared.inquiry);
        let mut everything = prepared.inquiry.clone();
        everything.askable = policy.terms.constants().map(|(id, _)| id).collect();
        everything.askable.retain(|id| prepared.inquiry.askable.contains(id));
        let outline = Outline::empty();
        let customs = prepared.customs();
        let mut docket =
            Docket::new(&everything, &whole, &outline, Scenario::new(), customs, self.limits())
                .map_err(|fault| Failure::Bug(fault.to_string()))?;
        docket.askable.clone_from(&everything.askable);
        docket.cover_all();
        let mut worker = Worker::new(&docket);
        match worker.scenario(&Facts::default(), usize::MAX, false) {
            Ok(Some(scenario)) => Ok(scenario
                .into_iter()
                .map(|(id, value)| {
                    (policy.terms.constant(id).name.clone(), policy.terms.spell(&value))
                })
                .collect()),
            Ok(None) => Err(Failure::Faults(vec![self.contradiction(prepared, &docket)])),
            Err(_) => Err(Failure::Faults(vec![
                Diagnostic::error(
                    "undecided",
                    format!(
                        "the solver cannot tell within its limit whether `{}` is consistent",
                        policy.id
                    ),
                )
                .hint("raise `rlimit` under `[limits]` in deogen.toml"),
            ])),
        }
    }

    /// The clauses that clash, found by leaving out one after the other.
    fn contradiction(&self, prepared: &Prepared, docket: &Docket) -> Diagnostic {
        let policy = &prepared.inquiry.policy;
        let mut session = solver::Session::new(&docket.terms, &[], self.limits());
        let mut clash: Vec<usize> = (0..policy.clauses.len()).collect();
        let literals: Vec<solver::Lit> =
            policy.clauses.iter().map(|clause| session.term(clause.term, true)).collect();
        let of = |clash: &[usize]| -> Vec<solver::Lit> {
            clash.iter().filter_map(|at| literals.get(*at).copied()).collect()
        };
        let mut at = 0;
        while at < clash.len() {
            let mut fewer = clash.clone();
            fewer.remove(at);
            match session.check(&of(&fewer)) {
                solver::Answer::Unsat(core) => {
                    fewer
                        .retain(|index| literals.get(*index).is_some_and(|lit| core.contains(lit)));
                    clash = fewer;
                }
                _ => at += 1,
            }
        }
        let mut fault = Diagnostic::error(
            "contradiction",
            format!("the clauses of `{}` contradict each other", policy.id),
        );
        for clause in clash.iter().filter_map(|at| policy.clauses.get(*at)).take(6) {
            fault = fault.at(clause.span.clone(), format!("`{}` clashes", clause.name));
        }
        fault.hint("these clauses together have no scenario; no fewer of them clash: correct one")
    }
}
