"""Our metrics as modules of `evaluate`: the numbers of the plain scorers, by import, folder and combined, offline."""

from __future__ import annotations

import contextlib
import doctest
import io
import math
import re
import socket
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.evaluate_caches import own_caches
from standins.paths import REPOSITORY

from humor_tasks import evaluate_metrics
from humor_tasks.errors import BadInput
from humor_tasks.evaluate_metrics import CaptionChoiceAccuracy, HumicroeditRmse, PairwiseReward, VerdictAgreement
from humor_tasks.scorers import (
    clustered_proportion,
    judge_exam,
    pair_accuracy,
    pair_labels,
    pair_reward,
    rating_metrics,
)
from humor_tasks.scorers.estimate import Estimate

DOCUMENT = REPOSITORY / "docs" / "evaluate.md"
MODULES = {module().name: module for module in (getattr(evaluate_metrics, name) for name in evaluate_metrics.__all__)}
Columns = dict[str, Any]
ROWS: dict[str, Columns] = {
    "caption_choice_accuracy": {
        "predictions": ["A", "B", None, 3],
        "references": ["A", "C", "B", "3"],
        "clusters": [1, 1, 2, 3],
    },
    "humicroedit_rmse": {
        "predictions": [1.0, 2.5, 0, 1],
        "references": [0.5, 2.0, 0.2, 1],
        "clusters": ["h", "h", "i", "j"],
    },
    "pairwise_reward": {
        "predictions": [1, 2, None, 0],
        "references": [[1.5, 1.0], [2.0, 0.5], (1, 1), (0, 1.5)],
        "clusters": ["h", "i", "i", "j"],
    },
    "verdict_agreement": {
        "predictions": [True, 0, None, False],
        "references": [True, True, False, 0],
        "clusters": [1, 2, 2, 3],
    },
}


