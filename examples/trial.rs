//! throwaway
use deogen::{
    classes::*, diag::Source, policy::*, slice, smtlib, solver, space::*, theory::*, tree::*,
};
use std::sync::atomic::AtomicBool;
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let src = Source::new(args[1].clone(), text);
    let (file, diags) = smtlib::read("trial", &src);
    for d in diags.iter().take(3) {
        println!("{}", d.draw(false));
    }
    let policy = file.policy;
    let inputs: Vec<String> = if args[2] == "-" {
        vec![]
    } else {
        std::fs::read_to_string(&args[2])
            .unwrap()
            .lines()
            .map(|l| l.trim().to_string())
            .filter(|l| !l.is_empty())
            .collect()
    };
    let askable: Vec<_> = policy
        .terms
        .constants()
        .filter(|(_, c)| inputs.contains(&c.name))
        .map(|(i, _)| i)
        .collect();
    let vterm = policy.names[&args[3]];
    let values = policy.terms.values_of(policy.terms.sort(vterm)).unwrap();
    let inquiry = Inquiry {
        id: "t".into(),
        verdict: VerdictAtom { name: args[3].clone(), term: vterm, values },
        policy,
        askable,
        opaque: vec![],
    };
    let t0 = Instant::now();
    let sl = slice::slice(&inquiry, &[]);
    println!(
        "clauses {} kept {} askable {}",
        inquiry.policy.clauses.len(),
        sl.kept.len(),
        sl.askable.len()
    );
    let mut space = Space::build(&inquiry, &sl, 512).unwrap();
    println!(
        "levels {} constraints {} hidden {} background {} t {:?}",
        space.levels.len(),
        space.constraints.len(),
        space.hidden.len(),
        space.background.len(),
        t0.elapsed()
    );
    let layout = Layout::new(
        &(0..space.levels.len()).map(|l| space.diagram.arity(l as u16)).collect::<Vec<_>>(),
    );
    let terms = space.terms.clone();
    let meter = solver::Meter::default();
    let limits = solver::Limits { rlimit: 5_000_000, seed: 0, meter: meter.clone() };
    let theory = Theory::new(&terms, &space, layout.clone(), limits);
    let vars = Variables::new(&space);
    let silent = space.silent();
    let lem = match args.get(4).map(|s| s.as_str()) {
        Some("none") => Lemmas::None,
        Some("triples") => Lemmas::Triples,
        _ => Lemmas::Pairs,
    };
    let mut classes = DiagramClasses::new(&mut space, theory, layout, lem).unwrap();
    println!(
        "classes size {} lemmas {} checks {} t {:?}",
        classes.size(),
        classes.lemmas(),
        meter.checks(),
        t0.elapsed()
    );
    let tree = grow(&mut classes, &vars, silent, Estimate::Mean, &AtomicBool::new(false)).unwrap();
    println!("lemmas {} checks {}", classes.lemmas(), meter.checks());
    println!("TREE {}", blake3::hash(format!("{:?}", tree).as_bytes()).to_hex());
    // counts
    let n = tree.nodes.len();
    let mut def = vec![0u128; n];
    let mut nei = vec![0u128; n];
    let mut sil = vec![0u128; n];
    let mut depth = vec![0usize; n];
    for (i, node) in tree.nodes.iter().enumerate() {
        match node {
            Node::Leaf(c) => {
                if *c == tree.silent {
                    sil[i] = 1
                } else {
                    def[i] = 1
                }
            }
            Node::Ask { branches, .. } => {
                nei[i] = 1;
                for (_, b) in branches {
                    let b = *b as usize;
                    def[i] += def[b];
                    nei[i] += nei[b];
                    sil[i] += sil[b];
                    depth[i] = depth[i].max(1 + depth[b]);
                }
            }
        }
    }
    let r = tree.root as usize;
    println!(
        "RESULT definite {} silent {} nei {} depth {} nodes {} t {:?}",
        def[r],
        sil[r],
        nei[r] - 1,
        depth[r],
        n,
        t0.elapsed()
    );
}
