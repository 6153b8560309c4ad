"""Whether anything about a cluster says beforehand that it is hard: predictors, and classifiers of hard and easy ones.

Hessel et al. (ACL 2023, section 3.3) tried "various visual/linguistic predictors" of a contest's difficulty, and found
their best classifiers "only slightly above random"; they name neither. These are ours: the surface of the right caption
as the quality model sees it, the length of the scene, word overlap with the scene, the contest's number, plain
statistics of the picture, and sentence embeddings. Values of a cluster are means over its items. Hard and easy are the
clusters below and above the median accuracy over the systems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from humor_tasks.data.records import Record
from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question
from humor_tasks.results.analysis.systems import Shown, System
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.scorers.paired import holm
from humor_tasks.scorers.regression import spearman, spearman_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], Any]
LEAST = 10  # clusters of each class: two in each part of the cross-validation
PERMUTATIONS = 99
EVERYTHING = "all of these"


@dataclass(frozen=True)
class Predictor:
    """Spearman's correlation of a property of clusters with their mean; `holm` corrects p over all predictors."""

    name: str
    found: Estimate
    p: float
    holm: float


@dataclass(frozen=True)
class Classifier:
    """A ridge classifier that tells hard from easy clusters, by 5-fold cross-validation over clusters.

    features: their number. accuracy: of held-out clusters; chance: the share of the larger class. auc: the area under
    the ROC curve, .5 by chance. p: of the accuracy, by permuting the classes.
    """

    predictors: str
    features: int
    accuracy: float
    chance: float
    auc: float
    p: float


@dataclass(frozen=True)
class Difficulty:
    """The predictors and classifiers of one benchmark's clusters; `notes` say what was left out and why."""

    predictors: tuple[Predictor, ...]
    classifiers: tuple[Classifier, ...]
    hard: int
    easy: int
    notes: tuple[str, ...]


def difficulty(
    system: System,
    means: Mapping[str, float],
    shown: Mapping[str, Shown],
    records: Iterable[Record] = (),
    embed: Embed | None = None,
    dated: bool = False,
) -> Difficulty:
    """What predicts the means of clusters. system: any system, for the items' clusters and targets.

    shown: the choices and scenes by item. records: rows with pictures. embed: unit vectors of texts. dated: whether the
    names of clusters are numbers in the order of time.
    """
    import numpy as np

    found, notes = _features(system, shown, records, embed)
    if dated:
        found["date"] = {"number of the contest": {c: float(c) for c in means}}
    clusters = [c for c in means if all(c in values for each in found.values() for values in each.values())]
    if left := len(means) - len(clusters):
        notes.append(f"Difficulty: {left} of {len(means)} clusters lack a predictor and are left out.")
    y = np.array([means[c] for c in clusters])
    tables = {name: np.array([[x[c] for x in each.values()] for c in clusters]) for name, each in found.items()}
    named = {
        each: tables[name][:, i] for name, of in found.items() for i, each in enumerate(of) if not each.startswith("#")
    }
    p = [spearman_p(x.tolist(), y.tolist()) for x in named.values()]
    defined = iter(holm([value for value in p if not math.isnan(value)]))
    predictors = tuple(
        Predictor(name, spearman(x.tolist(), y.tolist(), clusters), q, math.nan if math.isnan(q) else next(defined))
        for (name, x), q in zip(named.items(), p, strict=True)
    )
    kept = y != np.median(y) if len(y) else y.astype(bool)
    is_hard = y[kept] < np.median(y) if len(y) else kept
    hard, easy = int(is_hard.sum()), int((~is_hard).sum())
    if min(hard, easy) < LEAST or not tables:
        notes.append(f"Difficulty: {hard} hard and {easy} easy clusters; classifiers need {LEAST} of each.")
        return Difficulty(predictors, (), hard, easy, tuple(notes))
    if len(tables) > 1:
        tables[EVERYTHING] = np.hstack(list(tables.values()))
    classified = tuple(_classifier(name, x[kept], is_hard) for name, x in tables.items())
    return Difficulty(predictors, classified, hard, easy, tuple(notes))


