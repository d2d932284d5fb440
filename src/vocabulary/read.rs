//! `vocabulary.toml` to words, checked against the policy they belong to.

use std::collections::BTreeMap;

use num_traits::Signed;
use toml::Spanned;

use super::raw::{Literal, RawFact, RawPhrases, RawVocabulary};
use super::speech::{UNIT, VALUE};
use super::{Phrase, Phrases, Words};
use crate::diag::{Diagnostic, Source, Span, nearest};
use crate::policy::fits;
use crate::smtlib::PolicyFile;
use crate::tables;
use crate::term::{ConstId, Number, Sort, Value, read_number};

type Derived = BTreeMap<String, String>;

/// Reads the file; what has a fault is left out.
pub(super) fn read(source: &Source, file: &PolicyFile) -> (Vec<Words>, Derived, Vec<Diagnostic>) {
    let (raw, faults) = tables::read::<RawVocabulary>(source);
    let mut reader = Reader { source, file, faults };
    let Some(raw) = raw else {
        return (Vec::new(), Derived::new(), reader.faults);
    };
    let mut words = Vec::new();
    for (name, fact) in &raw.facts {
        let span = reader.span(name.span());
        let Some(constant) = reader.constant(name.get_ref(), &span) else {
            continue;
        };
        words.extend(reader.fact(constant, fact.get_ref(), span));
    }
    let mut derived = Derived::new();
    for (name, words) in &raw.derived {
        let span = reader.span(name.span());
        if reader.derived(name.get_ref(), &span) {
            reader.plain(words.name.get_ref(), &reader.span(words.name.span()));
            derived.insert(name.get_ref().clone(), words.name.get_ref().clone());
        }
    }
    reader.faults.sort_by_key(|fault| fault.places.first().map(|(span, _)| span.range.start));
    (words, derived, reader.faults)
}

struct Reader<'r> {
    source: &'r Source,
    file: &'r PolicyFile,
    faults: Vec<Diagnostic>,
}

