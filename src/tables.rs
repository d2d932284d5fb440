//! TOML files against the structs that read them: syntax, unknown keys and wrong kinds of values, all at
//! once and with their places.
//!
//! A struct's JSON Schema says which keys it takes, so the schema that ships with the tool and the
//! checks made here cannot differ. The values are then read by serde as usual.

use schemars::{JsonSchema, schema_for};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::diag::{Diagnostic, Source, Span, nearest};

/// Reads a TOML file. There is a value if it can be used for further checks; it is good only if there are
/// no faults.
#[must_use]
pub fn read<T: DeserializeOwned + JsonSchema>(source: &Source) -> (Option<T>, Vec<Diagnostic>) {
    let (table, errors) = DeTable::parse_recoverable(source.text());
    let mut faults: Vec<Diagnostic> =
        errors.iter().map(|error| syntax_fault(source, error)).collect();
    if !faults.is_empty() {
        return (None, faults);
    }
    let schema = schema_for!(T).to_value();
    let checker = Checker { source, root: &schema };
    let whole = Spanned::new(table.span(), DeValue::Table(table.get_ref().clone()));
    checker.check(&whole, &schema, "the file", &mut faults);
    faults.sort_by_key(|fault| fault.places.first().map(|(span, _)| span.range.start));
    match T::deserialize(toml::de::Deserializer::from(table)) {
        Ok(value) => (Some(value), faults),
        Err(error) => {
            // What is wrong was said better above, unless the schema does not know it.
            if faults.is_empty() {
                faults.push(syntax_fault(source, &error));
            }
            (None, faults)
        }
    }
}

fn syntax_fault(source: &Source, error: &toml::de::Error) -> Diagnostic {
    let range = error.span().unwrap_or(0..source.text().len().min(1));
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    let hint = if message.starts_with("duplicate key") {
        "keep one of them; tables such as `[facts.x]` may be given once each"
    } else if message.contains("overflow") {
        "write a larger number as a string: `\"123…\"`"
    } else {
        "the file is TOML: `key = \"text\"`, `key = 1`, `key = [\"a\", \"b\"]`, `[table]`"
    };
    Diagnostic::error("toml", message).at(Span::new(source, range), "").hint(hint)
}

struct Checker<'s> {
    source: &'s Source,
    root: &'s Value,
}

