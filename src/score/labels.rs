//! Labels of sections as models write them, and when a citation counts.

use std::collections::{BTreeMap, BTreeSet};

/// A label in one spelling: no section sign, no blanks, lower case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Label {
    /// The policy, where it is said.
    pub policy: Option<String>,
    /// As `129(d)(1)`.
    pub text: String,
}

/// Words that may stand before a label.
const BEFORE: [&str; 12] = [
    "subsections",
    "subsection",
    "sections",
    "section",
    "secs.",
    "secs",
    "sec.",
    "sec",
    "irc",
    "i.r.c.",
    "§§",
    "§",
];

impl Label {
    /// A label as rows spell it: `irs-129:129(d)(1)`.
    #[must_use]
    pub fn qualified(text: &str) -> Self {
        match text.split_once(':') {
            Some((policy, label)) => {
                Self { policy: Some(policy.to_lowercase()), text: label.to_lowercase() }
            }
            None => Self { policy: None, text: text.to_lowercase() },
        }
    }

    /// A label as a model writes it; none where it is no label at all.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let mut rest = text.trim().to_lowercase();
        rest.retain(|letter| !matches!(letter, '*' | '`' | '_' | '"' | '\u{201c}' | '\u{201d}'));
        let mut policy = None;
        if let Some((before, after)) = rest.clone().split_once(':') {
            policy = before.split_whitespace().last().map(str::to_owned);
            rest = after.to_owned();
        }
        rest = rest.replace('\u{a0}', " ");
        loop {
            let bare = rest.trim_start();
            let cut = BEFORE.iter().find_map(|word| bare.strip_prefix(word));
            // "26 U.S.C. § 152" names the title before the section.
            let cut = cut.or_else(|| bare.split_once("u.s.c.").map(|(_, after)| after));
            match cut {
                Some(after) => rest = after.to_owned(),
                None => break,
            }
        }
        rest.retain(|letter| !letter.is_whitespace());
        let text = rest.trim_end_matches(['.', ';', ',']).to_owned();
        let label = text.starts_with(|letter: char| letter.is_ascii_alphanumeric())
            && text.chars().any(|letter| letter.is_ascii_digit())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "().-".contains(c));
        label.then_some(Self { policy, text })
    }

    fn below(&self, other: &Self) -> bool {
        let rest = self.text.strip_prefix(other.text.as_str());
        rest.is_some_and(|rest| rest.starts_with('('))
    }
}

/// The labels that texts have.
pub type Labels = BTreeMap<String, BTreeSet<String>>;

/// Whether a citation counts for a label: the label itself or a part of it; the whole of which the
/// label is a part only where the text has no label as fine.
#[must_use]
pub(super) fn counts(cited: &Label, wanted: &Label, texts: &Labels) -> bool {
    if let (Some(a), Some(b)) = (&cited.policy, &wanted.policy)
        && a != b
    {
        return false;
    }
    if cited.text == wanted.text || cited.below(wanted) {
        return true;
    }
    let marked =
        wanted.policy.as_ref().and_then(|policy| texts.get(policy)).is_none_or(|labels| {
            labels.iter().any(|label| label.eq_ignore_ascii_case(&wanted.text))
        });
    wanted.below(cited) && !marked
}

/// Precision, recall and their harmonic mean.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Match {
    /// Share of the citations that count.
    pub precision: f64,
    /// Share of the labels cited.
    pub recall: f64,
    /// Harmonic mean.
    pub f1: f64,
}

/// The citations against the support they fit best; none where there is no support.
#[must_use]
pub(super) fn best(cited: &[Label], supports: &[Vec<Label>], texts: &Labels) -> Option<Match> {
    let cited: BTreeSet<&Label> = cited.iter().collect();
    let against = |support: &Vec<Label>| {
        let right = cited.iter().filter(|c| support.iter().any(|w| counts(c, w, texts))).count();
        let found = support.iter().filter(|w| cited.iter().any(|c| counts(c, w, texts))).count();
        let share = |part: usize, whole: usize| {
            if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
        };
        let (precision, recall) = (share(right, cited.len()), share(found, support.len()));
        let sum = precision + recall;
        let f1 = if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 };
        Match { precision, recall, f1 }
    };
    let supports = supports.iter().filter(|support| !support.is_empty());
    let all = supports.map(against);
    all.reduce(|a, b| if (b.f1, b.precision) > (a.f1, a.precision) { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_read_in_every_spelling() {
        let same = [
            "213(d)(10)",
            "§213(d)(10)",
            "Sec. 213(d)(10)",
            "IRC § 213 (d) (10)",
            "Section 213(d)(10).",
            "**§213(d)(10)**",
            "26 U.S.C. §213(d)(10)",
            "irc section 213(d)(10)",
        ];
        for text in same {
            assert_eq!(Label::read(text).map(|l| l.text).as_deref(), Some("213(d)(10)"), "{text}");
        }
        let label = Label::read("irs-213:213(d)(10)").unwrap();
        assert_eq!(label, Label::qualified("irs-213:213(d)(10)"));
        assert_eq!(Label::read("§7702B(c)(2)(A)").unwrap().text, "7702b(c)(2)(a)");
        for text in ["none", "", "n/a", "the policy", "§"] {
            assert_eq!(Label::read(text), None, "{text}");
        }
    }

    #[test]
    fn the_best_support_counts() {
        let labels = |texts: &[&str]| texts.iter().map(|t| Label::qualified(t)).collect::<Vec<_>>();
        let supports = [labels(&["p:2(c)(2)"]), labels(&["p:3(a)", "p:3(c)"])];
        let none = Labels::new();
        let cited = |texts: &[&str]| best(&labels(texts), &supports, &none).unwrap();
        assert_eq!(cited(&["3(a)", "3(c)"]).f1, 1.0);
        let part = cited(&["3(a)", "9"]);
        assert_eq!((part.precision, part.recall, part.f1), (0.5, 0.5, 0.5));
        // A part of a wanted section counts; the whole of it does not.
        assert_eq!(cited(&["2(c)(2)(A)"]).f1, 1.0);
        assert_eq!(cited(&["2(c)"]).f1, 0.0);
        assert_eq!(cited(&["q:2(c)(2)"]).f1, 0.0);
        assert_eq!(cited(&[]).f1, 0.0);
        assert_eq!(best(&[], &[], &none), None);
        // Where the text has no label as fine, the whole counts.
        let texts = Labels::from([("p".to_owned(), BTreeSet::from(["2(c)".to_owned()]))]);
        assert_eq!(best(&labels(&["2(c)"]), &supports, &texts).unwrap().f1, 1.0);
    }
}
