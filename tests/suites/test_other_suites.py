"""The files and commands of docs/suites.md: tasks of others and ours in one set, resumed, on one page."""

from __future__ import annotations

import json
import shlex
from contextlib import chdir
from pathlib import Path

import pytest
from standins import commands
from standins.documented import blocks

DOCUMENT = "docs/suites.md"


def run(line: str, folder: Path) -> str:
    program, *words = shlex.split(line)
    if program == "inspect":
        return commands.inspect(*words, cwd=folder)
    if program == "lm_eval":
        return commands.lm_eval(*words, cwd=folder)
    assert program == "humor-tasks"
    with chdir(folder):
        return commands.humor_tasks(*words)


@pytest.mark.slow
@pytest.mark.inspect_ai_versions
def test_as_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    files = [block.body for block in blocks(DOCUMENT) if block.language in ("python", "yaml")]
    (tmp_path / "mine").mkdir()
    for name, text in zip(("sums.py", "mine/mine.yaml", "mine/sums.yaml"), files, strict=True):
        (tmp_path / name).write_text(text, encoding="utf-8")
    rows = [json.dumps({"question": f"{i} + 1 =", "answer": i}) for i in range(4)]
    (tmp_path / "sums.jsonl").write_text("\n".join(rows), encoding="utf-8")
    first, *others = [line for b in blocks(DOCUMENT) if b.language == "bash" for line in b.body.strip().splitlines()]
    run(first, tmp_path)
    logs = {path.name for path in (tmp_path / "set").glob("*.eval")}
    (stopped,) = (name for name in logs if "bbeh" in name)
    (tmp_path / "set" / stopped).unlink()  # as of a run that was killed before its last task
    run(first, tmp_path)
    assert logs - {stopped} < {path.name for path in (tmp_path / "set").glob("*.eval")}
    said = [run(line, tmp_path) for line in others]
    page, _, compared, by_lm_eval, page_of_lm_eval = said
    for text, column in ((page, "inspect/sums match"), (page_of_lm_eval, "lm\\_eval/sums acc")):
        assert column in text
        assert "bbeh\\_nycc accuracy" in text
    assert "corrected for 3 comparisons" in compared
    assert "| 12 / 3 " in compared
    assert "- sums" in by_lm_eval
    assert (tmp_path / "page" / "index.html").is_file()
    assert (tmp_path / "page_lm" / "index.html").is_file()
