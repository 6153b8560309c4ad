"""`read_results`: files and folders of both harnesses -> results, and what is left out and why."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import Task, eval, score
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, ModelUsage
from inspect_ai.scorer import Scorer, match
from inspect_ai.solver import chain_of_thought, generate, system_message
from standins.once import made_once
from standins.sample_runs import sample_runs

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.logs.inspect_logs import from_log
from humor_tasks.logs.signature import Signature
from humor_tasks.on_inspect import (
    chain_of_task,
    describe_first,
    multiple_choice,
    multiple_choice_released_chat,
    multiple_choice_released_leaderboard,
    multiple_choice_strict,
)
from humor_tasks.on_inspect.tasks.caption_contest import matching
from humor_tasks.on_inspect.tasks.humicroedit import humicroedit_rating
from humor_tasks.on_inspect.tasks.humorbench import humorbench
from humor_tasks.on_inspect.tasks.mock import mock_matching
from humor_tasks.results import LeftOut, Result, differences, read_results, refusals
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval, scripted_judge

OPENED = load("matching", dataset="sample")


def inspect_log(folder: Path, letter: str, task: Task | None = None, model: str = "m", **more: Any) -> Path:
    usage = ModelUsage(input_tokens=10, output_tokens=2, total_tokens=12)
    by = ScriptedModel(model, f"Answer: {letter}", usage).model
    (log,) = eval(task or matching(dataset="sample"), model=by, log_dir=str(folder), display="log", **more)
    return Path(log.location)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """a.eval and b.eval of two models, short.eval with a limit, and lm-eval's files in lm/."""
    by_lm_eval = sample_runs(tmp_path_factory) / "lm"

    def make(folder: Path) -> None:
        for name, letter, more in (("a", "A", {}), ("b", "B", {}), ("short", "A", {"limit": 4})):
            inspect_log(folder / "made", letter, model=name, **more).rename(folder / f"{name}.eval")
        shutil.copytree(by_lm_eval, folder / "lm")

    return made_once(tmp_path_factory, "runs to read", make)


def test_results_of_both_harnesses_have_the_figures_that_the_harness_printed(logs: Path) -> None:
    found = read_results([logs])
    by_name = {(r.run.harness, r.system): r for r in found.results}
    assert set(by_name) == {
        *(("inspect", f"mockllm/{name}") for name in ("a", "b", "short")),
        ("lm_eval", "humor-baseline strategy=longest"),
    }
    for name in ("a", "b", "short"):
        log = read_eval_log(str(logs / f"{name}.eval"))
        assert log.results is not None
        printed = {n: m.value for n, m in log.results.scores[0].metrics.items()}
        result = by_name["inspect", f"mockllm/{name}"]
        for metric, estimate in result.estimates.items():
            assert printed[metric] == estimate.value
            assert printed[f"{metric}_ci_low"] == pytest.approx(estimate.low, abs=0, nan_ok=True)
    (results,) = (logs / "lm").rglob("results_*.json")
    printed = json.loads(results.read_text())["results"]["nyc_matching"]
    estimates = by_name["lm_eval", "humor-baseline strategy=longest"].estimates
    assert printed["acc,none"] == estimates["accuracy"].value
    assert printed["acc_stderr,none"] == estimates["accuracy"].stderr


def test_samples_read_for_their_scores_alone_have_the_same_scores(logs: Path) -> None:
    for result in read_results([logs]).results:
        alone = [(s.id, s.epoch, s.cluster, s.scores, s.error) for s in result.run.scored()]
        assert alone == [(s.id, s.epoch, s.cluster, s.scores, s.error) for s in result.run]
        assert {s.id: s.outcome for s in result.run} == {o.id: o for o in result.outcomes}
    assert {s.reply for s in read_results([logs / "a.eval"]).results[0].run.scored()} == {None}


def test_results_have_the_facts_of_outcomes(tmp_path: Path) -> None:
    (log,) = eval(humicroedit_rating(dataset="sample"), model=ScriptedModel("m", "1.5").model, log_dir=str(tmp_path))
    (result,) = read_results([tmp_path]).results
    assert {s.id: s.outcome for s in from_log(log)} == {o.id: o for o in result.outcomes}
    assert all(o.facts["grades"] for o in result.outcomes)


