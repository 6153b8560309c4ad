"""Several generations of lm-eval, and versions of both harnesses that nobody has tried; .ci/matrix runs the rest."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from standins import commands
from standins.paths import REPOSITORY

import humor_tasks.on_inspect.private as inspect_names
from humor_tasks import tasks
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.contract.definition import Benchmark, Run
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval import harness
from humor_tasks.on_lm_eval.task import BenchmarkTask

pytestmark = [pytest.mark.inspect_ai_versions, pytest.mark.lm_eval_versions]

DECLARED = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["dependencies"]


# ---- the installed version, and one that does not fit ------------------------------------------------------------


def test_supported_versions_are_those_that_are_declared() -> None:
    assert f"lm-eval{harness.SUPPORTED}" in DECLARED
    assert f"inspect-ai{inspect_names.SUPPORTED}" in DECLARED


def test_the_installed_lm_eval_fits() -> None:
    assert harness.problem() == ""


def reply_of_another_shape(name: str, steps: Any) -> Any:
    class Ensemble:
        def apply(self, instances: list[Any]) -> None:
            for instance in instances:
                instance.filtered_resps["none"] = iter(instance.resps)

    return Ensemble()


class OtherTask:
    def construct_requests(self, doc: Any, ctx: Any, turns: Any) -> None: ...


CHANGES = {
    "a request that needs more": ("Instance", dataclasses.make_dataclass("Instance", ["request_type", "turns"])),
    "a request without pictures": ("pictures_of", lambda asked: []),
    "a filter that keeps other things": ("build_filter_ensemble", reply_of_another_shape),
    "a parameter": ("Task", OtherTask),
}


@pytest.fixture
def unchecked() -> Iterator[None]:
    harness.check_supported.cache_clear()
    yield
    harness.check_supported.cache_clear()


@pytest.mark.parametrize("change", CHANGES)
def test_an_lm_eval_that_does_not_fit_is_refused_in_one_sentence(
    change: str, monkeypatch: pytest.MonkeyPatch, unchecked: None
) -> None:
    name, value = CHANGES[change]
    monkeypatch.setattr(harness, name, value)
    with pytest.raises(BadInput) as refusal:
        BenchmarkTask({"task": "t", "benchmark": "matching", "output_type": "multiple_choice", "metadata": {}})
    said = str(refusal.value)
    assert said.startswith("lm-eval ")
    assert f"pip install 'lm-eval{harness.SUPPORTED}'" in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("ours", "theirs", "package"),
    [
        (harness, "lm_eval.filters", f"lm-eval{harness.SUPPORTED}"),
        (inspect_names, "inspect_ai._util.config", f"inspect-ai{inspect_names.SUPPORTED}"),
    ],
)
def test_a_name_that_has_moved_is_told_in_one_sentence(
    ours: ModuleType, theirs: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, theirs, ModuleType(theirs))
    spec = importlib.util.spec_from_file_location("again", str(ours.__file__))
    assert spec
    assert spec.loader
    with pytest.raises(BadInput, match=r"cannot import name '\w+'.*; install a supported one: pip install"):
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


# ---- requests ----------------------------------------------------------------------------------------------------


def test_a_request_keeps_its_place_and_its_pictures() -> None:
    shown = {"visual": ["one", "two"]}
    made = harness.request("generate_until", {"id": "d"}, ("text", {}), 3, harness.Where("task", 5), shown)
    assert (made.task_name, made.doc_id, made.repeats, made.idx) == ("task", 5, 1, 3)
    assert harness.pictures_of(made) == ["one", "two"]
    # lm-eval's own models, also those of 0.5.0.dev1, take pictures from here and would answer without them otherwise.
    assert made.args[2] == shown
    assert harness.pictures_of(harness.request("loglikelihood", {}, ("text", " A"), 0, harness.Where("task", 5))) == []


@pytest.mark.parametrize("given", [{"metadata": ("task", 5, 2)}, {"doc_id": 5, "metadata": None}, {"doc_id": 5}])
def test_the_place_is_what_any_generation_tells(given: dict[str, Any]) -> None:
    assert harness.Where.from_kwargs("task", given)[:2] == ("task", 5)


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        (["dataset=sample", "contests=9010,9012-9013"], "a text with commas needs JSON"),
        (["dataset=sample,prompts=a,b"], "a text with commas needs JSON"),
        (['{"dataset": "sample"}', "fold=1"], "one JSON object or only pairs; fold=1 would be ignored"),
        (["{dataset: sample}"], "Invalid JSON"),
    ],
)
def test_metadata_that_lm_eval_would_lose_is_refused(
    metadata: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        commands.run_lm_eval(["--tasks", "crowd_groups", "--model", "dummy", "--metadata", *metadata])
    assert re.search(f"error: argument --metadata.*{said}", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("task", "text"),
    [
        ("crowd_groups", "contests=9010,9012-9013"),
        ("humicroedit_rating", "scale=0 = flat, 1 = faint, 2 = loud"),
        ("humicroedit_rating", "prompts=a folder, with a comma"),
    ],
)
def test_texts_with_commas_arrive_whole_in_both_harnesses(
    task: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai._util.config import parse_cli_args

    packaged = REPOSITORY / "humor_tasks" / "benchmarks" / "humicroedit" / "prompts" / "humicroedit" / "rating.txt"
    (tmp_path / "a folder, with a comma").mkdir()
    (tmp_path / "a folder, with a comma" / "rating.txt").write_text(packaged.read_text())
    monkeypatch.chdir(tmp_path)
    name, _, value = text.partition("=")
    in_inspect = getattr(tasks, task)(dataset="sample", **parse_cli_args([text]))
    stub = {"task": "t", "benchmark": task, "output_type": "generate_until"}
    in_lm_eval = BenchmarkTask(stub | {"metadata": {"dataset": "sample", name: value}})
    assert getattr(in_lm_eval.run.options, name) == value
    assert in_inspect.metadata["signature"] == str(in_lm_eval.run.signature("generate"))
    assert [sample.id for sample in in_inspect.dataset] == [doc["id"] for doc in in_lm_eval.test_docs()]


# ---- seeds -------------------------------------------------------------------------------------------------------


def parameters(name: str, texts: Path) -> dict[str, Any]:
    given: dict[str, Any] = {"dataset": "sample"}
    if name == "explanation_preference":
        records = BENCHMARKS["explanation"].open(dataset="sample").records
        (texts / "system.json").write_text(json.dumps({record.id: "It is a pun." for record in records}))
        given |= {"system": str(texts / "system.json"), "order": "random"}
    return given


@pytest.mark.parametrize("name", BENCHMARKS)
def test_rows_depend_on_the_seed_only_where_a_benchmark_says_so(name: str, tmp_path: Path) -> None:
    given, opened = parameters(name, tmp_path), BENCHMARKS[name].open
    if name == "mock_generation":
        given |= {"images": 1}
    first = opened(**given)
    assert first.options.rows_by_seed == (name in ("explanation_preference", "mock_generation", "crowd_pairs"))
    found = {tuple(record.id for record in opened(**given, seed=seed).records) for seed in range(1, 4)}
    assert (len(found) > 1) == first.options.rows_by_seed


@pytest.mark.parametrize(("name", "again"), [("matching", 0), ("humicroedit_rating", 0), ("explanation_preference", 1)])
def test_another_seed_opens_only_those_rows_again_that_depend_on_it(
    name: str, again: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = parameters(name, tmp_path)
    task = BenchmarkTask({"task": "t", "benchmark": name, "output_type": "generate_until", "metadata": given})
    opened, open_it = [], Benchmark.open

    def counted(benchmark: Benchmark, **how: Any) -> Run:
        opened.append(how)
        return open_it(benchmark, **how)

    monkeypatch.setattr(Benchmark, "open", counted)
    task.set_fewshot_seed(7)
    task.set_fewshot_seed(7)
    assert len(opened) == again
    fresh = open_it(BENCHMARKS[name], **given, seed=7)
    assert task.run.options == fresh.options
    assert task.run.records == fresh.records
    assert [doc["id"] for doc in task.test_docs()] == [record.id for record in fresh.records]
