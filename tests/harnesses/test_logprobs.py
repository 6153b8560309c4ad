"""What a model tells of each letter besides its answer: log-probabilities and scores as values of outcomes."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai import eval
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.log import EvalLog, read_eval_log
from inspect_ai.model import (
    ModelOutput,
    get_model,
)
from standins import commands, duels
from standins.logprobs import reply_with_logprobs

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.answers import Answer
from humor_tasks.contract.metric import Metric, has
from humor_tasks.errors import BadInput
from humor_tasks.models.choosers.chooser import log_softmax
from humor_tasks.on_inspect.logprobs import letter_logprobs
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.on_lm_eval.task import BenchmarkTask
from humor_tasks.testing import ChatServer, ScriptedLM, run_lm_eval

Tops = dict[str, float] | None
TOPS = {"B": math.log(0.4), " B": math.log(0.1), "A": math.log(0.25), " A": math.log(0.125), "The": math.log(0.1)}
SUMS = {"A": math.log(0.375), "B": math.log(0.5)}


@pytest.fixture(autouse=True)
def tasks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """The folder of the invented benchmark's lm-eval tasks."""
    yield duels.install(monkeypatch, tmp_path)
    find_benchmark.cache_clear()


def said(*tokens: str | tuple[str, Tops], text: str | None = None, tops: Tops = None) -> ModelOutput:
    """A reply of these tokens, each with its likeliest tokens, by default none."""
    pairs = [token if isinstance(token, tuple) else (token, {}) for token in tokens]
    return reply_with_logprobs("".join(token for token, _ in pairs) if text is None else text, pairs, model="m")


# ---- which token, and which letters ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (said(("B", TOPS)), SUMS),
        (said((" B", TOPS), "."), SUMS),
        (said("**", ("B", TOPS), "**"), SUMS),
        (said("Answer", ":", (" B", TOPS)), SUMS),
        (said("**", "Answer", ":**", (" B", TOPS), "\n\n", "A", " is", " dull", "."), SUMS),
        (said("Final", " answer", ":", " (", ("B", TOPS), ")"), SUMS),
        (said("Answer", ":", (" A", {"A": 0.0}), "\n", "No", ".\n\n", "Answer", ":", (" B", TOPS)), SUMS),
        (said("▁Answer", ":", ("▁B", {"▁B": -1.0, "ĠA": -2.0}), text="Answer: B"), {"A": -2.0, "B": -1.0}),
        (said(("B", TOPS), ")", " Slow", " down", "!"), SUMS),  # the labelled choice
        (said(("B", {"B": -0.1, "The": -3.0})), {"B": -0.1}),  # A is not among the likeliest
        (said(("B", {"B": -0.1, "A": -math.inf})), {"B": -0.1}),
        (said(("B", {"B": -0.1, "AB": -1.0, "C": -2.0, "a": -3.0})), {"B": -0.1}),
        (said("A", " knight", " queues", "."), {}),
        (said(("A", TOPS), " knight", " queues", "."), {}),  # an article
        (said("Answer", ":", (" A", TOPS), " cartoon", " with", " a", " dog"), {}),
        (said("I", " choose", (" B", TOPS), "."), {}),
        (said("Hard", " to", " say", ("B", TOPS)), {}),
        (said(("C", TOPS)), {}),
        (said(), {}),
        (ModelOutput(model="m", choices=[]), {}),
        (ModelOutput.from_content("m", ""), {}),
        (ModelOutput.from_content("m", "  \n"), {}),
    ],
)
def test_letters_at_the_token_that_answers(output: ModelOutput, expected: dict[str, float]) -> None:
    for parameter in ("", "tau=fit"):
        assert letter_logprobs(output, "AB", parameter) == pytest.approx(expected)


@given(
    st.dictionaries(
        st.tuples(st.sampled_from(["", " ", "(", "▁", "Ġ", "\n"]), st.sampled_from("ABC"), st.sampled_from(["", ")"])),
        st.floats(-40, 0),
        max_size=12,
    )
)
def test_the_tokens_of_a_letter_are_added(logprobs: dict[tuple[str, str, str], float]) -> None:
    found = letter_logprobs(said(("A", {"".join(parts): x for parts, x in logprobs.items()})), "AB")
    for letter in "AB":
        own = [math.exp(x) for (_, of, _), x in logprobs.items() if of == letter]
        assert (letter in found) == bool(own)
        assert not own or math.exp(found[letter]) == pytest.approx(sum(own))


