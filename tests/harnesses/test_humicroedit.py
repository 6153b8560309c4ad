"""Humicroedit in both harnesses: prompts, expected ratings, ratings compared; and submission files there and back."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from inspect_ai import Task, eval
from inspect_ai.log import EvalLog
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    Logprob,
    Logprobs,
    Model,
    ModelOutput,
    ModelUsage,
    TopLogprob,
    get_model,
)
from lm_eval.api.model import LM

from humor_tasks import evaluate, load
from humor_tasks.benchmarks.definition import Run
from humor_tasks.cli import main
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.logprobs import answer_token
from humor_tasks.on_inspect.tasks.building import build
from humor_tasks.on_lm_eval.providers.baseline import BaselineLM
from humor_tasks.on_lm_eval.task import BenchmarkTask
from humor_tasks.results.submission import read_answers
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.tasks import humicroedit_pairwise, humicroedit_rating
from humor_tasks.testing import ScriptedLM, run_lm_eval

pytestmark = pytest.mark.inspect_ai_versions

RATING, PAIRWISE = "humicroedit_rating", "humicroedit_pairwise"
VARIANTS = [(RATING, {}), (PAIRWISE, {}), (PAIRWISE, {"via": "ratings"})]
SHOWN = [(*variant, ("edited_only", "original_and_edit", "edited_only")[i]) for i, variant in enumerate(VARIANTS)]
SAMPLE = {"dataset": "sample", "split": "test"}
LIKELIHOODS = {"0": math.log(0.4), "1": math.log(0.3), "2": math.log(0.2), "3": math.log(0.1)}  # expected: 1.0


# ---- a model that rates by what it is shown -------------------------------------------------------


def rated(headline: str) -> float:
    """Made up, but always the same; few enough values to make ties."""
    return sum(map(ord, headline)) % 13 / 4


def reply(asked: str) -> str:
    """What the scripted model answers to a prompt's last turn."""
    letters = re.findall(r"^([AB])\) (.*)$", asked, re.M)
    if letters:
        return f"Answer: {'AB'[rated(letters[-2][1]) < rated(letters[-1][1])]}"
    return f"Rating: {rated(re.findall(r'^Edited headline: (.*?)(?: [(].* became .*[)])?$', asked, re.M)[-1])}"


def expected_report(name: str, change: Callable[[str, str], str] = lambda identity, said: said, **more: Any) -> Any:
    """The scores of the scripted model's replies without a harness."""
    run = load(name, **SAMPLE | more)
    return evaluate(run, {r.id: change(r.id, reply(run.prompt(r).turns[-1].text)) for r in run.records})


# ---- Inspect ------------------------------------------------------------------------------------


def scripted(answer: Callable[[str], str | ModelOutput] = reply) -> Model:
    def output(messages: list[Any], *rest: Any) -> ModelOutput:
        said = answer(messages[-1].text)
        made = said if isinstance(said, ModelOutput) else ModelOutput.from_content("mockllm/model", said)
        made.usage = ModelUsage()
        return made

    return get_model("mockllm/model", custom_outputs=output, memoize=False)


def run(task: Task, model: Any = None, **more: Any) -> EvalLog:
    log = eval(task, model=model or scripted(), display="none", **more)[0]
    assert log.status == "success", log.error
    return log


def inspect_task(name: str, **more: Any) -> Task:
    return {RATING: humicroedit_rating, PAIRWISE: humicroedit_pairwise}[name](**SAMPLE | more)


def assert_same(log: EvalLog, metrics: dict[str, Estimate]) -> None:
    assert log.results
    found = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    assert {name for name in found if f"{name}_stderr" in found} == set(metrics)
    for name, estimate in metrics.items():
        parts = [found[f"{name}{end}"] for end in ("", "_stderr", "_ci_low", "_ci_high")]
        ours = [estimate.value, estimate.stderr, estimate.low, estimate.high]
        assert parts == pytest.approx(ours, nan_ok=True), name


