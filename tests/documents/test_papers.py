"""docs/papers.md against the audit of the four papers: each of its rows, none without a verdict."""

from __future__ import annotations

import re

from standins.paths import REPOSITORY

from humor_tasks.results.reproduce.rows import rows

ROWS = re.findall(
    r"^\| (\d+) \| (.+?) \| (works|differs|cannot be had)\b(.*?) \| (.+?) \|$",
    REPOSITORY.joinpath("docs", "papers.md").read_text(encoding="utf-8"),
    re.M,
)
MOST_WITHOUT = 5


def test_every_row_has_a_verdict() -> None:
    assert [int(number) for number, *_ in ROWS] == list(range(1, 162))


def test_a_difference_says_how_and_what_cannot_be_had_why() -> None:
    told = {number: state for number, _, state, why, _ in ROWS if state != "works" and not why.strip(" :.;")}
    assert told == {}
    assert sum(state == "cannot be had" for _, _, state, _, _ in ROWS) <= MOST_WITHOUT


def test_betterbench_counts_the_rows_of_reproduce() -> None:
    told = (REPOSITORY / "docs" / "betterbench.md").read_text(encoding="utf-8")
    assert f", {len(rows())} rows of the papers' tables" in told
