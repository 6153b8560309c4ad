"""`humor-tasks reproduce`: published rows are reproduced, differ, or say why they cannot run here.

Printed votes are consistent or not, and are never reproduced.
"""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.commands import refused
from standins.published_rows import of_these_rows, reproduced, sample_as_corpora, told_wrongly

from humor_tasks import evaluate, load
from humor_tasks.papers.published import Figure
from humor_tasks.results.reproduce.recipes import RECIPES, Given, baseline_answers
from humor_tasks.results.reproduce.rows import RECIPES as RECIPE_NAMES
from humor_tasks.results.reproduce.rows import Row, find_row, rows
from humor_tasks.results.reproduce.verdict import Compared, fitting, reproduce, splits
from humor_tasks.scorers.agreement import gwet_ac1
from humor_tasks.scorers.estimate import Estimate

PRINTED_VOTES = {
    "table-3-q1": "consistent: 3 of 2,352 ways to split 131 pairs with the share 0.847",
    "table-3-q2": "inconsistent: no whole number of the 131 pairs with 3 votes is 74.6 % (97 are 74.0 %",
    "table-3-q3": "consistent: 4 of 3,780 ways to split 130 pairs with the share 0.685",
    "table-3-q4": "consistent: 7 of 4,489 ways to split 132 pairs with the share 0.5 ",
    "table-3-q5": "inconsistent: no whole number of the 132 pairs with 3 votes is 64.3 % (84 are 63.6 %",
    "table-3-q6": "consistent: 2 of 1,200 ways to split 128 pairs with the share 0.93 ",
    "table-3-q7": "consistent: 4 of 3,827 ways to split 130 pairs with the share 0.677",
}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return sample_as_corpora(tmp_path / "data")


# ---- what runs here ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "told"), PRINTED_VOTES.items())
def test_printed_votes_are_consistent_or_not_and_never_reproduced(name: str, told: str) -> None:
    verdict = reproduce(find_row(name), Given())
    assert verdict.sentence.startswith(told)
    assert verdict.compared == ()


def test_the_command_tells_votes_by_its_status_and_in_json() -> None:
    assert [reproduced(name)[0] for name in ("table-3-q1", "table-3-q2")] == [4, 5]
    assert json.loads(reproduced("table-3-q1", "--json")[1])[0]["splits"]["fitting"] == 3


WHY_NOT = {
    "random": "the packaged sample is invented",
    "majority": "the packaged sample is invented",
    "mean": "the packaged sample is invented",
    "labels": "the packaged sample is invented",
    "model": "it needs a model: give --model MODEL",
    "predictions": "it needs predictions: give --predictions FILE",
    "perplexity": "it needs --predictions FILE: metrics.json of its training, or lm-eval's results",
    "people": "it needs people's votes on the items",
    "agreement": "it needs people's votes",
}


def test_all_other_rows_say_why_not() -> None:
    for name in rows().keys() - PRINTED_VOTES.keys():
        verdict, row = reproduce(find_row(name), Given(dataset="sample")), find_row(name)
        assert verdict.status == "cannot run here", name
        assert WHY_NOT[row.recipe] in verdict.sentence, name
        assert verdict.sentence.startswith("cannot run here, because "), name
        assert ("the published model was shut down on " in verdict.sentence) == (row.retired is not None), name


@pytest.mark.slow
def test_every_row_together() -> None:
    code, told = reproduced("--all", "--dataset", "sample")
    assert code == 3, "nothing is reproduced without the papers' rows"
    rest = len(rows()) - len(PRINTED_VOTES)
    counts = f"0 rows reproduced, 0 differ, 0 have other rows, {rest} cannot run here. Printed votes: 5 rows consistent"
    assert counts in told
    code, told = reproduced("--all", "--dataset", "sample", "--json")
    assert [each["row"] for each in json.loads(told)] == list(rows())


@pytest.mark.parametrize(
    ("row", "value"), [("humorbench-people-gpt-4o", 0.73), ("humorbench-people-gemini-2.5-pro", 0.80)]
)
def test_peoples_pass_rates_are_those_of_the_public_labels(real_data: Path, row: str, value: float) -> None:
    verdict = reproduce(find_row(row), Given(dataset=str(real_data)))
    assert verdict.sentence == "reproduced"
    assert reproduce(told_wrongly(find_row(row)), Given(dataset=str(real_data))).status == "differs"
    assert [(c.here.value, c.here.n) for c in verdict.compared] == [(value, 100)]


