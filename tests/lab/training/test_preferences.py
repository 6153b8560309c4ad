"""Preference data in TRL's format: the rule of pairs, the splits, and what the command writes."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from datasets import load_dataset
from hypothesis import given
from hypothesis import strategies as st
from standins import commands
from standins.contests import annotation, invent

from humor_tasks.api import load
from humor_tasks.benchmarks.crowd import pairs
from humor_tasks.benchmarks.crowd.pairs import draw
from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_table
from humor_tasks.lab.training.preferences.crowd import crowd_preferences, divide
from humor_tasks.lab.training.preferences.settings import CrowdSettings
from humor_tasks.rows.contests.contest_csv import Contest, read_contest
from humor_tasks.rows.contests.source import HELD_OUT, TWINS, numbers

COLUMNS = ("caption", "mean", "precision", "votes")


def contest(means: list[float], error: float | None = 0.05, votes: int = 90, number: int = 7) -> Contest:
    texts = [f"caption {i}" for i in range(len(means))]
    n = len(means)
    return Contest(number, True, texts, list(texts), [*means], [error] * n, [votes] * n)


def naively(read: Contest, wanted: int, seed: int, distinct: bool = False) -> list[tuple[int, int]]:
    """The rule of Zhang et al. in a loop, on the same draws."""
    n, found = len(read.caption), []
    stream = np.random.default_rng([seed, read.number])
    chosen = stream.integers(0, min(n // 2, n - 2) + 1, size=pairs.DRAWS)
    rejected = stream.integers(chosen + 1, n)
    for c, r in zip(chosen.tolist(), rejected.tolist(), strict=True):
        assert 0 <= c <= n // 2
        assert c < r < n
        (mean_c, error_c), (mean_r, error_r) = (
            (read.mean[i] or 0.0, math.inf if read.precision[i] is None else read.precision[i]) for i in (c, r)
        )
        assert error_c is not None
        assert error_r is not None
        apart = mean_c - mean_r > 3 * math.sqrt(error_c**2 + error_r**2)
        if apart and read.key[c] != read.key[r] and not (distinct and (c, r) in found):
            found.append((c, r))
        if len(found) == wanted:
            break
    return found


# ---- the rule -----------------------------------------------------------------------------------


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("n", [2, 3, 4, 11, 60])
def test_the_pairs_are_those_of_a_loop(n: int, distinct: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "DRAWS", 2000)
    means = random.Random(n)
    read = contest(sorted((1 + means.random() for _ in range(n)), reverse=True))
    read.precision[0] = None
    read.key[-1] = read.key[1]
    drawn = draw(read, 300, 5, distinct)
    assert [tuple(pair) for pair in drawn.places.tolist()] == naively(read, 300, 5, distinct)
    assert drawn.repeats == len(drawn.places) - len({*map(tuple, drawn.places.tolist())})
    assert drawn.unknown == 1
    assert distinct <= (drawn.repeats == 0)


def test_the_middle_caption_may_be_chosen() -> None:  # 0..floor(N/2), both ends included
    drawn = draw(contest([3.0, 2.5, 2.0, 1.5, 1.0], 0.001), 1000, 1)
    assert {int(c) for c, _ in drawn.places} == {0, 1, 2}
    assert {int(r) for _, r in drawn.places} == {1, 2, 3, 4}


@pytest.mark.parametrize(
    ("means", "error", "pairs_found"),
    [([], 0.1, 0), ([2.0], 0.1, 0), ([2.0, 2.0, 2.0], 0.0, 0), ([2.0, 1.5], None, 0), ([2.0, 1.0], 0.1, 1)],
)
def test_few_captions_and_ties(means: list[float], error: float | None, pairs_found: int) -> None:
    assert len(draw(contest(means, error), 1, 0).places) == pairs_found


def test_three_standard_errors_exactly_are_too_few() -> None:
    read = contest([2.5, 1.0])
    read.precision[:] = [0.3, 0.4]  # 1.5 apart, of 3 x 0.5
    assert not len(draw(read, 9, 0).places)
    read.precision[0] = 0.2999
    assert len(draw(read, 9, 0).places) == 9


def test_what_is_told_of_a_contest() -> None:
    thin = draw(contest([2.0, 1.5, 1.0], 0.3, votes=9), 5, 0)
    assert thin.warnings(5) == ["0 of 5 pairs in 200,000 draws", "thin votes: median 9"]
    assert draw(contest([2.0] + [1.0] * 19, 0.1), 5, 0).warnings(5) == [
        "broken scoring: 95.0% of captions have the same mean"
    ]
    assert not draw(contest([2.0, 1.0], 0.1), 5, 0).warnings(5)


# ---- splits -------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 30), unique=True, min_size=2, max_size=20), st.data())
def test_no_contest_and_no_twin_is_in_two_splits(contests: list[int], data: st.DataObject) -> None:
    some = st.sampled_from(contests)
    twins = data.draw(st.lists(st.tuples(some, some).filter(lambda pair: pair[0] != pair[1]), max_size=5))
    tested = ",".join(map(str, data.draw(st.frozensets(st.integers(1, 30)))))
    settings = CrowdSettings(test=tested or "none", validation=data.draw(st.floats(0, 1)), seed=3)
    left_out: dict[int, str] = {}
    splits = divide(contests, twins, settings, left_out)
    where = {number: split for split, held in splits.items() for number in held}
    assert sum(map(len, splits.values())) == len(where)
    assert where.keys() | left_out.keys() == set(contests)
    assert not where.keys() & left_out.keys()
    assert {n for n in contests if n in settings.tested} == set(splits["test"])
    assert all(where[a] == where[b] for a, b in twins if a in where and b in where)


def test_the_contests_held_out_as_published() -> None:
    assert len(HELD_OUT) == 91
    assert sum(HELD_OUT) == 58966
    assert set(TWINS.values()) <= set(HELD_OUT)
    assert not set(TWINS) & set(HELD_OUT)


@pytest.mark.parametrize(
    ("text", "found"),
    [("510-512,600", {510, 511, 512, 600}), ("none", set()), ("", set()), (" 7 , 8 ", {7, 8}), ("9-8", set())],
)
def test_contest_numbers(text: str, found: set[int]) -> None:
    assert numbers(text, "--test") == found


def test_what_is_no_contest_number() -> None:
    with pytest.raises(BadInput, match=r"^--test: 'x' is no contest; give numbers and ranges, such as 510-526,600\.$"):
        numbers("510,x", "--test")


# ---- the command --------------------------------------------------------------------------------


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_datasets_loads_ranking_rows_in_both_formats(tmp_path: Path) -> None:
    for form in ("standard", "conversational"):
        told = commands.humor_tasks(
            "export", "preferences", "--task", "ranking", "--dataset", "sample", "--format", form, "-o", tmp_path / form
        )
        assert "train: 30 rows of 15 contests" in told
        loaded = load_dataset(str(tmp_path / form), cache_dir=str(tmp_path / "cache"))
        assert {split: len(rows) for split, rows in loaded.items()} == {"train": 30, "validation": 10, "test": 10}
        assert loaded["train"].column_names[:3] == ["prompt", "chosen", "rejected"]
        assert loaded["test"][0] == rows_of(tmp_path / form / "test.jsonl")[0]
    plain, chat = (rows_of(tmp_path / form / "test.jsonl") for form in ("standard", "conversational"))
    run = load("ranking", dataset="sample")
    assert len(run.records) == len(plain) == len(chat)
    for record, text, turns in zip(run.records, plain, chat, strict=True):
        better, worse = record.choices if record.target == "A" else record.choices[::-1]
        assert (text["chosen"], text["rejected"]) == (f" {better}", f" {worse}")
        assert turns["chosen"] == [{"role": "assistant", "content": better}]
        assert turns["rejected"] == [{"role": "assistant", "content": worse}]
        assert [turn["role"] for turn in turns["prompt"]] == ["system", "user"]
        assert record.context in turns["prompt"][1]["content"]
        joined = "\n\n".join(turn["content"] for turn in turns["prompt"])
        assert text["prompt"] == f"{joined}\n\nCaption:"
        assert {k: text[k] for k in ("contest", "instance_id")} == {"contest": record.cluster, "instance_id": record.id}


def invented_crowd(folder: Path) -> tuple[str | Path, ...]:
    """Contests 101 to 104, of which 104 has the captions of 103."""
    invent(folder, contests=4)
    (folder / "crowd" / "104.csv").write_text((folder / "crowd" / "103.csv").read_text())
    return "export", "preferences", "--crowd", folder / "crowd", "--annotations", folder / "annotations.json"


def test_the_crowds_pairs(tmp_path: Path) -> None:
    command = (*invented_crowd(tmp_path), "--pairs", "40", "--test", "101")
    told = commands.humor_tasks(*command, "--validation", "0.5", "-o", tmp_path / "out")
    assert "contests 103 and 104 have the same captions" in told
    loaded = load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    contests = {split: set(rows["contest"]) for split, rows in loaded.items()}
    assert contests["test"] == {"101"}
    assert sorted([contests["train"], contests["validation"]], key=len) == [{"102"}, {"103", "104"}]
    read = read_contest(tmp_path / "crowd" / "101.csv")
    for row, (c, r) in zip(loaded["test"], naively(read, 40, 2024), strict=True):
        assert row["chosen"][0]["content"] == read.caption[c]
        assert row["rejected"][0]["content"] == read.caption[r]
        assert (row["chosen_place"], row["rejected_place"], row["rejected_votes"]) == (c, r, read.votes[r])
        assert row["chosen_mean"] > row["rejected_mean"]
        shown = json.dumps([row[name] for name in ("prompt", "chosen", "rejected")])
        assert str(row["chosen_votes"]) not in shown
        assert str(row["chosen_mean"]) not in shown
    described = annotation(101, [])["mturk_annotations"]["description_hit"][1]["image_description"]  # type: ignore[index]
    assert " ".join(described.split()) in loaded["test"][0]["prompt"][1]["content"]
    card = (tmp_path / "out" / "README.md").read_text()
    assert "| 101 | test | 40 | 60 |" in card


def test_a_contests_pairs_do_not_depend_on_the_others(tmp_path: Path) -> None:
    command = (*invented_crowd(tmp_path), "--pairs", "10", "--test", "none", "--validation", "0")
    commands.humor_tasks(*command, "-o", tmp_path / "all")
    commands.humor_tasks(*command, "--contests", "102", "--split", "train", "-o", tmp_path / "one.jsonl")
    alone = rows_of(tmp_path / "one.jsonl")
    assert alone == [row for row in rows_of(tmp_path / "all" / "train.jsonl") if row["contest"] == "102"]
    assert "{split: train, path: one.jsonl}" in (tmp_path / "one.md").read_text()
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["README.md", "train.jsonl"]


def test_a_twin_of_a_tested_contest_is_left_out(tmp_path: Path) -> None:
    told = commands.humor_tasks(*invented_crowd(tmp_path), "--pairs", "5", "--test", "104", "-o", tmp_path / "out")
    assert "left out: has the captions of contest 104, which is in the test split: 103." in told
    assert {row["contest"] for row in rows_of(tmp_path / "out" / "train.jsonl")} == {"101", "102"}


def test_a_twin_of_a_held_out_contest_is_left_out_without_that_contests_file(tmp_path: Path) -> None:
    for number in (599, 656):
        rows = [(f"caption {i} of {number}", 2.0 - i / 20, 0.01, 90) for i in range(20)]
        write_table(tmp_path / "crowd" / f"{number}.csv", COLUMNS, rows, exact=True)
    made = crowd_preferences(tmp_path / "crowd", CrowdSettings(validation=0, pairs=10, seed=1))
    assert {row.facts["contest"] for row in made.rows["train"]} == {"599"}
    assert made.warnings == ["left out: has the captions of contest 655, which is in the test split: 656"]


def test_few_pairs_are_told_and_counted(tmp_path: Path) -> None:
    rows = [(f"caption {i} of it", 2.0 - i / 1000, 0.3, 3) for i in range(20)]
    write_table(tmp_path / "crowd" / "600.csv", COLUMNS, [("best", 3.0, 0.1, 3), *rows], exact=True)
    made = crowd_preferences(tmp_path / "crowd", CrowdSettings(pairs=20_000, seed=1))
    told, one, *_ = made.warnings
    assert told == "1 of 1 contests have fewer than 20,000 pairs"
    assert one.startswith("contest 600: ")
    assert one.endswith("of 20,000 pairs in 200,000 draws; thin votes: median 3")


REFUSED = [
    ((), "name one source: --task ranking or --crowd FOLDER."),
    (("--task", "ranking", "--crowd", "."), "name one source"),
    (("--task", "ranking", "--pairs", "5"), "--pairs does not apply to --task; leave it out."),
    (("--crowd", ".", "--fold", "1"), "--fold does not apply to --crowd; leave it out."),
    (("--crowd", ".", "-T", "fold=1"), "--T does not apply to --crowd"),
    (("--crowd", "gone"), "gone: is no folder"),
    (("--crowd", ".", "--test", "ten"), "--test: 'ten' is no contest"),
    (("--crowd", "CROWD", "--contests", "999"), "--contests: "),
    (("--crowd", "CROWD", "--exclude", "1-999"), "no contest has a pair; left out: excluded: 101"),
    (("--crowd", "CROWD", "--split", "test"), "--split test: there are no rows; there are: train"),
    (
        ("--task", "ranking", "--dataset", "sample", "--setting", "pixels"),
        "--setting pixels: only text can be exported",
    ),
    (("--task", "ranking", "--dataset", "sample", "-T", "split=test"), "-T split=test: leave it out; use --split."),
    (("--task", "ranking", "--dataset", "sample", "--fold", "all"), "fold=all with split=train"),
    (("--task", "ranking", "--dataset", "sample", "--prompts", "gone"), "prompts=gone: there is no such folder."),
]


@pytest.mark.parametrize(("args", "said"), REFUSED, ids=[" ".join(args) for args, _ in REFUSED])
def test_what_cannot_be_exported(args: tuple[str, ...], said: str, tmp_path: Path) -> None:
    if "CROWD" in args:
        invent(tmp_path, contests=2)
    given = [str(tmp_path / "crowd") if each == "CROWD" else each for each in args]
    assert said in commands.refused("export", "preferences", *given, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [("there", "there: exists already"), ("a.jsonl", "a file holds one split"), ("b.jsonl", "b.jsonl: exists already")],
)
def test_where_nothing_can_be_written(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").touch()
    (tmp_path / "b.jsonl").touch()
    split = ("--split", "test") if name == "b.jsonl" else ()
    args = ("--task", "ranking", "--dataset", "sample", *split, "-o", tmp_path / name)
    assert said in commands.refused("export", "preferences", *args)


def test_own_templates(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "write.txt").write_text("== user ==\nScene: $scene")
    args = ("--task", "ranking", "--dataset", "sample", "--split", "test", "--prompts", tmp_path / "mine")
    commands.humor_tasks("export", "preferences", *args, "-o", tmp_path / "o.jsonl")
    record = load("ranking", dataset="sample").records[0]
    shown = [{"role": "user", "content": f"Scene: {record.context}"}]
    assert rows_of(tmp_path / "o.jsonl")[0]["prompt"] == shown
    (tmp_path / "mine" / "write.txt").write_text("== user ==\nNo scene")
    assert "lacks $scene; the cartoon would not be shown" in commands.refused(
        "export", "preferences", *args, "-o", tmp_path / "p.jsonl"
    )


# ---- real rows ----------------------------------------------------------------------------------


def test_held_out_contests_are_those_of_the_corpus(real_corpus: str) -> None:
    # by definition: from 530 on, in test and validation of fold 0
    held = {int(each.cluster) for each in load("ranking", dataset=real_corpus, split="validation").records}
    assert {number for number in held if number >= 530} <= set(HELD_OUT)
    train = {int(each.cluster) for each in load("ranking", dataset=real_corpus, split="train").records}
    assert not train & set(HELD_OUT)


@pytest.mark.slow
def test_the_accepted_share_of_real_contests(real_data: Path) -> None:
    crowd = real_data / "newyorker_raw" / "crowd"
    found = {number: draw(read_contest(crowd / f"{number}.csv"), 1000, 2024) for number in (730, 695, 536, 591)}
    assert 20 <= len(found[730].places) <= 60  # as measured on the same file by another program
    assert {number: round(each.accepted, 3) for number, each in found.items()} == ACCEPTED
    assert found[591].warnings(1000)[1].startswith("broken scoring")


ACCEPTED = {730: 0.0, 695: 0.01, 536: 0.162, 591: 0.002}


@pytest.mark.slow
def test_real_ranking_rows(real_corpus: str, tmp_path: Path) -> None:
    told = commands.humor_tasks(
        "export", "preferences", "--task", "ranking", "--dataset", real_corpus, "-o", tmp_path / "o"
    )
    assert "train: 9,576 rows of 410 contests" in told
    assert "validation: 507 rows of 133 contests" in told
