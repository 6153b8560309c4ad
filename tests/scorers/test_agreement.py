from __future__ import annotations

import json
import math
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput

NAN, N = math.nan, None

# Handbook of Inter-Rater Reliability, 4th edition (2014): 12 units, 4 raters, 5 categories, 7 ratings missing.
FOUR_RATERS = [
    [1, 1, N, 1],
    [2, 2, 3, 2],
    [3, 3, 3, 3],
    [3, 3, 3, 3],
    [2, 2, 2, 2],
    [1, 2, 3, 4],
    [4, 4, 4, 4],
    [1, 1, 2, 1],
    [2, 2, 2, 2],
    [N, 5, 5, 5],
    [N, N, 1, 1],
    [N, N, 3, N],
]
# Fleiss 1971 (Psychological Bulletin 76): ratings of each of 15 patients by category, six psychiatrists.
PSYCHIATRISTS = [
    (0, 0, 0, 6, 0),
    (0, 3, 0, 0, 3),
    (0, 1, 4, 0, 1),
    (0, 0, 0, 0, 6),
    (0, 3, 0, 3, 0),
    (2, 0, 4, 0, 0),
    (0, 0, 4, 0, 2),
    (2, 0, 3, 1, 0),
    (2, 0, 0, 4, 0),
    (0, 0, 0, 0, 6),
    (1, 0, 0, 5, 0),
    (1, 1, 0, 4, 0),
    (0, 3, 3, 0, 0),
    (1, 0, 0, 5, 0),
    (0, 2, 0, 3, 1),
]
# Handbook, 4th edition: pregnancies of 100 women by two abstractors.
ABSTRACTORS = {"ee": 13, "aa": 20, "an": 7, "na": 4, "nn": 56}

# IrrCAC pins scipy 1.12, which has no wheels for Python 3.13 and later; it works with later ones.
IRRCAC, OVERRIDE = "irrCAC==0.4.4", "scipy>=1.12"
THEIR_SCRIPT = """
import json, sys, warnings
warnings.simplefilter("ignore")
import pandas
from irrCAC.raw import CAC
results = []
for rows, categories, level in json.load(open(sys.argv[1])):
    estimate = CAC(pandas.DataFrame(rows, dtype=float), categories=categories, confidence_level=level, digits=12)
    found = estimate.gwet()["est"]
    results.append([float(x) for x in (found["coefficient_value"], found["se"], *found["confidence_interval"])])
json.dump(results, open(sys.argv[2], "w"))
"""

tables = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from(["a", "b", "c", None]), min_size=raters, max_size=raters), min_size=3, max_size=15
    )
)


def brute_ac1(ratings: list[list[str | None]], categories: str) -> float:
    """AC1 by enumerating pairs of ratings."""
    rows = [[rating for rating in row if rating is not None] for row in ratings]
    rows = [row for row in rows if row]
    agreed = []
    for row in rows:
        pairs = [(a, b) for i, a in enumerate(row) for b in row[:i]]
        agreed += [sum(a == b for a, b in pairs) / len(pairs)] if pairs else []
    if not agreed:
        return NAN
    shares = [sum(row.count(k) / len(row) for row in rows) / len(rows) for k in categories]
    chance = sum(share * (1 - share) for share in shares) / (len(categories) - 1)
    return (sum(agreed) / len(agreed) - chance) / (1 - chance)


# ---- published ----------------------------------------------------------------------------------


def test_four_raters_with_missing_ratings() -> None:
    """As irrCAC's documentation has it; its upper bound is clipped at 1."""
    estimate = scorers.gwet_ac1(FOUR_RATERS)
    assert (estimate.value, estimate.stderr, estimate.low) == pytest.approx((0.77544, 0.14295, 0.46081), abs=5e-6)
    assert (estimate.high > 1, estimate.n, estimate.clusters) == (True, 12, 12)


