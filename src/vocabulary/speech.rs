//! Sentences of facts: values into words, and words back into values.
//!
//! Reading is exact: a sentence is heard as a fact only if saying that fact gives the sentence back.

use num_bigint::BigInt;
use num_traits::{One, Signed, Zero};
use rustc_hash::FxHashMap;

use super::{Phrase, Phrases, Words};
use crate::diag::Diagnostic;
use crate::term::{ConstId, Number, Sort, Value, read_number};

/// Where a number stands in a sentence.
pub(super) const VALUE: &str = "{value}";
/// Where the unit stands, as the number needs it.
pub(super) const UNIT: &str = "{unit}";

/// A number with thousands separators, a point where it is no integer: `1,250.5`. None if it has no
/// finite decimal form.
#[must_use]
pub fn number_text(number: &Number) -> Option<String> {
    let sign = if number.is_negative() { "-" } else { "" };
    let size = number.abs();
    let whole = size.to_integer().to_string();
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    let mut rest = size.fract();
    if rest.is_zero() {
        return Some(text);
    }
    if !terminates(rest.denom()) {
        return None;
    }
    text.push('.');
    let ten = Number::from_integer(10.into());
    while !rest.is_zero() {
        rest *= &ten;
        text.push_str(&rest.to_integer().to_string());
        rest = rest.fract();
    }
    Some(text)
}

/// Whether a denominator has no prime factor but 2 and 5.
fn terminates(denominator: &BigInt) -> bool {
    let mut rest = denominator.clone();
    for factor in [2, 5] {
        let factor = BigInt::from(factor);
        while (&rest % &factor).is_zero() {
            rest /= &factor;
        }
    }
    rest.is_one()
}

/// Reads exactly what [`number_text`] writes.
fn read_text(text: &str) -> Option<Number> {
    let number = read_number(&text.replace(',', ""))?;
    (number_text(&number)? == text).then_some(number)
}

/// The sentence of one phrasing, if the value is of the fact's sort.
pub(super) fn sentence(words: &Words, value: &Value, choice: usize) -> Option<String> {
    let phrases = phrasings(words, value)?;
    // Any choice is legal: phrasings are few and choosers draw from a large range.
    let phrase = phrases.get(choice.checked_rem(phrases.len())?)?;
    match value {
        Value::Number(number) => {
            let digits = number_text(number)?;
            Some(phrase.text.replace(UNIT, unit(words, number)).replace(VALUE, &digits))
        }
        Value::Bool(_) | Value::Enum(..) => Some(phrase.text.clone()),
    }
}

/// The phrasings of a value.
pub(super) fn phrasings<'w>(words: &'w Words, value: &Value) -> Option<&'w [Phrase]> {
    match (&words.phrases, value) {
        (Phrases::Bool { yes, .. }, Value::Bool(true)) => Some(yes),
        (Phrases::Bool { no, .. }, Value::Bool(false)) => Some(no),
        (Phrases::Number(say), Value::Number(number))
            if words.sort != Sort::Int || number.is_integer() =>
        {
            Some(say)
        }
        (Phrases::Enum(values), Value::Enum(_, at)) => values.get(*at as usize).map(Vec::as_slice),
        _ => None,
    }
}

fn unit<'w>(words: &'w Words, number: &Number) -> &'w str {
    let Some((one, many)) = &words.unit else {
        return "";
    };
    if number.abs().is_one() { one } else { many }
}

/// A numeric phrasing cut at its number.
#[derive(Clone, Debug)]
struct Pattern {
    after: String,
    words: usize,
    choice: usize,
}

/// All sentences of a vocabulary, ready to be recognized.
#[derive(Clone, Debug, Default)]
pub(super) struct Hearing {
    exact: FxHashMap<String, (ConstId, Value)>,
    numeric: FxHashMap<String, Vec<Pattern>>,
}

