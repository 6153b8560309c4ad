"""Feature vectors of edited headlines, regressions on them (`ridge`, `cbow`, `ngrams`, `features`), stacked models."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.files.reading import json_object
from humor_tasks.models.humicroedit.groups import Groups, embedded
from humor_tasks.models.humicroedit.rater import Rater, load
from humor_tasks.models.humicroedit.resources import FrozenEncoder, WordVectors
from humor_tasks.models.humicroedit.texts import Edit, missing_extra
from humor_tasks.models.weight_files import check_weights

BATCH = 4096
HEAD, TREES = "head.safetensors", "trees.json"


class Sentences:
    """`ridge`: embeddings of both headlines and both words, and three elementwise products of these."""

    def __init__(self, encoder: FrozenEncoder) -> None:
        self.encoder = encoder

    def rows(self, edits: Sequence[Edit]) -> Any:
        """Features [edits, 7 x dimensions]."""
        import numpy as np

        texts = [[getattr(e, name) for e in edits] for name in ("edited", "original", "edit", "word")]
        new, old, edit, word = map(self.encoder.embed, texts)
        return np.hstack([new, old, edit, word, new * old, edit * word, new * edit])

    def save(self, folder: Path) -> None:
        """Save the encoder."""
        self.encoder.save(folder)


class Words:
    """`cbow`: the vectors of the replacing and the replaced word, and the mean vector of the words around them."""

    def __init__(self, vectors: WordVectors) -> None:
        self.vectors = vectors

    def rows(self, edits: Sequence[Edit]) -> Any:
        """Features [edits, 3 x dimensions]."""
        return embedded(self.vectors, edits, ("edit", "word", "context"))

    def save(self, folder: Path) -> None:
        """Save the word vectors."""
        self.vectors.save(folder)


# One vectorizer per view: its input text, its unit, and its range of n-gram lengths.
_VIEWS = {
    "edit": ("edit", "char_wb", (2, 5)),
    "edited": ("edited", "word", (1, 2)),
    "word": ("word", "word", (1, 1)),
}


class NGrams:
    """`ngrams`: TF-IDF of the replacing word's character n-grams, the edited headline's words and the replaced word."""

    def __init__(self, views: dict[str, Any]) -> None:
        self.views = views

    @classmethod
    def fitted(cls, edits: Sequence[Edit]) -> NGrams:
        """Vectorizers fitted on `edits`."""
        views = {name: _vectorizer(name).fit([getattr(e, _VIEWS[name][0]) for e in edits]) for name in _VIEWS}
        return cls(views)

    def rows(self, edits: Sequence[Edit]) -> Any:
        """Features [edits, all n-grams], sparse."""
        from scipy.sparse import hstack

        views = [view.transform([getattr(e, _VIEWS[name][0]) for e in edits]) for name, view in self.views.items()]
        return hstack(views).tocsr()

    def save(self, folder: Path) -> None:
        """Save the vocabulary of each view with its IDF weights."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, view in self.views.items():
            weights = {
                term: float(view.idf_[place]) for term, place in sorted(view.vocabulary_.items(), key=lambda x: x[1])
            }
            (folder / f"{name}.json").write_text(json.dumps(weights, ensure_ascii=False), encoding="utf-8")

    @classmethod
    def saved(cls, folder: Path) -> NGrams:
        """Load what `save` wrote."""
        import numpy as np

        views = {}
        for name in _VIEWS:
            weights = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
            views[name] = _vectorizer(name, {term: place for place, term in enumerate(weights)})
            views[name].idf_ = np.array(list(weights.values()))
        return cls(views)


