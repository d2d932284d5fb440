//! `deogen score` against figures worked out by hand.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use deogen::dataset::{Difficulty, Row, RowCertificate};
use serde_json::{Value, json};
use tempfile::TempDir;

fn row(id: &str, answer: &str, signature: &str, group: &str) -> Row {
    let nei = answer == "not enough information";
    let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    Row {
        id: id.to_owned(),
        schema: 1,
        policy: "p".to_owned(),
        determination: "p/allowed".to_owned(),
        kind: if nei { "nei" } else { "definite" }.to_owned(),
        nei_kind: if nei { "cut" } else { "" }.to_owned(),
        group: group.to_owned(),
        verdict: "allowed".to_owned(),
        facts: Vec::new(),
        facts_text: Vec::new(),
        question: "Is it allowed?".to_owned(),
        choices: texts(&["yes", "no", "not enough information"]),
        answer: answer.to_owned(),
        answer_value: match answer {
            "yes" => "true",
            "no" => "false",
            _ => "",
        }
        .to_owned(),
        possible_values: Vec::new(),
        sections: Vec::new(),
        supports: if nei { vec![] } else { vec![texts(&["p:1(a)", "p:2"]), texts(&["p:3"])] },
        supports_complete: true,
        open_sections: Vec::new(),
        signature: signature.to_owned(),
        fact_count: 3,
        needed_facts: usize::from(!nei),
        tree_depth: 3,
        cut_depth: usize::from(nei),
        withheld_min: 0,
        withheld_max: 0,
        missing: Vec::new(),
        difficulty: Difficulty::default(),
        certificate: RowCertificate::default(),
        meaning: String::new(),
        canary: "deogen-canary-test".to_owned(),
    }
}

/// Four definite entries (three yes, one no) and two NEI ones; `d1` and `n1` are a pair.
fn gold(dir: &Path) -> std::path::PathBuf {
    let nei = "not enough information";
    let rows = [
        row("d1", "yes", "s1", "g"),
        row("d2", "yes", "s2", ""),
        row("d3", "yes", "s3", ""),
        row("d4", "no", "s4", ""),
        row("n1", nei, "s5", "g"),
        row("n2", nei, "s6", ""),
    ];
    let path = dir.join("gold.jsonl");
    fs::write(&path, deogen::dataset::lines(&rows)).unwrap();
    path
}

fn lines(dir: &Path, name: &str, records: &[Value]) -> std::path::PathBuf {
    let text: String = records.iter().map(|record| format!("{record}\n")).collect();
    let path = dir.join(name);
    fs::write(&path, text).unwrap();
    path
}

fn scored(gold: &Path, files: &[&Path]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deogen"));
    command.args(["score", "--message-format", "json"]).arg(gold).args(files);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn refused(gold: &Path, file: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_deogen"))
        .arg("score")
        .args([gold, file])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).unwrap()
}

fn value(model: &Value, name: &str) -> f64 {
    (model[name]["value"].as_f64().unwrap() * 1e6).round() / 1e6
}

#[test]
fn figures_agree_with_those_worked_out_by_hand() {
    let dir = TempDir::new().unwrap();
    let gold = gold(dir.path());
    let file = lines(
        dir.path(),
        "m.jsonl",
        &[
            json!({"id": "d1", "output": "Because it is.\nAnswer: yes\nSections: §1(a), Sec. 2"}),
            json!({"id": "d2", "output": "no, because 3 says it; else yes\nSections: 3"}),
            json!({"id": "d3", "output": "**Not enough information.**\nSections: 9"}),
            json!({"id": "d4", "output": ""}),
            json!({"id": "n1", "answer": "NEI"}),
            json!({"id": "n2", "output": "The answer is **No**."}),
        ],
    );
    let report = scored(&gold, &[&file]);
    let model = &report["models"][0];
    assert_eq!(model["model"], "m");
    assert_eq!(value(model, "definite"), 0.25);
    assert_eq!(value(model, "nei"), 0.5);
    assert_eq!(value(model, "balanced"), 0.375);
    assert_eq!(value(model, "accuracy"), 0.333_333);
    assert_eq!(value(model, "presumptuous"), 0.5);
    assert_eq!(value(model, "timid"), 0.25);
    assert_eq!(value(model, "flipped"), 0.25);
    assert_eq!(model["counts"]["unparsed"], 1);
    assert_eq!(model["counts"]["missing"], 0);
    // d1 cites a whole support, d2 the other, d3 and d4 nothing of any.
    assert_eq!(value(model, "citation_precision"), 0.5);
    assert_eq!(value(model, "citation_recall"), 0.5);
    assert_eq!(value(model, "citation_f1"), 0.5);
    assert_eq!(value(model, "right_and_cited"), 0.25);
    assert_eq!(value(model, "group_consistency"), 1.0);
    let base = |at: usize| &report["baselines"][at];
    assert_eq!((value(base(0), "definite"), value(base(0), "nei")), (0.0, 1.0));
    assert_eq!((value(base(1), "definite"), value(base(1), "nei")), (0.75, 0.0));
}

