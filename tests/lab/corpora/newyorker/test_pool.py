"""Selection, embedding in batches, clustering, and the pools of a contest."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from humor_tasks.lab.corpora.newyorker.pool import (
    KEPT,
    batches,
    cut,
    distinct,
    diverse,
    embed,
    pool,
    punctuation,
    select,
)
from humor_tasks.rows.contests.captions import key_of
from humor_tasks.rows.contests.contest_csv import twins


def ingested(*texts: str, rated: bool = True) -> list[dict[str, Any]]:
    """Captions of a contest in the crowd's order."""
    return [
        {
            "caption": text,
            "key": key_of(text),
            "mean": 3 - i / len(texts) if rated else None,
            "votes": 10 * (i + 1) if rated else None,
            "place": i,
        }
        for i, text in enumerate(texts)
    ]


def _roles(rows: list[dict[str, Any]]) -> dict[str, str]:
    return {row["caption"]: " ".join(row["roles"]) for row in rows}


# ---- selection ----------------------------------------------------------------------------------


def test_roles_of_a_rated_contest() -> None:
    texts = [f"Caption {chr(97 + i)}" for i in range(12)]
    rows, counts = select(ingested(*texts), ["Another one", "CAPTION C!"], rated=True)
    assert [row["caption"] for row in rows][:3] == ["Another one", "CAPTION C!", "Caption a"]
    roles = _roles(rows)
    assert roles["Another one"] == "finalist"
    assert roles["CAPTION C!"] == "crowd_top finalist train_top"
    assert roles["Caption a"] == roles["Caption b"] == "crowd_top train_top"
    assert roles["Caption e"] == "crowd_top middle train_top"
    assert roles["Caption f"] == "middle train_top"
    assert roles["Caption h"] == "middle train_bottom"
    assert roles["Caption l"] == "train_bottom"
    assert (rows[0]["mean"], rows[1]["votes"]) == (None, 30)
    assert counts == {
        **{"captions": 13, "crowd_top": 5, "duplicates": 0, "finalist": 2},
        **{"middle": 4, "train_bottom": 6, "train_top": 6},
    }


def test_duplicates_count_once_at_the_best_place() -> None:
    rows, counts = select(ingested("Sit.", "Stay.", "SIT!", "Roll over."), [], rated=True)
    assert [(row["caption"], row["place"]) for row in rows] == [("Sit.", 0), ("Stay.", 1), ("Roll over.", 3)]
    assert counts["duplicates"] == 1


def test_an_unrated_contest_is_taken_whole() -> None:
    rows, _ = select(ingested("Sit.", "Stay.", rated=False), ["Stay."], rated=False)
    assert _roles(rows) == {"Stay.": "finalist unrated", "Sit.": "unrated"}


@pytest.mark.parametrize(
    ("texts", "roles"),
    [
        ((), {}),
        (("Sit.",), {"Sit.": "crowd_top middle"}),
        (("Sit.", "Stay."), {"Sit.": "crowd_top middle train_top", "Stay.": "crowd_top middle train_bottom"}),
    ],
)
def test_tiny_contests(texts: tuple[str, ...], roles: dict[str, str]) -> None:
    assert _roles(select(ingested(*texts), [], rated=True)[0]) == roles


@given(st.integers(0, 40), st.lists(st.integers(0, 50), max_size=3))
def test_every_caption_with_a_role_is_there_once(count: int, official: list[int]) -> None:
    rows, counts = select(ingested(*(f"c{i}" for i in range(count))), [f"c{i}" for i in official], rated=True)
    keys = [row["key"] for row in rows]
    assert len(set(keys)) == len(keys) == counts["captions"]
    assert all(row["roles"] for row in rows)
    trained = {role: {r["key"] for r in rows if role in r["roles"]} for role in ("train_top", "train_bottom")}
    assert not trained["train_top"] & trained["train_bottom"]
    assert len(trained["train_top"]) == len(trained["train_bottom"]) == count // 2


# ---- clustering ---------------------------------------------------------------------------------


