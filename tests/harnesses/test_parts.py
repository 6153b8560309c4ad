"""Runs in parts: `shard=k/n` in every benchmark and harness, and parts read as one run, equal to the last digit."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai import eval
from inspect_ai.log import read_eval_log
from standins.graded_logs import report_of
from standins.judging import fickle, write_texts

from humor_tasks import evaluate, load
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.errors import BadInput
from humor_tasks.results import read_results
from humor_tasks.rows.records import Record, Shard, read_shard
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval, scripted_judge

COUNT = 3
SHARDS = tuple(f"{k}/{COUNT}" for k in range(1, COUNT + 1))
HALVES = ("1/2", "2/2")
HUMAN = {record.id: record.target or "" for record in load("explanation", dataset="sample", fold="all").records}
MORE: Mapping[str, Mapping[str, Any]] = {
    "matching": {"shots": 2},
    "ranking": {"fold": "all"},
    "explanation_preference": {"fold": "all"},
    "humicroedit_rating": {"shots": 1},
    "humicroedit_pairwise": {"via": "ratings"},
    "mock_generation": {"images": 0},
    "mock_matching": {"chain_of_task": True},
}
"""What else than the sample each benchmark is opened with."""


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Texts by another system than people: theirs, cut to many lengths."""
    texts = {i: text[: 100 + 37 * k] for k, (i, text) in enumerate(HUMAN.items())}
    return write_texts(tmp_path_factory.mktemp("system") / "system.json", texts)


def given_to(name: str, system: str) -> dict[str, Any]:
    more = {"system": system} if name == "explanation_preference" else {}
    return {"dataset": "sample", **MORE.get(name, {}), **more}


# ---- which clusters a part has -------------------------------------------------------------------


@settings(max_examples=30)
@given(st.lists(st.text(max_size=4)), st.integers(1, 9))
def test_parts_are_disjoint_and_together_all_clusters_whatever_their_order(ids: list[str], total: int) -> None:
    parts = [Shard(k, total).clusters(ids) for k in range(1, total + 1)]
    assert sorted(itertools.chain(*parts)) == sorted(set(ids))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert parts == [Shard(k, total).clusters(reversed(ids)) for k in range(1, total + 1)]


def test_the_division_is_the_same_on_every_machine() -> None:
    assert Shard(1, 3).clusters(map(str, range(9))) == {"0", "2", "8"}
    assert Shard(1, 1).clusters(["a", "\ud800"]) == {"a", "\ud800"}


@pytest.mark.parametrize(
    "text", ["", "1", "0/4", "5/4", "1/0", "1/4/2", "-1/4", "1 / 4", "1.0/4", "a/b", "1/1000000000"]
)
def test_what_is_no_part_is_said(text: str) -> None:
    with pytest.raises(
        BadInput, match=r"^shard=.*: it must be k/n with whole numbers and k from 1 to n, such as 1/4\.$"
    ):
        load("matching", dataset="sample", shard=text)
    assert read_shard("3/10") == Shard(3, 10)


def test_more_parts_than_clusters_leave_whole_parts_empty_and_the_others_are_the_run() -> None:
    whole = load("matching", dataset="sample")
    clusters = len({record.cluster for record in whole.records})
    parts = [load("matching", dataset="sample", shard=f"{k}/{clusters + 2}").records for k in range(1, clusters + 1)]
    assert sorted(r.id for part in parts for r in part) == sorted(r.id for r in whole.records)
    expected = f"has {clusters} clusters .* so shard={clusters + 1}/{clusters + 2} is empty. Parts 1 to {clusters} of"
    with pytest.raises(BadInput, match=expected):
        load("matching", dataset="sample", shard=f"{clusters + 1}/{clusters + 2}")


# ---- every benchmark, both harnesses -------------------------------------------------------------


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_parts_of_a_benchmark_are_the_whole(name: str, system: str) -> None:
    whole = load(name, **given_to(name, system))
    parts = [load(name, **given_to(name, system), shard=shard) for shard in SHARDS]
    assert all(part.records for part in parts)
    found = {record.id: (record, part) for part in parts for record in part.records}
    assert sum(len(part.records) for part in parts) == len(found) == len(whole.records)
    for i, record in enumerate(whole.records):
        same, part = found[record.id]
        assert same == record
        assert part.prompt(same) == whole.prompt(record)
        assert part.data.positions[record.id] == i
    clusters = [{record.cluster for record in part.records} for part in parts]
    assert not any(a & b for a, b in itertools.combinations(clusters, 2))
    for part, shard in zip(parts, SHARDS, strict=True):
        assert part.signature("generate") == whole.signature("generate")
        assert part.data.provenance == {**whole.data.provenance, "shard": shard}
        assert not set(part.data.positions) & part.data.dropped
    # The two orders of a pair, and with via=ratings both headlines of a pair, are of one part.
    pairs = [{pair for record in part.records for pair in pairs_of(record)} for part in parts]
    assert not any(a & b for a, b in itertools.combinations(pairs, 2))
    if name in ("explanation_preference", "humicroedit_pairwise"):
        assert all(pairs)


