"""What `--metadata` gives a task: parameters by name, apart from the model's arguments.

lm-eval gives every task `model_args | metadata` as one dictionary, and nothing in it tells the two apart. So the
arguments of lm-eval's own `simple_evaluate` and of its command are read from their frames, as is the list of all
loaded tasks: a name that this task does not know may be another task's parameter.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.options import LM_EVAL, Declared, declared
from humor_tasks.errors import BadInput

ONLY_INSPECT = {
    "replicates": "lm-eval does not repeat items; use the Inspect task with -T replicates=5.",
    "grader_prompts": "lm-eval asks no graders; give `humor-tasks grade` --grader-prompts, for its logged replies.",
    "judge_first": "lm-eval sends one request for each item, and this judge is asked twice; use the Inspect task.",
}
ADDED = {"config_source", "_metadata", "version"}  # by lm-eval, or in the YAML of a task
REVISION = LM_EVAL["revision"]
CLOSE, NEAR = 0.8, 0.7


def names(options: type[Declared]) -> set[str]:
    """The names that a benchmark's tasks accept in `--metadata`."""
    return {option.name for option in declared(options)} - set(LM_EVAL) | {REVISION}


def given(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """A task's metadata without the model's arguments.

    A name with the same value in both is the model's, unless the command line has it in `--metadata`.
    """
    call = _locals("lm_eval.evaluator", "simple_evaluate")
    if call is None:
        return dict(metadata)
    model = _arguments(call["model_args"])
    command = _locals("lm_eval._cli.run", "_execute")
    said = (vars(command["args"]).get("metadata") if command else None) or {}
    return {k: v for k, v in metadata.items() if k in said or k not in model or model[k] != v}


def parameters(
    task: str, options: type[Declared], metadata: Mapping[str, Any], fixed: Mapping[str, Any]
) -> dict[str, Any]:
    """The benchmark's parameters in `metadata`, as `given` returns it, and those that the task's YAML fixes.

    Raises BadInput for a name that lm-eval has a flag for, for one that the task fixes to another value, and for one
    that is misspelt.
    """
    for name in metadata:
        if name in ONLY_INSPECT:
            raise BadInput(f"--metadata {name}: {ONLY_INSPECT[name]}")
        if name in LM_EVAL:
            raise BadInput(f"--metadata {name}: use {LM_EVAL[name]}.")
    for name, value in fixed.items():
        if str(metadata.get(name, value)) != str(value):
            raise BadInput(f"{task} fixes {name}={value}; leave {name} out of --metadata.")
    known = names(options)
    others = set().union(*(names(benchmark.options) for benchmark in BENCHMARKS.values()))
    # Of lm-eval's own run the rest is known when all tasks are loaded; this is known before rows are read.
    cutoff = CLOSE if _locals("lm_eval.evaluator", "simple_evaluate") else 0
    _refuse((name for name in metadata if name not in others), known, cutoff)
    settled = {name: metadata[name] for name in metadata if name in known} | dict(fixed)
    return {"revision" if name == REVISION else name: value for name, value in settled.items()}


def refuse_unknown(metadata: Iterable[str], ours: type[Any]) -> None:
    """Raise BadInput for a name that no task of the command knows; called after lm-eval has loaded all tasks.

    Beside tasks of other packages, which declare no names, only for a name that is close to a parameter of ours.
    ours: the class of our tasks, whose `accepts` has the names that they know.
    """
    call = _locals("lm_eval.evaluator", "simple_evaluate")
    if call is None:
        return
    tasks = call["loaded"]["tasks"].values()
    accepted = [task.accepts for task in tasks if isinstance(task, ours)]
    run = call["task_manager"].metadata or {}  # without what only the YAML of a task holds
    _refuse(
        (name for name in metadata if name in run), set().union(*accepted), CLOSE if len(accepted) < len(tasks) else 0
    )


def _refuse(given: Iterable[str], known: Collection[str], cutoff: float = 0.0) -> None:
    """Raise BadInput for the first unknown name; with a cutoff, for the first one that is so close to a known one."""
    meant = {name: LM_EVAL.get(name, name) for name in (*known, *LM_EVAL, *LM_EVAL.values())}
    for name in map(str, given):  # a file of settings may have numbers as keys
        close = difflib.get_close_matches(name, meant, n=1, cutoff=cutoff or NEAR)
        if name in known or name in ADDED or (cutoff and not close):
            continue
        if close:
            hint = f"Did you mean '{meant[close[0]]}'?"
        elif name.isidentifier():
            hint = f"There are {', '.join(sorted(known))}."
        else:  # what follows a comma in a value
            hint = """A text with commas needs JSON: --metadata '{"name": "a,b"}'."""
        raise BadInput(f"--metadata {name.strip()}: no task of this command has a parameter of this name. {hint}")


def template_name() -> str:
    """NAME of `--apply_chat_template NAME`; "" for the model's default template, and outside lm-eval's own run."""
    call = _locals("lm_eval.evaluator", "simple_evaluate") or {}
    named = call.get("apply_chat_template")
    return named if isinstance(named, str) else ""


def _arguments(given: Any) -> Mapping[str, Any]:
    """`model_args` as a dictionary."""
    from lm_eval.utils import simple_parse_args_string

    parsed: Mapping[str, Any] = simple_parse_args_string(given) if isinstance(given, str) else given or {}
    return parsed


def _locals(module: str, function: str) -> Mapping[str, Any] | None:
    """The variables of the innermost running call of a function; None where it does not run."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if frame.f_code.co_name == function and frame.f_globals.get("__name__") == module:
            return frame.f_locals
    return None
