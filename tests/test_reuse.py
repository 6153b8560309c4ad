"""No flag of either harness that stores or reuses answers gives one model, dataset or setting those of another.

The rows are those of docs/reuse.md.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from inspect_ai import Task, eval, eval_retry
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalError, EvalLog, read_eval_log, write_eval_log
from inspect_ai.model import get_model
from inspect_ai.solver import generate
from standins import commands
from standins.corpus import matching_row, write_card, write_lines

from humor_tasks import load
from humor_tasks.data.logs.reading import read_run
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.answer_cache import check_cache, on_disk
from humor_tasks.on_inspect.scorers import multiple_choice
from humor_tasks.tasks import ranking
from humor_tasks.testing import ChatServer, ScriptedLM, ScriptedModel, run_lm_eval

SAMPLE = {"dataset": "sample"}


def accuracy(log: EvalLog) -> float:
    assert log.results, log.error
    return log.results.scores[0].metrics["accuracy"].value


# ---- lm-eval --use_cache ------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["nyc_ranking", "nyc_matching_gen", "nyc_explanation", "humicroedit_rating"])
def test_use_cache_is_refused_whichever_the_model_before_anything_is_asked(task: str, tmp_path: Path) -> None:
    model = ScriptedLM("Answer: A")
    for _ in range(2):
        with pytest.raises(BadInput, match=f"--use_cache: leave it out for {task}"):
            run_lm_eval(model, task, metadata=SAMPLE, use_cache=str(tmp_path / "F"))
    assert model.asked == []
    assert run_lm_eval(model, task, metadata=SAMPLE)["results"]


@pytest.mark.parametrize("strategy", ["overlap", "longest"])
def test_use_cache_is_refused_on_the_command_line(strategy: str, tmp_path: Path) -> None:
    command = ["--tasks", "nyc_ranking", "--model", "humor-baseline", "--model_args", f"strategy={strategy}"]
    with pytest.raises(BadInput, match="--use_cache: leave it out for BaselineLM"):
        commands.lm_eval(*command, "--metadata", "dataset=sample", "--use_cache", "F", cwd=tmp_path)


@pytest.mark.slow
def test_use_cache_is_refused_for_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not a key")
    asked = []
    with ChatServer(lambda messages: asked.append(messages) or "Answer: A") as server:
        command = ["--tasks", "nyc_matching_gen", "--model", "local-chat-completions", "--apply_chat_template"]
        command += ["--model_args", f"model=m,base_url={server.url}/chat/completions", "--metadata", "dataset=sample"]
        with pytest.raises(BadInput, match="--use_cache: leave it out for nyc_matching_gen"):
            commands.lm_eval(*command, "--use_cache", "F", cwd=tmp_path)
    assert asked == []


def test_use_cache_stays_as_it_is_for_other_peoples_tasks_and_models(tmp_path: Path) -> None:
    from lm_eval.api.instance import Instance
    from lm_eval.api.model import CachingLM

    model = ScriptedLM("yes")
    request = Instance("loglikelihood", {"question": "?"}, ("?", "yes"), 0, ("somebody's", 0, 1))
    cached = CachingLM(model, str(tmp_path / "F.db"))
    assert cached.loglikelihood([request]) == cached.loglikelihood([request])
    assert len(model.asked) == 1


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("baseline", "Baseline"),
        ("clip", "Clip"),
        ("embedding", "Embedding"),
        ("ofa", "Ofa"),
        ("humicroedit", "Humicroedit"),
    ],
)
def test_no_model_of_this_package_takes_a_cache(module: str, name: str) -> None:
    from importlib import import_module

    from lm_eval.api.model import CacheHook

    made = getattr(import_module(f"humor_tasks.on_lm_eval.providers.{module}"), f"{name}LM")
    model = made.__new__(made)
    with pytest.raises(BadInput, match=f"--use_cache: leave it out for {name}LM"):
        model.set_cache_hook(CacheHook(SimpleNamespace(dbdict={"a key": "an answer"})))
    model.set_cache_hook(CacheHook(None))


# ---- Inspect --cache ----------------------------------------------------------------------------


def test_cache_is_refused_for_arguments_that_its_key_lacks(tmp_path: Path) -> None:
    for seed in (0, 1):
        model = get_model("baseline/random", seed=seed, memoize=False)
        (log,) = eval(ranking(dataset="sample"), model=model, cache=True)
        assert log.status == "error"
        assert log.error
        assert "--cache: leave it out for model baseline/random" in log.error.message
        assert "does not distinguish -M seed" in log.error.message


def test_cache_replays_the_same_model_and_questions_only() -> None:
    questions = len(load("ranking", dataset="sample").records)
    asked = []
    for name, parameters in (("m", {}), ("m", {}), ("other", {}), ("m", {"shots": 1}), ("m", {"setting": "pixels"})):
        model = ScriptedModel(name, "Answer: A")
        model.model.model_args.clear()
        eval(ranking(dataset="sample", **parameters), model=model.model, cache=True)
        asked.append(len(model.asked))
    assert asked == [questions, 0, questions, questions, questions]


def test_cache_keeps_epochs_apart() -> None:
    model = ScriptedModel("m", "Answer: A")
    model.model.model_args.clear()
    eval(ranking(dataset="sample"), model=model.model, cache=True, epochs=2, limit=3)
    assert len(model.asked) == 6


def test_a_picture_that_changed_is_another_question(tmp_path: Path) -> None:
    from humor_tasks.data.media.picture import Picture
    from humor_tasks.data.records import Turn
    from humor_tasks.on_inspect.messages import turn_messages

    path = tmp_path / "picture.png"
    shown = []
    for colour in (0, 255):
        from PIL import Image

        Image.new("L", (8, 8), colour).save(path)
        (message,) = turn_messages([Turn("user", "?", Picture(str(path), str(path), path.read_bytes))], pictures=True)
        shown.append(str(message.model_dump(exclude={"id"})))
    assert shown[0] != shown[1]


def test_weights_on_this_machine_are_refused_and_names_of_services_are_not(tmp_path: Path) -> None:
    assert on_disk(str(tmp_path), {})
    assert on_disk("local", {"model_path": str(tmp_path), "n": 1})
    assert not on_disk("gpt-4o", {"precision": "bf16", "n": 1, "long": "x" * 10_000, "nul": "\0"})
    cached = get_model("mockllm/m", memoize=False).config.model_copy(update={"cache": True})
    with pytest.raises(PrerequisiteError, match="when files on this machine change"):
        check_cache(str(tmp_path), {}, cached)
    check_cache(str(tmp_path), {"fit": "crop"}, get_model("mockllm/m", memoize=False).config)


def test_cache_is_refused_by_our_models_in_other_peoples_tasks() -> None:
    sample = Sample(input="Which?\nA) one\nB) two", choices=["one", "two"], target="A")
    task = Task(dataset=[sample], solver=generate(), scorer=multiple_choice())
    (log,) = eval(task, model=get_model("baseline/random", seed=1, memoize=False), cache=True)
    assert log.error
    assert "--cache: leave it out for model random" in log.error.message


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
    log.status, log.samples[-1].error = (
        "error",
        EvalError(message="the server is down", traceback="", traceback_ansi=""),
    )
    write_eval_log(log)
    return read_eval_log(log.location)


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
