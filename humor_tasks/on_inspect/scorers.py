"""Scorers that need no grader."""

from __future__ import annotations

from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import TaskState

from humor_tasks.benchmarks.caption_contest import brainstorm
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.judging.missing import warn_when_tasks_end
from humor_tasks.on_inspect.outcomes import benchmark_metrics, read_reply, run_of, run_scored_by, score_of
from humor_tasks.scorers.fields import read_fields


@scorer(metrics=[benchmark_metrics()])
def multiple_choice(extraction: str | None = None, on_unparsed: str | None = None) -> Scorer:
    """Compares the letter in the reply with the target.

    Args:
        extraction: Rule for reading the letter in a reply; by default that of the task, otherwise `strict`.
        on_unparsed: What an unreadable reply counts as; by default as in the task, otherwise `wrong`.
    """
    return _choice(extraction, on_unparsed)


@scorer(metrics=[benchmark_metrics()])
def multiple_choice_strict(on_unparsed: str | None = None) -> Scorer:
    """`multiple_choice` with `extraction=strict`, under a name of its own in a log that is scored again.

    Args:
        on_unparsed: As in `multiple_choice`.
    """
    return _choice("strict", on_unparsed)


@scorer(metrics=[benchmark_metrics()])
def multiple_choice_released_chat(on_unparsed: str | None = None) -> Scorer:
    """`multiple_choice` with `extraction=released_chat`, under a name of its own in a log that is scored again.

    Args:
        on_unparsed: As in `multiple_choice`.
    """
    return _choice("released_chat", on_unparsed)


@scorer(metrics=[benchmark_metrics()])
def multiple_choice_released_leaderboard(on_unparsed: str | None = None) -> Scorer:
    """`multiple_choice` with `extraction=released_leaderboard`, under a name of its own in a log that is scored again.

    Args:
        on_unparsed: As in `multiple_choice`.
    """
    return _choice("released_leaderboard", on_unparsed)


def _choice(extraction: str | None, on_unparsed: str | None) -> Scorer:
    try:
        run_of({}, "matching", extraction=extraction, on_unparsed=on_unparsed)
    except BadInput as problem:
        cannot_run(f"multiple_choice: {problem}")

    async def score(state: TaskState, target: Target) -> Score:
        run_scored_by("multiple_choice", state, "matching")
        run = run_of(state.metadata, "matching", len(state.choices), extraction=extraction, on_unparsed=on_unparsed)
        outcome = read_reply(run, state, target)
        correct = outcome.values.get("accuracy")
        return score_of(outcome, "N" if correct is None else "C" if correct else "I")

    return score


@scorer(metrics=[benchmark_metrics("explanation")])
def reference_overlap() -> Scorer:
    """ROUGE-L of the reply's explanation with the reference; corpus BLEU-4 as a metric."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_scored_by("reference_overlap", state, "explanation"), state, target)
        return score_of(outcome, outcome.values.get("rouge_l", "N"))

    return score


@scorer(metrics=[benchmark_metrics("humorbench_autograder")])
def judge_agreement() -> Scorer:
    """Compares a judge's PASS or FAIL, parsed strictly, with a person's in the target.

    An unreadable verdict, and any verdict in a truncated reply, is scored N. It is excluded from the denominator of the
    metrics and counted as unparsed.
    """
    warn_when_tasks_end()

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_scored_by("judge_agreement", state, "humorbench_autograder"), state, target)
        agrees = outcome.values.get("accuracy")
        return score_of(outcome, "N" if agrees is None else "C" if agrees else "I")

    return score


@scorer(metrics=[benchmark_metrics("humicroedit_rating")])
def rating_error() -> Scorer:
    """The rating in the reply as the score's value; the metrics are those of the benchmark."""

    async def score(state: TaskState, target: Target) -> Score:
        outcome = read_reply(run_scored_by("rating_error", state, "humicroedit_rating"), state, target)
        return score_of(outcome, "N" if outcome.answer is None else float(outcome.answer))

    return score


@scorer(metrics=[benchmark_metrics("brainstorm")])
def brainstormed() -> Scorer:
    """Whether every line of a brainstorm can be parsed; the caption is the answer, the metadata has all lines."""

    async def score(state: TaskState, target: Target) -> Score:
        run = run_scored_by("brainstormed", state, "brainstorm")
        outcome = read_reply(run, state, target)
        texts = read_fields(state.output.completion, brainstorm.labels_of(run)).texts if outcome.answer else {}
        return score_of(outcome, outcome.values["parsed"], texts.get("Explanation"), fields=dict(texts))

    return score
