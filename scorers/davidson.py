"""Strengths from single verdicts with ties, presentation order and a covariate.

The model is that of Davidson (1970, JASA 65), Bradley and Terry's with ties, and the order effect that of Davidson and
Beaver (1977, Biometrics 33). One verdict of the judge j on two texts, shown one after the other:

    eta = s_first - s_second + delta_j + beta * covariate
    P(first) = e^(eta/2) / D,   P(tie) = nu_j / D,   P(second) = e^(-eta/2) / D
    D = e^(eta/2) + e^(-eta/2) + nu_j

The strengths s are natural log odds of a preference among the verdicts that are no tie, as in `bradley_terry`. delta_j
is how much the judge j prefers what it is shown first, and nu_j / (2 + nu_j) its ties between equals. Where the
order effect multiplies the worth of one text and leaves the tie's weight alone, as in the R package bpcs, nu is ours
times e^(delta/2): the same model, if each judge has both parameters.

The log-likelihood is concave in (s, delta, log nu, beta), as that of any multinomial logit. Newton's steps are damped
as in `preference.logistic_fit`. Each parameter has a normal prior with mean 0 and a standard deviation of PRIOR_SD. It
keeps finite what a maximum-likelihood estimate has at infinity: the strength of a player that won or lost everything,
log nu of a judge that never ties.

Errors are clustered. Verdicts of one contest share the captions, so that a standard error over verdicts is too small.
With g_c the gradient of cluster c's verdicts, H_c its information, and H the information of all and the prior:

    d_c = (H - H_c)^-1 g_c                           what cluster c adds to the parameters, to first order
    covariance = (G - 1)/G * sum over clusters of d_c d_c'

This is the linearised cluster jackknife (MacKinnon, Nielsen and Webb, arXiv 2406.00650, for logistic models), which
does not fall short with some tens of clusters, as the plain sandwich (g_c and H for d_c) does. Both are near 0 for a
player that won everything. So the standard error of a contrast is the greater of the jackknife's and the model's, whose
covariance is H^-1. The t quantile has one degree of freedom less than the effective number of clusters (Carter,
Schnepel and Steigerwald 2017, Review of Economics and Statistics 99), with the shares of the clusters in the model's
information on the contrast: (sum of v_c)^2 / sum of v_c^2, v_c = w' H^-1 H_c H^-1 w for a contrast w.

No library at hand fits this: evalica counts a tie as half a win, and choix has comparisons without ties only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from numbers import Real

from humor_tasks.errors import BadInput, check_choice

from .arrays import Floats, Integers
from .bradley_terry import check_connected, system_names
from .davidson_likelihood import PRIOR_SD, Verdicts
from .estimate import Estimate, check_level, cluster_codes, with_interval
from .preference import finite
from .validation import check_same_length


@dataclass(frozen=True)
class Fit:
    """A fitted model (see the module): K players, J judges, G clusters, P parameters.

    The parameters are K strengths with mean 0, delta of each judge in `ordered`, log nu of each judge, and beta where
    there is a covariate. `covariance` is the cluster jackknife's [P, P] and `model` the inverse penalised information
    [P, P]. `influence` [G, P] is the first-order change of the parameters by each of `clusters`, and `information`
    [G, P, P] its information. `verdicts` and `met` [K, K] count the verdicts on each two players and their clusters.
    `rows` are the verdicts with the covariate in its standard deviations; their parameters times `units` [P] are these.
    """

    names: tuple[str, ...]
    judges: tuple[str, ...]
    ordered: tuple[str, ...]
    clusters: tuple[Hashable, ...]
    parameters: Floats
    covariance: Floats
    model: Floats
    influence: Floats
    information: Floats
    verdicts: Integers
    met: Integers
    by_judge: tuple[int, ...]
    units: Floats = field(repr=False, compare=False)
    rows: Verdicts = field(repr=False, compare=False)

    @property
    def values(self) -> Floats:
        """The strengths in the order of `names`, with mean 0."""
        return self.parameters[: len(self.names)]

    def contrasts(self, weights: Floats) -> tuple[Floats, Floats, Floats]:
        """Value, standard error and degrees of freedom of each row of weights [rows, P] over the parameters."""
        import numpy as np

        reach = weights @ self.model
        robust = np.einsum("rp,rp->r", weights @ self.covariance, weights)
        stderr = np.sqrt(np.maximum(robust, np.einsum("rp,rp->r", reach, weights)))
        shares = np.einsum("grp,rp->rg", reach @ self.information, reach)
        total = np.square(shares).sum(axis=1)
        effective = np.square(shares.sum(axis=1)) / np.where(total > 0, total, 1)
        return weights @ self.parameters, stderr, np.maximum(effective - 1, 1)

    def strengths(self, reference: str | None = None, level: float = 0.95) -> dict[str, Estimate]:
        """Every player's strength, strongest first, in log odds from the mean player or from `reference`.

        `n` and `clusters` count the player's verdicts and their clusters. The reference's own strength is 0 with an
        error of 0. Raises BadInput on an unknown reference and on a level outside (0, 1).
        """
        import numpy as np

        k = len(self.names)
        weights = np.zeros((k, len(self.parameters)))
        weights[:, :k] = np.eye(k)
        if reference is None:
            weights[:, :k] -= 1 / k
        else:
            weights[:, self._player(reference)] -= 1
        estimates = self._estimates(weights, self.verdicts.sum(axis=1), self.met.diagonal(), level)
        return {self.names[i]: estimates[i] for i in np.argsort(-self.values, kind="stable")}

    def difference(self, a: str, b: str, level: float = 0.95) -> Estimate:
        """How much stronger `a` is than `b`, in log odds; `n` and `clusters` count the verdicts on these two alone."""
        import numpy as np

        one, other = self._player(a), self._player(b)
        weights = np.zeros((1, len(self.parameters)))
        weights[0, one] += 1
        weights[0, other] -= 1
        counts = (self.verdicts[[one], [other]], self.met[[one], [other]])
        return self._estimates(weights, *counts, level)[0]

    def score_test(self, a: str, b: str) -> tuple[float, float]:
        """The score statistic of "a and b are equally strong", and the probability of one as far from 0 if they are.

        With the gradients g_c of the clusters and the covariance V of the model at the maximum where both are equal:

            u_c = d'V g_c, d = e_a - e_b,   T = sum of u_c / sqrt(sum of u_c^2)

        A Wald test of two players fails where one beats the other always or nearly so, because its standard error grows
        faster than the difference (Hauck and Donner 1977, JASA 72). This one does not: with n clusters that all agree,
        T is sqrt(n). Its probability is the normal one, and never below 2^(1 - m) for m clusters of equal weight, that
        of m signs that agree. Positive: a is stronger. Source: the generalised score test (Boos 1992, The American
        Statistician 46), with clusters.
        """
        import numpy as np
        from scipy.special import ndtr

        one, other = self._player(a), self._player(b)
        start = self.parameters / self.units
        start[[one, other]] = start[[one, other]].mean()
        theta, gradients, information = self.rows.maximum(start, (one, other))
        covariance = np.linalg.inv(information.sum(axis=0) + np.eye(len(theta)) / PRIOR_SD**2)
        reach = covariance[one] - covariance[other]
        by_cluster = np.square(gradients @ reach)
        if not by_cluster.any():
            return 0.0, 1.0
        value = float(reach @ (gradients.sum(axis=0) - theta / PRIOR_SD**2) / np.sqrt(by_cluster.sum()))
        agreeing = float(by_cluster.sum() ** 2 / np.square(by_cluster).sum())
        return value, min(max(2 * float(ndtr(-abs(value))), 2 ** (1 - agreeing)), 1.0)

    def order_effects(self, level: float = 0.95) -> dict[str, Estimate]:
        """delta of each judge in `ordered`: the log odds by which it prefers what it is shown first."""
        counts = [self.by_judge[self.judges.index(judge)] for judge in self.ordered]
        found = self._tail(len(self.names), counts, level)
        return dict(zip(self.ordered, found, strict=True))

    def ties(self, level: float = 0.95) -> dict[str, Estimate]:
        """nu of each judge; nu / (2 + nu) of its verdicts on equals are ties. The interval is that of log nu."""
        found = self._tail(len(self.names) + len(self.ordered), self.by_judge, level)
        return {
            judge: _transformed(e, math.exp, math.exp(e.value)) for judge, e in zip(self.judges, found, strict=True)
        }

    def slope(self, level: float = 0.95) -> Estimate | None:
        """beta, in log odds per unit of the covariate; None where there was none."""
        place = len(self.names) + len(self.ordered) + len(self.judges)
        found = self._tail(place, [sum(self.by_judge)] * (len(self.parameters) - place), level)
        return found[0] if found else None

    def win_rates(self, level: float = 0.95) -> dict[str, Estimate]:
        """Each player's expected win rate against the others, a tie counting one half, strongest first.

        The mean over the other players and over the judges, weighted by their verdicts, at a covariate of 0 and without
        order effect. The error is by the delta method, and the interval is built on the log odds.
        """
        import numpy as np
        from scipy.special import expit

        check_level(level)
        k, start = len(self.names), len(self.names) + len(self.ordered)
        shares = np.asarray(self.by_judge) / sum(self.by_judge)
        half = (self.values[:, None] - self.values)[..., None] / 2
        up, down, nu = np.exp(half), np.exp(-half), np.exp(self.parameters[start : start + len(shares)])
        total = up + down + nu
        rate = (up + nu / 2) / total
        # The derivatives by the difference of the two strengths and by log nu.
        slope = ((up * (1 - rate) + down * rate) / (2 * total)) @ shares
        tied = (nu / total * (0.5 - rate)).sum(axis=1) * shares / (k - 1)
        means = ((rate @ shares).sum(axis=1) - 0.5) / (k - 1)
        odds = 1 / (means * (1 - means))
        weights = np.zeros((k, len(self.parameters)))
        weights[:, :k] = (np.diag(slope.sum(axis=1)) - slope) / (k - 1) * odds[:, None]
        weights[:, start : start + len(shares)] = tied * odds[:, None]
        _, stderr, dof = self.contrasts(weights)
        logits = np.log(means / (1 - means))
        found = {}
        for i in np.argsort(-self.values, kind="stable"):
            n, clusters = int(self.verdicts[i].sum()), int(self.met[i, i])
            e = with_interval(float(logits[i]), float(stderr[i]), float(dof[i]), level, n, clusters)
            found[self.names[i]] = _transformed(e, expit, 1 / float(odds[i]))
        return found

    def _player(self, name: str) -> int:
        if name not in self.names:
            raise BadInput(f"{name!r} is none of the players: {', '.join(map(repr, self.names))}.")
        return self.names.index(name)

    def _tail(self, start: int, counts: Sequence[int], level: float) -> list[Estimate]:
        """Estimates of the parameters from `start` on, one per count of verdicts."""
        import numpy as np

        weights = np.eye(len(self.parameters))[start : start + len(counts)]
        return self._estimates(weights, counts, [len(self.clusters)] * len(counts), level)

    def _estimates(self, weights: Floats, n: Iterable[int], clusters: Iterable[int], level: float) -> list[Estimate]:
        check_level(level)
        parts = (part.tolist() for part in self.contrasts(weights))
        rows = zip(*parts, n, clusters, strict=True)
        return [with_interval(value, se, dof, level, int(m), int(g)) for value, se, dof, m, g in rows]


def davidson(
    first: Sequence[str],
    second: Sequence[str],
    results: Sequence[float],
    judges: Sequence[str],
    clusters: Sequence[Hashable],
    *,
    ordered: Collection[str] | None = None,
    covariate: Sequence[float] | None = None,
    times: Sequence[float] | None = None,
) -> Fit:
    """The model of this module, fitted on one row per verdict.

    results: 1 where the first shown was preferred, 0 where the second was, .5 for a tie. clusters: the contests.
    ordered: the judges that may prefer a position (None: all); a judge that scores texts singly has no order.
    covariate: such as the length of the first less that of the second (None: none). times: how many equal verdicts a
    row stands for (None: one each).

    Leave out verdicts that could not be read. Raises BadInput on a result that is none of the three, players that no
    verdict connects (naming the groups), fewer than two players, fewer than two clusters, a player against itself, a
    missing name or cluster, an unknown judge in `ordered`, a covariate that is no finite number, a time that is not
    above 0, and lists of different length.
    """
    import numpy as np

    times = [1.0] * len(results) if times is None else times
    covariate = [0.0] * len(results) if (without := covariate is None) else covariate
    columns = {"first": first, "second": second, "results": results, "judges": judges, "clusters": clusters}
    check_same_length(**columns, covariate=covariate, times=times)
    _check_rows(results, judges, times)
    names, graders = system_names(first, second), list(dict.fromkeys(judges))
    if len(names) < 2:
        raise BadInput("no verdicts are given; strengths need verdicts on at least two players.")
    for judge in ordered or ():
        check_choice("ordered", judge, graders)
    inclined = [ordered is None or judge in ordered for judge in graders]
    codes, count = cluster_codes(clusters)
    if count < 2:
        raise BadInput("all verdicts are of one cluster, so nothing shows how contests vary; add other contests.")
    players = cluster_codes([name for pair in zip(first, second, strict=True) for name in pair])[0]
    pairs, asked, of = np.reshape(players, (-1, 2)).T, np.array(cluster_codes(judges)[0]), np.array(codes)
    weight, x = np.asarray(times, dtype=float), finite("covariate", covariate)
    games, met = _counts(pairs, weight, of, count, len(names))
    check_connected(games, names)
    scale = float(np.sqrt((x**2).mean())) or 1.0
    rows = Verdicts.of(pairs, asked, inclined, results, weight, of, x[:0] if without else x / scale)
    parameters, gradients, information = rows.maximum()
    whole = information.sum(axis=0) + np.eye(rows.size) / PRIOR_SD**2
    unit = np.ones(rows.size)
    if not without:
        unit[-1] = 1 / scale
    # The parameters with cluster c less those without it, to first order.
    influence = np.linalg.solve(whole - information, gradients[..., None])[..., 0] * unit
    return Fit(
        names=tuple(names),
        judges=tuple(graders),
        ordered=tuple(judge for judge, inclines in zip(graders, inclined, strict=True) if inclines),
        clusters=tuple(dict.fromkeys(clusters)),
        parameters=parameters * unit,
        covariance=(count - 1) / count * influence.T @ influence,
        model=np.linalg.inv(whole) * unit * unit[:, None],
        influence=influence,
        information=information / unit / unit[:, None],
        verdicts=np.rint(games).astype(np.int64),
        met=met,
        units=unit,
        rows=rows,
        by_judge=tuple(np.rint(np.bincount(asked, weight)).astype(int).tolist()),
    )


def _check_rows(results: Sequence[float], judges: Sequence[str], times: Sequence[float]) -> None:
    for i, (result, judge, number) in enumerate(zip(results, judges, times, strict=True)):
        if not isinstance(result, Real) or result not in (0, 0.5, 1):
            raise BadInput(
                f"results[{i}] is {result!r}; a result is 1 (the first was preferred), .5 (tie) or 0; leave out "
                "verdicts that could not be read."
            )
        if not isinstance(judge, str) or not judge:
            raise BadInput(f"judges[{i}] is {judge!r}; it must be the name of a judge.")
        if not isinstance(number, Real) or not 0 < number < math.inf:
            raise BadInput(f"times[{i}] is {number!r}; a row stands for a number of verdicts above 0.")


def _counts(pairs: Integers, weight: Floats, codes: Integers, count: int, players: int) -> tuple[Floats, Integers]:
    """The verdicts on each two players, and the clusters of these; on the diagonal 0 and each player's clusters."""
    import numpy as np

    games = np.zeros((players, players))
    seen = np.zeros((count, players, players), dtype=bool)
    for a, b in (pairs, pairs[::-1]):
        np.add.at(games, (a, b), weight)
        seen[codes, a, b] = seen[codes, a, a] = True
    return games, seen.sum(axis=0)


def _transformed(e: Estimate, f: Callable[[float], float], slope: float) -> Estimate:
    """`f` of an estimate and of its interval; slope: the derivative of f at the value."""
    return Estimate(float(f(e.value)), e.stderr * slope, float(f(e.low)), float(f(e.high)), e.n, e.clusters)
