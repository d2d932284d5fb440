//! From the text of a policy to its tree, for tests that want nothing of the manifest.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;

use deogen::classes::{DiagramClasses, Lemmas};
use deogen::diag::Source;
use deogen::diagram::Path;
use deogen::policy::{Inquiry, VerdictAtom};
use deogen::reference::{Mirror, SolverClasses};
use deogen::slice::Slice;
use deogen::smtlib;
use deogen::solver::{Limits, Meter};
use deogen::space::Space;
use deogen::theory::{Layout, Theory};
use deogen::tree::{Estimate, Node, Tree, Variables, grow};

/// Reads a policy and asks for `verdict`, where the named constants may be stated.
pub(crate) fn inquiry(text: &str, askable: &[String], verdict: &str, opaque: &[String]) -> Inquiry {
    let source = Source::new("policy.smt2".to_owned(), text.to_owned());
    let (file, faults) = smtlib::read("random", &source);
    let drawn: Vec<String> = faults.iter().map(|fault| fault.draw(false)).collect();
    assert!(drawn.is_empty(), "{}\n{text}", drawn.join("\n"));
    let policy = file.policy;
    let id = |name: &String| policy.constant(name).unwrap_or_else(|| panic!("no constant {name}"));
    let mut askable: Vec<_> = askable.iter().map(id).collect();
    askable.sort_unstable();
    let opaque = opaque.iter().map(id).collect();
    let term = policy.names[verdict];
    let values = policy.terms.values_of(policy.terms.sort(term)).unwrap();
    let verdict = VerdictAtom { name: verdict.to_owned(), term, values };
    Inquiry { id: "random/verdict".to_owned(), policy, verdict, askable, opaque }
}

/// Limits that no test here should reach.
pub(crate) fn limits() -> Limits {
    Limits { rlimit: 5_000_000, seed: 0, meter: Meter::default() }
}

/// Bits of the levels of a space.
pub(crate) fn layout(space: &Space) -> Layout {
    let levels = 0..u16::try_from(space.levels.len()).unwrap();
    Layout::new(&levels.map(|level| space.diagram.arity(level)).collect::<Vec<_>>())
}

/// The tree, grown from the diagram.
pub(crate) fn diagram_tree(space: &mut Space, lemmas: Lemmas) -> Result<Tree, String> {
    let terms = space.terms.clone();
    let layout = layout(space);
    let theory = Theory::new(&terms, space, layout.clone(), limits());
    let (variables, silent) = (Variables::new(space), space.silent());
    let mut classes =
        DiagramClasses::new(space, theory, layout, lemmas).map_err(|stop| stop.to_string())?;
    grow(&mut classes, &variables, silent, Estimate::Mean, &AtomicBool::new(false))
        .map_err(|stop| stop.to_string())
}

/// The space of a slice and its tree.
pub(crate) fn tree(
    inquiry: &Inquiry,
    slice: &Slice,
    lemmas: Lemmas,
) -> Result<(Space, Tree), String> {
    let mut space = Space::build(inquiry, slice, 64).map_err(|fault| fault.to_string())?;
    let tree = diagram_tree(&mut space, lemmas)?;
    Ok((space, tree))
}

/// The tree, grown by asking the solver at every node.
pub(crate) fn solver_tree(space: &Space) -> Result<Tree, String> {
    let mirror = Mirror::new(space).map_err(|fault| fault.to_string())?;
    let mut classes = SolverClasses::new(&mirror, &limits());
    let (variables, silent) = (Variables::new(space), space.silent());
    grow(&mut classes, &variables, silent, Estimate::Mean, &AtomicBool::new(false))
        .map_err(|stop| stop.to_string())
}

/// Whether two trees over different lists of levels are the same, node by node.
pub(crate) fn alike(a: (&Space, &Tree), b: (&Space, &Tree)) -> bool {
    let mut met: HashMap<u32, u32> = HashMap::new();
    let mut stack = vec![(a.1.root, b.1.root)];
    let says = |space: &Space, path: &Path| {
        let mut said: Vec<(String, u8)> = Vec::new();
        for (level, value) in path {
            said.push((format!("{:?}", space.levels[*level as usize]), *value));
        }
        said.sort();
        said
    };
    while let Some((x, y)) = stack.pop() {
        if let Some(known) = met.insert(x, y) {
            if known == y {
                continue;
            }
            return false;
        }
        match (&a.1.nodes[x as usize], &b.1.nodes[y as usize]) {
            (Node::Leaf(class), Node::Leaf(other)) if class == other => {}
            (
                Node::Ask { variables, branches },
                Node::Ask { variables: others, branches: below },
            ) if variables == others && branches.len() == below.len() => {
                let below: HashMap<Vec<(String, u8)>, u32> =
                    below.iter().map(|(path, node)| (says(b.0, path), *node)).collect();
                for (path, node) in branches {
                    let Some(other) = below.get(&says(a.0, path)) else {
                        return false;
                    };
                    stack.push((*node, *other));
                }
            }
            _ => return false,
        }
    }
    true
}
