"""Whether two results compare (the same rows under the same protocol), what else differs, and unique names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from humor_tasks.logs.signature import differing
from humor_tasks.results.result import Result

PROTOCOL = {
    "v": "version of the benchmark",
    "split": "split",
    "fold": "fold",
    "on_unparsed": "rule for unreadable replies",
    "subset": "subset",
    "skipped": "number of rows left out",
    "judge_shots": "number of worked examples of the judges",
    "arguments": "task arguments",
    "metric": "metric",
    "scoring": "arguments of the scorer",
    "reducer": "reduction of epochs",
    "items": "fingerprint of the items",
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
    "budget": "budget (compared are the common items)",
    "pillow": "version of Pillow",
    "humor_tasks": "release of humor-tasks",
}
"""Entries of a signature that may differ between two systems, and are reported; others are under their entry's name."""
UNREPORTED = (*PROTOCOL, "bench", "data", "rev", "n", "prompts")
"""Entries that are not reported: they are refused, or another entry (`rows`, or what changes the prompts) says it."""
IGNORED = ("generation", "chat_template")
"""Entries of a signature that stand beside a result wherever results of one column differ in them."""
WITH_PROMPT = ("setting", "input", "shots", "cot", "method", "chain_of_task")
WITH_ROWS = ("setting", "input")
"""Entries that choose what the rows hold, such as descriptions or pictures; where they differ, `rows` does, too."""
INPUTS = ("rows", "solver", "describer", "system_message", "chain_of_task")
"""What models were shown: runs that differ in it are compared where a user asks for it, but never ranked."""


def refusals(a: Result, b: Result) -> list[str]:
    """Reasons why the two results do not compare, one phrase each; empty where they do.

    Rows compare by their ids and targets.
    """
    reasons = _other_protocol(a, b)
    if a.benchmark.name != b.benchmark.name:
        return reasons
    reasons += [f"{result.system}: {note}" for result in (a, b) for note in result.notes if not result.complete]
    if not (a.complete and b.complete) or a.targets == b.targets or _asked_otherwise(a, b):
        return reasons
    in_one, in_both = a.targets.keys() ^ b.targets.keys(), a.targets.keys() & b.targets.keys()
    if in_one and not _other_budget(a, b):
        return [*reasons, f"rows: {len(in_one)} of {len(in_one | in_both)} are in one of the two only"]
    if changed := sum(a.targets[identity] != b.targets[identity] for identity in in_both):
        reasons.append(f"rows: {changed} of {len(in_both)} have another target")
    return reasons


def reasons_apart(a: Result, b: Result) -> list[str]:
    """Reasons why the two results are not ranked in one table; empty where they are.

    They are apart if they do not compare, or if the models were shown different inputs. Of an unfinished run, the
    items so far are compared.
    """
    if a.complete and b.complete:
        return refusals(a, b) + _other_budget(a, b) + _other_inputs(a, b)
    reasons = _other_protocol(a, b)
    if _asked_otherwise(a, b):
        return reasons
    rows = [result.signature.get("rows") for result in (a, b)]
    if None not in rows and rows[0] != rows[1]:
        return [*reasons, f"fingerprint of the rows: {rows[0]} and {rows[1]}"]
    reasons += _other_inputs(a, b)
    few, many = sorted((a, b), key=lambda result: len(result.targets))
    if many.complete and not few.targets.items() <= many.targets.items():
        reasons.append(f"rows: {len(few.targets.items() - many.targets.items())} of {len(few.targets)} are others")
    return reasons


def _other_protocol(a: Result, b: Result) -> list[str]:
    """Reasons why the two results do not compare on any rows.

    A difference in prompts is a reason where everything that changes the choice of templates is equal, because the
    prompt set then is another one.
    """
    if a.benchmark.name != b.benchmark.name:
        return [f"benchmark: {a.benchmark.name} and {b.benchmark.name}"]
    changed = differing((a.signature, b.signature))
    reasons = _asked_otherwise(a, b)
    reasons += [f"{PROTOCOL[name]}: {x} and {y}" for name, (x, y) in changed.items() if name in PROTOCOL]
    if a.run.version != b.run.version and not any(reason.startswith(PROTOCOL["v"]) for reason in reasons):
        reasons.append(f"{PROTOCOL['v']}: {a.run.version} and {b.run.version}")
    if a.benchmark.judging and a.scorer != b.scorer:
        reasons.append(f"scorer: {a.scorer} and {b.scorer}")
    if a.benchmark.judging and a.run.graders != b.run.graders:
        reasons.append(f"graders: {', '.join(a.run.graders) or '-'} and {', '.join(b.run.graders) or '-'}")
    asked = differing((a.judging, b.judging))  # graders who were asked in another way are another instrument
    reasons += [f"{name} of the graders: {x} and {y}" for name, (x, y) in asked.items()]
    if "prompts" in changed and changed.keys().isdisjoint(WITH_PROMPT) and not _asked_otherwise(a, b):
        reasons.append(f"prompt set: {a.signature['prompts']} and {b.signature['prompts']}")
    return reasons


