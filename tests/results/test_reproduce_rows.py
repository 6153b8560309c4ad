"""`reproduce.toml`: every row has a command and parameters that exist, and what is no row is refused."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from characterisation.cases import STUBS
from standins.published_rows import reproduced

from humor_tasks.benchmarks import BENCHMARKS, find_benchmark
from humor_tasks.cli import main
from humor_tasks.contract.options import parameters_of
from humor_tasks.errors import BadInput
from humor_tasks.papers.published import published
from humor_tasks.results.reproduce.rows import read_rows, rows


def test_every_rows_command_and_parameters_exist() -> None:
    for name, row in rows().items():
        options = find_benchmark(row.benchmark).options
        options(**({"system": "-"} if row.benchmark == "explanation_preference" else {}), **row.parameters)
        words = shlex.split(row.command)
        if words[:2] == ["inspect", "eval"]:
            assert words[2] == f"humor_tasks/{row.benchmark}", name
            given = dict(word.split("=", 1) for flag, word in pairwise(words) if flag == "-T")
            assert set(given) - {"replicates"} <= set(parameters_of(options)), name
            assert {k: str(v).lower() for k, v in row.parameters.items()}.items() <= given.items(), name
        elif words[0] == "lm_eval":
            fixed = fixed_by(words[2])
            flags = dict(pairwise(words))
            given: dict[str, Any] = dict(pair.split("=", 1) for pair in flags.get("--metadata", "").split(",") if pair)
            given |= {"shots": int(flags["--num_fewshot"])} if "--num_fewshot" in flags else {}
            assert row.parameters.items() <= (fixed | given).items(), name
            assert fixed["benchmark"] == row.benchmark, name
        else:
            assert words[0] == "humor-tasks", name
            assert words[1] in main.commands, name
            assert "--task" not in words or words[words.index("--task") + 1] == row.benchmark or "train" in words, name
            assert words[1] != "reproduce" or words[2] == name


@cache
def fixed_by(stub: str) -> dict[str, Any]:
    """What the file of a task of lm-eval sets."""
    read: dict[str, Any] = yaml.safe_load((STUBS / f"{stub}.yaml").read_text().replace("!function", ""))
    return read


def test_every_value_of_the_caption_contests_tables_is_in_one_row() -> None:
    held = Counter(figure for row in rows().values() for figure in row.figures)
    printed = [f for f in published() if re.search(r"Hessel et al\. 2023, (Table [2-5]|appendix B\.3)", f.source)]
    assert {figure: held[figure] for figure in printed} == dict.fromkeys(printed, 1)
    tables = Counter(re.search(r"Table (\d)|appendix", figure.source)[1] for figure in printed)  # type: ignore[index]
    assert tables == {"2": 48, "3": 14, "4": 30, "5": 32, None: 1}


def test_values_and_needs_of_every_row_are_listed() -> None:
    code, told = reproduced("--list", "--json")
    assert code == 0
    listed = {each["row"]: each for each in json.loads(told)}
    assert set(listed) == set(rows())
    assert listed["humicroedit-rating-baseline"]["figures"][0] | {"source": "-"} == {
        "metric": "rmse",
        "value": 0.57471,
        "source": "-",
    }
    code, told = reproduced("--list")
    assert code == 0
    assert all(name in told for name in rows())


def row_text(figures: str = '{ benchmark = "matching", system = "Random" }', **more: str) -> str:
    given = {
        "name": '"r"',
        "figures": figures,
        "recipe": '"random"',
        "tolerance": "0.1",
        "basis": '"digits"',
        "command": '"c"',
    } | more
    return "[[row]]\n" + "\n".join(f"{name} = {value}" for name, value in given.items() if value)


BAD_ROWS = [
    ("[[row]", "is no TOML"),
    (row_text(recipe='"second"'), "row r, recipe: there is no 'second'"),
    (row_text(tolerance='"interval"'), "tolerance is 'interval'; it must be a number above 0"),
    (row_text(tolerance="0"), "tolerance is 0; it must be a number above 0"),
    (row_text(tolerance="{ bleu = 0.1 }"), r"tolerance has \['bleu'\]; the figures have other metrics"),
    (row_text(command=""), "row r: has no command"),
    (row_text(basis=""), "row r: has no basis"),
    (row_text(basis='"taste"'), "row r, basis: there is no 'taste'"),
    (row_text(needed='["x"]'), "there is no 'needed'.*Did you mean 'needs'"),
    (row_text('{ benchmark = "matching", system = "Randm" }'), "no published figure has"),
    (row_text('{ benchmark = "matching", sistem = "Random" }'), "there is no 'sistem'"),
    (row_text('{ benchmark = "matching", kind = "model" }'), "selects several figures of one metric"),
]


@pytest.mark.parametrize(("text", "problem"), BAD_ROWS)
def test_what_is_no_row_is_refused(text: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "reproduce.toml").write_text(text)
    with pytest.raises(BadInput, match=problem):
        read_rows(tmp_path / "reproduce.toml", "card")


def test_benchmarks_of_the_rows_exist() -> None:
    assert {row.benchmark for row in rows().values()} <= set(BENCHMARKS)