@pytest.fixture(autouse=True, scope="module")
def offline_with_own_caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Rows and copies of modules lie in a folder of these tests; whoever opens a connection fails."""

    def refuse(*asked: object) -> None:
        raise AssertionError(f"a connection to {asked[1:]}")

    with pytest.MonkeyPatch.context() as patch, own_caches(tmp_path_factory.mktemp("evaluate")):
        patch.setattr(socket.socket, "connect", refuse)
        yield


def folder_of(name: str) -> str:
    return str(files(evaluate_metrics) / name)


def without_clusters(columns: Columns) -> Columns:
    return {name: column for name, column in columns.items() if name != "clusters"}


def same(found: Mapping[str, Any] | None, wanted: Mapping[str, Any]) -> bool:
    """Equal dictionaries, in which nan equals nan."""
    assert found is not None
    assert found.keys() == wanted.keys()
    return all(found[k] == w or (math.isnan(found[k]) and math.isnan(w)) for k, w in wanted.items())


def parts(name: str, estimate: Estimate) -> dict[str, float]:
    interval = {f"{name}_{part}": getattr(estimate, part) for part in ("stderr", "low", "high")}
    return {name: estimate.value, **interval}


# ---- the numbers -----------------------------------------------------------------------------------------------------


def rows_of(prediction: st.SearchStrategy[Any], reference: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.tuples(prediction, reference, st.integers(0, 3)), min_size=1, max_size=12)


GRADES = st.integers(0, 15).map(lambda fifths: fifths / 5)


@settings(max_examples=25)
@given(rows_of(st.none() | st.sampled_from("ABC"), st.sampled_from("ABC")))
def test_choice_is_the_clustered_proportion_of_right_rows(rows: list[Any]) -> None:
    chosen, right, clusters = map(list, zip(*rows, strict=True))
    wanted = clustered_proportion([float(c == r) for c, r in zip(chosen, right, strict=True)], clusters)
    unparsed = chosen.count(None) / len(rows)
    found = CaptionChoiceAccuracy().compute(predictions=chosen, references=right, clusters=clusters)
    expected = parts("accuracy", wanted) | {"unparsed": unparsed, "n": len(rows), "clusters": len(set(clusters))}
    assert same(found, expected)


@settings(max_examples=25)
@given(rows_of(st.floats(-1, 4), GRADES))
def test_rmse_is_that_of_the_rating_metrics(rows: list[Any]) -> None:
    ratings, grades, clusters = map(list, zip(*rows, strict=True))
    wanted = rating_metrics(ratings, grades, clusters)
    found = HumicroeditRmse().compute(predictions=ratings, references=grades, clusters=clusters)
    expected = {"n": len(rows), "clusters": len(set(clusters))}
    for name in ("rmse", "rmse@10", "rmse@20", "rmse@30", "rmse@40"):
        expected |= parts(name.replace("@", "_at_"), wanted[name])
    assert same(found, expected)


@settings(max_examples=25)
@given(rows_of(st.sampled_from([0, 1, 2, None]), st.tuples(GRADES, GRADES)))
def test_reward_is_that_of_the_pairs(rows: list[Any]) -> None:
    funnier, means, clusters = map(list, zip(*rows, strict=True))
    labels = pair_labels(means)
    reward, accuracy = pair_reward(means, funnier, clusters), pair_accuracy(labels, funnier, clusters)
    found = PairwiseReward().compute(predictions=funnier, references=means, clusters=clusters)
    counts = {"ties": labels.count(0), "n": reward.n, "clusters": reward.clusters}
    assert same(found, parts("reward", reward) | parts("pair_accuracy", accuracy) | counts)


@settings(max_examples=25)
@given(rows_of(st.none() | st.booleans(), st.booleans()))
def test_agreement_is_that_of_the_exam_on_rows_with_a_verdict(rows: list[Any]) -> None:
    verdicts, labels, clusters = map(list, zip(*rows, strict=True))
    given_verdict = [row for row in rows if row[0] is not None]
    exam = judge_exam(*([row[i] for row in given_verdict] for i in (1, 0, 2)))
    found = VerdictAgreement().compute(predictions=verdicts, references=labels, clusters=clusters)
    counts = {"n": len(given_verdict), "clusters": len({row[2] for row in given_verdict})}
    expected = {"unparsed": verdicts.count(None) / len(rows)} | counts
    for name, estimate in exam.items():
        expected |= parts(name, estimate)
    assert same(found, expected)


def test_level_changes_the_interval_and_not_the_value() -> None:
    rows = ROWS["humicroedit_rmse"]
    wide, narrow = (HumicroeditRmse().compute(**rows, level=level) for level in (0.99, 0.5))
    assert wide["rmse"] == narrow["rmse"]
    assert wide["rmse_low"] < narrow["rmse_low"] < narrow["rmse_high"] < wide["rmse_high"]


# ---- the library's ways of use ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_every_way_of_adding_rows_gives_the_same(name: str) -> None:
    rows, module = ROWS[name], MODULES[name]()
    wanted = module.compute(**rows)
    for size in (1, 3):
        for start in range(0, 4, size):
            module.add_batch(**{column: values[start : start + size] for column, values in rows.items()})
        assert len(module) == 4
        assert same(module.compute(), wanted)
    for prediction, reference, cluster in zip(*rows.values(), strict=True):
        module.add(prediction=prediction, reference=reference, clusters=cluster)
    assert same(module.compute(), wanted)
    module.add_batch(**{column: values[:2] for column, values in rows.items()})
    assert same(module.compute(**{column: values[2:] for column, values in rows.items()}), wanted)
    assert same(MODULES[name](keep_in_memory=True).compute(**rows), wanted)


@pytest.mark.parametrize("name", MODULES)
def test_without_clusters_there_are_the_values_and_no_interval(name: str) -> None:
    rows, module = ROWS[name], MODULES[name]()
    clustered = module.compute(**rows)
    found = module.compute(**without_clusters(rows))
    assert not [key for key in found if key.endswith(("_stderr", "_low", "_high")) or key == "clusters"]
    assert same(found, {key: clustered[key] for key in found})
    for prediction, reference in zip(rows["predictions"], rows["references"], strict=True):
        module.add(prediction=prediction, reference=reference)
    assert same(module.compute(), found)


@pytest.mark.parametrize("name", MODULES)
def test_the_folder_of_a_module_loads(name: str) -> None:
    loaded = evaluate.load(folder_of(name))
    assert loaded.name == name
    assert loaded.info.features == MODULES[name]().info.features
    assert same(loaded.compute(**ROWS[name]), MODULES[name]().compute(**ROWS[name]))


def test_arrays_and_columns_of_tables_are_lists() -> None:
    ratings, grades = np.array([1.0, 2.0, 0.5]), pd.Series([1.5, 2.0, 1.0], index=[7, 8, 9])
    found = HumicroeditRmse().compute(predictions=ratings, references=grades, clusters=np.array([1, 1, 2]))
    assert same(found, HumicroeditRmse().compute(predictions=[1, 2, 0.5], references=[1.5, 2, 1], clusters=[1, 1, 2]))
    pairs = PairwiseReward().compute(predictions=np.array([1, 2]), references=np.array([[1.0, 0.2], [0.4, 0.6]]))
    assert pairs == {"reward": pytest.approx(0.5), "pair_accuracy": 1.0, "ties": 0, "n": 2}


def test_labels_are_compared_without_white_space_around_them() -> None:
    found = CaptionChoiceAccuracy().compute(predictions=["A ", " B", "\tC\n", "D"], references=["A", "B ", "C", "E"])
    assert (found["accuracy"], found["unparsed"]) == (0.75, 0.0)


def test_no_rows_have_no_value() -> None:
    found = CaptionChoiceAccuracy().compute(predictions=[], references=[])
    assert same(found, {"accuracy": math.nan, "unparsed": math.nan, "n": 0})


# ---- combined --------------------------------------------------------------------------------------------------------

OF_ANOTHER_AUTHOR = """
import datasets
import evaluate


