//! How long an author waits: nothing changed, and from a save to the printed diagnostics, with the
//! policies of the repository and a policy of 1,200 clauses present.
//!
//! `cargo bench --bench rebuild`; targets (DESIGN.md section 6): under 50 ms, under 300 ms.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::allow_attributes,
    reason = "a measurement fails by panicking, and prints"
)]

use std::fmt::Write;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RULES: usize = 1_200;

/// A policy with 1,200 clauses over 600 facts, and a determination that needs few of them.
fn large(root: &Path) {
    let folder = root.join("policies/large");
    fs::create_dir_all(&folder).unwrap();
    let (mut smt2, mut prose, mut words) =
        ("(set-logic ALL)\n".to_owned(), "# Large\n".to_owned(), String::new());
    for at in 0..RULES / 2 {
        writeln!(smt2, "(declare-const f{at} Bool)").unwrap();
        writeln!(
            words,
            "[facts.f{at}]\ntrue = [\"Fact {at} holds.\"]\nfalse = [\"Fact {at} fails.\"]"
        )
        .unwrap();
    }
    for at in 0..RULES {
        writeln!(smt2, "(declare-const d{at} Bool)").unwrap();
        writeln!(words, "[derived.d{at}]\nname = \"condition {at}\"").unwrap();
    }
    for at in 0..RULES {
        let (fact, other) = (at % (RULES / 2), (at * 7 + 3) % (RULES / 2));
        let before = if at % 6 == 0 { "true".to_owned() } else { format!("d{}", at - 1) };
        writeln!(
            smt2,
            "(assert (! (= d{at} (and (or f{fact} f{other}) {before})) :named s{at} \
             :section \"{at}\" :source \"rule {at}\"))"
        )
        .unwrap();
        writeln!(prose, "\n**§{at}** Rule {at}.").unwrap();
    }
    fs::write(folder.join("policy.smt2"), smt2).unwrap();
    fs::write(folder.join("policy.md"), prose).unwrap();
    fs::write(folder.join("vocabulary.toml"), words).unwrap();
}

fn program(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deogen"));
    command.arg("-C").arg(root).args(arguments);
    command
}

fn best(mut run: impl FnMut() -> Duration) -> (Duration, Duration) {
    let mut times: Vec<Duration> = (0..11).map(|_| run()).collect();
    times.sort_unstable();
    (*times.first().unwrap(), *times.get(5).unwrap())
}

fn report(what: &str, target: u64, (least, median): (Duration, Duration)) {
    let (least, median) = (least.as_secs_f64() * 1000.0, median.as_secs_f64() * 1000.0);
    println!("{what:<44} least {least:7.1} ms  median {median:7.1} ms  target {target} ms");
}

fn main() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copied =
        Command::new("cp").arg("-r").arg(home.join("policies")).arg(root).status().unwrap();
    assert!(copied.success());
    large(root);
    // One quick determination of the repository's own and one of the large policy; every policy is
    // declared, so every one is read and hashed.
    let mut manifest = "[project]\nname = \"bench\"\nversion = \"0.1.0\"\nlicense = \"CC0-1.0\"\n\
                        [sampling]\ndefinite = 10\nnei = 10\n"
        .to_owned();
    let own = fs::read_to_string(home.join("deogen.toml")).unwrap();
    for block in own.split("\n\n") {
        if block.contains("[policies.") || block.contains("id = \"fellows-hiring") {
            manifest += &format!("\n{block}\n");
        }
    }
    manifest += "\n[policies.large]\n[[determination]]\nid = \"large/d5\"\npolicy = \"large\"\n\
                 verdict = \"d5\"\nquestion = \"Does condition 5 hold?\"\n\
                 answers = { true = \"yes\", false = \"no\" }\n";
    fs::write(root.join("deogen.toml"), manifest).unwrap();
    let built = program(root, &["build", "-q"]).status().unwrap();
    assert!(built.success());

    let idle = best(|| {
        let start = Instant::now();
        assert!(program(root, &["build", "-q"]).status().unwrap().success());
        start.elapsed()
    });
    report("nothing changed: build", 50, idle);
    let status = best(|| {
        let start = Instant::now();
        assert!(program(root, &["status", "-q"]).stdout(Stdio::null()).status().unwrap().success());
        start.elapsed()
    });
    report("nothing changed: status", 50, status);

    let mut child = program(root, &["watch"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("waiting for a save")));
    let path = root.join("policies/large/policy.smt2");
    let good = fs::read_to_string(&path).unwrap();
    let mut round = 0;
    let saved = best(|| {
        round += 1;
        let bad = good.replacen("(or f3 f24)", &format!("(or f3 g{round})"), 1);
        assert_ne!(bad, good, "the clause that is edited is there");
        let start = Instant::now();
        fs::write(&path, bad).unwrap();
        assert!(lines.any(|line| line.contains("error[")));
        let time = start.elapsed();
        assert!(lines.any(|line| line.contains("waiting for a save")));
        time
    });
    report("from a save to its first diagnostic", 300, saved);
    let _ = child.kill();
    let _ = child.wait();
}