impl Hearing {
    /// The index of some facts; sentences that two facts or two values share are faults.
    pub(super) fn build(all: &[Words]) -> (Self, Vec<Diagnostic>) {
        let mut hearing = Self::default();
        let mut faults = Vec::new();
        let mut places: FxHashMap<String, &Phrase> = FxHashMap::default();
        for (index, words) in all.iter().enumerate() {
            for (value, phrase) in fixed(words) {
                if let Some(first) = places.insert(phrase.text.clone(), phrase) {
                    faults.push(shared(phrase, first));
                }
                hearing.exact.entry(phrase.text.clone()).or_insert((words.constant, value));
            }
            let Phrases::Number(say) = &words.phrases else {
                continue;
            };
            for (choice, phrase) in say.iter().enumerate() {
                if let Some(first) = places.insert(phrase.text.clone(), phrase) {
                    faults.push(shared(phrase, first));
                }
                let forms = words.unit.iter().flat_map(|(one, many)| [one.as_str(), many]);
                let forms: Vec<&str> =
                    if phrase.text.contains(UNIT) { forms.collect() } else { vec![""] };
                for form in forms {
                    let text = phrase.text.replace(UNIT, form);
                    let Some((before, after)) = text.split_once(VALUE) else {
                        continue;
                    };
                    let pattern = Pattern { after: after.to_owned(), words: index, choice };
                    hearing.numeric.entry(before.to_owned()).or_default().push(pattern);
                }
            }
        }
        if faults.is_empty() {
            faults = hearing.overlaps(all);
        }
        (hearing, faults)
    }

    /// Sentences that are heard as another fact once a number is put in. Numbers that occur in the
    /// phrasings themselves are what such an overlap needs, so those are tried.
    fn overlaps(&self, all: &[Words]) -> Vec<Diagnostic> {
        let mut numbers: Vec<Number> =
            [0, 1, 2, 1_250].map(|n: i64| Number::from_integer(n.into())).to_vec();
        for words in all {
            let phrases: Vec<&Phrase> = match &words.phrases {
                Phrases::Number(say) => say.iter().collect(),
                _ => fixed(words).into_iter().map(|(_, phrase)| phrase).collect(),
            };
            for phrase in phrases {
                let runs = phrase.text.split(|c: char| !c.is_ascii_digit() && !",.".contains(c));
                numbers.extend(runs.filter_map(|run| read_text(run.trim_matches(['.', ',']))));
            }
        }
        numbers.sort();
        numbers.dedup();
        let mut faults = Vec::new();
        for words in all {
            for (value, phrase) in fixed(words) {
                self.overlap(all, words, &value, 0, phrase, &mut faults);
            }
            let Phrases::Number(say) = &words.phrases else {
                continue;
            };
            for (choice, phrase) in say.iter().enumerate() {
                let fitting = numbers.iter().filter(|n| words.sort != Sort::Int || n.is_integer());
                for number in fitting {
                    let value = Value::Number(number.clone());
                    if self.overlap(all, words, &value, choice, phrase, &mut faults) {
                        break;
                    }
                }
            }
        }
        faults
    }

    fn overlap(
        &self,
        all: &[Words],
        words: &Words,
        value: &Value,
        choice: usize,
        phrase: &Phrase,
        faults: &mut Vec<Diagnostic>,
    ) -> bool {
        let text = match value {
            Value::Number(_) => sentence(words, value, choice),
            Value::Bool(_) | Value::Enum(..) => Some(phrase.text.clone()),
        };
        let Some(text) = text else { return false };
        let heard = self.hear_all(all, &text);
        let other =
            heard.iter().find(|(constant, found, _)| (*constant, found) != (words.constant, value));
        let Some((_, _, place)) = other else {
            return false;
        };
        let message = format!("two facts share `{text}`");
        if faults.iter().any(|fault| fault.message == message) {
            return true;
        }
        let mut fault =
            Diagnostic::error("shared-sentence", message).at(phrase.span.clone(), "said here");
        let mut fixed = all.iter().flat_map(fixed).map(|(_, phrase)| phrase);
        if let Some(place) = place.or_else(|| fixed.find(|phrase| phrase.text == text)) {
            fault = fault.at(place.span.clone(), "and here");
        }
        faults.push(fault.hint("word one of them differently"));
        true
    }

