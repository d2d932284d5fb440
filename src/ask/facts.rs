//! Facts as a person or a file states them, read against a joined policy.

use serde_json::Value as Json;

use crate::diag::nearest;
use crate::policy::{Facts, Inquiry};
use crate::term::{ConstId, Sort, Value};
use crate::vocabulary::Vocabulary;

/// Why a fact cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactFault {
    /// What is wrong, one line.
    pub message: String,
    /// A way out.
    pub hint: String,
}

fn fault(message: String, hint: impl Into<String>) -> FactFault {
    FactFault { message, hint: hint.into() }
}

/// Reads facts for one determination.
pub struct Reader<'r> {
    inquiry: &'r Inquiry,
    vocabulary: &'r Vocabulary,
}

impl<'r> Reader<'r> {
    /// A reader.
    #[must_use]
    pub fn new(inquiry: &'r Inquiry, vocabulary: &'r Vocabulary) -> Self {
        Self { inquiry, vocabulary }
    }

    /// Adds `name=value`, or a sentence of the vocabulary.
    ///
    /// # Errors
    /// No such fact, no such value, or another value was stated before.
    pub fn argument(&self, text: &str, facts: &mut Facts) -> Result<(), FactFault> {
        if let Some((id, value)) = self.vocabulary.hear(text.trim()) {
            return self.add(id, value, facts);
        }
        let Some((name, value)) = text.split_once('=') else {
            let hint = "write `--fact name=value`, or a sentence of the vocabulary";
            return Err(fault(format!("`{text}` states no fact"), hint));
        };
        self.pair(name.trim(), value.trim(), facts)
    }

    /// The scenarios of a file: one JSON object name to value; or JSON lines, each a row, or the
    /// `facts` of a row, or each one fact of a single scenario.
    ///
    /// # Errors
    /// As for [`Reader::argument`], or the file is no such JSON.
    pub fn file(&self, text: &str) -> Result<Vec<Facts>, FactFault> {
        let stream = serde_json::Deserializer::from_str(text).into_iter::<Json>();
        let mut scenarios = Vec::new();
        let mut single: Option<Facts> = None;
        for (at, json) in stream.enumerate() {
            let hint = "write one object of names and values, or lines of rows or of their `facts`";
            let json = json.map_err(|error| fault(format!("facts are no JSON: {error}"), hint))?;
            let number = at + 1;
            let place = |fault: FactFault| FactFault {
                message: format!("object {number}: {}", fault.message),
                hint: fault.hint,
            };
            match &json {
                Json::Array(list) => {
                    scenarios.push(self.listed(list).map_err(place)?);
                }
                Json::Object(object) => match (object.get("facts"), object.get("variable")) {
                    (Some(Json::Array(list)), _) => {
                        scenarios.push(self.listed(list).map_err(place)?);
                    }
                    (_, Some(Json::String(_))) => {
                        self.listed_one(&json, single.get_or_insert_default()).map_err(place)?;
                    }
                    _ => {
                        let mut facts = Facts::default();
                        for (name, value) in object {
                            self.pair(name, &plain(value), &mut facts).map_err(place)?;
                        }
                        scenarios.push(facts);
                    }
                },
                _ => return Err(place(fault("no object and no list".to_owned(), hint))),
            }
        }
        scenarios.extend(single);
        if scenarios.is_empty() {
            scenarios.push(Facts::default());
        }
        Ok(scenarios)
    }

    fn listed(&self, list: &[Json]) -> Result<Facts, FactFault> {
        let mut facts = Facts::default();
        for one in list {
            self.listed_one(one, &mut facts)?;
        }
        Ok(facts)
    }

    fn listed_one(&self, one: &Json, facts: &mut Facts) -> Result<(), FactFault> {
        match (one.get("variable"), one.get("value")) {
            (Some(Json::String(name)), Some(value)) => self.pair(name, &plain(value), facts),
            _ => {
                let hint = "write `{\"variable\": \"…\", \"value\": \"…\"}`";
                Err(fault(format!("`{one}` is no fact"), hint))
            }
        }
    }