@pytest.mark.slow
@pytest.mark.parametrize(("name", "more", "setting"), SHOWN)
def test_inspect_scores_as_without_a_harness(name: str, more: dict[str, str], setting: str) -> None:
    log = run(inspect_task(name, setting=setting, **more))
    assert_same(log, expected_report(name, setting=setting, **more).metrics)
    opened = load(name, **SAMPLE, setting=setting, **more)
    assert log.eval.metadata
    assert log.eval.metadata["signature"] == str(opened.signature("generate"))
    assert log.eval.task_version == opened.version


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "more", "on_unparsed"), [(RATING, {}, "wrong"), (PAIRWISE, {"via": "ratings"}, "exclude")]
)
def test_inspect_counts_what_it_cannot_read(name: str, more: dict[str, str], on_unparsed: str) -> None:
    def spoilt(asked: str) -> str:
        return "Hard to say." if len(asked) % 5 == 0 else reply(asked)

    log = run(inspect_task(name, on_unparsed=on_unparsed, **more), scripted(spoilt))
    opened = load(name, **SAMPLE, on_unparsed=on_unparsed, **more)
    report = evaluate(opened, {r.id: spoilt(opened.prompt(r).turns[-1].text) for r in opened.records})
    assert 0 < report.metrics["unparsed"].value < 1
    assert_same(log, report.metrics)
    unread = [sample.scores for sample in log.samples or [] if sample.output.completion == "Hard to say."]
    assert {next(iter(scores.values())).reason for scores in unread if scores} == {"invalid_response_format"}


def with_logprobs(text: str, tokens: list[tuple[str, dict[str, float] | None]]) -> ModelOutput:
    content = [
        Logprob(
            token=token,
            logprob=-0.1,
            top_logprobs=None if top is None else [TopLogprob(token=t, logprob=x) for t, x in top.items()],
        )
        for token, top in tokens
    ]
    message = ChatMessageAssistant(content=text)
    return ModelOutput(
        model="mockllm/model", choices=[ChatCompletionChoice(message=message, logprobs=Logprobs(content=content))]
    )


SPREAD = {" 2": math.log(0.3), "2": math.log(0.1), " 0": math.log(0.2), " x": math.log(0.2), "10": math.log(0.1)}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "blank"), [(RATING, ""), (RATING, "▁"), (PAIRWISE, " ")])
def test_expected_values_are_those_of_the_first_digit(name: str, blank: str) -> None:
    """Of 0.6 on digits 0.4 are on 2: 4/3, whatever the reply says."""
    tokens = [("Rating", {"Rating": -0.1, "3": -2.0}), (":", {}), (f"{blank}3", SPREAD), (".", {"1": 0.0})]
    said = with_logprobs("Rating: 3.", tokens)
    more = {"via": "ratings"} if name == PAIRWISE else {}
    log = run(inspect_task(name, estimate="expected", **more), scripted(lambda asked: said.model_copy(deep=True)))
    for sample in log.samples or []:
        assert sample.scores
        assert float(str(sample.scores["rating_error"].answer)) == pytest.approx(4 / 3)
        assert sample.metadata["said"] == "Rating: 3."
        assert sample.metadata["digit_probability"] == pytest.approx(0.6)
    opened = load(name, **SAMPLE, estimate="expected", **more)
    assert_same(log, evaluate(opened, {r.id: f"Rating: {4 / 3!r}" for r in opened.records}).metrics)
    assert "|estimate:expected|" in (log.eval.metadata or {})["signature"]
    assert log.plan.config.logprobs


def test_without_a_digit_there_is_no_expected_value() -> None:
    said = with_logprobs("Not funny.", [("Not", {"Not": -0.1, "0": -3.0}), (" funny", {"0": -1.0})])
    log = run(inspect_task(RATING, estimate="expected"), scripted(lambda asked: said.model_copy(deep=True)), limit=3)
    assert log.results
    assert log.results.scores[0].metrics["unparsed"].value == 1
    assert {sample.metadata["digit_probability"] for sample in log.samples or []} == {0.0}


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (ModelOutput.from_content("mockllm/model", "Rating: 2"), "returns no log-probabilities; use estimate=text"),
        (
            with_logprobs("2", [("2", None)]),
            "returns the log-probability of the generated token only; use estimate=text",
        ),
    ],
)
def test_a_model_without_logprobs_is_told_so(said: ModelOutput, message: str) -> None:
    log = eval(inspect_task(RATING, estimate="expected"), model=scripted(lambda asked: said), display="none", limit=1)
    assert log[0].status == "error"
    assert message in str(log[0].error)


