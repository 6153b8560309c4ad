"""`davidson`: by hand, its derivatives against differences, refits, and what must not matter."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from humor_tasks.errors import BadInput
from humor_tasks.scorers import Estimate
from humor_tasks.scorers.davidson import Fit, davidson
from humor_tasks.scorers.davidson_likelihood import PRIOR_SD, Verdicts

PLAYERS = "abcd"
MANY = 1e7  # verdicts a row, beside which the prior weighs nothing


@dataclass
class Rows:
    """Verdicts, column by column."""

    first: list[str] = field(default_factory=list)
    second: list[str] = field(default_factory=list)
    results: list[float] = field(default_factory=list)
    judges: list[str] = field(default_factory=list)
    clusters: list[int] = field(default_factory=list)
    covariate: list[float] = field(default_factory=list)
    times: list[float] = field(default_factory=list)

    def add(self, *row: Any) -> None:
        for column, value in zip(vars(self).values(), row, strict=True):
            column.append(value)

    def fit(self, **options: Any) -> Fit:
        columns = (self.first, self.second, self.results, self.judges, self.clusters)
        return davidson(*columns, **{"covariate": self.covariate, "times": self.times} | options)


def chances(eta: float, nu: float) -> list[float]:
    up, down = math.exp(eta / 2), math.exp(-eta / 2)
    return [up / (up + down + nu), nu / (up + down + nu), down / (up + down + nu)]


def drawn(seed: int, contests: int = 12, share: float = 1.0, slope: float = 0.0) -> Rows:
    rng, rows = np.random.default_rng(seed), Rows()
    strengths = dict(zip(PLAYERS, (0.8, 0.2, -0.1, -0.9), strict=True))
    for contest in range(contests):
        quality = {name: s + rng.normal(0, 0.4) for name, s in strengths.items()}
        for a in PLAYERS:
            for b in PLAYERS:
                for judge, delta, nu in (("x", 0.5, 0.6), ("y", -0.2, 0.2)):
                    if a != b and rng.random() < share:
                        x = rng.normal()
                        p = chances(quality[a] - quality[b] + delta + slope * x, nu)
                        rows.add(a, b, [1, 0.5, 0][rng.choice(3, p=p)], judge, contest, x, 1)
    return rows


def values(fit: Fit) -> dict[str, float]:
    return dict(zip(fit.names, fit.values.tolist(), strict=True))


def bounds(e: Estimate) -> list[float]:
    return [e.value, e.stderr, e.low, e.high]


# ---- the fit ------------------------------------------------------------------------------------


def test_two_players_by_hand() -> None:
    # 50 : 30 : 20, so that the odds without ties are 2.5, and nu = 30 / sqrt(50 * 20)
    rows = [("a", "b", r, "x", c, 0, n * MANY) for c in (0, 1) for r, n in ((1, 5), (0.5, 3), (0, 2))]
    made = Rows()
    for row in rows:
        made.add(*row)
    found = made.fit(ordered=[], covariate=None)
    assert values(found) == pytest.approx({"a": math.log(2.5) / 2, "b": -math.log(2.5) / 2}, abs=1e-5)
    assert found.ties()["x"].value == pytest.approx(3 / math.sqrt(10), abs=1e-5)
    assert (found.order_effects(), found.slope()) == ({}, None)
    # a wins or ties by half: .5 + .3 / 2.
    rates = found.win_rates()
    assert [rates[name].value for name in "ab"] == pytest.approx([0.65, 0.35], abs=1e-5)
    assert found.strengths()["a"].n == 20 * MANY


def test_all_parameters_from_the_models_own_chances() -> None:
    rows = Rows()
    strengths = {"a": 0.9, "b": 0.4, "c": -1.3}
    for judge, delta, nu in (("x", 0.5, 0.6), ("y", -0.7, 0.1)):
        for a in strengths:
            for b in strengths:
                for contest, x in ((0, -1.5), (1, 2.0)):
                    if a != b:
                        p = chances(strengths[a] - strengths[b] + delta + 0.3 * x, nu)
                        for result, chance in zip((1, 0.5, 0), p, strict=True):
                            rows.add(a, b, result, judge, contest, x, chance * MANY)
    found = rows.fit()
    assert values(found) == pytest.approx(strengths, abs=1e-5)
    assert [found.order_effects()[judge].value for judge in "xy"] == pytest.approx([0.5, -0.7], abs=1e-5)
    assert [found.ties()[judge].value for judge in "xy"] == pytest.approx([0.6, 0.1], abs=1e-5)
    slope = found.slope()
    assert slope
    assert slope.value == pytest.approx(0.3, abs=1e-5)


def log_likelihood(rows: Rows, theta: Any, cluster: int) -> float:
    """Verdict by verdict; parameters a b c d, delta of x, log nu of x and y, beta."""
    total = 0.0
    for a, b, result, judge, contest, x, n in zip(*vars(rows).values(), strict=True):
        if contest == cluster:
            eta = theta[PLAYERS.index(a)] - theta[PLAYERS.index(b)] + (judge == "x") * theta[4] + theta[7] * x
            p = chances(eta, math.exp(theta[5 + (judge == "y")]))
            total += n * math.log(p[[1, 0.5, 0].index(result)])
    return total


def test_derivatives_against_differences() -> None:
    rows = drawn(0, contests=2, share=0.5, slope=0.4)
    rows.times = [1 + k % 3 for k in range(len(rows.first))]
    pairs = np.array([[PLAYERS.index(name) for name in column] for column in (rows.first, rows.second)])
    judges, codes = np.array([judge == "y" for judge in rows.judges]) * 1, np.array(rows.clusters)
    times, x = np.array(rows.times, dtype=float), np.array(rows.covariate)
    verdicts = Verdicts.of(pairs, judges, [True, False], rows.results, times, codes, x)
    theta, h = np.random.default_rng(1).normal(size=8), 1e-5
    gradients, information = verdicts.derivatives(theta)
    for k, step in enumerate(np.eye(8) * h):
        for cluster in (0, 1):
            slope = (log_likelihood(rows, theta + step, cluster) - log_likelihood(rows, theta - step, cluster)) / 2 / h
            assert gradients[cluster, k] == pytest.approx(slope, abs=1e-6)
        second = (verdicts.derivatives(theta + step)[0] - verdicts.derivatives(theta - step)[0]) / 2 / h
        assert -information[:, k] == pytest.approx(second, abs=1e-6)


@pytest.mark.parametrize("scale", [1, 1000])
def test_the_maximum_is_where_likelihood_and_prior_pull_alike(scale: int) -> None:
    rows = drawn(3, contests=5, share=0.4, slope=0.4)
    rows.covariate = [x * scale for x in rows.covariate]
    found, h = rows.fit(ordered=["x"]), 1e-5
    root = math.sqrt(np.square(rows.covariate).mean())
    unit = np.append(np.ones(7), 1 / root)
    assert found.ordered == ("x",)
    order = [found.names.index(name) for name in PLAYERS] + [4, *(5 + found.judges.index(judge) for judge in "xy"), 7]
    theta = found.parameters[order]
    for k, step in enumerate(np.diag(unit) * h):
        up, down = (sum(log_likelihood(rows, theta + sign * step, c) for c in range(5)) for sign in (1, -1))
        # The prior is on beta times the covariate's root mean square.
        assert (up - down) / 2 / h == pytest.approx(theta[k] / unit[k] / PRIOR_SD**2, abs=1e-6)


def test_what_must_not_matter() -> None:
    rows = drawn(5, share=0.5, slope=0.3)
    found = rows.fit()
    renamed = Rows(**vars(rows) | {"first": [n * 2 for n in rows.first], "second": [n * 2 for n in rows.second]})
    assert values(renamed.fit()) == pytest.approx({n * 2: v for n, v in values(found).items()}, abs=1e-8)
    turned = Rows(
        rows.second, rows.first, [1 - r for r in rows.results], rows.judges, rows.clusters,
        [-x for x in rows.covariate], rows.times,
    )  # fmt: skip
    after = turned.fit()
    assert values(after) == pytest.approx(values(found), abs=1e-8)
    for judge in "xy":
        before, now = found.order_effects()[judge], after.order_effects()[judge]
        assert [now.value, now.low, now.high] == pytest.approx([-before.value, -before.high, -before.low], abs=1e-8)
    mixed = np.random.default_rng(0).permutation(len(rows.first))
    shuffled = Rows(*([column[k] for k in mixed] for column in vars(rows).values()))
    for name, e in shuffled.fit().strengths("b").items():
        assert bounds(e) == pytest.approx(bounds(found.strengths("b")[name]), abs=1e-8)
    # Rows are their number of times.
    twice = Rows(*(column * 2 for column in vars(rows).values()))
    rows.times = [2] * len(rows.times)
    assert bounds(twice.fit().difference("a", "c")) == pytest.approx(bounds(rows.fit().difference("a", "c")), abs=1e-8)


# ---- errors -------------------------------------------------------------------------------------


def test_influence_against_fits_without_a_contest() -> None:
    rows = drawn(7, contests=20)
    found = rows.fit(covariate=None)
    gaps = []
    for contest in range(20):
        rest = Rows(
            *([v for v, c in zip(col, rows.clusters, strict=True) if c != contest] for col in vars(rows).values())
        )
        without = values(rest.fit(covariate=None))
        gaps.append([found.values[k] - without[name] for k, name in enumerate(found.names)])
    assert found.influence[:, :4] == pytest.approx(np.array(gaps), abs=0.004)
    variance = 19 / 20 * np.square(gaps).sum(axis=0)
    assert found.covariance.diagonal()[:4] == pytest.approx(variance, rel=0.1)


def test_contrasts_agree() -> None:
    found = drawn(8).fit()
    one, other = found.strengths("b")["a"], found.difference("a", "b")
    assert bounds(one) == pytest.approx(bounds(other))
    assert bounds(found.strengths("b")["b"]) == [0, 0, 0, 0]
    assert (one.n, one.clusters, other.n, other.clusters) == (12 * 12, 12, 48, 12)
    back = found.difference("b", "a", level=0.9)
    assert [back.value, back.stderr] == pytest.approx([-other.value, other.stderr])
    assert back.high - back.low < other.high - other.low
    assert sum(e.value for e in found.strengths().values()) == pytest.approx(0, abs=1e-9)


def test_degrees_of_freedom_count_the_contests_that_tell() -> None:
    """Three contests, of which one has as many verdicts as 100 others: hardly more than one contest."""
    rows = Rows()
    for contest, n in ((0, 100), (1, 1), (2, 1)):
        for result, share in ((1, 3), (0, 2)):
            rows.add("a", "b", result, "x", contest, 0, n * share)
    weights = np.array([[1.0, -1, 0]])
    assert rows.fit(ordered=[], covariate=None).contrasts(weights)[2] == 1
    rows.times = [3, 2] * 3
    assert rows.fit(ordered=[], covariate=None).contrasts(weights)[2] == pytest.approx(2)


def test_win_rates() -> None:
    found = drawn(9).fit()
    rates = found.win_rates()
    # Each two players share one win.
    assert sum(e.value for e in rates.values()) == pytest.approx(len(PLAYERS) / 2)
    assert list(rates) == list(found.strengths())
    nu = [found.ties()[judge].value for judge in found.judges]
    s = values(found)
    expected = [
        (p := chances(s["a"] - s[other], each))[0] + p[1] / 2 for other in "bcd" for each in nu
    ]  # both judges gave equally many verdicts
    assert rates["a"].value == pytest.approx(np.mean(expected))
    assert 0 < rates["a"].low < rates["a"].value < rates["a"].high < 1
    # The delta method against differences of the rate.
    h, slopes = 1e-5, []
    for step in np.eye(len(found.parameters)) * h:
        up, down = (
            Fit(**vars(found) | {"parameters": found.parameters + sign * step}).win_rates()["a"].value
            for sign in (1, -1)
        )
        slopes.append((up - down) / 2 / h)
    assert rates["a"].stderr == pytest.approx(found.contrasts(np.array([slopes]))[1][0], rel=1e-5)


def test_one_that_won_everything_and_a_judge_without_ties() -> None:
    rows = drawn(10)
    won = [(name, "z", 1, "x", c, 0.0, 1) for c in range(12) for name in "a"]
    for row in won:
        rows.add("z", row[0], 1, "x", row[4], 0.0, 1)
        rows.add(row[0], "z", 0, "x", row[4], 0.0, 1)
    rows.results = [r if r != 0.5 or j == "x" else 1.0 for r, j in zip(rows.results, rows.judges, strict=True)]
    found = rows.fit(covariate=None)
    strongest = next(iter(found.strengths().items()))
    assert strongest[0] == "z"
    assert 2 < strongest[1].value < 8
    # The sandwich alone would be sure of a strength that is the prior's.
    weights = np.zeros((1, len(found.parameters)))
    weights[0, [found.names.index("z"), found.names.index("a")]] = 1, -1
    robust = float(np.sqrt(weights @ found.covariance @ weights.T)[0, 0])
    assert found.difference("z", "a").stderr > 2 * robust
    tie = found.ties()["y"]
    assert 0 < tie.low < tie.value < 0.05


# ---- bad input ----------------------------------------------------------------------------------

ROW: dict[str, Any] = {
    "first": ["a", "b"],
    "second": ["b", "a"],
    "results": [1, 0.5],
    "judges": ["x", "x"],
    "clusters": [0, 1],
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"results": [1, 0.7]}, r"results\[1\] is 0.7; a result is 1"),
        ({"results": [1, None]}, r"results\[1\] is None"),
        ({"results": [1, math.nan]}, r"results\[1\] is nan"),
        ({"judges": ["x", ""]}, r"judges\[1\] is ''"),
        ({"second": ["b", "b"]}, r"first\[1\] and second\[1\] are both 'b'"),
        ({"clusters": [0, 0]}, "all verdicts are of one cluster"),
        ({"clusters": [0, None]}, r"clusters\[1\] is None"),
        ({"first": ["a", "c"], "second": ["b", "d"]}, "no common scale: a, b; c, d. "),
        ({"ordered": ["z"]}, "ordered: there is no 'z'; choose from x"),
        ({"covariate": [0, math.inf]}, r"covariate\[1\] is inf"),
        ({"times": [1, 0]}, r"times\[1\] is 0; a row stands for"),
        ({"times": [1]}, "but first has 2"),
        ({column: [] for column in ROW}, "no verdicts are given"),
    ],
)
def test_bad_input(change: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        davidson(**ROW | change)


def test_unknown_players_and_levels() -> None:
    found = davidson(**ROW)
    with pytest.raises(BadInput, match="'z' is none of the players: 'a', 'b'"):
        found.strengths("z")
    with pytest.raises(BadInput, match="'z' is none of the players: 'a', 'b'"):
        found.difference("a", "z")
    with pytest.raises(BadInput, match="level"):
        found.win_rates(level=95)
