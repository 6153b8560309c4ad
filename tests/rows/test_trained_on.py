"""Nothing trained on the rows that it answers for: who is refused, who is told, and where both happen."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from inspect_ai import eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import get_model
from standins.paths import REPOSITORY
from standins.tiny_clip_folder import saved
from standins.tiny_ofa import tiny_ofa
from standins.tiny_text import tiny_folder

from humor_tasks import load
from humor_tasks.api import clip_predict
from humor_tasks.benchmarks import find_benchmark
from humor_tasks.cli import main
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import describe_first
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.providers.clip import ClipLM
from humor_tasks.on_lm_eval.providers.ofa import OfaLM
from humor_tasks.on_lm_eval.providers.text import TextLM
from humor_tasks.rows import trained_on
from humor_tasks.rows.trained_on import RECORD, check_unseen, training, trainings, write
from humor_tasks.testing import ScriptedLM, run_lm_eval

REFUSED = r"was trained on \d units?: newyorker-90.*memorised.*Use fold=0 of sample, whose test split it has not seen"
TASKS = str(REPOSITORY / "humor_tasks" / "on_lm_eval" / "tasks")


def seen(folder: str | Path, fold: str = "0") -> str:
    """The folder, with the record of a training on a fold of the sample."""
    units = {
        split: load("matching", dataset="sample", fold=fold, split=split).units for split in ("train", "validation")
    }
    source = load("matching", dataset="sample", fold=fold, split="train").data.provenance
    write(Path(folder), training("matching", source, fold, units))
    return str(folder)


@pytest.fixture(scope="module")
def ofa(tmp_path_factory: pytest.TempPathFactory) -> str:
    run = load("matching", dataset="sample")
    texts = [turn.text for turn in run.prompt(run.records[0]).turns]
    return seen(tiny_ofa(tmp_path_factory.mktemp("ofa") / "m", texts, max_position_embeddings=1024))


@pytest.mark.parametrize(
    ("split", "units", "refused"),
    [
        ("test", {"a-1"}, True),
        ("test", {"a-2", "a-9"}, True),  # weights are chosen by validation
        ("test", {"a-9"}, False),
        ("validation", {"a-2"}, False),
        ("dev", {"a-1"}, True),
        ("train", {"a-1"}, False),
    ],
)
def test_who_is_refused(split: str, units: set[str], refused: bool, tmp_path: Path) -> None:
    base, later = tmp_path / "base", tmp_path / "later"
    write(base, training("matching", {"dataset": "d"}, "3", {"train": ["a-1"], "validation": ["a-2"]}))
    write(later, training("matching", {"dataset": "e"}, "", {"train": ["b-1"]}), str(base))  # began from it
    (later / "model.safetensors").touch()
    for place in (base, later, later / "model.safetensors"):
        if refused:
            with pytest.raises(BadInput, match="Use fold=3 of d"):
                check_unseen("m", [place], split, units, tells=True)
        else:
            check_unseen("m", [place], split, units, tells=True)
    assert [each["dataset"] for each in trainings(later) or ()] == ["d", "e"]


def test_a_hosted_model_is_no_folder_that_the_command_runs_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, training("matching", {"dataset": "d"}, "3", {"train": ["a-1"]}))
    monkeypatch.chdir(tmp_path)
    assert trainings(".") is not None
    assert trainings("gpt-4o") is None


@pytest.mark.parametrize("text", ["{}", "[]", '{"format": 9, "trainings": []}', '{"format": 1, "trainings": [1]}', "{"])
def test_a_damaged_record_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / RECORD).write_text(text)
    with pytest.raises(BadInput, match=RECORD):
        check_unseen("m", [tmp_path], "test", set(), tells=True)


@pytest.mark.parametrize("units", [None, {}, [], {"train": []}, {"train": "a-1"}, {"train": [1]}, {"train": [{}]}])
def test_a_record_without_units_is_refused(units: object, tmp_path: Path) -> None:
    listed = [] if units is None else [{"units": units}]
    test_a_damaged_record_is_refused(json.dumps({"format": 1, "trainings": listed}), tmp_path)


def test_benchmarks_of_one_corpus_share_units() -> None:
    names = ("matching", "ranking", "explanation", "crowd_pairs", "crowd_groups", "caption_writing", "brainstorm")
    assert {find_benchmark(name).unit("712") for name in names} == {"newyorker-712"}
    assert find_benchmark("mock_matching").unit("newyorker-712") == "newyorker-712"
    assert find_benchmark("mock_matching").unit("712") == "mock-712"
    assert find_benchmark("humicroedit_rating").unit("A") == find_benchmark("humicroedit_pairwise").unit("A")


def test_inspect_refuses_before_and_while_it_asks(ofa: str) -> None:
    task: dict[str, Any] = {"dataset": "sample", "setting": "pixels", "fold": "1"}
    how: dict[str, Any] = {"display": "log"}
    with pytest.raises(PrerequisiteError, match=REFUSED):
        eval("humor_tasks/matching", task_args=task, model=f"ofa/{ofa}", model_args={"device": "cpu"}, **how)
    (log,) = eval(build("matching", task), model=get_model(f"ofa/{ofa}", device="cpu"), **how)
    assert log.status == "error"
    assert log.error
    assert "Use fold=0 of sample" in log.error.message
    (log,) = eval(
        build("matching", task),
        solver=describe_first(),
        model="baseline/overlap",
        model_roles={"describer": get_model(f"ofa/{ofa}", device="cpu")},
        **how,
    )
    assert log.error
    assert "Use fold=0 of sample" in log.error.message


@pytest.mark.parametrize("kind", ["ofa", "clip", "text"])
def test_lm_eval_refuses(kind: str, ofa: str, tmp_path: Path) -> None:
    if kind == "ofa":
        model, task = OfaLM(ofa, device="cpu"), "nyc_matching_pixels_gen"
    elif kind == "clip":
        model, task = ClipLM(seen(saved(tmp_path)), device="cpu"), "nyc_matching_pixels"
    else:
        model, task = TextLM(seen(tiny_folder(tmp_path / "t5", ["a fish"], layers=1)), device="cpu"), "nyc_matching"
    with pytest.raises(BadInput, match=REFUSED):
        run_lm_eval(model, task, metadata={"dataset": "sample", "fold": "1"}, folders=[TASKS])


def test_lm_eval_refuses_models_of_other_providers(tmp_path: Path) -> None:
    given = {"pretrained": seen(tmp_path)}  # --model hf --model_args pretrained=FOLDER
    asked = {"dataset": "sample", "fold": "1", **given}
    with pytest.raises(BadInput, match=REFUSED):
        run_lm_eval(ScriptedLM("A"), "nyc_matching_gen", metadata=asked, folders=[TASKS], model_args=given)


def test_a_humicroedit_run_records_its_headlines(tmp_path: Path) -> None:
    asked = ["train", "humicroedit", "--system", "baseline", "--dataset", "sample", "-o", str(tmp_path / "run")]
    assert CliRunner().invoke(main, asked).exit_code == 0
    (found,) = trainings(tmp_path / "run") or ()
    for split in ("train", "dev"):
        assert set(found["units"][split]) == set(load("humicroedit_rating", dataset="sample", split=split).units)
    run = load("humicroedit_rating", dataset="sample", split="test")
    check_unseen("m", [tmp_path / "run"], "test", run.units, tells=True)


def test_describe_and_clip_predict_refuse(ofa: str, tmp_path: Path) -> None:
    asked = ["describe", "--model", f"ofa/{ofa}", "-M", "device=cpu", "--dataset", "sample", "--task", "matching"]
    said = CliRunner().invoke(main, [*asked, "-o", str(tmp_path / "out")])
    assert said.exit_code
    assert "Use fold=0 of sample" in said.output
    assert not (tmp_path / "out").exists()
    with pytest.raises(BadInput, match=REFUSED):
        clip_predict("sample", clip=seen(saved(tmp_path)), fold="1")


def test_where_it_cannot_be_known_it_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    trained_on._tell.cache_clear()
    folder = saved(tmp_path)
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            clip_predict("sample", clip=folder)
    assert [record.getMessage() for record in caplog.records if RECORD in record.getMessage()] == [
        f"model {folder}: has no record of what it was trained on ({RECORD}), so it is unknown whether it saw the rows "
        "to evaluate."
    ]
    assert json.loads(json.dumps(trainings(folder))) is None