# ---- lm-eval ------------------------------------------------------------------------------------


def answering(likelihoods: dict[str, float] = LIKELIHOODS) -> ScriptedLM:
    """Answers as `reply` does; likelihoods of digits are LIKELIHOODS, of letters those of its answer."""

    def likelihood(asked: str, continuation: str) -> float:
        label = continuation.strip()
        return likelihoods[label] if label in likelihoods else 0.0 if reply(asked) == f"Answer: {label}" else -1.0

    return ScriptedLM(lambda asked, doc: reply(asked), likelihood)


def lm_eval(task: str, model: LM | None = None, **metadata: Any) -> dict[str, Any]:
    return run_lm_eval(model or answering(), task, metadata=SAMPLE | metadata)


def assert_same_results(found: dict[str, Any], metrics: dict[str, Estimate]) -> None:
    for name, estimate in metrics.items():
        short = "acc" if name == "accuracy" else name
        assert found[f"{short},none"] == pytest.approx(estimate.value, nan_ok=True), name
        assert found[f"{short}_stderr,none"] == pytest.approx(estimate.stderr, nan_ok=True), name


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize(("name", "more"), VARIANTS)
def test_lm_eval_generates_and_scores_as_without_a_harness(name: str, more: dict[str, str]) -> None:
    found = lm_eval(f"{name}_gen", **more)
    assert_same_results(found["results"][f"{name}_gen"], expected_report(name, **more).metrics)
    assert found["versions"][f"{name}_gen"] == load(name, **SAMPLE, **more).version


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize(("name", "more"), [VARIANTS[0], VARIANTS[2]])
def test_log_likelihoods_of_the_digits_give_the_expected_value(name: str, more: dict[str, str]) -> None:
    model = answering()
    found = lm_eval(name, model, **more)["results"][name]
    opened = load(name, **SAMPLE, **more)
    assert_same_results(found, evaluate(opened, {r.id: "Rating: 1.0" for r in opened.records}).metrics)
    assert found["unparsed,none"] == 0
    assert len(model.asked) == 4 * len(opened.records)
    assert [r.args[1] for r in model.asked[:4]] == [" 0", " 1", " 2", " 3"]
    assert all(r.args[0].endswith("\n\nRating:") for r in model.asked)


@pytest.mark.lm_eval_versions
def test_log_likelihoods_of_the_letters() -> None:
    assert_same_results(lm_eval(PAIRWISE)["results"][PAIRWISE], expected_report(PAIRWISE).metrics)


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize("likelihood", [math.nan, -math.inf])
def test_no_finite_likelihood_is_no_rating(likelihood: float) -> None:
    found = lm_eval(RATING, answering(dict.fromkeys("0123", likelihood)))["results"][RATING]
    assert found["unparsed,none"] == 1


@pytest.mark.lm_eval_versions
@pytest.mark.parametrize(("name", "more", "setting"), SHOWN)
@pytest.mark.parametrize("shots", [0, 2])
def test_both_harnesses_show_the_same(name: str, more: dict[str, str], setting: str, shots: int) -> None:
    parameters: dict[str, Any] = SAMPLE | more | {"setting": setting}
    task = BenchmarkTask({"task": name, "benchmark": name, "output_type": "generate_until", "metadata": parameters})
    task.set_fewshot_seed(1234)
    theirs = inspect_task(name, setting=setting, shots=shots, **more)
    docs = task.test_docs()
    assert [sample.id for sample in theirs.dataset] == [doc["id"] for doc in docs]
    for sample, doc in zip(theirs.dataset, docs, strict=True):
        context: Any = task.fewshot_context(
            doc, shots, apply_chat_template=True, fewshot_as_multiturn=True, chat_template=lambda turns, **_: turns
        )
        assert not isinstance(sample.input, str)
        assert [(m.role, m.text) for m in sample.input] == [(turn["role"], turn["content"]) for turn in context]
        assert (sample.choices or []) == doc["choices"]
        assert sample.target == doc["target"] == task.doc_to_target(doc)
        assert (sample.metadata or {})["cluster"] == doc["cluster"]
        assert (sample.metadata or {}).get("pairs") == doc.get("pairs")
    assert theirs.version == task.VERSION


