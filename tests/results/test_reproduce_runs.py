"""`humor-tasks reproduce` of rows that need a model, its log, or the files of a training."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from inspect_ai import eval
from standins.commands import refused
from standins.published_rows import of_these_rows, reproduced, sample_as_corpora, told_wrongly

from humor_tasks import evaluate, load
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.tasks.caption_contest import matching, ranking
from humor_tasks.results.reproduce.recipes import Given
from humor_tasks.results.reproduce.rows import find_row, rows
from humor_tasks.results.reproduce.verdict import reproduce
from humor_tasks.rows.pins import DATASETS

HUB = "jmhessel/newyorker_caption_contest"


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    return sample_as_corpora(tmp_path / "data")


@pytest.mark.slow
def test_a_model_is_run_and_its_log_can_be_given_instead(copied: Path, tmp_path: Path) -> None:
    given = ("matching-clip-zero-shot", "--dataset", copied)
    code, told = reproduced(*given, "--model", "baseline/first")
    assert code == 6
    assert "accuracy: published 0.56600, here 0.20000 [" in told
    assert "10 items of fold 0, and 528 are published." in told
    (log,) = (tmp_path / "logs").glob("*.eval")
    assert reproduced(*given, "--predictions", log) == (code, told)


@pytest.mark.slow
def test_fewer_items_than_published_are_told(tmp_path: Path) -> None:
    shutil.copy(folder("humorbench") / "sample_rubric.csv", tmp_path / "labels.csv")
    ids = [record.id for record in load("humorbench_autograder", dataset=str(tmp_path / "labels.csv")).records]
    (tmp_path / "verdicts.json").write_text(json.dumps(dict.fromkeys(ids, "<judgement>PASS</judgement>")))
    given = ("--dataset", tmp_path / "labels.csv", "--predictions", tmp_path / "verdicts.json")
    code, told = reproduced("humorbench-autograder-gpt-4o", *given)
    assert code == 6
    assert "accuracy: published 0.87000, here 0.60000 [" in told
    assert "not the published rows: 40 items count, and 400 are published." in told


@pytest.mark.slow
def test_clip_runs_where_its_weights_are_at_hand(copied: Path, tmp_path: Path) -> None:
    from standins.tiny_clip_folder import saved

    from humor_tasks import clip_predict

    weights, dataset = saved(tmp_path), copied / "newyorker_caption_contest"
    given = ("matching-clip-zero-shot", "--dataset", copied, "--model", f"clip/{weights}")
    code, told = reproduced(*given, "--json")
    letters = clip_predict(dataset, "matching", weights, fold="all")
    expected = evaluate(load("matching", dataset=str(dataset), setting="pixels", fold="all"), letters).metrics
    (verdict,) = json.loads(told)
    assert [figure["here"] for figure in verdict["figures"]] == [expected["accuracy"].value]
    assert (code, verdict["status"]) == (6, "not the published rows")


@pytest.mark.slow
def test_a_model_that_cannot_be_used_says_why(copied: Path) -> None:
    code, told = reproduced("matching-clip-zero-shot", "--dataset", copied, "--model", "clip/no-such-folder")
    assert code == 3
    assert "cannot run here, because model clip/no-such-folder: " in told


@pytest.mark.slow
def test_logs_that_do_not_fit_the_row_are_refused(copied: Path, tmp_path: Path) -> None:
    def log(task: Any, **more: Any) -> str:
        more = {"log_dir": str(tmp_path / "logs"), **more}
        return str(eval(task, model="baseline/first", display="log", **more)[0].location)

    dataset = str(copied / "newyorker_caption_contest")
    given = ("reproduce", "matching-t5-11b", "--dataset", copied, "--predictions")
    code, told = reproduced(*given[1:], log(matching(dataset=dataset, fold="all")))
    assert code == 6
    assert "accuracy: published 0.70800, here 0.20000 [" in told
    assert "10 items of fold 0, and 528 are published." in told
    assert "is no run of matching" in refused(*given, log(ranking(dataset=dataset)))
    assert "it has fold=0, the row fold=all" in refused(*given, log(matching(dataset=dataset)))
    assert "incomplete: 4 of 50 items" in refused(*given, log(matching(dataset=dataset, fold="all"), limit=4))
    assert "holds several runs of matching" in refused(*given, tmp_path / "logs")
    sample = log(matching(dataset="sample", fold="all"), limit=2)
    for name in ("matching-clip-fine-tuned", "matching-gpt-4-5-shot"):
        text = refused("reproduce", name, "--predictions", sample)
        assert "its rows are those of the packaged sample" in text
        assert "the row setting=pixels" in text or "the row shots=5" in text


@pytest.mark.slow
def test_a_model_with_other_scores_is_not_reproduced(copied: Path) -> None:
    row = replace(find_row("matching-gpt-4-5-shot"), parameters={"fold": "0"})
    use = Given(dataset=str(copied), model="baseline/first")
    right = of_these_rows(row, use)
    assert reproduce(right, use).status == "reproduced"
    assert reproduce(told_wrongly(right, 0.021), use).status == "differs"


def of_a_training(folder: Path, value: object, rows: int = 651, **config: str) -> Path:
    """The files of a finished `train text` that `reproduce` reads."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"task": "explanation", "fold": "all", "dataset": HUB} | config))
    test = {"perplexity": {"word_perplexity": {"value": value}}}
    (folder / "metrics.json").write_text(json.dumps({"test": test, "rows": {"test": rows}}))
    return folder / "metrics.json"


