"""No flag of either harness that stores or reuses answers gives one model, dataset or setting those of another.

The rows are those of docs/reuse.md.
"""

from __future__ import annotations

import asyncio
import json
import re
from contextvars import copy_context
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from inspect_ai import Task, eval, eval_retry, eval_set, score
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalError, EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import GenerateConfig, get_model
from inspect_ai.solver import generate
from standins import commands
from standins.corpus import matching_row, write_card, write_lines
from standins.paths import REPOSITORY

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.logs.reading import read_run
from humor_tasks.on_inspect import multiple_choice
from humor_tasks.on_inspect.checks import check_cache
from humor_tasks.on_inspect.client import local_files
from humor_tasks.results.submission import read_answers
from humor_tasks.tasks import matching, ranking
from humor_tasks.testing import ScriptedLM, ScriptedModel, run_lm_eval

SAMPLE = {"dataset": "sample"}


def accuracy(log: EvalLog) -> float:
    assert log.results, log.error
    return log.results.scores[0].metrics["accuracy"].value


# ---- lm-eval --use_cache ------------------------------------------------------------------------


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize("task", ["nyc_matching_gen", "nyc_explanation"])
def test_use_cache_is_refused_whichever_the_model_before_anything_is_asked(task: str, tmp_path: Path) -> None:
    model = ScriptedLM("Answer: A")
    for _ in range(2):
        with pytest.raises(BadInput, match=f"--use_cache: leave it out for {task}"):
            run_lm_eval(model, task, metadata=SAMPLE, use_cache=str(tmp_path / "F"))
    assert model.asked == []
    assert run_lm_eval(model, task, metadata=SAMPLE)["results"]


@pytest.mark.lm_eval_versions
def test_use_cache_stays_as_it_is_for_other_peoples_tasks_and_models(tmp_path: Path) -> None:
    from lm_eval.api.model import CachingLM

    from humor_tasks.on_lm_eval import harness

    model = ScriptedLM("yes")
    request = harness.request("loglikelihood", {"question": "?"}, ("?", "yes"), 0, harness.Where("somebody's", 0))
    cached = CachingLM(model, str(tmp_path / "F.db"))
    assert cached.loglikelihood([request]) == cached.loglikelihood([request])
    assert len(model.asked) == 1


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("baseline", "Baseline"),
        ("clip", "Clip"),
        ("embedding", "Embedding"),
        ("ofa", "Ofa"),
        ("humicroedit", "Humicroedit"),
        ("text", "Text"),
    ],
)
def test_no_model_of_this_package_takes_a_cache(module: str, name: str) -> None:
    from lm_eval.api.model import CacheHook

    made = getattr(import_module(f"humor_tasks.on_lm_eval.providers.{module}"), f"{name}LM")
    model = made.__new__(made)
    with pytest.raises(BadInput, match=f"--use_cache: leave it out for {name}LM"):
        model.set_cache_hook(CacheHook(SimpleNamespace(dbdict={"a key": "an answer"})))
    model.set_cache_hook(CacheHook(None))


# ---- Inspect --cache ----------------------------------------------------------------------------


@pytest.mark.inspect_ai_versions
def test_cache_is_refused_for_arguments_that_its_key_lacks(tmp_path: Path) -> None:
    (log,) = eval(ranking(dataset="sample"), model=get_model("baseline/random", seed=1, memoize=False), cache=True)
    assert log.status == "error"
    assert log.error
    assert "--cache: leave it out for model baseline/random" in log.error.message
    assert "does not distinguish -M seed" in log.error.message


@pytest.mark.inspect_ai_versions
def test_cache_replays_the_same_model_and_questions_only() -> None:
    questions = len(load("ranking", dataset="sample").records)
    asked = []
    for name, parameters in (("m", {}), ("m", {}), ("other", {}), ("m", {"shots": 1}), ("m", {"setting": "pixels"})):
        model = ScriptedModel(name, "Answer: A")
        model.model.model_args.clear()
        eval(ranking(dataset="sample", **parameters), model=model.model, cache=True)
        asked.append(len(model.asked))
    assert asked == [questions, 0, questions, questions, questions]


