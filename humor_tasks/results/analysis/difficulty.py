"""What the surface of items explains: how much of a system's accuracy goes with shortcuts, and what makes items hard.

Shortcuts are baselines that need no understanding. With S the items that a shortcut answers correctly, s their share, a
the system's accuracy on S and b that on the other items, the system's accuracy is b + s (a - b). The second term is
what goes with the shortcut: the accuracy that would be lost if the system were on S only as good as elsewhere.

Difficulty is whether anything about a cluster says beforehand that it is hard: predictors, and classifiers of hard and
easy clusters.

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

from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question, best
from humor_tasks.results.analysis.systems import ItemTexts, System
from humor_tasks.rows.records import Record
from humor_tasks.scorers.estimate import Estimate, linearised
from humor_tasks.scorers.paired import holm
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.regression import spearman, spearman_p

if TYPE_CHECKING:
    from numpy.typing import NDArray

# ---- shortcuts ----------------------------------------------------------------------------------

COMPUTED = ("overlap", "longest", "first")
ANY = "any of these"


@dataclass(frozen=True)
class Explained:
    """One system and one shortcut.

    solved: the shortcut's accuracy. on, off: the system's accuracy where the shortcut is right and where it is wrong.
    gain: what of the system's accuracy goes with the shortcut, s (a - b).
    """

    system: str
    shortcut: str
    solved: Estimate
    on: Estimate
    off: Estimate
    gain: Estimate


def solved_by(system: System, texts: Mapping[str, ItemTexts]) -> dict[str, set[str]]:
    """Shortcut -> the ids of the items that it answers correctly, from the choices and scenes that the log holds."""
    targets = system.result.targets  # of all items: other systems may have values where this one has none
    if not system.letters or not targets.keys() <= texts.keys():
        return {}
    solved = {}
    questions = [Question(i, texts[i].context, texts[i].choices) for i in targets]
    for name in COMPUTED:
        if name == "overlap" and not all(question.context.strip() for question in questions):
            continue
        chosen = [system.letters[best(scores)] for scores in Baseline(name).score(questions)]
        solved[name] = {q.id for q, c in zip(questions, chosen, strict=True) if targets[q.id] == c}
    return solved


def explained(system: System, computed: Mapping[str, set[str]], systems: Sequence[System]) -> list[Explained]:
    """A system and each shortcut, also those given as runs: the baselines and embedding models among `systems`."""
    if _is_shortcut(system) or not system.right_or_wrong:
        return []
    solved = dict(computed)
    for other in systems:
        if _is_shortcut(other) and other.right_or_wrong:
            solved[other.name] = {i for i, value in other.values.items() if value == 1}
    if len(solved) > 1:
        solved[ANY] = set().union(*solved.values())
    return [_explained(system, name, ids) for name, ids in solved.items()]


def _is_shortcut(system: System) -> bool:
    """Whether a system is a baseline, embedding or quality model of this package, in either harness."""
    kinds = ("baseline", "embedding", "quality")
    return system.name.startswith(tuple(f"{kind}/" for kind in kinds) + tuple(f"humor-{kind}" for kind in kinds))


def _explained(system: System, name: str, solved: set[str]) -> Explained:
    ids = list(system.values)
    right, clusters = [system.values[i] for i in ids], [system.clusters[i] for i in ids]
    inside = [float(i in solved) for i in ids]
    columns = [[r * s for r, s in zip(right, inside, strict=True)], inside, right]

    def gain(both: complex, share: complex, accuracy: complex) -> complex:
        return accuracy - (accuracy - both) / (1 - share)

    on, off = [i for i in ids if i in solved], [i for i in ids if i not in solved]
    return Explained(
        system=system.name,
        shortcut=name,
        solved=clustered_proportion(inside, clusters),
        on=system.mean(on),
        off=system.mean(off),
        gain=linearised(gain, columns, clusters),
    )


# ---- difficulty of clusters ---------------------------------------------------------------------

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
    """A ridge classifier that separates hard from easy clusters, by 5-fold cross-validation over clusters.

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
    texts: Mapping[str, ItemTexts],
    records: Iterable[Record] = (),
    embed: Embed | None = None,
    dated: bool = False,
) -> Difficulty:
    """What predicts the means of clusters. system: any system, for the items' clusters and targets.

    texts: the choices and scenes by item. records: rows with pictures. embed: unit vectors of texts. dated: whether the
    names of clusters are numbers in the order of time.
    """
    import numpy as np

    features, notes = _features(system, texts, records, embed)
    if dated:
        features["date"] = {"number of the contest": {c: float(c) for c in means}}
    clusters = [c for c in means if all(c in values for group in features.values() for values in group.values())]
    if left := len(means) - len(clusters):
        notes.append(f"Difficulty: {left} of {len(means)} clusters lack a predictor and are left out.")
    y = np.array([means[c] for c in clusters])
    tables = {name: np.array([[x[c] for x in group.values()] for c in clusters]) for name, group in features.items()}
    columns = {
        predictor: tables[name][:, i].tolist()
        for name, group in features.items()
        for i, predictor in enumerate(group)
        if not predictor.startswith("#")
    }
    p_values = [spearman_p(x, y.tolist()) for x in columns.values()]
    corrected = iter(holm([p for p in p_values if not math.isnan(p)]))
    predictors = tuple(
        Predictor(name, spearman(x, y.tolist(), clusters), p, math.nan if math.isnan(p) else next(corrected))
        for (name, x), p in zip(columns.items(), p_values, strict=True)
    )
    decided = y != np.median(y) if len(y) else y.astype(bool)
    is_hard = y[decided] < np.median(y) if len(y) else decided
    hard, easy = int(is_hard.sum()), int((~is_hard).sum())
    if min(hard, easy) < LEAST or not tables:
        notes.append(f"Difficulty: {hard} hard and {easy} easy clusters; classifiers need {LEAST} of each.")
        return Difficulty(predictors, (), hard, easy, tuple(notes))
    if len(tables) > 1:
        tables[EVERYTHING] = np.hstack(list(tables.values()))
    classifiers = tuple(_classifier(name, x[decided], is_hard) for name, x in tables.items())
    return Difficulty(predictors, classifiers, hard, easy, tuple(notes))


