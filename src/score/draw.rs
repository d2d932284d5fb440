//! Plots as inline SVG: no script, no font, nothing from elsewhere.

use std::fmt::Write as _;

use super::statistics::Estimate;
use super::tally::Score;

/// Text made safe for markup.
#[must_use]
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Width of the part that names stand in, and of the part that rates are drawn in.
const NAMES: f64 = 220.0;
const PLOT: f64 = 520.0;

fn place(rate: f64) -> f64 {
    NAMES + rate * PLOT
}

/// A name that fits its column.
fn short(name: &str) -> String {
    if name.chars().count() <= 32 {
        return escape(name);
    }
    let end: Vec<char> = name.chars().rev().take(31).collect();
    escape(&format!("…{}", end.into_iter().rev().collect::<String>()))
}

fn frame(title: &str, height: f64, body: &str) -> String {
    let width = NAMES + PLOT + 30.0;
    let mut grid = String::new();
    for tenth in [0_u8, 2, 4, 6, 8, 10] {
        let rate = f64::from(tenth) / 10.0;
        let x = place(rate);
        let _ = write!(
            grid,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"8\" y2=\"{:.1}\"/>\
             <text class=\"tick\" x=\"{x:.1}\" y=\"{:.1}\">{rate:.1}</text>",
            height - 18.0,
            height - 4.0
        );
    }
    format!(
        "<svg viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">{grid}{body}\
         </svg>\n",
        escape(title)
    )
}

/// Definite, NEI and balanced accuracy of every answerer with their intervals.
#[must_use]
pub(super) fn accuracy(scores: &[&Score]) -> String {
    let mut body = String::new();
    let mut y = 18.0;
    for score in scores {
        body.push_str(&name(score, y));
        for (class, estimate) in
            [("definite", &score.definite), ("nei", &score.nei), ("balanced", &score.balanced)]
        {
            if let Some(estimate) = estimate {
                body.push_str(&dot(class, y, estimate));
            }
            y += 8.0;
        }
        y += 12.0;
    }
    frame("accuracy on definite and on NEI entries", y + 20.0, &body)
}

fn name(score: &Score, y: f64) -> String {
    let (x, y) = (NAMES - 10.0, y + 12.0);
    format!("<text class=\"name\" x=\"{x:.0}\" y=\"{y:.1}\">{}</text>", short(&score.model))
}

fn dot(class: &str, y: f64, estimate: &Estimate) -> String {
    let (low, at, high) = (place(estimate.low), place(estimate.value), place(estimate.high));
    format!(
        "<line class=\"{class}\" x1=\"{low:.1}\" x2=\"{high:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
         <circle class=\"{class}\" cx=\"{at:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{class}: {:.3} \
         [{:.3}, {:.3}], n = {}</title></circle>",
        estimate.value, estimate.low, estimate.high, estimate.n
    )
}

/// Shares of entries by outcome, one bar per answerer.
#[must_use]
pub(super) fn outcomes(scores: &[&Score]) -> String {
    let mut body = String::new();
    let mut y = 10.0;
    for score in scores {
        body.push_str(&name(score, y));
        let total: usize = score.counts.values().sum();
        let mut from = 0.0;
        for word in ["right", "flipped", "presumptuous", "timid", "unparsed", "missing"] {
            let count = score.counts.get(word).copied().unwrap_or(0);
            let share = count as f64 / (total.max(1) as f64);
            if count > 0 {
                let _ = write!(
                    body,
                    "<rect class=\"{word}\" x=\"{:.1}\" y=\"{y:.1}\" width=\"{:.1}\" \
                     height=\"16\"><title>{word}: {count}</title></rect>",
                    place(from),
                    share * PLOT
                );
            }
            from += share;
        }
        y += 24.0;
    }
    frame("outcomes", y + 22.0, &body)
}

/// Accuracy by one property, a group of bars per value and a bar per model.
#[must_use]
pub(super) fn breakdown(by: &str, models: &[Score]) -> String {
    let mut body = String::new();
    let mut y = 12.0;
    let Some(first) = models.first() else { return String::new() };
    for (at, line) in first.breakdown.iter().enumerate().filter(|(_, line)| line.by == by) {
        let _ = write!(
            body,
            "<text class=\"name\" x=\"{:.0}\" y=\"{:.1}\">{}</text>",
            NAMES - 10.0,
            y + 9.0,
            short(&format!("{} ({})", line.value, line.accuracy.n))
        );
        for (color, model) in models.iter().enumerate() {
            let Some(line) = model.breakdown.get(at) else { continue };
            let rate = &line.accuracy;
            let _ = write!(
                body,
                "<rect class=\"m{}\" x=\"{NAMES:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"9\">\
                 <title>{}: {:.3}</title></rect><line class=\"reach\" x1=\"{:.1}\" x2=\"{:.1}\" \
                 y1=\"{:.1}\" y2=\"{:.1}\"/>",
                color % 6,
                rate.value * PLOT,
                escape(&model.model),
                rate.value,
                place(rate.low),
                place(rate.high),
                y + 4.5,
                y + 4.5
            );
            y += 11.0;
        }
        y += 8.0;
    }
    frame(&format!("accuracy by {by}"), y + 22.0, &body)
}
