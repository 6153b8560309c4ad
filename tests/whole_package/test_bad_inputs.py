"""Bad inputs end in one clear message: no traceback of ours, no silent use, no half-written file. See bad_inputs/."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from bad_inputs import CASES
from bad_inputs.case import Bad, ended
from standins import commands
from standins.paths import TESTS
from standins.waiting import LIMIT

from humor_tasks.errors import BadInput, nearest
from humor_tasks.files.reading import check_text, missing

SLOW = ("inspect ", "lm_eval ", *(f"humor-tasks {name}" for name in ("train", "build", "describe", "captions rank")))


def marked(room: str, case: Bad) -> object:
    slow = isinstance(case.command, str) and case.command.startswith(SLOW)
    return pytest.param(case, id=f"{room}: {case.name}", marks=[pytest.mark.slow] * slow)


@pytest.mark.parametrize("case", [marked(room, case) for room, case in CASES])
def test_a_bad_input_is_told_clearly(case: Bad, tmp_path: Path) -> None:
    found = ended(case, tmp_path / "here")
    assert found.kind == "clear", f"{found.kind}: {found.output}"


def test_every_input_is_another() -> None:
    assert not [name for name, n in Counter((room, case.name) for room, case in CASES).items() if n > 1]
    assert all(case.says for _, case in CASES)


@pytest.mark.slow
@pytest.mark.cpu(10, "a process imports lm-eval")
def test_lm_evals_command_shows_no_frames(tmp_path: Path) -> None:
    asked = ["--tasks", "nyc_ranking", "--model", "humor-baseline", "--model_args", "strategy=first"]
    done = subprocess.run(
        [sys.executable, commands.__file__, *asked, "--metadata", "dataset=/no/where"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (str(TESTS), os.environ.get("PYTHONPATH"))))},
        timeout=LIMIT,
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("humor-tasks: dataset=/no/where is neither 'sample'")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (None, "empty"),
        ("", "empty"),
        (" \t\n\u00a0\u3000", "empty"),
        ("\u200b", "invisible: U+200B"),
        (" \u200d\ufeff\u2060 ", "invisible: U+200D, U+FEFF, U+2060"),
        ("\u00ad", "invisible: U+00AD"),
        ("\u3164\u2800\uffa0", "invisible: U+3164, U+2800, U+FFA0"),
        ("\u0301", "invisible: U+0301"),
        ("\x00", "invisible: U+0000"),
        (3, "3"),
        (["a"], "['a']"),
        (float("nan"), "nan"),
        *((text, "") for text in ("a", ".", "?", "\U0001f600", "\u200ba", "e\u0301", "猫", "١", "\ue000", "￼")),
    ],
)
def test_what_keeps_a_value_from_being_a_visible_text(value: object, why: str) -> None:
    assert missing(value) == why
    if why:
        with pytest.raises(BadInput, match=r"^row 3: caption is .*; it must be text\.$"):
            check_text(value, "row 3: caption")
    else:
        assert check_text(value, "row 3: caption") == value


def test_the_nearest_name_ignores_case() -> None:
    assert nearest("TEST", ["train", "test"]) == " Did you mean 'test'?"
    assert nearest("Humorbnch", ["HumorBench", "matching"]) == " Did you mean 'HumorBench'?"
    assert nearest("x", ["train", "test"]) == ""