def pairs_of(record: Record) -> list[str]:
    if "pair_id" in record.groups:
        return [record.groups["pair_id"]]
    return [pair["id"] for pair in record.facts.get("pairs", ())]


# ---- the same numbers ----------------------------------------------------------------------------


def some(text: str) -> int:
    """A number from 0 to 9, always the same for a text."""
    return sum(map(ord, text)) % 10


def reply(messages: list[Any]) -> str:
    """A reply of each kind for each benchmark: letters, ratings, texts, and what cannot be read."""
    known = messages[-1].metadata or {}
    mark, fields = some(str(known.get("id"))), known["fields"]
    if mark == 9:
        return "Hard to say."
    if known["choices"]:
        return f"Answer: {'ABCDE'[mark % len(known['choices'])]}"
    texts = list(fields.values())
    return f"Rating: {mark / 3:.2f}" if "edited" in fields else f"<explanation>{texts[mark % len(texts)]}</explanation>"


def verdict(shown: Mapping[str, str]) -> bool | str | None:
    """A verdict of each kind, some missing."""
    mark = some("".join(shown.values()))
    if "explanation_a" in shown:
        return fickle(shown["explanation_a"], shown["explanation_b"])
    return None if mark == 9 else mark > 4


def logged(folder: Path, name: str, how: Mapping[str, Any], **more: Any) -> Path:
    """An Inspect log of a task, in its own folder."""
    judges = {"grader": scripted_judge("judge", verdict).model} if BENCHMARKS[name].judging else {}
    task = f"humor_tasks/{name}"
    model = ScriptedModel("m", reply).model
    (log,) = eval(task, task_args=dict(how), model=model, model_roles=judges, log_dir=str(folder), **more)
    assert log.status == "success", log.error and log.error.message
    return Path(log.location)


def numbers(result: Any) -> dict[str, tuple[str, ...]]:
    """Every field of every estimate, to the last digit."""
    return {name: tuple(map(repr, dataclasses.astuple(e))) for name, e in result.estimates.items()}


# Epochs, a log of JSON, judges with subsets, two orders.
INSPECT_RUNS = (
    ("matching", {"shots": 1}, {"epochs": 2, "log_format": "json"}),
    ("humorbench", {"cache": False}, {}),
    ("explanation_preference", {"fold": "all"}, {}),
)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "how", "more"), INSPECT_RUNS, ids=[name for name, *_ in INSPECT_RUNS])
def test_parts_in_inspect_are_one_run_to_the_last_digit(
    name: str, how: dict[str, Any], more: dict[str, Any], system: str, tmp_path: Path
) -> None:
    how = {"dataset": "sample", **({"system": system} if name == "explanation_preference" else {}), **how}
    whole = logged(tmp_path / "whole", name, how, **more)
    for shard in HALVES:
        logged(tmp_path / "parts", name, how | {"shard": shard}, **more)
    single, parts = read_results([whole]), read_results([tmp_path / "parts"])
    printed = {score.name: score.metrics for score in (read_eval_log(str(whole)).results or single).scores}
    assert [r.scorer for r in parts.results] == [r.scorer for r in single.results] == list(printed)
    for one, joined_ in zip(single.results, parts.results, strict=True):
        assert numbers(joined_) == numbers(one)
        assert (joined_.outcomes, joined_.epochs) == (one.outcomes, one.epochs)
        assert (len(joined_.paths), joined_.notes, joined_.complete) == (2, (), True)
        assert [s.id for s in joined_.run] == [s.id for s in one.run]
        shown = {n: repr(float(m.value)) for n, m in printed[one.scorer].items()}
        for metric, e in joined_.estimates.items():  # the parts of rates that are zero are not printed
            assert shown.get(metric, "0.0") == repr(e.value)
            assert shown.get(f"{metric}_stderr", "0.0") == repr(e.stderr)
    if name == "humorbench":
        reports_are_the_same(tmp_path)


