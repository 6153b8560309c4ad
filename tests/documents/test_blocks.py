"""Every command and every piece of Python in the documents: checked by its program's own parser, or run.

A command of Inspect, lm-eval, `humor-tasks` or pip is checked offline: options, tasks, scorers, models, extras, and
each parameter with its value. A command with a baseline on the packaged sample is run. Python is run, with stand-ins
for what a reader brings. What can be neither has `<!-- not run: REASON -->` before it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from standins import commands, documented
from standins.documented import DOCUMENTS, REPOSITORY, SHELL, Block, Wrong
from standins.evaluate_caches import own_caches

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.results.reproduce.rows import rows

BLOCKS = [block for document in DOCUMENTS for block in documented.blocks(document)]
IN_SHELL = [block for block in BLOCKS if block.language in SHELL]
IN_PYTHON = [block for block in BLOCKS if block.language == "python"]
RUN_BY_CI = "README.md-2"  # the checks themselves: .ci/run executes the README's first two blocks as they stand
OTHER = {"ruff", "mypy", "pytest", "apt-get", "command", "uv"}
INLINE = re.compile(r"`((?:inspect|lm_eval|humor-tasks) [^`]+)`")


def test_blocks_are_found() -> None:
    assert {"README.md", "docs/inspect.md", "docs/lm_eval.md"} < {block.document for block in IN_SHELL}
    assert len(IN_SHELL) > 50
    assert len(IN_PYTHON) >= 6
    untagged = [
        block for block in BLOCKS if not block.language and re.match(r"(\$ )?(inspect|lm_eval|humor-)", block.body)
    ]
    assert not untagged, f"name the language of {untagged[0]}"


@pytest.mark.parametrize("block", IN_SHELL, ids=str)
def test_commands_are_what_their_programs_take(block: Block) -> None:
    for words in documented.commands("" if block.why else block.body):
        if str(block) != RUN_BY_CI or words[0] not in OTHER:
            documented.check(words)


def test_commands_of_published_rows_are_what_their_programs_take() -> None:
    for command in {row.command for row in rows().values()}:
        (words,) = documented.commands(command)
        documented.check(words)


@pytest.mark.parametrize("table", ["published.md", "papers.md"])
def test_commands_in_tables_are_what_their_programs_take(table: str) -> None:
    listed = INLINE.findall((REPOSITORY / "docs" / table).read_text(encoding="utf-8"))
    given = [text for text in listed if " --" in text and "..." not in text and "--include_path" not in text]
    assert len(given) > 15
    for text in given:
        for words in documented.commands(re.sub(r"[\[\]]", "", text)):  # brackets: what may be left out
            documented.check(words)


def runs_here(words: list[str]) -> bool:
    """Whether a command needs nothing but this package and its sample."""
    text = " ".join(words)
    if words[0] in ("inspect", "lm_eval"):
        return "dataset=sample" in text and ("--model baseline/" in text or "--model humor-baseline" in text)
    if words[:2] == ["humor-tasks", "score"]:
        return "--dataset sample" in text
    return words in (["humor-tasks", "reproduce", "--list"], ["humor-tasks", "audit", "sample", "--task", "matching"])


TYPED = [words for block in IN_SHELL if not block.why for words in documented.commands(block.body)]
HERE = sorted({" ".join(words) for words in TYPED if runs_here(words)})


@pytest.mark.slow
@pytest.mark.parametrize("command", HERE)
def test_commands_on_the_sample_run(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predictions.json").write_text(
        json.dumps({r.id: "A" for r in load("ranking", dataset="sample").records})
    )
    program, *words = command.split(" ")
    if program == "inspect":
        few = () if "--limit" in words else ("--limit", "10")
        commands.inspect(*words, *few, "--log-dir", "logs", cwd=tmp_path)
        assert len(list((tmp_path / "logs").glob("*.eval"))) == 1
    elif program == "lm_eval":
        assert "acc" in commands.lm_eval(*words, cwd=tmp_path)
    else:
        assert commands.humor_tasks(*words)


def test_the_sample_is_tried_in_both_harnesses() -> None:
    assert sum(command.startswith("inspect ") for command in HERE) >= 4
    assert sum(command.startswith("lm_eval ") for command in HERE) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("block", IN_PYTHON, ids=str)
def test_python_runs(block: Block, tmp_path: Path) -> None:
    code = compile(block.body, str(block), "exec")
    names: dict[str, Any] = {"my_model": lambda prompt: "A"}
    with own_caches(tmp_path / "evaluate"):
        if not block.why:
            exec(code, names)
        tests: list[Callable[[Path], None]] = [each for name, each in names.items() if name.startswith("test_")]
        for test in tests:
            test(tmp_path)


def test_a_shells_words_are_found() -> None:
    text = 'pip install ".[a]" && inspect eval x \\\n  -T shard=$A/${B}  # why\n$ ls | wc; echo "a && b"\n'
    assert list(documented.commands(text)) == [
        ["pip", "install", ".[a]"],
        ["inspect", "eval", "x", "-T", "shard=1/1"],
        ["ls"],
        ["wc"],
        ["echo", "a && b"],
    ]


@pytest.mark.parametrize(
    "command",
    [
        "inspect eval humor_tasks/matchin --model openai/gpt-4o",
        "inspect eval humor_tasks/matching --model nobody/gpt-4o",
        "inspect eval humor_tasks/matching --modell openai/gpt-4o",
        "inspect eval humor_tasks/matching --model openai/gpt-4o -T shot=5",
        "inspect eval humor_tasks/matching --model openai/gpt-4o -T setting=pictures",
        "inspect eval humor_tasks/humorbench --model openai/gpt-4o --model-role grader=nobody/x",
        "inspect score LOG --scorer humor_tasks/nothing",
        "lm_eval --tasks nyc_match --model hf",
        "lm_eval --tasks nyc_matching --model humor-nothing",
        "lm_eval --tasks nyc_matching --model hf --metadata datset=sample",
        "lm_eval --tasks nyc_matching --model hf --metadata setting=pictures",
        "lm_eval --tasks nyc_matching --model hf --num_shots 5",
        "humor-tasks repport logs/",
        "humor-tasks report logs/ --outt x",
        "humor-tasks score p.json --task matchin",
        "humor-tasks score p.json --task matching -T extraction=loose",
        "humor-tasks reproduce matching-nobody",
        'pip install ".[docs,nothing]"',
        "accelerate launch --num_processes 1 -m humor_tasks.cli train text --task matching --modell m -o run",
        "accelerate launch --processes 1 -m humor_tasks.cli train text --task matching --model m -o run",
        "accelerate launch --config_file nothing.yaml -m humor_tasks.cli train text --task matching --model m -o run",
    ],
)
def test_a_command_that_would_be_refused_is_found(command: str) -> None:
    (words,) = documented.commands(command)
    with pytest.raises((Wrong, BadInput)):
        documented.check(words)


def test_a_block_says_why_it_is_not_run(tmp_path: Path) -> None:
    with patch.object(documented, "REPOSITORY", tmp_path):
        (tmp_path / "x.md").write_text("<!-- not run: needs a GPU -->\n```bash\nmake\n```\n\n```bash\nmake\n```\n")
        first, second = documented.blocks("x.md")
    assert (first.why, second.why) == ("not run: needs a GPU", "")


@pytest.mark.parametrize("fence", ['```bash title="x"', "  ```bash", "~~~bash", "````bash", "``` bash"])
def test_a_fence_that_would_hide_commands_is_told(fence: str, tmp_path: Path) -> None:
    end = fence.partition("bash")[0].rstrip()
    (tmp_path / "x.md").write_text(f"a\n\n{fence}\ninspect eval nothing\n{end}\n\nb\n\n```bash\nls\n```\n")
    with (
        patch.object(documented, "REPOSITORY", tmp_path),
        pytest.raises(Wrong, match=r"x\.md: .*: a block begins with"),
    ):
        documented.blocks("x.md")