#[test]
fn answerers_that_do_not_read_score_as_they_should() {
    let dir = TempDir::new().unwrap();
    let gold = gold(dir.path());
    let ids = ["d1", "d2", "d3", "d4", "n1", "n2"];
    let all = |answer: &str| -> Vec<Value> {
        ids.iter().map(|id| json!({"id": id, "output": answer})).collect()
    };
    let yes = lines(dir.path(), "yes.jsonl", &all("Answer: yes"));
    let nei = lines(dir.path(), "nei.jsonl", &all("not enough information"));
    let stall = lines(dir.path(), "stall.jsonl", &all("Let me think about that first."));
    let one = lines(dir.path(), "one.jsonl", &all("no")[..1]);
    let report = scored(&gold, &[&yes, &nei, &stall, &one]);
    let of = |at: usize, name: &str| value(&report["models"][at], name);
    assert_eq!((of(0, "definite"), of(0, "nei"), of(0, "balanced")), (0.75, 0.0, 0.375));
    assert_eq!((of(0, "presumptuous"), of(0, "timid")), (1.0, 0.0));
    assert_eq!((of(1, "definite"), of(1, "nei"), of(1, "balanced")), (0.0, 1.0, 0.5));
    assert_eq!((of(1, "presumptuous"), of(1, "timid")), (0.0, 1.0));
    assert_eq!((of(2, "balanced"), of(2, "presumptuous"), of(2, "timid")), (0.0, 0.0, 0.0));
    assert_eq!(report["models"][2]["counts"]["unparsed"], 6);
    // One answer, and five that are missing and wrong.
    assert_eq!(report["models"][3]["counts"]["missing"], 5);
    assert_eq!(of(3, "accuracy"), 0.0);
    assert_eq!(report["comparisons"].as_array().unwrap().len(), 6);
    assert_eq!(report["comparisons"][0]["only_first"], 3);
    assert_eq!(report["comparisons"][0]["only_second"], 2);
}

#[test]
fn the_logs_of_harnesses_say_the_same() {
    let dir = TempDir::new().unwrap();
    let gold = gold(dir.path());
    let replies = [("d1", "Answer: yes"), ("d2", "Answer: no"), ("n1", "Answer: nei")];
    let folder = dir.path().join("some-model");
    fs::create_dir(&folder).unwrap();
    let mut samples = Vec::new();
    for (id, reply) in replies {
        for filter in ["strict", "loose"] {
            samples.push(json!({"doc": {"id": id, "canary": "deogen-canary-test"},
                "resps": [[reply]], "filter": filter, "filtered_resps": [reply]}));
        }
    }
    let pairs = json!([[["-2.5", "False"]], [["-0.5", "True"]], [["-9", "False"]]]);
    samples.push(json!({"doc": {"id": "d4"}, "resps": pairs, "filter": "none"}));
    let harness = lines(&folder, "samples_deogen_1.jsonl", &samples);
    let mut sample: Vec<Value> = replies
        .iter()
        .map(|(id, reply)| json!({"id": id, "epoch": 1, "output": {"completion": reply}}))
        .collect();
    sample.push(json!({"id": "d4", "epoch": 1, "scores": {"s": {"value": "bare"}},
        "output": {"choices": [{"message": {"content": [{"type": "text", "text": "no"}]}}]}}));
    let log = json!({"eval": {"model": "mock/model"}, "samples": sample});
    let inspect = dir.path().join("log.json");
    // Inspect writes NaN bare.
    fs::write(&inspect, log.to_string().replace("\"bare\"", "NaN")).unwrap();
    let report = scored(&gold, &[&harness, &inspect]);
    assert_eq!(report["models"][0]["model"], "some-model");
    assert_eq!(report["models"][1]["model"], "mock/model");
    for at in 0..2 {
        let model = &report["models"][at];
        assert_eq!((value(model, "definite"), value(model, "nei")), (0.5, 0.5));
        assert_eq!(model["counts"]["missing"], 2);
    }
}

#[test]
fn what_does_not_belong_is_refused_with_its_line() {
    let dir = TempDir::new().unwrap();
    let gold = gold(dir.path());
    let good = json!({"id": "d1", "output": "yes"});
    let check = |records: &[Value], wanted: &str| {
        let file = lines(dir.path(), "bad.jsonl", records);
        let said = refused(&gold, &file);
        assert!(said.contains(wanted), "{said}");
    };
    check(&[good.clone(), json!({"id": "zz", "output": "yes"})], "jsonl:2: `zz` is no entry");
    check(&[good.clone(), good.clone()], "jsonl:2: a second answer to `d1` (first: 1)");
    check(&[good.clone(), json!({"output": "yes"})], "jsonl:2: no `id`");
    check(&[good.clone(), json!({"id": "d2"})], "jsonl:2: `d2` has neither");
    let sample = |canary: &str, answer: &str| {
        let doc = json!({"id": "d1", "canary": canary, "answer": answer});
        json!({"doc": doc, "resps": [["yes"]], "filter": "f"})
    };
    check(&[sample("other", "yes")], "jsonl:1: `d1` stands under the canary of another release");
    check(&[sample("deogen-canary-test", "no")], "has the answer `no` in the log and `yes` here");
    let file = dir.path().join("broken.jsonl");
    fs::write(&file, "{\"id\": \"d1\", \"output\": \"yes\"}\n{\"id\": \n").unwrap();
    assert!(refused(&gold, &file).contains("jsonl:2: no JSON"));
    fs::write(&file, "").unwrap();
    assert!(refused(&gold, &file).contains("no predictions"));
}

#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let dir = TempDir::new().unwrap();
    let gold = gold(dir.path());
    let file = lines(
        dir.path(),
        "m.jsonl",
        &[
            json!({"id": "d1", "output": "yes", "model": "<b>&co"}),
            json!({"id": "d1", "output": "no", "model": "other"}),
        ],
    );
    let page = dir.path().join("page.html");
    let output = Command::new(env!("CARGO_BIN_EXE_deogen"))
        .args(["score", "--html"])
        .args([&page, &gold, &file])
        .output()
        .unwrap();
    assert!(output.status.success());
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("always NEI") && table.contains("p (Holm)"), "{table}");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && page.contains("&lt;b&gt;&amp;co") && !page.contains("<b>"));
    for outside in ["http:", "https:", "<script", "url(", "@import", "NaN"] {
        assert!(!page.contains(outside), "{outside}");
    }
}