def _asked_otherwise(a: Result, b: Result) -> list[str]:
    """The reason that an item of one is asked under other prompt sets or in other orders; none where it is not."""
    one, other = a.opened.variations, b.opened.variations
    if one == other:
        return []
    return [
        f"askings of each item: {one.description} and {other.description} (run both with the same prompts and order)"
    ]


def _other_budget(a: Result, b: Result) -> list[str]:
    """The reason that the two are samples of other sizes of the same rows; none where they are not."""
    budgets = [result.signature.get("budget", "all items") for result in (a, b)]
    return [] if budgets[0] == budgets[1] else [f"budget: {' and '.join(budgets)}"]


def _other_inputs(a: Result, b: Result) -> list[str]:
    reported = settings((a, b))
    return [f"{SETTINGS[e]}: {' and '.join(reported[SETTINGS[e]])}" for e in INPUTS if SETTINGS[e] in reported]


def differences(a: Result, b: Result) -> list[str]:
    """What else differs between the two results, one phrase each; it does not keep them from comparison."""
    return [f"{name}: {x} and {y}" for name, (x, y) in settings((a, b)).items()]


def settings(results: Sequence[Result]) -> dict[str, list[str]]:
    """What differs between results and is reported: name in messages -> the value of each result with a signature."""
    changed = differing(result.signature for result in results)
    unreported = {*UNREPORTED, *(["rows"] if changed.keys() & set(WITH_ROWS) else [])}
    names = dict.fromkeys((*SETTINGS, *changed))
    return {SETTINGS.get(name, name): changed[name] for name in names if name in changed and name not in unreported}


def labels(results: Sequence[Result]) -> list[str]:
    """A unique name per result: its system, and where that is shared what else differs.

    That is, in this order and as far as needed: the entries of the signature that differ, the harness, the scorer, and
    the file.
    """

    def entries(result: Result) -> str:
        signatures = [other.signature for other in results if other.system == result.system]
        names = dict.fromkeys(name for signature in signatures for name in signature)
        changed = [name for name in names if len({signature.get(name) for signature in signatures}) > 1]
        return ", ".join(f"{name}={result.signature[name]}" for name in changed if name in result.signature)

    names = [result.system for result in results]
    for detail in (
        entries,
        lambda result: result.run.harness,
        lambda result: result.scorer,
        lambda result: result.paths[0].name,
        lambda result: str(result.paths[0]),
    ):
        shared = {name for name, times in Counter(names).items() if times > 1}
        details = [detail(result) if name in shared else "" for result, name in zip(results, names, strict=True)]
        several = {name for name in shared if len({d for d, n in zip(details, names, strict=True) if n == name}) > 1}
        names = [f"{n}, {d}" if d and n in several else n for n, d in zip(names, details, strict=True)]
    return names


def labels_in_column(results: Sequence[Result]) -> list[str]:
    """What tells each result apart from others of its system in one column: harness, settings, and else the file."""
    texts = []
    for result in results:
        alike = [other for other in results if other.system == result.system]
        names = dict.fromkeys((*SETTINGS, *(name for other in alike for name in other.signature)))
        entries = [
            n for n in names if n not in UNREPORTED and len({other.signature.get(n, "-") for other in alike}) > 1
        ]
        entries += [n for n in IGNORED if n not in entries and len({r.signature.get(n, "-") for r in results}) > 1]
        harness = [result.run.harness] if len({other.run.harness for other in alike}) > 1 else []
        texts.append(", ".join([*harness, *(f"{name} {result.signature.get(name, '-')}" for name in entries)]))
    repeated = Counter(zip((result.system for result in results), texts, strict=True))
    return [
        ", ".join(filter(None, (text, str(result.paths[0])))) if repeated[result.system, text] > 1 else text
        for result, text in zip(results, texts, strict=True)
    ]
