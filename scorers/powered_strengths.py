"""Strengths by people who judged part of the battles, made more precise by a judge that judged all of them.

Prediction-powered inference (Angelopoulos, Duchi and Zrnic 2023, "PPI++", arXiv 2311.01453) for the model of
`davidson`. With the strengths by people on their part of the battles, and those by the judge on that part and on all:

    strengths = people(part) + weight * (judge(all) - judge(part))

The last two differ by chance alone, whatever the judge prefers, if the part is a random sample of all battles. So the
result estimates what people would say of all battles, for any weight. PPI++ takes the one with the least variance. With
p_c and d_c the first-order changes of people's strengths and of the judge's difference by cluster c (`Fit.influence`):

    weight = - sum over clusters of p_c'd_c / sum over clusters of d_c'd_c,   clipped to [0, 1]

Errors are clustered: those of the sums p_c + weight * d_c, by the jackknife of `davidson`. What the model's variance of
people's strengths exceeds the jackknife's is added, for players that won or lost everything; the degrees of freedom are
those of people's strengths.
"""

from __future__ import annotations

from dataclasses import dataclass

from humor_tasks.errors import BadInput

from .arrays import Floats
from .davidson import Fit
from .estimate import Estimate, check_level, with_interval


@dataclass(frozen=True)
class Powered:
    """Strengths, strongest first, and the weight of the judge: 0 where it adds nothing."""

    strengths: dict[str, Estimate]
    weight: float


def powered_strengths(people: Fit, part: Fit, whole: Fit, level: float = 0.95) -> Powered:
    """Prediction-powered strengths from the mean player, in log odds.

    people: fitted on people's verdicts. part, whole: on the judge's, of people's battles and of all, with the same
    covariate. `n` and `clusters` are people's verdicts on the player and their clusters. Raises BadInput on fits of
    other players than people's, and on a level outside (0, 1).
    """
    import numpy as np

    check_level(level)
    for name, fit in (("part", part), ("whole", whole)):
        if set(fit.names) != set(people.names):
            other = sorted(set(fit.names) ^ set(people.names))
            raise BadInput(f"{name} and people differ in the players {', '.join(other)}; fit all on the same players.")
    k = len(people.names)
    clusters = list(dict.fromkeys((*people.clusters, *whole.clusters, *part.clusters)))
    human = _influence(people, people, clusters)
    gap = _influence(whole, people, clusters) - _influence(part, people, clusters)
    spread = float((gap * gap).sum())
    weight = float(np.clip(-(human * gap).sum() / spread, 0, 1)) if spread > 0 else 0.0
    contrasts = np.zeros((k, len(people.parameters)))
    contrasts[:, :k] = np.eye(k) - 1 / k
    _, alone, dof = people.contrasts(contrasts)
    variance = np.square(alone) + np.square(human + weight * gap).sum(axis=0) - np.square(human).sum(axis=0)
    values = people.values + weight * (_aligned(whole, people) - _aligned(part, people))
    found = {}
    for i in np.argsort(-values, kind="stable").tolist():
        counts = int(people.verdicts[i].sum()), int(people.met[i, i])
        found[people.names[i]] = with_interval(float(values[i]), float(variance[i]) ** 0.5, dof[i], level, *counts)
    return Powered(found, weight)


def _aligned(fit: Fit, people: Fit) -> Floats:
    """The strengths of a fit in the order of people's players."""
    return fit.values[[fit.names.index(name) for name in people.names]]


def _influence(fit: Fit, people: Fit, clusters: list[object]) -> Floats:
    """The change of each strength by each cluster [clusters, K]; its squares sum to the variance of the jackknife.

    Strengths are in the order of people's players, and 0 for a cluster that the fit lacks.
    """
    import numpy as np

    rows = {cluster: i for i, cluster in enumerate(clusters)}
    places = [fit.names.index(name) for name in people.names]
    count = len(fit.clusters)
    found = np.zeros((len(clusters), len(places)))
    changes = fit.influence[:, places] * ((count - 1) / count) ** 0.5
    found[[rows[cluster] for cluster in fit.clusters]] = changes - changes.mean(axis=1, keepdims=True)
    return found
