//! The rows of a release, of `dist`, or of one file, read back.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use walkdir::WalkDir;

use crate::dataset::Row;

/// Rows by id, and the texts of the policies beside them.
#[derive(Clone, Debug, Default)]
pub struct Shelf {
    /// By id.
    pub rows: BTreeMap<String, Row>,
    /// By policy.
    pub texts: BTreeMap<String, String>,
    /// Lines that are no rows, and ids seen twice, each with its place.
    pub faults: Vec<String>,
}

impl Shelf {
    /// Reads every `.jsonl` file below a folder, or one file.
    ///
    /// # Errors
    /// A folder or file that cannot be read at all.
    pub fn read(path: &Path) -> Result<Self, String> {
        if !path.exists() {
            return Err(format!("`{}` does not exist", path.display()));
        }
        let mut shelf = Self::default();
        for entry in WalkDir::new(path).sort_by_file_name() {
            let entry = entry.map_err(|error| error.to_string())?;
            let name = entry.file_name().to_string_lossy();
            if !entry.file_type().is_file()
                || !name.ends_with(".jsonl")
                || name == "witnesses.jsonl"
            {
                continue;
            }
            let shown = entry.path().display();
            let bytes = fs::read(entry.path()).map_err(|error| format!("{shown}: {error}"))?;
            let text = String::from_utf8_lossy(&bytes);
            if name == "policies.jsonl" {
                shelf.texts.extend(texts(&text));
                continue;
            }
            for (at, line) in text.lines().enumerate() {
                let place = format!("{shown}:{}", at + 1);
                match serde_json::from_str::<Row>(line) {
                    Ok(row) => {
                        if let Some(double) = shelf.rows.insert(row.id.clone(), row) {
                            shelf.faults.push(format!("{place}: a second row `{}`", double.id));
                        }
                    }
                    Err(error) => shelf.faults.push(format!("{place}: no row of deogen: {error}")),
                }
            }
        }
        Ok(shelf)
    }
}

fn texts(lines: &str) -> Vec<(String, String)> {
    let read = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        let part = |name: &str| value.get(name)?.as_str().map(str::to_owned);
        Some((part("id")?, part("text")?))
    };
    lines.lines().filter_map(read).collect()
}
