//! `deogen watch` as a real process: every kind of save, and nothing but saves.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::workshop::{Workshop, same};

/// A watching process; it ends with its owner.
struct Watching {
    child: Child,
    lines: Receiver<String>,
    said: Vec<String>,
}

const PATIENCE: Duration = Duration::from_secs(120);

impl Watching {
    fn start(workshop: &Workshop, flags: &[&str]) -> Self {
        let mut child = workshop
            .command(&[&["watch"], flags].concat())
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stderr.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut watching = Self { child, lines, said: Vec::new() };
        watching.until("waiting for a save");
        watching
    }

    /// Waits for a line.
    fn until(&mut self, part: &str) {
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                panic!("no `{part}` after\n{}", self.said.join("\n"));
            };
            self.said.push(line.clone());
            if line.contains(part) {
                return;
            }
        }
    }

    /// Waits until it has built and rests, and a condition holds.
    fn until_built(&mut self, what: &str, holds: impl Fn() -> bool) {
        self.until("waiting for a save");
        while !holds() {
            self.said.push(format!("({what}: not yet)"));
            self.until("waiting for a save");
        }
    }

    fn saves(&self) -> usize {
        self.said.iter().filter(|line| line.contains("-- saved --")).count()
    }

    fn interrupt(mut self) -> i32 {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const WORDS: &str = "policies/leave/vocabulary.toml";

/// The vocabulary with a mark that ends up in the entries.
fn marked(text: &str, mark: &str) -> String {
    text.replace("a doctor's note for the absence.", &format!("a note ({mark}) for the absence."))
}

/// A way to save, by name. Each leaves the file with the text given.
type Save<'w> = (&'static str, Box<dyn Fn(&str) + 'w>);

/// Six ways to save one file.
fn saves_of_a_file(workshop: &Workshop) -> Vec<Save<'_>> {
    let path = || workshop.path(WORDS);
    let beside = |name: &str| workshop.path(&format!("policies/leave/{name}"));
    let rename = |from: PathBuf, to: PathBuf| fs::rename(from, to).unwrap();
    let put = |to: PathBuf, text: &[u8]| fs::write(to, text).unwrap();
    vec![
        ("in place", Box::new(move |text| put(path(), text.as_bytes()))),
        (
            "renamed over",
            Box::new(move |text| {
                put(beside(".words.swp"), text.as_bytes());
                rename(beside(".words.swp"), path());
            }),
        ),
        (
            "backup made by renaming",
            Box::new(move |text| {
                rename(path(), beside("vocabulary.toml~"));
                put(path(), text.as_bytes());
                fs::remove_file(beside("vocabulary.toml~")).unwrap();
            }),
        ),
        (
            "removed and made anew",
            Box::new(move |text| {
                fs::remove_file(path()).unwrap();
                put(path(), text.as_bytes());
            }),
        ),
        (
            "in two pieces",
            Box::new(move |text| {
                put(path(), &text.as_bytes()[..text.len() / 2]);
                put(path(), text.as_bytes());
            }),
        ),
        (
            "not text for a moment",
            Box::new(move |text| {
                put(path(), &[0xff, 0xfe, 0x00]);
                put(path(), text.as_bytes());
            }),
        ),
    ]
}

/// Four more that touch other files or folders.
fn saves_around(workshop: &Workshop) -> Vec<Save<'_>> {
    let path = || workshop.path(WORDS);
    let linked = || workshop.path("words.toml");
    vec![
        (
            "twice",
            Box::new(move |text| {
                fs::write(path(), text.replace("note (", "slip (")).unwrap();
                fs::write(path(), text).unwrap();
            }),
        ),
        (
            "folder exchanged, as by `git switch`",
            Box::new(move |text| {
                let (here, there) = (workshop.path("policies"), workshop.path("elsewhere"));
                let copied = Command::new("cp").arg("-r").args([&here, &there]).status().unwrap();
                assert!(copied.success());
                fs::write(there.join("leave/vocabulary.toml"), text).unwrap();
                fs::remove_dir_all(&here).unwrap();
                fs::rename(&there, &here).unwrap();
            }),
        ),
        (
            "a link to another file of the project",
            Box::new(move |text| {
                fs::write(linked(), text).unwrap();
                fs::remove_file(path()).unwrap();
                std::os::unix::fs::symlink(linked(), path()).unwrap();
            }),
        ),
        ("through that link", Box::new(move |text| fs::write(linked(), text).unwrap())),
    ]
}

