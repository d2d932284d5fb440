//! `deogen ask`: one scenario, answered and explained.

use std::fs;
use std::io::Read;

use super::inspect::with_prepared;
use super::{Shell, Status};
use crate::ask::facts::{FactFault, Reader};
use crate::ask::{Cited, Derived, Question, Reply, Stated};
use crate::claim::Drop;
use crate::diag::Diagnostic;
use crate::policy::Facts;
use crate::stages::{Failure, Prepared};

/// Arguments of `deogen ask`.
#[derive(clap::Args, Debug)]
pub(super) struct AskArgs {
    /// The determination.
    determination: String,
    /// A fact: `name=value`, as rows name it or without its policy, or a sentence.
    #[arg(long = "fact", value_name = "NAME=VALUE")]
    fact: Vec<String>,
    /// Facts from a file: a JSON object, or lines of rows or of their facts; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    facts: Option<String>,
    /// Print every step that follows, not only those the answer rests on.
    #[arg(long)]
    all_steps: bool,
}

pub(super) fn ask(shell: &Shell, args: &AskArgs) -> Result<(), Status> {
    let given = args.facts.as_deref().map(|path| read(shell, path)).transpose()?;
    let replies = with_prepared(shell, &args.determination, |run, prepared| {
        let scenarios = scenarios(prepared, given.as_deref(), &args.fact)?;
        let question = Question {
            inquiry: &prepared.inquiry,
            vocabulary: &prepared.vocabulary,
            wording: &prepared.wording,
            customs: prepared.customs(),
            limits: run.limits(),
        };
        let answer = |facts| question.ask(facts).map_err(undecided);
        scenarios.iter().map(answer).collect::<Result<Vec<Reply>, Failure>>()
    })?;
    for reply in &replies {
        if shell.json {
            shell.out(&format!("{}\n", serde_json::to_string(reply).unwrap_or_default()))?;
        } else {
            shell.out(&readable(reply, args.all_steps))?;
        }
    }
    if replies.iter().any(|reply| reply.status == "contradiction") {
        return Err(Status::Faults);
    }
    Ok(())
}

fn read(shell: &Shell, path: &str) -> Result<String, Status> {
    let text = if path == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        fs::read_to_string(path)
    };
    text.map_err(|error| {
        shell.error(&format!("{path} cannot be read: {error}"));
        Status::Faults
    })
}

fn scenarios(
    prepared: &Prepared,
    given: Option<&str>,
    arguments: &[String],
) -> Result<Vec<Facts>, Failure> {
    let reader = Reader::new(&prepared.inquiry, &prepared.vocabulary);
    let refuse = |fault: FactFault| {
        Failure::Faults(vec![Diagnostic::error("bad-fact", fault.message).hint(fault.hint)])
    };
    let mut scenarios = match given {
        Some(text) => reader.file(text).map_err(refuse)?,
        None => vec![Facts::default()],
    };
    for facts in &mut scenarios {
        for argument in arguments {
            reader.argument(argument, facts).map_err(refuse)?;
        }
    }
    Ok(scenarios)
}

fn undecided(_: Drop) -> Failure {
    let message = "the solver cannot tell within its limit";
    let hint = "raise `rlimit` under `[limits]` in deogen.toml";
    Failure::Faults(vec![Diagnostic::error("undecided", message).hint(hint)])
}

fn readable(reply: &Reply, all_steps: bool) -> String {
    let mut text = format!("{}\n", reply.determination);
    if !reply.facts.is_empty() {
        text.push_str("Facts\n");
        for fact in &reply.facts {
            text.push_str(&format!("  - {}\n", said(fact)));
        }
    }
    text.push_str(&format!("Question\n  {}\n", reply.question));
    if reply.status == "contradiction" {
        text.push_str("The facts contradict the policy: no scenario has all of these\n");
        for fact in &reply.clash.facts {
            text.push_str(&format!("  - {} = {}\n", fact.variable, fact.value));
        }
        for clause in &reply.clash.clauses {
            text.push_str(&format!("  - {}\n", cited(clause)));
        }
        text.push_str(
            "Leave out any one of them and the rest agree: correct a fact or a clause.\n",
        );
        return text;
    }
    text.push_str(&format!("Answer\n  {}\n", reply.answer));
    if reply.status == "nei" {
        text.push_str(&missing(reply));
    } else {
        let sections: Vec<String> = reply.sections.iter().map(|s| mark(s)).collect();
        text.push_str(&format!("Settled by\n  {}\n", sections.join(", ")));
    }
    text.push_str(&steps(reply, all_steps));
    text
}

fn said(fact: &Stated) -> String {
    if fact.text.is_empty() {
        format!("{} = {}", fact.variable, fact.value)
    } else {
        format!("{}  [{} = {}]", fact.text, fact.variable, fact.value)
    }
}

fn mark(section: &str) -> String {
    match section.split_once(':') {
        Some((policy, label)) => format!("{policy} §{label}"),
        None => section.to_owned(),
    }
}

fn cited(clause: &Cited) -> String {
    let section =
        if clause.section.is_empty() { "natural range".to_owned() } else { mark(&clause.section) };
    let source =
        if clause.source.is_empty() { String::new() } else { format!(": {}", clause.source) };
    format!("{section} ({}, {}){source}", clause.clause, clause.place)
}

fn missing(reply: &Reply) -> String {
    let mut text = format!("Still possible\n  {}\n", reply.possible_values.join(", "));
    if reply.missing.is_empty() && reply.missing_complete {
        text.push_str("No facts decide it: the policy is silent\n");
    }
    for need in &reply.needs {
        if need.sets.is_empty() {
            let why = if need.complete { "no facts lead to it for sure" } else { "no set found" };
            text.push_str(&format!("For `{}`\n  {why}\n", need.answer));
            continue;
        }
        let more = if need.complete { "" } else { "; there may be other sets" };
        text.push_str(&format!("For `{}` it would be enough to know{more}\n", need.answer));
        for (at, set) in need.sets.iter().enumerate() {
            for (first, fact) in set.facts.iter().enumerate() {
                let lead = match (at, first) {
                    (0, 0) => "  -   ",
                    (_, 0) => "  - or",
                    _ => "   and",
                };
                let words = if fact.name == fact.variable {
                    String::new()
                } else {
                    format!("  ({})", fact.name)
                };
                text.push_str(&format!("{lead} {} = {}{words}\n", fact.variable, fact.choice));
            }
        }
    }
    text
}

fn steps(reply: &Reply, all: bool) -> String {
    let wanted = |step: &&Derived| all || step.needed || (reply.status == "nei" && step.stated);
    let steps: Vec<&Derived> = reply.derivation.iter().filter(wanted).collect();
    if steps.is_empty() {
        return String::new();
    }
    let mut text = String::from(if reply.status == "nei" {
        "What follows so far\n"
    } else {
        "How it follows\n"
    });
    for (at, step) in steps.iter().enumerate() {
        let words =
            if step.name == step.condition { String::new() } else { format!("  ({})", step.name) };
        text.push_str(&format!("  {}. {} = {}{words}\n", at + 1, step.condition, step.value));
        for clause in &step.clauses {
            text.push_str(&format!("       by {}\n", cited(clause)));
        }
        if !step.since.is_empty() {
            let since: Vec<String> =
                step.since.iter().map(|s| format!("{} = {}", s.variable, s.value)).collect();
            text.push_str(&format!("       since {}\n", since.join(", ")));
        }
    }
    text
}
