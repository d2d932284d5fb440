//! `deogen watch`: builds again whenever a file that the last run read is saved with another
//! content.

use std::collections::BTreeMap;
use std::fs;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::progress::Progress;
use super::{BuildArgs, Shell, Status, make};
use crate::build::{self, BuildFile, Ended, Opened, rows_path};
use crate::dataset::Row;
use crate::effect::Effect;
use crate::manifest::Manifest;
use crate::stages::News;
use crate::watch::{Event, Watcher, Woken};

#[derive(clap::Args, Debug)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    build: BuildArgs,
    /// Look at the files every so many milliseconds, for folders that give no notice of changes,
    /// such as network shares.
    #[arg(long, value_name = "MS", num_args = 0..=1, default_missing_value = "500")]
    #[arg(value_parser = clap::value_parser!(u64).range(10..))]
    poll: Option<u64>,
}

/// What the outputs were before a build.
#[derive(Default)]
struct Before {
    file: BuildFile,
    rows: BTreeMap<String, Vec<Row>>,
}

pub(super) fn watch(shell: &Shell, args: &WatchArgs) -> Status {
    let mut watcher = Watcher::new(&shell.root, args.poll.map(Duration::from_millis));
    if let Ok(mut wake) = shell.wake.lock() {
        *wake = Some(watcher.sender());
    }
    if watcher.polls() && args.poll.is_none() {
        shell.say("note: this system gives no notice of changes; looking twice a second");
    }
    let mut number = 0;
    loop {
        number += 1;
        let started = Instant::now();
        let opened = Opened::read(&shell.options(&args.build));
        watcher.follow(opened.loader.files());
        screen(shell, number);
        // Parse, names, sorts and labels at once; what takes a solver follows with the build.
        let said = opened.diagnostics();
        shell.diagnostics(&said);
        shell.say(&format!("read in {} ms, {}", started.elapsed().as_millis(), faults(&said)));
        let (woken, ended) = build(shell, args, &opened, &mut watcher, number);
        match woken {
            Woken::Stop => return stopped(shell),
            Woken::Changed => {
                shell.say("saved while building: starting again");
                continue;
            }
            Woken::Done => {}
        }
        tell(shell, &opened, ended, &said, started.elapsed());
        if watcher.wait(None) == Woken::Stop {
            return stopped(shell);
        }
    }
}

fn stopped(shell: &Shell) -> Status {
    shell.say("stopped: what was finished is kept");
    Status::Interrupted
}

/// A fresh screen on a terminal; elsewhere a line, so that a log can be read from top to bottom.
fn screen(shell: &Shell, number: u64) {
    if shell.json || shell.quiet {
        return;
    }
    if std::io::stderr().is_terminal() && number > 1 {
        // Clear, and home: one write, so nothing flickers.
        shell.say("\u{1b}[2J\u{1b}[H-- saved --");
    } else {
        shell.say(if number == 1 { "-- watching --" } else { "-- saved --" });
    }
}

fn faults(said: &[crate::diag::Diagnostic]) -> String {
    let errors = said.iter().filter(|d| build::has_errors(std::slice::from_ref(*d))).count();
    match (errors, said.len() - errors) {
        (0, 0) => "nothing wrong".to_owned(),
        (errors, warnings) => format!("{errors} errors, {warnings} warnings"),
    }
}

/// Builds in the background; a save or Ctrl-C in the meantime stops it.
fn build(
    shell: &Shell,
    args: &WatchArgs,
    opened: &Opened,
    watcher: &mut Watcher,
    number: u64,
) -> (Woken, Option<(Before, Ended)>) {
    let options = shell.options(&args.build);
    let before = opened
        .project
        .as_ref()
        .map_or_else(|_| Before::default(), |project| outputs(shell, &project.manifest));
    let stop = AtomicBool::new(false);
    let progress = Progress::new(shell);
    let done = watcher.sender();
    let (woken, ended) = std::thread::scope(|scope| {
        let builder = scope.spawn(|| {
            let tell = |of: &str, stage: &str, news: News<'_>| {
                if !stop.load(Ordering::Relaxed) {
                    progress.tell(of, stage, news);
                }
            };
            let ended = build::build_opened(&options, opened, &stop, &tell);
            let _ = done.send(Event::Done(number));
            ended
        });
        let woken = watcher.wait(Some(number));
        stop.store(woken != Woken::Done, Ordering::Relaxed);
        (woken, builder.join().ok())
    });
    progress.finish();
    (woken, ended.map(|ended| (before, ended)))
}