def _vectorizer(name: str, vocabulary: dict[str, int] | None = None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    _, unit, lengths = _VIEWS[name]
    return TfidfVectorizer(analyzer=unit, ngram_range=lengths, sublinear_tf=True, vocabulary=vocabulary)


class Layers:
    """Standardisation, then dense layers with ReLU between them; ridge regression has one layer."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self.tensors = tensors
        self.depth = sum(name.startswith("weight") for name in tensors)

    def __call__(self, rows: Any) -> Any:
        """Ratings [rows]."""
        import numpy as np

        values = rows if "mean" not in self.tensors else (rows - self.tensors["mean"]) / self.tensors["scale"]
        for layer in range(self.depth):
            values = (np.maximum(values, 0) if layer else values) @ self.tensors[f"weight{layer}"]
            values = np.asarray(values) + self.tensors[f"bias{layer}"]
        return values[:, 0]

    def save(self, path: Path) -> None:
        """Save the tensors."""
        import numpy as np
        from safetensors.numpy import save_file

        save_file({name: np.ascontiguousarray(tensor) for name, tensor in self.tensors.items()}, path)


class Trees:
    """Boosted regression trees (XGBoost)."""

    def __init__(self, booster: Any) -> None:
        self.booster = booster

    def __call__(self, rows: Any) -> Any:
        """Ratings [rows]."""
        return self.booster.inplace_predict(rows)

    def save(self, path: Path) -> None:
        """Save the trees as JSON."""
        self.booster.save_model(path)

    @classmethod
    def saved(cls, path: Path) -> Trees:
        """Load what `save` wrote."""
        booster = xgboost().Booster()
        booster.load_model(path)
        return cls(booster)


def xgboost() -> Any:
    """The library. Raises BadInput where it is not installed."""
    try:
        import xgboost as library
    except ModuleNotFoundError as problem:
        raise missing_extra(problem) from None
    return library


class Bayes:
    """Naive Bayes regression: the mean of the grades, weighted by their probabilities given normal features."""

    def __init__(self, tensors: dict[str, Any]) -> None:
        self.tensors = tensors  # grade, prior: [grades]; mean, variance: [grades, columns]

    def __call__(self, rows: Any) -> Any:
        """Ratings [rows]."""
        import numpy as np
        from scipy.special import softmax

        mean, variance = self.tensors["mean"], self.tensors["variance"]
        likelihoods = -0.5 * (np.log(variance).sum(1) + ((rows[:, None, :] - mean[None]) ** 2 / variance[None]).sum(2))
        return softmax(np.log(self.tensors["prior"]) + likelihoods, axis=1) @ self.tensors["grade"]

    save = Layers.save


def head_of(folder: Path, config: dict[str, Any]) -> Any:
    """The regression of a run folder."""
    from safetensors.numpy import load_file

    if config.get("head") == "trees":
        return Trees.saved(folder / TREES)
    check_weights(folder / HEAD, "humicroedit")
    tensors = load_file(folder / HEAD)
    return Bayes(tensors) if config.get("head") == "bayes" else Layers(tensors)


class FeatureRater(Rater):
    """The features and layers of a run folder."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        super().__init__()
        home = folder / "features"
        opened: dict[str, Callable[[], Any]] = {
            "ridge": lambda: Sentences(FrozenEncoder(str(home))),
            "ngrams": lambda: NGrams.saved(home),
            "cbow": lambda: Words(WordVectors.saved(home)),
            "features": lambda: Groups.saved(home),
        }
        self.features: Any = opened[config["system"]]()
        self.layers = head_of(folder, config)

    @classmethod
    def of(cls, features: Any, layers: Any) -> FeatureRater:
        """A rater from features and a regression in memory, as in training."""
        rater = cls.__new__(cls)
        Rater.__init__(rater)
        rater.features, rater.layers = features, layers
        return rater

    def ratings(self, edits: Sequence[Edit]) -> list[float]:
        """See `Rater.rate`."""
        values: list[float] = []
        for start in range(0, len(edits), BATCH):
            values += [float(x) for x in self.layers(self.features.rows(edits[start : start + BATCH]))]
        return values


# ---- stacks: members, each the mean of its models, combined by weights or by boosted trees --------

STACK = "stack.json"


class Weighted:
    """bias + sum over members of weight x rating."""

    def __init__(self, weights: Sequence[float], bias: float = 0.0) -> None:
        self.weights, self.bias = list(weights), bias

    def __call__(self, rows: Any) -> Any:
        """Ratings [rows] of the members' ratings [rows, members]."""
        import numpy as np

        return rows @ np.array(self.weights) + self.bias


class EnsembleRater(Rater):
    """The members' ratings, combined; one model at a time is in memory. A member without weight is not loaded."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        super().__init__()
        self.folder = folder
        stack = json_object(folder / STACK)
        members = [member for member in stack["members"] if member["weight"] != 0]
        self.models: list[list[str]] = [member["models"] for member in members]
        trees = folder / TREES
        self.combine = (
            Trees.saved(trees) if trees.is_file() else Weighted([m["weight"] for m in members], float(stack["bias"]))
        )

    def ratings(self, edits: Sequence[Edit]) -> list[float]:
        """See `Rater.rate`."""
        import numpy as np

        if not self.models:
            return [float(x) for x in self.combine(np.zeros((len(edits), 0)))]
        members = [[load(self.folder / model).rate(edits) for model in models] for models in self.models]
        return [float(x) for x in self.combine(np.stack([np.mean(models, axis=0) for models in members], axis=1))]
