"""The registry of benchmarks: those of this package and those of other installed packages.

In Inspect, a task has the name of its benchmark. In lm-eval the names are the same, except that those of the caption
contest are `nyc_matching`, `nyc_ranking`, `nyc_explanation` and `nyc_recitation`. `brainstorm` exists only in Inspect.

A package adds a benchmark with an entry point of the benchmark's name:

    [project.entry-points."humor_tasks.benchmarks"]
    puns = "pun_bench:PUNS"

This module exports every name that such a package needs.
"""

from functools import cache
from importlib.metadata import entry_points
from typing import Literal

from humor_tasks.benchmarks.bbeh import BBEH_NYCC
from humor_tasks.benchmarks.caption_contest.brainstorm import BRAINSTORM
from humor_tasks.benchmarks.caption_contest.explanation import EXPLANATION
from humor_tasks.benchmarks.caption_contest.matching import MATCHING
from humor_tasks.benchmarks.caption_contest.ranking import RANKING
from humor_tasks.benchmarks.caption_contest.recitation import RECITATION
from humor_tasks.benchmarks.crowd.groups import CROWD_GROUPS
from humor_tasks.benchmarks.crowd.pairs import CROWD_PAIRS
from humor_tasks.benchmarks.crowd.writing import CAPTION_WRITING
from humor_tasks.benchmarks.humicroedit.pairwise import PAIRWISE
from humor_tasks.benchmarks.humicroedit.rating import RATING
from humor_tasks.benchmarks.humorbench.coverage import HUMORBENCH
from humor_tasks.benchmarks.humorbench.exam import AUTOGRADER
from humor_tasks.benchmarks.mock.detecting import MOCK_DETECTING
from humor_tasks.benchmarks.mock.explaining import MOCK_EXPLAINING
from humor_tasks.benchmarks.mock.generation import MOCK_GENERATION
from humor_tasks.benchmarks.mock.matching import MOCK_MATCHING
from humor_tasks.benchmarks.preference import EXPLANATION_PREFERENCE
from humor_tasks.benchmarks.requests.writing import HUMOR_WRITING
from humor_tasks.contract import choice
from humor_tasks.contract.answers import Answer, AnswerForm, Choice, FreeText, Rating, YesNo
from humor_tasks.contract.card import VOTES, Card, Level, Source, System, Votes
from humor_tasks.contract.definition import Benchmark, Data, Options, Run
from humor_tasks.contract.judging.missing import Verdicts
from humor_tasks.contract.judging.points import COVERAGE, UNDECIDED, by_points
from humor_tasks.contract.judging.questions import ByAnswer, ByRubric, Judging, Panel, Question, Reply
from humor_tasks.contract.judging.rubrics import Judgement, Rubric, rubric_templates
from humor_tasks.contract.metric import ACCURACY, FALLBACK, REPLY_RATES, Metric
from humor_tasks.contract.options import absent, parameter
from humor_tasks.contract.prompts import Template, fill, filled_turns, split_turns
from humor_tasks.contract.shots import by_cluster, draw
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.papers.papers import Paper
from humor_tasks.rows import open_rows, provenance_of
from humor_tasks.rows.records import Outcome, Point, Prompt, Record, Turn

__all__ = [
    "ACCURACY",
    "BENCHMARKS",
    "COVERAGE",
    "FALLBACK",
    "NAMES",
    "REPLY_RATES",
    "UNDECIDED",
    "Answer",
    "AnswerForm",
    "BadInput",
    "Benchmark",
    "ByAnswer",
    "ByRubric",
    "Card",
    "Choice",
    "Data",
    "FreeText",
    "Judgement",
    "Judging",
    "Level",
    "Metric",
    "Options",
    "Outcome",
    "Panel",
    "Paper",
    "Point",
    "Prompt",
    "Question",
    "Rating",
    "Record",
    "Reply",
    "Rubric",
    "Run",
    "Source",
    "Template",
    "Turn",
    "Verdicts",
    "YesNo",
    "absent",
    "by_cluster",
    "by_points",
    "choice",
    "draw",
    "fill",
    "filled_turns",
    "find_benchmark",
    "open_rows",
    "parameter",
    "provenance_of",
    "rubric_templates",
    "split_turns",
]

_ALL: tuple[Benchmark, ...] = (
    *(MATCHING, RANKING, EXPLANATION, EXPLANATION_PREFERENCE, BRAINSTORM, RECITATION),
    *(CROWD_PAIRS, CROWD_GROUPS, CAPTION_WRITING),
    *(HUMORBENCH, AUTOGRADER),
    *(RATING, PAIRWISE),
    BBEH_NYCC,
    HUMOR_WRITING,
    *(MOCK_DETECTING, MOCK_MATCHING, MOCK_EXPLAINING, MOCK_GENERATION),
)

BENCHMARKS: dict[str, Benchmark] = {b.name: b for b in _ALL}
"""Benchmark name -> definition, for the benchmarks of this package."""

NAMES = tuple(BENCHMARKS)
GROUP = "humor_tasks.benchmarks"


def related(name: str) -> tuple[str, ...]:
    """The benchmarks that a benchmark's card names, and those whose cards name it."""
    naming = (other for other, benchmark in BENCHMARKS.items() if name in benchmark.card.related)
    return tuple(dict.fromkeys((*BENCHMARKS[name].card.related, *naming)))


def trained(system: System) -> tuple[str, ...]:
    """The benchmarks whose rows can train this system."""
    return tuple(name for name, benchmark in BENCHMARKS.items() if system in benchmark.uses.trains)


def voted() -> dict[str, Votes]:
    """What people are asked of the benchmarks whose items they can vote on, preferences first."""
    return {
        name: votes
        for votes in VOTES.values()
        for name, benchmark in BENCHMARKS.items()
        if benchmark.uses.votes == votes
    }


def writers(what: Literal["caption", "captions"]) -> tuple[str, ...]:
    """The benchmarks whose replies hold a caption, or a list of captions."""
    return tuple(name for name, benchmark in BENCHMARKS.items() if benchmark.uses.writes == what)


@cache
def find_benchmark(name: str, what: str = "benchmark") -> Benchmark:
    """The benchmark of this name, from this package or from an entry point of an installed package.

    A package is imported only when its benchmark is requested. Raises BadInput for an unknown name, for a name that two
    packages declare, and for an entry point that is not a Benchmark of that name. `what` names the parameter in
    messages.
    """
    if name in BENCHMARKS:
        return BENCHMARKS[name]
    declared = entry_points(group=GROUP)
    check_choice(what, name, dict.fromkeys((*BENCHMARKS, *declared.names)))
    values = sorted({entry.value for entry in declared.select(name=name)})
    if len(values) > 1:
        raise BadInput(f"{what} {name}: several packages declare it: {', '.join(values)}. Uninstall all but one.")
    benchmark = next(iter(declared.select(name=name))).load()
    if not isinstance(benchmark, Benchmark) or benchmark.name != name:
        raise BadInput(
            f"{what} {name}: its entry point {values[0]} in the group {GROUP} must be a Benchmark of that name, not "
            f"{benchmark!r:.80}."
        )
    return benchmark