def of_lm_eval(path: Path, value: float, signature: str) -> Path:
    """lm-eval's results, as far as `reproduce` reads them."""
    task = "nyc_explanation_crossval"
    configs = {task: {"metadata": {"signature": signature}}}
    held = {"results": {task: {"word_perplexity,none": value}}, "n-samples": {task: {"effective": 651}}}
    path.write_text(json.dumps(held | {"configs": configs}), encoding="utf-8")
    return path


PERPLEXITIES = [name for name, row in rows().items() if row.recipe == "perplexity"]


@pytest.mark.parametrize("name", PERPLEXITIES)
def test_the_published_perplexity_counts_a_token_more_than_words(name: str, tmp_path: Path) -> None:
    """With the figure's own log-likelihood, per word of 130 real explanations (59.95), the row is reproduced."""
    row = replace(find_row(name), parameters={})
    (figure,) = row.figures
    words = 59.95
    per_word = figure.value ** ((words + 1) / words)
    verdict = reproduce(row, Given(predictions=of_a_training(tmp_path / "run", per_word)))
    assert verdict.status == "reproduced"
    assert verdict.compared[0].here.value == pytest.approx(figure.value, rel=1e-3)


def test_a_perplexity_is_read_from_a_training_and_from_lm_evals_results(tmp_path: Path) -> None:
    row = find_row("perplexity-t5-large")
    signature = f"bench:explanation|data:{HUB}|rev:{DATASETS[HUB]}|fold:all|shots:0|setting:description"
    files = (
        of_a_training(tmp_path / "near", 42.0),
        of_lm_eval(tmp_path / "results_near.json", 42.0, signature),
        of_a_training(tmp_path / "far", 50.0),
        of_lm_eval(tmp_path / "results_far.json", 50.0, signature),
        of_a_training(tmp_path / "none", None),
    )
    told = [reproduce(row, Given(predictions=path)) for path in files]
    assert [each.status for each in told] == ["reproduced"] * 2 + ["differs"] * 3
    assert [each.compared[0].here.n for each in told] == [651] * 5
    of_training = f"data:{HUB}|rev:{DATASETS[HUB]}|count:n_expl_toks"
    signed = f"{signature}|count:n_expl_toks"
    assert [each.as_dict()["signature"] for each in told] == [of_training, signed] * 2 + [of_training]
    for path, why in (
        (of_a_training(tmp_path / "fewer", 42.0, rows=25), "it is of 25 rows, and 651 are published."),
        (of_a_training(tmp_path / "newest", 42.0, revision="main"), "nothing shows that its rows are the published"),
        (of_a_training(tmp_path / "gone", 42.0, dataset="no/such"), "nothing shows that its rows are the published"),
        (of_lm_eval(tmp_path / "results_other.json", 42.0, signature.replace(DATASETS[HUB], "-")), "nothing shows"),
    ):
        verdict = reproduce(row, Given(dataset=str(tmp_path), predictions=path))
        assert (verdict.status, why in verdict.sentence) == ("not the published rows", True), path
    for path, why in (
        (of_a_training(tmp_path / "fold", 42.0, fold="2"), "it has fold=2, the row fold=all"),
        (of_a_training(tmp_path / "task", 42.0, task="mock_explaining"), "it is a run of mock_explaining"),
        (of_a_training(tmp_path / "text", "42"), "'42' is no perplexity"),
        (of_a_training(tmp_path / "large", 10**400), "holds no perplexity"),
        (of_a_training(tmp_path / "small", 0.5), "0.5 is no perplexity"),
        (of_a_training(tmp_path / "sample", 42.0, dataset="sample"), "its rows are those of the packaged sample"),
        (
            of_lm_eval(tmp_path / "results_1.json", 42.0, signature.replace("all", "1")),
            "it has fold=1, the row fold=all",
        ),
        (tmp_path / "near" / "config.json", "holds no perplexity of one run of explanation"),
    ):
        with pytest.raises(BadInput, match=why):
            reproduce(row, Given(predictions=path))
