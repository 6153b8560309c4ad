"""Caption writing in the harnesses: verdicts that become win rates, replies, what is missing, and command lines."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput
from standins.commands import humor_tasks, refused
from standins.logs import metrics
from standins.ranked import CONTESTS, WRITTEN, captions_of, listed, ranked, shown_groups

from humor_tasks.benchmarks.crowd.metrics import WIN_RATES
from humor_tasks.logs import read_run
from humor_tasks.scorers.win_correction import corrected_win_rate
from humor_tasks.tasks import caption_writing
from humor_tasks.testing import REFUSED, ScriptedModel

Rule = Callable[[dict[str, list[str]]], str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return ranked(tmp_path_factory.mktemp("contests"), CONTESTS)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))


def grading(verdict: Rule, name: str = "judge") -> ScriptedModel:
    return ScriptedModel(name, lambda messages: verdict(shown_groups(messages[-1].text)))


def longer(groups: dict[str, list[str]]) -> str:
    return f"Answer: {max(groups, key=lambda letter: sum(map(len, groups[letter])))}"


def written_one(groups: dict[str, list[str]]) -> str:
    """Prefers the model's captions, and A where neither group is theirs."""
    return f"Answer: {'B' if groups['B'] == WRITTEN else 'A'}"


def written_and_judged(
    folder: str, tmp_path: Path, verdict: Rule | ScriptedModel, reply: Any = None, **given: Any
) -> EvalLog:
    writer = ScriptedModel("writer", listed(WRITTEN) if reply is None else reply)
    grader = verdict if isinstance(verdict, ScriptedModel) else grading(verdict)
    task = caption_writing(dataset=folder, **given)
    (log,) = eval(task, model=writer.model, model_roles={"grader": grader.model}, log_dir=str(tmp_path / "logs"))
    return log


def rates(found: dict[str, float]) -> list[float]:
    return [found[name] for name in WIN_RATES]


# ---- verdicts -----------------------------------------------------------------------------------


def test_a_constant_judge_gives_one_half(folder: str, tmp_path: Path) -> None:
    judge = grading(lambda groups: "Answer: A")
    found = metrics(written_and_judged(folder, tmp_path, judge))
    assert len(judge.asked) == 40
    assert rates(found) == [0.5] * 4
    assert (found["judge_accuracy"], found["judge_share_a"], found["judge_consistency"]) == (0.5, 1.0, 0.0)
    assert math.isnan(found["corrected_win_rate_top10"])  # a judge no better than chance


def test_every_verdict_counts(folder: str, tmp_path: Path) -> None:
    found = metrics(written_and_judged(folder, tmp_path, written_one, mode="best_pick"))
    assert rates(found) == [1.0] * 4
    assert (found["judge_accuracy"], found["missing_verdicts"]) == (0.5, 0.0)
    assert found["judge_consistency"] == 0.8  # in the exam it says A in both orders


def test_corrected_win_rates_use_the_exam_of_the_same_contests(folder: str, tmp_path: Path) -> None:
    def verdict(groups: dict[str, list[str]]) -> str:
        tops = [captions_of(folder, number)[:10] for number in CONTESTS[:3]]
        best = [letter for letter, held in groups.items() if held in tops]
        return f"Answer: {best[0] if best else 'A'}"

    log = written_and_judged(folder, tmp_path, verdict)
    found = metrics(log)
    assert found["judge_accuracy"] == 0.875
    values = [s.scores["against_people"].metadata["values"] for s in log.samples or []]  # type: ignore[index]
    clusters = [str(number) for number in CONTESTS]
    expected = corrected_win_rate(
        [v["win_rate_median"] for v in values], clusters, [v["judge_accuracy"] for v in values], clusters
    )
    assert found["corrected_win_rate_median"] == pytest.approx(expected.value)


def test_missing_verdicts_are_counted_and_bound_the_rates(folder: str, tmp_path: Path) -> None:
    def verdict(groups: dict[str, list[str]]) -> str:
        against_best = captions_of(folder, 536)[:10] in groups.values() and WRITTEN in groups.values()
        return "I cannot decide." if against_best else written_one(groups)

    found = metrics(written_and_judged(folder, tmp_path, verdict))
    assert found["win_rate_top10"] == 1.0
    assert found["missing_verdicts"] == 2 / 40
    assert found["win_rate_top10_missing_failed"] == 0.75
    assert found["win_rate_top10_missing_passed"] == 1.0


def test_a_panel_decides_by_majority_and_the_exam_may_be_left_out(folder: str, tmp_path: Path) -> None:
    graders = [grading(rule, name).model for name, rule in (("x", written_one), ("y", written_one), ("z", longer))]
    writer = ScriptedModel("writer", listed(WRITTEN))
    task = caption_writing(dataset=folder, exam=False)
    (log,) = eval(task, model=writer.model, model_roles={"grader": graders}, log_dir=str(tmp_path / "logs"))
    found = metrics(log)
    assert rates(found) == [1.0] * 4
    assert not any("accuracy" in name or "corrected" in name for name in found)


def odds_of(groups: dict[str, list[str]]) -> float:
    """log P(A) - log P(B): the share of the difference of lengths, and a liking for A."""
    return (sum(map(len, groups["A"])) - sum(map(len, groups["B"]))) / 100 + 2.0


