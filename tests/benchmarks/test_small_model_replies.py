"""Replies of a small chat model, which rambles, repeats, and forgets the answer line, are read as a person reads them.

SmolLM2-135M-Instruct (Apache 2.0), in bfloat16, answered the prompts of the packaged samples, greedily and sampled.
golden/small_model_replies.jsonl has the replies and, as `said`, what a person reads in each: null for nothing, "*" for
the whole reply.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from pathlib import Path

from humor_tasks import load
from humor_tasks.contract.definition import Run

FILE = Path(__file__).parents[1] / "golden" / "small_model_replies.jsonl"
# A person sees what is meant; the reader does not guess. None of these is read as something else.
MISSED = {"matching": 4, "mock_detecting": 3}


@cache
def opened(task: str) -> Run:
    return load(task, dataset="sample", **({"input": "description"} if task.startswith("mock") else {}))


def read(task: str, reply: str) -> str | None:
    run = opened(task)
    answer = run.outcome(run.records[0], reply).answer
    return None if answer is None else " ".join(answer.split())


def test_what_a_person_reads() -> None:
    replies = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    assert len(replies) > 200
    missed: Counter[str] = Counter()
    for each in replies:
        said = " ".join((each["reply"] if each["said"] == "*" else each["said"] or "").split()) or None
        found = read(each["task"], each["reply"])
        if found is None and said is not None:
            missed[each["task"]] += 1
        else:
            assert found == said, each["reply"]
    assert missed == MISSED
