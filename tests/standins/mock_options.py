"""`humor-tasks build options` on parts of the sample, against scripted servers of a writer and a judge."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

from standins import commands

from humor_tasks.datasets_cards import folder
from humor_tasks.testing import ChatServer, text_of

SAMPLE = Path(folder("mock"))
Answer = Callable[[list[dict[str, Any]]], str]


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def part(tmp_path: Path, scene: str = "cartoon") -> Path:
    """One scene of the sample as a folder."""
    out = tmp_path / "mock"
    for name in (f"{scene}_matching", f"{scene}_detecting", "images" if scene != "comedy" else "clips"):
        shutil.copytree(SAMPLE / name, out / name)
    (out / "README.md").write_text("# A folder\n")
    return out


def is_judging(messages: list[dict[str, Any]]) -> bool:
    return "<line_a>" in text_of(messages[-1])


def asked_lines(messages: list[dict[str, Any]]) -> tuple[str, str]:
    text = text_of(messages[-1])
    first, second = (text.split(f"<line_{x}>\n")[1].split(f"\n</line_{x}>")[0] for x in "ab")
    return first, second


def judged(word: str) -> str:
    return f"<reasoning>So it is.</reasoning>\n<judgement>{word}</judgement>"


def line_for(messages: list[dict[str, Any]]) -> str:
    """A line that hangs on the question alone."""
    return "A " + hashlib.sha256(json.dumps(messages).encode()).hexdigest()[:12] + " line."


def obliging(messages: list[dict[str, Any]]) -> str:
    return judged("DIFFERENT") if is_judging(messages) else f"<line>{line_for(messages)}</line>"


def options_arguments(source: Path, out: Path, *args: str) -> list[str]:
    """The arguments of `humor-tasks`."""
    return ["build", "options", str(source), "--model", "openai-api/local/writer", "-o", str(out), *args]


def environment(url: str, tmp_path: Path) -> dict[str, str]:
    return {"LOCAL_BASE_URL": url, "LOCAL_API_KEY": "secret-key", "INSPECT_CACHE_DIR": str(tmp_path / "cache")}


JUDGE = ("--judge", "openai-api/local/judge")


def build_options(
    source: Path, out: Path, answer: Answer, tmp_path: Path, *args: str, ok: bool = True
) -> tuple[str, ChatServer]:
    """What the command printed, and the server with its requests."""
    with ChatServer(answer) as server, patch.dict(os.environ, environment(server.url, tmp_path)):
        told = (commands.humor_tasks if ok else commands.refused)(*options_arguments(source, out, *args))
    return told, server
