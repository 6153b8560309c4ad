"""The penalised likelihood of the model of `davidson`: its derivatives by cluster, and its maximum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from humor_tasks.errors import BadInput

from .arrays import Floats, Integers

PRIOR_SD = 3.0
"""Of each parameter, in log odds (beta: for one standard deviation of the covariate).

A difference of 3 is a preference 20 times in 21, so that the prior says next to nothing about real players. It weighs
1/9 in units of information, where a single verdict on equals brings 1/4 if the judge never ties.
"""
_MAX_STEPS = 100  # of Newton's method; about ten are usual


@dataclass(frozen=True)
class Verdicts:
    """Verdicts with the four or five parameters that each touches, and how these enter its eta and its log nu."""

    size: int
    places: Integers  # [parts, rows]; `size` is a parameter that is dropped
    on_eta: Floats  # [parts, rows]
    on_tie: Floats
    won: Floats  # 1, 0 (tie) or -1
    weight: Floats
    codes: Integers
    count: int

    @classmethod
    def of(
        cls,
        pairs: Integers,
        judges: Integers,
        inclined: Sequence[bool],
        results: Sequence[float],
        weight: Floats,
        codes: Integers,
        covariate: Floats,
    ) -> Verdicts:
        """Parameters in order: strengths, delta of the judges that are `inclined`, log nu of all, beta if there is any.

        pairs [2, rows], judges, codes: numbers from 0; codes are the clusters'. covariate: empty where there is none.
        """
        import numpy as np

        n, players, graders = len(codes), int(pairs.max()) + 1, len(inclined)
        start = players + sum(inclined)
        size = start + graders + (len(covariate) > 0)
        delta = np.where(inclined, players + np.cumsum(inclined) - 1, size)
        ones, none = np.ones(n), np.zeros(n)
        # The last part counts in eta alone, and only where there is a covariate.
        places = [*pairs, delta[judges], start + judges, np.full(n, size - 1)]
        on_eta, on_tie = [ones, -ones, ones, none, covariate], [none, none, none, ones, none]
        parts = 5 if len(covariate) else 4
        won = 2 * np.asarray(results, dtype=float) - 1
        designs = np.array(places[:parts]), np.array(on_eta[:parts]), np.array(on_tie[:parts])
        return cls(size, *designs, won, weight, codes, int(codes.max()) + 1)

    def maximum(
        self, start: Floats | None = None, equal: tuple[int, int] | None = None
    ) -> tuple[Floats, Floats, Floats]:
        """The parameters with the greatest penalised likelihood, and there each cluster's gradient and information.

        equal: two parameters that are to be the same. start: where to begin; it has to meet that condition.
        """
        import numpy as np

        theta = np.zeros(self.size) if start is None else start
        penalty, basis = np.eye(self.size) / PRIOR_SD**2, np.eye(self.size)
        if equal:
            basis[:, equal[0]] += basis[:, equal[1]]
            basis = np.delete(basis, equal[1], axis=1)
        for _ in range(_MAX_STEPS):
            gradients, information = self.derivatives(theta)
            total = gradients.sum(axis=0) - theta / PRIOR_SD**2
            step = basis @ np.linalg.solve(basis.T @ (information.sum(axis=0) + penalty) @ basis, basis.T @ total)
            eta, tie = self._along(step)
            # The third derivative along a step is at most the second times this range of the three log odds.
            width = float((np.maximum(abs(eta) / 2, tie) - np.minimum(-abs(eta) / 2, tie)).max())
            if width < 1e-9:
                return theta, gradients, information
            theta = theta + step * (math.log1p(width) / width)
        raise BadInput("the strengths did not converge; is the covariate of very different sizes? Rescale it.")

    def derivatives(self, theta: Floats) -> tuple[Floats, Floats]:
        """The gradient [G, P] and information [G, P, P] of each cluster's log-likelihood, without the prior."""
        import numpy as np

        eta, tie = self._along(theta)
        top = np.maximum(abs(eta) / 2, tie)
        up, level, down = np.exp(eta / 2 - top), np.exp(tie - top), np.exp(-eta / 2 - top)
        total = up + level + down
        lead, tied = (up - down) / total, level / total
        slopes = self.on_eta * ((self.won - lead) / 2) + self.on_tie * ((self.won == 0) - tied)
        p, wide = len(self.places), self.size + 1
        place = self.codes * wide + self.places
        gradients = np.bincount(place.ravel(), weights=(slopes * self.weight).ravel(), minlength=self.count * wide)
        # Variances and covariance of (won / 2, tie).
        by_eta = self.on_eta * ((1 - tied - lead**2) / 4) - self.on_tie * (lead * tied / 2)
        by_tie = self.on_tie * (tied * (1 - tied)) - self.on_eta * (lead * tied / 2)
        blocks = self.on_eta[:, None] * (by_eta * self.weight) + self.on_tie[:, None] * (by_tie * self.weight)
        cells = place[:, None] * wide + np.broadcast_to(self.places, (p, *self.places.shape))
        information = np.bincount(cells.ravel(), weights=blocks.ravel(), minlength=self.count * wide**2)
        kept = gradients.reshape(self.count, wide)[:, :-1].astype(float)
        return kept, information.reshape(self.count, wide, wide)[:, :-1, :-1].astype(float)

    def _along(self, theta: Floats) -> tuple[Floats, Floats]:
        """eta and log nu of each row."""
        import numpy as np

        chosen = np.append(theta, 0.0)[self.places]
        return (self.on_eta * chosen).sum(axis=0), (self.on_tie * chosen).sum(axis=0)
