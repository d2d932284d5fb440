//! Faults injected between the tree and the proofs: candidates that no tree would give are dropped
//! one by one, each for its reason, and the sound ones beside them are released.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicBool;

use deogen::claim::Drop;
use deogen::classes::Lemmas;
use deogen::count;
use deogen::docket::{Customs, Docket, Scenario};
use deogen::draw::{self, Candidate, Depth, Kind, Nei, Step, Wanted};
use deogen::outline::Outline;
use deogen::policy::Inquiry;
use deogen::sample::{Filled, Quota, fill};
use deogen::slice;
use deogen::space::Level;
use deogen::term::ConstId;

use crate::engine;
use crate::invent::invent;

/// A child or a sibling, never both.
const POLICY: &str = "(set-logic ALL)
(declare-const is_child Bool)
(declare-const is_sibling Bool)
(declare-const is_student Bool)
(declare-const age Int)
(declare-const nights Int)
(declare-const counts Bool)
(assert (! (<= 0 age 120) :kind range))
(assert (! (<= 0 nights 366) :kind range))
(assert (! (not (and is_child is_sibling)) :named c1 :section \"1\" :source \"never both\"))
(assert (! (= counts (and (> nights 183) (or is_child is_sibling)
  (or (<= age 18) (and is_student (<= age 23)))))
  :named c2 :section \"2\" :source \"young, or a student\"))
";

struct Bench {
    inquiry: Inquiry,
    outline: Outline,
    docket: Docket,
    definite: Vec<Candidate>,
    nei: Vec<Candidate>,
}

impl Bench {
    fn new() -> Self {
        let askable = ["is_child", "is_sibling", "is_student", "age", "nights"].map(str::to_owned);
        let inquiry = engine::inquiry(POLICY, &askable, "counts", &[]);
        Self::of(inquiry).unwrap()
    }

    fn of(inquiry: Inquiry) -> Result<Self, String> {
        let slice = slice::whole(&inquiry);
        let (space, tree) = engine::tree(&inquiry, &slice, Lemmas::Pairs)?;
        let outline = Outline::new(&space, tree, "diagram");
        let wanted = Wanted {
            determination: inquiry.id.clone(),
            key: draw::seed_key(0),
            facts: (1, 99),
            kinds: vec![Nei::Cut],
            cut: vec![Depth::One, Depth::Half, Depth::Most],
            list_cap: 1000,
            most: 1000,
            per_signature: 0,
        };
        let drawn = draw::draw(&inquiry.policy, &outline, &count::count(&outline.tree), &wanted);
        let (base, customs) = (Scenario::new(), Customs::default());
        let docket =
            Docket::new(&inquiry, &slice, &outline, base, customs, engine::limits()).unwrap();
        let [definite, nei] = [drawn.definite, drawn.nei].map(|lists| lists.concat());
        Ok(Self { inquiry, outline, docket, definite, nei })
    }

    fn constant(&self, name: &str) -> ConstId {
        self.inquiry.policy.constant(name).unwrap()
    }

    /// The step that answers yes to a Bool fact.
    fn yes(&self, name: &str) -> Step {
        let id = self.constant(name);
        let level = self.outline.levels.iter().position(|level| *level == Level::Constant(id));
        let level = u16::try_from(level.unwrap()).unwrap();
        Step { variables: vec![id], decided: vec![(level, 1)] }
    }

    fn fill(&self, candidates: Vec<Candidate>) -> Filled {
        let quota = Quota { entries: 10_000, needed: (0, 999), single: 100, effort: 12 };
        fill(&self.docket, &[candidates], quota, &AtomicBool::new(false), &|_| {}).unwrap()
    }
}

/// Sound candidates with the unsound ones strewn among them.
fn mixed(sound: &[Candidate], unsound: &[Candidate]) -> Vec<Candidate> {
    let mut list = Vec::new();
    for at in 0..sound.len().max(unsound.len()) {
        list.extend(unsound.get(at).cloned());
        list.extend(sound.get(at).cloned());
    }
    list
}

/// Fails unless exactly the sound ones are released and the others counted under this reason.
fn dropped(bench: &Bench, sound: &[Candidate], unsound: &[Candidate], why: Drop) {
    assert!(!sound.is_empty() && unsound.len() >= 3, "{} unsound", unsound.len());
    let filled = bench.fill(mixed(sound, unsound));
    let expected = BTreeMap::from([(why, u64::try_from(unsound.len()).unwrap())]);
    assert_eq!(filled.dropped, expected);
    let ranks = |list: &mut dyn Iterator<Item = &Candidate>| {
        list.map(|candidate| (candidate.kind, candidate.rank)).collect::<BTreeSet<_>>()
    };
    let released = ranks(&mut filled.entries.iter().map(|(candidate, _)| candidate));
    assert_eq!(released, ranks(&mut sound.iter()));
}

#[test]
fn sound_candidates_are_all_released() {
    let bench = Bench::new();
    let all = mixed(&bench.definite, &bench.nei);
    assert!(bench.definite.len() >= 6 && bench.nei.len() >= 4);
    let filled = bench.fill(all.clone());
    assert_eq!((filled.entries.len(), filled.dropped), (all.len(), BTreeMap::new()));
}

/// The first failure of the method's origin: a child who is a sibling, too.
#[test]
fn facts_that_contradict_each_other_are_dropped() {
    let bench = Bench::new();
    let [child, sibling] = ["is_child", "is_sibling"].map(|name| bench.yes(name));
    let twist = |candidate: &Candidate| {
        let mut candidate = candidate.clone();
        for step in [&child, &sibling] {
            candidate.steps.retain(|other| other.variables != step.variables);
            candidate.steps.push(step.clone());
        }
        candidate
    };
    let twist = |list: &[Candidate]| list.iter().map(twist).collect::<Vec<_>>();
    let sound = bench.definite.clone();
    dropped(&bench, &sound, &twist(&bench.definite), Drop::Inconsistent);
    dropped(&bench, &sound, &twist(&bench.nei), Drop::Inconsistent);
}

/// The second one: a label that the facts do not entail.
#[test]
fn labels_that_the_facts_refute_are_dropped() {
    let bench = Bench::new();
    let wrong: Vec<Candidate> = bench
        .definite
        .iter()
        .map(|candidate| {
            let Kind::Definite(value) = candidate.kind else { panic!("not definite") };
            Candidate { kind: Kind::Definite(1 - value), ..candidate.clone() }
        })
        .collect();
    dropped(&bench, &bench.definite, &wrong, Drop::Unentailed);
}

#[test]
fn labels_that_the_facts_leave_open_are_dropped() {
    let bench = Bench::new();
    let mut wrong = Vec::new();
    for candidate in bench.definite.iter().filter(|candidate| candidate.steps.len() > 1) {
        let mut candidate = candidate.clone();
        candidate.steps.pop();
        wrong.push(candidate);
    }
    for candidate in &bench.nei {
        for value in 0..2 {
            wrong.push(Candidate { kind: Kind::Definite(value), ..candidate.clone() });
        }
    }
    dropped(&bench, &bench.definite, &wrong, Drop::Unentailed);
}

#[test]
fn facts_that_decide_are_not_released_as_open() {
    let bench = Bench::new();
    let claim = |candidate: &Candidate| {
        let kind = Kind::Nei(Nei::Cut);
        Candidate { kind, ..candidate.clone() }
    };
    let numeric = |candidate: &Candidate| {
        let terms = &bench.inquiry.policy.terms;
        candidate.variables().iter().any(|id| terms.constant(*id).sort.is_numeric())
    };
    let (numbers, plain): (Vec<Candidate>, Vec<Candidate>) =
        bench.definite.iter().map(claim).partition(numeric);
    dropped(&bench, &bench.nei, &numbers, Drop::DecidedByNumbers);
    assert!(plain.is_empty(), "every path of this policy states a number");
}

/// Entries and drops under a limit, by so many workers.
fn limited(bench: &Bench, rlimit: u32, workers: usize) -> Filled {
    let mut docket = bench.docket.clone();
    docket.limits.rlimit = rlimit;
    let lists = [bench.definite.clone(), bench.nei.clone()];
    let quota = Quota { entries: 40, needed: (0, 999), single: 100, effort: 12 };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(workers).build().unwrap();
    pool.install(|| fill(&docket, &lists, quota, &AtomicBool::new(false), &|_| {}).unwrap())
}

#[test]
fn what_a_limit_leaves_open_is_dropped_alike_by_one_worker_and_two() {
    let mut unknown = 0;
    let mut released = 0;
    let mut policies = 0;
    let mut wrong = Vec::new();
    let invented = (0..60).filter_map(invent).map(|policy| Bench::of(policy.inquiry));
    for bench in [Ok(Bench::new())].into_iter().chain(invented).flatten() {
        policies += 1;
        for rlimit in [40, 160, 640, 2560] {
            let [one, two] = [1, 2].map(|workers| limited(&bench, rlimit, workers));
            if one.entries != two.entries || one.dropped != two.dropped {
                wrong.push(format!(
                    "policy {policies}, limit {rlimit}: {:?} and {:?}",
                    one.dropped, two.dropped
                ));
            }
            unknown += one.dropped.get(&Drop::Unknown).unwrap_or(&0);
            released += one.entries.len();
        }
    }
    eprintln!("{policies} policies: {released} entries, {unknown} unknown");
    assert!(unknown > 50 && released > 500, "{unknown} unknown, {released} released");
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
