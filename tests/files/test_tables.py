"""Tables for people: aligned, Markdown in files and pipes, without escapes in a terminal."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from standins.graded_logs import humor_tasks

from humor_tasks.cli.printing import echo
from humor_tasks.files.tables import safe, table, unescaped
from humor_tasks.studies.people.agreement_report import LEGEND

CELLS = st.text(st.characters(exclude_categories=("Cs", "Cc", "Cf")), max_size=8)


def test_a_table_is_aligned_and_in_a_terminal_without_escapes() -> None:
    made = table(("model", "$"), [("a_b|c", 1), ("猫", "22")])
    assert made.splitlines() == [r"| model   | \$ |", "|---------|----|", r"| a\_b\|c | 1  |", "| 猫      | 22 |"]
    assert unescaped(f"# a\\_b\n\n{made}\n\n- \\*\n").splitlines() == [
        *("# a_b", ""),
        *("| model | $  |", "|-------|----|", "| a_b|c | 1  |", "| 猫    | 22 |"),
        *("", "- *"),
    ]


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=4))
def test_lines_are_equally_wide_and_cells_survive(rows: list[list[str]]) -> None:
    made = table(("a", "b", "c"), rows)
    for shown in (made, unescaped(made)):
        assert len({cell_len(line) for line in shown.split("\n")}) == 1
    for row, line in zip(rows, unescaped(made).split("\n")[2:], strict=True):
        assert line.split() == f"| {' | '.join(' '.join(cell.split()) for cell in row)} |".split()


@pytest.mark.parametrize(("terminal", "said"), [(True, "| a_b |"), (False, r"| a\_b |")])
def test_only_a_terminal_is_shown_no_escapes(
    terminal: bool, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)
    echo(table((safe("a_b").replace("\\", ""),), []) + "\n")
    assert capsys.readouterr().out.splitlines()[0] == said


@pytest.mark.parametrize(("option", "name"), [("-o", "r.txt"), ("--plot", "p.jpg"), ("--hard", "hrad")])
def test_what_cannot_be_written_is_told_before_logs_are_read(option: str, name: str) -> None:
    done = humor_tasks("report", "gone.eval", option, name)
    assert (done.exit_code, "gone.eval" in done.output, name in done.output) == (2, False, True)


def test_every_label_of_a_judge_has_a_meaning() -> None:
    assert len(set(LEGEND)) == 21
    assert all(meaning and not meaning.endswith(".") for meaning in LEGEND.values())
