"""Logs of other packages' tasks: Inspect's and lm-eval's, compared and reported beside ours."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from inspect_ai import Epochs, Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Scorer, Target, includes, match, mean, scorer
from inspect_ai.solver import TaskState
from scipy import stats
from standins import commands
from standins.once import made_once
from standins.sample_runs import sample_runs

from humor_tasks.errors import BadInput
from humor_tasks.logs.prices import Price
from humor_tasks.results import Result, read_results, refusals
from humor_tasks.results.compare import Comparisons, compare
from humor_tasks.results.foreign import Foreign
from humor_tasks.results.report.build import build_report

BY_SHEET = Foreign(cluster="sheet")
TASK = '''"""Sums of small numbers, as in books of exercises."""
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import match
from inspect_ai.solver import generate


@task
def sums(n: int = 12) -> Task:
    rows = [Sample(f"{i} + 1", target=str(i + 1), id=i, metadata={"sheet": i // 4}) for i in range(n)]
    return Task(dataset=rows, solver=generate(), scorer=match(numeric=True))
'''


def solver_of_sums(name: str, right: float) -> Any:
    """A model that gives the right sum of a line to this share of lines, another one in each epoch."""
    asked: dict[str, int] = {}

    def answer(messages: Sequence[Any], *more: Any) -> ModelOutput:
        text = messages[-1].text
        asked[text] = asked.get(text, 0) + 1
        wrong = random.Random(f"{name} {text} {asked[text]}").random() >= right
        output = ModelOutput.from_content(name, str(sum(map(int, text.split(" + "))) + wrong))
        output.usage = ModelUsage(input_tokens=3, output_tokens=1, total_tokens=4)
        return output

    return get_model(f"mockllm/{name}", custom_outputs=answer, memoize=False)


@scorer(metrics=[mean()])
def distance() -> Scorer:
    """How far an answer is from the sum, where less is better, which no log says."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=abs(float(state.output.completion) - float(target.text)) * 2.5)

    return score


@scorer(metrics={"*": [mean()]})
def both() -> Scorer:
    """Two values, and text that is no score."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value={"right": float(state.output.completion == target.text), "said": state.output.completion})

    return score


def sums(scorers: Any = None, offset: int = 0, version: int = 1, epochs: Epochs | None = None) -> Task:
    """Thirty lines on sheets of three. offset: of the numbers that are added."""
    rows = [
        Sample(f"{i} + {i % 7 + offset}", target=str(i + i % 7), id=i, metadata={"sheet": f"s{i // 3}"})
        for i in range(30)
    ]
    return Task(dataset=rows, scorer=scorers or match(numeric=True), version=version, epochs=epochs, name="sums")


def run(folder: Path, task: Task, name: str = "good", right: float = 0.9, **how: Any) -> Path:
    (log,) = eval(task, model=solver_of_sums(name, right), log_dir=str(folder), display="none", **how)
    return Path(log.location)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Inspect's logs of sums by three models in plain/, and of variants of the task."""

    def make(folder: Path) -> None:
        for name, right in (("good", 0.9), ("poor", 0.4), ("third", 0.6)):
            run(folder / "plain", sums(), name, right)
        run(folder / "scored_not", sums(), score=False)
        run(folder / "two", sums([match(numeric=True), includes()]))
        run(folder / "other_items", sums(offset=1))
        run(folder / "newer", sums(version=2))
        for way in ("mean", "mode"):
            run(folder / way, sums(epochs=Epochs(3, way)), right=0.6)
        run(folder / "distance", sums(distance()))
        run(folder / "both", sums(both()))

    return made_once(tmp_path_factory, "logs of another package's task", make)


def read(path: Path, how: Foreign = BY_SHEET) -> Result:
    (result,) = read_results([path], foreign=how).results
    return result


def refused(path: Path, how: Foreign = BY_SHEET) -> str:
    """Why the only log of a folder is left out."""
    with pytest.raises(BadInput) as said:
        read_results([path], foreign=how)
    first, why = str(said.value).split("\n")
    assert first == "there is no run to read."
    return why.split(": ", 1)[1]


# ---- figures against numpy ----------------------------------------------------------------------