def test_six_psychiatrists() -> None:
    """As the R package's vignette has it: 0.4448007, 0.08418757, (0.264, 0.625)."""
    estimate = scorers.gwet_ac1([[k for k, count in enumerate(row) for _ in range(count)] for row in PSYCHIATRISTS])
    assert (estimate.value, estimate.stderr) == pytest.approx((0.4448007, 0.08418757), abs=5e-8)
    assert (estimate.low, estimate.high) == pytest.approx((0.264, 0.625), abs=5e-4)


def test_two_abstractors() -> None:
    """The vignette's 0.8493305, 0.04321747, (0.764, 0.935): its formula for two raters has n for n - 1."""
    estimate = scorers.gwet_ac1([list(pair) for pair, count in ABSTRACTORS.items() for _ in range(count)])
    assert estimate.value == pytest.approx(0.8493305, abs=1e-7)
    assert estimate.stderr == pytest.approx(0.04321747 * math.sqrt(100 / 99), abs=5e-8)


# ---- irrCAC -------------------------------------------------------------------------------------


def random_tables() -> list[tuple[list[list[int | None]], list[int] | None, float]]:
    """Ratings of 2-5 raters in 2-5 categories that agree more than chance, a fifth missing; categories; a level."""
    rng = random.Random(7)
    drawn: list[tuple[list[list[int | None]], list[int] | None, float]] = [(FOUR_RATERS, None, 0.95)]
    for i in range(15):
        raters, categories = 2 + i % 4, rng.randint(2, 5)
        rows: list[list[int | None]] = []
        for _ in range(rng.choice([8, 30, 100])):
            truth = rng.randint(1, categories)
            row = [truth if rng.random() < 0.6 else rng.randint(1, categories) for _ in range(raters)]
            rows.append([None if i % 3 and rng.random() < 0.2 else rating for rating in row])
        drawn.append((rows, list(range(1, 6)) if i % 5 == 0 else None, 0.9 if i % 2 else 0.95))
    return drawn


@pytest.mark.slow
def test_equals_irrcac(tmp_path: Path) -> None:
    """The library, in an environment of its own: it wants another numpy, pandas and scipy than we do."""
    drawn = random_tables()
    assert any(all(rating is None for rating in row) for rows, _, _ in drawn for row in rows)
    for name, content in (
        ("tables.json", json.dumps(drawn)),
        ("script.py", THEIR_SCRIPT),
        ("override.txt", OVERRIDE),
    ):
        (tmp_path / name).write_text(content)
    python = tmp_path / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    run(uv(), "venv", "--quiet", "--python", sys.executable, tmp_path / "venv")
    run(uv(), "pip", "install", "--quiet", "--override", tmp_path / "override.txt", "--python", python, IRRCAC)
    run(python, tmp_path / "script.py", tmp_path / "tables.json", tmp_path / "results.json")

    theirs = json.loads((tmp_path / "results.json").read_text())
    assert len(theirs) == len(drawn) > 12
    for (rows, categories, level), expected in zip(drawn, theirs, strict=True):
        estimate = scorers.gwet_ac1(rows, categories=categories, level=level)
        ours = [estimate.value, estimate.stderr, estimate.low, min(estimate.high, 1)]
        assert ours == pytest.approx(expected, abs=1e-9)


def uv() -> str:
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except ImportError:
        return shutil.which("uv") or pytest.fail("uv is missing: pip install 'humor-tasks[test]'")


def run(*command: str | Path) -> None:
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV", "COVERAGE_PROCESS_START")}
    done = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"


# ---- properties ---------------------------------------------------------------------------------


@given(tables)
def test_equals_the_enumeration_of_pairs(ratings: list[list[str | None]]) -> None:
    estimate = scorers.gwet_ac1(ratings, categories="abc")
    assert estimate.value == pytest.approx(brute_ac1(ratings, "abc"), abs=1e-9, nan_ok=True)
    assert estimate.n == estimate.clusters == sum(any(rating is not None for rating in row) for row in ratings)