# ---- submission files -----------------------------------------------------------------------------


def command(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def samples_file(task: str, path: Path, **metadata: Any) -> Path:
    """What lm-eval's --log_samples writes."""
    samples = lm_eval(task, **metadata)["samples"][task]
    path.write_text("".join(json.dumps(sample, default=str) + "\n" for sample in samples))
    return path


def logs_of(name: str, folder: Path, more: dict[str, str]) -> Iterator[tuple[Path, Run]]:
    opened = load(name, **SAMPLE, **more)
    yield Path(run(inspect_task(name, **more), log_dir=str(folder)).location), opened
    for task in (f"{name}_gen", name):
        yield samples_file(task, folder / f"samples_{task}.jsonl", **more), opened


def printed(done: Result) -> dict[str, list[str]]:
    """{metric: what is printed in its line}."""
    assert done.exit_code == 0, done.output
    return {line.split()[0]: line.split()[1:] for line in done.output.splitlines()[1:-1]}


@pytest.mark.lm_eval_versions
@pytest.mark.slow
@pytest.mark.parametrize("name", [RATING, PAIRWISE])
def test_a_submission_scores_as_its_log(name: str, tmp_path: Path) -> None:
    for log, _ in logs_of(name, tmp_path, {}):
        out = tmp_path / f"{log.stem}.csv"
        done = command("export", "submission", log, "-o", out)
        assert done.exit_code == 0, done.output
        assert out.read_text().startswith("id,pred\n")
        found = printed(command("score", out, "--task", name, "--dataset", "sample", "--split", "test"))
        if log.stem == f"samples_{name}" and name == RATING:
            assert {row["pred"] for row in csv.DictReader(out.open())} == {"1.0"}
            continue
        metrics = expected_report(name).metrics
        assert {m: each[0] for m, each in found.items()} == {m: f"{e.value:.5f}" for m, e in metrics.items()}
        assert {m: each[1] for m, each in found.items()} == {m: f"{e.stderr:.5f}" for m, e in metrics.items()}


@pytest.mark.slow
def test_ratings_compared_make_a_submission(tmp_path: Path) -> None:
    """Equal ratings are no answer to a pair: they are refused, or filled as told."""
    (log, _), *_ = logs_of(PAIRWISE, tmp_path, {"via": "ratings"})
    direct = load(PAIRWISE, **SAMPLE)
    tied = [r.id for r in direct.records if rated(r.choices[0]) == rated(r.choices[1])]
    refused = command("export", "submission", log, "-o", tmp_path / "out.csv")
    assert refused.exit_code == 2
    assert f"{len(tied)} rows: " in refused.output
    assert all(identity in refused.output for identity in tied)
    assert "without an answer (or with equal ratings); choose --fill 1, 2 or random" in refused.output
    for fill in "12":
        out = tmp_path / f"{fill}.csv"
        assert command("export", "submission", log, "-o", out, "--fill", fill).exit_code == 0
        found = {row["id"]: row["pred"] for row in csv.DictReader(out.open())}
        for record in direct.records:
            a, b = map(rated, record.choices)
            assert found[record.id] == (fill if a == b else "1" if a > b else "2")
        assert set(found) == {record.id for record in direct.records}
    seeded = [tmp_path / f"random{i}.csv" for i in range(2)]
    assert all(command("export", "submission", log, "-o", out, "--fill", "random").exit_code == 0 for out in seeded)
    assert seeded[0].read_text() == seeded[1].read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "fill", "filled"),
    [(RATING, "0.93", "0.93"), (RATING, None, None), (PAIRWISE, None, None)],
)
def test_gaps_are_refused_or_filled(name: str, fill: str | None, filled: str | None, tmp_path: Path) -> None:
    lost: list[str] = []

    def spoilt(asked: str) -> str:
        lost.append(asked)
        return "?" if len(lost) == 1 else reply(asked)

    log = run(inspect_task(name), scripted(spoilt), log_dir=str(tmp_path)).location
    out = tmp_path / "out.csv"
    done = command("export", "submission", log, "-o", out, *(["--fill", fill] if fill else []))
    if filled is None:
        assert done.exit_code == 2
        assert re.search(r"1 row: \S+ without an answer; choose --fill (NUMBER|1, 2 or random)", done.output)
        assert not out.exists()
    else:
        assert done.exit_code == 0, done.output
        gap = next(i for i, answer in read_answers(Path(log)).answers.items() if answer is None)
        assert {row["id"]: row["pred"] for row in csv.DictReader(out.open())}[gap] == filled


