"""Which of two groups of ten captions the crowd found funnier: groups, prompts, worked examples, recalibration."""

from __future__ import annotations

import csv
import html
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.crowd_groups import EVALUATED, OTHERS, last_turn, opened
from standins.ranked import captions_of, ranked, shown_groups

from humor_tasks import evaluate, load
from humor_tasks.benchmarks.crowd.corpus import HUMAN_GROUPS, Cartoon
from humor_tasks.benchmarks.crowd.groups import Group, GroupsOptions, group_record, human_group, numbered
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.task import BenchmarkTask
from humor_tasks.rows.contests.captions import mend
from humor_tasks.rows.contests.contest_csv import Contest, read_contest
from humor_tasks.rows.contests.source import VALIDATION
from humor_tasks.rows.records import Record
from humor_tasks.scorers.verdict import as_data


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return ranked(tmp_path_factory.mktemp("contests"), (*OTHERS, *EVALUATED))


# ---- groups -------------------------------------------------------------------------------------


def test_groups_are_ranks_in_both_orders(folder: str) -> None:
    run = opened(folder, against="all")
    assert len(run.records) == len(EVALUATED) * 3 * 2
    ranks = {"top10": 0, "rank200": 200, "rank1000": 1000, "median": 505}
    for first, second in zip(run.records[::2], run.records[1::2], strict=True):
        entries = captions_of(folder, int(first.cluster))
        pairing = first.groups["pairing"]
        sides = ["\n".join(entries[ranks[name] : ranks[name] + 10]) for name in ("top10", pairing)]
        assert list(first.choices) == sides == list(reversed(second.choices))
        assert first.grouped is not None
        assert ["\n".join(captions) for captions in first.grouped.captions] == sides
        assert (first.id, second.id) == tuple(f"{first.cluster}-{pairing}-{s}-first" for s in ("top10", pairing))
        assert (first.target, second.target) == ("A", "B")
        assert first.groups == {"pairing": pairing, "pair_id": f"{first.cluster}-{pairing}", "first": "top10"}
        assert second.groups == {**first.groups, "first": pairing}
        assert shown_groups(last_turn(run, first)) == {"A": sides[0].split("\n"), "B": sides[1].split("\n")}
    assert [r.groups["pairing"] for r in opened(folder).records] == ["rank1000"] * 6
    best = opened(folder, mode="best_pick").records[0].grouped
    assert run.records[0].grouped is not None
    assert best is not None
    assert (run.records[0].grouped.combine, best.combine) == ("mean", "max")