def unit(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Rows of length one."""
    found: NDArray[np.float32] = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def _parts(clusters: Any) -> set[tuple[int, ...]]:
    held: dict[int, list[int]] = {}
    for i, cluster in enumerate(clusters):
        held.setdefault(int(cluster), []).append(i)
    return set(map(tuple, held.values()))


@given(st.integers(2, 40), st.integers(2, 6), st.integers(0, 10**6), st.data())
def test_clusters_are_those_of_scikit_learn(n: int, dimensions: int, seed: int, data: st.DataObject) -> None:
    from sklearn.cluster import AgglomerativeClustering

    vectors = unit(np.random.default_rng(seed).normal(size=(n, dimensions)))
    count = data.draw(st.integers(1, n))
    theirs = AgglomerativeClustering(n_clusters=count, metric="cosine", linkage="average").fit_predict(vectors)
    assert _parts(cut(vectors, count)) == _parts(theirs)


def test_clusters_are_those_of_scikit_learn_where_vectors_are_rounded() -> None:
    from sklearn.cluster import AgglomerativeClustering

    # Vectors are stored as float16, so that their lengths are near 1 only.
    vectors = unit(np.random.default_rng(0).normal(size=(600, 8))).astype(np.float16)
    theirs = AgglomerativeClustering(n_clusters=420, metric="cosine", linkage="average").fit_predict(vectors)
    assert _parts(cut(vectors, 420)) == _parts(theirs)


def test_clusters_of_few_and_of_equal_vectors() -> None:
    assert cut(np.empty((0, 3)), 0).tolist() == []
    assert cut(unit(np.ones((1, 3))), 1).tolist() == [0]
    same = unit(np.ones((5, 3)))
    assert cut(same, 2).tolist() == [0, 0, 0, 0, 1]
    assert cut(same, 5).tolist() == [0, 1, 2, 3, 4]
    assert cut(same, 0).tolist() == [0] * 5
    assert cut(np.array([[1.0, 0], [0, 0], [1, 0]]), 2).tolist() == [0, 1, 0]


def test_numbers_follow_the_first_member() -> None:
    vectors = unit(np.array([[1, 0, 0], [0, 1, 0], [1, 0.1, 0], [0, 1, 0.1], [0, 0, 1]]))
    assert cut(vectors, 3).tolist() == [0, 1, 0, 1, 2]


# ---- embedding ----------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 30), max_size=60), st.integers(1, 200))
def test_batches_hold_each_text_once_within_the_budget(lengths: list[int], budget: int) -> None:
    lengths.sort()
    found = list(batches(lengths, budget))
    assert [i for batch in found for i in batch] == list(range(len(lengths)))
    for batch in found:
        assert len(batch) == 1 or len(batch) * lengths[batch[-1]] <= budget


@pytest.mark.slow
def test_vectors_do_not_depend_on_the_order_of_texts(minilm: str) -> None:
    texts = [f"A {'very ' * (i % 7)}old dog number {i}." for i in range(60)]
    found = embed(texts, minilm, "cpu")
    assert found.dtype == np.float16
    assert np.abs(np.linalg.norm(found.astype(float), axis=1) - 1).max() < 2e-3
    turned = embed([*reversed(texts), texts[3]], minilm, "cpu")
    assert (turned[:-1] == found[::-1]).all()
    assert (turned[-1] == found[3]).all()


@pytest.mark.slow
def test_vectors_are_those_of_the_library(minilm: str) -> None:
    from sentence_transformers import SentenceTransformer

    texts = ["Sit.", "A very old dog walks into a bar and asks for the bill.", "Stay!"]
    theirs = SentenceTransformer(minilm, device="cpu").encode(texts, normalize_embeddings=True)
    assert np.abs(embed(texts, minilm, "cpu").astype(float) - theirs).max() < 1e-3
    assert embed([], minilm, "cpu").shape == (0, 384)


# ---- pools --------------------------------------------------------------------------------------


def test_three_diverse_captions_are_the_best_of_their_clusters() -> None:
    vectors = unit(np.array([[1, 0, 0], [1, 0.1, 0], [0, 1, 0], [0, 1, 0.1], [0, 0, 1]]))
    assert diverse([0, 1, 2, 3, 4], vectors) == [0, 2, 4]
    assert diverse([1, 3], vectors) == [1, 3]
    assert diverse([], vectors) == []


def test_of_captions_that_say_the_same_the_one_with_the_most_votes_is_kept() -> None:
    vectors = unit(np.array([[1, 0, 0], [1, 0.01, 0], [0, 1, 0], [0, 0, 1]]))
    rows = [{"votes": v} for v in (5, 9, 1, 1)]
    assert distinct([0, 1, 2, 3], rows, vectors) == [1, 2, 3]
    assert distinct([0, 1, 2, 3], [{"votes": None}] * 4, vectors) == [0, 2, 3]


def test_pools_of_a_rated_contest() -> None:
    texts = [f"Caption number {chr(97 + i)}" for i in range(21)]
    rows, _ = select(ingested(*texts), ["Caption number b", "New, isn't it?"], rated=True)
    vectors = unit(np.random.default_rng(0).normal(size=(len(rows), 8)))
    found, counts = pool(rows, vectors, [0.0] * len(rows))
    official = [row["caption"] for row in found if row["source"] == "official_winner"]
    crowd = [row["caption"] for row in found if row["source"] == "crowd_winner"]
    okay = [row["caption"] for row in found if row["source"] == "okay"]
    assert official == ["Caption number b", "New, isn't it?"]
    assert len(crowd) == 3
    assert set(crowd) <= {f"Caption number {c}" for c in "acde"}
    assert set(okay) <= set(texts[7:14])
    assert len(okay) == math.ceil(KEPT * 7) == counts["okay"]
    of_new = next(row for row in found if row["caption"] == "New, isn't it?")
    assert (of_new["words"], of_new["characters"], of_new["punctuation"], of_new["mean"]) == (3, 14, 3, None)


def test_the_lowest_quarter_of_an_unrated_contest_is_left_out() -> None:
    rows, _ = select(ingested(*(f"Caption {i}" for i in range(8)), rated=False), [], rated=False)
    vectors = unit(np.random.default_rng(0).normal(size=(8, 8)))
    found, counts = pool(rows, vectors, [5.0, 1.0, 7.0, 0.0, 4.0, 6.0, 3.0, 2.0])
    assert not {"Caption 1", "Caption 3"} & {row["caption"] for row in found}
    assert (counts["left out: lowest quality"], counts["okay with near-duplicates"], counts["okay"]) == (2, 6, 5)


@given(st.integers(0, 30), st.integers(0, 3), st.booleans())
def test_no_caption_is_in_both_sets(count: int, official: int, rated: bool) -> None:
    texts = [f"caption {i}" for i in range(count)]
    rows, _ = select(ingested(*texts, rated=rated), texts[:official], rated=rated)
    vectors = unit(np.random.default_rng(count).normal(size=(len(rows), 4)))
    found, _ = pool(rows, vectors, list(range(len(rows))))
    keys = [row["key"] for row in found]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize(("text", "count"), [("", 0), ("No.", 1), ("“No,” she said — twice!", 5), ("1 + 1 = 2", 0)])
def test_punctuation(text: str, count: int) -> None:
    assert punctuation(text) == count


# ---- twins --------------------------------------------------------------------------------------


def test_contests_with_the_same_captions() -> None:
    keys = {n: [f"{n}-{i}" for i in range(40)] for n in (1, 2, 3)}
    assert twins(keys.items()) == []
    assert twins((keys | {3: [*keys[1][:21], *keys[3][:19]]}).items()) == [(1, 3)]
    assert twins((keys | {3: [*keys[1][:20], *keys[3][:20]]}).items()) == []
    assert twins([(1, []), (2, [])]) == []


def test_large_contests_are_compared_by_a_sample() -> None:
    keys = [f"caption {i}" for i in range(4000)]
    assert twins([(5, keys), (7, keys[:3000]), (9, [f"other {i}" for i in range(4000)])]) == [(5, 7)]


def test_a_common_phrase_makes_no_twins_and_part_of_a_contest_does() -> None:
    keys = [f"caption {i}" for i in range(4000)]
    assert twins([(1, ["hello"]), (2, ["hello", *keys[:40]]), (3, ["hello"])]) == []
    assert twins([(1, keys[:200]), (2, keys)]) == [(1, 2)]
