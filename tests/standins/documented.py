"""Commands that documents show, checked without running them: by the parsers of the programs themselves.

A block is known by its document and place. Its commands are split as a shell splits them; `$NAME` is taken as 1.
"""

from __future__ import annotations

import re
import shlex
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import click
import yaml
from standins.paths import REPOSITORY

DOCUMENTS = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in (
        "*.md",
        "docs/**/*.md",
        "benchmarks/*.md",
        "register/*.md",
        "datasets_cards/*/README.md",
        "tests/README.md",
        "tests/thirdparty/**/*.md",
    )
    for path in REPOSITORY.glob(pattern)
)
FENCED = re.compile(r"(?:^<!-- (?P<why>not run: [^\n]+) -->\n+)?^```(?P<language>\w*)\n(?P<body>.*?)^```", re.S | re.M)
SHELL = ("bash", "sh", "shell", "console")
STUBS = REPOSITORY / "humor_tasks" / "on_lm_eval" / "tasks"


@dataclass(frozen=True)
class Block:
    """A fenced code block. why: the reason given for not running it, or ""."""

    document: str
    place: int
    language: str
    body: str
    why: str

    def __str__(self) -> str:
        return f"{self.document}-{self.place}"


def blocks(document: str) -> list[Block]:
    """The fenced blocks of a document, from 1. Raises Wrong for a fence that would hide blocks from the checks."""
    text = (REPOSITORY / document).read_text(encoding="utf-8")
    if odd := re.search(r"^[ \t]*(```|~~~).*", FENCED.sub("", text), re.M):
        raise Wrong(f"{document}: {odd[0]}: a block begins with ``` and its language, and ends with ```, in column 1")
    found = FENCED.finditer(text)
    return [Block(document, i, m["language"], m["body"], m["why"] or "") for i, m in enumerate(found, 1)]


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command of a shell block."""
    joined = re.sub(r"\$\{?\w+\}?", "1", text.replace("\\\n", " "))
    for line in joined.splitlines():
        split = shlex.shlex(re.sub(r"^\$ ", "", line.strip()), posix=True, punctuation_chars="&;|()<>")
        split.whitespace_split = True
        words: list[str] = []
        for word in split:
            if set(word) <= set("&;|()") and words:
                yield words
                words = []
            elif not set(word) <= set("&;|()"):
                words.append(word)
        if words:
            yield words


# ---- checks -------------------------------------------------------------------------------------


class Wrong(AssertionError):
    """A command that its program would refuse; the message says why."""


def check(words: list[str]) -> None:
    """Raise Wrong or BadInput for a command that its program would refuse, and Wrong for an unknown program."""
    words = launched(words)
    if words[0] not in PROGRAMS:
        raise Wrong(f"nothing here checks {words[0]}: write <!-- not run: REASON --> before the block")
    PROGRAMS[words[0]](words[1:])


def launched(words: list[str]) -> list[str]:
    """The command that `accelerate launch -m MODULE` starts, after the launch's own options, which are checked."""
    if words[:2] != ["accelerate", "launch"]:
        return words
    from accelerate.commands.launch import launch_command_parser

    try:
        given = launch_command_parser().parse_args(words[2:])
    except SystemExit:
        raise Wrong(f"accelerate refuses {words}") from None
    if not given.module:
        raise Wrong(f"{words}: start a module, by -m")
    file, program = given.config_file, given.training_script
    if file and not re.fullmatch(r"\$\(humor-tasks train configuration (fsdp|deepspeed)\)", file):
        raise Wrong(f"there is no configuration {file}")
    return [{"humor_tasks.cli": "humor-tasks"}.get(program, program), *given.training_script_args]


def inspect(words: list[str]) -> None:
    """`inspect ...`: options by Inspect's parser, tasks, scorers and parameters by this package."""
    from inspect_ai._cli.main import inspect as program
    from inspect_ai._cli.util import parse_cli_args

    from humor_tasks import _registry
    from humor_tasks.benchmarks import BENCHMARKS
    from humor_tasks.contract.options import declared
    from humor_tasks.on_inspect.tasks.building import parameters_of_task

    given = parsed(program, words)
    for name in (*given.get("tasks", ()), *filter(None, (given.get("scorer"), given.get("solver")))):
        package, _, own = name.partition("/")
        if package != "humor_tasks" or own not in _registry.__all__:
            raise Wrong(f"{name} is not registered")
    for model in models(given):
        if model.partition("/")[0] not in providers() and not re.fullmatch(r"[A-Z_]+", model):  # YOUR_MODEL
            raise Wrong(f"Inspect has no models {model}")
    for task in given.get("tasks", ()):
        name, parameters = task.partition("/")[2], parse_cli_args(given.get("t"))
        known = parameters_of_task(name)
        if unknown := set(parameters) - set(known):
            raise Wrong(f"{name} has no parameter {sorted(unknown)}")
        own = {each.name for each in declared(BENCHMARKS[name].options)}
        BENCHMARKS[name].options(**{n: v for n, v in parameters.items() if n in own})
        for n in set(parameters) - own:
            known[n].checked(parameters[n])


