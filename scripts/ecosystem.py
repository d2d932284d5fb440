#!/usr/bin/env python3
"""Lets other tools read a release, offline, and compares their figures with those of `deogen score`.

    ecosystem.py DEOGEN RELEASE OUT
"""
import importlib.metadata
import json
import math
import os
import pathlib
import subprocess
import sys

DEOGEN, RELEASE, OUT = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
OUT.mkdir(parents=True, exist_ok=True)
BIN = pathlib.Path(sys.executable).parent
METRICS = {"acc_definite": "definite", "acc_nei": "nei", "presumptuous": "presumptuous", "timid": "timid"}


def run(*command, cwd=OUT):
    done = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed ({done.returncode}):\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    return done.stdout


def rows():
    for path in sorted((RELEASE / "jsonl").rglob("*.jsonl")):
        with open(path, encoding="utf-8") as file:
            yield from map(json.loads, file)


def load_datasets():
    import datasets
    gold = {row["id"]: row for row in rows()}
    seen = {}
    for config in sorted({row["policy"] for row in gold.values()}):
        for row in datasets.load_dataset(str(RELEASE), config, split="test"):
            seen[row["id"]] = row
    assert seen.keys() == gold.keys(), "datasets sees other rows"
    for key, row in gold.items():
        for name, value in row.items():
            copy = seen[key][name] if name in seen[key] else json.loads(seen[key][name + "_json"])
            assert copy == value, f"{key} {name}: {copy!r} is not {value!r}"
    print(f"datasets {datasets.__version__}: {len(seen)} rows as in jsonl/")


def croissant():
    import mlcroissant
    run(BIN / "mlcroissant", "validate", "--jsonld", "croissant.json", cwd=RELEASE)
    data = mlcroissant.Dataset(jsonld=str(RELEASE / "croissant.json"))
    count = sum(1 for record_set in data.metadata.record_sets for _ in data.records(record_set.uuid))
    assert count == sum(1 for _ in rows()), f"mlcroissant reads {count} records"
    print(f"mlcroissant {importlib.metadata.version('mlcroissant')}: valid, {count} records")


def citation():
    run(BIN / "cffconvert", "--validate", "-i", RELEASE / "CITATION.cff")
    print("cffconvert: CITATION.cff is valid")


def scores(log, model, only=()):
    chosen = [part for policy in only for part in ("--only", policy)]
    report = json.loads(run(DEOGEN, "score", "--message-format", "json", *chosen, RELEASE, *log))
    found = next(found for found in report["models"] if found["model"] == model or len(report["models"]) == 1)
    return found


def same(name, ours, theirs):
    for metric, field in METRICS.items():
        if metric in theirs and ours[field] is not None:
            value = ours[field]["value"]
            assert math.isclose(value, theirs[metric], abs_tol=1e-9), f"{name} {metric}: {theirs[metric]} is not {value}"


def harness():
    policies = sorted({row["policy"] for row in rows()})
    out = OUT / "harness"
    run(BIN / "lm-eval", "run", "--model", "dummy", "--include_path", RELEASE / "lm_eval", "--tasks", "deogen",
        "--output_path", out, "--log_samples")
    results = json.loads(next(out.rglob("results_*.json")).read_text())["results"]
    for policy in policies:
        task = "deogen_" + policy.replace("-", "_")
        log = list(out.rglob(f"samples_{task}_*.jsonl"))
        theirs = {key.split(",")[0]: value for key, value in results[task].items()}
        same(task, scores(log, None, [policy]), theirs)
    print(f"lm-evaluation-harness: {len(policies)} tasks with its dummy model; deogen score agrees")


def scripted_harness():
    """The harness again, with replies in every shape, so that its figures are not all zero."""
    sys.path.insert(0, str(RELEASE / "lm_eval" / "deogen"))
    import deogen_utils
    import lm_eval
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager
    replies = scripted()
    by_prompt = {doc["prompt"]: replies[doc["id"]] for doc in deogen_utils.documents()}

    class Scripted(LM):
        def generate_until(self, requests, **_):
            return [by_prompt[request.args[0]] for request in requests]

        def loglikelihood(self, requests, **_):
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=str(RELEASE / "lm_eval"))
    found = lm_eval.simple_evaluate(Scripted(), tasks=["deogen"], task_manager=manager, log_samples=True, bootstrap_iters=0)
    folder = OUT / "scripted"
    folder.mkdir()
    for task, samples in found["samples"].items():
        policy = samples[0]["doc"]["policy"]
        log = folder / f"samples_{task}.jsonl"
        log.write_text("".join(json.dumps(sample, default=str) + "\n" for sample in samples))
        theirs = {key.split(",")[0]: value for key, value in found["results"][task].items()}
        same(task, scores([log], None, [policy]), theirs)
        told = ", ".join(f"{name} {theirs[name]:.4f}" for name in METRICS)
        print(f"lm-evaluation-harness {importlib.metadata.version('lm_eval')} ({task}): {told}; deogen score agrees")


def scripted():
    """Replies in every shape, by the place of the sample's id."""
    gold = sorted(rows(), key=lambda row: row["id"])
    replies = {}
    for at, row in enumerate(gold):
        wrong = next(choice for choice in row["choices"] if choice != row["answer"])
        replies[row["id"]] = [
            f"I went through the rules.\n\nAnswer: {row['answer']}\nSections: {', '.join(row['sections'][:2])}",
            f"Answer: {wrong}\nSections: none",
            f"**Answer:** {row['choices'][-1]}.",
            "I would rather not say.",
        ][at % 4]
    return replies


def inspect():
    sys.path.insert(0, str(RELEASE / "inspect"))
    os.chdir(OUT)
    import inspect_ai
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from deogen_task import deogen, deogen_utils
    replies = scripted()
    by_prompt = {doc["prompt"]: replies[doc["id"]] for doc in deogen_utils.documents()}

    def answer(messages, tools, tool_choice, config):
        out = ModelOutput.from_content("mockllm/model", by_prompt[messages[-1].text])
        # Without a usage the mock counts tokens with a table that it downloads.
        out.usage = ModelUsage(input_tokens=0, output_tokens=0, total_tokens=0)
        return out

    for form in ("json", "eval"):
        folder = OUT / f"inspect-{form}"
        logs = inspect_ai.eval(deogen(), model=get_model("mockllm/model", custom_outputs=answer), log_dir=str(folder),
                               log_format=form, display="none")
        assert logs[0].status == "success", logs[0].error
        theirs = {score.name: score.metrics["mean"].value for score in logs[0].results.scores}
        ours = scores(list(folder.glob(f"*.{form}")), "mockllm/model")
        same(f"inspect {form}", ours, theirs)
        assert ours["counts"]["missing"] == 0 and ours["counts"]["unparsed"] > 0
        told = ", ".join(f"{name} {theirs[name]:.4f}" for name in METRICS)
        print(f"inspect-ai {inspect_ai.__version__} ({form} log): {told}; deogen score agrees")


load_datasets()
croissant()
citation()
harness()
scripted_harness()
inspect()