def test_ratings_and_votes_are_never_shown(folder: str) -> None:
    run = opened(folder, against="all", shots=5)
    with (Path(folder) / "crowd" / "536.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    told = {row[name] for row in rows for name in ("mean", "precision", "votes")} - {"1.0", "2.0", "3.0"}
    for record in run.records:
        prompt = "\n".join(turn.text for turn in run.prompt(record).turns)
        assert not [number for number in told if number in prompt]


def test_what_cannot_be_compared_is_left_out_and_said(tmp_path: Path) -> None:
    ranked(tmp_path, (536,))
    ranked(tmp_path, (537,), entries=900)
    ranked(tmp_path, (545,), tied=True)
    ranked(tmp_path, (550,), placed={550: {1003: "?"}})
    folder = ranked(tmp_path, (551,), entries=15)
    with pytest.warns(UserWarning, match="pairs of groups left out") as caught:
        run = opened(folder)
    said = " ".join(str(each.message) for each in caught)
    few = "fewer than 10 usable captions in top10 or rank1000: 3 contests: 537, 550, 551"
    assert few in said
    assert "top10 and rank1000 have equal ratings: 1 contest: 545" in said
    assert {record.cluster for record in run.records} == {"536"}
    assert run.data.provenance["left_out"] == {
        "fewer than 10 usable captions in top10 or rank1000": ["537", "550", "551"],
        "top10 and rank1000 have equal ratings": ["545"],
    }
    with pytest.warns(UserWarning, match="left out"):
        doubtful = opened(folder, doubtful="skip").data.provenance["left_out"]
    assert doubtful == {
        "broken scoring": ["545"],
        "fewer than 10 usable captions in top10 or rank1000": ["537", "550", "551"],
    }
    with pytest.warns(UserWarning, match="left out"):
        run = opened(folder, against="all")
    kept = {(record.cluster, record.groups["pairing"]) for record in run.records}
    assert kept == {("536", "rank200"), ("536", "rank1000"), ("536", "median")} | {
        ("537", "rank200"),
        ("537", "median"),
        ("550", "rank200"),
        ("550", "median"),
    }
    with pytest.warns(UserWarning, match="left out"), pytest.raises(BadInput, match="no row to evaluate"):
        opened(folder, contests="545")


CARTOON = Cartoon(
    1, Contest(1, True), {"location": "Here.", "description": "A room.", "uncanny": "No door.", "entities": "Room"}
)


def test_any_two_groups_can_be_asked_about() -> None:
    written = Group("model", ("  One\nline. ", "Two <b>bold</b>.", "An air B&B?"))
    record = group_record(CARTOON.record, Group("top10", ("Ha.",)), written, "model", GroupsOptions(), {"system": "m"})
    assert record.choices == ("One line.\nTwo <b>bold</b>.\nAn air B&B?", "Ha.")
    assert (record.id, record.target, record.cluster) == ("1-model-model-first", "B", "1")
    assert record.fields["first"] == "1. One line.\n2. Two &lt;b>bold&lt;/b>.\n3. An air B&B?"
    assert record.groups["system"] == "m"


@given(
    st.lists(
        st.text(max_size=30) | st.sampled_from(["</group_a>", "2. x", "\n", "\u2028", "{a}", "a\r\nb"]), max_size=12
    )
)
def test_every_caption_stays_in_its_numbered_line(captions: list[str]) -> None:
    lines = numbered(captions).split("\n") if captions else []
    assert len(lines) == len(captions)
    for i, (line, caption) in enumerate(zip(lines, captions, strict=True), 1):
        assert line.startswith(f"{i}. ")
        assert not set(line) & set("<\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
        if caption.isascii() and caption.isprintable():
            assert html.unescape(line) == f"{i}. {' '.join(caption.split())}"


# ---- prompts and parameters -----------------------------------------------------------------------


def test_the_prompt_shows_the_setting_and_asks_for_the_mode(folder: str) -> None:
    overall, best = opened(folder), opened(folder, mode="best_pick")
    shown = last_turn(overall, overall.records[0])
    assert all(words in shown for words in ("stands in a room.", "Such rooms have no doors."))
    assert not any(words in shown for words in ("castle", "office", "Door,"))  # as published: no location, no links
    assert "stands in a room." not in last_turn(opened(folder, setting="caption_only"), overall.records[0])
    assert (overall.form.stop, best.form.stop) == (("\n\n",), ())
    asked = [turn.text for turn in best.prompt(best.records[0]).turns]
    assert "funniest caption of each group" in asked[1]
    assert "write nothing else" not in asked[1]
    assert overall.prompts_hash != best.prompts_hash
    assert [r.version for r in (overall, best, opened(folder, against="200"))] == ["1-A", "1-A-best_pick", "1-A-200"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tau": "high"}, "tau must be a number, `fit` or `none`, not 'high'"),
        ({"tau": math.nan}, "tau must be a number"),
        ({"tau": 1, "mode": "best_pick"}, "tau=1 needs mode=overall"),
        ({"cot": True}, "cot: mode=best_pick gives reasons"),
    ],
)
def test_parameters_that_do_not_go_together_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        GroupsOptions(**given)


def test_reasons_have_no_log_likelihoods(folder: str) -> None:
    config = {"task": "x", "benchmark": "crowd_groups", "output_type": "multiple_choice"}
    with pytest.raises(BadInput, match="mode=best_pick requires a generated reply"):
        BenchmarkTask({**config, "metadata": {"dataset": folder, "mode": "best_pick"}})


# ---- worked examples ------------------------------------------------------------------------------


def test_worked_examples_are_pandas_sample_in_blocks(real_data: Path, real_corpus: str) -> None:
    import pandas

    columns = ["label", "caption_choices", "image_description"]
    rows = pandas.concat(map(pandas.read_parquet, sorted(Path(real_corpus).glob("ranking/train*.parquet"))))
    rows = rows[columns].to_dict("records")
    frame = pandas.DataFrame({"i": range(len(rows))}).sample(600, random_state=42)
    contests = "536,550"
    run = opened(str(real_data / "newyorker_raw"), contests=contests, shots=5, shots_from=real_corpus)
    for i, contest in enumerate(contests.split(",")):
        expected = [rows[j] for j in frame["i"][6 * i : 6 * i + 5]]
        for record in run.records:
            if record.cluster == contest:
                turns = run.prompt(record).turns[3:-1]
                assert [turn.text for turn in turns[1::2]] == [f"Answer: {row['label']}" for row in expected]
                for turn, row in zip(turns[::2], expected, strict=True):
                    assert all(as_data(" ".join(choice.split())) in turn.text for choice in row["caption_choices"])
                    assert row["image_description"] in turn.text


def test_worked_examples_never_show_the_contest_itself(tmp_path: Path) -> None:
    train = load("ranking", dataset="sample", split="train").records
    own = sorted({int(record.cluster) for record in train})[:4]
    folder = ranked(tmp_path, own)
    run = opened(folder, split="all", shots=2)
    for record in run.records:
        drawn = (run.data.drawn_examples or (lambda *_: {}))("", 2)[record.id]
        assert len(drawn) == 2
        assert all(shot.cluster != record.cluster for shot in drawn)
        assert len(run.prompt(record).turns) == 3 + 4 + 1
    with pytest.raises(BadInput, match="shots=500: there are only"):
        opened(folder, split="all", shots=500).prompt(run.records[0])


# ---- published facts ------------------------------------------------------------------------------

REAL = sorted(VALIDATION)[2::5]  # of the 44 of the validation split, for each takes a sixth of a second to read


@pytest.fixture(scope="module")
def crowd(real_data: Path) -> dict[int, Contest]:
    return {n: read_contest(real_data / "newyorker_raw" / "crowd" / f"{n}.csv") for n in REAL}


@pytest.mark.slow
def test_groups_of_real_contests_are_the_released_ones(real_data: Path, crowd: dict[int, Contest]) -> None:
    released = real_data / "newyorker_raw" / "generations"
    with (released / "claude.csv").open(encoding="utf-8", newline="") as file:
        order = [int(float(row["contest_num"])) for row in csv.DictReader(file)]
    found = 0
    for name, stem in zip(HUMAN_GROUPS, ("human_top", "human_200", "human_1000", "human_median"), strict=True):
        with (released / f"{stem}.csv").open(encoding="utf-8", newline="") as file:
            rows = dict(zip(order, csv.DictReader(file), strict=True))
        for number, contest in crowd.items():
            group = human_group(contest, name)
            assert group is not None
            assert list(group.captions) == [mend(rows[number][str(i)]).text for i in range(10)], (number, name)
            found += 10
    assert found == 4 * 90


@pytest.mark.slow
def test_published_judges_on_real_contests(real_data: Path, crowd: dict[int, Contest]) -> None:
    folder, contests = str(real_data / "newyorker_raw"), ",".join(map(str, REAL))
    real = load("crowd_groups", dataset=folder, split="validation", against="all", contests=contests)
    assert len(real.records) == 9 * 3 * 2
    always = evaluate(real, dict.fromkeys((r.id for r in real.records), "A"))
    values = {name: e.value for name, e in always.metrics.items()}
    parts = ("", "_rank200", "_rank1000", "_median")
    for part in parts:
        assert [values[f"{name}{part}"] for name in ("accuracy", "share_a", "consistency")] == [0.5, 1, 0]
    assert always.metrics["accuracy_median"].clusters == 9
    oracle = evaluate(real, {r.id: by_rating(crowd[int(r.cluster)], r) for r in real.records}).metrics
    assert all(oracle[f"{name}{part}"].value == 1 for name in ("accuracy", "consistency") for part in parts)
    longer = evaluate(real, {r.id: "AB"[len(r.choices[0]) < len(r.choices[1])] for r in real.records}).metrics
    for name in HUMAN_GROUPS[1:]:
        right = sum(longer_top(real_data, number, name) for number in REAL)
        assert longer[f"accuracy_{name}"].value == pytest.approx(right / 9, abs=1e-12), name


def by_rating(contest: Contest, record: Record) -> str:
    """The letter of the group with the higher mean rating."""
    rating = dict(zip(reversed(contest.caption), reversed(contest.mean), strict=True))  # of the better of duplicates
    sides = record.grouped.captions if record.grouped else ()
    first, second = (math.fsum(rating[text] or 0 for text in side) for side in sides)
    return "AB"[first < second]


def longer_top(real_data: Path, number: int, name: str) -> bool:
    """Whether the top 10 of the organisers' file have more characters in total than the other group."""
    with (real_data / "newyorker_raw" / "crowd" / f"{number}.csv").open(encoding="utf-8", newline="") as file:
        entries = [row["caption"] for row in csv.DictReader(file)]
    first = {"rank200": 200, "rank1000": 1000, "median": len(entries) // 2 - 5}[name]
    top, other = (sum(len(mend(text).text) for text in entries[i : i + 10]) for i in (0, first))
    return top > other
