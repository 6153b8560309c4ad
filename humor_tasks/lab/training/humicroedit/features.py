"""The systems without fine-tuning: `baseline`, and a regression on features: ridge, MLP, boosted trees, naive Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import read_body
from humor_tasks.files.writing import replacing, write_json, write_table
from humor_tasks.lab.training.humicroedit.data import Data, Rows, rmse
from humor_tasks.lab.training.humicroedit.settings import TrainConfig
from humor_tasks.lab.training.run_folders import CURVES
from humor_tasks.models.humicroedit.features import (
    HEAD,
    TREES,
    Bayes,
    FeatureRater,
    Layers,
    NGrams,
    Sentences,
    Trees,
    Words,
    xgboost,
)
from humor_tasks.models.humicroedit.groups import Groups, History
from humor_tasks.models.humicroedit.rater import BaselineRater, Rater
from humor_tasks.models.humicroedit.resources import FrozenEncoder, Graph, Together, WordVectors

FOLDS = 5


def fit_baseline(config: TrainConfig, data: Data, output: Path) -> tuple[Rater, dict[str, Any]]:
    """The mean grade of train, and the more frequent label of its pairs."""
    grades = data.all().grades
    label = 1 if 2 * data.labels.count(1) >= len(data.labels) else 2
    write_json(output / "baseline.json", {"mean": sum(grades) / len(grades), "label": label})
    return BaselineRater(output, config.as_dict()), {}


def fit_features(config: TrainConfig, data: Data, output: Path) -> tuple[Rater, dict[str, Any]]:
    """Features of every row, then ridge regression (cross-validated on train) or naive Bayes, or an MLP or boosted
    trees (early stopping on dev).
    """
    rows = data.all()
    if config.system == "features":
        extractor, features = fit_groups(config, data)
    else:
        extractor = _extractor(config, rows, data)
        features = extractor.rows(rows.edits)
    layers: Any
    head = config.head if config.system in ("cbow", "features") else "ridge"
    if head in ("mlp", "trees"):
        fit = _mlp if head == "mlp" else _trees
        layers, notes = fit(config, features, rows, extractor.rows(data.dev.edits), data.dev, output)
    elif head == "bayes":
        layers, notes = _bayes(features, rows), {}
    else:
        layers, notes = _ridge(config.alphas, features, rows, output)
    if not (output / "features").is_dir():
        with replacing(output / "features") as folder:
            extractor.save(folder)
    layers.save(output / (TREES if head == "trees" else HEAD))
    return FeatureRater.of(extractor, layers), notes


def _extractor(config: TrainConfig, rows: Rows, data: Data) -> Any:
    if config.system == "ngrams":
        return NGrams.fitted(rows.edits)
    if config.system == "ridge":
        return Sentences(_frozen(config.encoder, config.encodings))
    return Words(word_vectors(config, data))


def word_vectors(config: TrainConfig, data: Data) -> WordVectors:
    """The vectors of the file, or those of the rows' words from the encoder's embedding layer."""
    if config.vectors != "encoder":
        return _read_vectors(config.vectors)
    return WordVectors.of_encoder(config.encoder, texts_of(data))


def texts_of(data: Data) -> list[str]:
    """The words of every row."""
    edits = [edit for split in (data.all(), data.dev, data.test) if split is not None for edit in split.edits]
    return [f"{e.context} {e.word} {e.edit}" for e in edits]


def fit_groups(config: TrainConfig, data: Data) -> tuple[Groups, Any]:
    """The groups of features of a run, and those of its training rows."""
    names, rows, history = config.features.split("+"), data.all(), None
    sources: dict[str, Any] = {}
    if {"similarity", "words", "sentence"} & set(names):
        encodes = config.vectors == "encoder"
        sources["vectors"] = _frozen(config.encoder, config.encodings) if encodes else _read_vectors(config.vectors)
    if "lexicon" in names:
        sources["lexicon"] = WordVectors.read(_path(config.lexicon, "lexicon"))
    if "knowledge" in names:
        sources["graph"] = _read_graph(config.knowledge)
    if "cooccurrence" in names:
        sources["together"] = Together.counted(_lines(config.corpus) if config.corpus else sorted(set(rows.groups)))
    if "history" in names:
        sources["history"], history = History.fitted(rows.edits, rows.grades, rows.groups)
    groups = Groups(names, **sources)
    return groups, groups.rows(rows.edits, history)


def _path(path: str, name: str) -> Path:
    if not path:
        raise BadInput(f"--features {name} needs data: give --{name} PATH.")
    return Path(path).expanduser()


def _lines(corpus: str) -> list[str]:
    path = Path(corpus).expanduser()
    if not path.is_file():
        raise BadInput(f"corpus {path}: there is no such file.")
    if not any(map(str.isalnum, text := read_body(path))):
        raise BadInput(f"corpus {path}: there is no word in it.")
    return text.split("\n")


@lru_cache(maxsize=1)
def _read_graph(path: str) -> Graph:
    return Graph.read(_path(path, "knowledge"))


@lru_cache(maxsize=1)
def _read_vectors(path: str) -> WordVectors:
    return WordVectors.read(Path(path).expanduser())


@lru_cache(maxsize=2)
def _frozen(name: str, encodings: str) -> FrozenEncoder:
    """Cached, so that the folds of an ensemble encode each text once."""
    return FrozenEncoder(name, encodings=Path(encodings) if encodings else None)


def _ridge(alphas: Sequence[float], features: Any, rows: Rows, output: Path) -> tuple[Layers, dict[str, Any]]:
    """Ridge regression with the alpha of the lowest error over folds of whole headlines, refitted on all rows."""
    import numpy as np

    grades = np.array(rows.grades)
    rated = np.zeros((len(alphas), len(rows)))
    for held in fold_places(rows.groups, FOLDS, seed=0):
        others = np.setdiff1d(np.arange(len(rows)), held)
        for place, layers in enumerate(ridge_layers(features[others], grades[others], alphas)):
            rated[place, held] = layers(features[held])
    curve = [(alpha, rmse(column.tolist(), rows.grades)) for alpha, column in zip(alphas, rated, strict=True)]
    write_table(output / CURVES, ("alpha", "cross_validated_rmse"), curve)
    alpha, error = min(curve, key=lambda row: row[1])
    return ridge_layers(features, grades, [alpha])[0], {"alpha": alpha, "cross_validated_rmse": error}


def ridge_layers(features: Any, grades: Any, alphas: Sequence[float]) -> list[Layers]:
    """Ridge regression of `grades` on the columns of `features`, standardised unless sparse; one result per alpha."""
    import numpy as np
    from scipy.linalg import cho_factor, cho_solve
    from scipy.sparse import issparse
    from sklearn.linear_model import Ridge

    if issparse(features):
        fitted = [Ridge(alpha=alpha).fit(features, grades) for alpha in alphas]
        return [_one_layer({}, model.coef_, model.intercept_) for model in fitted]
    scaling = {"mean": features.mean(0), "scale": features.std(0) + 1e-6}
    standardised = (features - scaling["mean"]) / scaling["scale"]
    mean = grades.mean()
    products = (standardised.T @ standardised).astype(np.float64)
    targets = (standardised.T @ (grades - mean)).astype(np.float64)
    results = []
    for alpha in alphas:  # the matrix products dominate the time and are the same for every alpha
        weights = cho_solve(cho_factor(products + alpha * np.eye(len(products))), targets)
        results.append(_one_layer(scaling, weights, mean))
    return results


def _one_layer(scaling: dict[str, Any], weights: Any, bias: Any) -> Layers:
    import numpy as np

    tensors = {"weight0": np.asarray(weights, np.float64).reshape(-1, 1), "bias0": np.array([bias], np.float64)}
    return Layers(scaling | tensors)


def _mlp(
    config: TrainConfig, features: Any, rows: Rows, dev: Any, dev_rows: Rows, output: Path
) -> tuple[Layers, dict[str, Any]]:
    """An MLP with one hidden layer, of the epoch with the lowest RMSE on dev."""
    import numpy as np
    from sklearn.neural_network import MLPRegressor

    scaling = {"mean": features.mean(0), "scale": features.std(0) + 1e-6}
    standardised = (features - scaling["mean"]) / scaling["scale"]
    model = MLPRegressor(hidden_layer_sizes=(config.hidden,), learning_rate_init=config.lr, random_state=config.seed)
    curve: list[list[float]] = []
    best: dict[str, Any] = {}
    for epoch in range(1, config.epochs + 1):
        model.partial_fit(standardised, np.array(rows.grades))
        layers = {f"weight{i}": weight.copy() for i, weight in enumerate(model.coefs_)}
        layers |= {f"bias{i}": bias.copy() for i, bias in enumerate(model.intercepts_)}
        error = rmse(Layers(scaling | layers)(dev), dev_rows.grades)
        if not curve or error < min(row[2] for row in curve):
            best, best_epoch = layers, epoch
        curve.append([epoch, float(model.loss_), error])
        if epoch - best_epoch >= config.patience:
            break
    write_table(output / CURVES, ("epoch", "train_loss", "dev_rmse"), curve)
    return Layers(scaling | best), {"best_epoch": best_epoch, "epochs_run": len(curve), "seed": config.seed}


def _trees(
    config: TrainConfig, features: Any, rows: Rows, dev: Any, dev_rows: Rows, output: Path
) -> tuple[Trees, dict[str, Any]]:
    """Boosted trees, as many as have the lowest RMSE on dev."""
    library = xgboost()
    history: dict[str, dict[str, list[float]]] = {}
    booster = library.train(
        _BOOSTING | {"seed": config.seed},
        library.DMatrix(features, rows.grades),
        num_boost_round=2000,
        evals=[(library.DMatrix(dev, dev_rows.grades), "dev")],
        early_stopping_rounds=50,
        evals_result=history,
        verbose_eval=False,
    )
    curve = history["dev"]["rmse"]
    write_table(output / CURVES, ("trees", "dev_rmse"), list(enumerate(curve, 1)))
    trees = booster.best_iteration + 1
    return Trees(booster[:trees]), {"trees": trees}


_BOOSTING = {
    "objective": "reg:squarederror",
    "max_depth": 4,
    "eta": 0.05,
    "subsample": 0.7,
    "colsample_bytree": 0.5,
    "nthread": 2,
}


def few_trees(features: Any, grades: Any, seed: int) -> Trees:
    """Boosted trees for few columns, such as members' ratings."""
    library = xgboost()
    settings = _BOOSTING | {"max_depth": 3, "colsample_bytree": 1.0, "min_child_weight": 20, "seed": seed}
    return Trees(library.train(settings, library.DMatrix(features, grades), num_boost_round=100))


def _bayes(features: Any, rows: Rows) -> Bayes:
    """Naive Bayes: the mean and variance of every feature among the rows of each mean grade, to a fifth."""
    import numpy as np
    from sklearn.naive_bayes import GaussianNB

    model = GaussianNB(var_smoothing=1e-3).fit(features, np.rint(np.array(rows.grades) * 5).astype(int))
    return Bayes(
        {"grade": model.classes_ / 5, "prior": model.class_prior_, "mean": model.theta_, "variance": model.var_}
    )


def fold_places(groups: Sequence[str], folds: int, seed: int) -> list[Any]:
    """The indices of each fold's rows; a headline with all its edits is in one fold."""
    import random

    import numpy as np

    names = sorted(set(groups))
    random.Random(seed).shuffle(names)
    fold_of = {name: i % folds for i, name in enumerate(names)}
    codes = np.array([fold_of[group] for group in groups])
    by_fold = (np.flatnonzero(codes == fold) for fold in range(folds))
    return [places for places in by_fold if len(places)]