@pytest.mark.parametrize(
    ("output", "message"),
    [
        (ModelOutput.from_content("gpt", "B"), "gpt returns no log-probabilities; tau=fit needs those of the letters."),
        (ModelOutput.from_content("gpt", "Hard to say."), "gpt returns no log-probabilities; tau=fit needs"),
        (said(("B", None)), "m returns the log-probability of the generated token only; tau=fit needs those"),
    ],
)
def test_a_model_without_logprobs_ends_the_run_where_they_are_needed(output: ModelOutput, message: str) -> None:
    assert letter_logprobs(output, "AB") == {}
    with pytest.raises(PrerequisiteError, match=message):
        letter_logprobs(output, "AB", "tau=fit")


# ---- values of outcomes ---------------------------------------------------------------------------

NUMBERS = {"logprob_A": -1.0, "score_A": 3.0, "logprob_B": math.nan, "score_B": -math.inf, "accuracy": 0.5}


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ((), {}),
        (("logprobs",), {"logprob_A": -1.0}),
        (("scores",), {"score_A": 3.0}),
        (("logprobs", "scores"), {"logprob_A": -1.0, "score_A": 3.0}),
    ],
)
def test_outcomes_keep_the_finite_numbers_that_the_benchmark_asks_for(told: tuple[str, ...], kept: Any) -> None:
    run = dataclasses.replace(duels.DUELS, letter_metrics=frozenset(told)).open()
    plain = {"accuracy": 1.0, "unparsed": 0.0, "refused": 0.0}
    for outcome in (
        run.outcome(run.records[0], "A", letter_values=NUMBERS),
        run.scored(run.records[0], Answer("A"), NUMBERS),
    ):
        assert outcome.values == plain | kept
    assert run.outcome(run.records[0], "A").values == plain


def test_another_kind_of_number_is_a_mistake_in_the_definition() -> None:
    with pytest.raises(ValueError, match=r"duels: letter_metrics is \['votes'\]; choose from logprobs, scores"):
        dataclasses.replace(duels.DUELS, letter_metrics=frozenset({"votes"}))


def values_in(log: EvalLog) -> dict[str, dict[str, float]]:
    """Each sample's letters' numbers."""
    assert log.status == "success", log.error
    found = {}
    for sample in log.samples or ():
        values = ((sample.scores or {})["multiple_choice"].metadata or {})["values"]
        found[str(sample.id)] = {name: x for name, x in values.items() if name.startswith(("logprob_", "score_"))}
    return found


def asked_in_inspect(model: Any, **given: str) -> EvalLog:
    return eval(build(duels.NAME, given), model=model, display="log")[0]


def longest(identity: str) -> list[float]:
    """The mean number of characters of both groups."""
    groups = duels.GROUPS[int(identity.removeprefix("duel-"))]
    return [sum(map(len, group)) / len(group) for group in groups]


def test_a_choosers_numbers_in_inspect() -> None:
    found = values_in(asked_in_inspect(get_model("baseline/longest", memoize=False), tau="fit"))
    assert len(found) == len(duels.SCENES)
    for identity, values in found.items():
        scores = longest(identity)
        names = ("score_A", "score_B", "logprob_A", "logprob_B")
        assert values == pytest.approx(dict(zip(names, (*scores, *log_softmax(scores)), strict=True)))


def test_a_choosers_numbers_in_lm_eval(tasks: Path) -> None:
    model = BaselineLM(strategy="longest")
    found = run_lm_eval(model, duels.NAME, f"{duels.NAME}_gen", folders=[tasks])["samples"]
    for sample in found[duels.NAME]:
        logprobs = log_softmax(longest(sample["doc"]["id"]))
        outcome = sample.get("outcome") or sample["doc"]["outcome"]
        told = {name: x for name, x in outcome["values"].items() if name.startswith(("logprob_", "score_"))}
        assert told == pytest.approx(dict(zip(("logprob_A", "logprob_B"), logprobs, strict=True)))
    for sample in found[f"{duels.NAME}_gen"]:
        outcome = sample.get("outcome") or sample["doc"]["outcome"]
        assert not any(name.startswith(("logprob_", "score_")) for name in outcome["values"])