@pytest.mark.slow
def test_wrong_fills_files_and_logs(tmp_path: Path) -> None:
    rating = Path(run(inspect_task(RATING), log_dir=str(tmp_path)).location)
    pairs = Path(run(inspect_task(PAIRWISE), log_dir=str(tmp_path)).location)
    for log, fill, message in (
        (rating, "4", "--fill 4: the prediction is '4'; it must be a number from 0 to 3"),
        (rating, "nan", "must be a number from 0 to 3"),
        (rating, "random", "must be a number from 0 to 3"),
        (pairs, "A", "--fill A: choose random, 1 or 2"),
        (pairs, "1.5", "choose random, 1 or 2"),
    ):
        done = command("export", "submission", log, "-o", tmp_path / "out.csv", "--fill", fill)
        assert done.exit_code == 2
        assert message in done.output
    assert "ends in .csv" in command("export", "submission", rating, "-o", tmp_path / "out.json").output
    part = Path(run(inspect_task(RATING), limit=5, log_dir=str(tmp_path)).location)
    assert "holds 5 of 36 instances" in command("export", "submission", part, "-o", tmp_path / "out.csv").output
    with pytest.raises(BadInput, match="holds 5 of 36"):
        read_answers(part)
    assert not (tmp_path / "out.csv").exists()
    assert build(RATING, SAMPLE, []).dataset[0].id in read_answers(rating).answers


def test_a_submission_of_every_pair_has_the_tied_ones_too(tmp_path: Path) -> None:
    opened = load(PAIRWISE, **SAMPLE | {"split": "dev"})
    log = samples_file(f"{PAIRWISE}_gen", tmp_path / "samples.jsonl", split="dev", ties="keep")
    assert command("export", "submission", log, "-o", tmp_path / "out.csv").exit_code == 0
    ids = {row["id"] for row in csv.DictReader((tmp_path / "out.csv").open())}
    assert ids == {r.id for r in opened.records} | opened.data.dropped > {r.id for r in opened.records}


@pytest.mark.parametrize("name", [RATING, PAIRWISE])
def test_a_limited_run_makes_no_submission(name: str, tmp_path: Path) -> None:
    log = samples_file(f"{name}_gen", tmp_path / "samples.jsonl")
    whole = log.read_text().splitlines(keepends=True)
    log.write_text("".join(whole[:-1]))
    done = command("export", "submission", log, "-o", tmp_path / "out.csv")
    assert done.exit_code == 2
    assert f"holds {len(whole) - 1} of {len(whole)} instances" in done.output
    assert not (tmp_path / "out.csv").exists()


def test_ratings_of_the_pairs_headlines_are_scored_from_a_csv(tmp_path: Path) -> None:
    opened = load(PAIRWISE, **SAMPLE, via="ratings")
    path = tmp_path / "out.csv"
    path.write_text("id,pred\n" + "".join(f"{r.id},{rated(r.context)}\n" for r in opened.records))
    found = printed(command("score", path, "--task", PAIRWISE, "-T", "via=ratings", "--dataset", "sample"))
    wanted = expected_report(PAIRWISE, via="ratings").metrics
    assert {m: each[0] for m, each in found.items()} == {m: f"{e.value:.5f}" for m, e in wanted.items()}


@pytest.mark.slow
def test_a_model_that_picks_among_choices_rates_nothing() -> None:
    log = eval(inspect_task(RATING), model="baseline/first", display="none")[0]
    assert log.status == "error"
    assert "cannot rate headlines" in str(log.error and log.error.message)
    with pytest.raises(BadInput, match="cannot rate headlines"):
        lm_eval(f"{RATING}_gen", BaselineLM(strategy="first"))