class LargestError(evaluate.Metric):
    def _info(self):
        features = datasets.Features({name: datasets.Value("float32") for name in ("predictions", "references")})
        return evaluate.MetricInfo(description="", citation="", inputs_description="", features=features)

    def _compute(self, predictions, references):
        return {"largest_error": max(abs(p - r) for p, r in zip(predictions, references))}
"""


def test_combined_modules_give_what_each_gives() -> None:
    rows = {
        "predictions": [True, True, False, None],
        "references": [True, False, False, True],
        "clusters": [1, 1, 2, 3],
    }
    names = ("caption_choice_accuracy", "verdict_agreement")
    wanted = {name: MODULES[name]().compute(**rows) for name in names}
    both = wanted[names[0]].keys() & wanted[names[1]].keys()
    assert {"accuracy", "n"} < both
    expected = {f"{name}_{key}" if key in both else key: value for name in names for key, value in wanted[name].items()}
    for modules in ([MODULES[name]() for name in names], [folder_of(name) for name in names]):
        combined = evaluate.combine(modules)
        assert same(combined.compute(**rows), expected)
        combined.add_batch(**{column: values[:1] for column, values in rows.items()})
        for prediction, reference, cluster in list(zip(*rows.values(), strict=True))[1:]:
            combined.add(prediction=prediction, reference=reference, clusters=cluster)
        assert same(combined.compute(), expected)
    combined.add_batch(**{**rows, "clusters": None})
    assert "verdict_agreement_accuracy_low" not in combined.compute()


def test_one_module_twice_and_one_of_another_author(tmp_path: Path) -> None:
    (tmp_path / "largest_error").mkdir()
    (tmp_path / "largest_error" / "largest_error.py").write_text(OF_ANOTHER_AUTHOR)
    rows = ROWS["humicroedit_rmse"]
    combined = evaluate.combine([folder_of("humicroedit_rmse"), str(tmp_path / "largest_error")])
    combined.add_batch(**rows)
    alone = HumicroeditRmse().compute(**rows)
    assert same(combined.compute(), alone | {"largest_error": 0.5})
    twice = evaluate.combine({"first": HumicroeditRmse(), "second": HumicroeditRmse()}).compute(**rows)
    assert same(twice, {f"{name}_{key}": value for name in ("first", "second") for key, value in alone.items()})


# ---- documentation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_a_module_documents_itself_and_its_examples_hold(name: str) -> None:
    info = MODULES[name]().info
    assert info.module_type == "metric"
    assert list(info.features) == ["predictions", "references", "clusters"]
    assert len(info.description.splitlines()) > 2
    assert re.match(r"@\w+\{\w+,", info.citation)
    assert info.reference_urls
    for part in ("Args:", *(f"{column} (`list` of" for column in info.features), "Returns:", "Examples:"):
        assert part in info.inputs_description
    for result in MODULES[name]().compute(**without_clusters(ROWS[name])):
        assert re.search(rf"\b{result}\b", info.inputs_description), result
    test = doctest.DocTestParser().get_doctest(info.inputs_description, {}, name, None, 0)
    assert test.examples
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


def test_the_document_prints_what_it_says() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, re.S | re.M)
    assert len(blocks) == text.count("```python") == 4
    names: dict[str, Any] = {}
    for code, wanted in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, str(DOCUMENT), "exec"), names)
        assert printed.getvalue() == wanted


# ---- bad input -------------------------------------------------------------------------------------------------------

CHOICE, RATINGS, PAIRS, VERDICTS = MODULES
BAD: list[tuple[str, Columns, str]] = [
    (CHOICE, {"predictions": ["A", 1.5], "references": ["A", "B"]}, "predictions[1] is 1.5; it must be the label"),
    (CHOICE, {"predictions": ["A"], "references": [None]}, "references[0] is None; it must be the label"),
    (CHOICE, {"predictions": [["A"]], "references": ["A"]}, "predictions[0] is ['A']; it must be"),
    (CHOICE, {"predictions": "AB", "references": ["A", "B"]}, "predictions is 'AB', a str; give a list"),
    (CHOICE, {"predictions": {"A", "B"}, "references": ["A", "B"]}, "a set; give a list"),  # a set has no order
    (CHOICE, {"predictions": ["\ud800"], "references": ["A"]}, "predictions[0] is '\\ud800'; it must be the label"),
    (CHOICE, {"predictions": ["A"]}, "references is missing"),
    (CHOICE, {"references": ["A"]}, "predictions is missing"),
    (CHOICE, {"predictions": ["A"], "references": ["A", "B"]}, "predictions has 1, references has 2"),
    (CHOICE, {"predictions": ["A"], "references": ["A"], "clusters": [1, 2]}, "references has 1, clusters has 2"),
    (CHOICE, {"predictions": ["A"], "references": ["A"], "clusters": [None]}, "clusters[0] is None; it must be the id"),
    (RATINGS, {"predictions": [1, "2"], "references": [1, 2]}, "predictions[1] is '2'; it must be a rating"),
    (
        RATINGS,
        {"predictions": [None], "references": [1]},
        "predictions[0] is None; it must be a rating, a finite number",
    ),
    (RATINGS, {"predictions": [math.nan], "references": [1]}, "predictions[0] is nan; it must be"),
    (RATINGS, {"predictions": [True], "references": [1]}, "predictions[0] is True; it must be"),
    (RATINGS, {"predictions": [1], "references": [math.inf]}, "references[0] is inf; it must be a mean grade"),
    (RATINGS, {"predictions": [1, 10**400], "references": [1, 2]}, "predictions[1] is 1000"),
    (RATINGS, {"predictions": np.ma.array([2.0], mask=[True]), "references": [1]}, "predictions[0] is masked; it must"),
    (PAIRS, {"predictions": [1], "references": [{2.0, 1.0}]}, "it must be the two texts' mean grades"),
    (PAIRS, {"predictions": ["1"], "references": [[1, 2]]}, "predictions[0] is '1'; it must be 1 or 2"),
    (PAIRS, {"predictions": [True], "references": [[1, 2]]}, "predictions[0] is True; it must be 1 or 2"),
    (PAIRS, {"predictions": [1, 1], "references": [[1, 2], 1.5]}, "references[1] is 1.5; it must be the two texts'"),
    (PAIRS, {"predictions": [1], "references": [[1, 2, 3]]}, "references[0] is [1, 2, 3]; it must be the two texts'"),
    (
        VERDICTS,
        {"predictions": ["PASS"], "references": [1]},
        "predictions[0] is 'PASS'; it must be the judge's verdict",
    ),
    (VERDICTS, {"predictions": [1], "references": [None]}, "references[0] is None; it must be a person's verdict"),
]


@pytest.mark.parametrize(("name", "columns", "message"), BAD)
def test_wrong_types_are_told_with_field_and_row_and_store_nothing(name: str, columns: Columns, message: str) -> None:
    module, rows = MODULES[name](), ROWS[name]
    kept = {column: rows[column] for column in columns.keys() | {"predictions", "references"}}
    with pytest.raises(BadInput) as told:
        module.compute(**columns)
    assert message in str(told.value)
    assert str(told.value).count("\n") == 0
    assert str(told.value).endswith(".")
    module.add_batch(**kept)
    with pytest.raises(BadInput) as told:
        module.add_batch(**columns)
    assert re.sub(r"\[(\d)\]", lambda row: f"[{int(row[1]) + 4}]", message) in str(told.value)
    assert same(module.compute(), MODULES[name]().compute(**kept))


def test_clusters_are_given_in_all_processes_or_in_none() -> None:
    """The first process gets the rows of all, in which no cluster is stored as ""."""
    rows = {"predictions": ["A", "B"], "references": ["A", "A"], "level": 0.95}
    with pytest.raises(BadInput, match="clusters: some processes gave them and some did not; give them in all or in"):
        CaptionChoiceAccuracy()._compute(**rows, clusters=["1", ""])


def test_what_cannot_be_computed_stores_nothing_either() -> None:
    module = CaptionChoiceAccuracy()
    rows = ROWS["caption_choice_accuracy"]
    for level in ("0.9", None, [0.9]):
        with pytest.raises(BadInput, match=r"level is .*; an interval's level lies between 0 and 1"):
            module.compute(**rows, level=level)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match=r"level is 95; an interval's level lies between 0 and 1"):
        module.compute(**rows, level=95)
    with pytest.raises(ValueError, match="Bad inputs for evaluation module: \\['weights'\\]"):
        module.add_batch(**rows, weights=[1, 2, 3, 4])
    assert len(module) == 0
    module.add_batch(**rows)
    with pytest.raises(BadInput, match="the 4 rows added before have clusters; give them for all rows or for none"):
        module.add_batch(**without_clusters(rows))
    module.compute()
    module.add_batch(**without_clusters(rows))
    with pytest.raises(BadInput, match="the 4 rows added before have none; give them for all rows or for none"):
        module.add(prediction="A", reference="A", clusters=1)
    assert len(module) == 4
