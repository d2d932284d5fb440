//! Which of the allowed answers a reply gives, as a person would read it (docs/scoring.md).

use super::labels::Label;

/// What a reply says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// The allowed answer at this position.
    Choice(usize),
    /// Two answers at once.
    Hedged,
    /// None of them.
    Unread,
}

impl Reading {
    /// The answer given, if one is.
    #[must_use]
    pub fn choice(self) -> Option<usize> {
        match self {
            Self::Choice(at) => Some(at),
            Self::Hedged | Self::Unread => None,
        }
    }
}

/// Other ways to say the last choice.
const NEI: [&str; 22] = [
    "not enough information",
    "there is not enough information",
    "there isn't enough information",
    "isn't enough information",
    "insufficient information",
    "there is insufficient information",
    "the information is insufficient",
    "cannot be determined",
    "can not be determined",
    "can't be determined",
    "cannot determine",
    "it cannot be determined",
    "it can't be determined",
    "it is not possible to determine",
    "it is impossible to determine",
    "not possible to determine",
    "impossible to determine",
    "cannot be decided",
    "it cannot be decided",
    "undetermined",
    "indeterminate",
    "nei",
];

/// What stands before a final answer.
const ANCHORS: [&str; 10] = [
    "the correct answer is",
    "the final answer is",
    "the answer is",
    "my final answer is",
    "my answer is",
    "final answer",
    "answer",
    "verdict",
    "conclusion",
    "boxed",
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Word(String),
    Mark(char),
    Line,
}

/// Reads the answer of a reply.
#[must_use]
pub fn read_answer(reply: &str, choices: &[String]) -> Reading {
    let tokens = tokens(reply);
    let forms = Forms::new(choices);
    if let Some(value) = json_answer(reply) {
        let inner = self::tokens(&value);
        if let Reading::Choice(at) = forms.leading(trim(&inner)) {
            return Reading::Choice(at);
        }
    }
    let whole = trim(&tokens);
    if let Some((at, length)) = forms.at_start(whole)
        && trim(whole.get(length..).unwrap_or(&[])).is_empty()
    {
        return Reading::Choice(at);
    }
    match forms.anchored(&tokens) {
        Reading::Unread => {}
        read => return read,
    }
    match forms.leading(whole) {
        Reading::Unread => {}
        read => return read,
    }
    let last = tokens.split(|token| *token == Token::Line).map(trim).rfind(|l| !l.is_empty());
    if let Some((at, length)) = last.and_then(|line| forms.at_start(line))
        && last.is_some_and(|line| trim(line.get(length..).unwrap_or(&[])).is_empty())
    {
        return Reading::Choice(at);
    }
    forms.mentioned(whole)
}

/// The labels cited on the last line that begins with `Sections:` (or `Section`, `Citations`).
#[must_use]
pub fn read_sections(reply: &str) -> Vec<Label> {
    let heads = ["sections", "section", "citations", "citation", "cited sections"];
    let after = |line: &str| -> Option<String> {
        let bare: String = line.chars().filter(|c| !matches!(c, '*' | '`' | '#' | '>')).collect();
        let bare = bare.trim().trim_start_matches('-').trim_start().to_owned();
        let (head, rest) = bare.split_once(':')?;
        heads.contains(&head.trim().to_lowercase().as_str()).then(|| rest.to_owned())
    };
    let Some(rest) = reply.lines().rev().find_map(after) else { return Vec::new() };
    split_labels(&rest)
}

/// Labels separated by commas, semicolons or "and".
#[must_use]
pub(super) fn split_labels(text: &str) -> Vec<Label> {
    let text = text.replace(" and ", ",").replace(['[', ']', '"'], "");
    text.split([',', ';']).filter_map(Label::read).collect()
}