def test_labels_of_another_explainer_are_not_taken(real_data: Path) -> None:
    file = real_data / "humorbench" / "gemini_2.5_pro_rubric.csv"
    code, told = reproduced("humorbench-people-gpt-4o", "--dataset", file)
    assert (code, "holds 0 labels of gpt-4o and 100 are published; it has those of gemini-2.5-pro" in told) == (3, True)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "fold"), [("matching-random", "0"), ("ranking-random", "3")])
def test_chance_is_exact_on_the_real_validation_rows(real_data: Path, name: str, fold: str) -> None:
    parameters = {"split": "validation", "fold": fold}
    use = Given(dataset=str(real_data), parameters=parameters)
    verdict = reproduce(find_row(name), use)
    assert (verdict.status, verdict.changed) == ("not the published rows", parameters)
    assert "split=validation is not as published." in verdict.sentence
    assert [c.here.value for c in verdict.compared] == pytest.approx([c.figure.value for c in verdict.compared])
    assert all(each.here.n > 100 for each in verdict.compared)


def test_rows_of_the_test_split_say_that_it_is_not_there(real_data: Path) -> None:
    for name, why in (
        ("matching-random", "config 'matching' has no split 'test'"),
        ("humicroedit-rating-baseline", "there is no file"),
        ("humorbench-people-claude-3.7-sonnet", "claude_2_rubric.csv"),
    ):
        code, told = reproduced(name, "--dataset", real_data)
        assert code == 3
        assert why in told


@pytest.mark.slow
@pytest.mark.parametrize(("task", "number"), [("rating", 1), ("pairwise", 2)])
def test_the_baseline_predicts_what_the_organisers_published(real_data: Path, task: str, number: int) -> None:
    """Their output is that on dev, of which no score is published."""
    row = find_row(f"humicroedit-{task}-baseline")
    dataset, published = real_data / "humicroedit", real_data / "humicroedit" / f"official_task-{number}-output.csv"
    opened = load(f"humicroedit_{task}", dataset=str(dataset), split="dev", **({"ties": "keep"} if number == 2 else {}))
    lines = dict(line.split(",") for line in published.read_text().split()[1:])
    answers = {name: answer.value or "" for name, answer in baseline_answers(row.recipe, opened).items()}
    if number == 1:
        expected = {name: pytest.approx(float(value), rel=1e-14) for name, value in lines.items()}
        assert {name: float(value) for name, value in answers.items()} == expected
    else:
        assert {name: {"A": "1", "B": "2"}[value] for name, value in answers.items()} == lines
    use = {"dataset": str(real_data), "parameters": {"split": "dev"}}
    here, theirs = (reproduce(row, Given(**use, predictions=path)) for path in (None, published))
    assert [c.here.value for c in here.compared] == [pytest.approx(c.here.value, rel=1e-12) for c in theirs.compared]
    assert here.sentence == theirs.sentence
    assert here.sentence == "not the published rows: split=dev is not as published."


# ---- differences ------------------------------------------------------------------------------------


def estimate_of(value: float, low: float = math.nan, high: float = math.nan) -> Estimate:
    return Estimate(value, math.nan, low, high, 10, 10)


AGREES = [
    (0.847, estimate_of(0.8473), 0.0005, True),
    (0.847, estimate_of(0.8475), 0.0005, True),  # as far as rounding goes
    (0.847, estimate_of(0.8476), 0.0005, False),
    (0.847, estimate_of(math.nan), 0.0005, False),
    (0.5, estimate_of(0.61, 0.45, 0.70), 0.02, False),  # however wide the interval
]


@pytest.mark.parametrize(("value", "here", "tolerance", "agrees"), AGREES)
def test_a_value_agrees_within_the_tolerance(value: float, here: Estimate, tolerance: float, agrees: bool) -> None:
    compared = Compared(Figure("matching", "accuracy", "s", "model", value, "t"), here, tolerance)
    assert compared.agrees is agrees
    assert json.loads(json.dumps(compared.as_dict(), allow_nan=False))["agrees"] is agrees


def votes_row(share: float, ac1: float, ratings: int) -> Row:
    about = ("explanation_preference", "a against b", "model")
    figures = tuple(
        Figure(benchmark, metric, system, kind, value, "t", n=ratings)
        for (benchmark, system, kind), metric, value in ((about, "win_rate", share), (about, "gwet_ac1", ac1))
    )
    return Row("r", "card", figures, "votes", {"win_rate": 0.0005, "gwet_ac1": 0.0005}, "digits", "c")