def test_a_log_likelihood_that_is_not_finite_is_no_value(tasks: Path) -> None:
    model = ScriptedLM(likelihood=lambda prompt, continuation: -2.5 if continuation == " B" else -math.inf)
    for sample in run_lm_eval(model, duels.NAME, folders=[tasks])["samples"][duels.NAME]:
        outcome = sample.get("outcome") or sample["doc"]["outcome"]
        assert {n: x for n, x in outcome["values"].items() if n.startswith("logprob")} == {"logprob_B": -2.5}


def test_every_process_of_lm_eval_knows_a_metric_of_logprobs(monkeypatch: pytest.MonkeyPatch, tasks: Path) -> None:
    metric = Metric("odds", counts=has("logprob_A"))
    more = dataclasses.replace(duels.DUELS, metrics=(*duels.DUELS.metrics, metric))
    duels.install(monkeypatch, tasks, more)
    kinds = {"multiple_choice": True, "generate_until": False}
    for kind, known in kinds.items():
        task = BenchmarkTask({"task": duels.NAME, "benchmark": duels.NAME, "output_type": kind})
        assert ("odds" in task._possible_metrics) == known


def test_generated_replies_of_lm_eval_have_no_logprobs(tasks: Path) -> None:
    with pytest.raises(BadInput, match=r"duels_gen generates replies; tau=fit needs the log-likelihood task\."):
        run_lm_eval(ScriptedLM("A"), f"{duels.NAME}_gen", folders=[tasks], metadata={"tau": "fit"})
    run_lm_eval(ScriptedLM("A"), duels.NAME, folders=[tasks], metadata={"tau": "fit"})


# ---- a hosted model -------------------------------------------------------------------------------


def choice(text: str, *tokens: tuple[str, dict[str, float]]) -> dict[str, Any]:
    """A choice as the API returns it."""
    content = [
        {
            "token": token,
            "logprob": -0.1,
            "bytes": None,
            "top_logprobs": [{"token": t, "logprob": x, "bytes": None} for t, x in tops.items()],
        }
        for token, tops in tokens
    ]
    return {"message": {"role": "assistant", "content": text}, "logprobs": {"content": content, "refusal": None}}


def hosted(server: ChatServer) -> Any:
    return get_model("openai-api/mine/m", base_url=server.url, api_key="none", memoize=False)


def replies(messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Differs between scenes: B with both letters, A with its own only, and words."""
    shown = str(messages)
    if "lighthouse" in shown:
        return choice("Answer: B", ("Answer", {}), (":", {}), (" B", TOPS))
    if "snails" in shown:
        return choice("A", ("A", {"A": -0.25, "The": -2.0}))
    return choice("Hard to say.", ("Hard", {"A": -1.0}), (" to say.", {}))


@pytest.mark.slow
def test_a_hosted_models_logprobs_and_inspect_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ChatServer(replies) as server:
        log = eval(build(duels.NAME, {"tau": "fit"}), model=hosted(server), display="log", log_dir=str(tmp_path))[0]
        assert {(body["logprobs"], body["top_logprobs"]) for body in server.requests} == {(True, 20)}
    expected = {"duel-0": {"logprob_A": SUMS["A"], "logprob_B": SUMS["B"]}, "duel-1": {"logprob_A": -0.25}}
    found = values_in(log)
    assert found == {identity: pytest.approx(expected.get(identity, {})) for identity in found}
    monkeypatch.setenv("MINE_API_KEY", "none")
    monkeypatch.setenv("MINE_BASE_URL", server.url)  # closed
    again = tmp_path / "again.eval"
    scorer = ("--scorer", "humor_tasks/multiple_choice", "--action", "overwrite", "--output-file", again)
    commands.inspect("score", log.location, *scorer, cwd=tmp_path)
    assert values_in(read_eval_log(again)) == found


@pytest.mark.slow
def test_a_hosted_model_is_asked_for_logprobs_only_where_they_are_needed() -> None:
    with ChatServer("Answer: B") as server:
        log = asked_in_inspect(hosted(server))
        assert not any("logprobs" in body for body in server.requests)
        assert set(map(str, values_in(log).values())) == {"{}"}
        refused = asked_in_inspect(hosted(server), tau="fit")
    assert refused.status == "error"
    assert "m returns no log-probabilities; tau=fit needs those of the letters." in str(refused.error)
