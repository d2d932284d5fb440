//! The user's faults: where in which file, what is wrong, and a way out.
//!
//! A fault is a value that is gathered and reported between stages, never printed where it is found
//! (after typst's `diag.rs`). Messages are lower case, without a final stop, with literals in
//! backticks; a hint is advice that can be followed.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// A text file as it was read: the only thing spans point into.
#[derive(Clone, PartialEq, Eq)]
pub struct Source {
    inner: Arc<(PathBuf, String)>,
}

impl Source {
    /// A source named by the path a user should see (relative to the project).
    #[must_use]
    pub fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { inner: Arc::new((path.into(), text.into())) }
    }

    /// The path shown to the user.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.0
    }

    /// The whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.inner.1
    }

    /// Line and column (both from 1, columns in characters) of a byte offset.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text().get(..offset).unwrap_or(self.text());
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before.get(start..).unwrap_or("").chars().count() + 1)
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Source({})", self.path().display())
    }
}

/// Bytes of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The file.
    pub source: Source,
    /// Byte offsets into its text; any range is legal and is clipped when drawn.
    pub range: Range<usize>,
}

impl Span {
    /// A span of `source`.
    #[must_use]
    pub fn new(source: &Source, range: Range<usize>) -> Self {
        Self { source: source.clone(), range }
    }

    fn clipped(&self) -> Range<usize> {
        let text = self.source.text();
        let fit = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = fit(self.range.start);
        let mut end = fit(self.range.end.max(start));
        // A caret over several lines hides the message: point at the first line.
        if let Some(newline) = text.get(start..end).and_then(|part| part.find('\n')) {
            end = start + newline;
        }
        start..end
    }
}

/// How much a finding matters: errors stop, warnings do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Stops what depends on it.
    Error,
    /// Worth a look; may be allowed by name.
    Warning,
}

/// One fault or finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// A stable name of the kind of fault, such as `unknown-name`.
    pub code: &'static str,
    /// One line: what is wrong.
    pub message: String,
    /// The places, the main one first, each with what is to be seen there.
    pub places: Vec<(Span, String)>,
    /// The file, where a fault has no place in a text (missing, unreadable, a link).
    pub path: Option<PathBuf>,
    /// Ways out, a line each.
    pub hints: Vec<String>,
}

impl Diagnostic {
    /// An error.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            places: Vec::new(),
            path: None,
            hints: Vec::new(),
        }
    }

    /// A warning.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message) }
    }

    /// Adds a place; the first added is the main one.
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Self {
        self.places.push((span, label.into()));
        self
    }

    /// Names the file of a fault that has no place in a text.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// Adds a way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The diagnostic as text: message, file, line, carets, hints.
    #[must_use]
    pub fn draw(&self, color: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let title = match &self.path {
            Some(path) => format!("{}: {}", path.display(), self.message),
            None => self.message.clone(),
        };
        let mut group = Group::with_title(level.primary_title(title).id(self.code));
        let names: Vec<String> =
            self.places.iter().map(|(span, _)| span.source.path().display().to_string()).collect();
        for (index, ((span, label), name)) in self.places.iter().zip(&names).enumerate() {
            let kind = if index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let mut mark = kind.span(span.clipped());
            if !label.is_empty() {
                mark = mark.label(label);
            }
            let snippet = Snippet::source(span.source.text()).path(name).annotation(mark);
            group = group.element(snippet);
        }
        for hint in &self.hints {
            group = group.element(Level::HELP.message(hint));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    /// `path:line:column` of the main place, or the path alone, for one-line outputs.
    #[must_use]
    pub fn position(&self) -> String {
        match (self.places.first(), &self.path) {
            (Some((span, _)), _) => {
                let (line, column) = span.source.line_column(span.clipped().start);
                format!("{}:{line}:{column}", span.source.path().display())
            }
            (None, Some(path)) => path.display().to_string(),
            (None, None) => String::new(),
        }
    }
}

/// The known name nearest to a mistyped one, for "did you mean".
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}