def test_recalibrated_verdicts_stand_beside_the_raw_ones(folder: str, tmp_path: Path) -> None:
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, Logprob, Logprobs, TopLogprob

    def script(messages: Any) -> ModelOutput:
        odds = odds_of(shown_groups(messages[-1].text))
        likely = {"A": -math.log1p(math.exp(-odds)), "B": -math.log1p(math.exp(odds))}
        top = [TopLogprob(token=letter, logprob=value) for letter, value in likely.items()]
        letter = max(likely, key=lambda each: likely[each])
        token = Logprob(token=letter, logprob=likely[letter], top_logprobs=top)
        message = ChatMessageAssistant(content=f"{letter}")
        choice = ChatCompletionChoice(message=message, logprobs=Logprobs(content=[token]))
        return ModelOutput(model="judge", choices=[choice])

    judge = ScriptedModel("judge", script)
    found = metrics(written_and_judged(folder, tmp_path, judge, tau=2))
    assert judge.configs[0].logprobs
    plain = metrics(written_and_judged(folder, tmp_path, longer))
    assert found["recalibrated_judge_consistency"] == 1.0
    for name in (*WIN_RATES, "judge_accuracy"):
        assert found[f"recalibrated_{name}"] == plain[name]
    assert found["judge_share_a"] > found["recalibrated_judge_share_a"] == 0.5
    assert found["without_log_odds"] == 0.0


def test_tau_needs_log_probabilities(folder: str, tmp_path: Path) -> None:
    log = written_and_judged(folder, tmp_path, longer, tau=0.5)
    assert log.status == "error"
    assert log.error is not None
    assert "log-probabilities" in log.error.message
    assert "tau=0.5" in log.error.message


# ---- replies ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "status", "found"), [(listed(WRITTEN[:9]), "unparsed", 9), ("", "unparsed", 0), (REFUSED, "refused", 0)]
)
def test_a_reply_without_ten_captions_loses_and_is_counted(
    folder: str, tmp_path: Path, reply: str, status: str, found: int
) -> None:
    judge = grading(written_one)
    log = written_and_judged(folder, tmp_path, judge, reply=reply)
    told = metrics(log)
    assert rates(told) == [0.0] * 4
    assert {"unparsed": told["unparsed"], "refused": told["refused"]} == {"unparsed": 0, "refused": 0} | {status: 1}
    assert told.get("missing_verdicts", 0.0) == 0
    assert not judge.asked
    assert log.samples is not None
    values = log.samples[0].scores["against_people"].metadata["values"]  # type: ignore[index]
    assert values.get("found", 0.0) == found


def test_a_reply_without_ten_captions_may_be_left_out(folder: str, tmp_path: Path) -> None:
    left_out = metrics(
        written_and_judged(folder, tmp_path, written_one, reply=listed(WRITTEN[:9]), on_unparsed="exclude")
    )
    assert "win_rate_top10" not in left_out
    assert left_out["unparsed"] == 1.0


# ---- settings and harnesses -----------------------------------------------------------------------


def test_worked_examples_are_the_judges(tmp_path: Path) -> None:
    judge = ScriptedModel("judge", "Answer: A")
    writer = ScriptedModel("writer", listed(WRITTEN))
    task = caption_writing(dataset="sample", contests=9010, judge_shots=5)
    eval(task, model=writer.model, model_roles={"grader": judge.model}, log_dir=str(tmp_path))
    assert len(writer.asked[0]) == 2
    for asked in judge.asked:
        assert sum(role == "assistant" and text.endswith(("A", "B", "A.", "B.")) for role, text in asked) == 5
    assert len({json.dumps(asked[:-1]) for asked in judge.asked}) == 1


def test_captions_of_a_file_are_judged_as_a_models(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    rows = [{"contest": n, "captions": WRITTEN[: 10 - (n == 550)], "system": "me"} for n in CONTESTS]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out, logs = tmp_path / "out.json", str(tmp_path / "logs")
    said = humor_tasks(
        *("captions", "score", path, "--dataset", folder, "--grader", "baseline/longest", "--mode", "both"),
        *("--log-dir", logs, "-o", out),
    )
    assert "| me" in said
    assert "far kinder" in said
    found = json.loads(out.read_text())["against_people"]
    assert [(each["system"], each["mode"]) for each in found] == [("me", "overall"), ("me", "best_pick")]
    assert found[0]["metrics"]["unparsed"]["value"] == 0.25
    assert {read_run(Path(each["log"])).replayed for each in found} == {"me"}
    writer = ScriptedModel("writer", lambda messages: listed(WRITTEN[: 10 - ("550" in messages[-1].metadata["id"])]))
    from inspect_ai.model import get_model

    task = caption_writing(dataset=folder)
    (log,) = eval(task, model=writer.model, model_roles={"grader": get_model("baseline/longest")}, log_dir=logs)
    same = metrics(log)
    for name in WIN_RATES:
        assert found[0]["metrics"][name]["value"] == same[name]


def test_a_file_of_captions_of_other_contests_is_refused(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps({"contest": 9, "captions": WRITTEN}) + "\n")
    said = refused("captions", "score", path, "--dataset", folder, "--grader", "baseline/longest")
    assert "has none of the 1 contest: 9" in said


def test_bad_flags_and_empty_files_are_refused(folder: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("")
    assert "holds no captions" in refused("captions", "score", path, "--dataset", folder)
    path.write_text(json.dumps({"contest": 536, "captions": WRITTEN}) + "\n")
    how = ("--dataset", folder, "--grader", "baseline/first", "--log-dir", str(tmp_path / "logs"))
    assert "fit it with crowd_groups" in refused("captions", "score", path, *how, "--tau", "fit")
    assert "| best" in humor_tasks("captions", "score", path, *how, "--tau", "0.5", "--mode", "both")