def test_an_unfinished_run_is_noted_and_does_not_compare(logs: Path) -> None:
    short, whole = (read_results([logs / f"{name}.eval"]).results[0] for name in ("short", "a"))
    assert (short.complete, short.notes) == (False, ("incomplete: 4 of 10 items.",))
    assert refusals(short, whole) == ["mockllm/short: incomplete: 4 of 10 items."]


@pytest.mark.parametrize(
    ("scorer", "rule"),
    [
        (multiple_choice(extraction="released_leaderboard"), {"extraction": "released_leaderboard"}),
        (multiple_choice(on_unparsed="exclude"), {"on_unparsed": "exclude"}),
        (multiple_choice_released_chat(), {"extraction": "released_chat"}),
        (multiple_choice_released_leaderboard(), {"extraction": "released_leaderboard"}),
        (multiple_choice_strict(), {}),
        (multiple_choice(extraction="strict"), {}),
    ],
)
@pytest.mark.parametrize("action", ["append", "overwrite"])
def test_a_log_that_was_scored_again_says_by_which_rule(
    logs: Path, tmp_path: Path, scorer: Scorer, rule: dict[str, str], action: Any
) -> None:
    """Its signature is that of the run before; two rules would compare without a word."""
    again = score(read_eval_log(str(logs / "a.eval")), scorer, action=action, display="log")
    write_eval_log(again, str(tmp_path / "again.eval"))
    result = read_results([tmp_path / "again.eval"]).results[-1]
    other = read_results([logs / "b.eval"]).results[0]
    told = [*refusals(result, other), *differences(result, other)]
    names = {"extraction": "rule for reading an answer: ", "on_unparsed": "rule for unreadable replies: "}
    assert [each.split(" and ")[0] for each in told] == [f"{names[name]}{value}" for name, value in rule.items()]
    for name, value in rule.items():
        assert (result.signature[name], getattr(result.opened.options, name)) == (value, value)


def signature_of(path: Path) -> dict[str, str]:
    """The entries of a run's signature."""
    return dict(read_results([path]).results[0].signature)


def test_an_inspect_log_tells_what_solvers_and_settings_changed(logs: Path, tmp_path: Path) -> None:
    """Through the evaluation; the plain run's signature is that of its task."""
    plain = read_eval_log(str(logs / "a.eval"), header_only=True).eval.metadata
    assert plain is not None
    assert read_results([logs / "a.eval"]).results[0].run.signature == Signature.parse(plain["signature"])
    before = signature_of(logs / "a.eval")
    message = [system_message("Be funny."), generate()]
    described = {"model_roles": {"describer": ScriptedModel("seer", "A bear.").model}}
    runs: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
        "same": ({"solver": generate()}, {}),
        "cached": ({"solver": generate(cache=False)}, {}),
        "again": ({"solver": [generate(), generate()]}, {"solver": "generate"}),
        "thinks": ({"solver": [chain_of_thought(), generate()]}, {"solver": "chain_of_thought-"}),
        "told": ({"solver": message}, {"solver": "system_message-"}),
        "flags": ({"system_message": "x", "temperature": 0.5}, {"system_message": "", "generation": "temp"}),
        "worked": ({"solver": chain_of_task(dataset="sample")}, {"solver": "chain_of_task-"}),
    }
    for name, (more, wanted) in runs.items():
        found = signature_of(inspect_log(tmp_path / name, "A", limit=2, **more))
        new = {entry: value for entry, value in found.items() if before.get(entry) != value}
        assert new.keys() == wanted.keys(), name
        assert all(new[entry].startswith(value) for entry, value in wanted.items()), name
    pixels = signature_of(inspect_log(tmp_path / "p", "A", matching(dataset="sample", setting="pixels"), limit=2))
    words = describe_first(cache=False)
    shown = matching(dataset="sample", setting="pixels")
    path = inspect_log(tmp_path / "d", "A", shown, solver=words, limit=2, **described)
    found = signature_of(path)
    new = {entry: value for entry, value in found.items() if pixels.get(entry) != value}
    assert new == {"setting": "described", "describer": new["describer"]}
    assert new["describer"].startswith("mockllm/seer-")
    assert score(read_eval_log(str(path)), multiple_choice()).status == "success"  # as `inspect score`
    log = read_eval_log(str(logs / "a.eval"))
    log.plan.steps[-1].solver = "humor_tasks/expected_answer"  # of another task: it reads probabilities of digits
    assert from_log(log).signature["solver"] == "expected_answer"
    solvers = {text: [system_message(text), generate()] for text in ("one", "two")}
    paths = [inspect_log(tmp_path / text, "A", limit=2, solver=solver) for text, solver in solvers.items()]
    assert len({signature_of(path)["solver"] for path in paths}) == 2