def reports_are_the_same(folder: Path) -> None:
    """The report of folder/parts is that of folder/whole, with tokens, cost and subsets, but for the files' names."""
    whole, parts = (
        [{name: value for name, value in row.items() if name != "files"} for row in report_of(folder / each).rows]
        for each in ("whole", "parts")
    )
    assert {"", "wordplay"} <= {row["part"] for row in whole}
    assert parts == whole


# Worked examples, likelihoods of a group of folds, pairs from ratings.
LM_EVAL_RUNS = (
    ("nyc_matching_gen", {}, {"num_fewshot": 1}),
    ("nyc_ranking_crossval", {}, {}),
    ("humicroedit_pairwise_gen", {"via": "ratings"}, {}),
)


def text_reply(prompt: str, doc: Mapping[str, Any]) -> str:
    mark = some(doc["id"])
    if doc["choices"]:
        return "Hard to say." if mark == 9 else f"Answer: {'ABCDE'[mark % len(doc['choices'])]}"
    return f"Rating: {mark / 3:.2f}" if "edited" in doc["fields"] else doc["context"][: 20 * mark]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "how", "more"), LM_EVAL_RUNS, ids=[name for name, *_ in LM_EVAL_RUNS])
def test_parts_in_lm_eval_are_one_run_to_the_last_digit(
    name: str, how: dict[str, Any], more: dict[str, Any], tmp_path: Path
) -> None:
    how = {"dataset": "sample", **how}

    def run(folder: Path, **shard: str) -> Mapping[str, Any]:
        model = ScriptedLM(text_reply, lambda prompt, label: -float(some(prompt[-90:] + label)))
        found = run_lm_eval(model, name, metadata=how | shard, output=folder, **more)
        return found["results"][name]

    printed = run(tmp_path / "whole")
    for shard in HALVES:
        run(tmp_path / "parts" / shard.replace("/", "_"), shard=shard)
    (one,), (parts,) = (read_results([tmp_path / each]).results for each in ("whole", "parts"))
    assert numbers(parts) == numbers(one)
    assert parts.outcomes == one.outcomes
    assert (len(parts.paths), parts.notes, parts.complete) == (2, (), True)
    primary = one.primary
    assert primary is not None
    found = parts.estimates[primary.name]
    assert printed[f"{primary.name_in_lm_eval},none"] == found.value
    assert repr(printed[f"{primary.name_in_lm_eval}_stderr,none"]) == repr(found.stderr)


# ---- what is no whole run ------------------------------------------------------------------------


def test_parts_with_other_epochs_are_told_to_be_no_whole_run(tmp_path: Path) -> None:
    for shard, epochs in (("1/2", 2), ("2/2", 1)):
        logged(tmp_path, "matching", {"dataset": "sample", "shard": shard}, epochs=epochs)
    (found,) = read_results([tmp_path]).results
    (note,) = found.notes
    assert not found.complete
    assert note.startswith("incomplete: the parts have different numbers of epochs: 1/2 with 2, 2/2 with 1.")


@pytest.mark.slow
def test_results_of_parts_that_lack_one_or_have_one_twice(tmp_path: Path) -> None:
    for shard in ("1/3", "3/3"):
        logged(tmp_path, "matching", {"dataset": "sample", "shard": shard})
    (short,) = read_results([tmp_path]).results
    whole = len(load("matching", dataset="sample").records)
    held = len(short.outcomes)
    assert short.notes == (f"incomplete: the parts hold {held} of {whole} instances; 1 missing part: 2/3.",)
    assert not short.complete
    once = logged(tmp_path, "matching", {"dataset": "sample", "shard": "2/3"})
    again = logged(tmp_path, "matching", {"dataset": "sample", "shard": "2/3"})
    other = logged(tmp_path, "matching", {"dataset": "sample", "shard": "1/2"})
    found = read_results([tmp_path])
    alone, joined = sorted(found.results, key=lambda result: len(result.paths))  # logs of one second have any order
    assert [(len(result.paths), result.complete) for result in (alone, joined)] == [(1, False), (3, True)]
    assert alone.paths == (other,)
    (left,) = found.left_out
    (kept,) = {once, again} - {left.path}
    assert kept in joined.paths
    assert left.why == f"holds the same part 2/3 of the run as {kept}."


def test_predictions_of_a_part_are_scored_and_their_signature_names_it() -> None:
    part = load("matching", dataset="sample", shard="2/4")
    everything = {record.id: "Answer: A" for record in load("matching", dataset="sample").records}
    report = evaluate(part, everything)  # a file for all rows will do
    assert len(report.outcomes) == len(part.records)
    assert str(report.signature).endswith("|shard:2/4")
    with pytest.raises(BadInput, match="missing id"):
        evaluate(part, {})
