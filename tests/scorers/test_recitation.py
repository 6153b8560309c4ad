"""`matches`: exact and near matches by hand, against Indel one by one, and in the released captions."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

from humor_tasks import scorers
from humor_tasks.scorers import Match
from humor_tasks.scorers.recitation import NEAR

ENTRIES = [
    "I knew we should have measured the doorways first.",
    "Next time, I'm picking the hotel.",
    "NEXT TIME — I’m picking the hotel!",
    "...",
    "?!",
    "",
    "Well, there goes the neighborhood.",
]


@pytest.mark.parametrize(
    ("caption", "kind", "entry"),
    [
        ("Next time, I'm picking the hotel.", "exact", 1),
        ('"next time I’m picking the hotel"', "exact", 1),
        ("Next time I'm picking the motel", "near", 1),
        ("Well, there goes the neighbourhood!", "near", 6),
        ("There goes the neighborhood.", "near", 6),
        ("There go the neighbors.", "", None),
        ("Ｗｅｌｌ, there goes the neighborhood", "exact", 6),
        ("...", "exact", 3),
        (" ?! ", "exact", 4),
        ("!!", "", None),
        ("", "exact", 5),
        ("Nobody told me.", "", None),
    ],
)
def test_matches(caption: str, kind: str, entry: int | None) -> None:
    (found,) = scorers.matches([caption], ENTRIES)
    assert (found.kind, found.entry) == (kind, entry)
    assert (found.similarity == 1) == (kind == "exact")
    assert found.similarity >= NEAR or (found.kind, found.similarity) == ("", 0)


def test_the_limit_belongs_to_the_near_matches() -> None:
    """Keys of 10 and 10 letters with 9 in common: 1 - 2 / 20 = .9."""
    assert scorers.matches(["abcdefghij"], ["abcdefghix"]) == [Match("near", 0, pytest.approx(0.9))]
    assert scorers.matches(["abcdefghij"], ["abcdefghx"]) == [Match("", None, 0)]
    assert scorers.matches(["abcdefghij"], ["abcdefghx"], near=0.8) == [Match("near", 0, pytest.approx(16 / 19))]


def test_nothing_to_match() -> None:
    assert scorers.matches([], ENTRIES) == []
    assert scorers.matches(["a", ""], []) == [Match("", None, 0)] * 2


def by_loops(captions: list[str], entries: list[str]) -> list[Match]:
    found = []
    for caption in captions:
        similar = [Indel.normalized_similarity(scorers.key_of(caption), scorers.key_of(entry)) for entry in entries]
        best = max(similar, default=0)
        if best < 0.9 - 1e-9:
            found.append(Match("", None, 0.0))
        else:
            found.append(Match("exact" if best == 1 else "near", similar.index(best), pytest.approx(best)))
    return found


texts = st.lists(st.sampled_from("abcdeABC"), min_size=8, max_size=24).map("".join)


@pytest.mark.slow
@given(st.lists(texts, max_size=30), st.integers(0, 10), st.randoms(use_true_random=False))
def test_fast_against_naive(entries: list[str], captions: int, rng: random.Random) -> None:
    """Captions are entries of which letters were dropped."""
    drawn = ["".join(c for c in rng.choice(entries) if rng.random() < 0.95) for _ in range(captions) if entries]
    assert scorers.matches(drawn, entries) == by_loops(drawn, entries)


def test_more_captions_than_are_compared_at_once() -> None:
    entries = [f"caption {i:04d} of a long contest" for i in range(450)]
    captions = [text + "x" for text in entries]
    found = scorers.matches(captions, entries)
    assert [match.kind for match in found] == ["near"] * 450
    assert [match.entry for match in found] == list(range(450))


@pytest.mark.slow
def test_released_captions(real_data: Path) -> None:
    """The entries that stand in a human group are found; of a model's 440 captions 4 are entries and 5 nearly so."""
    folder = real_data / "newyorker_raw"
    model, people = (pd.read_csv(folder / "generations" / f"{name}.csv") for name in ("claude", "human_1000"))
    found: dict[str, Counter[str]] = {"model": Counter(), "people": Counter()}
    for i, contest in enumerate(model["contest_num"].astype(int)):
        path = folder / "crowd" / f"{contest}.csv"
        if path.exists():
            entries = pd.read_csv(path, keep_default_na=False)["caption"].tolist()
            written, entered = ([str(cell) for cell in table.iloc[i, :10]] for table in (model, people))
            found["model"].update(match.kind for match in scorers.matches(written, entries))
            found["people"].update(match.kind for match in scorers.matches(entered, entries))
    assert found == {"model": {"exact": 4, "near": 5, "": 431}, "people": {"exact": 440}}


# ---- repetition ----------------------------------------------------------------------------------


def repeated_naively(texts: list[list[str]], origins: list[str]) -> list[float]:
    def stands_elsewhere(text: str, origin: str) -> bool:
        others = (other for group, of in zip(texts, origins, strict=True) if of != origin for other in group)
        return any((scorers.key_of(text) or text.strip()) == (scorers.key_of(o) or o.strip()) for o in others)

    pairs = zip(texts, origins, strict=True)
    return [sum(stands_elsewhere(text, origin) for text in group) / len(group) for group, origin in pairs]


GROUPS = st.lists(st.tuples(st.lists(st.sampled_from(["a", "A.", "b", "?", "?!"]), min_size=1), st.sampled_from("xyz")))


@given(GROUPS)
def test_repeated_shares_are_those_of_every_text_against_every_other(groups: list[tuple[list[str], str]]) -> None:
    texts, origins = [group for group, _ in groups], [origin for _, origin in groups]
    assert scorers.repeated_shares(texts, origins) == pytest.approx(repeated_naively(texts, origins))


def test_a_text_repeats_those_of_other_origins_alone() -> None:
    assert scorers.repeated_shares([["One!", "two"], ["one"], ["Two"]], ["a", "b", "a"]) == [0.5, 1.0, 0.0]
