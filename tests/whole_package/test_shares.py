"""No interval of a share leaves [0, 1] on a card, a page or in a table, however few and extreme the rows are.

Rogan and Gladen's corrected rate is the one exception: a bound outside says that judge and labels do not fit
(docs/intervals.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from standins.paths import TESTS

from humor_tasks import datasets_cards, load
from humor_tasks.benchmarks import BENCHMARKS, find_benchmark
from humor_tasks.evaluate_metrics import CaptionChoiceAccuracy
from humor_tasks.lab.corpora.audit.auditing import audit
from humor_tasks.lab.corpora.audit.items import Item, Items, Part
from humor_tasks.lab.corpora.audit.output import as_markdown as audit_of
from humor_tasks.lab.corpora.mock.shortcuts import section, shortcuts_in
from humor_tasks.lab.corpora.newyorker import ranking
from humor_tasks.lab.corpora.newyorker.stages import Validation
from humor_tasks.results import read_results
from humor_tasks.results.report.build import build_report
from humor_tasks.results.report.markdown import as_markdown as report_of
from humor_tasks.results.report.page import page
from humor_tasks.scorers.correction import prediction_powered
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.judge import judge_exam
from humor_tasks.scorers.win_correction import corrected_win_rate
from humor_tasks.studies.captions.figures import in_percent
from humor_tasks.studies.captions.files import Caption
from humor_tasks.studies.captions.pairwise import Pair, by_system, first_shown
from humor_tasks.studies.people.agreement import Question, agreed, raters
from humor_tasks.studies.people.votes import Vote

TABLE = TESTS / "characterisation" / "table.json"
INTERVAL = re.compile(r"(-?\d+\.\d+)(?: |</b><small class=\"interval\">)\\?\[(-?\d+\.\d+), (-?\d+\.\d+)\\?\]")

FEW = {
    "none of two": [0, 0],
    "all of two": [1, 1],
    "one of two": [1, 0],
    "all but one of three": [1, 1, 0],
    "one of nine": [1, *[0] * 8],
}
"""Name -> hits, 1 or 0; each is its own cluster, or two in a row are."""


def shown(text: str) -> list[tuple[float, ...]]:
    """Every value with its interval in a text."""
    return [tuple(map(float, each)) for each in INTERVAL.findall(text)]


def precision(hits: list[int], cluster: Callable[[int], int]) -> list[Estimate]:
    found = Validation()
    for hit in hits:
        found.add([2.0, 1.0], [bool(hit), not hit])
    return list(found.estimates().values())


def rules(hits: list[int], cluster: Callable[[int], int]) -> list[Estimate]:
    pairs = [ranking.Pair(cluster(i), "a", "b", "crowd", [hit] * 4, [0.5] * 4, 0.0) for i, hit in enumerate(hits)]
    return list(ranking.balance(pairs).rules.values())


def people(hits: list[int], cluster: Callable[[int], int]) -> list[Estimate]:
    votes = [Vote(f"i{i}", f"r{k}", "AB"[1 - hit], order="AB") for i, hit in enumerate(hits) for k in range(3)]
    question = Question("q", tuple(votes))
    found, other = agreed(question), raters([question])[0]
    names = ("win_rate", "win_rate_of_votes", "human_acc", "human_acc_by_majority", "raw_agreement")
    names += ("human_ceiling", "first_shown")
    return [*(found.estimates[name] for name in names), other.share_a, other.first_shown]


def captions(hits: list[int], cluster: Callable[[int], int]) -> list[Estimate]:
    written = [Caption(str(cluster(i)), f"{name}{i}", name) for i in range(len(hits)) for name in "ab"]
    pairs = [Pair(2 * i, 2 * i + 1, ("A", "B") if hit else ("B", "A")) for i, hit in enumerate(hits)]
    return [*by_system(written, pairs).values(), first_shown(written, pairs)]


def percentiles(hits: list[int], cluster: Callable[[int], int]) -> list[Estimate]:
    e = in_percent([100.0 * hit for hit in hits], [cluster(i) for i in range(len(hits))])
    return [Estimate(*(x / 100 for x in (e.value, e.stderr, e.low, e.high)), e.n, e.clusters)]


def exam(hits: list[int], cluster: Callable[[int], int]) -> list[Estimate]:
    clusters = [cluster(i) for i in range(len(hits))]
    found = {**judge_exam([True] * len(hits), [bool(hit) for hit in hits], clusters)}
    chosen = CaptionChoiceAccuracy().compute(
        predictions=["AB"[1 - hit] for hit in hits], references=["A"] * len(hits), clusters=list(map(str, clusters))
    )
    assert chosen
    value, stderr, low, high = (chosen[f"accuracy{end}"] for end in ("", "_stderr", "_low", "_high"))
    shares = [e for name, e in found.items() if name not in ("cohen_kappa", "gwet_ac1")]
    return [*shares, Estimate(value, stderr, low, high, len(hits), len(set(clusters)))]


def corrected(hits: list[int], cluster: Callable[[int], int]) -> list[Estimate]:
    """By the labels of two rows, and by an exam."""
    clusters, values = [cluster(i) for i in range(len(hits))], [float(hit) for hit in hits]
    by_exam = corrected_win_rate(values, clusters, [1.0, 1.0, 1.0, 0.0], ["w", "x", "y", "z"])
    labels = prediction_powered(
        values, [1.0, 0.0], [0.0, 1.0], clusters=clusters, human_clusters=["y", "z"], proportion=True
    )
    return [by_exam, labels]


WRITERS = (precision, rules, people, captions, percentiles, exam, corrected)


@pytest.mark.parametrize("hits", FEW.values(), ids=FEW)
@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("together", [1, 2])
def test_estimates(writer: Callable[..., list[Estimate]], hits: list[int], together: int) -> None:
    found = writer(hits, lambda i: i // together)
    assert found
    for e in found:
        assert e.low != e.low or 0 <= e.low <= e.value + 1e-9 <= e.high + 2e-9 <= 1 + 3e-9, e
    if together == 1:
        assert any(e.low < e.high for e in found)


# ---- what is printed ----------------------------------------------------------------------------


def test_the_card_of_mock() -> None:
    found = shown(section(shortcuts_in(datasets_cards.folder("mock"))))
    assert found
    assert all(0 <= low <= value <= high <= 1 for value, low, high in found)


def test_an_audit() -> None:
    items = [
        Item(f"r{i}", f"row {i}", "test", f"g{i}", choices=(f"one {i}", f"quite another {i * 7}"), target=0)
        for i in range(3)
    ]
    found = shown(audit_of(audit(Items("rows", "choice", {"test": Part("test", "", "test")}, items, True))))
    assert found
    assert all(0 <= low <= value <= high <= 1 for value, low, high in found)


@pytest.mark.parametrize("task", ["matching", "ranking", "humicroedit_pairwise", "crowd_groups", "mock_detecting"])
def test_a_report(task: str, tmp_path: Path) -> None:
    """As Markdown and as a page, of a system that is always right and of one that never is."""
    opened = load(task, dataset="sample")
    right = {r.id: str(r.target) for r in opened.records}
    (tmp_path / "right.json").write_text(json.dumps(right))
    (tmp_path / "never.json").write_text(json.dumps(dict.fromkeys(right, "no answer at all")))
    report = build_report(read_results([tmp_path / "right.json", tmp_path / "never.json"], opened))
    drawn = [p for chart in report.charts if chart.y.percent for series in chart.series for p in series.points]
    assert all(0 <= p.low <= p.y <= p.high <= 1 for p in drawn if p.low is not None and p.high is not None)
    for text in (report_of(report), page(report)):
        found = shown(text)
        assert found
        assert all(0 <= low <= value <= high <= 100 for value, low, high in found)


def recorded(held: Mapping[str, Any]) -> list[tuple[str, float, float]]:
    """Metric, with its part, and the ends of its interval, of one entry of the table, of both forms."""
    flat = {name: value for name, value in held.items() if isinstance(value, str)}
    ends = [
        (name.removesuffix("_ci_low"), float(flat[name]), float(flat[name.replace("_ci_low", "_ci_high")]))
        for name in flat
        if name.endswith("_ci_low")
    ]
    for name, value in held.items():
        if isinstance(value, Mapping):
            ends += [(name, float(value["low"]), float(value["high"]))] if "low" in value else recorded(value)
    return ends


def test_every_recorded_score() -> None:
    counted = 0
    for case, held in json.loads(TABLE.read_text()).items():
        name = next((part for part in case.split("/") if part in BENCHMARKS), None)
        if name is None:  # a task of lm-eval, which records no intervals
            continue
        names = {metric.name for metric in find_benchmark(name).reported if metric.proportion}
        others = {metric.name for metric in find_benchmark(name).reported} - names
        for metric, low, high in recorded(held.get("metrics", {})):
            if metric in others or not any(metric == n or metric.startswith(f"{n}_") for n in names):
                continue
            counted += low == low
            assert low != low or 0 <= low <= high <= 1, (case, metric, low, high)
    assert counted > 400