def test_a_picture_that_changed_is_another_question(tmp_path: Path) -> None:
    from humor_tasks.on_inspect.messages import turn_messages
    from humor_tasks.rows.media.picture import Picture
    from humor_tasks.rows.records import Turn

    path = tmp_path / "picture.png"
    shown = []
    for colour in (0, 255):
        from PIL import Image

        Image.new("L", (8, 8), colour).save(path)
        (message,) = turn_messages([Turn("user", "?", Picture(str(path), str(path), path.read_bytes))], pictures=True)
        shown.append(str(message.model_dump(exclude={"id"})))
    assert shown[0] != shown[1]


def test_weights_on_this_machine_are_refused_and_names_of_services_are_not(tmp_path: Path) -> None:
    assert local_files(str(tmp_path), {}) == [tmp_path]
    assert local_files("local", {"model_path": str(tmp_path), "n": 1}) == [tmp_path]
    assert not local_files("gpt-4o", {"precision": "bf16", "n": 1, "long": "x" * 10_000, "nul": "\0"})
    cached = get_model("mockllm/m", memoize=False).config.model_copy(update={"cache": True})
    with pytest.raises(PrerequisiteError, match="when files on this machine change"):
        check_cache(str(tmp_path), {}, cached)
    check_cache(str(tmp_path), {"fit": "crop"}, get_model("mockllm/m", memoize=False).config)


@pytest.mark.inspect_ai_versions
def test_cache_is_refused_by_our_models_in_other_peoples_tasks() -> None:
    sample = Sample(input="Which?\nA) one\nB) two", choices=["one", "two"], target="A")
    task = Task(dataset=[sample], solver=generate(), scorer=multiple_choice())
    (log,) = eval(task, model=get_model("baseline/random", seed=1, memoize=False), cache=True)
    assert log.error
    assert "--cache: leave it out for model random" in log.error.message


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(("module", "name"), [("chooser", "Clip"), ("ofa", "Ofa"), ("humicroedit", "Humicroedit")])
def test_no_checkpoint_takes_a_cache(module: str, name: str, tmp_path: Path) -> None:
    made = getattr(import_module(f"humor_tasks.on_inspect.providers.{module}"), f"{name}API")
    model = made.__new__(made)
    model.model_name, model.model_args = str(tmp_path), {}
    with pytest.raises(PrerequisiteError, match="--cache: leave it out"):
        asyncio.run(model.generate([], [], "none", GenerateConfig(cache=True)))


# ---- attempts at the same run -------------------------------------------------------------------


def rows(home: Path, text: str = "A bear.", more: int = 0) -> str:
    """A dataset folder of `ranking` with at least three rows; `text` is a caption of the first one."""
    made = []
    for i in range(3 + more):
        captions = [text if i == 0 else f"A bear, for the {i}th time.", f"A long caption about the {i}th bear."]
        about = {"caption_choices": captions, "label": "A", "winner_source": "crowd_winner", "instance_id": f"r{i}"}
        made.append(matching_row(i) | about)
    write_lines(home / "ranking" / "test.jsonl", made)
    write_card(home, {"ranking": {"test": "ranking/test.jsonl"}})
    return str(home)


def attempt(home: Path) -> EvalLog:
    """An attempt of which only the last row failed."""
    (log,) = eval(
        "humor_tasks/ranking", task_args={"dataset": rows(home)}, model="baseline/first", log_dir=str(home / "logs")
    )
    assert log.samples
    log.status = "error"
    log.samples[-1].error = EvalError(message="the server is down", traceback="", traceback_ansi="")
    write_eval_log(log)
    return read_eval_log(log.location)


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_a_retry_finishes_the_run_and_refuses_to_mix_it_with_other_rows(tmp_path: Path) -> None:
    first = attempt(tmp_path / "same")
    (finished,) = eval_retry(first, log_dir=str(tmp_path / "same" / "again"))
    assert (finished.status, accuracy(finished)) == ("success", 1)

    first = attempt(tmp_path / "changed")
    rows(tmp_path / "changed", text="A changed bear.")
    (mixed,) = eval_retry(first, log_dir=str(tmp_path / "changed" / "again"))
    assert mixed.status == "error"
    assert mixed.error
    assert "the log mixes samples of 2 runs, which differ in rows" in mixed.error.message
    with pytest.raises(BadInput, match="ended with status error"):
        read_run(Path(mixed.location))


