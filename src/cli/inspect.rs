//! `deogen show`, `tree`, `export` and `explain`: what a build made and why.

use std::fs;

use super::make::unknown;
use super::{Shell, Status};
use crate::build::{self, Options, prepare, rows_path};
use crate::dataset::Row;
use crate::manifest::Determination;
use crate::outline::Outline;
use crate::policy::Inquiry;
use crate::project::Project;
use crate::render::readable;
use crate::smtlib::{TagStyle, print_policy};
use crate::space::Level;
use crate::stages::{Failure, Grown, Prepared, Run};
use crate::store::{Mode, Store};
use crate::tree::Node;

pub(super) fn project(shell: &Shell) -> Result<Project, Status> {
    Project::load(&shell.root).map_err(|faults| shell.failure(&Failure::Faults(faults)))
}

pub(super) fn determination<'p>(
    shell: &Shell,
    project: &'p Project,
    id: &str,
) -> Result<&'p Determination, Status> {
    let found = project.manifest.determination(id);
    found.ok_or_else(|| unknown(shell, &project.manifest, id))
}

/// Rows of a determination as they lie in `dist`.
pub(super) fn rows(shell: &Shell, project: &Project, det: &Determination) -> Vec<Row> {
    let dist = shell.root.join(&project.manifest.about.dist);
    let path = dist.join(rows_path(&det.id.name, &det.policy.name));
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(super) fn show(
    shell: &Shell,
    what: &[String],
    sample: bool,
    count: usize,
) -> Result<(), Status> {
    let project = project(shell)?;
    if sample || what.is_empty() {
        return show_sample(shell, &project);
    }
    for what in what {
        let shown: Vec<Row> = if project.manifest.determination(what).is_some() {
            let det = determination(shell, &project, what)?;
            rows(shell, &project, det).into_iter().take(count).collect()
        } else {
            let dets = &project.manifest.determinations;
            let all = dets.iter().flat_map(|det| rows(shell, &project, det));
            all.filter(|row| row.id == *what).collect()
        };
        if shown.is_empty() {
            shell.error(&format!("there is no entry and no built determination `{what}`"));
            shell.say("help: run `deogen build` first; ids stand in dist/<policy>/*.jsonl");
            return Err(Status::Usage);
        }
        for row in shown {
            shell.out(&format!("{}\n", readable(&row)))?;
        }
    }
    Ok(())
}

/// One definite and one NEI entry, and where the files are: what `make run` ends with.
fn show_sample(shell: &Shell, project: &Project) -> Result<(), Status> {
    let dist = &project.manifest.about.dist;
    let mut lines = String::from("\nEntries are in:\n");
    let mut examples: Vec<Row> = Vec::new();
    for det in &project.manifest.determinations {
        let all = rows(shell, project, det);
        if all.is_empty() {
            continue;
        }
        let path = dist.join(rows_path(&det.id.name, &det.policy.name));
        lines.push_str(&format!("  {} ({} entries)\n", path.display(), all.len()));
        // Of middle length: short ones say little, long ones are hard to take in at a glance.
        for kind in ["definite", "nei"] {
            let mut of_kind: Vec<&Row> = all.iter().filter(|row| row.kind == kind).collect();
            of_kind.sort_by_key(|row| (row.fact_count.abs_diff(7), &row.id));
            if let Some(row) = of_kind.first()
                && !examples.iter().any(|known| known.kind == kind && known.fact_count >= 5)
            {
                examples.retain(|known| known.kind != kind);
                examples.push((*row).clone());
            }
        }
    }
    if examples.is_empty() {
        shell.error("nothing is built yet");
        shell.say("help: run `deogen build`");
        return Err(Status::Usage);
    }
    lines.push_str(&format!(
        "  {} (what every reader is told first)\n",
        dist.join("prompt.txt").display()
    ));
    shell.out(&lines)?;
    for row in examples {
        let title = if row.kind == "definite" { "A definite entry" } else { "An NEI entry" };
        shell.out(&format!("\n--- {title} ---\n{}", readable(&row)))?;
    }
    shell.out("\nMore: `deogen show <determination>`, `deogen tree <determination>`\n")
}

pub(super) fn with_prepared<T>(
    shell: &Shell,
    id: &str,
    task: impl FnOnce(&Run<'_>, &Prepared) -> Result<T, Failure>,
) -> Result<T, Status> {
    let project = project(shell)?;
    let det = determination(shell, &project, id)?;
    let store = Store::new(&shell.root.join("cache"), Mode::Use);
    let options = Options { root: shell.root.clone(), ..Options::default() };
    let run = build::run(&options, &project, &store, &shell.interrupted, &|_, _, _| {});
    let prepared = prepare(&run, &project, det).map_err(|failure| shell.failure(&failure))?;
    task(&run, &prepared).map_err(|failure| shell.failure(&failure))
}

pub(super) fn export(shell: &Shell, id: &str) -> Result<(), Status> {
    let text = with_prepared(shell, id, |_, prepared| {
        Ok(print_policy(&prepared.inquiry.policy, TagStyle::Attributes))
    })?;
    shell.out(&text)
}

pub(super) fn tree(shell: &Shell, id: &str, dot: bool, depth: usize) -> Result<(), Status> {
    let text = with_prepared(shell, id, |run, prepared| {
        let grown = run.tree(prepared)?;
        Ok(if dot { graphviz(prepared, &grown) } else { outline_text(prepared, &grown, depth) })
    })?;
    shell.out(&text)
}

fn branch_text(inquiry: &Inquiry, outline: &Outline, path: &[(u16, u8)]) -> String {
    let terms = &inquiry.policy.terms;
    let part = |(level, value): &(u16, u8)| match outline.level(*level) {
        Level::Constant(id) => {
            let values = terms.values_of(terms.constant(*id).sort).unwrap_or_default();
            values.get(usize::from(*value)).map_or(String::new(), |value| terms.spell(value))
        }
        Level::Constraint(constraint) => {
            let form: Vec<String> = constraint
                .form()
                .constants()
                .map(|id| {
                    let factor = constraint.form().factor(id);
                    let name = &terms.constant(id).name;
                    if factor == crate::term::Number::from_integer(1.into()) {
                        name.clone()
                    } else {
                        format!("{factor}*{name}")
                    }
                })
                .collect();
            let sign = match (constraint.strict(), *value) {
                (false, 1) => "<=",
                (false, _) => ">",
                (true, 1) => "<",
                (true, _) => ">=",
            };
            format!("{} {sign} {}", form.join(" + "), constraint.bound())
        }
    };
    path.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn leaf_text(prepared: &Prepared, class: u8) -> String {
    let values = &prepared.inquiry.verdict.values;
    match values.get(usize::from(class).wrapping_sub(1)) {
        Some(value) => prepared.inquiry.policy.terms.spell(value),
        None => "silent".to_owned(),
    }
}

fn names(prepared: &Prepared, ids: &[crate::term::ConstId]) -> String {
    let name = |id: &crate::term::ConstId| prepared.inquiry.policy.terms.constant(*id).name.clone();
    ids.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn outline_text(prepared: &Prepared, grown: &Grown, depth: usize) -> String {
    let figures = &grown.figures;
    let mut text = format!(
        "{}: depth {}, {} definite paths, {} NEI nodes, {} silent leaves, {} shared nodes\n",
        prepared.inquiry.id,
        figures.depth,
        figures.paths_definite,
        figures.paths_nei,
        figures.silent,
        figures.states
    );
    let mut stack: Vec<(u32, usize, String)> = vec![(grown.outline.tree.root, 0, String::new())];
    while let Some((node, level, answer)) = stack.pop() {
        let indent = "  ".repeat(level);
        let lead = if answer.is_empty() { String::new() } else { format!("{answer}: ") };
        match grown.outline.node(node) {
            Node::Leaf(class) => {
                text.push_str(&format!("{indent}{lead}= {}\n", leaf_text(prepared, *class)));
            }
            Node::Ask { variables, branches } => {
                text.push_str(&format!("{indent}{lead}{}?", names(prepared, variables)));
                if level >= depth {
                    let below = grown.counts.get(node as usize);
                    let leaves = below.map(|below| below.leaves().to_string()).unwrap_or_default();
                    text.push_str(&format!(" … ({leaves} definite paths)\n"));
                    continue;
                }
                text.push('\n');
                for (path, below) in branches.iter().rev() {
                    let answer = branch_text(&prepared.inquiry, &grown.outline, path);
                    stack.push((*below, level + 1, answer));
                }
            }
        }
    }
    text
}

fn graphviz(prepared: &Prepared, grown: &Grown) -> String {
    let quote = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut text = String::from("digraph tree {\n  node [fontname=\"sans-serif\"];\n");
    for (at, node) in grown.outline.tree.nodes.iter().enumerate() {
        match node {
            Node::Leaf(class) => {
                let label = quote(&leaf_text(prepared, *class));
                text.push_str(&format!("  n{at} [shape=box, label=\"{label}\"];\n"));
            }
            Node::Ask { variables, branches } => {
                let label = quote(&names(prepared, variables));
                text.push_str(&format!("  n{at} [label=\"{label}\"];\n"));
                for (path, below) in branches {
                    let label = quote(&branch_text(&prepared.inquiry, &grown.outline, path));
                    text.push_str(&format!("  n{at} -> n{below} [label=\"{label}\"];\n"));
                }
            }
        }
    }
    text.push_str("}\n");
    text
}
