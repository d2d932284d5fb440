//! The report as one page that needs nothing else.

use std::fmt::Write as _;

use super::draw::{self, escape};
use super::table::{interval, rate};
use super::tally::Score;
use super::{Comparison, Report};

const STYLE: &str = include_str!("page.css");

/// The page.
#[must_use]
pub fn page(report: &Report) -> String {
    let all: Vec<&Score> = report.models.iter().chain(&report.baselines).collect();
    let title = escape(&format!("Scores on {}", report.release));
    let mut body = format!(
        "<h1>{title}</h1>\n<p>{} entries: {} definite in {} classes, {} NEI in {} classes. A class \
         is a determination, an answer and the set of facts asked; intervals are at 95 % and \
         count classes, not entries. A reply that is missing or cannot be read is wrong.</p>\n",
        report.entries, report.definite, report.clusters_definite, report.nei, report.clusters_nei
    );
    let _ = write!(
        body,
        "<h2>Accuracy</h2>\n{}{}{}",
        legend(&["definite", "nei", "balanced"]),
        draw::accuracy(&all),
        accuracy_table(&all)
    );
    let words = ["right", "flipped", "presumptuous", "timid", "unparsed", "missing"];
    let _ = write!(
        body,
        "<h2>Outcomes</h2>\n<p><em>Presumptuous</em>: a definite answer where the facts leave it \
         open. <em>Timid</em>: \"not enough information\" where they settle it. <em>Flipped</em>: \
         another definite answer.</p>\n{}{}{}",
        legend(&words),
        draw::outcomes(&all),
        outcome_table(&all, &words)
    );
    let _ = write!(body, "<h2>Citations (definite entries)</h2>\n{}", citations(&report.models));
    if !report.comparisons.is_empty() {
        let _ = write!(body, "<h2>Comparisons</h2>\n{}", comparisons(&report.comparisons));
    }
    body.push_str("<h2>Breakdown</h2>\n");
    if report.models.len() > 1 {
        body.push_str("<p class=\"legend\">");
        for (at, model) in report.models.iter().enumerate() {
            let name = escape(&model.model);
            let _ = write!(body, "<span class=\"m{}\"></span>{name} ", at % 6);
        }
        body.push_str("</p>\n");
    }
    let mut seen: Vec<&str> = Vec::new();
    for line in report.models.iter().flat_map(|model| &model.breakdown) {
        if !seen.contains(&line.by) {
            seen.push(line.by);
            let _ = write!(
                body,
                "<h3>By {}</h3>\n{}",
                escape(line.by),
                draw::breakdown(line.by, &report.models)
            );
        }
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta \
         name=\"viewport\" content=\"width=device-width\">\n<title>{title}</title>\n<style>\n\
         {STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

fn legend(words: &[&str]) -> String {
    let items: String =
        words.iter().map(|word| format!("<span class=\"{word}\"></span>{word} ")).collect();
    format!("<p class=\"legend\">{items}</p>\n")
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut out = String::from("<table>\n<tr>");
    for name in head {
        let _ = write!(out, "<th>{name}</th>");
    }
    out.push_str("</tr>\n");
    for row in rows {
        out.push_str("<tr>");
        for cell in row {
            let _ = write!(out, "<td>{}</td>", escape(&cell));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
    out
}

fn accuracy_table(scores: &[&Score]) -> String {
    let rows = scores.iter().map(|score| {
        vec![
            score.model.clone(),
            interval(score.balanced.as_ref()),
            interval(score.definite.as_ref()),
            interval(score.nei.as_ref()),
            interval(score.accuracy.as_ref()),
            rate(score.presumptuous.as_ref()),
            rate(score.timid.as_ref()),
            rate(score.group_consistency.as_ref()),
        ]
    });
    let head = ["", "balanced", "definite", "NEI", "all", "presumptuous", "timid", "groups"];
    table(&head, rows)
}

fn outcome_table(scores: &[&Score], words: &[&str]) -> String {
    let mut head = vec![""];
    head.extend(words);
    let rows = scores.iter().map(|score| {
        let count = |word: &&str| score.counts.get(*word).copied().unwrap_or(0).to_string();
        std::iter::once(score.model.clone()).chain(words.iter().map(count)).collect()
    });
    table(&head, rows)
}

fn citations(models: &[Score]) -> String {
    let rows = models.iter().map(|score| {
        vec![
            score.model.clone(),
            interval(score.citation_precision.as_ref()),
            interval(score.citation_recall.as_ref()),
            interval(score.citation_f1.as_ref()),
            interval(score.right_and_cited.as_ref()),
        ]
    });
    table(&["", "precision", "recall", "F1", "right and exactly a support"], rows)
}

fn comparisons(all: &[Comparison]) -> String {
    let rows = all.iter().map(|found| {
        let apart = |d: &super::statistics::Difference| {
            format!("{:+.3} [{:+.3}, {:+.3}]", d.value, d.low, d.high)
        };
        vec![
            format!("{} less {}", found.first, found.second),
            apart(&found.balanced),
            apart(&found.definite),
            apart(&found.nei),
            found.only_first.to_string(),
            found.only_second.to_string(),
            format!("{:.4}", found.balanced.p),
            format!("{:.4}", found.p_corrected),
        ]
    });
    let head = ["", "balanced", "definite", "NEI", "only first", "only second", "p", "p (Holm)"];
    table(&head, rows)
}
