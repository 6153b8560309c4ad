"""What a model was trained on: the record in its folder, and the refusal to evaluate it on the same contests.

A unit is what rows share that must not be in training and in evaluation, such as a contest: "newyorker-712". The folds
of the caption contest are a cross-validation: each test contest is in the train split of other folds.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from functools import cache, lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

from humor_tasks._version import __version__
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.reading import parse_json, read_body
from humor_tasks.files.writing import write_json

logger = logging.getLogger(__name__)

RECORD = "trained_on.json"
FORMAT = 1
CHECKPOINT = "config.json"  # in every folder of weights that transformers reads
VALIDATION = ("validation", "dev")


def training(task: str, source: Mapping[str, Any], fold: str, units: Mapping[str, Collection[str]]) -> dict[str, Any]:
    """One training, for `write`. source: the provenance of the train split. units: split -> units.

    Validation counts because the weights are chosen by it. Other splits have no part in a training.
    """
    known = {name: source.get(name) for name in ("dataset", "revision", "fingerprint")}
    split_by_name = {
        split: sorted(set(split_units)) for split, split_units in units.items() if split in ("train", *VALIDATION)
    }
    return {"task": task, **known, "fold": fold, "units": split_by_name, "humor_tasks": __version__}


def write(folder: Path, last: Mapping[str, Any], base: str = "") -> None:
    """Write the record of a model's folder: the trainings of the model that it began from, `base`, and the last one."""
    write_json(folder / RECORD, {"format": FORMAT, "trainings": [*((base and trainings(base)) or ()), last]})


def trainings(place: str | Path) -> Sequence[Mapping[str, Any]] | None:
    """The trainings of the model in a folder, or in the folder of a weight file; None where there is no record.

    Raises BadInput for a damaged record.
    """
    try:
        path = _folder(place) / RECORD
        time = path.stat().st_mtime_ns
    except (OSError, RuntimeError, ValueError):  # a name of the hub, or no path
        return None
    return _read(path, time)


def _folder(place: str | Path) -> Path:
    path = Path(place).expanduser()
    return path.parent if path.is_file() else path  # the name of a hosted model is no file here


@lru_cache(maxsize=64)
def _read(path: Path, time: int) -> Sequence[Mapping[str, Any]]:
    record = parse_json(path, read_body(path))
    try:
        if record["format"] != FORMAT:
            raise ValueError(f"format {record['format']}")
        if not (named := [training_record["units"] for training_record in record["trainings"]]) or not all(
            map(_is_split, named)
        ):
            raise ValueError("no units")
        return [*record["trainings"]]
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise BadInput(
            f"{path}: is no record of a training ({problem!r:.100}); copy it again, or train again."
        ) from None


def _is_split(units: Any) -> bool:
    """Whether these are units by split, and at least one: without units every row would pass as unseen."""
    return any(units.values()) and all(
        isinstance(split_units, list) and all(isinstance(unit, str) for unit in split_units)
        for split_units in units.values()
    )


def check_unseen(who: str, places: Collection[str | Path], split: str, units: Collection[str], tells: bool) -> None:
    """Raise BadInput where the model `who` was trained on these units of a split to evaluate.

    places: the folders or weight files of the model. tells: whether to log a warning, once, where none has a record. A
    train split is evaluated on purpose. Validation rows are refused only where they were trained on.
    """
    if split.startswith("train"):
        return
    records = [record for place in places if (record := trainings(place)) is not None]
    if tells and not records:
        _tell(who)
    for training_record in (training_record for record in records for training_record in record):
        trained_units = training_record["units"]
        seen = set(trained_units.get("train", ())) if split in VALIDATION else set().union(*trained_units.values())
        if both := sorted(seen & set(units)):
            fold, dataset = training_record.get("fold"), training_record.get("dataset")
            remedy = f"Use fold={fold} of {dataset}, whose test split it has not seen; other folds need a model each"
            raise BadInput(
                f"model {who}: was trained on {listed('unit', both, most=3)} of the {split} split to evaluate: "
                f"memorised answers would count as correct. {remedy if fold else f'Use rows outside of {dataset}'}."
            )


@cache
def _tell(who: str) -> None:
    logger.warning(
        "model %s: has no record of what it was trained on (%s), so it is unknown whether it saw the rows to evaluate.",
        who,
        RECORD,
    )


def check_disjoint(where: str, clusters: Mapping[str, Collection[str]], what: str = "contest") -> None:
    """Raise BadInput where two splits share a cluster, such as a contest: memorised answers would count as correct.

    clusters: split -> its clusters. where: task, dataset or fold, for the message. what: the cluster's name.
    """
    for one, other in combinations(clusters, 2):
        if both := sorted(set(clusters[one]) & set(clusters[other])):
            raise BadInput(
                f"{where}: {listed(what, both, most=5)} in {one} and in {other}: memorised answers would count as "
                f"correct. A {what} must be in one split only."
            )