CHAT = {"generation": "max_tokens=4096,temperature=0.0"}  # the limit of a chat model's reply


@pytest.mark.parametrize(
    ("flags", "wanted"),
    [
        ({}, {}),
        ({"system_instruction": "Be funny."}, {"system_message": "104b805d"}),
        (
            {"apply_chat_template": True, "num_fewshot": 2, "fewshot_as_multiturn": False},
            {"chat_template": "applied"} | CHAT,
        ),
        ({"apply_chat_template": True, "fewshot_as_multiturn": True}, {"chat_template": "multiturn"} | CHAT),
        ({"apply_chat_template": "tools"}, {"chat_template": "multiturn-tools"} | CHAT),
        ({"gen_kwargs": "temperature=0.7"}, {"generation": "temperature=0.7"}),
    ],
)
def test_samples_of_lm_eval_tell_what_its_flags_changed(
    flags: dict[str, Any], wanted: dict[str, str], tmp_path: Path
) -> None:
    run_lm_eval(ScriptedLM("Answer: A"), "nyc_matching_gen", metadata={"dataset": "sample"}, output=tmp_path, **flags)
    (path,) = tmp_path.rglob("samples_*.jsonl")
    for results in tmp_path.rglob("results_*.json"):
        results.unlink()  # the samples suffice
    found = signature_of(path)
    plain = OPENED.with_options(shots=flags.get("num_fewshot", 0)).signature("generate")
    expected = {**plain, "generation": "temperature=0.0"}
    new = {name: value for name, value in found.items() if expected.get(name) != value}
    assert new.keys() == wanted.keys()
    assert all(new[name].startswith(value) for name, value in wanted.items())


def test_chain_of_task_has_one_signature_by_parameter_and_by_solver(tmp_path: Path) -> None:
    given = {"dataset": "sample", "scene": "all", "input": "description"}
    by_parameter = inspect_log(tmp_path / "p", "A", mock_matching(**given, chain_of_task=True))
    by_solver = inspect_log(tmp_path / "s", "A", mock_matching(**given), solver=chain_of_task())
    (a,), (b,) = (read_results([path]).results for path in (by_parameter, by_solver))
    assert a.run.signature == b.run.signature
    assert refusals(a, b) == differences(a, b) == []
    other = inspect_log(tmp_path / "o", "A", mock_matching(**given), solver=chain_of_task(seed=3), limit=2)
    twice = [chain_of_task(), generate()]
    again = inspect_log(tmp_path / "g", "A", mock_matching(**given), solver=twice, limit=2)
    (c,), (d,) = (read_results([path]).results for path in (other, again))
    assert differences(a, d) == ["solver: - and generate"]  # two replies
    assert any(each.startswith("solver: - and chain_of_task-") for each in differences(a, c))


