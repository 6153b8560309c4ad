"""`joined`: the parts of a run are read as one run, and what is no whole run is said or refused."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from humor_tasks.errors import BadInput
from humor_tasks.logs import FinishedRun, LoggedSample, Usage
from humor_tasks.logs.parts import INCOMPLETE, joined
from humor_tasks.logs.signature import Signature


def sample_of(identity: str, place: int) -> LoggedSample:
    nothing: dict[str, Any] = {"fields": {}, "points": (), "prompt": "", "choices": (), "options": {}, "groups": {}}
    told = {"cluster": identity, "benchmark": "matching", "version": "1", "reply": "", "place": place}
    return LoggedSample(where=f"log: sample {identity}", id=identity, epoch=1, **nothing, **told)


def part_of(shard: str, ids: str, **more: Any) -> FinishedRun:
    """A part of a run of six instances, a to f."""
    samples = [sample_of(identity, "abcdef".index(identity)) for identity in ids]
    known: dict[str, Any] = {"harness": "inspect", "benchmark": "matching", "version": "1", "model": "m", "rows": 6}
    known |= {
        "signature": Signature({"bench": "matching", "n": 6, "humor_tasks": 1}),
        "source": {"rows": 6, "shard": shard},
        "role_models": {},
    }
    return FinishedRun(Path(f"{shard[0]}.eval"), instances=len(ids), samples=samples, **known | more)


def test_parts_are_one_run_with_the_usage_of_all() -> None:
    spent = {"m": Usage(10, 1, 2, 3, 0.5)}
    parts = [part_of("2/2", "bdf", models=spent), part_of("1/2", "ace", models=spent, roles={"grader": Usage(7)})]
    parts[0] = dataclasses.replace(
        parts[0], signature=Signature.parse("bench:matching|n:6|humor_tasks:2")
    )  # another release
    run = joined(parts)
    assert [sample.id for sample in run] == [sample.id for sample in run] == list("abcdef")
    assert (run.status, run.error, run.instances, run.rows) == ("success", None, 6, 6)
    assert run.source == {"rows": 6, "shards": ["1/2", "2/2"]}
    assert run.paths == (Path("1.eval"), Path("2.eval"))
    assert (run.path, run.models, run.roles) == (Path("1.eval"), {"m": Usage(20, 2, 4, 6, 1.0)}, {"grader": Usage(7)})
    unpriced = joined([part_of("1/2", "ace", models=spent), part_of("2/2", "bdf", models={"m": Usage(1)})])
    assert unpriced.models["m"] == Usage(11, 1, 2, 3, None)


def test_lm_evals_samples_are_in_the_order_of_the_rows() -> None:
    run = joined([part_of(f"{k}/2", ids, harness="lm_eval") for k, ids in ((1, "be"), (2, "acdf"))])
    assert [sample.id for sample in run] == list("abcdef")


@pytest.mark.parametrize(
    ("parts", "status", "error"),
    [
        ([part_of("1/2", "abc")], INCOMPLETE, "the parts hold 3 of 6 instances; 1 missing part: 2/2."),
        (
            [part_of("4/4", "a"), part_of("2/4", "bc")],
            INCOMPLETE,
            "the parts hold 3 of 6 instances; 2 missing parts: 1/4, 3/4.",
        ),
        (
            [part_of("1/2", "abc"), part_of("2/2", "d")],
            INCOMPLETE,
            "the parts hold 4 of 6 instances; a part is not whole.",
        ),
        ([part_of("1/2", "abc"), part_of("2/2", "d", status="cancelled", error="stopped")], "cancelled", "stopped"),
        ([part_of("1/3", "abc"), part_of("2/3", "def")], "success", None),  # the third is empty
        (
            [part_of("1/2", "abc", epochs=2), part_of("2/2", "def")],
            INCOMPLETE,
            "the parts have different numbers of epochs: 1/2 with 2, 2/2 with 1. Run them again with the same "
            "--epochs.",
        ),
    ],
)
def test_an_incomplete_set_is_said_to_be(parts: list[FinishedRun], status: str, error: str | None) -> None:
    assert (joined(parts).status, joined(parts).error) == (status, error)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (part_of("2/2", "def", source={}), r"2\.eval: is not a part of a run \(shard=k/n\); only parts are joined\."),
        (part_of("1/2", "def"), r"1\.eval and 1\.eval both hold part 1/2; keep one of them\."),
        (part_of("2/3", "def"), r"1\.eval is part 1/2 and 2\.eval is part 2/3: their rows overlap\."),
        (part_of("2/2", "def", model="n"), "are parts of different runs: model m and n"),
        (part_of("2/2", "def", arguments={"x": 1}), r"different runs: model arguments \{\} and \{'x': 1\}"),
        (
            part_of("2/2", "def", signature=Signature.parse("bench:matching|n:7")),
            "different runs: signature .*n:6 and .*n:7",
        ),
        (part_of("2/2", "def", role_models={"grader": ("g",)}), "different runs: grader models"),
        (part_of("2/2", "def", harness="lm_eval"), "different runs: harness inspect and lm_eval"),
    ],
)
def test_what_does_not_belong_together_is_refused(other: FinishedRun, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        joined([part_of("1/2", "abc"), other])


def test_an_instance_in_two_parts_is_found_when_it_is_read() -> None:
    run = joined([part_of("1/2", "abc"), part_of("2/2", "cdf")])
    with pytest.raises(BadInput, match=r"^log: sample c: log: sample c is another reply to it; parts have no instance"):
        list(run)
