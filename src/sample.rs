//! Which certified candidates become entries: quotas filled in rank order, lists in turn.
//!
//! Candidates are certified in batches by several workers and accepted in rank order, so the
//! outcome does not depend on how many workers there are. A dropped candidate is replaced by the
//! next.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;

use crate::certify::{Bug, Certified, Worker};
use crate::claim::Drop;
use crate::docket::Docket;
use crate::draw::Candidate;
use crate::solver;

/// How many entries, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Entries wanted.
    pub entries: usize,
    /// Fewest and most needed facts (definite entries only).
    pub needed: (usize, usize),
    /// Of a hundred entries, how many may need a single fact while others are to be had.
    pub single: usize,
    /// Candidates looked at per entry wanted, at most.
    pub effort: usize,
}

/// Entries accepted and candidates dropped.
#[derive(Debug, Default)]
pub struct Filled {
    /// In order of acceptance.
    pub entries: Vec<(Candidate, Certified)>,
    /// By reason.
    pub dropped: BTreeMap<Drop, u64>,
}

/// Why filling ended early.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Halt {
    /// A bug.
    #[error("{0}")]
    Bug(#[from] Bug),
    /// The user interrupted.
    #[error("interrupted")]
    Interrupted,
}

/// Items that one prepared worker is given. A fixed number: what a solver leaves open under a limit
/// hangs on what it was asked before, and that must not hang on how many workers there are.
const CHUNK: usize = 16;

/// Runs one task per item on prepared workers, results in order.
pub fn with_workers<'d, T: Sync, R: Send + Sync>(
    docket: &'d Docket,
    items: &[T],
    interrupted: &AtomicBool,
    task: impl Fn(&mut Worker<'d>, &T) -> R + Sync,
) -> Result<Vec<R>, Halt> {
    let run = |part: &[T]| {
        solver::apart(|| {
            let mut worker = Worker::new(docket);
            let mut results = Vec::with_capacity(part.len());
            for item in part {
                if interrupted.load(Ordering::Relaxed) {
                    return None;
                }
                results.push(task(&mut worker, item));
            }
            Some(results)
        })
    };
    let parts: Vec<Option<Vec<R>>> = items.par_chunks(CHUNK).map(run).collect();
    let mut all = Vec::with_capacity(items.len());
    for part in parts {
        all.extend(part.ok_or(Halt::Interrupted)?);
    }
    Ok(all)
}

/// Fills a quota from ranked lists, one list after the other in turn.
///
/// # Errors
/// [`Halt`].
pub fn fill(
    docket: &Docket,
    lists: &[Vec<Candidate>],
    quota: Quota,
    interrupted: &AtomicBool,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Filled, Halt> {
    let mut filled = Filled::default();
    let mut reserve: Vec<(Candidate, Certified)> = Vec::new();
    let mut next = Turns::new(lists);
    let most_single = quota.entries * quota.single / 100;
    let mut single = 0;
    let mut looked = 0;
    let mut chosen: Vec<(Candidate, Certified)> = Vec::new();
    while filled.entries.len() < quota.entries && looked < quota.entries * quota.effort {
        let batch = next.take(quota.entries - filled.entries.len());
        if batch.is_empty() {
            break;
        }
        looked += batch.len();
        let claims =
            with_workers(docket, &batch, interrupted, |worker, candidate| worker.claim(candidate))?;
        for (candidate, claim) in batch.into_iter().zip(claims) {
            match claim {
                Err(drop) => *filled.dropped.entry(drop).or_default() += 1,
                Ok(claim) => {
                    let (least, most) = quota.needed;
                    if claim.needed > 0 && (claim.needed < least || claim.needed > most) {
                        continue;
                    }
                    if claim.needed == 1 && single >= most_single {
                        reserve.push((candidate.clone(), claim));
                        continue;
                    }
                    single += usize::from(claim.needed == 1);
                    chosen.push((candidate.clone(), claim));
                }
            }
        }
        prove(docket, std::mem::take(&mut chosen), &mut filled, quota, interrupted)?;
        progress(filled.entries.len());
    }
    while filled.entries.len() < quota.entries && !reserve.is_empty() {
        let more = reserve.len().min(quota.entries - filled.entries.len());
        let part: Vec<_> = reserve.drain(..more).collect();
        prove(docket, part, &mut filled, quota, interrupted)?;
        progress(filled.entries.len());
    }
    Ok(filled)
}

/// Adds witnesses and accepts in order while the quota lasts.
fn prove(
    docket: &Docket,
    chosen: Vec<(Candidate, Certified)>,
    filled: &mut Filled,
    quota: Quota,
    interrupted: &AtomicBool,
) -> Result<(), Halt> {
    let proved = with_workers(docket, &chosen, interrupted, |worker, (_, claim)| {
        worker.witness(claim.clone())
    })?;
    for ((candidate, _), outcome) in chosen.into_iter().zip(proved) {
        match outcome? {
            Err(drop) => *filled.dropped.entry(drop).or_default() += 1,
            Ok(certified) if filled.entries.len() < quota.entries => {
                filled.entries.push((candidate, certified));
            }
            Ok(_) => {}
        }
    }
    Ok(())
}

/// Candidates of several lists, one of each in turn.
struct Turns<'l> {
    lists: Vec<std::slice::Iter<'l, Candidate>>,
    turn: usize,
}

impl<'l> Turns<'l> {
    fn new(lists: &'l [Vec<Candidate>]) -> Self {
        Self { lists: lists.iter().map(|list| list.iter()).collect(), turn: 0 }
    }

    fn take(&mut self, count: usize) -> Vec<&'l Candidate> {
        let mut taken = Vec::with_capacity(count);
        let mut empty = 0;
        while taken.len() < count && empty < self.lists.len() {
            let at = self.turn % self.lists.len();
            self.turn += 1;
            match self.lists.get_mut(at).and_then(Iterator::next) {
                Some(candidate) => {
                    taken.push(candidate);
                    empty = 0;
                }
                None => empty += 1,
            }
        }
        taken
    }
}
