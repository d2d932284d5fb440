//! Cuts a file into its top-level commands before the parser sees it.
//!
//! The parser stops at its first fault and recurses where a term is nested; this scan does neither.
//! So each command is parsed by itself, a fault in one hides none in the next, and a term that is
//! nested too deep is refused here.

use std::ops::Range;

use crate::diag::{Diagnostic, Source, Span};

/// Parentheses may be nested this deep, and no deeper.
pub(crate) const DEPTH: usize = 1_000;

/// One top-level command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// From its opening parenthesis to its closing one.
    pub(super) range: Range<usize>,
    /// The first word after the opening parenthesis.
    pub(super) head: Range<usize>,
}

/// The text with every byte outside ASCII replaced, so that later offsets hold; each line with such
/// a byte is a fault.
pub(super) fn ascii(source: &Source, faults: &mut Vec<Diagnostic>) -> String {
    let text = source.text();
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if let Some((at, character)) = line.char_indices().find(|(_, c)| !c.is_ascii()) {
            let range = start + at..start + at + character.len_utf8();
            faults.push(
                Diagnostic::error("not-ascii", format!("`{character}` is not ASCII"))
                    .at(Span::new(source, range), "here")
                    .hint(ascii_way_out(character)),
            );
        }
        start += line.len();
    }
    text.chars()
        .map(|c| if c.is_ascii() { c.to_string() } else { "?".repeat(c.len_utf8()) })
        .collect()
}

fn ascii_way_out(character: char) -> &'static str {
    match character {
        '§' => "labels are written without the section sign: `:section \"129(d)(1)\"`",
        '“' | '”' => "use the straight double quote `\"`",
        '‘' | '’' => "use the straight quote `'`",
        '–' | '—' | '−' => "use `-`",
        _ => "policy.smt2 is ASCII throughout, comments included: spell it in ASCII",
    }
}

