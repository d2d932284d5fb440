//! Predictions as tools write them: plain JSON lines, sample logs of lm-evaluation-harness, logs of
//! Inspect (JSON or `.eval`), and outputs of batch requests.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::extract::{Reading, read_answer, read_sections, split_labels};
use super::gold::{Gold, Key};
use super::labels::Label;

mod archive;

/// What a model said of one entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prediction {
    /// Line of the file, or number of the sample.
    pub line: usize,
    /// The reply.
    pub output: String,
    /// The answer alone, where the file has it; it goes before the reply.
    pub answer: Option<String>,
    /// The position of the choice, where likelihoods decided.
    pub choice: Option<usize>,
    /// The labels cited, where the file has them.
    pub sections: Option<Vec<String>>,
}

impl Prediction {
    /// Which of the choices it gives.
    #[must_use]
    pub fn reading(&self, choices: &[String]) -> Reading {
        match (self.choice, &self.answer) {
            (Some(at), _) if at < choices.len() => Reading::Choice(at),
            (Some(_), _) => Reading::Unread,
            (None, Some(answer)) => read_answer(answer, choices),
            (None, None) => read_answer(&self.output, choices),
        }
    }

    /// The labels it cites.
    #[must_use]
    pub fn cited(&self) -> Vec<Label> {
        match &self.sections {
            Some(sections) => sections.iter().flat_map(|text| split_labels(text)).collect(),
            None => read_sections(&self.output),
        }
    }
}

/// The answers of one model.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Its name.
    pub name: String,
    /// By entry.
    pub by_id: BTreeMap<String, Prediction>,
}

/// One record of a file.
#[derive(Debug, Default)]
struct Record {
    id: String,
    model: Option<String>,
    /// Filter of the harness; a second one repeats the same reply.
    filter: String,
    epoch: i64,
    prediction: Prediction,
    /// What the log says of the entry: its canary and its answer.
    canary: Option<String>,
    target: Option<String>,
}

/// Reads a file of predictions, one model or several.
///
/// # Errors
/// Every fault of the file, each with its line.
pub fn read(path: &Path, gold: &Gold) -> Result<Vec<Answers>, Vec<String>> {
    let shown = path.display();
    let bytes = fs::read(path).map_err(|error| vec![format!("{shown}: {error}")])?;
    let mut faults = Vec::new();
    let records = records(&bytes, &mut faults);
    let stem = path.file_stem().map_or("predictions".into(), |stem| stem.to_string_lossy());
    // The harness writes the samples of each task into one folder per model.
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy());
    let mut models: BTreeMap<String, Answers> = BTreeMap::new();
    let keys: BTreeMap<&str, &Key> = gold.keys.iter().map(|key| (key.id.as_str(), key)).collect();
    let mut filters: BTreeMap<(String, String), String> = BTreeMap::new();
    for record in records {
        let line = record.prediction.line;
        let folder = folder.as_ref().filter(|_| !record.filter.is_empty());
        let mut name = match (&record.model, folder) {
            (Some(model), _) => model.clone(),
            (None, Some(folder)) => folder.to_string(),
            (None, None) => stem.to_string(),
        };
        if record.epoch > 1 {
            name = format!("{name} (epoch {})", record.epoch);
        }
        if !gold.known.contains(&record.id) {
            faults.push(format!("{line}: `{}` is no entry of this release", record.id));
            continue;
        }
        if let Some(key) = keys.get(record.id.as_str())
            && let Some(fault) = foreign(&record, key)
        {
            faults.push(format!("{line}: {fault}"));
            continue;
        }
        let model = models.entry(name.clone()).or_default();
        model.name.clone_from(&name);
        let place = (name, record.id.clone());
        if let Some(first) = model.by_id.get(&record.id) {
            // The harness writes a line for each filter of its pipeline.
            if filters.get(&place).is_some_and(|filter| *filter != record.filter) {
                continue;
            }
            let first = first.line;
            faults.push(format!("{line}: a second answer to `{}` (first: {first})", record.id));
            continue;
        }
        filters.insert(place, record.filter);
        model.by_id.insert(record.id, record.prediction);
    }
    if !faults.is_empty() {
        return Err(faults.into_iter().map(|fault| format!("{shown}:{fault}")).collect());
    }
    if models.is_empty() {
        return Err(vec![format!("{shown}: there are no predictions in it")]);
    }
    Ok(models.into_values().collect())
}

