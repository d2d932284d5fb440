//! `deogen explain`: which input of a determination moved, part by part, and what a slice left out.

use super::inspect::{determination, project, with_prepared};
use super::{Shell, Status};
use crate::build::{self, Options, Step};
use crate::digest::Moved;
use crate::slice::Reason;
use crate::stages::{Prepared, changes};
use crate::store::{Mode, Store};

pub(super) fn explain(shell: &Shell, id: &str) -> Result<(), Status> {
    let (steps, store) = {
        let project = project(shell)?;
        let det = determination(shell, &project, id)?;
        let cache = Mode::Require;
        let options = Options { root: shell.root.clone(), cache, ..Options::default() };
        let store = Store::new(&shell.root.join("cache"), cache);
        let steps = build::explain(&options, &project, det, &store, &shell.interrupted);
        (steps.map_err(|failure| shell.failure(&failure))?, store)
    };
    if shell.json {
        for step in &steps {
            shell.out(&format!("{}\n", event(id, step, &store)))?;
        }
        return Ok(());
    }
    let mut text = format!("{id}\n");
    for step in &steps {
        text.push_str(&describe(step, &store));
    }
    if let Some(miss) = steps.iter().rev().find_map(|step| step.miss.as_ref()) {
        let told = |stage: &str| steps.iter().any(|step| step.stage == stage);
        for stage in ["tree", "certify", "render"].into_iter().filter(|stage| !told(stage)) {
            text.push_str(&format!("  {stage}: hangs on the result of `{}`\n", miss.stage));
        }
    }
    text.push_str(&with_prepared(shell, id, |_, prepared| Ok(slice_text(prepared)))?);
    shell.out(&text)
}

/// What differs between a step's key and the newest other one of its kind.
fn moved(step: &Step, store: &Store) -> Vec<Moved> {
    match &step.miss {
        Some(miss) => miss.moved.clone(),
        None => store
            .former(&step.stage, &step.of, &step.fields)
            .map_or_else(Vec::new, |old| step.fields.moved_since(&old.fields)),
    }
}

fn describe(step: &Step, store: &Store) -> String {
    let moved = moved(step, store);
    let same: Vec<&str> = step
        .fields
        .iter()
        .map(|(name, _)| name)
        .filter(|name| !moved.iter().any(|moved| moved.field == *name))
        .collect();
    let mut text = match (&step.miss, moved.is_empty()) {
        (None, true) => format!("  {}: up to date\n", step.stage),
        (None, false) => format!("  {}: up to date; it was made anew because\n", step.stage),
        (Some(miss), true) => format!("  {}: to be made: {}\n", step.stage, miss.reason()),
        (Some(_), false) => format!("  {}: to be made: since the last time\n", step.stage),
    };
    for field in &moved {
        text.push_str(&moved_text(field, store));
    }
    if !moved.is_empty() {
        text.push_str(&format!("    unchanged: {}\n", same.join(", ")));
    }
    text
}

fn moved_text(moved: &Moved, store: &Store) -> String {
    let show = |value: &Option<String>| value.clone().unwrap_or("nothing".to_owned());
    let parts = match (&moved.old, &moved.new) {
        (Some(old), Some(new)) => changes(store, old, new),
        _ => None,
    };
    let Some(parts) = parts else {
        let (old, new) = (show(&moved.old), show(&moved.new));
        return format!("    {} moved: {old} -> {new}\n", moved.field);
    };
    let mut text = String::new();
    for change in parts {
        let line = match (&change.old, &change.new) {
            (Some(old), Some(new)) if old == new => {
                format!("{}: {} changed within", moved.field, change.part)
            }
            (Some(old), Some(new)) => format!(
                "{}: {} changed\n      old: {old}\n      new: {new}",
                moved.field, change.part
            ),
            (None, Some(new)) => format!("{}: {} added: {new}", moved.field, change.part),
            (Some(old), None) => format!("{}: {} removed: {old}", moved.field, change.part),
            (None, None) => format!("{}: {} changed", moved.field, change.part),
        };
        text.push_str(&format!("    {}\n", line.trim_end_matches([':', ' '])));
    }
    text
}

fn event(id: &str, step: &Step, store: &Store) -> serde_json::Value {
    let fields: Vec<serde_json::Value> = moved(step, store)
        .iter()
        .map(|moved| {
            let parts = match (&moved.old, &moved.new) {
                (Some(old), Some(new)) => changes(store, old, new).unwrap_or_default(),
                _ => Vec::new(),
            };
            let parts: Vec<serde_json::Value> = parts
                .iter()
                .map(|c| serde_json::json!({"part": c.part, "old": c.old, "new": c.new}))
                .collect();
            serde_json::json!({
                "field": moved.field, "old": moved.old, "new": moved.new, "parts": parts,
            })
        })
        .collect();
    serde_json::json!({
        "kind": if step.miss.is_some() { "miss" } else { "hit" },
        "determination": id,
        "stage": step.stage,
        "reason": step.miss.as_ref().map_or(String::new(), |miss| miss.reason()),
        "moved": fields,
    })
}

fn slice_text(prepared: &Prepared) -> String {
    let policy = &prepared.inquiry.policy;
    let (kept, all) = (prepared.slice.kept.len(), policy.clauses.len());
    let mut text = format!("  slice: {kept} of {all} clauses\n");
    for (at, reason) in &prepared.slice.dropped {
        let Some(clause) = policy.clauses.get(*at) else { continue };
        let why = match reason {
            Reason::Unread(constant) => {
                format!("nobody reads `{}`", policy.terms.constant(*constant).name)
            }
            Reason::Unconnected => "shares no constant with the verdict".to_owned(),
        };
        text.push_str(&format!("    without {}: {why}\n", clause.qualified(policy)));
    }
    text
}