impl Checker<'_> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.source, range)
    }

    /// The schemas a value may follow, references and alternatives resolved, `null` left out.
    fn alternatives<'v>(&'v self, schema: &'v Value) -> Vec<&'v Map<String, Value>> {
        let Some(object) = schema.as_object() else { return Vec::new() };
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            let name = reference.trim_start_matches("#/$defs/");
            let target = self.root.get("$defs").and_then(|defs| defs.get(name));
            return target.map_or_else(Vec::new, |target| self.alternatives(target));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(list) = object.get(key).and_then(Value::as_array) {
                return list.iter().flat_map(|one| self.alternatives(one)).collect();
            }
        }
        if object.get("type").and_then(Value::as_str) == Some("null") {
            return Vec::new();
        }
        vec![object]
    }

    fn check(
        &self,
        value: &Spanned<DeValue<'_>>,
        schema: &Value,
        what: &str,
        faults: &mut Vec<Diagnostic>,
    ) {
        let alternatives = self.alternatives(schema);
        if alternatives.is_empty() {
            return;
        }
        let fitting: Vec<_> = alternatives
            .iter()
            .copied()
            .filter(|schema| types(schema).iter().any(|kind| fits(value.get_ref(), kind)))
            .collect();
        let Some(first) = fitting.first() else {
            let kinds: Vec<&str> =
                alternatives.iter().flat_map(|schema| types(schema)).map(in_words).collect();
            let mut kinds: Vec<&str> = kinds.into_iter().collect();
            kinds.dedup();
            let message = format!("{what} takes {}", kinds.join(" or "));
            faults.push(
                Diagnostic::error("wrong-type", message)
                    .at(self.span(value.span()), format!("this is {}", name_of(value.get_ref())))
                    .hint(format!("write {}", example(kinds.first().copied().unwrap_or("")))),
            );
            return;
        };
        match value.get_ref() {
            DeValue::Table(table) => self.table(value, table, first, what, faults),
            DeValue::Array(items) => {
                if let Some(schema) = first.get("items") {
                    for item in items.iter() {
                        self.check(item, schema, &format!("an entry of {what}"), faults);
                    }
                }
            }
            DeValue::String(text) => self.word(value, text, &fitting, faults),
            DeValue::Integer(number) => {
                let small = number.as_str().starts_with('-')
                    && first.get("minimum").and_then(Value::as_i64) == Some(0);
                if small {
                    let message = format!("{what} cannot be negative");
                    faults.push(
                        Diagnostic::error("wrong-type", message)
                            .at(self.span(value.span()), "")
                            .hint("write 0 or more"),
                    );
                }
            }
            _ => {}
        }
    }

    fn table(
        &self,
        value: &Spanned<DeValue<'_>>,
        table: &DeTable<'_>,
        schema: &Map<String, Value>,
        what: &str,
        faults: &mut Vec<Diagnostic>,
    ) {
        let empty = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let others = schema.get("additionalProperties").filter(|other| other.is_object());
        for (key, item) in table {
            let name: &str = key.get_ref();
            if let Some(schema) = known.get(name).or(others) {
                self.check(item, schema, &format!("`{name}`"), faults);
            } else {
                let near = nearest(name, known.keys().map(String::as_str));
                let keys: Vec<&str> = known.keys().map(String::as_str).collect();
                let hint = near.map_or_else(
                    || format!("{what} takes `{}`", keys.join("`, `")),
                    |near| format!("did you mean `{near}`?"),
                );
                faults.push(
                    Diagnostic::error("unknown-key", format!("unknown key `{name}`"))
                        .at(self.span(key.span()), "")
                        .hint(hint),
                );
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            if !table.keys().any(|known| known.get_ref() == key) {
                faults.push(
                    Diagnostic::error("missing-key", format!("{what} has no `{key}`"))
                        .at(self.span(value.span()), "")
                        .hint(format!("add `{key} = …`")),
                );
            }
        }
    }

    /// A string that must be one of a few.
    fn word(
        &self,
        value: &Spanned<DeValue<'_>>,
        text: &str,
        schemas: &[&Map<String, Value>],
        faults: &mut Vec<Diagnostic>,
    ) {
        let mut words: Vec<&str> = Vec::new();
        for schema in schemas {
            let listed = schema.get("enum").and_then(Value::as_array);
            let found = listed.into_iter().flatten().chain(schema.get("const"));
            let before = words.len();
            words.extend(found.filter_map(Value::as_str));
            if words.len() == before {
                return;
            }
        }
        if words.contains(&text) {
            return;
        }
        let hint = nearest(text, words.iter().copied()).map_or_else(
            || format!("write one of `{}`", words.join("`, `")),
            |near| format!("did you mean `{near}`?"),
        );
        faults.push(
            Diagnostic::error("unknown-word", format!("`{text}` is not known here"))
                .at(self.span(value.span()), "")
                .hint(hint),
        );
    }
}

fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => {
            kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
        }
        _ => vec!["any"],
    }
}

fn fits(value: &DeValue<'_>, kind: &str) -> bool {
    match kind {
        "string" => value.is_str(),
        "integer" => value.is_integer(),
        "number" => value.is_integer() || value.is_float(),
        "boolean" => value.is_bool(),
        "array" => value.is_array(),
        "object" => value.is_table(),
        _ => true,
    }
}

fn in_words(kind: &str) -> &str {
    match kind {
        "string" => "a string",
        "integer" => "a whole number",
        "number" => "a number",
        "boolean" => "`true` or `false`",
        "array" => "a list",
        "object" => "a table",
        other => other,
    }
}

fn example(kind: &str) -> &'static str {
    match kind {
        "a string" => "it in quotes: `\"…\"`",
        "a whole number" | "a number" => "digits without quotes",
        "a list" => "it in brackets: `[…]`",
        "a table" => "keys in braces: `{ key = … }`",
        _ => "`true` or `false` without quotes",
    }
}

fn name_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a point",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
