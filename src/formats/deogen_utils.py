"""Rows of this release as documents with a prompt, and the metrics of the tasks.

Answers are read strictly here: the last line `Answer: <one of the allowed answers>`. `deogen score`
reads the logs more widely (its docs/scoring.md says how) and adds intervals and citations.
"""
import json
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
ANSWER = re.compile(r"^[\s>*_#`-]*answer[\s*_`]*:[\s*_`\"']*(.*?)[\s*_`\"'.]*$", re.IGNORECASE | re.MULTILINE)


def _lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def prompt(row, texts, introduction):
    """What a model is given: introduction, policy with all it uses, facts, question, form of the reply."""
    policy = texts[row["policy"]]
    parts = [introduction.strip()]
    for name in [row["policy"], *policy["uses"]]:
        parts.append(f"Policy {name}:\n\n{texts[name]['text'].strip()}")
    parts.append("Facts:\n" + "\n".join("- " + fact for fact in row["facts_text"]))
    parts.append(f"Question: {row['question']}")
    parts.append("Finish with exactly two lines:\nAnswer: " + " | ".join(row["choices"])
                 + "\nSections: the labels of the sections that settle it, separated by commas")
    return "\n\n".join(parts)


def documents(policy=None):
    """The rows of one policy or of all, each with its prompt."""
    texts = {text["id"]: text for text in _lines(ROOT / "policies.jsonl")}
    introduction = (ROOT / "prompt.txt").read_text(encoding="utf-8")
    found = []
    for path in sorted((ROOT / "jsonl").rglob("*.jsonl")):
        for row in _lines(path):
            if policy is None or row["policy"] == policy:
                keys = ("id", "policy", "determination", "kind", "signature", "choices", "answer", "supports", "canary")
                found.append({**{key: row[key] for key in keys}, "prompt": prompt(row, texts, introduction)})
    return found


def load(policy=None, **_):
    """For lm-evaluation-harness: works from any directory, offline."""
    import datasets
    return {"test": datasets.Dataset.from_list(documents(policy))}


def parse(reply, choices):
    """The allowed answer on the last `Answer:` line, or None."""
    lines = ANSWER.findall(reply or "")
    said = " ".join(lines[-1].lower().split()) if lines else None
    return next((choice for choice in choices if choice.lower() == said), None)


def verdict(doc, reply):
    """The metrics that apply to a document; each mean then has its own denominator."""
    said = parse(reply, doc["choices"])
    nei = doc["choices"][-1]
    out = {"parsed": float(said is not None)}
    if doc["kind"] == "nei":
        out["acc_nei"] = float(said == nei)
        out["presumptuous"] = float(said is not None and said != nei)
    else:
        out["acc_definite"] = float(said == doc["answer"])
        out["timid"] = float(said == nei)
    return out


def results(doc, replies):
    """For lm-evaluation-harness."""
    return verdict(doc, replies[0])
