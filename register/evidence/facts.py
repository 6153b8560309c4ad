"""The facts of a run that an evaluation report shows: its command, its samples and the invalid ones among them."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from humor_tasks.contract.judging.missing import MISSING
from humor_tasks.contract.options import LM_EVAL, parameters_of
from humor_tasks.errors import BadInput
from humor_tasks.logs.invocation import text_of
from humor_tasks.results.export import defaults, started
from humor_tasks.results.result import Result, Results

MOST_INVALID = 0.1
"""The largest share of invalid samples in a log, by the checklist of inspect_evals ("Evaluation report")."""
PATH = re.compile(r"(?:(?<![\w.:/…\\])|(?<=\w/))/(?:[\w.+@~\\-]+/)+[\w.+@~\\-]+")
SHOWN = 2  # of the names in a path
DEEP = 4  # names in a path; the last two of a shorter one may name a person
ELSEWHERE = "…/"


@dataclass(frozen=True)
class Samples:
    """The samples of a run.

    asked: the number of replies that a complete run has. scored: of those, with a score. failed: those that the run
    asked and that have none, such as for an error. invalid: scored replies that are no answer, by status (unparsed,
    refused, empty). missing: the share of graders' verdicts that are missing, if any are asked.
    """

    asked: int
    scored: int
    failed: int
    invalid: Mapping[str, int]
    missing: float | None

    @property
    def share(self) -> float:
        """The share of the samples of this run without an answer or a score."""
        held = self.scored + self.failed
        return (sum(self.invalid.values()) + self.failed) / held if held else 0.0


def samples_of(result: Result) -> Samples:
    """The samples of a run."""
    run, scored = result.run, len(result.outcomes)
    statuses = Counter(outcome.status for outcome in result.outcomes)
    statuses.pop("answered", None)
    missing = result.estimates.get(MISSING)
    asked, held = ((n or run.instances) * run.epochs for n in (run.rows, run.instances))
    return Samples(asked, scored, max(0, held - scored), dict(statuses), missing.value if missing else None)


def check_finished(results: Results) -> None:
    """Raise BadInput for a run that did not end; a run with a limit did."""
    for result in results.results:
        run = result.run
        if run.status != "success":
            remedy = f"Finish it with `inspect eval-retry {run.path}`, or remove the file."
            if len(result.paths) > 1:
                remedy = "Run the parts that are missing, or remove its files."
            raise BadInput(f"{run.path}: {' '.join(result.notes)} {remedy}")


# ---- the command ------------------------------------------------------------------------------------------


def command_of(result: Result, model: str | None = None) -> str:
    """The command that starts the run again; "" where its files do not say.

    model: written in place of the run's model.
    """
    how = result.run.invocation
    words = list(how.words)
    if not words:
        return ""
    if model is not None and "--model" in words:
        words[words.index("--model") + 1] = model
    pairs = [f"{name}={text_of(value)}" for name, value in given(result).items()]
    if result.run.harness == "lm_eval":
        words += ["--metadata", ",".join(pairs)] if pairs else []
    else:
        words += [word for pair in pairs for word in ("-T", pair)]
    return shlex.join(words)


def given(result: Result) -> dict[str, Any]:
    """The task parameters that the run was given, without the part of a run in parts.

    lm-eval records them among the metadata of its task, together with those that the task itself fixes.
    """
    known = parameters_of(result.benchmark.options).keys() | set(LM_EVAL.values())
    return {n: v for n, v in result.run.invocation.parameters.items() if n in known and n != "shard"}


def explained(results: Iterable[Result]) -> Iterator[tuple[str, str, str]]:
    """Parameter, values and what it sets, of everything that these runs were given beside the defaults."""
    values: dict[str, dict[str, None]] = {}
    results = list(results)
    for result in results:
        usual = defaults(result)
        for name, value in given(result).items():
            if usual.get(name) != value:
                values.setdefault(name, {})[text_of(value)] = None
    for name, of_name in values.items():
        known = parameters_of(results[0].benchmark.options)
        real = next((ours for ours, theirs in LM_EVAL.items() if theirs == name), name)
        yield name, ", ".join(of_name), known[real].info.text if real in known else ""


def versions_of(results: Iterable[Result]) -> dict[str, str]:
    """Package -> its version, several with commas; ours first."""
    found: dict[str, dict[str, None]] = {"humor-tasks": {}}
    for result in results:
        if release := result.signature.get("humor_tasks"):
            found["humor-tasks"][release] = None
        for name, version in result.run.invocation.versions.items():
            found.setdefault(name, {})[version] = None
    return {name: ", ".join(versions) for name, versions in found.items() if versions}


# ---- texts ------------------------------------------------------------------------------------------------


def provider_of(result: Result) -> str:
    """The provider of the model: the first part of its name in Inspect, the kind of model in lm-eval."""
    words = result.run.invocation.words
    if result.run.harness == "lm_eval":
        return words[words.index("--model") + 1] if "--model" in words else ""
    return result.run.model.partition("/")[0]


def date_of(result: Result) -> str:
    """The day of the run, as YYYY-MM-DD; "" where its files do not say."""
    return started(result)[:10]


def time_of(result: Result) -> str:
    """The time that the run took: "38 s", "12 min"."""
    seconds = result.run.invocation.seconds
    if seconds is None:
        return ""
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"


def without_places(text: str) -> str:
    """The text with absolute paths cut to their last names: a report is published, and its author's folders are not."""

    def cut(found: re.Match[str]) -> str:
        names = found[0].strip("/").split("/")
        return ELSEWHERE + "/".join(names[-SHOWN:] if len(names) >= DEEP else names[-1:])

    return PATH.sub(cut, text)
