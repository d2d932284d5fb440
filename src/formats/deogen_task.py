"""Inspect task over the rows of this release.

    inspect eval inspect/deogen_task.py --model … [-T policy=irs-213]
"""
import sys
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Score, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lm_eval" / "deogen"))
import deogen_utils  # noqa: E402

NAN = float("nan")  # Inspect leaves NaN out per key: "does not apply", not "wrong"
METRICS = ("acc_definite", "acc_nei", "presumptuous", "timid", "parsed")
CLUSTERED = [mean(), stderr(cluster="signature")]


@scorer(metrics={name: CLUSTERED for name in METRICS})
def deogen_scorer():
    async def score(state: TaskState, target: Target) -> Score:
        reply = state.output.completion
        found = deogen_utils.verdict({**state.metadata, "answer": target.text}, reply)
        said = deogen_utils.parse(reply, state.metadata["choices"])
        return Score(value={name: found.get(name, NAN) for name in METRICS}, answer=said or "", explanation=reply)
    return score


@task
def deogen(policy: str | None = None) -> Task:
    keep = ("determination", "kind", "signature", "choices", "canary")
    samples = [Sample(id=doc["id"], input=doc["prompt"], target=doc["answer"],
                      metadata={key: doc[key] for key in keep})
               for doc in deogen_utils.documents(policy)]
    return Task(dataset=MemoryDataset(samples, name="deogen"), solver=generate(), scorer=deogen_scorer(),
                config=GenerateConfig(temperature=0, max_tokens=1024), version="@VERSION@")
