"""Files of votes, and what `humor-tasks people agreement` prints of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from humor_tasks.cli import main
from humor_tasks.studies.people.votes import Vote, write_votes


def told(*arguments: Any) -> Result:
    return CliRunner().invoke(main, ["people", "agreement", *map(str, arguments)])


def shown(*arguments: Any) -> str:
    result = told(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def tight(markdown: str) -> str:
    """Markdown whose tables are not padded."""
    return re.sub(r" +\|", " |", re.sub(r"\|-+(?=\|)", "|---", markdown))


def cells(markdown: str, start: str) -> list[str]:
    """The cells of the one line that begins with this cell."""
    (line,) = [line for line in tight(markdown).splitlines() if line.startswith(f"| {start} |")]
    return [cell.strip().replace("\\", "") for cell in line.strip("| ").split(" | ")]


def votes_on(path: Path, *votes: tuple[str, str, str], **more: str) -> Path:
    """A file of (item, rater, choice)."""
    write_votes(path, [Vote(item, rater, choice, **more) for item, rater, choice in votes])
    return path
