"""Whether two results compare: the same rows under the same protocol."""

from __future__ import annotations

from collections.abc import Sequence

from humor_tasks.data.signature import differing
from humor_tasks.results.result import Result

PROTOCOL = {
    "v": "version of the benchmark",
    "split": "split",
    "fold": "fold",
    "on_unparsed": "rule for unreadable replies",
    "subset": "subset",
    "skipped": "number of rows left out",
    "judge_shots": "number of worked examples of the judges",
}
"""Entries of a signature that must be equal -> their names in messages."""
SETTINGS = {
    "setting": "setting",
    "input": "input",
    "shots": "number of worked examples",
    "shots_order": "sampling of worked examples",
    "cot": "reasoning before the answer",
    "method": "way of getting an answer",
    "rows": "fingerprint of the rows",
    "solver": "solver",
    "describer": "describer",
    "system_message": "system message",
    "chat_template": "chat template",
    "generation": "generation settings",
    "chain_of_task": "Chain-of-Task",
    "extraction": "rule for reading an answer",
    "seed": "seed",
    "pillow": "version of Pillow",
    "humor_tasks": "release of humor-tasks",
}
"""Entries of a signature that may differ between two systems, and are told; so is any other, under its own name."""
UNTOLD = (*PROTOCOL, "bench", "data", "rev", "n", "prompts")
"""Entries that are not told: their differences are refused, or are those of `rows`, or of what changes the prompts."""
WITH_PROMPT = ("setting", "input", "shots", "cot", "method", "chain_of_task")
WITH_ROWS = ("setting", "input")
"""Entries that choose what the rows hold, such as descriptions or pictures, so that their texts differ, too."""
INPUTS = ("rows", "solver", "describer", "system_message", "chain_of_task")
"""Entries of what models were shown: runs that differ in them are compared where asked for, but never ranked."""


def refusals(a: Result, b: Result) -> list[str]:
    """Reasons why the two results do not compare, one phrase each; empty where they do.

    Rows compare by their ids and targets.
    """
    found = other_protocol(a, b)
    if a.benchmark.name != b.benchmark.name:
        return found
    found += [f"{result.system}: {note}" for result in (a, b) for note in result.notes if not result.complete]
    return found + _rows(a, b)


def other_protocol(a: Result, b: Result) -> list[str]:
    """Reasons why the two results do not compare on any rows, one phrase each; empty where they do.

    A difference in prompts is a reason where everything that changes the choice of templates is equal, because the
    prompt set then is another one.
    """
    if a.benchmark.name != b.benchmark.name:
        return [f"benchmark: {a.benchmark.name} and {b.benchmark.name}"]
    changed = differing((a.signature, b.signature))
    found = [f"{PROTOCOL[name]}: {x} and {y}" for name, (x, y) in changed.items() if name in PROTOCOL]
    if a.run.version != b.run.version and not any(reason.startswith(PROTOCOL["v"]) for reason in found):
        found.append(f"{PROTOCOL['v']}: {a.run.version} and {b.run.version}")
    if a.scorer != b.scorer and a.benchmark.judging:
        found.append(f"scorer: {a.scorer} and {b.scorer}")
    if a.benchmark.judging and a.run.graders != b.run.graders:
        found.append(f"graders: {', '.join(a.run.graders) or '-'} and {', '.join(b.run.graders) or '-'}")
    found += _judging(a, b)
    if "prompts" in changed and changed.keys().isdisjoint(WITH_PROMPT):
        found.append(f"prompt set: {a.signature['prompts']} and {b.signature['prompts']}")
    return found


def _judging(a: Result, b: Result) -> list[str]:
    """Where graders were asked in another way, the scores are of different instruments."""
    return [f"{name} of the graders: {x} and {y}" for name, (x, y) in differing((a.judging, b.judging)).items()]


def other_inputs(a: Result, b: Result) -> list[str]:
    """Differences in what the models were shown, one phrase each, for which a report does not rank two results."""
    told = settings((a, b))
    return [f"{shown}: {told[shown][0]} and {told[shown][1]}" for name in INPUTS if (shown := SETTINGS[name]) in told]


def _rows(a: Result, b: Result) -> list[str]:
    if not (a.complete and b.complete) or a.targets == b.targets:
        return []
    alone = len(a.targets.keys() ^ b.targets.keys())
    if alone:
        return [f"rows: {alone} of {len(a.targets.keys() | b.targets.keys())} are in one of the two only"]
    changed = sum(target != b.targets[identity] for identity, target in a.targets.items())
    return [f"rows: {changed} of {len(a.targets)} have another target"]


def differences(a: Result, b: Result) -> list[str]:
    """What else differs between the two results, one phrase each; it does not keep them from comparison."""
    return [f"{name}: {x} and {y}" for name, (x, y) in settings((a, b)).items()]


def settings(results: Sequence[Result]) -> dict[str, list[str]]:
    """What differs between results and is told: name in messages -> the value of each result with a signature."""
    found = differing(result.signature for result in results)
    untold = {*UNTOLD, *(["rows"] if found.keys() & set(WITH_ROWS) else [])}
    names = dict.fromkeys((*SETTINGS, *found))
    return {SETTINGS.get(name, name): found[name] for name in names if name in found and name not in untold}
