"""Texts that YAML reads as other numbers: Inspect gives the number alone, and the command line has the text."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from inspect_ai._util.error import PrerequisiteError

from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.checks import check_as_typed
from humor_tasks.on_inspect.tasks.building import build, parameters_of_task

CROWD = parameters_of_task("crowd_pairs")


@pytest.mark.parametrize(
    ("typed", "refused"),
    [
        ("contests=0610", True),
        ("-Tcontests=0610", True),
        ("contests=0x1A", True),
        ("contests=0b11", True),
        ("contests=1:30", True),
        ("revision=0123456", True),
        ("contests=610", False),
        ("contests=1_000", False),
        ("contests=007", False),
        ("contests=0610,0611", False),
        ('contests="0610"', False),
        ("seed=0610", False),  # a number, which YAML may write so
        ("other=0610", False),
    ],
)
def test_a_text_that_yaml_takes_for_another_number_is_refused(typed: str, refused: bool) -> None:
    name, _, text = typed.removeprefix("-T").partition("=")
    given: dict[str, Any] = {name: yaml.safe_load(text)}
    words = ["inspect", "eval", "humor_tasks/crowd_pairs", "-T", typed]
    if not refused:
        check_as_typed(CROWD, given, words)
        return
    said = f"{name}={text}: YAML reads this as the number {given[name]}; quote it: -T '{name}=\"{text}\"'."
    with pytest.raises(BadInput, match=re.escape(said)):
        check_as_typed(CROWD, given, words)


def test_a_task_refuses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["inspect", "eval", "humor_tasks/crowd_pairs", "-T", "contests=0610"])
    with pytest.raises(PrerequisiteError, match="YAML reads this as the number 392"):
        build("crowd_pairs", {"dataset": "sample", "contests": 392})