def independent(first: np.ndarray, second: np.ndarray, clusters: Sequence[Any]) -> dict[str, float]:
    """The difference, its clustered error, the limits of t with G - 1 degrees, and McNemar's exact p."""
    d = first - second
    residuals = d - d.mean()
    names = sorted(set(clusters))
    sums_ = np.array([residuals[[c == name for c in clusters]].sum() for name in names])
    g, n = len(names), len(d)
    stderr = np.sqrt(g / (g - 1) * (sums_**2).sum()) / n
    reach = stats.t.ppf(0.975, g - 1) * stderr
    only = int((d > 0).sum()), int((d < 0).sum())
    return {
        "difference": d.mean(),
        "stderr": stderr,
        "low": d.mean() - reach,
        "high": d.mean() + reach,
        "mcnemar": stats.binomtest(only[0], sum(only), 0.5).pvalue if sum(only) else 1.0,
    }


def holm(ps: Sequence[float]) -> np.ndarray:
    """Holm's adjusted p-values by numpy."""
    order = np.argsort(ps, kind="stable")
    steps = np.maximum.accumulate(np.asarray(ps)[order] * (len(ps) - np.arange(len(ps))))
    adjusted = np.empty(len(ps))
    adjusted[order] = np.minimum(1, steps)
    return adjusted


def same_figures(found: Comparisons, values: Mapping[str, np.ndarray], clusters: Sequence[Any]) -> None:
    comparisons = [c for compared in found.benchmarks for c in compared.comparisons]
    for c in comparisons:
        expected = independent(values[c.first.label], values[c.second.label], clusters)
        e = c.test.difference
        told = {"difference": e.value, "stderr": e.stderr, "low": e.low, "high": e.high, "mcnemar": c.test.mcnemar}
        assert told == pytest.approx(expected, rel=0, abs=1e-9)
        assert c.test.needed is not None
    assert [c.test.adjusted for c in comparisons] == pytest.approx(
        list(holm([c.test.p_value for c in comparisons])), rel=0, abs=1e-12
    )


def test_inspects_logs_are_compared_as_an_independent_computation_does(logs: Path) -> None:
    values, clusters = {}, []
    for path in (logs / "plain").glob("*.eval"):
        log = read_eval_log(str(path))
        samples = sorted(log.samples or [], key=lambda sample: int(sample.id))
        values[log.eval.model] = np.array([float((s.scores or {})["match"].value == "C") for s in samples])
        clusters = [s.metadata["sheet"] for s in samples]
    found = compare(read_results([logs / "plain"], foreign=BY_SHEET))
    (compared,) = found.benchmarks
    assert (compared.benchmark, compared.metric, compared.count) == ("inspect/sums", "match", 3)
    assert {s.label: s.value.value for s in compared.systems} == {n: v.mean() for n, v in values.items()}
    assert {(s.value.n, s.value.clusters) for s in compared.systems} == {(30, 10)}
    same_figures(found, values, clusters)
    alone = compare(read_results([logs / "plain"], foreign=Foreign()))
    same_figures(alone, values, range(30))
    assert any("--cluster names a field" in note for note in alone.benchmarks[0].notes)
    assert compared.notes == ()


def test_epochs_have_the_value_to_which_the_log_reduced_them(logs: Path) -> None:
    results = {}
    for way in ("mean", "mode"):
        results[way] = read(logs / way)
        (path,) = (logs / way).glob("*.eval")
        log = read_eval_log(str(path))
        assert log.results is not None
        printed = log.results.scores[0].metrics["accuracy"].value
        assert results[way].estimates["match"].value == pytest.approx(printed, rel=0, abs=1e-12)
        as_json = path.with_suffix(".json")
        as_json.write_text(log.model_dump_json())
        assert read(as_json).outcomes == results[way].outcomes
        as_json.unlink()
    assert [len(r.outcomes) for r in results.values()] == [90, 30]
    assert results["mean"].estimates["match"].value != results["mode"].estimates["match"].value
    assert refusals(*results.values()) == ["reduction of epochs: mean and mode of 3"]
    assert refusals(results["mean"], read(next((logs / "plain").glob("*.eval")))) == []


# ---- what does not compare, and what is not known ---------------------------------------------------


def test_what_does_not_compare_is_refused_with_the_reason(logs: Path) -> None:
    (first, *_) = read_results([logs / "plain"], foreign=BY_SHEET).results
    (reason,) = refusals(first, read(logs / "other_items"))
    assert reason.startswith("fingerprint of the items: ")
    assert refusals(first, read(logs / "newer")) == ["version of the benchmark: 1 and 2"]
    assert refusals(first, read(logs / "two", Foreign(["includes"], "sheet")))[0] == "metric: match and includes"


