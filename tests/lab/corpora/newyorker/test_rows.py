"""Instances of the three tasks and their rows; explanations' files."""

from __future__ import annotations

import csv
import itertools
import json
import re
from collections import Counter
from pathlib import Path

import pytest
from standins import built_corpus

from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.newyorker.card import answer_only
from humor_tasks.lab.corpora.newyorker.ranking import Pair
from humor_tasks.lab.corpora.newyorker.rows import (
    Instance,
    Instances,
    Reference,
    instance_id,
    make_instances,
    read_explanations,
    row_of,
    rows_of,
)
from humor_tasks.rows.contests.annotations import Scene
from humor_tasks.rows.contests.captions import key_of, mend

SCENE = Scene("a pier", "Two cats fish.", "Cats fish.", ("https://en.wikipedia.org/wiki/Pier_(x)#y", "Cat"), ("Why?",))
MATCHING = Instance("matching", 7, "b", ("a", "b", "c", "d", "e"), "B")


@pytest.fixture(scope="module")
def made() -> Instances:
    return built_corpus.instances()


def test_every_caption_is_right_once_and_wrong_four_times_in_its_block(made: Instances) -> None:
    good = {text for c in built_corpus.CONTESTS for text, _ in built_corpus.captions_of(c)}
    contest_of = {text: c for c in built_corpus.CONTESTS for text, _ in built_corpus.captions_of(c)}
    right, wrong = Counter[str](), Counter[str]()
    for number, block in enumerate(made.tasks["matching"]):
        for each in block:
            assert each.choices["ABCDE".index(each.label)] == each.caption
            assert contest_of[each.caption] == each.contest
            others = [choice for choice in each.choices if choice != each.caption]
            assert len({contest_of[choice] for choice in each.choices}) == 5
            assert {made.blocks[contest_of[choice]] for choice in others} == {number}
            right[each.caption] += 1
            wrong.update(others)
    assert right == dict.fromkeys(good, 1)
    assert wrong == dict.fromkeys(good, 4)


def test_pairs_are_of_one_contest_with_balanced_letters(made: Instances) -> None:
    for block in made.tasks["ranking"]:
        for each in block:
            assert each.choices["AB".index(each.label)] == each.caption
            assert all(str(each.contest) in choice for choice in each.choices)
        for source in ("official_winner", "crowd_winner"):
            letters = Counter(each.label for each in block if each.winner_source == source)
            assert abs(letters["A"] - letters["B"]) <= 1


def test_twins_are_one_contest_to_matching() -> None:
    """A caption of one twin fits the other's cartoon as well: it is no wrong choice there."""
    contests = range(1, 31)
    high = {c: [(f"caption {c} {k}", f"{c} {k}") for k in range(3)] for c in contests}
    high[2] = high[1]
    made = make_instances(high, {}, [], "1", [(1, 2)])
    assert made.blocks[1] == made.blocks[2]
    block = made.tasks["matching"][made.blocks[1]]
    of_twins = {caption for caption, _ in high[1]}
    assert sum(each.contest in (1, 2) for each in block) == 6
    for each in block:
        if each.contest in (1, 2):
            assert of_twins & set(each.choices) == {each.caption}


def test_a_caption_twice_in_a_contest_is_named() -> None:
    high = {c: built_corpus.captions_of(c) for c in built_corpus.CONTESTS}
    high[501] = [*high[501], ("again", "good0501")]
    with pytest.raises(BadInput, match="1 high-quality caption: 'good0501' of contest 501 given more than once"):
        make_instances(high, {}, [], "1")