def _classifier(name: str, x: NDArray[Any], is_hard: NDArray[Any]) -> Classifier:
    from sklearn.linear_model import RidgeClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict, permutation_test_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=10))
    parts = StratifiedKFold(5, shuffle=True, random_state=0)
    accuracy, _, p = permutation_test_score(
        model, x, is_hard, cv=parts, n_permutations=PERMUTATIONS, scoring="accuracy", random_state=0
    )
    told = cross_val_predict(model, x, is_hard, cv=parts, method="decision_function")
    chance = max(is_hard.mean(), 1 - is_hard.mean())
    auc = float(roc_auc_score(is_hard, told))
    return Classifier(name, x.shape[1], float(accuracy), float(chance), auc, float(p))


# ---- features: set of predictors -> predictor -> cluster -> value; a name with # is one of a vector's ----

Features = dict[str, dict[str, dict[str, float]]]


def _features(
    system: System, shown: Mapping[str, Shown], records: Iterable[Record], embed: Embed | None
) -> tuple[Features, list[str]]:
    found: Features = {}
    notes: list[str] = []
    right = {i: _right(system, i, shown[i]) for i in system.clusters if i in shown} if system.letters else {}
    scenes = [i for i in right if shown[i].context.strip()]
    if right:
        from humor_tasks.models.quality.features import SURFACE, surface

        found["form of the right caption"] = _by_cluster(system, right, SURFACE, surface(list(right.values())))
    else:
        notes.append("Difficulty: no log holds choices and right answers: the texts were not used.")
    if scenes:
        asked = [Question(i, shown[i].context, shown[i].choices) for i in scenes]
        overlap = [
            _margins(scores, system.letters.index(str(system.result.targets[q.id])))
            for q, scores in zip(asked, Baseline("overlap").score(asked), strict=True)
        ]
        rows_of = [[math.log(len(q.context.split())), *pair] for q, pair in zip(asked, overlap, strict=True)]
        found["scene and overlap"] = _by_cluster(system, scenes, SCENE, rows_of)
    if right and embed is not None:
        texts = {"right caption": right, "scene": {i: shown[i].context for i in scenes}}
        for name, of in texts.items():
            if of:
                vectors = embed(list(of.values()))
                names = [f"# {k}" for k in range(len(vectors[0]))]
                found[f"embedding of the {name}"] = _by_cluster(system, of, names, vectors)
    pictures = {r.cluster: r for r in records if r.picture is not None and r.id in system.clusters}
    if pictures:
        values = {cluster: _seen(record) for cluster, record in pictures.items()}
        found["picture"] = {name: {c: x[k] for c, x in values.items()} for k, name in enumerate(PICTURE)}
    else:
        notes.append("Difficulty: no pictures; give the rows with --task NAME -T setting=pixels to use them.")
    return found, notes


def _right(system: System, identity: str, item: Shown) -> str:
    return item.choices[system.letters.index(str(system.result.targets[identity]))]


def _margins(scores: Sequence[float], right: int) -> tuple[float, float]:
    """The score of the right choice, and by how much it is above the best wrong one."""
    return scores[right], scores[right] - max(s for i, s in enumerate(scores) if i != right)


def _by_cluster(
    system: System, ids: Iterable[str], names: Sequence[str], rows: Sequence[Sequence[float]] | NDArray[Any]
) -> dict[str, dict[str, float]]:
    """Predictor -> cluster -> the mean over the cluster's items."""
    import numpy as np

    held: dict[str, list[int]] = {}
    for k, identity in enumerate(ids):
        held.setdefault(system.clusters[identity], []).append(k)
    table = np.asarray(rows, dtype=float)
    means = {cluster: table[at].mean(axis=0) for cluster, at in held.items()}
    return {name: {c: float(x[k]) for c, x in means.items()} for k, name in enumerate(names)}


SCENE = ("log words of the scene", "overlap with the scene", "overlap, more than the best wrong caption's")
PICTURE = ("width to height", "darkness", "contrast", "lines")


def _seen(record: Record) -> tuple[float, ...]:
    """Plain statistics of a picture: its shape, how dark it is and how much, and how much of it changes from one pixel
    to the next, at 256 pixels of width.
    """
    import numpy as np

    assert record.picture is not None
    image = record.picture.open().convert("L")
    width, height = image.size
    small = np.asarray(image.resize((256, max(1, round(256 * height / width)))), dtype=float) / 255
    edges = np.abs(np.diff(small, axis=1)).mean()
    return width / height, 1 - float(small.mean()), float(small.std()), float(edges)
