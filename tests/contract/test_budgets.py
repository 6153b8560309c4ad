"""Budgets: nested samples of whole clusters, the same for everybody, in both harnesses."""

from __future__ import annotations

import random
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins import commands

from humor_tasks import load
from humor_tasks.contract.loaded import Data
from humor_tasks.results import read_results
from humor_tasks.results.comparable import reasons_apart, refusals
from humor_tasks.rows.records import Record


def data(sizes: dict[str, int]) -> Data:
    records = [
        Record(f"{cluster}-{i}", cluster, {}, "", (), "A", {}) for cluster, size in sizes.items() for i in range(size)
    ]
    return Data(tuple(records), {"rows": len(records), "fingerprint": "f"})


def clusters(found: Data) -> set[str]:
    return {record.cluster for record in found.records}


SIZES = st.dictionaries(st.text(min_size=1, max_size=4), st.integers(1, 9), min_size=1, max_size=40)


@given(SIZES, st.integers(1, 400), st.integers(1, 400))
def test_whole_clusters_nested(sizes: dict[str, int], one: int, other: int) -> None:
    whole = data(sizes)
    small, large = (whole.budgeted(budget, str) for budget in sorted((one, other)))
    assert clusters(small) <= clusters(large)
    for found in (small, large):
        assert len(found.records) == sum(sizes[cluster] for cluster in clusters(found)) == found.provenance["rows"]
        assert len(clusters(found)) >= min(2, len(sizes))
        assert {record.id for record in whole.records} == {record.id for record in found.records} | found.dropped
        assert found.provenance["fingerprint"] == "f"


@pytest.mark.parametrize(
    ("budget", "number"), [(1, 2), (9, 2), (10, 2), (15, 3), (22, 4), (49, 10), (50, 10), (99, 10)]
)
def test_number_of_clusters(budget: int, number: int) -> None:
    found = data({f"c{i}": 5 for i in range(10)}).budgeted(budget, str)
    assert len(clusters(found)) == number
    assert ("budget" in found.provenance) == (number < 10)


def test_the_sample_is_published() -> None:
    """The order of clusters never changes."""
    found = data({f"newyorker-{i}": 1 for i in range(500, 530)})
    assert sorted(clusters(found.budgeted(6, str))) == [f"newyorker-{i}" for i in [501, 505, 510, 514, 515, 516]]


def test_benchmarks_of_one_corpus_share_clusters() -> None:
    matching, ranking = (load(name, dataset="sample", budget=4) for name in ("matching", "ranking"))
    assert {record.cluster for record in matching.records} == {record.cluster for record in ranking.records}
    assert len(matching.records) == 4


def test_no_bias() -> None:
    """Over many corpora with other names of clusters, whose sizes and values go together."""
    draw = random.Random(1)
    means: dict[int, list[float]] = {50: [], 200: [], 1000: []}
    sizes = [draw.randint(1, 20) for _ in range(300)]
    values = [size / 20 for size in sizes]
    true = statistics.fmean(v for v, size in zip(values, sizes, strict=True) for _ in range(size))
    for corpus in range(300):
        named = {f"{corpus}-{i}": size for i, size in enumerate(sizes)}
        whole = data(named)
        for budget, found in means.items():
            taken = whole.budgeted(budget, str).records
            found.append(statistics.fmean(values[int(r.cluster.split("-")[1])] for r in taken))
    for found in means.values():
        error = statistics.stdev(found) / len(found) ** 0.5
        assert abs(statistics.fmean(found) - true) < max(4 * error, 1e-9) + 0.01


def test_in_both_harnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signed; compared on common items, kept apart in reports."""
    monkeypatch.setenv("INSPECT_DISPLAY", "none")
    for name, given_ in (("small", ["-T", "budget=20"]), ("large", ["-T", "budget=60"]), ("all", [])):
        asked = ["-T", "dataset=sample", *given_, "--model", f"baseline/{'longest' if name == 'all' else 'overlap'}"]
        commands.inspect("eval", "humor_tasks/crowd_pairs", *asked, "--log-dir", tmp_path / name, cwd=tmp_path)
    model = ["--model", "humor-baseline", "--model_args", "strategy=longest", "--log_samples"]
    sample = ["--metadata", "dataset=sample", "budget=20"]
    commands.lm_eval("--tasks", "crowd_pairs", *model, *sample, "--output_path", tmp_path / "lm", cwd=tmp_path)
    small, large, every, by_lm_eval = (
        read_results([tmp_path / name]).results[0] for name in ("small", "large", "all", "lm")
    )
    assert [result.signature.get("budget") for result in (small, large, every, by_lm_eval)] == ["20", "60", None, "20"]
    assert all(result.complete for result in (small, large, every, by_lm_eval))
    assert by_lm_eval.targets == small.targets
    assert len(small.targets) == 20
    assert small.targets.items() < large.targets.items() < every.targets.items()
    assert refusals(small, large) == refusals(small, every) == []
    assert reasons_apart(small, every) == ["budget: 20 and all items"]
    told = commands.humor_tasks("compare", tmp_path / "small", tmp_path / "all")
    assert "budget (compared are the common items): 20 (baseline/overlap), - (baseline/longest)" in told
    assert "20 / 2" in told
