"""Inspect's tasks as literal source, from the definitions: one module per corpus, and the index `humor_tasks.tasks`.

Inspect, its register of evaluations and editors read a task's source. Therefore the parameters are written out, with
types, defaults and documentation. The body imports late.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping
from typing import Any, get_args, get_origin

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.card import Card
from humor_tasks.contract.definition import Benchmark
from humor_tasks.contract.options import Parameter, members
from humor_tasks.on_inspect.tasks.building import parameters_of_task

PACKAGE = "humor_tasks.on_inspect.tasks"
WIDTH = 120
WRITTEN = "Written by tools/generate.py."
ABOUT_PACKAGE = f"Inspect tasks, one module per corpus. {WRITTEN}"
ABOUT_INDEX = f"""The Inspect tasks, for use in Python code: `from humor_tasks.tasks import matching`.

On the command line they are `humor_tasks/matching` and so on. `humor-tasks parameters` prints tables of the
parameters. {WRITTEN}
"""
JUDGES = (
    "Give the grader with `--model-role grader=openai/gpt-4o`; several models form a panel.",
    " No other model is called.",
)
# The first and last parameters of a signature. The others are between them, in the order of their declaration.
FIRST = (
    *("system", "pairs", "per_contest", "against", "mode", "exam", "tau", "fit_contests"),
    *("dataset", "revision", "subset", "one_explanation_per", "split", "fold", "contests", "annotations"),
    *("scene", "images", "doubtful", "input", "frames", "sampling", "setting", "on_bad_picture"),
)
LAST = (
    *("replicates", "examples", "shots", "judge_shots", "shots_order", "shots_from", "via", "ties", "scale"),
    *("estimate", "cot"),
    *("prompts", "on_unparsed", "extraction", "structured", "grader_prompts", "judge_first"),
    *("temperature", "top_p", "frequency_penalty", "presence_penalty"),
    *("seed", "cache", "retries", "shard"),
)


def files() -> dict[str, str]:
    """Path in the repository -> source."""
    corpora: dict[str, list[Benchmark]] = {}
    for benchmark in BENCHMARKS.values():
        corpora.setdefault(corpus_of(benchmark), []).append(benchmark)
    made = {f"{PACKAGE.replace('.', '/')}/{name}.py": module(held) for name, held in corpora.items()}
    made |= {f"{PACKAGE.replace('.', '/')}/__init__.py": index(ABOUT_PACKAGE, corpora)}
    return made | {"humor_tasks/tasks.py": index(ABOUT_INDEX, corpora), "docs/python/tasks.md": reference(corpora)}


def corpus_of(benchmark: Benchmark) -> str:
    """The folder or module of `humor_tasks.benchmarks` that defines a benchmark."""
    return benchmark.options.__module__.split(".")[2]


def module(benchmarks: list[Benchmark]) -> str:
    """The module of a corpus's tasks."""
    bodies = [task(benchmark) for benchmark in benchmarks]
    lines = [
        f'"""Inspect tasks of {benchmarks[0].card.paper.citation}. {WRITTEN}"""',
        "",
        "from __future__ import annotations",
        "",
    ]
    lines += ["from typing import Literal", ""] if any("Literal[" in body for body in bodies) else []
    lines += ["from inspect_ai import Task, task", "", f"from {PACKAGE}.late import build", ""]
    return "\n".join([*lines, names_of(benchmarks), *(f"\n\n{body}" for body in bodies)]) + "\n"


def names_of(benchmarks: list[Benchmark]) -> str:
    """The assignment of `__all__`."""
    return f"__all__ = [{', '.join(json.dumps(name) for name in sorted(each.name for each in benchmarks))}]"


def index(about: str, corpora: Mapping[str, list[Benchmark]]) -> str:
    """A module that exports all tasks. about: its docstring."""
    lines = [f'"""{about}"""', ""]
    held = {name: sorted(each.name for each in corpora[name]) for name in sorted(corpora)}
    lines += [f"from {PACKAGE}.{corpus} import {', '.join(names)}" for corpus, names in held.items()]
    names = sorted(BENCHMARKS)
    return "\n".join([*lines, "", "__all__ = [", *(f"    {json.dumps(name)}," for name in names), "]"]) + "\n"


def reference(corpora: Mapping[str, list[Benchmark]]) -> str:
    """The reference page of the tasks."""
    lines = ["# humor_tasks.tasks", "", "Inspect's tasks: `from humor_tasks.tasks import matching`. Their parameters"]
    lines[-1] += " are those of the [benchmarks'\npages](../benchmarks/index.md)."
    for name in sorted(corpora):
        lines += ["", f"## `{PACKAGE}.{name}`", "", f"::: {PACKAGE}.{name}", "    options:", "      heading_level: 3"]
    return "\n".join(lines) + "\n"


def task(benchmark: Benchmark) -> str:
    """The source of one task."""
    known = ordered(parameters_of_task(benchmark.name))
    signature = [f"    {each.name}: {annotation(each)} = {literal(each.default)}," for each in known]
    return "\n".join(
        [
            *("@task", f"def {benchmark.name}(", *signature, ") -> Task:"),
            wrapped(f'"""{summary(benchmark.card)}', 4, 4),
            *(["", wrapped(told, 4, 4)] if (told := usage(benchmark)) else []),
            *("", "    Args:", *(wrapped(f"{each.name}: {each.info.text}", 8, 12) for each in known)),
            *('    """', f'    return build("{benchmark.name}", locals())'),
        ]
    )


def ordered(known: Mapping[str, Parameter]) -> list[Parameter]:
    """The parameters in the order of a signature."""
    between = [name for name in known if name not in (*FIRST, *LAST)]
    return [known[name] for name in (*FIRST, *between, *LAST) if name in known]


def annotation(each: Parameter) -> str:
    """The types that a parameter may have on a command line, as source."""
    kinds = [kind for kind in members(each.kind) if kind is not type(None)]
    kinds += [each.info.also] if each.info.also else []
    kinds += [str] if each.optional and each.base in (int, float) else []  # `none`
    return " | ".join([*map(written, kinds), *(["None"] if each.optional else [])])


def written(kind: Any) -> str:
    """A type as source."""
    if get_origin(kind) is not None:
        return f"Literal[{', '.join(json.dumps(value) for value in get_args(kind))}]"
    return "list[str]" if kind is list else str(kind.__name__)


def literal(value: Any) -> str:
    """A default as source."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def summary(card: Card) -> str:
    """The question of a benchmark, with its paper in brackets before the final punctuation mark."""
    paper = ", ".join(filter(None, [card.paper.citation, card.section]))
    return f"{card.question[:-1]} ({paper}){card.question[-1]}"


def usage(benchmark: Benchmark) -> str:
    """How to use the task, without the parameters."""
    judges = "".join(JUDGES[: 1 if benchmark.judging.judges_replies else 2]) if benchmark.judging else ""
    return " ".join(filter(None, [judges, benchmark.card.usage]))


def wrapped(text: str, first: int, others: int) -> str:
    """A text wrapped to the repository's line length."""
    return textwrap.fill(text, WIDTH, initial_indent=" " * first, subsequent_indent=" " * others)