/// Rows and figures as they lie in the output folder.
fn outputs(shell: &Shell, manifest: &Manifest) -> Before {
    let dist = shell.root.join(&manifest.about.dist);
    let read = |path: &str| fs::read_to_string(dist.join(path)).unwrap_or_default();
    let file = serde_json::from_str(&read("build.json")).unwrap_or_default();
    let mut rows = BTreeMap::new();
    for det in &manifest.determinations {
        let text = read(&rows_path(&det.id.name, &det.policy.name));
        let all = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        rows.insert(det.id.name.clone(), all);
    }
    Before { file, rows }
}

/// Columns of the terminal; none where the output is no terminal.
fn width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(std::io::stderr())?;
    Some(usize::from(width.0))
}

/// A line broken between words, its later parts indented.
fn wrap(line: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return line.to_owned() };
    let mut text = String::new();
    let mut column = 0;
    for word in line.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if column > 0 && column + length > width {
            text.truncate(text.trim_end().len());
            text.push_str("\n    ");
            column = 4;
        }
        text.push_str(word);
        column += word.chars().count();
    }
    text
}

/// Says what came of a build: new faults first, then what the edit did to each determination.
fn tell(
    shell: &Shell,
    opened: &Opened,
    ended: Option<(Before, Ended)>,
    said: &[crate::diag::Diagnostic],
    spent: Duration,
) {
    let Some((before, ended)) = ended else {
        shell.error("a bug in deogen: the build ended without a result");
        return;
    };
    let more: Vec<_> = ended.diagnostics.iter().filter(|d| !said.contains(d)).cloned().collect();
    shell.diagnostics(&more);
    for warning in &ended.warnings {
        shell.say(&format!("warning: {warning}"));
    }
    if let Some(failure) = &ended.failure {
        let _ = shell.failure(failure);
    }
    if shell.json {
        make::report(shell, &ended, spent.as_secs_f64());
        return;
    }
    if let Ok(project) = &opened.project {
        let after = outputs(shell, &project.manifest);
        for outcome in &ended.summary.determinations {
            let id = &outcome.id;
            if outcome.state != "fresh" {
                shell.say(&format!("{id}: {}: {}", outcome.state, outcome.reason));
                continue;
            }
            let (Some(old), Some(new)) =
                (before.file.determinations.get(id), after.file.determinations.get(id))
            else {
                let count = outcome.entries_definite + outcome.entries_nei;
                shell.say(&format!("{id}: new, {count} entries"));
                continue;
            };
            let none: Vec<Row> = Vec::new();
            let rows = |from: &Before| from.rows.get(id).cloned().unwrap_or(none.clone());
            let effect = Effect::between((old, &rows(&before)), (new, &rows(&after)));
            for (at, line) in effect.lines().iter().enumerate() {
                let lead = if at == 0 { format!("{id}: ") } else { "  ".to_owned() };
                shell.say(&wrap(&format!("{lead}{line}"), width()));
            }
        }
    }
    let unchanged = ended.summary.determinations.iter().filter(|o| o.cached && o.state == "fresh");
    let count = unchanged.count();
    let all = ended.summary.determinations.len();
    let seconds = spent.as_secs_f64();
    shell.say(&format!("{count} of {all} determinations kept, {seconds:.2} s; waiting for a save"));
}

#[cfg(test)]
mod tests {
    use super::wrap;

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("  lost, no: one two", Some(15)), "  lost, no: one\n    two");
        assert_eq!(wrap("a b", Some(80)), "a b");
        assert_eq!(wrap("one two three", None), "one two three");
    }
}
