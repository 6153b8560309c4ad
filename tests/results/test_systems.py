"""Systems of a comparison: four kinds of them, from real runs of both harnesses, and files that are none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import read_eval_log
from standins.judging import says, write_texts

from humor_tasks import load
from humor_tasks.contract.judging.pairs import System, read_system
from humor_tasks.errors import BadInput
from humor_tasks.tasks import explanation, explanation_preference
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval

RUN = load("explanation", dataset="sample")
IDS = [record.id for record in RUN.records]
REPLIES = {
    IDS[0]: "It is   a\npun.",
    IDS[1]: "Let me see.\n\nExplanation: A *pun*, “so to say” — 1 < 2.",
    IDS[2]: "<think>What is it?</think>It is no pun.",
    IDS[3]: "I'm sorry, but I can't help with that.",
    IDS[4]: "<think>What is it?",
}
TEXTS = {
    IDS[0]: "It is a pun.",
    IDS[1]: "A *pun*, “so to say” — 1 < 2.",
    IDS[2]: "It is no pun.",
    IDS[3]: "",
    IDS[4]: "",
}


def explaining(replies: Mapping[str, str] = REPLIES) -> ScriptedModel:
    """Answers by the record's id."""
    return ScriptedModel("explainer", lambda messages: replies[(messages[-1].metadata or {})["id"]])


def made_log(folder: Path, task: Task | None = None, model: ScriptedModel | None = None, **more: Any) -> Path:
    task = task or explanation(dataset="sample")
    judge = {"grader": says("j", "<judgement>A</judgement>").model}
    named = (model or explaining()).model
    (log,) = eval(task, model=named, model_roles=judge, display="log", log_dir=str(folder), **more)
    return Path(log.location)


def lm_eval_samples(folder: Path, task: str) -> Path:
    """The file that `lm_eval --output_path ... --log_samples` leaves."""
    model = ScriptedLM(lambda prompt, doc: REPLIES.get(doc["id"], "Answer: A"), lambda prompt, continuation: -1.0)
    run_lm_eval(model, task, metadata={"dataset": "sample"}, output=folder)
    return next(folder.rglob(f"samples_{task}_2*.jsonl"))


def of_records(folder: Path, **fields: str) -> Path:
    """JSON lines of {id, text} under these names."""
    path = folder / "records.jsonl"
    lines = [json.dumps({fields["id"]: i, fields["text"]: reply, "more": 1}) for i, reply in REPLIES.items()]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