def _classifier(name: str, x: NDArray[Any], is_hard: NDArray[Any]) -> Classifier:
    from sklearn.linear_model import RidgeClassifier
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold, cross_val_predict, permutation_test_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    model = make_pipeline(StandardScaler(), RidgeClassifier(alpha=10))
    parts = StratifiedKFold(  # inspect-evals-lint: ignore[shuffle_seeded] -- random_state is the seed
        5, shuffle=True, random_state=0
    )
    accuracy, _, p = permutation_test_score(
        model, x, is_hard, cv=parts, n_permutations=PERMUTATIONS, scoring="accuracy", random_state=0
    )
    scores = cross_val_predict(model, x, is_hard, cv=parts, method="decision_function")
    chance = max(is_hard.mean(), 1 - is_hard.mean())
    auc = roc_auc_score(is_hard, scores)
    return Classifier(name, x.shape[1], float(accuracy), float(chance), float(auc), float(p))


Features = dict[str, dict[str, dict[str, float]]]
"""Group of predictors -> predictor -> cluster -> value; a name with # is one component of a vector."""
SCENE = ("log words of the scene", "overlap with the scene", "overlap, more than the best wrong caption's")
PICTURE = ("width to height", "darkness", "contrast", "lines")


def _features(
    system: System, texts: Mapping[str, ItemTexts], records: Iterable[Record], embed: Embed | None
) -> tuple[Features, list[str]]:
    features: Features = {}
    notes: list[str] = []
    targets = system.result.targets
    places = {i: system.letters.index(str(targets[i])) for i in system.clusters if i in texts} if system.letters else {}
    right = {i: texts[i].choices[place] for i, place in places.items()}
    scenes = {i: texts[i].context for i in right if texts[i].context.strip()}
    if right:
        from humor_tasks.models.quality.features import SURFACE, surface

        features["form of the right caption"] = _by_cluster(system, right, SURFACE, surface(list(right.values())))
    else:
        notes.append("Difficulty: no log holds choices and right answers: the texts were not used.")
    if scenes:
        questions = [Question(i, scene, texts[i].choices) for i, scene in scenes.items()]
        rows = []
        for question, scores in zip(questions, Baseline("overlap").score(questions), strict=True):
            place = places[question.id]
            best_wrong = max(score for i, score in enumerate(scores) if i != place)
            rows.append([math.log(len(question.context.split())), scores[place], scores[place] - best_wrong])
        features["scene and overlap"] = _by_cluster(system, scenes, SCENE, rows)
    for name, of in (("right caption", right), ("scene", scenes)):
        if of and embed is not None:
            vectors = embed(list(of.values()))
            names = [f"# {k}" for k in range(len(vectors[0]))]
            features[f"embedding of the {name}"] = _by_cluster(system, of, names, vectors)
    pictures = {r.cluster: r for r in records if r.picture is not None and r.id in system.clusters}
    if pictures:
        values = {cluster: _of_picture(record) for cluster, record in pictures.items()}
        features["picture"] = {name: {c: x[k] for c, x in values.items()} for k, name in enumerate(PICTURE)}
    else:
        notes.append("Difficulty: no pictures; give the rows with --task NAME -T setting=pixels to use them.")
    return features, notes


def _by_cluster(
    system: System, ids: Iterable[str], names: Sequence[str], rows: Sequence[Sequence[float]] | NDArray[Any]
) -> dict[str, dict[str, float]]:
    """Predictor -> cluster -> the mean over the cluster's items."""
    import numpy as np

    members: dict[str, list[int]] = {}
    for k, identity in enumerate(ids):
        members.setdefault(system.clusters[identity], []).append(k)
    table = np.asarray(rows, dtype=float)
    means = {cluster: table[at].mean(axis=0) for cluster, at in members.items()}
    return {name: {c: float(x[k]) for c, x in means.items()} for k, name in enumerate(names)}


def _of_picture(record: Record) -> tuple[float, ...]:
    """Plain statistics of a picture, by PICTURE.

    lines: how much neighbouring pixels of a row differ at 256 pixels of width.
    """
    import numpy as np

    assert record.picture is not None
    image = record.picture.open().convert("L")
    width, height = image.size
    small = np.asarray(image.resize((256, max(1, round(256 * height / width)))), dtype=float) / 255
    edges = np.abs(np.diff(small, axis=1)).mean()
    return width / height, 1 - float(small.mean()), float(small.std()), float(edges)
