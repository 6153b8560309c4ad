"""Humicroedit without a harness: rows, prompts, outcomes and metrics of both subtasks, bad rows by name."""

from __future__ import annotations

import csv
import math
import re
import shutil
import warnings
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from humor_tasks import evaluate, load
from humor_tasks.benchmarks.answers import Rating
from humor_tasks.benchmarks.definition import Run
from humor_tasks.benchmarks.humicroedit import corpus
from humor_tasks.benchmarks.humicroedit.rating import BINS, LABELS, bin_of
from humor_tasks.data.records import Record
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.scorers import against_judges, noise_ceiling, pairwise, regression

RATING, PAIRWISE = "humicroedit_rating", "humicroedit_pairwise"
SAMPLE = Path(folder("humicroedit"))
REAL = {"train": (9652, 9381), "train_funlines": (8248, 1958), "dev": (2419, 2355)}

Row = dict[str, str]


def rows_of(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def changed(home: Path, task: int, split: str, change: Callable[[list[Row]], Any]) -> str:
    """A copy of the sample in which `change` was made to one file's rows."""
    shutil.copytree(SAMPLE, home, dirs_exist_ok=True, ignore=shutil.ignore_patterns("_*", "__pycache__"))
    path = home / f"task-{task}" / f"{split}.csv"
    rows = rows_of(path)
    change(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return str(home)


def told(rating: float) -> str:
    return f"Rating: {rating!r}"


def some_ratings(run: Run) -> dict[str, float]:
    """Made up, between 0 and 3, a few of them equal."""
    return {record.id: (37 * i % 31) / 10 for i, record in enumerate(run.records)}


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


@pytest.mark.parametrize(("name", "via"), [(RATING, None), (PAIRWISE, "direct"), (PAIRWISE, "ratings")])
@pytest.mark.parametrize("split", ["train", "dev"])
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
        ("Rating: -1", False, "unparsed", None, 1.8),
        ("Rating: nan", False, "unparsed", None, 1.8),
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


# ---- metrics ------------------------------------------------------------------------------------


def test_rating_metrics_are_those_of_the_scorers() -> None:
    run = load(RATING, dataset="sample")
    rated = some_ratings(run)
    found = evaluate(run, {identity: told(value) for identity, value in rated.items()}).metrics
    gold, clusters = [float(str(r.target)) for r in run.records], [r.cluster for r in run.records]
    pure = regression.rating_metrics(list(rated.values()), gold, clusters)
    judges = [r.facts["grades"] for r in run.records]
    against, ceiling = against_judges(list(rated.values()), judges, clusters), noise_ceiling(judges, clusters)
    for name, estimate in pure.items():
        ours = re.sub(r"mae\[(...),.*", r"mae_\1", name.replace("@", "_at_"))
        if estimate.n:
            assert found[ours] == estimate, name
        else:
            assert ours not in found
    assert (found["beats_judge"], found["judge_rmse"]) == (against.beats_judge, against.judge_rmse)
    assert [found[name] for name in ("one_judge", "other_judges", "true_mean")] == [
        ceiling.one_judge,
        ceiling.other_judges,
        ceiling.true_mean,
    ]
    assert found["rmse"].clusters == 12
    assert next(iter(found)) == "rmse"


def test_pairwise_metrics_are_those_of_the_scorers() -> None:
    run = load(PAIRWISE, dataset="sample")
    said = {r.id: "AB"[i % 3 == 0] for i, r in enumerate(run.records)}
    found = evaluate(run, said).metrics
    rows = {row["id"]: row for row in rows_of(SAMPLE / "task-2" / "test.csv")}
    means = [(float(rows[i]["meanGrade1"]), float(rows[i]["meanGrade2"])) for i in said]
    clusters = [r.cluster for r in run.records]
    picks = ["AB".index(letter) + 1 for letter in said.values()]
    assert found["accuracy"] == pairwise.pair_accuracy(pairwise.pair_labels(means), picks, clusters)
    reward = pairwise.pair_reward(means, picks, clusters)
    assert (found["reward"].value, found["reward"].stderr) == pytest.approx((reward.value, reward.stderr))


def test_ratings_compared_are_pairs_answered() -> None:
    """A tie is worth half."""
    run, direct = (load(PAIRWISE, dataset="sample", via=via) for via in ("ratings", "direct"))
    rated = some_ratings(run)
    values: dict[str, list[float]] = {}
    at = {(pair["id"], pair["place"]): rated[r.id] for r in run.records for pair in r.facts["pairs"]}
    for record in direct.records:
        a, b = at[record.id, 1], at[record.id, 2]
        right = 0.5 if a == b else float(("A" if a > b else "B") == record.target)
        values.setdefault("accuracy", []).append(right)
        values.setdefault("reward", []).append((2 * right - 1) * record.facts["difference"])
        values.setdefault("tied", []).append(float(a == b))
    found = evaluate(run, {identity: told(value) for identity, value in rated.items()}).metrics
    for name, each in values.items():
        assert found[name].value == pytest.approx(math.fsum(each) / len(each))
        assert (found[name].n, found[name].clusters) == (len(direct.records), 12)


def test_constant_ratings_tie_everywhere() -> None:
    found = evaluate(PAIRWISE, {r.id: "1" for r in ratings_run().records}, dataset="sample", via="ratings").metrics
    assert {name: found[name].value for name in ("accuracy", "reward", "tied", "unparsed")} == {
        "accuracy": 0.5,
        "reward": 0.0,
        "tied": 1.0,
        "unparsed": 0.0,
    }


def ratings_run(**more: Any) -> Run:
    return load(PAIRWISE, dataset="sample", via="ratings", **more)


def test_a_pair_with_an_unread_rating_is_wrong_or_left_out() -> None:
    run = ratings_run()
    perfect = {r.id: f"Rating: {r.target}" for r in run.records}
    lost = run.records[0]
    touched = len(lost.facts["pairs"])
    n = len(load(PAIRWISE, dataset="sample").records)
    wrong = evaluate(run, perfect | {lost.id: "no idea"}).metrics
    assert wrong["accuracy"].value == pytest.approx(1 - touched / n)
    assert wrong["unparsed"].value == pytest.approx(1 / len(run.records))
    left = evaluate(ratings_run(on_unparsed="exclude"), perfect | {lost.id: "no idea"}).metrics
    assert (left["accuracy"].value, left["accuracy"].n) == (1, n - touched)
    outcomes = [run.outcome(r, perfect[r.id]) for r in run.records[1:]]  # a limited run lacks its pairs
    assert run.metrics(outcomes)["accuracy"].n == n - touched


def test_submissions_may_name_ties_but_nothing_else() -> None:
    run = load(PAIRWISE, dataset="sample", split="dev")
    said = {r.id: "A" for r in run.records}
    with_ties = said | dict.fromkeys(run.data.dropped, "B")
    assert evaluate(run, with_ties).metrics == evaluate(run, said).metrics
    with pytest.raises(BadInput, match="1 unknown id: 1-2"):
        evaluate(run, with_ties | {"1-2": "A"})
    with pytest.raises(BadInput, match="1 missing id"):
        evaluate(run, dict(list(with_ties.items())[1:]))


@pytest.mark.parametrize("via", ["direct", "ratings"])
def test_ties_that_are_kept_are_asked_about_and_not_scored(via: str) -> None:
    dropped, kept = (load(PAIRWISE, dataset="sample", split="dev", via=via, ties=ties) for ties in ("drop", "keep"))
    asked, some = (
        {pair["id"] for r in run.records for pair in r.facts.get("pairs", [{"id": r.id}])} for run in (kept, dropped)
    )
    ties = load(PAIRWISE, dataset="sample", split="dev").data.dropped
    assert asked == some | ties
    assert ties
    assert not some & ties
    assert not kept.data.dropped & {r.id for r in kept.records}
    said = {r.id: told(i % 4) if via == "ratings" else "A" for i, r in enumerate(kept.records)}
    without = {r.id: said[r.id] for r in dropped.records}
    wanted, found = evaluate(dropped, without).metrics, evaluate(kept, said).metrics
    assert {name: found[name] for name in ("accuracy", "reward")} == {n: wanted[n] for n in ("accuracy", "reward")}
    assert found["unparsed"].n == len(kept.records)


@pytest.mark.parametrize(
    ("likelihoods", "value"),
    [
        ([0.0, -math.inf, -math.inf, -math.inf], 0.0),
        ([math.log(0.5), -math.inf, -math.inf, math.log(0.25)], 1.0),
        ([-math.inf] * 4, None),
        ([math.nan, -1.0, -1.0, -1.0], None),
    ],
)
def test_expected_ratings(likelihoods: list[float], value: float | None) -> None:
    answer = Rating(LABELS).from_likelihoods(likelihoods)
    assert answer.status == ("unparsed" if value is None else "answered")
    assert answer.value is None if value is None else float(str(answer.value)) == pytest.approx(value)


# ---- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (RATING, {"split": "dve"}, "Did you mean 'dev'"),
        (RATING, {"setting": "edited"}, "setting: there is no 'edited'"),
        (RATING, {"estimate": "mean"}, "choose from text, expected"),
        (RATING, {"scale": " "}, "scale must not be empty"),
        (RATING, {"scale": 3}, "scale must be text"),
        (RATING, {"on_unparsed": "random"}, "ratings cannot be guessed"),
        (RATING, {"extraction": "released_chat"}, "extraction: there is no 'released_chat'"),
        (RATING, {"revision": "main"}, "pinned by SHA-256"),
        (RATING, {"shots": -1}, "shots must be a whole number"),
        (RATING, {"via": "ratings"}, "parameter of humicroedit_rating: there is no 'via'"),
        (RATING, {"dataset": "/no/where"}, "there is no file /no/where/task-1/test.csv"),
        (PAIRWISE, {"via": "rating"}, "Did you mean 'ratings'"),
        (PAIRWISE, {"estimate": "expected"}, "applies only to via=ratings"),
        (PAIRWISE, {"via": "ratings", "on_unparsed": "random"}, "ratings cannot be guessed"),
        (PAIRWISE, {"on_unparsed": "perhaps"}, "on_unparsed: there is no 'perhaps'"),
    ],
)
def test_bad_options(name: str, options: Mapping[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=re.escape(message)):
        load(name, **{"dataset": "sample"} | dict(options))


# ---- bad rows -----------------------------------------------------------------------------------


def put(**cells: str) -> Callable[[list[Row]], None]:
    """These cells in the second row, which is line 3."""
    return lambda rows: rows[1].update(cells)


@pytest.mark.parametrize(
    ("task", "change", "message"),
    [
        (1, put(original="No mark at all"), "line 3: original has 0 marked words"),
        (1, put(original="<Two/> of <them/>"), "line 3: original has 2 marked words"),
        (1, put(original="An empty < /> one"), "line 3: original has 1 marked words"),
        (1, put(edit="  "), "line 3: edit is empty"),
        (1, put(id=" "), "line 3: id is empty"),
        (2, put(id=""), "line 3: id is empty"),
        (1, put(grades="2,1,0"), "line 3: grades is '2,1,0'; it must be digits"),
        (1, put(meanGrade="3.2"), "line 3: meanGrade is '3.2'; it must be a number from 0 to 3"),
        (1, put(meanGrade="nan"), "line 3: meanGrade is 'nan'"),
        (1, put(meanGrade="funny"), "line 3: meanGrade is 'funny'"),
        (1, lambda rows: rows[2].update(id=rows[1]["id"]), r"line 4: id \d+ is also that of .*test.csv, line 3"),
        (2, put(original2="No mark"), "line 3: original2 has 0 marked words"),
        (2, put(edit1=""), "line 3: edit1 is empty"),
        (2, put(label="3"), "line 3: label is '3'; it must be 1 or 2"),
        (
            2,
            put(label="1", meanGrade1="0.2", meanGrade2="1.0"),
            "line 3: label is 1, but the means 0.2 and 1.0 imply 2",
        ),
        (
            2,
            put(label="0", meanGrade1="1.2", meanGrade2="1.0"),
            "line 3: label is 0, but the means 1.2 and 1.0 imply 1",
        ),
        (
            2,
            put(label="2", meanGrade1="1.0", meanGrade2="1.0"),
            "line 3: label is 2, but the means 1.0 and 1.0 imply 0",
        ),
        (2, lambda rows: rows[2].update(id=rows[1]["id"]), "line 4: id .* is also that of"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, task: int, change: Callable[[list[Row]], None], message: str) -> None:
    dataset = changed(tmp_path, task, "test", change)
    with pytest.raises(BadInput, match=message) as caught:
        load(RATING if task == 1 else PAIRWISE, dataset=dataset)
    assert f"task-{task}/test.csv" in str(caught.value)


@pytest.mark.parametrize("word", ["None", "null", "nan", "NA", "#N/A", "1,600"])
def test_words_that_look_like_missing_values_are_words(tmp_path: Path, word: str) -> None:
    record = load(RATING, dataset=changed(tmp_path, 1, "test", put(edit=word))).records[1]
    assert record.fields["edit"] == word
    assert word in record.fields["edited"].split()


def test_grades_that_disagree_with_their_mean_are_said_once(tmp_path: Path) -> None:
    def change(rows: list[Row]) -> None:
        for row in rows[:3]:
            row.update(grades="43333", meanGrade="2.8")

    dataset = changed(tmp_path, 1, "test", change)
    with pytest.warns(UserWarning, match="in 3 rows the grades disagree with the file's mean") as caught:
        run = load(RATING, dataset=dataset)
    assert len(caught) == 1
    assert {r.target for r in run.records[:3]} == {"2.8"}


def test_a_pair_whose_grades_disagree_with_a_mean_is_said_once(tmp_path: Path) -> None:
    dataset = changed(
        tmp_path, 2, "test", put(grades1="00000", meanGrade1="2.8", grades2="33333", meanGrade2="0.0", label="1")
    )
    with pytest.warns(UserWarning, match="in 1 rows the grades disagree with the file's mean") as caught:
        load(PAIRWISE, dataset=dataset)
    assert len(caught) == 1


@pytest.mark.parametrize("via", ["direct", "ratings"])
def test_a_split_of_ties_holds_nothing_to_evaluate(tmp_path: Path, via: str) -> None:
    def tie(rows: list[Row]) -> None:
        for row in rows:
            row.update(meanGrade1="1.0", meanGrade2="1.0", grades1="", grades2="", label="0")

    dataset = changed(tmp_path, 2, "test", tie)
    with pytest.raises(BadInput, match="has no row to evaluate; 36 rows without an answer were dropped"):
        load(PAIRWISE, dataset=dataset, via=via)
    kept = load(PAIRWISE, dataset=dataset, via=via, ties="keep")
    found = evaluate(kept, {r.id: told(1) if via == "ratings" else "A" for r in kept.records}).metrics
    assert "accuracy" not in found or math.isnan(found["accuracy"].value)


def test_five_zeros_are_five_judges(tmp_path: Path) -> None:
    """The organisers' files of subtask 1 hold them as the number 0."""
    record = load(RATING, dataset=changed(tmp_path, 1, "test", put(grades="0", meanGrade="0.0"))).records[1]
    assert record.facts["grades"] == [0, 0, 0, 0, 0]


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
    said = [str(w.message) for w in caught if "disagree with the file's mean" in str(w.message)]
    assert re.findall(r"in (\d+) rows", "\n".join(said)) == (["7", "4"] if split == "train_funlines" else [])
    assert len(pairs.records) + len(pairs.data.dropped) == REAL[split][1]
    odd = sum(r.fields["edit"] == "None" for r in rating.records)
    assert odd + sum("None" in r.fields["edited2"].split() for r in pairs.records) == 4 * (split == "train_funlines")


@pytest.mark.slow
def test_the_real_mean_of_train(real_data: Path) -> None:
    dataset = str(real_data / "humicroedit")
    grades = [float(str(r.target)) for r in load(RATING, dataset=dataset, split="train").records]
    run = load(RATING, dataset=dataset, split="dev")
    replies = {r.id: told(math.fsum(grades) / len(grades)) for r in run.records}
    estimate = run.metrics([run.outcome(r, replies[r.id]) for r in run.records])["rmse"]
    assert f"{estimate.value:.5f}" == "0.57840"
    assert estimate.n == 2419


@pytest.mark.parametrize(("letter", "accuracy", "reward"), [("A", ".51405", ".02325"), ("B", ".48595", "-.02325")])
def test_the_real_constants(real_data: Path, letter: str, accuracy: str, reward: str) -> None:
    run = load(PAIRWISE, dataset=str(real_data / "humicroedit"), split="dev")
    found = evaluate(run, {r.id: letter for r in run.records}).metrics
    assert found["accuracy"].n == 2099
    assert f"{found['accuracy'].value:.5f}" == f"{float(accuracy):.5f}"
    assert f"{found['reward'].value:.5f}" == f"{float(reward):.5f}"


def test_a_reply_is_not_read_as_its_neighbour() -> None:
    """Records keep their ids whatever their order."""
    run = load(RATING, dataset="sample")
    backwards = replace(run, data=replace(run.data, records=run.records[::-1]))
    said = {identity: told(value) for identity, value in some_ratings(run).items()}
    first, second = (evaluate(each, said).metrics for each in (run, backwards))
    assert first["rmse"].value == pytest.approx(second["rmse"].value)
    assert first["spearman"].value == pytest.approx(second["spearman"].value)