    /// The fact a sentence states.
    pub(super) fn hear(&self, all: &[Words], text: &str) -> Option<(ConstId, Value)> {
        if let Some(found) = self.exact.get(text) {
            return Some(found.clone());
        }
        self.numbers(all, text).next().map(|(constant, value, _)| (constant, value))
    }

    fn hear_all<'w>(
        &self,
        all: &'w [Words],
        text: &str,
    ) -> Vec<(ConstId, Value, Option<&'w Phrase>)> {
        let exact = self.exact.get(text).map(|(constant, value)| (*constant, value.clone(), None));
        let numbers = self.numbers(all, text).map(|(id, value, phrase)| (id, value, Some(phrase)));
        exact.into_iter().chain(numbers).collect()
    }

    fn numbers<'h, 'w: 'h>(
        &'h self,
        all: &'w [Words],
        text: &'h str,
    ) -> impl Iterator<Item = (ConstId, Value, &'w Phrase)> + 'h {
        let starts = text
            .char_indices()
            .filter(|(_, c)| c.is_ascii_digit() || *c == '-')
            .filter_map(move |(at, _)| text.split_at_checked(at));
        starts.flat_map(move |(before, rest)| {
            let patterns = self.numeric.get(before).into_iter().flatten();
            patterns.filter_map(move |pattern| {
                let words = all.get(pattern.words)?;
                let number = read_text(rest.strip_suffix(pattern.after.as_str())?)?;
                let value = Value::Number(number);
                let Phrases::Number(say) = &words.phrases else {
                    return None;
                };
                let said = sentence(words, &value, pattern.choice)?;
                Some((words.constant, value, say.get(pattern.choice)?)).filter(|_| said == text)
            })
        })
    }
}

/// The sentences without a number, each with what it states.
fn fixed(words: &Words) -> Vec<(Value, &Phrase)> {
    match (&words.phrases, words.sort) {
        (Phrases::Bool { yes, no }, _) => {
            let yes = yes.iter().map(|phrase| (Value::Bool(true), phrase));
            yes.chain(no.iter().map(|phrase| (Value::Bool(false), phrase))).collect()
        }
        (Phrases::Enum(values), Sort::Enum(id)) => (0_u32..)
            .zip(values)
            .flat_map(|(at, phrases)| {
                phrases.iter().map(move |phrase| (Value::Enum(id, at), phrase))
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn shared(phrase: &Phrase, first: &Phrase) -> Diagnostic {
    let message = format!("the sentence `{}` is there twice", phrase.text);
    Diagnostic::error("shared-sentence", message)
        .at(phrase.span.clone(), "again here")
        .at(first.span.clone(), "first here")
        .hint("word one of them differently, so that a reader knows which fact is stated")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_exact() {
        let check = |spelled: &str, expect: Option<&str>| {
            let number = read_number(spelled).unwrap();
            let text = number_text(&number);
            assert_eq!(text.as_deref(), expect, "{spelled}");
            if let Some(text) = text {
                assert_eq!(read_text(&text), Some(number), "{spelled}");
            }
        };
        check("0", Some("0"));
        check("999", Some("999"));
        check("1000", Some("1,000"));
        check("-1234567", Some("-1,234,567"));
        check("2.50", Some("2.5"));
        check("-1/8", Some("-0.125"));
        check("12345.0625", Some("12,345.0625"));
        check("1/3", None);
        for odd in ["1000", "1,00", "01", "+1", "1.", "1.50", ".5", "--1", "-0", "1/2", ""] {
            assert_eq!(read_text(odd), None, "{odd}");
        }
    }
}