/// Why a record is about an entry of another release.
fn foreign(record: &Record, key: &Key) -> Option<String> {
    if let Some(canary) = &record.canary
        && *canary != key.canary
    {
        return Some(format!("`{}` stands under the canary of another release", record.id));
    }
    let right = key.choices.get(key.answer)?;
    let target = record.target.as_ref().filter(|target| *target != right)?;
    Some(format!(
        "`{}` has the answer `{target}` in the log and `{right}` here: another release",
        record.id
    ))
}

fn records(bytes: &[u8], faults: &mut Vec<String>) -> Vec<Record> {
    if archive::is_archive(bytes) {
        return match archive::samples(bytes) {
            Ok((model, texts)) => {
                let mut found = Vec::new();
                for (at, text) in texts.iter().enumerate() {
                    match serde_json::from_str::<Value>(&without_nan(text)) {
                        Ok(sample) => found.extend(inspect(&sample, at + 1, &model, faults)),
                        Err(error) => faults.push(format!("{}: {error}", at + 1)),
                    }
                }
                found
            }
            Err(error) => {
                faults.push(format!("1: {error}"));
                Vec::new()
            }
        };
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        faults.push("1: neither UTF-8 nor an .eval archive".to_owned());
        return Vec::new();
    };
    let text = text.trim_start_matches('\u{feff}');
    if let Ok(log) = serde_json::from_str::<Value>(&without_nan(text))
        && let (Some(samples), Some(about)) = (log.get("samples"), log.get("eval"))
    {
        let model = about.get("model").and_then(Value::as_str).map(str::to_owned);
        let samples = samples.as_array().map_or(&[][..], Vec::as_slice);
        let read = |(at, sample)| inspect(sample, at + 1, &model, faults);
        return samples.iter().enumerate().filter_map(read).collect();
    }
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match serde_json::from_str::<Value>(&without_nan(line)) {
            Ok(Value::Object(object)) => match line_record(&Value::Object(object), at + 1) {
                Ok(record) => found.push(record),
                Err(fault) => faults.push(format!("{}: {fault}", at + 1)),
            },
            Ok(_) => faults.push(format!("{}: not an object", at + 1)),
            Err(error) => faults.push(format!("{}: no JSON: {error}", at + 1)),
        }
    }
    found
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn line_record(value: &Value, line: usize) -> Result<Record, String> {
    if let (Some(doc), Some(replies)) = (value.get("doc"), value.get("resps")) {
        return harness(value, doc, replies, line);
    }
    if let Some(id) = text(value, "custom_id") {
        let output = value
            .pointer("/response/body/choices/0/message/content")
            .or_else(|| value.pointer("/response/choices/0/message/content"))
            .or_else(|| value.pointer("/result/message/content/0/text"));
        let output = output.and_then(Value::as_str).unwrap_or_default().to_owned();
        let model = value.pointer("/response/body/model").and_then(Value::as_str);
        let model = model.map(str::to_owned);
        let prediction = Prediction { line, output, ..Prediction::default() };
        return Ok(Record { id, model, prediction, ..Record::default() });
    }
    let id = text(value, "id").ok_or("no `id`; see docs/scoring.md for what is read")?;
    let answer = text(value, "answer").or_else(|| text(value, "verdict"));
    let output = text(value, "output").or_else(|| text(value, "response"));
    if answer.is_none() && output.is_none() {
        return Err(format!("`{id}` has neither `answer` nor `output`"));
    }
    let sections = match value.get("sections") {
        Some(Value::Array(all)) => {
            Some(all.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect())
        }
        Some(Value::String(one)) => Some(vec![one.clone()]),
        _ => None,
    };
    Ok(Record {
        id,
        model: text(value, "model"),
        epoch: value.get("epoch").and_then(Value::as_i64).unwrap_or(1),
        prediction: Prediction {
            line,
            output: output.unwrap_or_default(),
            answer,
            choice: None,
            sections,
        },
        ..Record::default()
    })
}

