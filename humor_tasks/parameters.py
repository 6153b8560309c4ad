"""Parameters on a command line: read from it, and as the tables of `humor-tasks parameters`.

docs/parameters.md is what the command prints of all tasks; tools/generate.py writes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from humor_tasks.api import load
from humor_tasks.benchmarks import BENCHMARKS, NAMES, find_benchmark
from humor_tasks.contract.definition import Run
from humor_tasks.contract.options import LM_EVAL, Parameter, parameters_of, read_parameters
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.tasks.building import parameters_of_task

HEAD = """# Parameters

Written by `python tools/generate.py` from what the benchmarks declare. `humor-tasks parameters TASK` prints one
table. A parameter is given as `-T name=value` in Inspect and in `humor-tasks score`, by its name in Python
(`load("matching", fold=1)`), and in lm-eval as `--metadata name=value` or as the last column says. Inspect only warns
about a parameter it does not know; in lm-eval, our tasks refuse it ([In lm-eval](lm_eval.md#parameters)). lm-eval's
variants set parameters as shown in brackets; `[_gen]` stands for two tasks, of which the one with `_gen` generates a
reply and the other compares log-likelihoods.
"""


def opened(task: str, given: Sequence[str], **named: str | None) -> Run:
    """A benchmark opened with parameters from a command line: NAME=VALUE, and options, None where not given.

    Raises BadInput for a text that is no NAME=VALUE, and as `read_parameters` and `load` do.
    """
    pairs = [(name, value) for name, value in named.items() if value is not None]
    pairs += [name_and_value(text) for text in given]
    return load(task, **read_parameters(find_benchmark(task, "task").options, task, pairs))


def name_and_value(text: str) -> tuple[str, str]:
    """The parts of NAME=VALUE, a value of `-T`. Raises BadInput for another text."""
    name, equals, value = text.partition("=")
    if not equals:
        raise BadInput(f"-T {text}: write -T NAME=VALUE.")
    return name, value


def tables(task: str | None = None) -> str:
    """The table of one task, or of all tasks; identical tables are merged."""
    if task is not None:
        return _section([find_benchmark(task, "task").name])
    shared: dict[str, list[str]] = {}
    for name in BENCHMARKS:
        shared.setdefault(_table(name), []).append(name)
    return "\n".join([HEAD, *(_section(names) for names in shared.values())])


def _section(names: list[str]) -> str:
    harnesses = [f"- Inspect: {', '.join(f'`humor_tasks/{name}`' for name in names)}"] if names[0] in NAMES else []
    if stubs := [stub for name in names for stub in _stubs(name)]:
        harnesses.append(f"- lm-eval: {', '.join(stubs)}")
    harnesses.append(_sampling(names[0], bool(stubs)))
    return "\n".join([f"## {', '.join(names)}", "", *harnesses, "", _table(names[0])])


def _sampling(name: str, in_lm_eval: bool) -> str:
    """What the harnesses send a model that generates, and what was published."""
    benchmark = find_benchmark(name)
    temperature = (
        None if benchmark.judging else parameters_of(benchmark.options).get("temperature")
    )  # else that of graders
    sent = f"temperature {temperature.default}" if temperature else "no temperature, which leaves it to the provider"
    more = "; lm-eval's tasks that generate send temperature 0" if in_lm_eval else ""
    sampling = benchmark.card.sampling
    published = f" Published: {sampling}" if sampling else ""
    return f"- Sampling: Inspect sends {sent}{more}.{published}"


def _table(name: str) -> str:
    declared, in_lm_eval = parameters_of(find_benchmark(name).options), bool(_stubs(name))
    heads = ["parameter", "values", "default", "meaning", *(["lm-eval"] if in_lm_eval else [])]
    rows = [heads, ["---"] * len(heads)]
    for p in parameters_of_task(name).values():
        spelled = _spelled(p.name) if p.name in declared else "Inspect only"
        rows.append([f"`{p.name}`", p.accepted_values, _default(p), p.info.text, *([spelled] if in_lm_eval else [])])
    return "".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |\n" for row in rows)


def _spelled(name: str) -> str:
    return f"`{LM_EVAL[name]}`" if name in LM_EVAL else ""


def _default(p: Parameter) -> str:
    if p.default is None or p.default == "":
        return ""
    return f"`{str(p.default).lower() if p.base is bool else p.default}`"


def _stubs(name: str) -> list[str]:
    """lm-eval's tasks of a benchmark, with what each fixes."""
    benchmark = find_benchmark(name)
    fixed_by: dict[str, str] = {}
    for variant in sorted(benchmark.lm_eval, key=lambda variant: variant.name):
        given = {**variant.fixed, **variant.metadata}
        fixed = [f"{stub}={given[stub]}" for stub in parameters_of(benchmark.options) if stub in given]
        fixed_by[variant.name] = f" ({', '.join(fixed)})" if fixed else ""
    both = {stub: fixed_by[f"{stub}_gen"] == fixed for stub, fixed in fixed_by.items() if f"{stub}_gen" in fixed_by}
    merged = {f"{stub}[_gen]" if both.get(stub) else stub: fixed for stub, fixed in fixed_by.items()}
    return [f"`{stub}`{fixed}" for stub, fixed in merged.items() if not both.get(stub.removesuffix("_gen"))]
