"""The checks of `humor-tasks audit` on small rows, worked out by hand."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.corpus import noise_png

from humor_tasks.errors import BadInput
from humor_tasks.lab.corpora.audit.auditing import audit
from humor_tasks.lab.corpora.audit.items import KINDS, Finding, Item, Items, Part, fails, finding, in_order, key
from humor_tasks.lab.corpora.audit.shortcuts import Shortcut, balances, shortcuts
from humor_tasks.lab.corpora.audit.similar import alike, difference_hash, jaccard, near_pairs, shingles
from humor_tasks.models.choosers.chooser import Chooser, Question
from humor_tasks.models.choosers.shortcuts import answer_only, classified, credit, likeness, occurrences, ridge
from humor_tasks.rows.media.picture import Picture
from humor_tasks.scorers.estimate import Estimate

WORDS = ["".join(random.Random(k).choices("bcdfghjklmnpqrstvwxz", k=5)) for k in range(3000)]
LINES = tuple(" ".join(WORDS[i : i + 6]) for i in range(2000, 2048, 6))


def item(i: int, choices: tuple[str, ...] = (), target: Any = 0, part: str = "test", **more: Any) -> Item:
    group = more.pop("group", f"g{i}")
    return Item(
        id=more.pop("id", f"r{i}"), where=f"{part} {i}", part=part, group=group, choices=choices, target=target, **more
    )


def as_data(
    items: list[Item], kind: Any = "choice", grouped: bool = True, folds: dict[str, str] | None = None
) -> Items:
    parts = dict.fromkeys(each.part for each in items)
    return Items("rows", kind, {name: Part(name, (folds or {}).get(name, ""), name) for name in parts}, items, grouped)


def kinds(data: Items) -> dict[str, tuple[str, int]]:
    """Kind -> severity and count, without the rules."""
    return {
        each.kind: (each.severity, each.count)
        for each in audit(data).findings
        if each.kind not in ("shortcut", "imbalance")
    }


def plain(number: int, part: str = "test", start: int = 0) -> list[Item]:
    """Rows in which nothing is wrong."""

    def line(k: int) -> str:
        return " ".join(WORDS[6 * k : 6 * k + 6])

    every = range(start, start + number)
    return [item(i, (line(3 * i), line(3 * i + 1)), i % 2, part, context=line(3 * i + 2)) for i in every]


def test_nothing_is_found_where_nothing_is_wrong() -> None:
    assert kinds(as_data(plain(8))) == {}


REPEATED = [
    (("When.", "No.", "When."), "duplicate_choice", "A and C: When."),
    (("It's a toy!", "No.", "Its a  TOY"), "duplicate_choice", "A and C: It's a toy!"),
    (("one", "two", "\u200b"), "empty_text", "test 99"),
    (("one", "two\x1b[2J", "three"), "control_character", "U+001B"),
]


@pytest.mark.parametrize(("choices", "kind", "told"), REPEATED)
def test_what_is_wrong_in_a_row_is_named(choices: tuple[str, ...], kind: str, told: str) -> None:
    findings = audit(as_data([*plain(4), item(99, choices)])).findings
    (found,) = [each for each in findings if each.kind == kind]
    assert (found.count, len(found.rows)) == (1, 1)
    assert told in found.rows[0]


def test_rows_that_repeat() -> None:
    first = plain(1)[0]
    swapped = item(50, first.choices[::-1], 1, group=first.group, context=first.context)
    other = item(51, first.choices, 1, group=first.group, context="another description of the scene")
    rows = [first, *plain(3, start=1)]
    assert kinds(as_data([*rows, swapped])) == {"duplicate_row": ("warning", 1)}
    assert kinds(as_data([*rows, other])) == {"contradiction": ("error", 1)}
    same_id = item(52, plain(1, start=60)[0].choices, id="r0")
    assert kinds(as_data([*rows, same_id])) == {"duplicate_id": ("error", 1)}


def test_what_two_splits_of_a_fold_share() -> None:
    train, test = plain(4, "train"), plain(4, "test", 10)
    first = train[0]
    same = item(70, first.choices, first.target, "test", group=first.group, context=first.context)
    found = kinds(as_data([*train, *test, same]))
    assert found == {
        "row_in_two_splits": ("error", 1),
        "group_in_two_splits": ("error", 1),
        "text_in_two_splits": ("warning", 1),
    }
    apart = as_data([*train, *test, same], folds={"train": "0", "test": "1"})
    assert kinds(apart) == {"shared_between_folds": ("note", 1)}


def test_texts_that_are_almost_the_same() -> None:
    train, test = plain(3, "train"), plain(3, "test", 10)
    near = item(71, (f"{train[0].choices[0]} again", "Something that is not like it"), 0, "test", context="somewhere")
    assert kinds(as_data([*train, *test, near])) == {"near_duplicate_in_two_splits": ("warning", 1)}
    within = item(72, near.choices, 0, "train", context="somewhere")
    assert kinds(as_data([*train, *test, within])) == {"near_duplicate": ("note", 1)}
    of_the_group = item(73, near.choices, 0, "train", context="somewhere", group=train[0].group)
    assert kinds(as_data([*train, *test, of_the_group])) == {}


def test_the_kinds_of_answers_have_their_contradictions() -> None:
    texts = [item(i, (), i % 2 == 0, about=line) for i, line in enumerate(LINES)]
    again = item(20, (), False, about=LINES[0].upper(), group="g0")
    twice = {"duplicate_row": ("warning", 1)}
    assert kinds(as_data([*texts, again], "yes/no")) == {"contradiction": ("error", 1), **twice}
    rated = [item(i, (), 0.5 * i, about=line) for i, line in enumerate(LINES)]
    other = item(20, (), 2.9, about=LINES[1], group="g1")
    assert kinds(as_data([*rated, other], "rating")) == {
        "contradiction": ("warning", 1),
        "duplicate_row": ("warning", 1),
    }


def test_rows_without_a_label_are_told_and_not_counted() -> None:
    done = audit(as_data([*plain(6), item(30, ("a first one", "a second one"), None)]))
    assert [each.kind for each in done.findings if each.kind == "unlabelled"] == ["unlabelled"]
    assert {each.estimate.n for each in done.shortcuts} == {6}


# ---- pictures -----------------------------------------------------------------------------------


def picture(data: bytes, name: str = "x.png") -> Picture:
    return Picture(name, None, lambda: data)


def encoded(seed: int, quality: int | None = None) -> bytes:
    import io

    from PIL import Image

    image = Image.open(io.BytesIO(noise_png(seed, 5))).convert("L").resize((90, 80), Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    image.save(buffer, **({"format": "PNG"} if quality is None else {"format": "JPEG", "quality": quality}))
    return buffer.getvalue()


def test_pictures_that_are_shared() -> None:
    def drawn(rows: list[Item]) -> list[Item]:
        return [replace(each, picture=picture(encoded(int(each.id[1:])))) for each in rows]

    train, test = drawn(plain(3, "train")), drawn(plain(3, "test", 10))
    shared = item(60, ("a fresh caption", "and one more of them"), 0, "test", picture=picture(encoded(0)))
    similar = item(61, ("quite another caption", "nobody wrote this"), 0, "test", picture=picture(encoded(1, 80)))
    broken = item(62, ("the last caption here", "which is the end"), 0, "test", picture=picture(b"GIF89a"))
    assert kinds(as_data([*train, *test])) == {}
    assert kinds(as_data([*train, *test, shared, similar, broken])) == {
        "unreadable_picture": ("error", 1),
        "picture_in_two_splits": ("error", 1),
        "picture_in_two_groups": ("warning", 1),
        "similar_picture": ("warning", 1),
    }


def test_a_difference_hash_by_hand() -> None:
    from PIL import Image

    rising, falling = (Image.new("L", (9, 8)) for _ in range(2))
    rising.putdata([10 * x for _ in range(8) for x in range(9)])
    falling.putdata([200 - 10 * x for _ in range(8) for x in range(9)])
    assert (difference_hash(rising), difference_hash(falling)) == (2**64 - 1, 0)
    full = 2**64 - 1
    assert alike([full, full - 1, full - 31, 0, 0]) == [(0, 1, 1), (1, 2, 4)]  # 0 has no contrast


# ---- rules --------------------------------------------------------------------------------------

CREDIT = [
    ([1.0, 2.0, 3.0], 2, 1.0),
    ([1.0, 2.0, 3.0], 0, 0.0),
    ([3.0, 2.0, 3.0], 0, 0.5),
    ([1.0, 1.0, 1.0, 1.0], 3, 0.25),
]


@pytest.mark.parametrize(("scores", "right", "value"), CREDIT)
def test_ties_are_right_by_chance(scores: list[float], right: int, value: float) -> None:
    assert credit(scores, right) == value


@given(st.lists(st.integers(0, 3), min_size=2, max_size=6))
def test_credit_of_all_choices_is_one(scores: list[int]) -> None:
    assert sum(credit(scores, i) for i in range(len(scores))) == pytest.approx(1)


def test_occurrences_and_likeness_by_hand() -> None:
    assert occurrences([("a", "B"), ("A", "c"), ("b", "d")]) == [[2, 2], [2, 1], [2, 1]]
    assert likeness([("a cat", "a dog", "tea"), ("a hat", "tea")], ["the cat", "no hat"])[0][1:] == [0.0, 0.0]
    (first, _, _), (hat, tea) = likeness([("a cat", "a dog", "tea"), ("a hat", "tea")], ["the cat", "no hat"])
    assert first > 0
    assert hat > tea == 0


def test_a_mark_of_the_answer_is_found_and_a_text_known_by_heart_is_not() -> None:
    """In matching each caption is once the answer and several times a distractor, with its contest's other captions."""
    draw = random.Random(0)
    words = [f"w{k:03d}" for k in range(400)]
    captions = [" ".join(draw.sample(words, 6)) for _ in range(300)]
    options, right, groups = [], [], []
    for i, caption in enumerate(captions):
        row = draw.sample([c for c in captions if c != caption], 3)
        place = draw.randrange(4)
        row.insert(place, caption)
        options.append(row)
        right.append(place)
        groups.append(i // 5)
    keys = [[key(text) for text in row] for row in options]

    def share(options: list[list[str]]) -> float:
        scores = answer_only(options, right, groups, keys)
        assert scores is not None
        return sum(credit(own, i) for own, i in zip(scores, right, strict=True)) / len(right)

    assert 0.17 < share(options) < 0.33
    marked = [
        [f"{row[i]}{'!!' if i == place else ''}" for i in range(4)] for row, place in zip(options, right, strict=True)
    ]
    assert share(marked) > 0.95
    # With the texts of tested rows fitted on, as distractors elsewhere, the answer would be the one least known.
    known = answer_only(options, right, groups, [[f"{i}.{k}" for k in range(4)] for i in range(len(options))])
    assert known is not None
    assert sum(credit(own, i) for own, i in zip(known, right, strict=True)) / len(right) < 0.17


def test_learnt_rules_need_groups() -> None:
    assert answer_only([("a", "b")] * 4, [0, 1, 0, 1], ["x"] * 4, [("a", "b")] * 4) is None
    assert ridge(["a", "b"], [1.0, 2.0], ["x", "x"]) is None
    assert classified(["a"] * 8, ["yes"] * 4 + ["no"] * 4, list("abcdabcd")) is None
    values = [float(i % 2) for i in range(40)]
    predicted = ridge([f"funny {i}" if i % 2 else f"dull {i}" for i in range(40)], values, list(range(40)))
    assert predicted is not None
    assert all((p > 0.5) == bool(v) for p, v in zip(predicted, values, strict=True))


class Likes(Chooser):
    """Prefers the second choice; needs a scene where there is one."""

    name = "likes/second"

    def score(self, questions: Any) -> list[list[float]]:
        return [[float(i == 1) for i in range(len(q.choices))] for q in questions]

    def check(self, question: Question) -> None:
        if not question.context:
            raise BadInput("no scene")


def test_rules_of_choices_by_hand() -> None:
    rows = [
        item(0, ("one two three", "fifteen"), 1, context="one"),
        item(1, ("abc", "four five"), 1, context="four"),
        item(2, ("six", "tea"), 0, context="nothing of it"),
    ]
    found = {each.rule: each for each in shortcuts(as_data(rows), [Likes()]).measured}
    values = {rule: each.estimate.value for rule, each in found.items() if "answer only" not in rule}
    assert values == pytest.approx(
        {
            "always A": 1 / 3, "always B": 2 / 3,
            "longest, characters": 1.5 / 3, "shortest, characters": 1.5 / 3,
            "longest, words": 1.5 / 3, "shortest, words": 1.5 / 3,
            "most frequent choice": 0.5, "least frequent choice": 0.5,
            "overlap with the scene": 1.5 / 3, "TF-IDF likeness to the scene": 1.5 / 3,
            "likes/second": 2 / 3,
        }
    )  # fmt: skip
    assert {each.chance for each in found.values()} == {0.5}
    bare = shortcuts(as_data([item(0, ("a", "b"), 1)]), [Likes()])
    assert [each for each in bare.left_out if each.startswith("likes/second")] == ["likes/second in test: no scene"]
    assert "overlap with the scene" not in {each.rule for each in bare.measured}


ABOVE = [
    ("accuracy", (0.36, 0.31, 0.41), 0.25, True, "above"),
    ("accuracy", (0.35, 0.31, 0.40), 0.25, False, "above"),
    ("accuracy", (0.50, 0.20, 0.80), 0.25, False, ""),
    ("accuracy", (0.10, 0.05, 0.20), 0.25, False, "below"),
    ("pearson", (-0.40, -0.5, -0.3), 0.0, True, "below"),
    ("pearson", (0.25, 0.2, 0.3), 0.0, False, "above"),
    ("rmse", (0.6, 0.5, 0.7), 0.1, False, ""),
    ("accuracy", (1.0, math.nan, math.nan), 0.25, False, ""),
]


@pytest.mark.parametrize(("metric", "value", "chance", "above", "side"), ABOVE)
def test_what_is_far_above_chance_is_told(
    metric: str, value: tuple[float, ...], chance: float, above: bool, side: str
) -> None:
    rule = Shortcut("test", "x", metric, Estimate(value[0], 0.1, value[1], value[2], 500, 500), chance)
    assert (rule.above, rule.side) == (above, side)


def test_yes_and_no_and_ratings_have_their_rules() -> None:
    asked = [item(i, (), i % 3 == 0, about=f"text {i}", context=f"a scene {i}") for i in range(60)]
    found = {each.rule: (each.estimate.value, each.chance) for each in shortcuts(as_data(asked, "yes/no")).measured}
    assert found["always yes"] == (pytest.approx(1 / 3), 0.5)
    assert found["always no"] == (pytest.approx(2 / 3), 0.5)
    assert found["text only (words)"][1] == pytest.approx(2 / 3)
    rated = [item(i, (), float(i), about="word " * (i + 1)) for i in range(20)]
    lengths = {each.rule: each for each in shortcuts(as_data(rated, "rating")).measured}
    assert lengths["length, words"].estimate.value == pytest.approx(1)
    assert lengths["always the mean"].estimate.value == pytest.approx(math.sqrt((20**2 - 1) / 12))
    assert shortcuts(as_data(rated, "rating"), [Likes()]).left_out[-1].startswith("likes/second: chooses among options")


def test_many_rows_are_drawn_in_whole_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("humor_tasks.lab.corpora.audit.shortcuts.MOST_FITTED", 40)
    rows = [item(i, each.choices, each.target, group=f"g{i // 4}") for i, each in enumerate(plain(40))]
    done = shortcuts(as_data(rows))
    (learnt,) = [each for each in done.measured if each.rule.startswith("answer only")]
    assert (learnt.estimate.n, learnt.estimate.clusters) == (20, 5)
    assert done.left_out == (f"{learnt.rule}: fitted and tested on 20 of 40 rows, drawn in whole groups.",)


def test_balance() -> None:
    uneven = [item(i, ("a", "b"), int(i % 5 == 0)) for i in range(100)]
    (measured,) = balances(as_data(uneven))
    assert {label: share.value for label, share in measured.shares.items()} == {"A": 0.8, "B": 0.2}
    assert measured.p < 1e-8
    assert [each.kind for each in audit(as_data(uneven)).findings if each.kind == "imbalance"] == ["imbalance"]
    even = [item(i, ("a", "b", "c"), i % 3) for i in range(60)]
    assert balances(as_data(even))[0].p == pytest.approx(1)
    assert math.isnan(balances(as_data(even[:9]))[0].p)


# ---- near-duplicates ----------------------------------------------------------------------------


def test_jaccard_by_hand() -> None:
    assert shingles("abcde") == {b"abcd", b"bcde"}
    assert jaccard(shingles("abcde"), shingles("abcdx")) == 1 / 3


@given(st.lists(st.text("abc", min_size=15, max_size=40), min_size=2, max_size=12, unique=True))
def test_near_pairs_are_those_of_all_pairs(texts: list[str]) -> None:
    sets = [shingles(text) for text in texts]
    every = {(i, j): jaccard(sets[i], sets[j]) for i in range(len(texts)) for j in range(i + 1, len(texts))}
    found = {(i, j): score for i, j, score in near_pairs(texts)}
    assert all(found[pair] == every[pair] for pair in found)
    assert all(pair in found for pair, score in every.items() if score >= 0.9)  # missed with probability 1e-7


def test_pairs_at_the_threshold_are_missed_as_rarely_as_is_stated() -> None:
    """1,000 pairs of 19 to 49 shingles with a similarity of .8 to .82: a share of .0002 is missed, .2 pairs."""
    draw = random.Random(0)
    texts: list[str] = []
    while len(texts) < 2_000:
        whole = "".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(22, 52)))
        other = whole[draw.randint(1, 6) :]
        if 0.8 <= jaccard(shingles(whole), shingles(other)) < 0.82:
            texts += [whole, other]
    found = near_pairs(texts)
    assert {(i, j) for i, j, _ in found} <= {(i, i + 1) for i in range(0, 2_000, 2)}
    assert len(found) >= 999
    assert near_pairs(texts) == found


