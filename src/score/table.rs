//! The scores as a person reads them in a terminal.

use std::fmt::Write as _;

use super::statistics::{Difference, Estimate};
use super::tally::Score;
use super::{Comparison, Report};

/// Few classes make an interval a guess.
const FEW: usize = 20;

/// The whole report.
#[must_use]
pub fn text(report: &Report) -> String {
    let mut out = format!(
        "{}: {} entries, {} definite ({} classes), {} NEI ({} classes)\n\n",
        report.release,
        report.entries,
        report.definite,
        report.clusters_definite,
        report.nei,
        report.clusters_nei
    );
    let all: Vec<&Score> = report.models.iter().chain(&report.baselines).collect();
    let mut rows = vec![header(&["", "balanced", "definite", "NEI", "presumptuous", "timid"])];
    for score in &all {
        let share = |estimate: &Option<Estimate>| rate(estimate.as_ref());
        rows.push(vec![
            score.model.clone(),
            interval(score.balanced.as_ref().or(score.accuracy.as_ref())),
            interval(score.definite.as_ref()),
            interval(score.nei.as_ref()),
            share(&score.presumptuous),
            share(&score.timid),
        ]);
    }
    out.push_str(&columns(&rows));
    let mut rows = vec![header(&[
        "",
        "right",
        "flipped",
        "presumptuous",
        "timid",
        "unparsed",
        "missing",
        "cited P",
        "R",
        "F1",
        "groups",
    ])];
    for score in &report.models {
        let mut row = vec![score.model.clone()];
        for word in ["right", "flipped", "presumptuous", "timid", "unparsed", "missing"] {
            row.push(score.counts.get(word).copied().unwrap_or(0).to_string());
        }
        row.push(rate(score.citation_precision.as_ref()));
        row.push(rate(score.citation_recall.as_ref()));
        row.push(rate(score.citation_f1.as_ref()));
        row.push(rate(score.group_consistency.as_ref()));
        rows.push(row);
    }
    let _ = write!(out, "\n{}", columns(&rows));
    if !report.comparisons.is_empty() {
        let _ = write!(out, "\n{}", comparisons(&report.comparisons));
    }
    let _ = write!(out, "\n{}", breakdown(&report.models));
    if report.clusters_definite.min(report.clusters_nei) < FEW {
        let _ = write!(out, "\nfewer than {FEW} classes of a kind: take the intervals as rough\n");
    }
    out
}

fn comparisons(all: &[Comparison]) -> String {
    let mut rows =
        vec![header(&["first less second", "balanced", "definite", "NEI", "p", "p (Holm)"])];
    for found in all {
        let apart = |d: &Difference| format!("{:+.3} [{:+.3}, {:+.3}]", d.value, d.low, d.high);
        rows.push(vec![
            format!("{} - {}", found.first, found.second),
            apart(&found.balanced),
            apart(&found.definite),
            apart(&found.nei),
            format!("{:.4}", found.balanced.p),
            format!("{:.4}", found.p_corrected),
        ]);
    }
    columns(&rows)
}

fn breakdown(models: &[Score]) -> String {
    let Some(first) = models.first() else { return String::new() };
    let mut head = vec!["accuracy by".to_owned(), String::new(), "entries".to_owned()];
    head.extend(models.iter().map(|model| model.model.clone()));
    let mut rows = vec![head];
    let mut last = "";
    for (at, line) in first.breakdown.iter().enumerate() {
        let by = if line.by == last { String::new() } else { line.by.to_owned() };
        last = line.by;
        let mut row = vec![by, line.value.clone(), line.accuracy.n.to_string()];
        let of = |model: &Score| rate(model.breakdown.get(at).map(|line| &line.accuracy));
        row.extend(models.iter().map(of));
        rows.push(row);
    }
    columns(&rows)
}

fn header(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A rate with three digits, or a dash.
#[must_use]
pub(super) fn rate(estimate: Option<&Estimate>) -> String {
    estimate.map_or("-".to_owned(), |estimate| format!("{:.3}", estimate.value))
}

/// A rate with its interval.
#[must_use]
pub(super) fn interval(estimate: Option<&Estimate>) -> String {
    let show = |e: &Estimate| format!("{:.3} [{:.3}, {:.3}]", e.value, e.low, e.high);
    estimate.map_or("-".to_owned(), show)
}

/// Columns aligned: the first to the left, figures to the right.
fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |at: usize| {
        rows.iter()
            .filter_map(|row| row.get(at))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..count).map(width).collect();
    // A column of words is aligned to the left even if it is the second.
    let words = |at: usize| {
        at == 0
            || rows
                .iter()
                .skip(1)
                .filter_map(|row| row.get(at))
                .any(|cell| cell.starts_with(|letter: char| letter.is_ascii_alphabetic()))
    };
    let left: Vec<bool> = (0..count).map(words).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, width), left) in row.iter().zip(&widths).zip(&left) {
            let pad = " ".repeat(width.saturating_sub(cell.chars().count()));
            let cell = if *left { format!("{cell}{pad}") } else { format!("{pad}{cell}") };
            let _ = write!(line, "{cell}  ");
        }
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}