/// What a byte of the text belongs to.
enum Lexeme {
    Open,
    Close,
    /// A comment or white space.
    Blank,
    /// A word, a string or a quoted symbol.
    Word,
    /// A string or quoted symbol that never ends.
    Endless(&'static str),
}

/// The lexeme that starts at `at`, and where it ends.
fn lexeme(bytes: &[u8], at: usize) -> (Lexeme, usize) {
    let find = |from: usize, stop: &dyn Fn(u8) -> bool| {
        let rest = bytes.get(from..).unwrap_or(&[]);
        rest.iter().position(|byte| stop(*byte)).map(|offset| from + offset)
    };
    match bytes.get(at).copied().unwrap_or(b' ') {
        b'(' => (Lexeme::Open, at + 1),
        b')' => (Lexeme::Close, at + 1),
        b';' => (Lexeme::Blank, find(at, &|b| b == b'\n').unwrap_or(bytes.len())),
        b'|' => match find(at + 1, &|b| b == b'|') {
            Some(end) => (Lexeme::Word, end + 1),
            None => (Lexeme::Endless("quoted symbol"), bytes.len()),
        },
        b'"' => {
            let mut from = at + 1;
            // A doubled quote inside a string stands for one quote.
            while let Some(end) = find(from, &|b| b == b'"') {
                if bytes.get(end + 1) != Some(&b'"') {
                    return (Lexeme::Word, end + 1);
                }
                from = end + 2;
            }
            (Lexeme::Endless("string"), bytes.len())
        }
        byte if byte.is_ascii_whitespace() => (Lexeme::Blank, at + 1),
        _ => {
            let stop = |b: u8| b.is_ascii_whitespace() || b"();\"|".contains(&b);
            (Lexeme::Word, find(at + 1, &stop).unwrap_or(bytes.len()))
        }
    }
}

/// The commands of a text, with faults for what is between or around them.
pub(super) fn commands(source: &Source, text: &str, faults: &mut Vec<Diagnostic>) -> Vec<Piece> {
    let mut strict = Vec::new();
    let pieces = scan(source, text, false, &mut strict);
    let unclosed = strict.iter().any(|fault| fault.code == "unclosed");
    if !unclosed {
        faults.append(&mut strict);
        return pieces;
    }
    // Somewhere a parenthesis is missing. Assume that a command starts where a line starts with
    // one: then the fault is shown at the command that lacks it, and the others are still read.
    scan(source, text, true, faults)
}

struct Open {
    start: usize,
    depth: usize,
    too_deep: Option<usize>,
}

fn scan(source: &Source, text: &str, resync: bool, faults: &mut Vec<Diagnostic>) -> Vec<Piece> {
    let bytes = text.as_bytes();
    let mut pieces = Vec::new();
    let mut open: Option<Open> = None;
    let mut at = 0;
    while at < bytes.len() {
        let (found, end) = lexeme(bytes, at);
        let new_line = at == 0 || bytes.get(at - 1) == Some(&b'\n');
        match (found, &mut open) {
            (Lexeme::Blank, _) | (Lexeme::Word, Some(_)) => {}
            (Lexeme::Open, Some(command)) if resync && new_line => {
                faults.push(unclosed(source, command.start));
                open = Some(Open { start: at, depth: 1, too_deep: None });
            }
            (Lexeme::Open, None) => open = Some(Open { start: at, depth: 1, too_deep: None }),
            (Lexeme::Open, Some(command)) => {
                command.depth += 1;
                if command.depth > DEPTH && command.too_deep.is_none() {
                    command.too_deep = Some(at);
                }
            }
            (Lexeme::Close, Some(command)) => {
                command.depth -= 1;
                if command.depth == 0 {
                    match command.too_deep {
                        Some(place) => faults.push(too_deep(source, place)),
                        None => pieces.push(piece(bytes, command.start..end)),
                    }
                    open = None;
                }
            }
            (Lexeme::Close, None) => faults.push(
                Diagnostic::error("unbalanced", "`)` closes nothing")
                    .at(Span::new(source, at..end), "no parenthesis is open here")
                    .hint("remove it, or look for a `)` too many in the command above"),
            ),
            (Lexeme::Word, None) => faults.push(
                Diagnostic::error("syntax", "a command starts with `(`")
                    .at(Span::new(source, at..end), "this stands outside of every command")
                    .hint("start comments with `;`"),
            ),
            (Lexeme::Endless(what), _) => {
                faults.push(
                    Diagnostic::error("unclosed", format!("this {what} never ends"))
                        .at(Span::new(source, at..at + 1), "it starts here")
                        .hint("close it; all that follows it was not read"),
                );
                return pieces;
            }
        }
        at = end;
    }
    if let Some(command) = open {
        faults.push(unclosed(source, command.start));
    }
    pieces
}

fn piece(bytes: &[u8], range: Range<usize>) -> Piece {
    let mut at = range.start + 1;
    while at < range.end {
        let (found, end) = lexeme(bytes, at);
        match found {
            Lexeme::Blank => at = end,
            Lexeme::Word => return Piece { range, head: at..end },
            _ => break,
        }
    }
    Piece { head: range.start..range.start + 1, range }
}

fn unclosed(source: &Source, start: usize) -> Diagnostic {
    Diagnostic::error("unclosed", "this command is never closed")
        .at(Span::new(source, start..start + 1), "opened here")
        .hint("add the missing `)`")
}

fn too_deep(source: &Source, place: usize) -> Diagnostic {
    Diagnostic::error("too-deep", format!("nested more than {DEPTH} parentheses deep"))
        .at(Span::new(source, place..place + 1), format!("level {}", DEPTH + 1))
        .hint("name inner parts with `define-const` and use the names")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, heads: &[&str], codes: &[&str]) {
        let source = Source::new("policy.smt2", text);
        let mut faults = Vec::new();
        let clean = ascii(&source, &mut faults);
        let pieces = commands(&source, &clean, &mut faults);
        let found: Vec<&str> = pieces.iter().map(|piece| &text[piece.head.clone()]).collect();
        assert_eq!(found, heads, "{text}");
        let found: Vec<&str> = faults.iter().map(|fault| fault.code).collect();
        assert_eq!(found, codes, "{text}");
    }

    #[test]
    fn cuts_commands_and_reports_what_is_between() {
        check("(a b)\n( c (d))", &["a", "c"], &[]);
        check("; (x\n(a \"(\" |)| \"\"\"(\")", &["a"], &[]);
        check("(a))\n(b)", &["a", "b"], &["unbalanced"]);
        check("(a\n(b)\n(c)", &["b", "c"], &["unclosed"]);
        check("(a (b)\n(c (d)\n  (e))\n", &["c"], &["unclosed"]);
        check("x (a)", &["a"], &["syntax"]);
        check("(a \"b)\n(c)", &[], &["unclosed"]);
        check("; é\n(a) ; §\n", &["a"], &["not-ascii", "not-ascii"]);
    }

    #[test]
    fn nesting_has_a_limit() {
        let nested = |depth: usize| format!("(a {}{})", "(".repeat(depth), ")".repeat(depth));
        check(&nested(DEPTH - 1), &["a"], &[]);
        check(&format!("{}(b)", nested(DEPTH)), &["b"], &["too-deep"]);
        check(&nested(1_000_000), &[], &["too-deep"]);
    }
}