impl Reader<'_> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.source, range)
    }

    fn error(&mut self, code: &'static str, message: String, span: &Span, hint: impl Into<String>) {
        self.faults.push(Diagnostic::error(code, message).at(span.clone(), "").hint(hint));
    }

    /// The policy that a name is imported from.
    fn home(&self, name: &str) -> Option<String> {
        let imports = self.file.imports.iter();
        let mut found =
            imports.filter(|import| import.names.iter().any(|(known, _)| known == name));
        found.next().map(|import| import.policy.clone())
    }

    fn constant(&mut self, name: &str, span: &Span) -> Option<ConstId> {
        if let Some(home) = self.home(name) {
            let message = format!("`{name}` is imported");
            let hint = format!("its words stand in the vocabulary of `{home}`; remove them here");
            self.error("imported-words", message, span, hint);
            return None;
        }
        let constant = self.file.policy.constant(name);
        if constant.is_none() {
            let hint = self.suggestion(name);
            self.error("unknown-constant", format!("no constant `{name}`"), span, hint);
        }
        constant
    }

    fn derived(&mut self, name: &str, span: &Span) -> bool {
        let known = self.file.policy.names.contains_key(name);
        if !known {
            let hint = self.suggestion(name);
            self.error("unknown-constant", format!("no constant `{name}`"), span, hint);
        }
        known
    }

    fn suggestion(&self, name: &str) -> String {
        let known = self.file.policy.names.keys().map(String::as_str);
        nearest(name, known).map_or_else(
            || "words are for the constants that policy.smt2 declares".to_owned(),
            |near| format!("did you mean `{near}`?"),
        )
    }

    fn fact(&mut self, constant: ConstId, raw: &RawFact, span: Span) -> Option<Words> {
        let declared = self.file.policy.terms.constant(constant);
        let (name, sort) = (declared.name.clone(), declared.sort);
        let before = self.faults.len();
        self.foreign_keys(&name, sort, raw);
        let phrases = match sort {
            Sort::Bool => Phrases::Bool {
                yes: self.phrases(&name, "true", raw.yes.as_ref(), raw.ask, &span),
                no: self.phrases(&name, "false", raw.no.as_ref(), raw.ask, &span),
            },
            Sort::Int | Sort::Real => {
                let say = self.phrases(&name, "say", raw.say.as_ref(), raw.ask, &span);
                self.templates(&say, raw);
                Phrases::Number(say)
            }
            Sort::Enum(_) => self.values(&name, sort, raw, &span),
        };
        let words = Words {
            constant,
            sort,
            ask: raw.ask,
            subject: raw.subject.clone(),
            name: raw.name.clone().unwrap_or(name),
            phrases: if is_empty(&phrases) { Phrases::None } else { phrases },
            unit: raw.unit.as_ref().and_then(|unit| self.unit(unit)),
            bounds: raw.bounds.as_ref().and_then(|bounds| self.bounds(bounds, sort)),
            typical: raw.typical.as_ref().map_or_else(Vec::new, |list| self.numbers(list, sort)),
            step: raw.step.as_ref().and_then(|step| self.step(step, sort)),
            presumed: raw.presumed.as_ref().and_then(|value| self.presumed(value, sort)),
            span,
        };
        self.typical_in_bounds(&words, raw);
        (self.faults.len() == before).then_some(words)
    }

    /// Keys that belong to facts of another sort.
    fn foreign_keys(&mut self, name: &str, sort: Sort, raw: &RawFact) {
        let place = |part: &Option<RawPhrases>| part.as_ref().map(Spanned::span);
        let number = sort.is_numeric();
        let literal = |part: &Option<Spanned<Literal>>| part.as_ref().map(Spanned::span);
        let list = |part: &Option<Spanned<Vec<Spanned<Literal>>>>| part.as_ref().map(Spanned::span);
        let keys = [
            ("true", place(&raw.yes), sort == Sort::Bool),
            ("false", place(&raw.no), sort == Sort::Bool),
            ("say", place(&raw.say), number),
            ("values", raw.values.as_ref().map(Spanned::span), matches!(sort, Sort::Enum(_))),
            ("unit", raw.unit.as_ref().map(Spanned::span), number),
            ("bounds", list(&raw.bounds), number),
            ("typical", list(&raw.typical), number),
            ("step", literal(&raw.step), sort == Sort::Real),
        ];
        for (key, range, fitting) in keys {
            if let (Some(range), false) = (range, fitting) {
                let kind = self.file.policy.terms.sort_name(sort);
                let hint = match sort {
                    _ if key == "step" => "only a Real has a step",
                    _ if ["unit", "bounds", "typical"].contains(&key) => "only a number has it",
                    Sort::Bool => "a Bool has sentences for `true` and `false`",
                    Sort::Int | Sort::Real => "a number has sentences in `say`",
                    Sort::Enum(_) => "an enumeration has sentences in `values`",
                };
                let span = self.span(range);
                let message = format!("`{name}` is {kind}: it takes no `{key}`");
                self.error("wrong-sort", message, &span, hint);
            }
        }
    }

    fn phrases(
        &mut self,
        name: &str,
        key: &str,
        raw: Option<&RawPhrases>,
        needed: bool,
        place: &Span,
    ) -> Vec<Phrase> {
        let Some(raw) = raw else {
            if needed {
                let message = format!("`{name}` has no sentence for `{key}`");
                let hint = format!("add `{key} = [\"…\"]`, or `ask = false` if it is never stated");
                self.error("missing-words", message, place, hint);
            }
            return Vec::new();
        };
        if raw.get_ref().is_empty() {
            let span = self.span(raw.span());
            self.error(
                "empty-list",
                "an empty list".to_owned(),
                &span,
                "give one sentence or more",
            );
        }
        let mut phrases = Vec::new();
        for phrase in raw.get_ref() {
            let span = self.span(phrase.span());
            self.plain(phrase.get_ref(), &span);
            if key != "say" && phrase.get_ref().contains(['{', '}']) {
                let hint = "only sentences of numbers have `{value}` and `{unit}`";
                self.error(
                    "bad-template",
                    "a placeholder without a number".to_owned(),
                    &span,
                    hint,
                );
            }
            phrases.push(Phrase { text: phrase.get_ref().clone(), span });
        }
        phrases
    }

    /// A text that can stand in a sentence of its own.
    fn plain(&mut self, text: &str, span: &Span) {
        let message = if text.trim().is_empty() {
            "an empty text"
        } else if text.trim() != text || text.contains(['\n', '\r', '\t']) {
            "a text with white space around it or lines in it"
        } else {
            return;
        };
        self.error("bad-template", message.to_owned(), span, "write one plain sentence");
    }

    fn templates(&mut self, say: &[Phrase], raw: &RawFact) {
        for phrase in say {
            let (text, span) = (&phrase.text, &phrase.span);
            let pieces: Vec<&str> = text.split(VALUE).collect();
            let [before, after] = pieces.as_slice() else {
                let message = match pieces.len() {
                    1 => "the sentence has no `{value}`".to_owned(),
                    _ => "the sentence has `{value}` twice".to_owned(),
                };
                self.error("bad-template", message, span, "write `{value}` once");
                continue;
            };
            let digit = |c: char| c.is_ascii_digit();
            let beside = before.ends_with(|c| digit(c) || "-,.".contains(c))
                || after.starts_with(digit)
                || after.strip_prefix([',', '.']).is_some_and(|rest| rest.starts_with(digit));
            if beside {
                let message = "a digit or sign beside `{value}`".to_owned();
                self.error("bad-template", message, span, "put a word or a space between");
            }
            let rest = format!("{before}{after}").replace(UNIT, "");
            if rest.contains(['{', '}']) {
                let message = "an unknown placeholder".to_owned();
                self.error("bad-template", message, span, "there are `{value}` and `{unit}`");
            }
            if text.contains(UNIT) && raw.unit.is_none() {
                let message = "`{unit}` without a unit".to_owned();
                self.error("bad-template", message, span, "add `unit = \"year|years\"`");
            }
        }
    }

    fn values(&mut self, name: &str, sort: Sort, raw: &RawFact, place: &Span) -> Phrases {
        let Sort::Enum(id) = sort else {
            return Phrases::None;
        };
        let constructors = self.file.policy.terms.enumeration(id).constructors.clone();
        let Some(values) = &raw.values else {
            if raw.ask {
                let message = format!("`{name}` has no sentences");
                let hint = format!("add `[facts.{name}.values]` with a line for each value");
                self.error("missing-words", message, place, hint);
            }
            return Phrases::None;
        };
        for (key, _) in values.get_ref() {
            if !constructors.contains(key.get_ref()) {
                let near = nearest(key.get_ref(), constructors.iter().map(String::as_str));
                let hint = near.map_or_else(
                    || format!("its values are `{}`", constructors.join("`, `")),
                    |near| format!("did you mean `{near}`?"),
                );
                let span = self.span(key.span());
                let message = format!("`{name}` has no value `{}`", key.get_ref());
                self.error("unknown-constant", message, &span, hint);
            }
        }
        let lists = constructors.iter().map(|constructor| {
            let raw = values.get_ref().iter().find(|(key, _)| key.get_ref() == constructor);
            self.phrases(name, constructor, raw.map(|(_, list)| list), true, place)
        });
        Phrases::Enum(lists.collect())
    }

    fn unit(&mut self, raw: &Spanned<String>) -> Option<(String, String)> {
        let text = raw.get_ref();
        let (one, many) = text.split_once('|').unwrap_or((text, text));
        let span = self.span(raw.span());
        let before = self.faults.len();
        self.plain(one, &span);
        if many != one {
            self.plain(many, &span);
        }
        if text.contains(['{', '}']) || many.contains('|') {
            let message = "a unit is one word, or two: singular and plural".to_owned();
            self.error("bad-template", message, &span, "write `unit = \"year|years\"`");
        }
        (self.faults.len() == before).then(|| (one.to_owned(), many.to_owned()))
    }

    /// An exact number of the sort, read from its digits in the text.
    fn number(&mut self, raw: &Spanned<Literal>, sort: Sort) -> Option<Number> {
        if !sort.is_numeric() {
            return None;
        }
        let span = self.span(raw.span());
        let text = self.source.text().get(raw.span()).unwrap_or("");
        let digits = text.trim_matches(['"', '\'']).replace('_', "");
        match read_number(&digits) {
            Some(number) if fits(&Value::Number(number.clone()), sort) => Some(number),
            Some(_) => {
                let message = format!("`{text}` is not whole");
                self.error("wrong-sort", message, &span, "the fact is an Int: write whole numbers");
                None
            }
            None => {
                let message = format!("`{text}` is not a number");
                self.error("wrong-sort", message, &span, "write digits, such as `12` or `0.5`");
                None
            }
        }
    }

    fn numbers(&mut self, raw: &Spanned<Vec<Spanned<Literal>>>, sort: Sort) -> Vec<Number> {
        raw.get_ref().iter().filter_map(|one| self.number(one, sort)).collect()
    }

    fn bounds(
        &mut self,
        raw: &Spanned<Vec<Spanned<Literal>>>,
        sort: Sort,
    ) -> Option<(Number, Number)> {
        let span = self.span(raw.span());
        if raw.get_ref().len() != 2 {
            let message = format!("bounds are two numbers, not {}", raw.get_ref().len());
            self.error("bad-bounds", message, &span, "write `bounds = [0, 120]`");
            return None;
        }
        let numbers = self.numbers(raw, sort);
        let [low, high] = numbers.as_slice() else {
            return None;
        };
        if low > high {
            let message = format!("the lower bound {low} is above the upper bound {high}");
            self.error("bad-bounds", message, &span, format!("write `bounds = [{high}, {low}]`"));
            return None;
        }
        Some((low.clone(), high.clone()))
    }

    fn typical_in_bounds(&mut self, words: &Words, raw: &RawFact) {
        let (Some((low, high)), Some(list)) = (&words.bounds, &raw.typical) else {
            return;
        };
        if words.typical.len() != list.get_ref().len() {
            return;
        }
        for (number, place) in words.typical.iter().zip(list.get_ref()) {
            if number < low || number > high {
                let span = self.span(place.span());
                let message = format!("typical value {number} is outside the bounds");
                self.error("bad-bounds", message, &span, format!("stay within {low} and {high}"));
            }
        }
    }

    fn step(&mut self, raw: &Spanned<Literal>, sort: Sort) -> Option<Number> {
        let step = self.number(raw, sort)?;
        if !step.is_positive() {
            let span = self.span(raw.span());
            self.error(
                "bad-bounds",
                "a step is above zero".to_owned(),
                &span,
                "write `step = 0.01`",
            );
            return None;
        }
        Some(step)
    }

    fn presumed(&mut self, raw: &Spanned<Literal>, sort: Sort) -> Option<Value> {
        if sort.is_numeric() {
            return self.number(raw, sort).map(Value::Number);
        }
        let span = self.span(raw.span());
        let text = self.source.text().get(raw.span()).unwrap_or("");
        let terms = &self.file.policy.terms;
        let value = terms.read(text.trim_matches(['"', '\'']), sort);
        if value.is_none() {
            let values: Vec<String> = terms
                .values_of(sort)
                .into_iter()
                .flatten()
                .map(|value| terms.spell(&value))
                .collect();
            let message = format!("`{text}` is not a value of this fact");
            let hint = format!("write one of `{}`", values.join("`, `"));
            self.error("wrong-sort", message, &span, hint);
        }
        value
    }
}

fn is_empty(phrases: &Phrases) -> bool {
    match phrases {
        Phrases::None => true,
        Phrases::Bool { yes, no } => yes.is_empty() || no.is_empty(),
        Phrases::Number(say) => say.is_empty(),
        Phrases::Enum(values) => values.iter().any(Vec::is_empty),
    }
}
