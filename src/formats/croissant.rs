//! `croissant.json`, as mlcroissant reads it.

use serde_json::{Map, Value, json};

use super::card::About;
use super::columns::{Column, Kind};

/// A file with its SHA-256.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The policy whose rows it holds.
    pub policy: String,
    /// Path in the release.
    pub path: String,
    /// SHA-256 in hexadecimal.
    pub sha256: String,
}

/// The context every Croissant file has.
const CONTEXT: &str = include_str!("croissant_context.json");

/// What the responsible-AI vocabulary asks for and is the same for every release.
const RESPONSIBLE: &str = include_str!("croissant_rai.json");

fn field(set: &str, column: &Column) -> Value {
    let name = column.name();
    let kind = match column.kind {
        Kind::Text | Kind::Nested => "sc:Text",
        Kind::Integer => "sc:Integer",
        Kind::Truth => "sc:Boolean",
    };
    json!({
        "@type": "cr:Field", "@id": format!("{set}/{name}"), "name": name,
        "description": format!("`{}` of a row.", column.key), "dataType": kind,
        "source": {"fileObject": {"@id": format!("{set}-file")}, "extract": {"column": name}},
    })
}

/// The file's text.
#[must_use]
pub fn croissant(about: &About, files: &[Listed]) -> String {
    let distribution: Vec<Value> = files
        .iter()
        .map(|file| {
            let id = format!("{}-file", file.policy);
            json!({
                "@type": "cr:FileObject", "@id": id, "name": id, "contentUrl": file.path,
                "encodingFormat": "application/x-parquet", "sha256": file.sha256,
            })
        })
        .collect();
    let sets: Vec<Value> = files
        .iter()
        .map(|file| {
            let set = &file.policy;
            let fields: Vec<Value> =
                about.columns.iter().map(|column| field(set, column)).collect();
            json!({
                "@type": "cr:RecordSet", "@id": set, "name": set,
                "description": format!("Entries about the policy {set}."),
                "key": {"@id": format!("{set}/id")}, "field": fields,
            })
        })
        .collect();
    let name: String =
        about.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let mut document = json!({
        "@context": serde_json::from_str::<Value>(CONTEXT).unwrap_or_default(),
        "@type": "sc:Dataset",
        "name": name,
        "description": format!(
            "{} entries about written policies: facts, a question, the proved answer and the \
             sections that settle it.", about.rows()),
        "conformsTo": [
            "http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0",
        ],
        "license": format!("https://spdx.org/licenses/{}.html", about.license),
        "url": "https://example.org/",
        "version": about.version,
        "creator": {"@type": "Organization", "name": format!("{} authors", about.name)},
        "citeAs": format!("@misc{{{name}, title={{{} {}}}}}", about.name, about.version),
        "keywords": ["synthetic", "abstention", "legal reasoning", "formal verification"],
        "inLanguage": "en",
        "isLiveDataset": false,
        "rai:machineAnnotationTools": [about.tool, about.solver],
        "distribution": distribution,
        "recordSet": sets,
    });
    let fixed = serde_json::from_str::<Map<String, Value>>(RESPONSIBLE).unwrap_or_default();
    if let Some(object) = document.as_object_mut() {
        object.extend(fixed);
    }
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}
