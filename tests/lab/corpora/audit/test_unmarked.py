"""The canary in the card and the rows of folders that this package built, and of no others, by small folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from humor_tasks.lab.corpora.audit.auditing import unmarked
from humor_tasks.lab.corpora.audit.items import Items
from humor_tasks.rows.canary import TEXT, marked

BUILT, ROW = "Built by `humor-tasks build mock`.\n", {"id": 1}


@pytest.mark.parametrize(
    ("card", "row", "told"),
    [
        (BUILT + TEXT, marked(ROW), ()),
        (BUILT, ROW, ("README.md", "puns/test.jsonl")),
        (BUILT + TEXT, ROW, ("puns/test.jsonl",)),
        ("Made by `humor-tasks describe`.\n", marked(ROW), ("README.md",)),
        ("The folder that `humor-tasks build mock` reads.\n", ROW, ()),
        ("", ROW, ()),
    ],
)
def test_what_lacks_it_is_named(card: str, row: dict[str, object], told: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "puns").mkdir()
    if card:
        (tmp_path / "README.md").write_text(card, encoding="utf-8")
    (tmp_path / "puns" / "test.jsonl").write_text(json.dumps(row), encoding="utf-8")
    found = unmarked(Items(str(tmp_path), "choice", {}, [], True))
    assert tuple(name for each in found for name in each.rows) == told
    assert [(each.kind, each.severity) for each in found] == [("no_canary", "warning")] * bool(told)


def test_a_dataset_that_is_no_folder_is_left_alone() -> None:
    assert unmarked(Items("nobody/puns", "choice", {}, [], True)) == []