def models(given: dict[str, Any]) -> Iterator[str]:
    """The models that a command of Inspect names."""
    for listed in filter(None, (given.get("model"), *(role.partition("=")[2] for role in given.get("model_role", ())))):
        yield from [yaml.safe_load(listed)["model"]] if listed[0] == "{" else listed.split(",")


@cache
def providers() -> frozenset[str]:
    """The kinds of models that Inspect knows, ours among them."""
    from inspect_ai._util.registry import registry_find, registry_info

    from humor_tasks import _registry

    assert _registry.__all__
    found = (registry_info(each).name for each in registry_find(lambda info: info.type == "modelapi"))
    return frozenset(name.rpartition("/")[2] for name in found)


def lm_eval(words: list[str]) -> None:
    """`lm_eval ...`: options by lm-eval's parser, tasks and metadata by our tasks, which read no rows here."""
    from lm_eval._cli import HarnessCLI

    from humor_tasks.on_lm_eval.task import BenchmarkTask

    with patch.object(sys, "argv", ["lm_eval", *words]):
        try:
            given = HarnessCLI().parse_args()
        except SystemExit:
            raise Wrong(f"lm_eval refuses {words}") from None
    if given.model not in lm_eval_models():
        raise Wrong(f"lm-eval has no model {given.model}")

    def load(task: Any, **seed: int) -> None:
        task.benchmark.options(**task._given)
        task.run = SimpleNamespace(version="1-A", records=(), shows_media=False)

    for name in given.tasks if isinstance(given.tasks, list) else given.tasks.split(","):
        for config in configs(name):
            with patch.object(BenchmarkTask, "_load", load):
                BenchmarkTask(config | {"metadata": dict(given.metadata or {})})


@cache
def lm_eval_models() -> frozenset[str]:
    """The models of lm-eval and ours."""
    from lm_eval.models import MODEL_MAPPING

    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return frozenset(MODEL_MAPPING) | frozenset(project["entry-points"]["lm_eval.models"])


def configs(name: str) -> list[dict[str, Any]]:
    """The configurations of a task, or of the tasks of a group."""
    path = STUBS / f"{name}.yaml"
    if not path.is_file():
        raise Wrong(f"lm-eval has no task {name} of ours")
    config = yaml.load(path.read_text(encoding="utf-8"), _Stub)  # noqa: S506
    if "group" in config:
        return [each for task in config["task"] for each in configs(task)]
    if "include" in config:
        (parent,) = configs(config.pop("include").removesuffix(".yaml"))
        config = parent | config
    return [config]


class _Stub(yaml.SafeLoader):
    """Reads `!function` as text."""


_Stub.add_constructor("!function", lambda loader, node: node.value)


def humor_tasks(words: list[str]) -> None:
    """`humor-tasks ...`: options by click, benchmarks and parameters by this package."""
    from humor_tasks.benchmarks import BENCHMARKS, find_benchmark
    from humor_tasks.benchmarks.mock.describing import DESCRIBING
    from humor_tasks.cli import main
    from humor_tasks.contract.options import read_parameters
    from humor_tasks.results.reproduce.rows import find_row

    given = parsed(main, words)
    task = given.get("task")
    trained = {DESCRIBING.name} if words[:2] == ["train", "image-text"] else set()
    if task is not None and task not in BENCHMARKS and task not in trained:
        raise Wrong(f"there is no benchmark {task}")
    if words[0] == "reproduce" and given.get("row"):
        find_row(given["row"])
    pairs = [tuple(each.split("=", 1)) for each in given.get("parameters") or ()]
    if pairs and task:
        options = find_benchmark(task).options
        options(**read_parameters(options, task, pairs))


def pip(words: list[str]) -> None:
    """`pip install ".[a,b]"`: the extras exist."""
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    for word in words:
        for extra in ",".join(re.findall(r"\[(.*?)\]", word)).split(","):
            if extra and extra not in extras:
                raise Wrong(f"pyproject.toml has no extra {extra}")


def mkdocs(words: list[str]) -> None:
    """`mkdocs ...`: options by click."""
    from mkdocs.__main__ import cli

    parsed(cli, words)


def parsed(program: click.Command, words: list[str]) -> dict[str, Any]:
    """The parameters of the innermost command of a click program. Files need not exist. Raises Wrong."""

    def path(kind: click.Path, value: Any, *_: Any) -> Any:
        return kind.coerce_path_result(value)

    with patch.object(click.Path, "convert", path):
        try:
            context = program.make_context(program.name, list(words))
            while isinstance(context.command, click.Group) and (left := [*context._protected_args, *context.args]):
                name, command, rest = context.command.resolve_command(context, left)
                assert command is not None
                context = command.make_context(name, rest, parent=context)
        except click.ClickException as problem:
            raise Wrong(f"{' '.join(words)}: {problem.format_message()}") from None
    return context.params


PROGRAMS: dict[str, Callable[[list[str]], None]] = {
    "inspect": inspect,
    "lm_eval": lm_eval,
    "humor-tasks": humor_tasks,
    "pip": pip,
    "mkdocs": mkdocs,
}