KINDS: dict[str, Callable[[Path], Path]] = {
    "an Inspect log": made_log,
    "an Inspect log as JSON": lambda folder: made_log(folder, log_format="json"),
    "lm-eval's samples": lambda folder: lm_eval_samples(folder, "nyc_explanation_gen"),
    "lm-eval's samples with likelihoods": lambda folder: lm_eval_samples(folder, "nyc_explanation"),
    "texts by id": lambda folder: Path(write_texts(folder / "texts.json", REPLIES)),
    "records": lambda folder: of_records(folder, id="instance_id", text="text"),
    "records of replies": lambda folder: of_records(folder, id="id", text="reply"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_system_holds_the_same_texts(kind: str, tmp_path: Path) -> None:
    path = KINDS[kind](tmp_path)
    found = read_system(str(path), RUN)
    assert dict(found.texts) == TEXTS
    assert found.model == ("mockllm/explainer" if "Inspect" in kind else path.stem)
    assert found.fingerprint == System(TEXTS, "whoever").fingerprint
    compared = load("explanation_preference", dataset="sample", system=str(path))
    assert [r.fields["first"] for r in compared.records[::2]] == list(TEXTS.values())
    assert compared.data.provenance["system_model"] == found.model


def test_people_are_a_system_too(tmp_path: Path) -> None:
    found = read_system("human", RUN)
    assert dict(found.texts) == {record.id: record.target for record in RUN.records}
    assert found.model == "human"
    compared = load(
        "explanation_preference", dataset="sample", system="human", against=write_texts(tmp_path / "a.json", REPLIES)
    )
    assert [r.fields["first"] for r in compared.records[::2]] == list(found.texts.values())
    assert [r.fields["second"] for r in compared.records[::2]] == list(TEXTS.values())


def test_a_limited_run_gives_what_it_has(tmp_path: Path) -> None:
    path = made_log(tmp_path, limit=2)
    with pytest.warns(UserWarning, match=rf"has no text for 3 instances: {IDS[2]}, {IDS[3]}, {IDS[4]}; left out"):
        run = load("explanation_preference", dataset="sample", system=str(path))
    assert [r.groups["pair_id"] for r in run.records] == [i for i in IDS[:2] for _ in range(2)]


def test_a_refusal_flagged_by_the_provider_is_no_explanation(tmp_path: Path) -> None:
    assert set(read_system(str(made_log(tmp_path, model=says("m", "", "content_filter"))), RUN).texts.values()) == {""}


def test_a_home_folder_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_texts(tmp_path / "texts.json", REPLIES)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert dict(read_system("~/texts.json", RUN).texts) == TEXTS


def test_a_lone_surrogate_becomes_what_can_be_logged(tmp_path: Path) -> None:
    path = write_texts(tmp_path / "texts.json", REPLIES | {IDS[0]: "So \ud800.", IDS[1]: "And \udcff. 🐻"})
    texts = read_system(path, RUN).texts
    assert (texts[IDS[0]], texts[IDS[1]]) == ("So ?.", "And ?. 🐻")
    log = made_log(tmp_path, explanation_preference(system=path, dataset="sample"))
    assert read_eval_log(str(log)).status == "success"


def told_of(path: Path | str, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_system(str(path), RUN)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_files_that_are_none(tmp_path: Path) -> None:
    told_of(
        tmp_path / "no.json",
        "there is no such file; name 'human', an Inspect log, lm-eval's samples or {id: text} as JSON",
    )
    told_of("Human", "there is no such file")
    told_of(tmp_path, "is a folder")


@pytest.mark.parametrize(
    ("name", "body", "message"),
    [
        ("t.json", f'{{"{IDS[0]}": "a", "{IDS[1]}": "b", "{IDS[0]}": "c"}}', f"1 repeated id: {IDS[0]}"),
        ("t.json", '[{"id": "x", "text": "a"}, {"id": "x", "text": "a"}]', "1 repeated id: x"),
        ("t.json", '{"x": 3}', "id x: the prediction is 3; it must be text"),
        ("t.json", '{"x": null}', "id x: the prediction is None; it must be text"),
        ("t.json", '"x"', "it must be an object of instance_id: text"),
        ("t.json", "{}", "has no explanations"),
        ("t.jsonl", "", "has no explanations"),
        ("t.jsonl", '{"id": "x"}', "line 1: has no prediction or text or answer or reply"),
    ],
)  # fmt: skip
def test_texts_that_are_none(name: str, body: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(body)
    told_of(tmp_path / name, message)


def test_samples_of_another_task_are_none(tmp_path: Path) -> None:
    told_of(lm_eval_samples(tmp_path, "nyc_matching_gen"), "line 1 is not of humor_tasks/explanation.")


@pytest.mark.slow
def test_logs_that_are_none(tmp_path: Path) -> None:
    comparison = explanation_preference(system=write_texts(tmp_path / "t.json", REPLIES), dataset="sample")
    told_of(made_log(tmp_path, comparison), "is not of humor_tasks/explanation")
    told_of(made_log(tmp_path, epochs=2), "holds several epochs; keep one reply per instance (--epochs 1)")
    lost = {**REPLIES}
    lost.pop(IDS[1])
    tolerated = made_log(tmp_path, model=explaining(lost), fail_on_error=False)
    told_of(tolerated, f"sample {IDS[1]} has no reply; finish the run with inspect eval-retry")


def test_what_is_wrong_with_a_system_is_told_without_a_traceback(tmp_path: Path) -> None:
    with pytest.raises(
        PrerequisiteError, match=re.escape("humor_tasks/explanation_preference: /no/where: there is no")
    ):
        explanation_preference(system="/no/where", dataset="sample")