fn torture(flags: &[&str]) {
    let workshop = Workshop::init();
    let words = workshop.read(WORDS);
    let mut watching = Watching::start(&workshop, flags);
    let mut saves = saves_of_a_file(&workshop);
    saves.extend(saves_around(&workshop));
    for (at, (what, save)) in saves.into_iter().enumerate() {
        let mark = format!("mark {at}");
        save(&marked(&words, &mark));
        let rows = workshop.path("dist/leave/paid.jsonl");
        let holds =
            || fs::read_to_string(&rows).is_ok_and(|text| text.contains(&format!("({mark})")));
        watching.until_built(what, holds);
        assert!(watching.child.try_wait().unwrap().is_none(), "{what} ended it");
    }
    same(&workshop.files("dist"), &workshop.clean(), "after all saves");
    assert_eq!(watching.interrupt(), 130);
}

#[test]
fn every_kind_of_save_is_seen_and_the_last_content_counts() {
    torture(&[]);
}

#[test]
fn polling_sees_them_too() {
    torture(&["--poll", "40"]);
}

#[test]
fn only_another_content_of_a_file_that_was_read_starts_a_build() {
    let workshop = Workshop::init();
    let words = workshop.read(WORDS);
    let mut watching = Watching::start(&workshop, &[]);
    // Equal saves, reads, outputs, the store, other files.
    fs::write(workshop.path(WORDS), &words).unwrap();
    let rename = workshop.path("policies/leave/.new");
    fs::write(&rename, &words).unwrap();
    fs::rename(&rename, workshop.path(WORDS)).unwrap();
    workshop.write("policies/leave/notes.txt", "notes");
    workshop.write("dist/leave/paid.jsonl", "touched");
    let _ = fs::remove_dir_all(workshop.path("cache"));
    workshop.run(&["build"]).ended(0);
    assert_eq!(watching.saves(), 0);
    fs::write(workshop.path(WORDS), marked(&words, "at last")).unwrap();
    watching.until("waiting for a save");
    assert_eq!(watching.saves(), 1, "{}", watching.said.join("\n"));
    // And one that stops its own build's files from counting: still only that one.
    let idle: u64 =
        std::env::var("DEOGEN_IDLE").ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let quiet = watching.lines.recv_timeout(Duration::from_secs(idle));
    assert!(quiet.is_err(), "{quiet:?} without a save");
}

#[test]
fn faults_are_shown_and_waited_out() {
    let workshop = Workshop::init();
    let manifest = workshop.read("deogen.toml");
    let mut watching = Watching::start(&workshop, &[]);
    let smt2 = workshop.read("policies/leave/policy.smt2");
    workshop.write("policies/leave/policy.smt2", &smt2.replace("(assert", "(assart"));
    watching.until("error");
    watching.until("waiting for a save");
    workshop.write("policies/leave/policy.smt2", &smt2);
    watching.until("nothing wrong");
    watching.until("waiting for a save");
    // The manifest itself, removed and back.
    fs::remove_file(workshop.path("deogen.toml")).unwrap();
    watching.until("there is no such file");
    watching.until("waiting for a save");
    workshop.write("deogen.toml", &manifest.replace("definite = 20", "definite = 3"));
    watching.until("nothing wrong");
    watching.until("entries: ");
    watching.until("waiting for a save");
    // A policy folder that the manifest names before it is there.
    let text = workshop.read("deogen.toml");
    workshop.write("deogen.toml", &format!("{text}\n[policies.late]\npath = \"far/away/late\"\n"));
    watching.until("error");
    watching.until("waiting for a save");
    for (name, bytes) in workshop.files("policies/leave") {
        workshop.write(&format!("far/away/late/{name}"), &String::from_utf8(bytes).unwrap());
    }
    let fresh = || workshop.run(&["status"]).status == 0;
    watching.until_built("a folder made late", fresh);
    assert_eq!(watching.interrupt(), 130);
}

#[test]
fn an_edit_says_what_it_did_to_the_entries() {
    let workshop = Workshop::init();
    let mut watching = Watching::start(&workshop, &[]);
    workshop.edit(
        "policies/leave/policy.smt2",
        "(= reason illness) has_note",
        "(= reason illness)",
    );
    watching.until("-- saved --");
    let before = watching.said.len();
    watching.until("waiting for a save");
    let said = watching.said[before..].join("\n");
    for part in
        ["leave/paid: definite paths 9 -> 6", "entries: ", "with another answer", "-> yes: "]
    {
        assert!(said.contains(part), "no `{part}` in\n{said}");
    }
}

#[test]
fn a_save_while_building_starts_again() {
    let workshop = Workshop::new();
    crate::terrace::Hillside::new().write(&workshop);
    let mut watching = Watching::start(&workshop, &["-j", "1"]);
    let smt2 = "policies/p0/policy.smt2";
    for at in 0..4 {
        workshop.edit(&format!("policies/p{at}/policy.smt2"), "(<= n ", "(<= n 1");
    }
    // While the first of many is at work.
    watching.until("built p");
    workshop.edit(smt2, "(<= n 1", "(<= n 2");
    watching.until("saved while building: starting again");
    watching.until("waiting for a save");
    same(&workshop.files("dist"), &workshop.clean(), "saved while building");
}