def test_texts_that_utf_8_cannot_write_are_compared() -> None:
    assert near_pairs(["a lone \ud800 surrogate", "a lone \ud800 surrogate."]) == [(0, 1, pytest.approx(15 / 16))]


def test_many_texts_that_are_alike_are_not_all_compared() -> None:
    base = "the same long line of a template that everybody fills in"
    texts = [f"{base}{i:04d}" for i in range(500)]
    assert 499 <= len(near_pairs(texts)) < 20_000


# ---- findings -----------------------------------------------------------------------------------

FAILS = [
    (("error",), (), True),
    (("warning", "note"), (), False),
    (("warning",), ("duplicate_row",), True),
    (("error",), ("imbalance",), False),
    (("error",), ("none",), False),
]


@pytest.mark.parametrize(("severities", "kinds", "failed"), FAILS)
def test_what_fails(severities: tuple[Any, ...], kinds: tuple[str, ...], failed: bool) -> None:
    assert fails([Finding("duplicate_row", each, 1, "x") for each in severities], kinds) is failed


def test_a_finding_names_its_first_rows() -> None:
    (one,) = finding("unlabelled", "note", "row", "without a label.", (f"row {i}" for i in range(30)))
    assert (one.count, len(one.rows), one.rows[-1]) == (30, 20, "row 19")
    assert finding("unlabelled", "note", "row", "without a label.", []) == []
    mixed = [Finding(kind, severity, 1, "") for kind in list(KINDS)[::-1] for severity in ("note", "error")]
    assert [each.severity for each in in_order(mixed)] == ["error"] * len(KINDS) + ["note"] * len(KINDS)
    assert [each.kind for each in in_order(mixed)][: len(KINDS)] == list(KINDS)
