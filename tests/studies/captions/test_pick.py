"""The best k of n captions of each contest and system."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins import commands
from standins.corpus import write_lines
from standins.judging import between

from humor_tasks.benchmarks.crowd.corpus import CrowdOptions, open_crowd
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.studies.captions.files import CaptionGroup, read_groups
from humor_tasks.studies.captions.pairwise import Pair, PairwiseJudge, win_rates
from humor_tasks.studies.captions.placing import best, of_crowd, pick, pick_by_comparing
from humor_tasks.testing import ChatServer, ScriptedModel, text_of

OPTIONS = CrowdOptions(dataset="sample", split="validation", contests="9010-9011")


@given(st.lists(st.integers(0, 4), max_size=12), st.integers(1, 12))
def test_none_left_out_is_better_and_ties_keep_the_earlier(scores: list[int], k: int) -> None:
    kept = best(scores, k)
    assert len(kept) == min(k, len(scores))
    assert kept == sorted(set(kept))
    for i in set(range(len(scores))) - set(kept):
        assert all((scores[j], -j) > (scores[i], -i) for j in kept)


def test_by_the_scores_of_single_captions() -> None:
    groups = [CaptionGroup("s", 9010, ("aa", "b", "ccc", "dd")), CaptionGroup("t", 9011, ("a", "b"))]
    assert [group.captions for group in pick(Baseline("longest"), groups, 2, {})] == [("aa", "ccc"), ("a", "b")]


def test_the_scene_is_shown() -> None:
    cartoons = {c.number: c for c in open_crowd(OPTIONS).cartoons}
    word = cartoons[9010].fields["location"].split()[-1]
    group = CaptionGroup("s", 9010, ("Zzz zzz.", f"Zzz {word}.", "Yyy."))
    (picked,) = pick(Baseline("overlap"), [group], 1, cartoons)
    assert picked.captions == (f"Zzz {word}.",)


def test_win_rates() -> None:
    pairs = [Pair(0, 1, ("A", "B")), Pair(0, 2, ("A", "A")), Pair(1, 2, (None, "A"))]
    assert win_rates(4, pairs) == [0.75, 0.0, 0.5, None]


def comparing(prefer: Callable[[str, str], str], asked: list[str] | None = None) -> PairwiseJudge:
    def answer(messages: Any) -> str:
        text = messages[-1].text
        if asked is not None:
            asked.append(text)
        return prefer(between(text, "caption_a"), between(text, "caption_b"))

    return PairwiseJudge(ScriptedModel("judge", answer).model, cache=False)


def longer_wins(first: str, second: str) -> str:
    return f"So.\nAnswer: {'AB'[len(second) > len(first)]}"


@pytest.mark.slow
def test_by_comparisons_of_every_two_in_both_orders() -> None:
    groups = [
        CaptionGroup("s", 9010, ("aa", "b", "ccc", "dddd")),
        CaptionGroup("t", 9010, ("eeeee", "f")),
        CaptionGroup("s", 9011, ("g", "hh", "HH")),
    ]
    asked: list[str] = []
    picked, unread = pick_by_comparing(comparing(longer_wins, asked), groups, 2, of_crowd(open_crowd(OPTIONS), OPTIONS))
    assert [group.captions for group in picked] == [("ccc", "dddd"), ("eeeee", "f"), ("hh", "HH")]
    assert unread == 0
    assert len(asked) == 2 * (6 + 2)  # the group of two is kept as it is; equal captions are not compared
    scene = open_crowd(OPTIONS).cartoons[0].fields["description"]
    assert sum(scene in text for text in asked) == 12


@pytest.mark.slow
def test_a_judge_of_places_keeps_the_earlier_and_unread_captions_come_last() -> None:
    cartoons = of_crowd(open_crowd(OPTIONS), OPTIONS)
    group = CaptionGroup("s", 9010, ("a", "bb", "ccc"))
    (picked,), _ = pick_by_comparing(comparing(lambda a, b: "Answer: A"), [group], 2, cartoons)
    assert picked.captions == ("a", "bb")
    mute = comparing(lambda a, b: "?" if "a" in (a, b) else longer_wins(a, b))
    (picked,), unread = pick_by_comparing(mute, [group], 2, cartoons)
    assert (picked.captions, unread) == (("bb", "ccc"), 2)
    assert pick_by_comparing(mute, [group], 3, cartoons) == ([group], 0)  # nothing to choose, nothing asked


def test_the_command_keeps_order_systems_and_short_groups(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "n.jsonl",
        [
            {"contest": 9011, "captions": ["x" * n for n in (3, 9, 1, 7, 5)], "system": "s"},
            {"contest": 9010, "captions": ["a", "bb"], "system": "t"},
        ],
    )
    out = tmp_path / "k.jsonl"
    told = commands.humor_tasks(
        "captions", "pick", path, "--model", "baseline/longest", "-k", "3", "--dataset", "sample", "-o", out
    )
    assert "5 captions in 2 groups, by baseline/longest" in told
    assert "Fewer than 3 captions, kept as they are: 1 contest: 9010 (2)." in told
    assert read_groups(out) == [
        CaptionGroup("s", 9011, ("x" * 9, "x" * 7, "x" * 5)),
        CaptionGroup("t", 9010, ("a", "bb")),
    ]


@pytest.mark.slow
def test_a_hosted_model_compares_captions_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(messages: list[dict[str, Any]]) -> str:
        text = text_of(messages[-1])
        return longer_wins(between(text, "caption_a"), between(text, "caption_b"))

    path = write_lines(tmp_path / "n.jsonl", [{"contest": 1, "captions": ["a", "bb", "c"]}])
    out = tmp_path / "k.jsonl"
    command = ("captions", "pick", path, "--model", "openai-api/local/judge", "-k", "1", "--setting", "caption_only")
    command += ("-o", out, "--log-dir", tmp_path / "logs")
    with ChatServer(answer) as server:
        monkeypatch.setenv("LOCAL_BASE_URL", server.url)
        monkeypatch.setenv("LOCAL_API_KEY", "x")
        commands.humor_tasks(*command)
        assert len(server.requests) == 6
        assert read_groups(out) == [CaptionGroup("n", 1, ("bb",))]
        commands.humor_tasks(*command)
        assert len(server.requests) == 6, "an answer was paid for twice"
        short = commands.humor_tasks(*command[:6], "4", *command[7:])
    assert "Fewer than 4 captions, kept as they are: 1 contest: 1 (3)." in short


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "baseline/first", "-o", "k.jsonl"), "baseline/first scores the places of captions"),
        (("--model", "baseline/longest", "-o", "k.csv"), "k.csv: the name of a file of captions must end in .jsonl"),
        (("--model", "baseline/longest", "-o", "n.jsonl"), "is also an input file"),
        (("--model", "baseline/longest", "-o", "k.jsonl", "-k", "0"), "0 is not in the range x>=1"),
        (("--model", "quality/nowhere", "-o", "k.jsonl"), "nowhere"),
        (
            ("--model", "baseline/overlap", "--setting", "caption_only", "-o", "k.jsonl"),
            "overlap needs the scene in words",
        ),
        (
            ("--model", "baseline/longest", "--split", "test", "-o", "k.jsonl"),
            "has none of the 1 contest: 9010 of the files",
        ),
    ],
)
def test_bad_input(options: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "n.jsonl", [{"contest": 9010, "captions": ["a", "bb", "c"]}])
    dataset = () if "caption_only" in options else ("--dataset", "sample")
    more = () if "-k" in options else ("-k", "1")
    assert message in commands.refused("captions", "pick", "n.jsonl", *dataset, *more, *options)
    assert not (tmp_path / "k.jsonl").exists()


def test_contests_that_the_dataset_lacks_are_named(tmp_path: Path) -> None:
    rows = [{"contest": n, "captions": ["a", "bb"]} for n in (9010, 510)]
    said = commands.refused(
        "captions", "pick", write_lines(tmp_path / "n.jsonl", rows), "--model", "baseline/longest",
        "--dataset", "sample", "-k", "1", "-o", tmp_path / "k.jsonl",
    )  # fmt: skip
    assert "not in the dataset: 1 contest: 510; choose --split all or another --dataset" in said