def test_what_graders_were_asked_with_is_read_from_their_scores(tmp_path: Path) -> None:
    def coverage(name: str, config: GenerateConfig | None = None, **more: Any) -> Result:
        judge = scripted_judge("judge", lambda shown: True).model
        judge.config = config or GenerateConfig()
        built = humorbench(dataset="sample", cache=False, **more)
        path = inspect_log(tmp_path / name, "A", built, model_roles={"grader": judge}, limit=2)
        return next(each for each in read_results([path]).results if each.scorer == "element_coverage")

    a = coverage("a")
    assert a.judging["verdict"] == "tags"
    for name, found in {
        "temperature of the graders: 0.0 and 1.0": coverage("b", temperature=1.0),
        "verdict of the graders: tags and json": coverage("c", structured=True),
        "top_p of the graders: - and 0.5": coverage("d", GenerateConfig(top_p=0.5)),
    }.items():
        assert name in refusals(a, found)
    assert not [each for each in refusals(a, coverage("e")) if "graders" in each]


def test_what_is_no_result_is_left_out_with_the_reason(logs: Path, tmp_path: Path) -> None:
    foreign = Task(dataset=[Sample(input="1+1", target="2")], solver=generate(), scorer=match(), name="sums")
    shutil.copy(inspect_log(tmp_path / "made", "2", foreign), tmp_path / "foreign.eval")
    shutil.copy(logs / "a.eval", tmp_path / "again.eval")
    (tmp_path / "cut.eval").write_bytes((logs / "b.eval").read_bytes()[:500])
    (tmp_path / "empty.eval").touch()
    (tmp_path / "logs.json").write_text('{"a.eval": {"version": 2, "status": "success", "eval": {}}}')  # of eval-set
    shutil.rmtree(tmp_path / "made")
    found = read_results([logs / "a.eval", tmp_path])
    assert [result.system for result in found.results] == ["mockllm/a"]
    assert {each.path.name: each.why for each in found.left_out} == {
        "again.eval": f"is the same run as {logs / 'a.eval'}.",
        "cut.eval": "cannot be read as an Inspect log (it is truncated or damaged, or no .eval).",
        "empty.eval": "is empty; it holds no log.",
        "foreign.eval": "is of a task of another package; give logs of this package's tasks.",
    }


def test_the_scored_copy_of_a_run_counts_before_the_one_without_scores(tmp_path: Path) -> None:
    bare = inspect_log(tmp_path / "made", "A", score=False)
    shutil.move(bare, tmp_path / "a.eval")
    log = score(read_eval_log(str(tmp_path / "a.eval")), multiple_choice(), display="log")
    write_eval_log(log, str(tmp_path / "b.eval"))
    found = read_results([tmp_path])
    assert [result.paths[0].name for result in found.results] == ["b.eval"]
    assert found.left_out == (LeftOut(tmp_path / "a.eval", f"is the same run as {tmp_path / 'b.eval'}."),)


def changed_log(log: Path, to: Path, change: Callable[[Any], None]) -> Path:
    """A copy of a log as .json, with its first sample changed."""
    held = json.loads(read_eval_log(str(log)).model_dump_json())
    change(held["samples"][0])
    to.write_text(json.dumps({"version": held.pop("version"), **held}), encoding="utf-8")
    return to


def test_a_run_with_samples_that_have_no_score_is_incomplete(logs: Path, tmp_path: Path) -> None:
    path = changed_log(logs / "a.eval", tmp_path / "a.json", lambda sample: sample.update(scores=None))
    (result,) = read_results([path]).results
    assert (result.complete, result.notes) == (False, ("incomplete: 1 samples have no score.",))


def test_a_score_with_other_fields_than_ours_is_named(logs: Path, tmp_path: Path) -> None:
    def change(sample: Any) -> None:
        sample["scores"]["multiple_choice"]["metadata"]["values"] = "none"

    path = changed_log(logs / "a.eval", tmp_path / "a.json", change)
    (left,) = read_results([logs / "b.eval", path]).left_out
    told = (
        r"sample \w+: multiple_choice is no score of humor-tasks \(ValueError\(.*\)\)\. It was edited, or written by .*"
    )
    assert re.fullmatch(told, left.why)