@pytest.mark.parametrize(
    ("folder", "how", "why"),
    [
        ("scored_not", BY_SHEET, "holds no score of any item; score it with `inspect score`."),
        ("two", BY_SHEET, "holds 2 scores of each item; choose with --metric from match; includes."),
        ("two", Foreign(["f1"]), "has no score f1; choose with --metric from match; includes."),
        ("both", Foreign(["both"]), "both names 2 of its scores; choose with --metric from both.right; both.said."),
        (
            "plain",
            Foreign(cluster="page"),
            "sample 0: its metadata has no field page (--cluster); its fields: sheet.",
        ),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(logs: Path, folder: str, how: Foreign, why: str) -> None:
    (path, *_) = sorted((logs / folder).glob("*.eval"))
    assert refused(path, how) == why


def test_text_is_no_score(logs: Path) -> None:
    assert "its both.said is '" in refused(logs / "both", Foreign(["said"]))
    assert read(logs / "both", Foreign(["right"])).estimates.keys() == {"both.right"}


def test_a_direction_that_no_log_says_is_told(logs: Path) -> None:
    result = read(logs / "distance")
    assert result.unknown == (
        "The logs do not say whether higher values of distance are better; they count as better.",
    )
    assert not result.benchmark.metrics[0].proportion
    assert read(next((logs / "plain").glob("*.eval"))).unknown == ()


def test_without_being_asked_for_they_are_left_out(logs: Path) -> None:
    with pytest.raises(BadInput, match="is of a task of another package; give logs of this package's tasks"):
        read_results([logs / "plain"])


# ---- lm-eval ------------------------------------------------------------------------------------

STAMP = "2026-05-04T10-00-00.000000"
SCIENCE = "tiny_science"


def science(folder: Path, name: str, right: float, version: float = 1.0, results: bool = True) -> Path:
    """Samples of invented questions as lm-eval writes those of arc_easy, with the results file beside them."""
    chance = random.Random(name)
    lines = []
    for i in range(40):
        acc, norm = (float(chance.random() < right) for _ in range(2))
        doc = {"id": f"q{i}", "question": f"Which of these is number {i}?", "unit": f"u{i // 4}"}
        lines.append(
            {"doc_id": i, "doc": doc, "target": str(i % 4), "resps": [[["-1.5", "False"]]] * 4}
            | {"arguments": {"gen_args_0": {"arg_0": f"Question: {i}", "arg_1": " a"}}, "filter": "none"}
            | {"filtered_resps": [["-1.5", "False"]] * 4, "metrics": ["acc", "acc_norm"], "acc": acc, "acc_norm": norm}
        )
    folder.mkdir(parents=True)
    path = folder / f"samples_{SCIENCE}_{STAMP}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    config = {"model": "hf", "model_args": {"pretrained": name}, "gen_kwargs": None}
    body = {"model_source": "hf", "model_name": name, "config": config, "n-shot": {SCIENCE: 5}}
    body |= {"configs": {SCIENCE: {"metadata": {"version": version, "pretrained": name}}}}
    body |= {"versions": {SCIENCE: version}, "higher_is_better": {SCIENCE: {"acc": True, "acc_norm": True}}}
    if results:
        (folder / f"results_{STAMP}.json").write_text(json.dumps(body))
    return path


def test_lm_evals_samples_are_compared_as_an_independent_computation_does(tmp_path: Path) -> None:
    paths = {name: science(tmp_path / name, name, right) for name, right in (("a/x", 0.9), ("b/y", 0.4))}
    rows = {name: [json.loads(line) for line in path.read_text().splitlines()] for name, path in paths.items()}
    how = Foreign(["acc"], "unit")
    found = compare(read_results([tmp_path], foreign=how), "accuracy")
    (compared,) = found.benchmarks
    assert (compared.benchmark, compared.metric, compared.notes) == (f"lm_eval/{SCIENCE}", "acc", ())
    values = {name: np.array([row["acc"] for row in of]) for name, of in rows.items()}
    same_figures(found, values, [row["doc"]["unit"] for row in rows["a/x"]])
    assert {s.result.signature["shots"] for s in compared.systems} == {"5"}
    assert refused(paths["a/x"], Foreign()) == "holds 2 scores of each item; choose with --metric from acc; acc_norm."
    other = science(tmp_path / "other", "a/x", 0.9, version=2.0)
    assert refusals(read(other, how), read(paths["b/y"], how)) == ["version of the benchmark: 2.0 and 1.0"]


def test_two_filters_are_two_scores(tmp_path: Path) -> None:
    path = science(tmp_path / "x", "x", 0.5)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    rows = [
        line | {"filter": name, "acc": value} for name, value in (("strict", 0.0), ("loose", 1.0)) for line in lines
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    listed = "acc,strict; acc_norm,strict; acc,loose; acc_norm,loose"
    assert refused(path, Foreign(["acc"])) == f"acc names 2 of its scores; choose with --metric from {listed}."
    for name, value in (("acc,strict", 0), ("acc,loose", 1)):
        result = read(path, Foreign([name]))
        assert (result.estimates[name].value, len(result.outcomes)) == (value, 40)
    path.write_text("".join(json.dumps(row) + "\n" for row in (*rows, rows[0])))
    assert "line 81: holds a second reply for 0; keep one run a file." in refused(path, Foreign(["acc,loose"]))


def test_without_its_results_file_the_folder_names_the_model_and_that_is_told(tmp_path: Path) -> None:
    bare = [science(tmp_path / name, name, right, results=False) for name, right in (("x", 0.9), ("y", 0.4))]
    found = compare(read_results(bare, foreign=Foreign(["acc"], "unit")))
    assert {s.label for s in found.benchmarks[0].systems} == {"x", "y"}
    assert any(bare[0].name in note and "has no results file" in note for note in found.benchmarks[0].notes)
    known = read(science(tmp_path / "z", "z", 0.5), Foreign(["acc"], "unit"))
    assert refusals(known, read(bare[0], Foreign(["acc"], "unit")))[0] == "version of the benchmark: 1.0 and -"


def test_samples_without_a_number_hold_no_score(tmp_path: Path) -> None:
    path = science(tmp_path / "x", "x", 0.5)
    rows = [json.loads(line) | {"metrics": ["bleu"], "bleu": ["a", "b"]} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert refused(path) == "holds no score of any item; its metrics' columns hold no number."


# ---- command lines ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Runs of ours by two baselines, and a folder of logs of both that `inspect eval FILE` wrote."""

    def make(folder: Path) -> None:
        (folder / "sums.py").write_text(TASK)
        for model in ("baseline/first", "baseline/longest"):
            how = ("--model", model, "--log-dir", folder / "logs", "--display", "none")
            commands.inspect("eval", "sums.py", *how, cwd=folder)

    ours = sample_runs(tmp_path_factory)
    return ours / "first", ours / "overlap", made_once(tmp_path_factory, "a typed task", make) / "logs"


@pytest.mark.slow
def test_a_task_of_inspects_command_line_stands_beside_ours_on_one_page(
    typed: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    said = commands.humor_tasks("report", typed[0], typed[2], "--cluster", "sheet", "-o", tmp_path / "page.html")
    assert "inspect/sums, a task of another package" in said
    head = next(line for line in said.splitlines() if line.startswith("| system"))
    assert head.index("matching accuracy") < head.index("inspect/sums match")
    assert "inspect/sums" in (tmp_path / "page.html").read_text()


@pytest.mark.slow
def test_one_command_compares_ours_and_theirs_by_a_metric_each(typed: tuple[Path, Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "c.json"
    commands.humor_tasks("compare", *typed, "--metric", "accuracy", "--metric", "match", "-o", out)
    data = json.loads(out.read_text())
    metrics = {b["benchmark"]: b["metric"] for b in data["benchmarks"]}
    assert metrics == {"matching": "accuracy", "inspect/sums": "match"}
    assert data["comparisons"] == 2


def test_a_report_has_theirs_after_ours_with_costs_and_without_charts(
    logs: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    ours = sample_runs(tmp_path_factory)
    found = read_results([logs / "plain", ours / "first"], foreign=Foreign())
    price = Price(1.0, 1.0, 0.0, 0.0, "2026-05-04", "a list")
    report = build_report(found, {f"mockllm/{name}": price for name in ("good", "poor", "third")})
    own, others = report.scorecard.columns
    assert (own.benchmark.name, others.benchmark.name) == ("matching", "inspect/sums")
    assert (others.human, others.best, others.beside) == (None, None, ())
    assert [cell.result.system for cell in others.cells] == ["mockllm/good", "mockllm/third", "mockllm/poor"]
    rows = [row for row in report.rows if row["benchmark"] == "inspect/sums"]
    assert all(row["cost"] == pytest.approx(30 * 4 / 1e6) for row in rows)
    assert not [chart for chart in report.charts if "sums" in chart.title]
    assert report.warnings == (
        "inspect/sums: Each item counts as a cluster of its own; --cluster names a field that related items share.",
    )
