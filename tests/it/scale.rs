//! Policies with the shape of real ones: what holds for small ones holds for them.

use std::fs;
use std::path::Path;
use std::time::Instant;

use deogen::classes::Lemmas;
use deogen::count;
use deogen::policy::Inquiry;
use deogen::project::Project;
use deogen::slice;
use deogen::tree::Tree;

use crate::engine;

/// A scale policy; comments at its head name facts and verdict.
fn load(name: &str) -> Inquiry {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(root.join("tests/data").join(name)).unwrap();
    let mut facts = Vec::new();
    let mut verdict = String::new();
    for line in text.lines() {
        if let Some(names) = line.strip_prefix("; facts: ") {
            facts.extend(names.split(' ').map(str::to_owned));
        }
        if let Some(name) = line.strip_prefix("; verdict: ") {
            name.clone_into(&mut verdict);
        }
    }
    engine::inquiry(&text, &facts, &verdict, &[])
}

fn describe(what: &str, tree: &Tree, start: Instant) {
    let counts = count::count(tree);
    let root = &counts[tree.root as usize];
    eprintln!(
        "{what}: {} definite paths, {} silent, depth {}, {} nodes, {:.1} s",
        root.leaves(),
        root.silent,
        root.depth,
        tree.nodes.len(),
        start.elapsed().as_secs_f64()
    );
}

fn grown(inquiry: &Inquiry, whole: bool, lemmas: Lemmas) -> (deogen::space::Space, Tree) {
    let start = Instant::now();
    let slice = if whole { slice::whole(inquiry) } else { slice::slice(inquiry, &[]) };
    let grown = engine::tree(inquiry, &slice, lemmas).unwrap();
    describe(&format!("{lemmas:?}, {} clauses", slice.kept.len()), &grown.1, start);
    grown
}

fn same_in_every_way(name: &str) {
    let inquiry = load(name);
    let pairs = grown(&inquiry, false, Lemmas::Pairs);
    let whole = grown(&inquiry, true, Lemmas::Pairs);
    assert!(engine::alike((&pairs.0, &pairs.1), (&whole.0, &whole.1)), "slicing changes the tree");
    let triples = grown(&inquiry, false, Lemmas::Triples);
    assert!(pairs.1 == triples.1, "pairs and triples of signs grow different trees");
    let none = grown(&inquiry, false, Lemmas::None);
    assert!(pairs.1 == none.1, "no lemmas and pairs of signs grow different trees");
}

#[test]
fn the_plan_is_one_tree() {
    same_in_every_way("plan.smt2");
}

#[test]
fn the_section_is_one_tree() {
    same_in_every_way("section.smt2");
}

#[test]
fn the_solver_alone_grows_the_trees_of_small_determinations() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let project = Project::load(root).unwrap_or_else(|_| panic!("the repository's own project"));
    let wanted = std::env::var("DEOGEN_DETERMINATION");
    let wanted = wanted.as_deref().unwrap_or("fellows-hiring/appointment-type");
    let mut seen = 0;
    for determination in &project.manifest.determinations {
        if !wanted.split(',').any(|id| id == determination.id.name) {
            continue;
        }
        let inquiry = project.inquiry(determination).unwrap();
        let (space, tree) = grown(&inquiry, false, Lemmas::Pairs);
        let start = Instant::now();
        let other = engine::solver_tree(&space).unwrap();
        describe(&determination.id.name, &other, start);
        assert!(other == tree, "{} differs", determination.id.name);
        seen += 1;
    }
    assert!(seen > 0);
}
