//! Same inputs, same bytes: whatever the number of workers, the solver's seed, the folder and the
//! environment. Every build here has an empty cache of its own.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use deogen::build::{self, Options};
use deogen::stages::News;
use deogen::store::Mode;

use crate::checkout::{Checkout, same};

/// Determinations with many facts, with numbers and with several policies, and yet quick.
const QUICK: [&str; 2] = ["fellows-hiring/appointment-type", "irs-213/medical-care"];

#[test]
fn workers_seeds_folders_and_environments_change_no_byte() {
    let here = Checkout::with(&QUICK);
    here.build(&["-j2"]).ended(0);
    let expected = here.dist();
    assert!(expected.contains_key("irs-213/medical-care.jsonl"));
    let there = Checkout::with(&QUICK);
    assert_ne!(here.root(), there.root());
    let home = tempfile::tempdir().unwrap();
    let run = there
        .command(&["build", "-j1", "--solver-seed", "97"])
        .env("TZ", "Pacific/Kiritimati")
        .env("LANG", "tr_TR.UTF-8")
        .env("LC_ALL", "tr_TR.UTF-8")
        .env("HOME", home.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    same(&expected, &there.dist(), "another folder, seed, environment and number of workers");
    let left: Vec<_> = fs::read_dir(home.path()).unwrap().collect();
    assert!(left.is_empty(), "nothing is written to HOME");
}

/// Builds in a pool of its own; says how many of its threads were seen at work.
fn workers(checkout: &Checkout, threads: usize) -> usize {
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(64 << 20).build().unwrap();
    let seen = Mutex::new(BTreeSet::new());
    let root = checkout.root().to_owned();
    let options = Options { root, cache: Mode::Off, ..Options::default() };
    let ended = pool.install(|| {
        build::build(&options, &AtomicBool::new(false), &|_, _, _: News<'_>| {
            seen.lock().unwrap().insert(rayon::current_thread_index());
        })
    });
    assert!(ended.failure.is_none() && ended.diagnostics.is_empty());
    seen.into_inner().unwrap().len()
}

#[test]
fn two_workers_are_seen_at_work() {
    assert_eq!(workers(&Checkout::with(&QUICK), 2), 2);
    assert_eq!(workers(&Checkout::with(&QUICK[..1]), 1), 1);
}
