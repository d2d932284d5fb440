//! README.md with its YAML header, CITATION.cff and the licence.

use std::fmt::Write as _;

use minijinja::{Environment, context};

use super::columns::{Column, Kind};

/// What the card says of a policy's rows.
#[derive(Clone, Debug)]
pub struct Part {
    /// The policy.
    pub policy: String,
    /// Rows.
    pub rows: usize,
    /// The file, relative to the release.
    pub file: String,
}

/// What the card says of a determination.
#[derive(Clone, Debug)]
pub struct Line {
    /// Its id.
    pub id: String,
    /// Its question.
    pub question: String,
    /// Definite rows.
    pub definite: usize,
    /// NEI rows.
    pub nei: usize,
    /// Definite paths of its tree.
    pub paths: String,
}

/// What a release says of itself.
#[derive(Clone, Debug)]
pub struct About {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Licence of the data, as SPDX names it.
    pub license: String,
    /// The canary of its rows.
    pub canary: String,
    /// The tool.
    pub tool: String,
    /// The solver.
    pub solver: String,
    /// By policy.
    pub parts: Vec<Part>,
    /// By determination.
    pub lines: Vec<Line>,
    /// Columns of the rows.
    pub columns: Vec<Column>,
}

impl About {
    /// Rows of all policies.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.parts.iter().map(|part| part.rows).sum()
    }
}

/// A string as YAML and JSON both read it.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// README.md.
///
/// # Errors
/// The template is at fault.
pub fn card(about: &About) -> Result<String, minijinja::Error> {
    let mut head = String::from("---\n");
    let _ = write!(
        head,
        "license: {}\nlanguage:\n- en\npretty_name: {}\n\
         annotations_creators:\n- machine-generated\n\
         language_creators:\n- machine-generated\nsource_datasets:\n- original\nsize_categories:\n\
         - {}\ntask_categories:\n- question-answering\n- text-classification\ntags:\n- synthetic\n\
         - legal-reasoning\n- abstention\n- formal-verification\n- croissant\nconfigs:\n",
        about.license.to_lowercase(),
        quoted(&about.name),
        size(about.rows())
    );
    for (at, part) in about.parts.iter().enumerate() {
        let _ = writeln!(head, "- config_name: {}", part.policy);
        if at == 0 {
            head.push_str("  default: true\n");
        }
        let _ = write!(head, "  data_files:\n  - split: test\n    path: {}\n", part.file);
    }
    head.push_str("dataset_info:\n");
    for part in &about.parts {
        let _ = write!(head, "- config_name: {}\n  features:\n", part.policy);
        for column in &about.columns {
            let dtype = match column.kind {
                Kind::Text | Kind::Nested => "string",
                Kind::Integer => "int64",
                Kind::Truth => "bool",
            };
            let _ = write!(head, "  - name: {}\n    dtype: {dtype}\n", column.name());
        }
    }
    head.push_str("---\n\n");
    let mut environment = Environment::new();
    environment.add_template("card", include_str!("card.md"))?;
    let line = |line: &Line| {
        context! {
            id => line.id.as_str(), question => line.question.as_str(), definite => line.definite,
            nei => line.nei, paths => line.paths.as_str(),
        }
    };
    let lines: Vec<_> = about.lines.iter().map(line).collect();
    let policies: Vec<String> = about.parts.iter().map(|part| part.policy.clone()).collect();
    let body = environment.get_template("card")?.render(context! {
        name => about.name.as_str(),
        version => about.version.as_str(),
        license => about.license.as_str(),
        canary => about.canary.as_str(),
        tool => about.tool.as_str(),
        solver => about.solver.as_str(),
        rows => about.rows(),
        lines => lines,
        policies => policies,
    })?;
    Ok(head + &body + "\n")
}

fn size(rows: usize) -> &'static str {
    match rows {
        0..1_000 => "n<1K",
        1_000..10_000 => "1K<n<10K",
        10_000..100_000 => "10K<n<100K",
        100_000..1_000_000 => "100K<n<1M",
        _ => "1M<n<10M",
    }
}

/// CITATION.cff.
#[must_use]
pub fn citation(about: &About) -> String {
    format!(
        "cff-version: 1.2.0\nmessage: Please cite the data set and state the version you used.\n\
         type: dataset\ntitle: {}\nversion: {}\nlicense: {}\nauthors:\n  - name: {}\nkeywords: \
         [synthetic, abstention, legal reasoning, formal verification]\nabstract: {}\n",
        quoted(&about.name),
        quoted(&about.version),
        about.license,
        quoted(&format!("{} authors", about.name)),
        quoted(&format!(
            "{} entries about written policies; every answer is proved by an SMT solver.",
            about.rows()
        ))
    )
}

/// LICENSE.
#[must_use]
pub fn license(about: &About) -> String {
    format!(
        "SPDX-License-Identifier: {0}\n\n{1} {2} is made available under {0}:\n\
         https://spdx.org/licenses/{0}.html\n",
        about.license, about.name, about.version
    )
}
