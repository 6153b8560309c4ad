"""Shortcut baselines on the card of a MOCK folder: each rule worked out by hand, and what is warned about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from humor_tasks import evaluate, load
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.mock.options import with_section
from humor_tasks.lab.corpora.mock.shortcuts import RULES, section, shortcuts, shortcuts_in, shortcuts_of, warnings_of
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question, answer, best
from humor_tasks.scorers.estimate import Estimate

SAMPLE = Path(folder("mock"))


def row(i: int, **more: Any) -> dict[str, Any]:
    return {"id": f"r{i}", "scene": "post", "media_id": f"m{i}", "source": "x", "dialogue": None, **more}


def matching(i: int, caption: str, options: str, source: str = "x", description: str | None = None) -> dict[str, Any]:
    """`options` separated by /; the answer is where the caption stands."""
    texts = options.split("/")
    made = {"caption": caption, "options": texts, "answer": "ABCD"[texts.index(caption)]}
    return row(i, **made, source=source, description=description)


# Counts over the four rows: a 3, bb 2, ccc 3, d 2, e 2, f 2, g 2.
ROWS = [
    matching(0, "a", "a/bb/ccc/d", "x", "a ball"),
    matching(1, "bb", "a/bb/ccc/e", "y", "two bb"),
    matching(2, "ccc", "f/g/ccc/e", "y", "ccc"),
    matching(3, "d", "a/d/f/g", "x", "nothing of it"),
]
RIGHT: dict[str, list[bool]] = {
    "always": [False, True, False, True],  # B is the most frequent letter
    "first": [True, False, False, False],
    "longest": [False, False, True, False],
    # "a" is a function word and counts for nothing, so A is the first of the best in row 3
    "overlap": [True, True, True, False],
    "rarest": [False, True, False, True],  # bb, bb, f, d
    "source": [True, True, False, False],  # the first that is not known as a line of the other source: a, bb, f, a
    "TF-IDF": [True, True, True, False],
}


def test_rules_of_matching_by_hand() -> None:
    found = shortcuts({("post", "matching", "test"): ROWS})["post", "matching", "test"]
    assert list(found) == list(RULES)
    assert {rule: estimate.value for rule, estimate in found.items()} == {
        rule: sum(right) / 4 for rule, right in RIGHT.items()
    }
    assert {(estimate.n, estimate.clusters) for estimate in found.values()} == {(4, 4)}


def test_rules_that_need_a_text_are_absent_where_none_is_shown() -> None:
    plain = [each | {"description": None} for each in ROWS]
    found = shortcuts_of(plain, "matching")["post", "matching", "all"]
    assert list(found) == ["always", "first", "longest", "rarest", "source"]


def test_rarest_counts_within_the_split() -> None:
    """In validation each option stands once, so the first is the first of the rarest."""
    cells = {("post", "matching", "test"): ROWS, ("post", "matching", "validation"): ROWS[:1]}
    assert shortcuts(cells)["post", "matching", "validation"]["rarest"].value == 1.0


def detecting(i: int, caption: str, label: str, source: str = "x", description: str = "") -> dict[str, Any]:
    return row(i, caption=caption, label=label, source=source, description=description)


def test_rules_of_detecting_by_hand() -> None:
    rows = [
        detecting(0, "great weather", "yes", "x", "weather"),
        detecting(1, "rain", "yes", "x", "sun"),
        detecting(2, "rain", "no", "x", "snow"),
        detecting(3, "sun", "no", "y", "moon"),
        detecting(4, "sun", "no", "y", "sun"),
    ]
    found = shortcuts_of(rows, "detecting")["post", "detecting", "all"]
    assert {rule: estimate.value for rule, estimate in found.items()} == {
        "always": 0.6, "first": 0.4, "overlap": 0.6, "source": 0.8,
    }  # fmt: skip


def test_a_classifier_of_the_text_alone_is_tested_on_other_media() -> None:
    """A mark of one label is found; a text that stands only with its own medium is not learnt by heart."""
    marked = [detecting(i, f"<num> of {i}" if i % 2 else f"some of {i}", "yes" if i % 2 else "no") for i in range(40)]
    found = shortcuts_of(marked, "detecting")["post", "detecting", "all"]
    assert found["TF-IDF"].value == 1.0
    # One word for each medium, which has one label: without keeping a medium together, all would be right.
    words = [
        detecting(i, f"word{i // 4}", "yes" if (i // 4) % 2 else "no") | {"media_id": f"m{i // 4}"} for i in range(80)
    ]
    assert shortcuts_of(words, "detecting")["post", "detecting", "all"]["TF-IDF"].value <= 0.5
    few = [detecting(i, "a text", "yes" if i else "no") for i in range(40)]
    assert "TF-IDF" not in shortcuts_of(few, "detecting")["post", "detecting", "all"]


@pytest.mark.parametrize("scene", ["cartoon", "post", "comedy"])
@pytest.mark.parametrize("task", ["detecting", "matching"])
def test_rules_of_the_baselines_score_as_in_the_harnesses(task: str, scene: str) -> None:
    found = shortcuts_in(SAMPLE)[scene, task, "test"]
    run = load(f"mock_{task}", dataset="sample", scene=scene, input="description")
    for rule in ("first", "longest", "overlap"):
        if rule not in found:
            assert (task, rule) == ("detecting", "longest")
            continue
        asked = [Question(r.id, r.context, r.choices, about=r.fields["punchline"]) for r in run.records]
        replies = {q.id: answer(q, best(scores)) for q, scores in zip(asked, Baseline(rule).score(asked), strict=True)}
        assert found[rule] == pytest.approx(evaluate(run, replies).metrics["accuracy"])


def estimate(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, 0.01, low, high, 500, 500)


WARNED = [
    ("matching", estimate(0.36, 0.31, 0.41), True),
    ("matching", estimate(0.35, 0.31, 0.40), False),  # not more than chance + .10
    ("matching", estimate(0.50, 0.20, 0.80), False),  # of few items
    ("matching", estimate(0.05, 0.01, 0.09), False),
    ("detecting", estimate(0.59, 0.55, 0.63), False),
    ("detecting", estimate(0.602, 0.58, 0.62), True),
]


@pytest.mark.parametrize(("task", "value", "warned"), WARNED)
def test_what_is_above_chance_and_a_tenth_is_named(task: str, value: Estimate, warned: bool) -> None:
    found = {("post", task, "test"): {"overlap": value}}
    told = warnings_of(found)
    assert bool(told) == warned
    assert all("post, " + task + ", test: the shortcut overlap is right in 0." in each for each in told)
    table = section(found)
    assert (
        f"| post, {task}, test | 500 | - | - | - | {value.value:.3f} [{value.low:.3f}, {value.high:.3f}] | - |" in table
    )
    assert all(f"- {each}" in table for each in told)


def test_rows_of_another_schema_are_named(tmp_path: Path) -> None:
    (tmp_path / "post_detecting").mkdir()
    (tmp_path / "post_detecting" / "test.jsonl").write_text(json.dumps({"id": "x", "scene": "post"}))
    with pytest.raises(BadInput, match=r"post_detecting/test.jsonl is not in the schema of a MOCK folder"):
        shortcuts_in(tmp_path)


CARDS = [
    ("", "## B\n\nnew", "## B\n\nnew\n"),
    ("# T\n\ntext\n", "## B\n\nnew", "# T\n\ntext\n\n## B\n\nnew\n"),
    ("# T\n\n## B\n\nold\n\n## C\n\nx\n", "## B\n\nnew", "# T\n\n## B\n\nnew\n\n## C\n\nx\n"),
    ("# T\n\n## Bc\n\nx\n", "## B\n\nnew", "# T\n\n## Bc\n\nx\n\n## B\n\nnew\n"),
]


@pytest.mark.parametrize(("before", "body", "after"), CARDS)
def test_a_section_replaces_the_one_of_its_name(before: str, body: str, after: str) -> None:
    assert with_section(before, "## B", body) == after