@pytest.mark.inspect_ai_versions
@pytest.mark.slow
def test_an_eval_set_refuses_a_folder_of_logs_with_other_arguments_or_rows(tmp_path: Path) -> None:
    def again(**parameters: Any) -> EvalLog:
        task = ranking(dataset=str(tmp_path / "rows"), **parameters)
        # In a context of its own, because eval_set leaves its model behind as the active one.
        run = partial(eval_set, task, log_dir=str(tmp_path / "logs"), model="baseline/first")
        done, (log,) = copy_context().run(run)
        assert done
        return log

    rows(tmp_path / "rows")
    first = again()
    assert again().eval.eval_id == first.eval.eval_id
    with pytest.raises(PrerequisiteError, match="fresh log directory"):
        again(shots=0, on_unparsed="exclude")
    rows(tmp_path / "rows", text="A changed bear.")
    with pytest.raises(PrerequisiteError, match="fresh log directory"):
        again()


def test_a_log_of_another_version_is_not_scored_by_the_rules_of_this_one() -> None:
    (log,) = eval(ranking(dataset="sample"), model="baseline/first", limit=2)
    assert score(log, multiple_choice(), action="overwrite").results
    for sample in log.samples or []:
        sample.metadata["humor_tasks"]["version"] = "0-A"
    with pytest.raises(PrerequisiteError, match="ranking: the log is of version 0-A, and this humor-tasks scores"):
        score(log, multiple_choice(), action="overwrite")


@pytest.mark.inspect_ai_versions
@pytest.mark.parametrize(("rule", "unparsed"), [("strict", 1), ("released_chat", 0), ("released_leaderboard", 0)])
def test_a_log_scored_again_names_the_rule(rule: str, unparsed: int, tmp_path: Path) -> None:
    model = ScriptedModel("m", "Answer: Actually, none.").model
    (log,) = eval(matching(dataset="sample"), model=model, limit=2, log_dir=str(tmp_path))
    scorer = f"humor_tasks/multiple_choice_{rule}"
    commands.inspect("score", log.location, "--scorer", scorer, "--action", "append", "--overwrite", cwd=tmp_path)
    results = read_eval_log(log.location).results
    assert results
    assert [scored.name for scored in results.scores] == ["multiple_choice", f"multiple_choice_{rule}"]
    assert [scored.metrics["unparsed"].value for scored in results.scores] == [1, unparsed]


def test_every_example_of_scoring_again_keeps_the_scores_and_the_log() -> None:
    root = REPOSITORY
    pages = [root / "README.md", *root.glob("docs/**/*.md"), *root.glob("datasets_cards/*/README.md")]
    examples = re.findall(r"inspect score [^`#]*?--scorer [^`#]*?(?:`|\n(?!  ))", "".join(p.read_text() for p in pages))
    assert len(examples) >= 3
    assert [example for example in examples if "--action append --overwrite" not in example] == []


# ---- lm-eval's other flags ----------------------------------------------------------------------


@pytest.mark.lm_eval_versions
def test_the_request_cache_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path))
    shown = []
    how: dict[str, Any] = {"cache_requests": True, "rewrite_requests_cache": True, "limit": 2}
    for given, shots in (({"fold": 0}, 0), ({"fold": 1}, 0), ({"fold": 0, "setting": "caption_only"}, 0), ({}, 1)):
        model = ScriptedLM("Answer: A")
        run_lm_eval(model, "nyc_matching", metadata=SAMPLE | given, num_fewshot=shots, **how)
        shown.append(tuple(request.args[0] for request in model.asked))
    assert len(set(shown)) == 4
    assert "--cache_requests is ignored" in caplog.text
    assert list(tmp_path.iterdir()) == []


@pytest.mark.lm_eval_versions
def test_predict_only_gives_replies_and_no_score(tmp_path: Path) -> None:
    run_lm_eval(ScriptedLM("Answer: A"), "nyc_ranking_gen", metadata=SAMPLE, predict_only=True, output=tmp_path)
    (samples,) = tmp_path.rglob("samples_*.jsonl")
    assert {(sample.reply, sample.outcome) for sample in read_run(samples)} == {("Answer: A", None)}
    with pytest.raises(BadInput, match="has no score; run lm_eval without --predict_only"):
        read_answers(samples)
    (results,) = tmp_path.rglob("results_*.json")
    assert not {"acc,none", "unparsed,none"} & json.loads(results.read_text())["results"]["nyc_ranking_gen"].keys()