@settings(max_examples=6)
@given(st.integers(100, 140), st.data())
def test_votes_that_exist_are_consistent(pairs: int, data: st.DataObject) -> None:
    wins = data.draw(st.integers(1, pairs - 1))
    all_a, all_b = data.draw(st.integers(0, wins)), data.draw(st.integers(0, pairs - wins))
    counts = [3] * all_a + [2] * (wins - all_a) + [1] * (pairs - wins - all_b) + [0] * all_b
    ac1 = gwet_ac1([["A"] * count + ["B"] * (3 - count) for count in counts], categories="AB").value
    found = splits(votes_row(round(wins / pairs, 3), round(ac1, 3), 3 * pairs))
    assert 1 <= found.fitting <= found.possible


@pytest.mark.slow
def test_other_rows_differ(copied: Path) -> None:
    code, told = reproduced("humicroedit-rating-baseline", "--dataset", copied)
    train = [float(line.rsplit(",", 1)[1]) for line in _lines(copied / "humicroedit" / "task-1" / "train.csv")]
    test = [float(line.rsplit(",", 1)[1]) for line in _lines(copied / "humicroedit" / "task-1" / "test.csv")]
    mean = sum(train) / len(train)
    rmse = math.sqrt(sum((grade - mean) ** 2 for grade in test) / len(test))
    assert code == 6
    assert "not the published rows: task-1/test.csv has another SHA-256 than the published file (" in told
    assert "task-1/train.csv has another SHA-256 than the published file." in told
    assert f"rmse: published 0.57471, here {rmse:.5f} " in told
    code, told = reproduced("--all", "--dataset", copied)
    assert (code, "0 rows reproduced, 0 differ, 8 have other rows" in told) == (6, True)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()[1:]


def test_a_submission_is_scored_against_its_row(copied: Path, tmp_path: Path) -> None:
    ids = [line.split(",", 1)[0] for line in _lines(copied / "humicroedit" / "task-1" / "test.csv")]
    path = tmp_path / "submission.csv"
    path.write_text("id,pred\n" + "".join(f"{identity},1.5\n" for identity in ids))
    code, told = reproduced("humicroedit-rating-hitachi", "--dataset", copied, "--predictions", path, "--json")
    opened = load("humicroedit_rating", dataset=str(copied / "humicroedit"))
    expected = evaluate(opened, dict.fromkeys(ids, "Rating: 1.5")).metrics
    (verdict,) = json.loads(told)
    assert (code, verdict["status"]) == (6, "not the published rows")
    assert {f["metric"]: f["here"] for f in verdict["figures"]} == {
        name: expected[name].value for name in ("rmse", *(f"rmse_at_{x}" for x in (10, 20, 30, 40)))
    }


BAD_PREDICTIONS = [
    ("id,pred\n{first},nan\n", "the prediction is 'nan'; it must be a number from 0.0 to 3.0"),
    ("id,pred\n{first},1\n", "missing ids"),
    ("id,pred\n{first},1\n{first},2\n", "is also that of"),
    ("id,pred\n1-2,1\n", "unknown id: 1-2"),  # of task 2
    ("id,prediction\n{first},1\n", "pred"),
]


@pytest.mark.parametrize(("text", "problem"), BAD_PREDICTIONS)
def test_predictions_that_do_not_fit_are_refused(copied: Path, tmp_path: Path, text: str, problem: str) -> None:
    first = _lines(copied / "humicroedit" / "task-1" / "test.csv")[0].split(",", 1)[0]
    path = tmp_path / "submission.csv"
    path.write_text(text.format(first=first))
    given = ("humicroedit-rating-hitachi", "--dataset", copied, "--predictions", path)
    assert problem.split(" from ")[0] in refused("reproduce", *given)


REFUSED: list[tuple[tuple[str, ...], str]] = [
    (("matchin-random",), "there is no row 'matchin-random'; see humor-tasks reproduce --list. Did you mean 'matchin"),
    ((), "name one row, or give --list or --all"),
    (("matching-random", "--all"), "name one row, or give --list or --all"),
    (("--all", "--predictions", "x.csv"), "are for one row"),
    (("matching-random", "--model", "m"), "matching-random runs no model"),
    (("matching-clip-zero-shot", "--model", "m", "--predictions", "x"), "not both"),
    (("matching-t5-11b", "--predictions", "none.json"), "none.json: there is no such file"),
    (("matching-random", "--predictions", "x.csv"), "is not computed from predictions"),
    (("matching-random", "-T", "fol=1"), "Did you mean 'fold'?"),
    (("matching-random", "-T", "fold"), "write -T NAME=VALUE"),
    (("table-3-q1", "-T", "fold=1"), "table-3-q1 has no parameters"),
    (("table-3-q1", "--predictions", "x.csv"), "is not computed from predictions"),
    (("matching-human", "--predictions", "x.csv"), "there is no such file"),
]