/// The value of `"answer"` where the reply holds a JSON object, in a fence or alone.
fn json_answer(reply: &str) -> Option<String> {
    let (start, end) = (reply.find('{')?, reply.rfind('}')?);
    let value: serde_json::Value = serde_json::from_str(reply.get(start..=end)?).ok()?;
    let found = ["answer", "verdict", "final_answer"].iter().find_map(|key| value.get(key))?;
    match found {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Bool(true) => Some("yes".to_owned()),
        serde_json::Value::Bool(false) => Some("no".to_owned()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Words in lower case, numbers in one spelling (`$2,600.00` is `2600`), marks and line ends.
fn tokens(text: &str) -> Vec<Token> {
    let letters: Vec<char> =
        text.to_lowercase().replace(['\u{2019}', '\u{2018}'], "'").chars().collect();
    let at = |index: usize| letters.get(index).copied().unwrap_or(' ');
    let digit = |index: usize| at(index).is_ascii_digit();
    let mut found = Vec::new();
    let mut index = 0;
    while index < letters.len() {
        let letter = at(index);
        let start = index;
        if letter.is_ascii_digit() || letter == '.' && digit(index + 1) {
            while digit(index) || matches!(at(index), '.' | ',') && digit(index + 1) {
                index += 1;
            }
            let number: String = letters.get(start..index).unwrap_or(&[]).iter().collect();
            let minus = start > 0
                && at(start - 1) == '-'
                && (start < 2 || !at(start - 2).is_alphanumeric());
            found.push(Token::Word(plain_number(&number, minus)));
            continue;
        }
        index += 1;
        if letter.is_alphanumeric() {
            while at(index).is_alphanumeric()
                || at(index) == '\'' && at(index + 1).is_alphanumeric()
            {
                index += 1;
            }
            found.push(Token::Word(letters.get(start..index).unwrap_or(&[]).iter().collect()));
        } else if letter == '\n' {
            found.push(Token::Line);
        } else if matches!(letter, ',' | '.' | ';' | ':' | '=' | '/' | '|' | '!' | '?' | '(' | '{')
        {
            found.push(Token::Mark(letter));
        }
    }
    found
}

fn plain_number(text: &str, minus: bool) -> String {
    let bare = text.replace(',', "");
    let bare = match bare.split_once('.') {
        Some((whole, part)) if part.trim_end_matches('0').is_empty() => whole.to_owned(),
        Some((whole, part)) => format!("{whole}.{}", part.trim_end_matches('0')),
        None => bare,
    };
    format!("{}{bare}", if minus { "-" } else { "" })
}

fn trim(mut tokens: &[Token]) -> &[Token] {
    let idle = |token: &Token| matches!(token, Token::Line | Token::Mark(_));
    while let [first, rest @ ..] = tokens
        && idle(first)
    {
        tokens = rest;
    }
    while let [rest @ .., last] = tokens
        && idle(last)
    {
        tokens = rest;
    }
    tokens
}

/// The spellings of every choice, longest first.
struct Forms(Vec<(Vec<String>, usize)>);

impl Forms {
    fn new(choices: &[String]) -> Self {
        let words = |text: &str| -> Vec<String> {
            let words = tokens(text).into_iter().filter_map(|token| match token {
                Token::Word(word) => Some(word),
                Token::Mark(_) | Token::Line => None,
            });
            words.collect()
        };
        let nei = choices.len().saturating_sub(1);
        let mut forms: Vec<(Vec<String>, usize)> =
            choices.iter().enumerate().map(|(at, choice)| (words(choice), at)).collect();
        forms.extend(NEI.iter().map(|form| (words(form), nei)));
        forms.retain(|(words, _)| !words.is_empty());
        forms.sort_by_key(|(words, at)| (std::cmp::Reverse(words.len()), *at));
        Self(forms)
    }

    /// The choice at the start, and how many tokens it takes.
    fn at_start(&self, tokens: &[Token]) -> Option<(usize, usize)> {
        let fits = |(words, _): &&(Vec<String>, usize)| {
            words.len() <= tokens.len()
                && words
                    .iter()
                    .zip(tokens)
                    .all(|(word, t)| matches!(t, Token::Word(w) if w == word))
        };
        self.0.iter().find(fits).map(|(words, at)| (*at, words.len()))
    }

    /// A choice at the start, unless a second one follows as an alternative.
    fn leading(&self, tokens: &[Token]) -> Reading {
        let tokens = skip_fillers(tokens);
        let Some((at, length)) = self.at_start(tokens) else { return Reading::Unread };
        let rest = tokens.get(length..).unwrap_or(&[]);
        let alternative = match rest {
            [Token::Mark('/' | '|'), after @ ..] => self.at_start(skip_fillers(after)),
            [Token::Mark(','), Token::Word(or), after @ ..] | [Token::Word(or), after @ ..]
                if or == "or" =>
            {
                self.at_start(skip_fillers(after))
            }
            _ => None,
        };
        // "Not enough information is given to say no" begins with its answer; "no information" and
        // "no one" do not: a one-word answer stands before a mark, the end, or a reason.
        let short = self.0.iter().any(|(words, index)| *index == at && words.len() == 1);
        let free = match rest {
            [Token::Word(next), ..] if short && length == 1 => {
                ["because", "since", "as", "the", "it", "this", "he", "she", "they", "under"]
                    .contains(&next.as_str())
            }
            _ => true,
        };
        match alternative {
            Some((other, _)) if other != at => Reading::Hedged,
            _ if free => Reading::Choice(at),
            _ => Reading::Unread,
        }
    }

    /// What follows the last anchor that an answer follows.
    fn anchored(&self, tokens: &[Token]) -> Reading {
        for start in (0..tokens.len()).rev() {
            let from = tokens.get(start..).unwrap_or(&[]);
            let before = start.checked_sub(1).and_then(|index| tokens.get(index));
            let Some((length, sentence)) = anchor(from) else { continue };
            let rest = from.get(length..).unwrap_or(&[]);
            // "Answer" alone needs a colon or a line of its own; a sentence says "is".
            let marked = matches!(rest, [Token::Mark(':' | '=' | '{'), ..]);
            let own_line = matches!(rest, [Token::Line, ..])
                && before.is_none_or(|token| *token == Token::Line);
            if !(sentence || marked || own_line) {
                continue;
            }
            let rest = if sentence { skip_marks(rest) } else { trim_start(rest) };
            match self.leading(rest) {
                Reading::Unread => {}
                read => return read,
            }
        }
        Reading::Unread
    }

    /// The one choice of several words that the reply mentions, if it mentions one only.
    fn mentioned(&self, tokens: &[Token]) -> Reading {
        let mut seen = None;
        let mut index = 0;
        while index < tokens.len() {
            let from = tokens.get(index..).unwrap_or(&[]);
            let Some((at, length)) = self.at_start(from).filter(|(_, length)| *length > 1) else {
                index += 1;
                continue;
            };
            let before = tokens.get(index.saturating_sub(3)..index).unwrap_or(&[]);
            let denied = before.iter().any(denies);
            if denied || seen.is_some_and(|known| known != at) {
                return if denied { Reading::Unread } else { Reading::Hedged };
            }
            seen = Some(at);
            index += length;
        }
        seen.map_or(Reading::Unread, Reading::Choice)
    }
}

fn denies(token: &Token) -> bool {
    let Token::Word(word) = token else { return false };
    word.ends_with("n't") || ["not", "neither", "nor", "never"].contains(&word.as_str())
}

/// An anchor at the start: its length, and whether it is a sentence of its own.
fn anchor(tokens: &[Token]) -> Option<(usize, bool)> {
    ANCHORS.iter().find_map(|anchor| {
        let words: Vec<&str> = anchor.split(' ').collect();
        let fits = words.len() <= tokens.len()
            && words.iter().zip(tokens).all(|(word, t)| matches!(t, Token::Word(w) if w == word));
        fits.then_some((words.len(), anchor.ends_with(" is")))
    })
}

fn trim_start(mut tokens: &[Token]) -> &[Token] {
    while let [Token::Mark(_) | Token::Line, rest @ ..] = tokens {
        tokens = rest;
    }
    tokens
}

fn skip_marks(mut tokens: &[Token]) -> &[Token] {
    while let [Token::Mark(':' | '='), rest @ ..] | [Token::Line, rest @ ..] = tokens {
        tokens = rest;
    }
    tokens
}

/// Words that may stand before an answer without changing it.
fn skip_fillers(mut tokens: &[Token]) -> &[Token] {
    const FILLERS: [&str; 8] = ["the", "a", "an", "that", "is", "so", "therefore", "thus"];
    while let [Token::Word(word), rest @ ..] = tokens
        && (FILLERS.contains(&word.as_str()))
        && !matches!(rest, [Token::Word(next), ..] if next == "not" || next == "information")
    {
        tokens = match rest {
            [Token::Mark(',' | ':'), after @ ..] => after,
            _ => rest,
        };
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn says(choices: &[&str], reply: &str) -> Reading {
        let choices: Vec<String> = choices.iter().map(|choice| (*choice).to_owned()).collect();
        read_answer(reply, &choices)
    }

    const YES: Reading = Reading::Choice(0);
    const NO: Reading = Reading::Choice(1);
    const NONE: Reading = Reading::Choice(2);

    #[test]
    fn replies_are_read_as_a_person_would() {
        let table = [
            ("yes", YES),
            ("Yes.", YES),
            ("**No**", NO),
            ("The answer is **No**.", NO),
            ("no, because the plan does not say yes", NO),
            ("No because he is not a student. Had he been, yes.", NO),
            ("Step 1: yes it is a plan. Step 2: it is late.\n\nAnswer: no\nSections: 4.21", NO),
            ("Answer: no\n\nOn reflection the final answer is yes", YES),
            ("**Answer:** Not enough information", NONE),
            ("Answer:\nNot enough information.", NONE),
            ("There is not enough information to say yes or no.", NONE),
            ("There isn\u{2019}t enough information.", NONE),
            ("It cannot be determined from the facts.", NONE),
            ("final answer: NEI", NONE),
            ("{\"answer\": \"no\", \"sections\": [\"4.21\"]}", NO),
            ("```json\n{\"answer\": \"not enough information\"}\n```", NONE),
            ("The amount is paid.\nIt is for the year.\nyes", YES),
            ("$\\boxed{no}$", NO),
            ("Answer: yes / no", Reading::Hedged),
            ("Answer: yes | no | not enough information", Reading::Hedged),
            ("yes or no", Reading::Hedged),
            ("", Reading::Unread),
            ("   \n", Reading::Unread),
            ("I'm sorry, but I can't help with that.", Reading::Unread),
            ("There is no simple answer: yes for members.", Reading::Unread),
            ("No one can say.", Reading::Unread),
            ("As an AI, I cannot give legal advice.", Reading::Unread),
            ("Let me think about the plan; there is no rule on that", Reading::Unread),
        ];
        for (reply, wanted) in table {
            assert_eq!(says(&["yes", "no", "not enough information"], reply), wanted, "{reply:?}");
        }
    }

    #[test]
    fn amounts_are_read_in_every_spelling() {
        let choices = ["$2,600", "$260.50", "not enough information"];
        for reply in
            ["$2,600.00", "2600", "2,600", "Answer: $2600.", "The answer is **$2,600.00**."]
        {
            assert_eq!(says(&choices, reply), YES, "{reply:?}");
        }
        assert_eq!(says(&choices, "260.5"), NO);
        assert_eq!(says(&choices, "26000"), Reading::Unread);
        assert_eq!(says(&["-5", "5", "not enough information"], "Answer: -5"), YES);
    }

    #[test]
    fn answers_of_several_words() {
        let choices = ["postdoctoral appointee", "visiting fellow", "not enough information"];
        let read = |reply: &str| says(&choices, reply);
        assert_eq!(read("The candidate is a Visiting Fellow."), NO);
        assert_eq!(read("Answer: a post-doctoral appointee"), Reading::Unread);
        assert_eq!(read("The candidate is not a visiting fellow."), Reading::Unread);
        assert_eq!(read("A visiting fellow or a postdoctoral appointee"), Reading::Hedged);
        let amounts = ["all of it", "only a part of it", "none of it", "not enough information"];
        assert_eq!(says(&amounts, "Answer: none of it"), NONE);
        assert_eq!(says(&amounts, "Only a part of it is."), NO);
    }

    #[test]
    fn sections_stand_on_the_last_line_that_names_them() {
        let read = |reply: &str| -> Vec<String> {
            read_sections(reply).into_iter().map(|label| label.text).collect()
        };
        assert_eq!(
            read("Answer: no\nSections: §4.21, Sec. 2.01(a) and 3"),
            ["4.21", "2.01(a)", "3"]
        );
        assert_eq!(read("**Sections:** none"), Vec::<String>::new());
        assert_eq!(read("see sections 4 and 5"), Vec::<String>::new());
    }
}
