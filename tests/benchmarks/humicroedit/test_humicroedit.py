"""Humicroedit without a harness: rows, prompts, outcomes and metrics of both subtasks, bad rows by name."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from standins.corpus import rows_of
from standins.humicroedit_sample import PAIRWISE, RATING, SAMPLE, Row, changed, some_ratings, told

from humor_tasks import evaluate, load
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.humicroedit import corpus
from humor_tasks.benchmarks.humicroedit.rating import BINS, bin_of
from humor_tasks.errors import BadInput
from humor_tasks.rows.records import Record

REAL = {"train": (9652, 9381), "train_funlines": (8248, 1958), "dev": (2419, 2355)}  # headlines and pairs


# ---- records ------------------------------------------------------------------------------------


def test_a_headline_as_a_record() -> None:
    row, record = rows_of(SAMPLE / "task-1" / "dev.csv")[0], load(RATING, dataset="sample", split="dev").records[0]
    before, word, after = re.split(r"\s*<(.*?)/>\s*", row["original"])
    assert record.id == row["id"]
    assert record.fields["word"] == word
    assert record.fields["original"] == record.cluster == " ".join(f"{before} {word} {after}".split())
    assert record.fields["edited"] == record.context == " ".join(f"{before} {row['edit']} {after}".split())
    assert (float(str(record.target)), record.facts["grades"]) == (
        float(row["meanGrade"]),
        list(map(int, row["grades"])),
    )
    assert record.choices == ()


def test_a_pair_as_a_record() -> None:
    rows = rows_of(SAMPLE / "task-2" / "dev.csv")
    run = load(PAIRWISE, dataset="sample", split="dev")
    assert [r.id for r in run.records] == [row["id"] for row in rows if row["label"] != "0"]
    assert run.data.dropped == {row["id"] for row in rows if row["label"] == "0"} != set()
    by_id = {row["id"]: row for row in rows}
    for record in run.records:
        row = by_id[record.id]
        means = float(row["meanGrade1"]), float(row["meanGrade2"])
        assert record.target == ("A" if means[0] > means[1] else "B")
        assert record.facts["difference"] == pytest.approx(abs(means[0] - means[1]))
        assert len(set(record.choices)) == 2
        assert (record.fields["edit1"], record.fields["edit2"]) == (row["edit1"], row["edit2"])


def test_by_ratings_every_headline_of_a_pair_is_asked_about_once() -> None:
    run, direct = (load(PAIRWISE, dataset="sample", split="dev", via=via) for via in ("ratings", "direct"))
    assert len({r.context for r in run.records}) == len(run.records) == len({r.id for r in run.records})
    assert {r.context for r in run.records} == {text for r in direct.records for text in r.choices}
    places = Counter((pair["id"], pair["place"]) for r in run.records for pair in r.facts["pairs"])
    assert places == Counter((r.id, place) for r in direct.records for place in (1, 2))
    assert run.version == f"{direct.version}-ratings"


def test_an_unlabelled_split(tmp_path: Path) -> None:
    def bare(rows: list[Row]) -> None:
        for row in rows:
            for column in ("grades", "meanGrade", "grades1", "meanGrade1", "grades2", "meanGrade2", "label"):
                row.pop(column, None)

    for task, name in ((1, RATING), (2, PAIRWISE)):
        with pytest.warns(UserWarning, match=f"{name}: split test of .* has no labels"):
            run = load(name, dataset=changed(tmp_path, task, "test", bare))
        assert len(run.records) == 36
        assert {record.target for record in run.records} == {None}
        reply = "Rating: 1" if task == 1 else "Answer: A"
        report = evaluate(run, {record.id: reply for record in run.records})
        assert set(report.metrics) == {"unparsed", "refused"}


# ---- prompts ------------------------------------------------------------------------------------


@pytest.mark.parametrize("setting", corpus.SETTINGS)
@pytest.mark.parametrize(("name", "via"), [(RATING, None), (PAIRWISE, "direct"), (PAIRWISE, "ratings")])
def test_what_a_setting_shows(name: str, via: str | None, setting: str) -> None:
    run = load(name, dataset="sample", setting=setting, **({"via": via} if via else {}))
    for record in run.records:
        asked = run.prompt(record).turns[-1].text
        edits = [text for field, text in record.fields.items() if field.startswith("edited")]
        assert all(text in asked for text in edits)
        assert (record.fields["original"] in asked) == (setting == "original_and_edit")
    said = " ".join(turn.text for turn in run.prompt(run.records[0]).turns)
    assert (corpus.SCALE in said) == (via != "direct")


def test_a_scale_in_other_words_is_told_and_signed() -> None:
    run = load(RATING, dataset="sample", scale="0 = dull, 3 = a hoot")
    said = " ".join(turn.text for turn in run.prompt(run.records[0]).turns)
    assert "0 = dull, 3 = a hoot" in said
    assert corpus.SCALE not in said
    assert "|scale:0 = dull, 3 = a hoot|" in str(run.signature("generate"))
    assert "scale:" not in str(load(PAIRWISE, dataset="sample").signature("generate"))


def test_templates_of_ones_own_must_show_the_headline(tmp_path: Path) -> None:
    (tmp_path / "rating.edited_only.txt").write_text("Guess.")
    with pytest.raises(BadInput, match=r"rating.edited_only.txt: lacks \$edited"):
        load(RATING, dataset="sample", prompts=str(tmp_path))


@pytest.mark.parametrize(
    ("name", "via", "split"), [(RATING, None, "train"), (PAIRWISE, "direct", "train"), (PAIRWISE, "ratings", "dev")]
)
def test_worked_examples_are_of_train_and_of_other_headlines(name: str, via: str | None, split: str) -> None:
    more = {"via": via} if via else {}
    run = load(name, dataset="sample", split=split, shots=3, setting="original_and_edit", **more)
    task = 2 if via == "direct" else 1
    train = load(name if task == 2 else RATING, dataset="sample", split="train")
    answers = {(r.context if task == 1 else r.choices): r for r in train.records}
    seen = set()
    for record in run.records:
        *_, asked = turns = run.prompt(record).turns
        examples = [(turns[i].text, turns[i + 1].text) for i in range(len(turns) - 7, len(turns) - 1, 2)]
        assert len(examples) == 3
        for shown, answer in examples:
            (worked,) = [r for key, r in answers.items() if all(t in shown for t in ([key] if task == 1 else key))]
            assert worked.cluster != record.cluster
            assert answer == f"{'Rating' if task == 1 else 'Answer'}: {worked.target}"
            seen.add(worked.cluster)
        assert run.prompt(record).turns[-1] == asked  # the same draw every time
    assert len(seen) > 15
    other = run.with_options(seed=7)
    assert [other.prompt(r) for r in run.records] != [run.prompt(r) for r in run.records]


def test_more_examples_than_headlines() -> None:
    run = load(RATING, dataset="sample", shots=500)
    with pytest.raises(BadInput, match="the train split has only 43 other headlines"):
        run.prompt(run.records[0])


# ---- outcomes -----------------------------------------------------------------------------------


def one(grades: str = "22110", mean: str = "1.2") -> Record:
    return Record("1", "h", {}, "", (), mean, {}, facts={"grades": [int(grade) for grade in grades]})


@pytest.mark.parametrize(
    ("reply", "refused", "status", "answer", "error"),
    [
        ("Rating: 2.2", False, "answered", "2.2", 1.0),
        ("1.2", False, "answered", "1.2", 0.0),
        ("Rating: 1e-05", False, "answered", "1e-05", 1.2 - 1e-5),
        ("Rating: 3.5", False, "unparsed", None, 1.8),
        ("Somewhere in between.", False, "unparsed", None, 1.8),
        ("", False, "empty", None, 1.8),
        ("I can't help with that.", False, "refused", None, 1.8),
        ("Hm.", True, "refused", None, 1.8),
    ],
)
def test_outcomes_of_a_rating(reply: str, refused: bool, status: str, answer: str | None, error: float) -> None:
    """Without a rating, 1.2 counts as rated 3, the far end of the scale."""
    run = load(RATING, dataset="sample")
    found = run.outcome(one(), reply, refused)
    assert (found.status, found.answer) == (status, answer)
    assert found.values["rmse"] == pytest.approx(error)
    assert found.values["unparsed"] == (status in ("unparsed", "empty"))
    assert found.values["refused"] == (status == "refused")
    left_out = run.with_options(on_unparsed="exclude").outcome(one(), reply, refused)
    assert ("rmse" in left_out.values) == (answer is not None)
    assert {"unparsed", "refused"} <= left_out.values.keys()


def test_an_unread_rating_is_never_the_mean() -> None:
    run = load(RATING, dataset="sample")
    for mean, worst in (("0.0", 3.0), ("1.4", 3.0), ("1.5", 0.0), ("3.0", 0.0)):
        assert run.outcome(one(mean=mean), "?").values["rmse"] == abs(worst - float(mean))


def test_a_row_of_one_judge_has_no_judges_to_compare_with() -> None:
    run = load(RATING, dataset="sample")
    assert "beats_judge" not in run.metrics([run.outcome(one(grades="2", mean="2.0"), "2")])
    assert "beats_judge" in run.metrics([run.outcome(one(), "2")])


@pytest.mark.parametrize(
    ("gold", "name"), [(0.0, "mae_0.0"), (0.2, "mae_0.2"), (0.6, "mae_0.6"), (0.19, "mae_0.0"), (2.8, "mae_2.8")]
)
def test_bins(gold: float, name: str) -> None:
    assert bin_of(gold) == name
    assert bin_of(3.0) == BINS[-1]


@pytest.mark.parametrize(
    ("reply", "target", "status", "accuracy", "reward"),
    [
        ("Answer: A", "A", "answered", 1, 0.6),
        ("Answer: B", "A", "answered", 0, -0.6),
        ("B", "B", "answered", 1, 0.6),
        ("Both.", "A", "unparsed", 0, -0.6),
        ("", "B", "empty", 0, -0.6),
        ("I cannot answer that.", "B", "refused", 0, -0.6),
    ],
)
def test_outcomes_of_a_pair(reply: str, target: str, status: str, accuracy: float, reward: float) -> None:
    run = load(PAIRWISE, dataset="sample")
    record = Record("1-2", "h", {}, "", ("x", "y"), target, {}, facts={"difference": 0.6})
    found = run.outcome(record, reply)
    assert (found.status, found.values["accuracy"], found.values["reward"]) == (status, accuracy, reward)
    left_out = run.with_options(on_unparsed="exclude").outcome(record, reply)
    assert ("accuracy" in left_out.values) == ("reward" in left_out.values) == (status == "answered")
    guessed = run.with_options(on_unparsed="random").outcome(record, reply)
    assert guessed.status == status
    assert guessed.values["accuracy"] in (0, 1)


# ---- real rows ----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("split", REAL)
def test_real_rows(real_data: Path, split: str) -> None:
    dataset = str(real_data / "humicroedit")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rating = load(RATING, dataset=dataset, split=split)
        pairs = load(PAIRWISE, dataset=dataset, split=split)
    assert len(rating.records) == REAL[split][0]
    assert [BENCHMARKS[run.benchmark.name].card.splits[split] for run in (rating, pairs)] == [
        *map(len, (rating.records, pairs.records))
    ]
    said = [str(w.message) for w in caught if "disagree with the file's mean" in str(w.message)]
    assert re.findall(r"in (\d+) rows", "\n".join(said)) == (["7", "4"] if split == "train_funlines" else [])
    assert len(pairs.records) + len(pairs.data.dropped) == REAL[split][1]
    odd = sum(r.fields["edit"] == "None" for r in rating.records)
    assert odd + sum("None" in r.fields["edited2"].split() for r in pairs.records) == 4 * (split == "train_funlines")


def test_real_rows_score_the_organisers_constants_as_published(real_data: Path) -> None:
    """Everything rated as the mean of train is, and the first of two always chosen; `test_regression` has the mean."""
    rating, pairs = (load(name, dataset=str(real_data / "humicroedit"), split="dev") for name in (RATING, PAIRWISE))
    rmse = evaluate(rating, {r.id: told(0.9355712114932938) for r in rating.records}).metrics["rmse"]
    found = evaluate(pairs, {r.id: "A" for r in pairs.records}).metrics
    values = [f"{estimate.value:.5f}" for estimate in (rmse, found["accuracy"], found["reward"])]
    assert (values, rmse.n, found["accuracy"].n) == (["0.57840", "0.51405", "0.02325"], 2419, 2099)


def test_a_reply_is_not_read_as_its_neighbour() -> None:
    """Records keep their ids whatever their order."""
    run = load(RATING, dataset="sample")
    backwards = replace(run, data=replace(run.data, records=run.records[::-1]))
    said = {identity: told(value) for identity, value in some_ratings(run).items()}
    first, second = (evaluate(each, said).metrics for each in (run, backwards))
    assert first["rmse"].value == pytest.approx(second["rmse"].value)
    assert first["spearman"].value == pytest.approx(second["spearman"].value)