@pytest.mark.parametrize(("arguments", "problem"), REFUSED)
def test_options_that_do_not_fit_are_refused(arguments: tuple[str, ...], problem: str) -> None:
    assert problem in refused("reproduce", *arguments)


def test_other_rows_that_a_score_fits_are_named() -> None:
    """.538 in Table 3 is within the tolerance of several systems; an exact figure is not."""
    bert = find_row("humicroedit-rating-bert-ft")
    found = fitting(bert, {"rmse": estimate_of(bert.figures[0].value)})
    assert bert.name not in found
    assert "humicroedit-rating-roberta-ft" in found
    assert fitting(bert, {"rmse": estimate_of(0.9)}) == fitting(bert, {}) == []
    values = {figure.estimate: estimate_of(figure.value) for figure in find_row("humicroedit-rating-hitachi").figures}
    assert fitting(find_row("humicroedit-rating-hitachi"), values) == []


# ---- every recipe can fail ------------------------------------------------------------------------


def spoil(data: Path, recipe: str) -> None:
    """Turn a person's label, or leave out half of the test rows."""
    if recipe == "labels":
        path = data / "humorbench" / "gpt_4o_rubric.csv"
        path.write_text(path.read_text().replace(",gpt-4o,sample,PASS", ",gpt-4o,sample,FAIL", 1))
    else:
        path = data / "humicroedit" / {"mean": "task-1", "majority": "task-2"}[recipe] / "test.csv"
        path.write_text("".join(path.read_text().splitlines(keepends=True)[:20]))


ROWS_OF = {
    "random": "ranking-random",
    "mean": "humicroedit-rating-baseline",
    "majority": "humicroedit-pairwise-baseline",
    "labels": "humorbench-people-gpt-4o",
    "votes": "table-3-q1",
    "model": "matching-gpt-4-5-shot",
    "predictions": "humicroedit-rating-hitachi",
    "perplexity": "perplexity-t5-large",
    "people": "matching-human",
    "agreement": "mock-humanacc-post-gpt-4o",
}


def test_every_recipe_has_a_case() -> None:
    assert set(ROWS_OF) == set(RECIPE_NAMES) == {*RECIPES, "votes"}
    assert {row.recipe for row in rows().values()} == set(ROWS_OF)


@pytest.mark.parametrize(
    "recipe", [r for r in ROWS_OF if r not in ("votes", "model", "perplexity", "people", "agreement")]
)
def test_a_wrong_value_and_wrong_rows_are_not_reproduced(recipe: str, copied: Path, tmp_path: Path) -> None:
    """On the sample as if it were the corpus: the value of these rows is reproduced, all others differ."""
    row, use = find_row(ROWS_OF[recipe]), Given(dataset=str(copied))
    if recipe == "labels":
        row = replace(row, figures=(replace(row.figures[0], n=20),))
    if recipe == "predictions":
        ids = [line.split(",", 1)[0] for line in _lines(copied / "humicroedit" / "task-1" / "test.csv")]
        (tmp_path / "s.csv").write_text("id,pred\n" + "".join(f"{identity},1.5\n" for identity in ids))
        use = replace(use, predictions=tmp_path / "s.csv")
    right = of_these_rows(row, use)
    assert reproduce(right, use).sentence == "reproduced"
    assert reproduce(told_wrongly(right), use).status == "differs"
    assert reproduce(told_wrongly(right, -0.01), use).status == "differs"
    if recipe in ("mean", "majority", "labels"):
        spoil(copied, recipe)
        assert reproduce(right, use).status == ("differs" if recipe == "labels" else "not the published rows")


WRONG_VOTES = [
    (0.846, 0.644, 0),  # 110 and 111 of 131 are .840 and .847
    (0.847, 0.999, 0),  # 20 pairs lost leave less agreement only where some are divided
    (0.847, -0.9, 0),  # below the least agreement
    (0.847, 0.644, 3),
]


@pytest.mark.parametrize(("share", "ac1", "fitting"), WRONG_VOTES)
def test_votes_that_nobody_can_have_given_are_inconsistent(share: float, ac1: float, fitting: int) -> None:
    verdict = reproduce(votes_row(share, ac1, 393), Given())
    assert verdict.splits
    assert (verdict.splits.fitting, verdict.status) == (fitting, "consistent" if fitting else "inconsistent")
