"""explanation_preference in both harnesses with scripted judges: the same questions, the same numbers, and failures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog
from inspect_ai.model import ContentImage
from inspect_ai.scorer import Score
from lm_eval.api.model import LM
from standins.grading import REFUSAL
from standins.judging import (
    Judge,
    always,
    fickle,
    judged,
    judged_log,
    judging,
    longer,
    shown,
    slow_metrics,
    verdict,
    write_texts,
)
from standins.logs import metrics
from standins.preference_runs import opened

from humor_tasks import evaluate, load
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect import reference_preference
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.tasks import explanation_preference
from humor_tasks.testing import ScriptedLM, run_lm_eval

HUMAN = {record.id: record.target or "" for record in load("explanation", dataset="sample").records}
CLUSTERS = {record.id: record.cluster for record in load("explanation", dataset="sample").records}
IDS = list(HUMAN)
# Another's human explanation, cut to many lengths; one is the human's own, one is missing.
SYSTEM = {i: HUMAN[j][: 150 + 60 * k] for k, (i, j) in enumerate(zip(IDS, [*IDS[1:], IDS[0]], strict=True))}


@pytest.fixture
def system(tmp_path: Path) -> str:
    return write_texts(tmp_path / "system.json", SYSTEM)


def preference(system: str, **more: Any) -> Task:
    return explanation_preference(system, **{"dataset": "sample"} | more)


def results(log: EvalLog) -> dict[str, Score]:
    return {str(sample.id).rsplit("-", 1)[0]: (sample.scores or {})["preference"] for sample in log.samples or []}


def verdicts(score: Score) -> list[list[dict[str, Any]]]:
    return [question["verdicts"] for question in (score.metadata or {})["judged"]]


def same(found: Mapping[str, float], expected: Mapping[str, Estimate]) -> None:
    """Exactly these estimates are reported."""
    assert {name for name in found if f"{name}_stderr" in found} == set(expected)
    for name, e in expected.items():
        parts = [found[f"{name}{end}"] for end in ("", "_stderr", "_ci_low", "_ci_high")]
        assert parts == pytest.approx([e.value, e.stderr, e.low, e.high], nan_ok=True), name


def expected_of(judge: Judge) -> dict[str, tuple[float, float]]:
    return slow_metrics([judged(judge, (SYSTEM[i], HUMAN[i]), CLUSTERS[i]) for i in IDS])


def assert_slow(log: EvalLog, judge: Judge) -> None:
    found = metrics(log)
    for name, (value, stderr) in expected_of(judge).items():
        assert (found[name], found[f"{name}_stderr"]) == pytest.approx((value, stderr), nan_ok=True), name


# ---- Inspect ------------------------------------------------------------------------------------


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
@pytest.mark.parametrize("more", [{"order": "fixed"}, {"structured": True}])
def test_inspect_scores_as_without_a_harness(system: str, more: dict[str, Any]) -> None:
    as_json = "structured" in more
    judge = judging("j", fickle, as_json)
    log = judged_log(preference(system, **more), judge)
    direct = opened(system, **more)
    replies = {r.id: verdict(fickle(r.fields["first"], r.fields["second"]), as_json) for r in direct.records}
    same(metrics(log), evaluate(direct, replies).metrics)
    if "order" not in more:
        assert_slow(log, fickle)
    assert sorted(judge.asked) == sorted([(t.role, t.text) for t in direct.prompt(r).turns] for r in direct.records)
    assert (log.eval.metadata or {})["signature"] == str(direct.signature("generate"))
    assert log.eval.task_version == direct.version
    assert {str(sample.id) for sample in log.samples or []} == {record.id for record in direct.records}


@pytest.mark.slow
def test_what_needs_no_judge_is_not_asked(tmp_path: Path) -> None:
    texts = SYSTEM | {IDS[0]: HUMAN[IDS[0]], IDS[1]: "", IDS[2]: REFUSAL}
    for on_unparsed, unread in (("wrong", 0.0), ("exclude", "N")):
        judge = judging("j", always("B"))
        task = preference(write_texts(tmp_path / "s.json", texts), on_unparsed=on_unparsed, cache=False)
        log = judged_log(task, judge)
        assert len(judge.asked) == 4
        found = metrics(log)
        assert (found["same_text"], found["empty"]) == pytest.approx((1 / 5, 2 / 5))
        scores = results(log)
        assert {scores[f"{IDS[0]}-{side}-first"].value for side in ("system", "against")} == {0.5}
        assert {scores[f"{i}-{side}-first"].value for i in IDS[1:3] for side in ("system", "against")} == {unread}
        assert verdicts(scores[f"{IDS[1]}-system-first"]) == [[]]
        assert found["win_rate"] == pytest.approx((0.5 + 0 + 0 + 0.5 + 0.5) / 5 if unread == 0 else 0.5)


# ---- failures -----------------------------------------------------------------------------------


def test_one_unread_order_takes_its_pair_out(system: str) -> None:
    """Of the first pair, the second order; of the second, both; of the third, the first."""
    lost = [(HUMAN[IDS[0]], SYSTEM[IDS[0]]), (SYSTEM[IDS[2]], HUMAN[IDS[2]])]
    lost += [(SYSTEM[IDS[1]], HUMAN[IDS[1]]), (HUMAN[IDS[1]], SYSTEM[IDS[1]])]
    judge: Judge = lambda first, second: None if (first, second) in lost else longer(first, second)  # noqa: E731
    log = judged_log(preference(system), judging("j", judge))
    found = metrics(log)
    assert (found["unread"], found["unparsed"]) == pytest.approx((3 / 5, 4 / 10))
    assert_slow(log, judge)
    assert {score.value for score in results(log).values()} == {"N", 0.0, 1.0}


@pytest.mark.inspect_ai_versions
def test_no_judge_is_told_before_there_is_a_log(system: str, tmp_path: Path) -> None:
    arguments = {"system": system, "dataset": "sample"}
    with pytest.raises(PrerequisiteError, match="--model-role"):
        eval("humor_tasks/explanation_preference", task_args=arguments, model="mockllm/m", display="log")
    assert not list(tmp_path.rglob("*.eval"))


# ---- requests -----------------------------------------------------------------------------------


@pytest.mark.inspect_ai_versions
def test_the_judge_sees_the_picture(system: str) -> None:
    judge = judging("j", longer)
    log = judged_log(preference(system, setting="pixels"), judge)
    direct = opened(system, setting="pixels")
    pictures = {}
    for record in direct.records:
        (picture,) = direct.prompt(record).pictures
        pictures[direct.prompt(record).turns[-1].text] = picture.data_uri()
    seen = {}
    for messages in judge.messages:
        assert not isinstance(messages[-1].content, str)
        image, text = messages[-1].content
        assert isinstance(image, ContentImage)
        seen[text.text] = image.image  # type: ignore[union-attr]
    assert seen == pictures
    assert len(set(seen.values())) == 5
    assert_slow(log, longer)


# ---- lm-eval ------------------------------------------------------------------------------------


def judging_lm(judge: Judge, as_json: bool = False) -> ScriptedLM:
    """Judges the two texts it is shown."""
    return ScriptedLM(lambda prompt, doc: verdict(judge(*shown(prompt)), as_json))


def lm_eval(model: LM, **metadata: Any) -> dict[str, Any]:
    return run_lm_eval(model, "explanation_preference", metadata={"dataset": "sample"} | metadata)


@pytest.mark.lm_eval_versions
@pytest.mark.slow
@pytest.mark.parametrize("more", [{"order": "random", "structured": True}, {"setting": "pixels"}])
def test_lm_eval_scores_as_without_a_harness(system: str, more: dict[str, Any]) -> None:
    as_json = "structured" in more
    direct, model = opened(system, **more), judging_lm(fickle, as_json)
    replies = {r.id: verdict(fickle(r.fields["first"], r.fields["second"]), as_json) for r in direct.records}
    expected = evaluate(direct, replies).metrics
    found = lm_eval(model, system=system, **more)
    theirs = found["results"]["explanation_preference"]
    names = {name.removesuffix(",none") for name in theirs if name.endswith(",none") and "_stderr" not in name}
    assert names == set(expected)
    for name, e in expected.items():
        both = [theirs[f"{name},none"], theirs[f"{name}_stderr,none"]]
        assert both == pytest.approx([e.value, e.stderr], nan_ok=True), name
    about = found["configs"]["explanation_preference"]["metadata"]
    assert about["signature"] == str(direct.signature("generate"))
    assert found["versions"]["explanation_preference"] == "1-A"
    assert all(("visual" in str(request.args[-1])) == ("setting" in more) for request in model.asked)


def test_a_temperature_is_a_number_and_in_lm_eval_a_flag(system: str) -> None:
    with pytest.raises(PrerequisiteError, match="temperature must be a number of at least 0 or none"):
        preference(system, temperature="abc")
    with pytest.raises(BadInput, match="--metadata temperature: use --gen_kwargs"):
        lm_eval(judging_lm(longer), system=system, temperature=0.7)


def test_reference_preference_refuses_what_has_no_reference(system: str) -> None:
    task = preference(system)
    task.scorer = [reference_preference()]
    log = judged_log(task, judging("j", longer), status="error", model="baseline/first", limit=2)
    said = "is of explanation_preference, whose replies reference_preference does not score"
    assert said in str(log.error and log.error.message)
