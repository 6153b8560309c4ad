"""Humicroedit in both harnesses: a model that rates a headline by its letters, as each harness runs it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import Model, ModelOutput
from lm_eval.api.model import LM

from humor_tasks import evaluate, load
from humor_tasks.tasks import humicroedit_pairwise, humicroedit_rating
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval

RATING, PAIRWISE = "humicroedit_rating", "humicroedit_pairwise"
SAMPLE = {"dataset": "sample", "split": "test"}
LIKELIHOODS = {"0": math.log(0.4), "1": math.log(0.3), "2": math.log(0.2), "3": math.log(0.1)}  # expected: 1.0


def rating_of(headline: str) -> float:
    """Made up, but always the same; few enough values to make ties."""
    return sum(map(ord, headline)) % 13 / 4


def reply_to(asked: str) -> str:
    """What the scripted model answers to a prompt's last turn."""
    letters = re.findall(r"^([AB])\) (.*)$", asked, re.M)
    if letters:
        return f"Answer: {'AB'[rating_of(letters[-2][1]) < rating_of(letters[-1][1])]}"
    return f"Rating: {rating_of(re.findall(r'^Edited headline: (.*?)(?: [(].* became .*[)])?$', asked, re.M)[-1])}"


def expected_report(name: str, change: Callable[[str, str], str] = lambda identity, said: said, **more: Any) -> Any:
    """The scores of the scripted model's replies without a harness."""
    run = load(name, **SAMPLE | more)
    return evaluate(run, {r.id: change(r.id, reply_to(run.prompt(r).turns[-1].text)) for r in run.records})


def scripted(answer: Callable[[str], str | ModelOutput] = reply_to) -> Model:
    return ScriptedModel("model", lambda messages: answer(messages[-1].text)).model


def run_in_inspect(task: Task, model: Any = None, **more: Any) -> EvalLog:
    log = eval(task, model=model or scripted(), display="log", **more)[0]
    assert log.status == "success", log.error
    return log


def inspect_task(name: str, **more: Any) -> Task:
    return {RATING: humicroedit_rating, PAIRWISE: humicroedit_pairwise}[name](**SAMPLE | more)


def answering(likelihoods: dict[str, float] = LIKELIHOODS) -> ScriptedLM:
    """Answers as `reply` does; likelihoods of digits are LIKELIHOODS, of letters those of its answer."""

    def likelihood(asked: str, continuation: str) -> float:
        label = continuation.strip()
        return likelihoods[label] if label in likelihoods else 0.0 if reply_to(asked) == f"Answer: {label}" else -1.0

    return ScriptedLM(lambda asked, doc: reply_to(asked), likelihood)


def run_in_lm_eval(task: str, model: LM | None = None, **metadata: Any) -> dict[str, Any]:
    return run_lm_eval(model or answering(), task, metadata=SAMPLE | metadata)
