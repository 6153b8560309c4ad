"""Judges of two texts that answer by rule, what they were asked, and what their verdicts amount to, worked out slowly.

A judge is a function (first, second) -> "A", "B", "TIE", or None for a reply without a verdict.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, ModelUsage, get_model

from humor_tasks.scorers import length_controlled_win_rate

Judge = Callable[[str, str], str | None]
SIDE = {"A": 0, "B": 1}


@dataclass
class Scripted:
    """A mock model that answers by a function and keeps every request."""

    name: str
    answer: Callable[[list[ChatMessage]], str | ModelOutput]
    asked: list[list[tuple[str, str]]] = field(default_factory=list)
    messages: list[list[ChatMessage]] = field(default_factory=list)
    configs: list[GenerateConfig] = field(default_factory=list)
    settings: GenerateConfig = field(default_factory=GenerateConfig)
    model: Model = field(init=False)

    def __post_init__(self) -> None:
        self.model = get_model(f"mockllm/{self.name}", custom_outputs=self._reply, config=self.settings, memoize=False)

    def _reply(self, messages: list[ChatMessage], tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        self.asked.append([(message.role, message.text) for message in messages])
        self.messages.append(list(messages))
        self.configs.append(config)
        reply = self.answer(messages)
        output = reply if isinstance(reply, ModelOutput) else ModelOutput.from_content(self.name, reply)
        output.usage = ModelUsage()
        return output


def says(name: str, reply: str, stop: Any = "stop") -> Scripted:
    return Scripted(name, lambda messages: ModelOutput.from_content(name, reply, stop_reason=stop))


def raises(name: str, problem: Exception) -> Scripted:
    def fail(messages: list[ChatMessage]) -> str:
        raise problem

    return Scripted(name, fail)


def judging(name: str, judge: Judge, as_json: bool = False) -> Scripted:
    """A model that judges the two texts it is shown."""
    return Scripted(name, lambda messages: verdict(judge(*shown(messages[-1].text)), as_json))


def verdict(word: str | None, as_json: bool = False) -> str:
    if word is None:
        return "Hard to say: A has its points, and B has."
    if as_json:
        return json.dumps({"reasoning": "So it is.", "judgement": word})
    return f"<reasoning>So it is.</reasoning>\n<judgement>{word}</judgement>"


def shown(asked: str) -> tuple[str, str]:
    """The two texts of a question, as they were before they were escaped."""
    first, second = (html.unescape(between(asked, f"explanation_{letter}")) for letter in "ab")
    return first, second


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


def run(task: Task, *judges: Scripted, status: str = "success", **more: Any) -> EvalLog:
    """The task's log, with these judges as model role `grader`."""
    (log,) = eval(task, model_roles={"grader": [judge.model for judge in judges]}, display="none", **more)
    assert log.status == status, log.error and log.error.message
    return log


def metrics(log: EvalLog) -> dict[str, float]:
    """Those of the log's first scorer."""
    assert log.results
    return {name: metric.value for name, metric in log.results.scores[0].metrics.items()}


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
