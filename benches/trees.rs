//! What growing a tree takes: the class function, then the questions, for every determination of a
//! project.
//!
//! `cargo bench --bench trees -- [FOLDER [NAME...]]`; the repository's own without. Target
//! (DESIGN.md section 6): the largest tree, counts included, in under a second.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "a measurement fails by panicking, and prints"
)]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use deogen::classes::{DiagramClasses, Lemmas};
use deogen::policy::Inquiry;
use deogen::project::Project;
use deogen::solver::{Limits, Meter};
use deogen::space::Space;
use deogen::theory::{Layout, Theory};
use deogen::tree::{Estimate, Variables, grow};
use deogen::{count, slice};

fn main() {
    // Cargo hands `--bench` over.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let root = args.first().map_or(".", String::as_str);
    let project = Project::load(Path::new(root)).unwrap_or_else(|faults| {
        panic!("{}", faults.iter().map(|fault| fault.draw(false)).collect::<String>())
    });
    println!(
        "{:42} {:>7} {:>7} {:>7} {:>7} {:>15} {:>5} {:>6} {:>7}",
        "determination",
        "classes",
        "lemmas",
        "checks",
        "seconds",
        "definite",
        "depth",
        "nodes",
        "seconds"
    );
    for determination in &project.manifest.determinations {
        let name = &determination.id.name;
        if args.len() < 2 || args.iter().skip(1).any(|part| name.contains(part)) {
            match project.inquiry(determination) {
                Ok(inquiry) => measure(name, &inquiry),
                Err(_) => println!("{name:42} has faults; see `deogen check`"),
            }
        }
    }
}

fn measure(name: &str, inquiry: &Inquiry) {
    let start = Instant::now();
    let slice = slice::slice(inquiry, &[]);
    let mut space = match Space::build(inquiry, &slice, 512) {
        Ok(space) => space,
        Err(fault) => return println!("{name:42} {fault}"),
    };
    let levels = u16::try_from(space.levels.len()).unwrap();
    let layout = Layout::new(&(0..levels).map(|l| space.diagram.arity(l)).collect::<Vec<_>>());
    let terms = space.terms.clone();
    let meter = Meter::default();
    let limits = Limits { rlimit: 5_000_000, seed: 0, meter: meter.clone() };
    let theory = Theory::new(&terms, &space, layout.clone(), limits);
    let variables = Variables::new(&space);
    let silent = space.silent();
    let classes = DiagramClasses::new(&mut space, theory, layout, Lemmas::Pairs);
    let mut classes = match classes {
        Ok(classes) => classes,
        Err(stop) => return println!("{name:42} {stop}"),
    };
    let (size, settled) = (classes.size(), start.elapsed());
    let start = Instant::now();
    match grow(&mut classes, &variables, silent, Estimate::Mean, &AtomicBool::new(false)) {
        Ok(tree) => {
            let counts = count::count(&tree);
            let root = &counts[tree.root as usize];
            println!(
                "{name:42} {size:7} {:7} {:7} {:7.2} {:>15} {:5} {:6} {:7.2}",
                classes.lemmas(),
                meter.checks(),
                settled.as_secs_f64(),
                root.leaves(),
                root.depth,
                tree.nodes.len(),
                start.elapsed().as_secs_f64(),
            );
        }
        Err(stop) => println!("{name:42} {stop}"),
    }
}
