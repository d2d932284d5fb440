//! Whatever happens to a build or its store, the next build ends with the bytes of a clean one.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use deogen::build::{self, Options};
use deogen::stages::{Failure, News};
use deogen::store::Disk;

use crate::draft::Dice;
use crate::terrace::Hillside;
use crate::workshop::{Workshop, files, program, same};

fn left_over(workshop: &Workshop, folder: &str) -> Vec<String> {
    let files = workshop.files(folder).into_keys();
    files.filter(|name| name.contains(".deogen-new-")).collect()
}

#[test]
fn a_build_killed_at_any_moment_is_made_good_by_the_next() {
    let kills: u64 =
        std::env::var("DEOGEN_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(10);
    let workshop = Workshop::init();
    let started = Instant::now();
    workshop.build().ended(0);
    let whole = started.elapsed();
    let mut clean: BTreeMap<u64, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
    let mut dice = Dice::new(5);
    let text = workshop.read("policies/leave/policy.smt2");
    let mut killed = 0;
    for round in 0..kills {
        let days = 10 + round % 3;
        let edited = text.replace("days_employed 90", &format!("days_employed {days}"));
        workshop.write("policies/leave/policy.smt2", &edited);
        if round % 2 == 0 {
            let _ = fs::remove_dir_all(workshop.path("cache"));
        }
        let mut child = workshop.command(&["build", "-q"]).spawn().unwrap();
        // The moment is chance; what comes after must not be.
        let moment = whole.mul_f64(dice.below(1000) as f64 / 1000.0);
        std::thread::sleep(moment);
        let _ = child.kill();
        killed += u64::from(child.wait().unwrap().code().is_none());
        let ran = workshop.build().ended(0);
        assert!(!ran.stderr.contains("broken"), "{}", ran.stderr);
        let expected = clean.entry(days).or_insert_with(|| workshop.clean());
        same(&workshop.files("dist"), expected, &format!("round {round}, killed at {moment:?}"));
        assert!(left_over(&workshop, "dist").is_empty());
    }
    assert!(killed > 0, "no build was killed before its end");
    workshop.run(&["cache", "gc"]).ended(0);
    assert!(left_over(&workshop, "cache").is_empty());
    workshop.run(&["cache", "verify"]).ended(0);
}

#[test]
fn a_full_disk_ends_a_build_at_any_write_and_loses_nothing() {
    let workshop = Workshop::init();
    workshop.build().ended(0);
    let old = workshop.files("dist");
    workshop.edit("policies/leave/policy.smt2", "days_employed 90", "days_employed 60");
    let clean = workshop.clean();
    let mut fits = 0;
    let mut full = 0;
    loop {
        let _ = fs::remove_dir_all(workshop.path("cache"));
        let disk = Disk::with_space(fits);
        let root = workshop.root().to_path_buf();
        let options = Options { root, disk, ..Options::default() };
        let ended = build::build(&options, &AtomicBool::new(false), &|_, _, _: News<'_>| {});
        match ended.failure {
            None => break,
            Some(Failure::Store(_)) => full += 1,
            Some(other) => panic!("{other}"),
        }
        // Each file is the old one or the new one, whole.
        for (name, bytes) in workshop.files("dist") {
            let known = [old.get(&name), clean.get(&name)].contains(&Some(&bytes));
            assert!(known || name == "build.json", "{name} with {fits} bytes free");
        }
        assert!(left_over(&workshop, "dist").is_empty());
        fits += 1500;
    }
    assert!(full > 10, "only {full} writes found the disk full");
    same(&workshop.files("dist"), &clean, "once there is room");
}

#[test]
fn a_limit_on_file_sizes_is_told_and_exits_8() {
    let workshop = Workshop::init();
    let root = workshop.root().to_string_lossy().into_owned();
    let program = program().to_string_lossy().into_owned();
    let limited = |blocks: u32| {
        // Ignored, the signal becomes an error of the write.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" -C \"$1\" build");
        let output =
            Command::new("/bin/sh").args(["-c", &script, &program, &root]).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (status, said) = limited(1);
    assert_eq!(status, Some(8), "{said}");
    assert!(
        said.contains("cannot write") && said.contains("nothing already made is lost"),
        "{said}"
    );
    assert!(!workshop.path("dist/build.json").exists());
    workshop.build().ended(0);
    same(&workshop.files("dist"), &workshop.clean(), "without the limit");
}

#[test]
fn broken_records_are_made_again_with_a_warning() {
    let workshop = Workshop::init();
    workshop.build().ended(0);
    let good = workshop.files("dist");
    let records: Vec<String> = workshop.files("cache").into_keys().collect();
    assert!(records.len() >= 8, "{records:?}");
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 4] = [
        ("truncated", |bytes| bytes.truncate(bytes.len() / 2)),
        ("emptied", Vec::clear),
        ("flipped", |bytes| {
            let last = bytes.len() - 3;
            bytes[last] ^= 4;
        }),
        ("garbled", |bytes| bytes[1] = 0xff),
    ];
    for record in &records {
        let path = format!("cache/{record}");
        for (what, damage) in damages {
            let whole = fs::read(workshop.path(&path)).unwrap();
            let mut bytes = whole.clone();
            damage(&mut bytes);
            fs::write(workshop.path(&path), &bytes).unwrap();
            let ran = workshop.run(&["cache", "verify"]);
            assert_eq!(ran.status, 5, "{what} {record}: {}", ran.stdout);
            // Without the stamp every record is read.
            let stamp = record.starts_with("stamp");
            if !stamp {
                let _ = fs::remove_dir_all(workshop.path("cache/stamp"));
            }
            let ran = workshop.build().ended(0);
            let warned = ran.stderr.matches("is made again").count();
            let read = !record.starts_with("parts");
            assert_eq!(warned, usize::from(read), "{what} {record}: {}", ran.stderr);
            same(&workshop.files("dist"), &good, what);
            if !read {
                fs::write(workshop.path(&path), &whole).unwrap();
            }
        }
        fs::remove_file(workshop.path(&path)).unwrap();
        workshop.build().ended(0);
        same(&workshop.files("dist"), &good, "a record removed");
    }
    workshop.run(&["cache", "verify"]).ended(0);
}

#[test]
fn outputs_that_were_touched_are_written_again() {
    let workshop = Workshop::init();
    workshop.build().ended(0);
    let good = workshop.files("dist");
    for name in good.keys() {
        let path = format!("dist/{name}");
        workshop.write(&path, "something else");
        workshop.run(&["status"]).ended(3);
        assert_eq!(workshop.build().ended(0).checks(), 0);
        same(&workshop.files("dist"), &good, name);
        fs::remove_file(workshop.path(&path)).unwrap();
        workshop.run(&["status"]).ended(3);
        workshop.build().ended(0);
        same(&workshop.files("dist"), &good, name);
        workshop.run(&["status"]).ended(0);
    }
}

#[test]
fn several_builds_and_a_sweep_at_once_agree() {
    let workshop = Workshop::new();
    let project = Hillside::new();
    project.write(&workshop);
    let text = workshop.read("deogen.toml");
    // A budget far below what one build makes.
    workshop.write(
        "deogen.toml",
        &text.replace("[sampling]", "[limits]\ncache = \"4KiB\"\n[sampling]"),
    );
    let clean = workshop.clean();
    std::thread::scope(|scope| {
        let builds: Vec<_> = (0..2).map(|_| scope.spawn(|| workshop.run(&["build"]))).collect();
        let sweeps = scope.spawn(|| {
            for _ in 0..20 {
                workshop.run(&["cache", "gc"]).ended(0);
            }
        });
        for build in builds {
            let ran = build.join().unwrap().ended(0);
            assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
        }
        sweeps.join().unwrap();
    });
    same(&workshop.files("dist"), &clean, "two builds and a sweep");
    // What a run used it keeps, whatever the budget: the next one has nothing to do.
    for _ in 0..2 {
        let _ = fs::remove_dir_all(workshop.path("cache/stamp"));
        workshop.build().ended(0);
    }
    let _ = fs::remove_dir_all(workshop.path("cache/stamp"));
    assert_eq!(workshop.build().ended(0).checks(), 0);
    // The sweep alone goes by the budget.
    workshop.run(&["cache", "gc"]).ended(0);
    let bytes: usize = workshop.files("cache").values().map(Vec::len).sum();
    assert!(bytes <= 4096, "{bytes} bytes left");
}

#[test]
fn files_may_be_read_by_whom_the_mask_says() {
    use std::os::unix::fs::PermissionsExt;
    let workshop = Workshop::new();
    let root = workshop.root().to_string_lossy().into_owned();
    let program = program().to_string_lossy().into_owned();
    let script = "umask 027; \"$0\" -q -C \"$1\" init && exec \"$0\" -q -C \"$1\" build";
    let status = Command::new("/bin/sh").args(["-c", script, &program, &root]).status().unwrap();
    assert!(status.success());
    for path in ["deogen.toml", "dist/build.json", "dist/leave/paid.jsonl"] {
        let mode = fs::metadata(workshop.path(path)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "{path}");
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_done_without() {
    let workshop = Workshop::init();
    workshop.write("cache", "a file where the folder would be");
    let ran = workshop.run(&["build"]).ended(0);
    assert_eq!(ran.stderr.matches("results are not kept").count(), 1, "{}", ran.stderr);
    same(&workshop.files("dist"), &workshop.clean(), "no cache");
}

#[test]
fn requiring_the_cache_starts_no_solver_and_writes_nothing() {
    let workshop = Workshop::init();
    let ran = workshop.run(&["build", "--cache", "require", "--message-format", "json"]).ended(3);
    assert_eq!(ran.checks(), 0);
    assert!(!workshop.path("dist").exists() && !workshop.path("cache").exists());
    workshop.build().ended(0);
    let before = workshop.files("dist");
    fs::remove_dir_all(workshop.path("dist")).unwrap();
    workshop.run(&["build", "--cache", "require"]).ended(0);
    same(&workshop.files("dist"), &before, "from the cache alone");
    workshop.edit("policies/leave/policy.smt2", "days_employed 90", "days_employed 60");
    workshop.run(&["build", "--cache", "require"]).ended(3);
    same(&workshop.files("dist"), &before, "a miss changes nothing");
}

#[test]
fn an_interrupt_keeps_what_is_finished_and_exits_130() {
    let workshop = Workshop::new();
    Hillside::new().write(&workshop);
    let mut child = workshop
        .command(&["build", "-j", "1", "--message-format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let id = child.id().to_string();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    // As soon as the first of twelve is finished.
    assert!(lines.by_ref().any(|line| line.unwrap().contains("\"kind\":\"end\"")));
    let killed = Command::new("kill").args(["-INT", &id]).status().unwrap();
    assert!(killed.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}\n{rest:?}");
    assert!(said.contains("what was finished is kept"), "{said}");
    assert!(!workshop.path("dist").exists(), "an interrupted build writes no outputs");
    let ran = workshop.build().ended(0);
    let made = ran.made(&["certify"]).len();
    assert!(made < 12, "the finished ones are kept, and {made} were made");
    same(&workshop.files("dist"), &workshop.clean(), "after an interrupt");
}

#[test]
fn a_file_saved_while_a_build_runs_belongs_to_the_next() {
    let workshop = Workshop::init();
    let root = workshop.root().to_path_buf();
    let options = Options { root, ..Options::default() };
    let ended = build::build(&options, &AtomicBool::new(false), &|_, stage, news| {
        if stage == "tree" && matches!(news, News::Miss(_)) {
            workshop.edit("policies/leave/policy.smt2", "days_employed 90", "days_employed 60");
        }
    });
    assert!(ended.failure.is_none());
    workshop.run(&["status"]).ended(3);
    workshop.build().ended(0);
    same(&workshop.files("dist"), &workshop.clean(), "saved while building");
}

#[test]
fn stored_results_hold_no_path_and_no_time() {
    let [a, b] = [Workshop::init(), Workshop::init()];
    a.build().ended(0);
    b.command(&["build"]).env("TZ", "Asia/Tokyo").env("LANG", "tr_TR").output().unwrap();
    same(&files(&a.path("cache")), &files(&b.path("cache")), "the same project in two folders");
    same(&a.files("dist"), &b.files("dist"), "the same project in two folders");
}
