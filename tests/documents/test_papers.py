"""docs/papers.md against the audit of the four papers: each of its rows, none without a verdict."""

from __future__ import annotations

import re
import shlex

import pytest
from standins import documented
from standins.paths import REPOSITORY

from humor_tasks.results.reproduce.rows import rows

ROWS = re.findall(
    r"^\| (\d+) \| (.+?) \| (works|differs|cannot be had)\b(.*?) \| (.+?) \|$",
    REPOSITORY.joinpath("docs", "papers.md").read_text(encoding="utf-8"),
    re.M,
)
MOST_WITHOUT = 5
COMMAND = re.compile(r"`((?:inspect|lm_eval|humor-tasks|accelerate) [^`]+)`")


def test_every_row_has_a_verdict() -> None:
    assert [int(number) for number, *_ in ROWS] == list(range(1, 162))


def test_a_difference_says_how_and_what_cannot_be_had_why() -> None:
    told = {number: state for number, _, state, why, _ in ROWS if state != "works" and not why.strip(" :.;")}
    assert told == {}
    assert sum(state == "cannot be had" for _, _, state, _, _ in ROWS) <= MOST_WITHOUT


@pytest.mark.slow
@pytest.mark.cpu(15, "a hundred commands through the parsers of three programs")
def test_commands_of_the_new_yorker_paper_are_whole_and_what_their_programs_take() -> None:
    listed = [each for _, item, _, _, given in ROWS if item.startswith("New Yorker") for each in COMMAND.findall(given)]
    assert len(listed) > 90
    for command in dict.fromkeys(listed):
        documented.check(shlex.split(command))


def test_betterbench_counts_the_rows_of_reproduce() -> None:
    told = (REPOSITORY / "docs" / "betterbench.md").read_text(encoding="utf-8")
    assert f", {len(rows())} rows of the papers' tables" in told