@given(tables, st.randoms(use_true_random=False))
def test_neither_names_nor_order_matter(ratings: list[list[str | None]], rng: random.Random) -> None:
    names = {"a": 2, "b": ("pair", 1), "c": False, None: None}
    renamed = [[names[rating] for rating in rng.sample(row, len(row))] for row in rng.sample(ratings, len(ratings))]
    before, after = scorers.gwet_ac1(ratings), scorers.gwet_ac1(renamed)
    for x, y in ((before.value, after.value), (before.stderr, after.stderr), (before.high, after.high)):
        assert x == pytest.approx(y, abs=1e-6, nan_ok=True)


@given(tables)
def test_items_without_a_rating_do_not_count(ratings: list[list[str | None]]) -> None:
    padded = [*ratings, [None] * len(ratings[0])]
    clusters = [*("xyz"[i % 3] for i in range(len(ratings))), "none rated"]
    before, after = scorers.gwet_ac1(ratings, clusters[:-1]), scorers.gwet_ac1(padded, clusters)
    assert repr(before) == repr(after)


def test_doubled_items_in_clusters_of_two_have_the_error_of_single_ones() -> None:
    """The same information twice: clustered, the error stays; by item, it would shrink by sqrt(2)."""
    ids = [i for i in range(12) for _ in range(2)]
    twice = [FOUR_RATERS[i] for i in ids]
    clustered, single, fooled = (
        scorers.gwet_ac1(twice, ids),
        scorers.gwet_ac1(FOUR_RATERS),
        scorers.gwet_ac1(twice),
    )
    assert clustered.stderr == pytest.approx(single.stderr)
    assert clustered.high == pytest.approx(single.high)
    assert fooled.stderr == pytest.approx(single.stderr * math.sqrt(11 / 23))
    assert (clustered.n, clustered.clusters) == (24, 12)


# ---- edges --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ratings", "categories", "value", "stderr"),
    [
        ([], None, NAN, NAN),
        ([[N, N]], None, NAN, NAN),
        ([["a", N], [N, "b"]], None, NAN, NAN),  # no item with two ratings
        ([["a", N], ["a", N]], None, NAN, NAN),
        ([["a", "a"], ["a", "b"]], None, 1 / 5, None),  # pa 1/2, pi 3/4 and 1/4, pe 3/8
        ([["a", "a"], ["b", N]], None, 1, NAN),  # one item with two
        ([["a", "b"]], None, -1, NAN),
        ([["a", "a"], ["a", "a"]], None, 1, NAN),  # one category known: 0/0, as irrCAC
        ([["a", "a"], ["a", "a"]], "ab", 1, 0),
        ([["a", "a"], ["a", "a"]], "a", 1, NAN),
    ],
)
def test_edges(ratings: list[list[str | None]], categories: str | None, value: float, stderr: float | None) -> None:
    estimate = scorers.gwet_ac1(ratings, categories=categories)
    assert estimate.value == pytest.approx(value, nan_ok=True)
    if stderr is None:
        assert estimate.stderr > 0
    else:
        assert estimate.stderr == pytest.approx(stderr, nan_ok=True)
        assert estimate.high == pytest.approx(value + stderr, nan_ok=True)


def test_pairs_of_a_single_cluster_have_no_error() -> None:
    estimate = scorers.gwet_ac1([["a", "a"], ["a", "b"], ["b", None]], "xxy")
    assert not math.isnan(estimate.value)
    assert math.isnan(estimate.stderr)


def test_bad_input_is_named() -> None:
    with pytest.raises(BadInput, match="ratings has 1, clusters has 2"):
        scorers.gwet_ac1([["a", "b"]], "xy")
    with pytest.raises(BadInput, match=r"ratings\[1\] has 1 ratings, ratings\[0\] 2; None stands"):
        scorers.gwet_ac1([["a", "b"], ["a"]])
    with pytest.raises(BadInput, match=r"ratings\[0\]\[1\] is nan; None stands"):
        scorers.gwet_ac1([[1.0, NAN]])
    with pytest.raises(BadInput, match=r"ratings\[1\]\[0\] is 'c', which is not among the categories \['a', 'b'\]"):
        scorers.gwet_ac1([["a", "b"], ["c", "a"]], categories="ab")
    with pytest.raises(BadInput, match="level is 2"):
        scorers.gwet_ac1([["a", "b"]], level=2)
