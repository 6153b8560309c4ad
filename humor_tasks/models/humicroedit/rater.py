"""The interface of all trained systems, and loading of a run folder."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.reading import json_object
from humor_tasks.models.folders import CONFIG, METRICS
from humor_tasks.models.humicroedit.texts import Edit, as_edit, prepared

# Module and class of each system's rater; each is called with (folder, config).
_RATERS = {
    "baseline": ("rater", "BaselineRater"),
    "cbow": ("features", "FeatureRater"),
    "ridge": ("features", "FeatureRater"),
    "ngrams": ("features", "FeatureRater"),
    "features": ("features", "FeatureRater"),
    "vectors": ("network", "NetworkRater"),
    "encoder": ("network", "NetworkRater"),
    "pair": ("network", "NetworkRater"),
    "grades": ("features", "EnsembleRater"),
    "ensemble": ("features", "EnsembleRater"),
}
SYSTEMS = tuple(_RATERS)


def text_of(config: dict[str, Any]) -> str:
    """The variants of the text that a system sees; members of an ensemble have their own."""
    return "" if _RATERS[config["system"]][1] == "EnsembleRater" else str(config.get("text", ""))


class Rater:
    """A model that rates edited headlines: the expected mean grade of the judges, not clipped to 0..3.

    Subclasses define `ratings`. Each distinct headline is rated once. A headline is an object with before, word, edit
    and after, or these four texts.
    """

    name = ""
    text = ""
    """The variants of the text that the system was trained on; see `prepared`."""

    def __init__(self) -> None:
        self.cache: dict[Edit, float] = {}

    def ratings(self, edits: Sequence[Edit]) -> list[float]:
        """Ratings of validated headlines."""
        raise NotImplementedError

    def rate(self, headlines: Sequence[Any]) -> list[float]:
        """One rating per headline."""
        edits = [prepared(as_edit(headline), self.text) for headline in headlines]
        if new := [edit for edit in dict.fromkeys(edits) if edit not in self.cache]:
            self.cache.update(zip(new, self.ratings(new), strict=True))
        return [self.cache[edit] for edit in edits]

    def rate_groups(self, groups: Sequence[Sequence[Any]]) -> list[list[float]]:
        """`rate` for groups of headlines."""
        ratings = iter(self.rate([headline for group in groups for headline in group]))
        return [[next(ratings) for _ in group] for group in groups]

    def prefer(self, first: Sequence[Any], second: Sequence[Any]) -> list[int]:
        """1 or 2 per pair: the headline with the higher rating, the first on a tie."""
        if len(first) != len(second):
            raise BadInput(f"pairs need two lists of equal length; these have {len(first)} and {len(second)}.")
        rated = self.rate([*first, *second])
        return [1 if a >= b else 2 for a, b in zip(rated[: len(first)], rated[len(first) :], strict=True)]


class BaselineRater(Rater):
    """Constant predictions: the mean grade of the train split, and its more frequent label for pairs."""

    def __init__(self, folder: Path, config: dict[str, Any]) -> None:
        super().__init__()
        values = json_object(folder / "baseline.json")
        self.mean, self.label = float(values["mean"]), int(values["label"])

    def ratings(self, edits: Sequence[Edit]) -> list[float]:
        """See `Rater.rate`."""
        return [self.mean] * len(edits)

    def prefer(self, first: Sequence[Any], second: Sequence[Any]) -> list[int]:
        """The more frequent label for every pair."""
        super().prefer(first, second)
        return [self.label] * len(first)


def load(folder: str | Path, unfinished: bool = False) -> Rater:
    """The rater of a finished run folder. Raises BadInput naming what is missing where it is not a complete run folder.

    unfinished: used by training, which predicts before it writes the metrics.
    """
    home = Path(folder).expanduser()
    if not (home / CONFIG).is_file():
        raise BadInput(f"{home}: is not a run folder of `humor-tasks train humicroedit` (it has no {CONFIG}).")
    config = json_object(home / CONFIG)
    system = check_choice(f"{home / CONFIG}: system", str(config.get("system")), SYSTEMS)
    if not unfinished and not (home / METRICS).is_file():
        raise BadInput(f"{home}: the training is not finished; run its command again to resume it.")
    module, name = _RATERS[system]
    try:
        rater: Rater = getattr(importlib.import_module(f"{__package__}.{module}"), name)(home, config)
    except ModuleNotFoundError as problem:
        raise BadInput(f"{home}: needs the extra 'train': pip install 'humor-tasks[train]' ({problem}).") from None
    except OSError as problem:
        raise BadInput(f"{home}: the run folder is incomplete ({problem}).") from None
    rater.name, rater.text = f"humicroedit/{home.name}", text_of(config)
    return rater