    fn pair(&self, name: &str, value: &str, facts: &mut Facts) -> Result<(), FactFault> {
        let id = self.constant(name)?;
        let value = self.value(id, value)?;
        self.add(id, value, facts)
    }

    fn add(&self, id: ConstId, value: Value, facts: &mut Facts) -> Result<(), FactFault> {
        let terms = &self.inquiry.policy.terms;
        match facts.get(id) {
            Some(known) if *known != value => {
                let name = &terms.constant(id).name;
                let (old, new) = (terms.spell(known), terms.spell(&value));
                let message = format!("`{name}` is stated as `{old}` and as `{new}`");
                Err(fault(message, "state each fact once"))
            }
            _ => {
                facts.push(id, value);
                Ok(())
            }
        }
    }

    /// The constant of a name: as rows write it, or without its policy where only one has it.
    fn constant(&self, name: &str) -> Result<ConstId, FactFault> {
        let policy = &self.inquiry.policy;
        let own = name.strip_prefix(&format!("{}.", policy.id)).unwrap_or(name);
        let ending = format!(".{own}");
        let others = policy.terms.constants().filter(|(_, c)| c.name.ends_with(&ending));
        let others: Vec<(ConstId, String)> = others.map(|(id, c)| (id, c.name.clone())).collect();
        let found = match (policy.constant(own), others.as_slice()) {
            (Some(id), _) => id,
            (None, [(id, _)]) => *id,
            (None, []) => return Err(self.unknown(name)),
            (None, several) => {
                let names: Vec<&str> = several.iter().map(|(_, name)| name.as_str()).collect();
                let message = format!("`{name}` is a name in several policies");
                return Err(fault(message, format!("write one of `{}`", names.join("`, `"))));
            }
        };
        if self.inquiry.verdict.name == policy.terms.constant(found).name {
            let message = format!("`{name}` is the verdict");
            return Err(fault(message, "state the facts it follows from"));
        }
        Ok(found)
    }

    fn unknown(&self, name: &str) -> FactFault {
        let terms = &self.inquiry.policy.terms;
        let known: Vec<&str> = terms.constants().map(|(_, c)| c.name.as_str()).collect();
        let local = |name: &&str| name.split_once('.').map(|(_, local)| local.to_owned());
        let locals: Vec<String> = known.iter().filter_map(local).collect();
        let all = known.iter().copied().chain(locals.iter().map(String::as_str));
        let hint = nearest(name, all).map_or_else(
            || format!("`deogen tree {}` shows the facts that matter", self.inquiry.id),
            |near| format!("did you mean `{near}`?"),
        );
        fault(format!("there is no fact `{name}`"), hint)
    }

    fn value(&self, id: ConstId, text: &str) -> Result<Value, FactFault> {
        let terms = &self.inquiry.policy.terms;
        let constant = terms.constant(id);
        let read = match constant.sort {
            // A whole number may come from a file as `12.0`.
            Sort::Int => terms.read(text.strip_suffix(".0").unwrap_or(text), Sort::Int),
            sort => terms.read(text, sort),
        };
        if let Some(value) = read {
            return Ok(value);
        }
        let values = terms.values_of(constant.sort).unwrap_or_default();
        let spelled: Vec<String> = values.iter().map(|value| terms.spell(value)).collect();
        let hint = match nearest(text, spelled.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None if spelled.is_empty() => format!("it is {}", terms.sort_name(constant.sort)),
            None => format!("its values are `{}`", spelled.join("`, `")),
        };
        Err(fault(format!("`{text}` is no value of `{}`", constant.name), hint))
    }
}

/// A JSON value as the text of a fact's value.
fn plain(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        other => other.to_string(),
    }
}
