"""Servers of the annotation page, forked from one process, and a browser whose windows the tests of a file share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from standins.browser import Forks, Windows


@pytest.fixture(scope="module")
def browser_windows() -> Iterator[Windows]:
    from standins.browser import Windows, browser

    with browser() as opened:
        yield Windows(opened)


@pytest.fixture
def windows(browser_windows: Windows) -> Iterator[Windows]:
    """Windows that remember nothing of the tests before."""
    yield browser_windows
    browser_windows.close()


@pytest.fixture(scope="session")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Forks]:
    from standins.browser import Forks

    with Forks(tmp_path_factory.mktemp("forks")) as forks:
        yield forks
