"""A corpus of every sixth real contest and every 50th caption: properties, and what rules without insight reach."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from standins.contests import tiny_encoder

from humor_tasks import load
from humor_tasks.cli import main
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question, best
from humor_tasks.rows.records import Record
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.proportion import clustered_proportion

CONTESTS = (510, 511, 537, 545, 558, 564, 586, 609, 646, 647)
EVERY = 50


@pytest.fixture(scope="module")
def records(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sequence[Record]]:
    """By task, of every sixth annotated contest, and CONTESTS with every 50th caption and the crowd's five best."""
    raw, folder = real_data / "newyorker_raw", tmp_path_factory.mktemp("real")
    annotated = json.loads((raw / "all_newyorker_contest_annotations.json").read_text(encoding="utf-8"))
    assert len(annotated) == 705
    some = {number: each for number, each in annotated.items() if int(number) % 6 == 0 or int(number) in CONTESTS}
    (folder / "annotations.json").write_text(json.dumps(some), encoding="utf-8")
    (folder / "crowd").mkdir()
    for number in CONTESTS:
        header, *rows = _records((raw / "crowd" / f"{number}.csv").read_text(encoding="utf-8"))
        kept = rows[:5] + rows[5::EVERY]
        (folder / "crowd" / f"{number}.csv").write_text("\n".join([header, *kept]) + "\n", encoding="utf-8")
    given = ["--annotations", folder / "annotations.json", "--crowd", folder / "crowd"]
    given += ["--embedding", tiny_encoder(folder / "tiny"), "--workers", "1", "-o", folder / "corpus"]
    result = CliRunner().invoke(main, ["build", "newyorker", *map(str, given)])
    assert result.exit_code == 0, result.output
    how: dict[str, Any] = {"dataset": str(folder / "corpus"), "fold": "all", "setting": "description"}
    return {task: load(task, **how).records for task in ("matching", "ranking")}


def _records(text: str) -> list[str]:
    """The records of a CSV file as they are, with line breaks inside quotes."""
    found: list[str] = []
    held = ""
    for line in text.splitlines():
        held = f"{held}\n{line}" if held else line
        if held.count('"') % 2 == 0:
            found.append(held)
            held = ""
    return found


@pytest.mark.slow
def test_rows_of_real_contests(records: dict[str, Sequence[Record]]) -> None:
    """Contests without captions have their finalists."""
    matching, ranking = records.values()
    assert 110 < len({record.cluster for record in matching}) <= 128
    assert {record.cluster for record in ranking} == {str(number) for number in CONTESTS}
    answers = Counter(record.choices["ABCDE".index(record.target or "")] for record in matching)
    shown = Counter(choice for record in matching for choice in record.choices)
    assert all(shown[caption] == 5 * count for caption, count in answers.items())
    assert {record.groups["winner_source"] for record in ranking} == {"official_winner", "crowd_winner"}


def accuracy(rule: str, records: Sequence[Record], context: Callable[[Record], str] = lambda record: "") -> Estimate:
    """How often a rule is right that sees the choices, and of the scene what `context` gives."""
    scores = Baseline(rule).score([Question(r.id, context(r), r.choices) for r in records])
    right = [float("ABCDE"[best(each)] == r.target) for each, r in zip(scores, records, strict=True)]
    return clustered_proportion(right, [r.cluster for r in records])


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["first", "longest", "random"])
@pytest.mark.parametrize(("task", "chance"), [("matching", 0.2), ("ranking", 0.5)])
def test_rules_that_see_the_choices_alone_are_at_chance(
    records: dict[str, Sequence[Record]], task: str, chance: float, rule: str
) -> None:
    found = accuracy(rule, records[task])
    assert found.low <= chance <= found.high


@pytest.mark.slow
def test_words_of_the_scene_help_in_matching(records: dict[str, Sequence[Record]]) -> None:
    assert accuracy("overlap", records["matching"], lambda record: record.context).low > 0.2
