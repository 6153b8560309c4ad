"""Logs of humor-tasks 0.1. Only this module infers what they do not record, from the names of their fields.

An Inspect sample had its groups at the top level of its metadata, and its options next to the benchmark's name. A
document of lm-eval had its groups at the top level, and recorded neither benchmark nor outcome. Neither named its
benchmark's version, which was 1-A for all, with its variant.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from humor_tasks.data.logs.record import About, Scored
from humor_tasks.data.records import Outcome
from humor_tasks.scorers.answer import read_answer
from humor_tasks.scorers.rating import expected_rating, read_rating

GROUPS = (
    *("fold", "scene", "winner_source", "explainer", "grades", "difference", "pairs"),
    *("pair_id", "first", "orders", "settled", "lengths"),
)
# Document field -> the one benchmark that has it; the rarer fields first.
MARKS = {
    "points": "humorbench",
    "settled": "explanation_preference",
    "explainer": "humorbench_autograder",
    "pairs": "humicroedit_pairwise",
    "difference": "humicroedit_pairwise",
    "grades": "humicroedit_rating",
}
GRADED = ("grader_failed", "undecided", "asked_points")
LETTERS = "ABCDEFGHIJ"
DIGITS = ("0", "1", "2", "3")


def is_old(metadata: Mapping[str, Any]) -> bool:
    """Whether an Inspect sample was logged by version 0.1."""
    told = metadata.get("humor_tasks")
    return isinstance(told, Mapping) and not isinstance(told.get("options"), Mapping)


def about(metadata: Mapping[str, Any]) -> About:
    """The task metadata of an Inspect sample."""
    told = dict(metadata["humor_tasks"])
    return About(told.pop("benchmark", None), _version(told), None, told, groups(metadata))


def about_document(doc: Mapping[str, Any]) -> About:
    """The task metadata of a document of lm-eval."""
    options = dict(doc.get("scoring") or {"extraction": doc.get("extraction", "strict")})
    benchmark = _benchmark(doc)
    if benchmark == "humicroedit_pairwise":
        options["via"] = "ratings" if "pairs" in doc else "direct"
    return About(benchmark, _version(options), None, options, groups(doc))


def _version(options: Mapping[str, Any]) -> str:
    if options.get("one_explanation_per") == "caption":
        return "1-A-caption"
    return "1-A-ratings" if options.get("via") == "ratings" else "1-A"


def groups(told: Mapping[str, Any]) -> dict[str, str]:
    """The record's groups, selected from all its metadata."""
    return {name: str(value) for name, value in told.items() if name in GROUPS}


def _benchmark(doc: Mapping[str, Any]) -> str:
    marked = next((name for mark, name in MARKS.items() if mark in doc), "")
    if marked:
        return marked
    choices = tuple(doc["choices"])
    if "scene" in doc:
        return "mock_detecting" if choices == ("yes", "no") else "mock_matching" if choices else "mock_explaining"
    return {5: "matching", 2: "ranking"}.get(len(choices), "explanation")


def outcome(doc: Mapping[str, Any], replies: Sequence[Any]) -> Outcome | None:
    """The outcome of a document's replies, read by the rule that the scored run names, as this release has it.

    `strict` reads more replies now than in 0.1 (version 2-A of its benchmarks). It has no values. None for a free-text
    answer, which only its benchmark can read.
    """
    told = about_document(doc)
    if "grades" in doc:
        answer, status = _rating(replies)
    elif doc["choices"]:
        answer, status = _letter(replies, LETTERS[: len(doc["choices"])], str(told.options.get("extraction", "strict")))
    else:
        return None
    cluster = str(doc.get("cluster", doc["id"]))
    return Outcome(str(doc["id"]), cluster, told.groups, status, answer, doc.get("target"), {})


def joined(scores: Sequence[Scored]) -> tuple[Scored, ...]:
    """The scores of a sample; explanation_form had the rates of missing verdicts, which belong to element_coverage."""
    outcomes = {score.scorer.rsplit("/", 1)[-1]: score.outcome for score in scores}
    covered, form = outcomes.get("element_coverage"), outcomes.get("explanation_form")
    if covered is None or form is None:
        return tuple(scores)
    moved = {name: value for name, value in form.values.items() if name in GRADED}
    kept = {name: value for name, value in form.values.items() if name not in GRADED}
    now = {id(covered): {**covered.values, **moved}, id(form): kept}
    return tuple(
        replace(score, outcome=replace(score.outcome, values=now.get(id(score.outcome), score.outcome.values)))
        if score.outcome
        else score
        for score in scores
    )


def values(found: Mapping[str, float], groups: Mapping[str, str]) -> dict[str, float]:
    """The values of a score; for compared ratings, adds the number of pairs per rating, not logged by 0.1."""
    if "pairs" not in groups:
        return dict(found)
    return {**found, "pairs": float(len(json.loads(groups["pairs"])) if "accuracy" in found else 0)}


def _rating(replies: Sequence[Any]) -> tuple[str | None, str]:
    if isinstance(replies[0], str):
        read = read_rating(replies[0])
        return (None if read.value is None else repr(read.value)), read.status
    likelihoods = [float(reply[0]) for reply in replies]
    known = not any(map(math.isnan, likelihoods))
    value = expected_rating(dict(zip(DIGITS, likelihoods, strict=True)), DIGITS).value if known else None
    return (None, "unparsed") if value is None else (repr(value), "answered")


def _letter(replies: Sequence[Any], letters: str, extraction: str) -> tuple[str | None, str]:
    if isinstance(replies[0], str):
        read = read_answer(replies[0], letters, extraction)
        return read.letter, read.status
    likelihoods = [float(reply[0]) for reply in replies]
    if any(map(math.isnan, likelihoods)) or max(likelihoods) == -math.inf:
        return None, "unparsed"
    return letters[likelihoods.index(max(likelihoods))], "answered"