@pytest.mark.parametrize("value", [float("nan"), "1", None, [1]])
def test_a_score_that_is_no_number_is_named_and_its_run_left_out(logs: Path, tmp_path: Path, value: Any) -> None:
    def change(sample: Any) -> None:
        sample["scores"]["multiple_choice"]["metadata"]["values"]["accuracy"] = value

    path = changed_log(logs / "a.eval", tmp_path / "a.json", change)
    (left,) = read_results([logs / "b.eval", path]).left_out
    assert left.why.endswith(f": its accuracy is {value!r}; a score is a finite number.")


@pytest.mark.parametrize("name", ["a.json", "a.eval"])
def test_a_file_without_permission_is_left_out(
    logs: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    denied = tmp_path / name
    denied.write_text("{}")

    def refuse(path: Any, *more: Any, **named: Any) -> Any:
        if Path(path) == denied:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *more, **named)

    opened = Path.open
    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr("humor_tasks.logs.inspect_logs.read_eval_log", refuse)
    (left,) = read_results([logs / "lm", tmp_path]).left_out
    assert left.why.startswith("cannot be read as an Inspect log ([Errno 13] Permission denied")


def test_the_reason_names_the_line_and_not_the_file_again(logs: Path, tmp_path: Path) -> None:
    (tmp_path / "samples_x.jsonl").write_text("nothing")
    (left,) = read_results([logs / "a.eval", tmp_path]).left_out
    assert left.why.startswith("line 1: not JSON that can be read")


def test_equal_samples_of_two_models_are_two_runs(logs: Path, tmp_path: Path) -> None:
    """Two models that always give the same answer; a copy without its results is that of either."""
    (results,) = (logs / "lm").rglob("results_*.json")
    (samples,) = (logs / "lm").rglob("samples_*.jsonl")
    shutil.copy(samples, tmp_path)
    told = json.loads(results.read_text())
    told["config"]["model_args"] = {"strategy": "another"}
    (tmp_path / results.name).write_text(json.dumps(told))
    shutil.copy(samples, tmp_path / "samples_copy.jsonl")
    found = read_results([logs / "lm", tmp_path])
    assert [r.system for r in found.results] == [f"humor-baseline strategy={s}" for s in ("longest", "another")]
    assert [each.path.name for each in found.left_out] == ["samples_copy.jsonl"]


def test_results_of_lm_eval_without_samples_are_named_with_the_remedy(logs: Path, tmp_path: Path) -> None:
    (results,) = (logs / "lm").rglob("results_*.json")
    copy = shutil.copy(results, tmp_path)
    (tmp_path / "results_of_something.json").write_text("{}")
    told = (LeftOut(Path(copy), "holds lm-eval's results without samples; run lm-eval with --log_samples."),)
    for given in (tmp_path, Path(copy)):
        assert read_results([logs / "a.eval", given]).left_out == told


def test_a_file_of_predictions_is_the_result_of_the_benchmark_that_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps({record.id: "A" for record in OPENED.records}))
    (result,) = read_results([path], OPENED).results
    assert (result.system, result.scorer, len(result.outcomes)) == ("mine", "predictions", 10)
    assert result.estimates["accuracy"].value == sum(r.target == "A" for r in OPENED.records) / 10


def test_models_of_one_name_are_told_apart_by_their_arguments(tmp_path: Path) -> None:
    for i, arguments in enumerate(({"temp": 1, "api_key": "s3cret"}, {"temp": 2, "api_key": "other"})):
        log = json.loads(read_eval_log(str(inspect_log(tmp_path / "made", "A"))).model_dump_json())
        log["eval"] |= {"model_args": arguments}
        (tmp_path / f"{i}.json").write_text(json.dumps({"version": log.pop("version"), **log}))
    shutil.rmtree(tmp_path / "made")
    found = read_results([tmp_path])
    assert [result.system for result in found.results] == ["mockllm/m (temp=1)", "mockllm/m (temp=2)"]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [("none.eval", None, "there is no such file or folder"), ("cut.eval", b"PK\x03\x04", "there is no run to read")],
)
def test_no_result_at_all_is_an_error(tmp_path: Path, name: str, content: bytes | None, says: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BadInput, match=says):
        read_results([tmp_path / name])
