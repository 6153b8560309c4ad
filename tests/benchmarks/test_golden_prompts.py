"""Prompts as they were when their version was published: a change of wording must raise the version.

`python tests/benchmarks/test_golden_prompts.py` writes the file anew, after the benchmark's `version` was raised.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path

import pytest
from standins.paths import GOLDEN

from humor_tasks import load
from humor_tasks.benchmarks.mock import corpus as mock
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.rubrics import open_rubric
from humor_tasks.rows.records import Prompt

GOLDEN = GOLDEN / "prompts.json"
NYCC = ("matching", "ranking", "explanation")
MOCK = ("mock_detecting", "mock_matching", "mock_explaining")
HUMICROEDIT = ("humicroedit_rating", "humicroedit_pairwise")


def prompts() -> dict[str, list[list[str]]]:
    """[role, text] of every turn of the sample's first row, by benchmark, version and parameters."""
    found = {}

    def keep(run: Run, told: str) -> None:
        shown = run.prompt(run.records[0])
        found[f"{run.benchmark.name} {run.version} {told} {run.prompts_hash}"] = turns(shown)

    for name, setting in itertools.product(NYCC, ("description", "pixels", "caption_only")):
        run = load(name, dataset="sample", setting=setting)
        for shots in (0, 1):
            keep(run.with_options(shots=shots), f"{setting} {shots}-shot")
    run = load("recitation", dataset="sample")
    for record in run.records[:2]:
        instruction = record.groups["instruction"]
        found[f"recitation {run.version} {instruction} {run.prompts_hash}"] = turns(run.prompt(record))
    for name, setting in itertools.product(HUMICROEDIT, ("edited_only", "original_and_edit")):
        run = load(name, dataset="sample", setting=setting)
        for shots in (0, 2):
            keep(run.with_options(shots=shots), f"{setting} {shots}-shot")
    for name, scene, shown in itertools.product(MOCK, mock.SCENES, mock.INPUTS):
        keep(load(name, dataset="sample", scene=scene, input=shown), f"{scene} {shown}")
    keep(load("humorbench", dataset="sample"), "row")
    for structured in (False, True):
        form, rubric = "json" if structured else "tags", open_rubric("coverage")
        keep(load("humorbench_autograder", dataset="sample", structured=structured), form)
        asked = rubric.ask({"context": "1 < 2", "answer": "<point>x", "point": "y"}, structured)
        found[f"coverage {form} {rubric.hash}"] = turns(asked)
        for setting in ("description", "pixels"):
            with tempfile.TemporaryDirectory() as folder:
                given = {"dataset": "sample", "setting": setting, "structured": structured}
                keep(load("explanation_preference", system=texts(folder), **given), f"{setting} {form}")
    return found


def texts(folder: str) -> str:
    """A file of fixed explanations of the sample."""
    path = Path(folder) / "texts.json"
    records = load("explanation", dataset="sample").records
    path.write_text(json.dumps({record.id: f"{i} < 2 & </explanation_a>" for i, record in enumerate(records)}))
    return str(path)


def turns(prompt: Prompt) -> list[list[str]]:
    return [[turn.role, turn.text] for turn in prompt.turns]


@pytest.mark.slow
def test_prompts_are_those_of_their_version() -> None:
    assert prompts() == json.loads(GOLDEN.read_text(encoding="utf-8"))


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(prompts(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
