"""Judges of two texts that answer by rule, what they were asked, and what their verdicts amount to, worked out slowly.

A judge is a function (first, second) -> "A", "B", "TIE", or None for a reply without a verdict.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput

from humor_tasks.scorers import length_controlled_win_rate
from humor_tasks.testing import ScriptedModel, material, verdict_reply

Judge = Callable[[str, str], str | None]
SIDE = {"A": 0, "B": 1}


def says(name: str, reply: str, stop: Any = "stop") -> ScriptedModel:
    return ScriptedModel(name, ModelOutput.from_content(name, reply, stop_reason=stop))


def raises(name: str, problem: Exception) -> ScriptedModel:
    return ScriptedModel(name, problem)


class ProviderError(Exception):
    """What a model's provider raises for a request that its server refuses."""

    def __init__(self, status_code: int) -> None:
        super().__init__("no")
        self.status_code = status_code


def judging(name: str, judge: Judge, as_json: bool = False) -> ScriptedModel:
    """A model that judges the two texts it is shown."""
    return ScriptedModel(name, lambda messages: verdict(judge(*shown(messages[-1].text)), as_json))


def verdict(word: str | None, as_json: bool = False) -> str:
    return verdict_reply(word, as_json)


def shown(asked: str) -> tuple[str, str]:
    """The two texts of a question, as they were before they were escaped."""
    texts = material(asked)
    return texts["explanation_a"], texts["explanation_b"]


def between(text: str, tag: str) -> str:
    return text.split(f"<{tag}>\n", 1)[1].rsplit(f"\n</{tag}>", 1)[0]


def always(word: str) -> Judge:
    return lambda first, second: word


def longer(first: str, second: str) -> str:
    """Prefers the longer."""
    return "TIE" if len(first) == len(second) else "AB"[len(first) < len(second)]


def fickle(first: str, second: str) -> str | None:
    """Anything, by the texts and their order, and always the same."""
    return ("A", "B", "A", "TIE", None, "B", "A")[sum(map(ord, first[:40] + 2 * second[:40])) % 7]


def judged_log(task: Task, *judges: ScriptedModel, status: str = "success", **more: Any) -> EvalLog:
    """The task's log, with these judges as model role `grader`."""
    (log,) = eval(task, model_roles={"grader": [judge.model for judge in judges]}, display="log", **more)
    assert log.status == status, log.error and log.error.message
    return log


def write_texts(path: Path, texts: Mapping[str, str]) -> str:
    path.write_text(json.dumps(dict(texts)), encoding="utf-8")
    return str(path)


# ---- the same numbers, slowly ---------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """What each order said: "system", "against", "tie" or None, by the side that was shown first."""

    cluster: str
    longer_by: int
    said: Mapping[str, str | None]

    @property
    def side(self) -> str | None:
        sides = list(self.said.values())
        if None in sides:
            return None
        return sides[0] if len(set(sides)) == 1 else "tie"


def judged(judge: Judge, texts: tuple[str, str], cluster: str, orders: Sequence[str] = ("system", "against")) -> Pair:
    """The pair (system's text, the other's) as `judge` sees it in these orders."""
    found: dict[str, str | None] = {}
    for first in orders:
        sides = ("system", "against") if first == "system" else ("against", "system")
        word = judge(*(texts[("system", "against").index(side)] for side in sides))
        found[first] = "tie" if word == "TIE" else None if word is None else sides[SIDE[word]]
    return Pair(cluster, len(texts[0]) - len(texts[1]), found)


def slow_mean(values: Sequence[float], clusters: Sequence[str]) -> tuple[float, float]:
    """The mean and its clustered standard error, by its formula."""
    if not values:
        return math.nan, math.nan
    mean, groups = fmean(values), set(clusters)
    if len(groups) < 2:
        return mean, math.nan
    sums = [sum(v - mean for v, c in zip(values, clusters, strict=True) if c == group) for group in groups]
    return mean, math.sqrt(len(groups) / (len(groups) - 1) * sum(s * s for s in sums)) / len(values)


def slow_metrics(pairs: Sequence[Pair]) -> dict[str, tuple[float, float]]:
    """(value, standard error) of what is told of pairs that judges were asked about."""
    worth = {"system": 1.0, "tie": 0.5, "against": 0.0}
    read = [pair for pair in pairs if pair.side is not None]
    clusters = [pair.cluster for pair in read]

    def share(holds: Callable[[Pair], bool], of: Sequence[Pair]) -> tuple[float, float]:
        return slow_mean([float(holds(pair)) for pair in of], [pair.cluster for pair in of])

    decided = [(pair.cluster, first, side) for pair in pairs for first, side in pair.said.items()]
    decided = [(cluster, first, side) for cluster, first, side in decided if side not in (None, "tie")]
    values = [worth[pair.side or ""] for pair in read]
    found = {
        "win_rate": slow_mean(values, clusters),
        "preferred": share(lambda pair: pair.side == "system", read),
        "tie_rate": share(lambda pair: pair.side == "tie", read),
        "inconsistent": share(lambda pair: len(set(pair.said.values())) == 2, [p for p in read if len(p.said) == 2]),
        "first_shown": slow_mean([float(side == first) for _, first, side in decided], [c for c, _, _ in decided]),
        "unread": share(lambda pair: pair.side is None, pairs),
    }
    controlled = length_controlled_win_rate(values, [p.longer_by for p in read], [0] * len(read), clusters).win_rate
    return found | {"length_controlled_win_rate": (controlled.value, controlled.stderr)}