def official(subtask: int, rows: Callable[[list[str]], Any], folder: Path) -> Path:
    """A submission of the sample's test split, after `rows` changed its lines."""
    opened = load((RATING, PAIRWISE)[subtask - 1], **SAMPLE)
    lines = ["id,pred", *(f"{r.id},1" for r in opened.records)]
    rows(lines)
    path = folder / "out.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def set_value(value: str) -> Callable[[list[str]], None]:
    return lambda lines: lines.__setitem__(3, f"{lines[3].split(',')[0]},{value}")


@pytest.mark.parametrize(
    ("subtask", "change", "message"),
    [
        *((1, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be") for bad in ("3.01", "-0.1")),
        *((1, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be") for bad in ("nan", "inf", "")),
        *((1, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be") for bad in ("funny", "None")),
        *((2, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be 1 or 2") for bad in ("3", "1.0")),
        *((2, set_value(bad), "line 4, id {id}: the prediction is {value}; it must be 1 or 2") for bad in ("A", "")),
        *((n, lambda lines: lines.pop(3), "1 missing id: {id}.") for n in (1, 2)),
        *((n, lambda lines: lines.append("7,1"), "1 unknown id: 7.") for n in (1, 2)),
        *((n, lambda lines: lines.append(lines[3]), ", line {last}: id {id} repeats that of {path}") for n in (1, 2)),
        *((n, lambda lines: lines.__setitem__(0, "id,prediction"), "there is no column 'pred'") for n in (1, 2)),
        *((n, lambda lines: lines.__setitem__(3, "1,2,3"), "line 4: has 3 fields, the header has 2") for n in (1, 2)),
        (1, lambda lines: lines.__setitem__(slice(1, None), []), "there are no rows"),
    ],
)  # fmt: skip
def test_bad_submissions_are_not_scored(
    subtask: int, change: Callable[[list[str]], Any], message: str, tmp_path: Path
) -> None:
    name = (RATING, PAIRWISE)[subtask - 1]
    before = official(subtask, lambda lines: None, tmp_path).read_text().splitlines()
    path = official(subtask, change, tmp_path)
    value = path.read_text().splitlines()[3:4]
    about = {"id": before[3].split(",")[0], "path": path, "last": len(before) + 1}
    about["value"] = repr(value[0].split(",")[1]) if value else ""
    done = command("score", path, "--task", name, "--dataset", "sample")
    assert done.exit_code == 2
    assert str(path) in done.output
    assert message.format(**about) in done.output
    assert "rmse" not in done.output
    assert "accuracy" not in done.output


def test_the_organisers_baselines_score_as_published(real_data: Path) -> None:
    folder = real_data / "humicroedit"
    split = ["--dataset", folder, "--split", "dev"]
    rating = printed(command("score", folder / "official_task-1-output.csv", "--task", RATING, *split))
    assert (rating["rmse"][0], rating["rmse"][-2:]) == ("0.57840", ["2419", "828"])
    pairs = command("score", folder / "official_task-2-output.csv", "--task", PAIRWISE, *split, "--json")
    found = json.loads(pairs.output)["metrics"]
    assert [f"{found[name]['value']:.5f}" for name in ("accuracy", "reward")] == ["0.51405", "0.02325"]
    assert found["accuracy"]["n"] == 2099


# ---- which token rates ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tokens", "rates"),
    [
        (["Rating", ":", " 2"], 2),
        (["Rating: ", "2", ".", "5"], 1),
        ([" ", "**", "1", "**"], 2),
        (["<think>", "there are ", "3", " men", "</think>", "Rating", ": ", "1"], 7),
        (["On the ", "0", "-", "3", " scale: ", "2"], None),
        (["I", " say ", "2"], None),
        (["Rating: ", "1", ". No: ", "Rating: ", "3"], 4),
        (["Rating: ", "about ", "2"], None),
        ([], None),
    ],
)
def test_the_token_that_rates(tokens: list[str], rates: int | None) -> None:
    made = [Logprob(token=token, logprob=-0.1) for token in tokens]
    found = answer_token(made, "rating", lambda token: token.strip() in ("0", "1", "2", "3"))
    assert found is (None if rates is None else made[rates])