def best_of(crowd: Path, count: int) -> dict[int, list[tuple[str, str]]]:
    """Contest -> the first captions of its file, which is in the crowd's order."""
    found = {}
    for path in sorted(crowd.glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            texts = [mend(row["caption"]).text for row in itertools.islice(csv.DictReader(file), count)]
        found[int(path.stem)] = list({key_of(text): (text, key_of(text)) for text in texts}.values())
    return found


def test_real_captions_alone_do_not_tell_the_answer(real_data: Path) -> None:
    made = make_instances(best_of(real_data / "newyorker_raw/crowd", 6), {}, [], "1", [(646, 647)])
    instances = [each for block in made.tasks["matching"] for each in block]
    assert len(instances) > 700
    keys = [key_of(choice) for each in instances for choice in each.choices]
    assert all(len(set(keys[i : i + 5])) == 5 for i in range(0, len(keys), 5))
    for rule, found in answer_only(instances).items():
        assert found.low <= 0.2 <= found.high, rule


def test_a_block_that_is_impossible_is_named() -> None:
    high = {c: [(f"{c} {k}", f"{c} {k}") for k in range(20 if c == 1 else 2)] for c in range(1, 11)}
    with pytest.raises(BadInput, match=r"block \d of 5: matching: contest 1 has 20 of 22 captions"):
        make_instances(high, {}, [], "1")


def test_explanations_without_rows_are_counted() -> None:
    high = {c: built_corpus.captions_of(c) for c in built_corpus.CONTESTS}
    made = make_instances(high, {}, [Reference(3, "x", "y"), Reference(501, "x", "y")], "1")
    assert made.left_out == {"explanations of contests without rows": 1}
    assert sum(map(len, made.tasks["explanation"])) == 1


def test_a_row() -> None:
    row = row_of(MATCHING, SCENE, "images/7.png")
    assert (
        list(row)
        == (
            "image contest_number image_location image_description image_uncanny_description entities questions "
            "caption_choices label n_tokens_label instance_id from_description canary"
        ).split()
    )
    assert row["from_description"] == (
        "scene: a pier description: Two cats fish. uncanny: Cats fish. entities: Pier_(x)#y, Cat. choices A: a B: b "
        "C: c D: d E: e"
    )
    assert row["n_tokens_label"] == 1
    bare = row_of(MATCHING, None, "images/7.png")
    assert list(bare) == "image contest_number caption_choices label n_tokens_label instance_id canary".split()
    assert bare["instance_id"] == row["instance_id"]


def test_a_pair_and_an_explanation() -> None:
    pair = row_of(Instance("ranking", 7, "b", ("a", "b"), "B", "crowd_winner"), SCENE, None)
    assert pair["winner_source"] == "crowd_winner"
    assert pair["from_description"].endswith("entities: Pier_(x)#y, Cat. choices A: a B: b")
    explained = row_of(Instance("explanation", 7, "b", ("b",), "It is a pun."), SCENE, None)
    assert explained["caption_choices"] == "b"
    assert explained["n_tokens_label"] == 4
    assert explained["from_description"].endswith("Cat. caption: b")


def test_ids_are_32_digits_and_tell_task_contest_caption_and_tuple_apart() -> None:
    ids = [instance_id(*each) for each in [("matching", 1, "a"), ("ranking", 1, "a"), ("matching", 2, "a")]]
    ids += [instance_id("matching", 1, "a", variant) for variant in range(1, 7)]
    assert len(set(ids)) == 9
    assert all(re.fullmatch("[0-9a-f]{32}", each) for each in ids)
    # The rows of a corpus must not change their names from one version of this package to the next.
    assert ids[0] == "b08901a1c3d64a8756fa592c850eec5b"


def test_every_tuple_is_a_row_and_the_fixed_one_has_the_id_of_validation() -> None:
    scenes = built_corpus.annotations()[501].scenes
    rows = rows_of(MATCHING, scenes, scenes[3], None)
    assert len({row["instance_id"] for row in rows}) == 6
    assert [row["image_description"] for row in rows] == [each.description for each in scenes]
    assert rows[3] == row_of(MATCHING, scenes[3], None)


def test_explanations(tmp_path: Path) -> None:
    rows = [{"contest_number": 5, "caption": " a  b", "explanation": "c\nd"}]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    (tmp_path / "x.jsonl").write_text(json.dumps(rows[0]) + "\n")
    assert read_explanations(tmp_path / "x.json") == read_explanations(tmp_path / "x.jsonl")
    assert read_explanations(tmp_path / "x.json") == [Reference(5, "a b", "c d")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ({"a": 1}, "must be a list of rows"),
        ([3], "row 0: is int"),
        ([{"contest_number": "5", "caption": "a", "explanation": "b"}], "row 0: contest_number is '5'"),
        ([{"contest_number": 5, "caption": " ", "explanation": "b"}], "row 0: caption is empty"),
        ([{"contest_number": 5, "caption": "a"}], "row 0: explanation is empty"),
        ([{"contest_number": 5, "caption": "a", "explanation": "b"}] * 2, "1 caption: 'a' of contest 5 explained more"),
    ],
)
def test_bad_explanations(tmp_path: Path, rows: object, message: str) -> None:
    (tmp_path / "x.json").write_text(json.dumps(rows))
    with pytest.raises(BadInput, match=message):
        read_explanations(tmp_path / "x.json")


def test_the_same_seed_gives_the_same_instances(made: Instances) -> None:
    assert built_corpus.instances() == made
    assert built_corpus.instances(seed="2").tasks != made.tasks


def test_pairs_of_contests_without_a_block_are_no_rows() -> None:
    high = {c: built_corpus.captions_of(c) for c in built_corpus.CONTESTS}
    made = make_instances(high, {3: [Pair(3, "a", "b", "crowd_winner", [], [], 0)]}, [], "1")
    assert not any(made.tasks["ranking"])
