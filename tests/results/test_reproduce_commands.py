"""The commands that `reproduce --list` prints: parsed by their programs, and opened or run on the sample.

Models and weights are never loaded: a row whose command names some says so in its needs.
"""

from __future__ import annotations

import json
import shlex
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from standins import documented
from standins.commands import humor_tasks
from standins.published_rows import reproduced, sample_as_corpora
from standins.votes import votes_on

from humor_tasks import load
from humor_tasks.datasets_cards import folder
from humor_tasks.results.reproduce.rows import Row, rows

CARDS = tuple(dict.fromkeys(row.card for row in rows().values()))
NEEDS = ("model", "weights", "writer and judge", "vectors", "BERT", "judge", "log")


def words(row: Row) -> list[str]:
    return shlex.split(row.command)


def of_program(*names: str) -> list[Row]:
    return [row for row in rows().values() if tuple(words(row)[: len(names)]) == names]


@pytest.mark.slow
@pytest.mark.cpu(15, "480 commands through the parsers of three programs")
@pytest.mark.parametrize("card", CARDS)
def test_every_command_is_one_that_its_program_takes(card: str) -> None:
    for command in dict.fromkeys(row.command for row in rows().values() if row.card == card):
        documented.check(shlex.split(command))


def test_a_command_with_a_model_says_in_its_needs_that_it_lacks_it() -> None:
    for row in rows().values():
        command = row.command
        trains = words(row)[1] == "train"
        if "--model" in command or "-role" in command or trains:
            needs = "; ".join(row.needs)
            assert row.retired or any(word in needs for word in NEEDS), row.name
        if "FOLDER" in command or "VOTES" in command or "LOG" in command:
            assert row.needs, row.name


# ---- opened on the sample --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Explanations of the sample's items of MOCK, in place of LOG."""
    ids = [record.id for record in load("mock_explaining", dataset="sample", input="description").records]
    path = tmp_path_factory.mktemp("texts") / "texts.json"
    path.write_text(json.dumps(dict.fromkeys(ids, "It is a pun.")))
    return str(path)


@cache
def opened(benchmark: str, parameters: tuple[tuple[str, Any], ...]) -> int:
    """The number of the sample's rows that a command's parameters select."""
    return len(load(benchmark, **{**dict(parameters), "dataset": "sample"}).records)


LACKING = {"crowd_pairs": "the 91 contests", "crowd_groups": "the 91 contests", "caption_writing": "the 91 contests"}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_commands_of_inspect_open_the_sample(texts: str) -> None:
    held = of_program("inspect", "eval")
    assert len(held) == 223
    for row in held:
        benchmark = words(row)[2].partition("/")[2]
        given = dict(word.split("=", 1) for flag, word in pairwise(words(row)) if flag == "-T")
        parameters = {name: yaml.safe_load(value) for name, value in given.items() if name != "replicates"}
        if "system" in parameters:
            parameters["system"] = texts
        if benchmark in LACKING:
            assert any("of the 91 contests" in need for need in row.needs), row.name
        else:
            assert opened(benchmark, tuple(sorted(parameters.items()))) > 0, row.name


@pytest.mark.slow
def test_commands_of_lm_eval_open_the_sample() -> None:
    held = of_program("lm_eval", "--tasks")
    assert len(held) == 29
    for row in held:
        (config,) = documented.configs(words(row)[2])
        fixed = {name: value for name, value in config.items() if name in ("fold", "setting")}
        assert opened(row.benchmark, tuple(sorted(fixed.items()))) > 0, row.name


# ---- run on the sample ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder with what commands name in capitals, made from the sample."""
    place = tmp_path_factory.mktemp("work")
    sample_as_corpora(place / "corpora")
    for task in (1, 2):
        _, *lines = (folder("humicroedit") / f"task-{task}" / "test.csv").read_text().splitlines()
        given = "".join(f"{line.split(',', 1)[0]},1\n" for line in lines)
        (place / f"SUBMISSION-{task}.csv").write_text("id,pred\n" + given)
    votes_on(place / "VOTES.csv", *((str(i), who, "A") for i in range(4) for who in ("ann", "bob")))
    items = [{"id": str(i), "kind": "preference", "options": ["a", "b"], "systems": ["m", "human"]} for i in range(4)]
    (place / "PAIRS").write_text("".join(json.dumps(item) + "\n" for item in items))
    return place


def unique(rows_: list[Row]) -> list[str]:
    return list(dict.fromkeys(row.command for row in rows_))


@pytest.mark.slow
def test_commands_of_humor_tasks_run_on_the_sample(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = 0
    for command in unique(of_program("humor-tasks")):
        _, name, *rest = shlex.split(command)
        if name == "train":
            continue  # parsed; their files are read in test_reproduce_trainings.py
        if name == "reproduce":
            at = files / "corpora"
            file = rest[rest.index("--dataset") + 1] if "--dataset" in rest else ""
            code, told = reproduced(rest[0], "--dataset", at / "humorbench" / file if file else at)
            assert code in (3, 6), told
            assert code == 6 or "labels of" in told or file not in ("", "gpt_4o_rubric.csv"), told
        else:
            task = 2 if "humicroedit_pairwise" in rest else 1
            stand_ins = {"SUBMISSION.csv": str(files / f"SUBMISSION-{task}.csv"), "PAIRS": str(files / "PAIRS")}
            stand_ins |= {"VOTES": str(files / "VOTES.csv")}
            asked = [stand_ins.get(word, word) for word in rest]
            (tmp_path / str(ran)).mkdir()
            monkeypatch.chdir(tmp_path / str(ran))
            dataset = "" if "agreement" in rest else str(files / "corpora" / dataset_of(rest))
            humor_tasks(name, *asked, *(("--dataset", dataset) if dataset else ()))
        ran += 1
    assert ran == len(unique(of_program("humor-tasks"))) - len(unique(of_program("humor-tasks", "train"))) > 15


def dataset_of(rest: list[str]) -> str:
    return "humicroedit" if any("humicroedit" in word for word in rest) else "newyorker_caption_contest"
