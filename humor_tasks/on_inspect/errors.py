"""What ends a run, said to Inspect, and what Inspect says, in plain text. Inspect's messages are rich's markup."""

from __future__ import annotations

import contextlib

from rich.errors import MarkupError
from rich.markup import escape
from rich.text import Text

from humor_tasks.on_inspect.private import PrerequisiteError


class CannotRun(PrerequisiteError):
    """A message that Inspect shows without a traceback. `[...]` in it, as in a path or an extra's name, stands as it
    is: Inspect would leave it out as a colour, or fail at it."""

    def __init__(self, message: str) -> None:
        super().__init__(escape(message))


def plain(problem: BaseException) -> str:
    """What an error says, in one line and without colours."""
    said = str(problem)
    if isinstance(problem, PrerequisiteError):
        with contextlib.suppress(MarkupError):  # somebody else's message, not escaped
            said = Text.from_markup(str(problem.message)).plain
    return " ".join(said.split())