fn harness(value: &Value, doc: &Value, replies: &Value, line: usize) -> Result<Record, String> {
    let id = text(doc, "id").ok_or("a sample without `doc.id`: not of a task of deogen")?;
    let reply = replies.pointer("/0/0");
    let mut prediction = Prediction { line, ..Prediction::default() };
    if reply.is_some_and(Value::is_array) {
        // Likelihoods, one pair per choice, written as strings.
        let number = |pair: &Value| -> f64 {
            let first = pair.pointer("/0/0").or_else(|| pair.pointer("/0"));
            let likelihood = match first {
                Some(Value::String(text)) => text.parse().ok(),
                Some(other) => other.as_f64(),
                None => None,
            };
            likelihood.unwrap_or(f64::NEG_INFINITY)
        };
        let all = replies.as_array().map_or(&[][..], Vec::as_slice);
        let mut best: Option<(usize, f64)> = None;
        for (at, likelihood) in all.iter().map(number).enumerate() {
            if best.is_none_or(|(_, known)| likelihood > known) {
                best = Some((at, likelihood));
            }
        }
        prediction.choice = best.map(|(at, _)| at);
    } else {
        prediction.output = reply.and_then(Value::as_str).unwrap_or_default().to_owned();
    }
    Ok(Record {
        id,
        filter: text(value, "filter").unwrap_or_default(),
        canary: text(doc, "canary"),
        target: text(doc, "answer"),
        prediction,
        ..Record::default()
    })
}

fn inspect(
    sample: &Value,
    line: usize,
    model: &Option<String>,
    faults: &mut Vec<String>,
) -> Option<Record> {
    let id = match sample.get("id") {
        Some(Value::String(id)) => id.clone(),
        _ => {
            faults.push(format!("{line}: a sample without an id of deogen"));
            return None;
        }
    };
    let output = sample.pointer("/output/completion").and_then(Value::as_str).map(str::to_owned);
    let output = output.or_else(|| match sample.pointer("/output/choices/0/message/content") {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(parts)) => {
            Some(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect())
        }
        _ => None,
    });
    let metadata = sample.get("metadata");
    Some(Record {
        id,
        model: model.clone(),
        epoch: sample.get("epoch").and_then(Value::as_i64).unwrap_or(1),
        prediction: Prediction {
            line,
            output: output.unwrap_or_default(),
            ..Prediction::default()
        },
        canary: metadata.and_then(|metadata| text(metadata, "canary")),
        target: text(sample, "target"),
        ..Record::default()
    })
}

/// Python writes `NaN` and `Infinity` bare, which is no JSON: outside of strings they become null.
fn without_nan(text: &str) -> String {
    if !text.contains("NaN") && !text.contains("Infinity") {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut quoted = false;
    while let Some(letter) = rest.chars().next() {
        if !quoted
            && let Some(word) =
                ["NaN", "-Infinity", "Infinity"].iter().find(|w| rest.starts_with(**w))
        {
            out.push_str("null");
            rest = rest.get(word.len()..).unwrap_or("");
            continue;
        }
        let length = if quoted && letter == '\\' {
            1 + rest.chars().nth(1).map_or(0, char::len_utf8)
        } else {
            letter.len_utf8()
        };
        quoted ^= letter == '"';
        out.push_str(rest.get(..length).unwrap_or(""));
        rest = rest.get(length..).unwrap_or("");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_nan_becomes_null_outside_of_strings_only() {
        let text = r#"{"a": NaN, "b": "NaN \" NaN", "c": [-Infinity, Infinity]}"#;
        assert_eq!(without_nan(text), r#"{"a": null, "b": "NaN \" NaN", "c": [null, null]}"#);
    }
}
