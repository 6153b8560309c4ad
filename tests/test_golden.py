"""Prompts as they were when their version was published: a change of wording must raise the version.

`python tests/test_golden.py` writes the file anew, after the benchmark's `version` was raised.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

from humor_tasks import load
from humor_tasks.benchmarks import BENCHMARKS

GOLDEN = Path(__file__).parent / "golden" / "nycc_prompts.json"


def prompts() -> dict[str, list[list[str]]]:
    """[role, text] of every turn of the sample's first row, by benchmark, version, setting and shots."""
    found = {}
    for name, setting, shots in itertools.product(BENCHMARKS, ("description", "pixels", "caption_only"), (0, 1)):
        run = load(name, dataset="sample", setting=setting, shots=shots)
        turns = run.prompt(run.records[0]).turns
        key = f"{name} {run.benchmark.version} {setting} {shots}-shot {run.prompts_hash}"
        found[key] = [[turn.role, turn.text] for turn in turns]
    return found


def test_prompts_are_those_of_their_version() -> None:
    assert prompts() == json.loads(GOLDEN.read_text(encoding="utf-8"))


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(json.dumps(prompts(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
