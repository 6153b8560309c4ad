"""Conversion between plain text and the messages of Inspect's errors, which are rich markup."""

from __future__ import annotations

import contextlib
from typing import NoReturn

from rich.errors import MarkupError
from rich.markup import escape
from rich.text import Text

from humor_tasks.files.secrets import without_credentials
from humor_tasks.on_inspect.private import PrerequisiteError


class CannotRun(PrerequisiteError):
    """An error that ends the run and that Inspect shows without a traceback.

    Brackets, as in paths and names of extras, are escaped; Inspect would interpret them as markup.
    """

    def __init__(self, message: str) -> None:
        super().__init__(escape(message))


def cannot_run(message: str) -> NoReturn:
    """Raise CannotRun, also while a sample runs: Inspect then shows the message alone, without the frames."""
    _rich_traceback_guard = True  # rich leaves out this frame and those before it
    raise CannotRun(message) from None


def one_line(problem: BaseException) -> str:
    """The message of an error in one line, without markup and credentials."""
    message = str(problem)
    if isinstance(problem, PrerequisiteError):
        with contextlib.suppress(MarkupError):  # a message of other code that is not escaped
            message = Text.from_markup(str(problem.message)).plain
    return without_credentials(" ".join(message.split()))


def first_exception(problem: BaseException) -> BaseException:
    """The first error of concurrent tasks that failed together; the others are alike or were cancelled."""
    return first_exception(problem.exceptions[0]) if isinstance(problem, BaseExceptionGroup) else problem
