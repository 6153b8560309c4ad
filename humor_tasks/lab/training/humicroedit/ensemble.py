"""Stacking: every member is trained once per fold, without that fold's headlines.

A member's held-out prediction of a training row is that of the model that was not trained on the row's headline; the
stacking weights are fitted on these only. For other rows a member predicts the mean over the folds' models and, with
`whole`, a model trained on all of train. Each model is an ordinary run folder, members/NAME/fold-N or
members/NAME/whole, so finished ones are not trained again.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from humor_tasks.contract.options import Parameter, parameters_of
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.writing import write_json, write_table
from humor_tasks.lab.training.humicroedit.data import Data, Rows, rmse, write_predictions
from humor_tasks.lab.training.humicroedit.features import few_trees, fold_places
from humor_tasks.lab.training.humicroedit.settings import JUDGES, READ, TrainConfig
from humor_tasks.lab.training.run_folders import IS_MAIN, wait_for_everyone
from humor_tasks.models.folders import METRICS
from humor_tasks.models.humicroedit.features import STACK, TREES, EnsembleRater, Trees, Weighted
from humor_tasks.models.humicroedit.rater import Rater, load
from humor_tasks.rows import read_csv

Train = Callable[[TrainConfig, Path, Data, bool], dict[str, Any]]
"""The function that trains one run folder: `run.train`."""
HELD_OUT = "predictions_held_out.csv"
_VARIED = {"system", "seed", "funlines", "funlines_grades", "text"}.union(
    *(READ[name] for name in READ if name != "ensemble")
)


def fit_ensemble(
    config: TrainConfig, data: Data, output: Path, progress: bool, train: Train
) -> tuple[Rater, dict[str, Any]] | None:
    """The stacked rater, with its members trained by `train`.

    None where this process trained a part of the models and others are not finished.
    """
    import numpy as np

    members = grid_members(config)
    folds = fold_places(data.train.groups, config.folds, config.seed)
    if len(folds) < 2:
        raise BadInput(f"folds={config.folds}: train has one headline only, and folds hold out whole headlines.")
    models = [*(f"fold-{fold}" for fold in range(len(folds))), *(["whole"] if config.whole else [])]
    jobs = [(name, place) for name in members for place in range(len(models))]
    for job, (name, place) in enumerate(tqdm(jobs, "members x folds", disable=not progress)):
        if _is_mine(job, config.part):
            held = folds[place] if place < len(folds) else None
            fit_model(members[name], data, held, output / _model_path(name, models[place]), progress, train)
    if not all(is_fitted(output / _model_path(name, models[place])) for name, place in jobs):
        return None
    held_out = np.zeros((len(data.train), len(members)))
    for column, name in enumerate(members):
        for fold, places in enumerate(folds):
            path = output / _model_path(name, models[fold]) / HELD_OUT
            held_out[places, column] = list(_read(path, data.train.only(places)).values())
    return _stack(config, data, output, members, held_out, models)


def grid_members(config: TrainConfig) -> dict[str, TrainConfig]:
    """Every combination of the grid's values, and the members of `also`, by name.

    Combinations with equal values of all used settings are one.
    """
    axes = [_axis("grid", line, line) for line in config.grid]
    if not any(axis[0][0] == "system" for axis in axes):
        raise BadInput("grid: it must name the systems to train, such as --grid system=pair,ridge.")
    members: dict[str, TrainConfig] = {}
    also = [[_axis("also", part, line)[0] for part in line.split(",")] for line in config.also]
    for chosen in (*itertools.product(*axes), *also):
        member = config.with_values(**{"grid": (), "also": (), "part": "", "system": "ridge"} | dict(chosen))
        if member.system in ("ensemble", "grades"):
            raise BadInput("grid: an ensemble cannot be a member of an ensemble.")
        used = member.as_dict()
        varied = {name: value for name, value in chosen if name in used and name != "system"}
        digest = hashlib.sha256(json.dumps(varied, sort_keys=True).encode()).hexdigest()[:8]
        members.setdefault(f"{member.system}-{digest}", member)
    return members


def _axis(what: str, text: str, line: str) -> list[tuple[str, Any]]:
    """The settings of NAME=VALUE,VALUE, with values of their fields' types."""
    known = parameters_of(TrainConfig)
    name, _, values = text.partition("=")
    check_choice(what, name, [field for field in known if field in _VARIED])
    if not values:
        raise BadInput(f"{what} {line}: write it as NAME=VALUE,{'' if what == 'grid' else 'NAME='}VALUE.")
    several = known[name].item
    read = [_value(several or known[name], value) for value in values.split(",")]
    return [(name, (value,) if several else value) for value in read]


def _value(parameter: Parameter, text: str) -> Any:
    kind = parameter.base
    try:
        if kind is bool:
            return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]
        return kind(text)
    except (KeyError, ValueError):
        raise BadInput(f"grid {parameter.name}={text}: is not a valid {kind.__name__}.") from None


def fit_model(member: TrainConfig, data: Data, held: Any, output: Path, progress: bool, train: Train) -> None:
    """Train `member` without the rows `held`, and write its predictions for them; with None, train on all rows."""
    if is_fitted(output):
        return
    out = set() if held is None else set(held.tolist())
    seen = data.train.only([i for i in range(len(data.train)) if i not in out])
    extra = data.extra if member.funlines else data.extra.only([])
    train(member, output, replace(data, train=seen, extra=extra), progress)
    if IS_MAIN and held is not None:
        rows = data.train.only(held)
        write_predictions(output / HELD_OUT, rows.ids, load(output).rate(rows.edits))
    wait_for_everyone()


def is_fitted(output: Path) -> bool:
    """Whether the model is trained and its held-out predictions are written."""
    return (output / (METRICS if output.name == "whole" else HELD_OUT)).is_file()


def _is_mine(job: int, part: str) -> bool:
    """Whether this process trains the job: of part I/N, every Nth from the Ith."""
    mine, parts = (int(number) for number in (part or "1/1").split("/"))
    return job % parts == mine - 1


def _stack(
    config: TrainConfig, data: Data, output: Path, members: dict[str, TrainConfig], held_out: Any, models: Sequence[str]
) -> tuple[Rater, dict[str, Any]]:
    """The best members per system and encoder, weighted by ridge regression on their held-out predictions."""
    import numpy as np

    grades = np.array(data.train.grades)
    names = list(members)
    single = [rmse(held_out[:, i], data.train.grades) for i in range(len(names))]
    chosen = _best_of_families(members, single, config.best)
    combine = fit_stack(held_out[:, chosen], grades, config)
    weights = combine.weights if isinstance(combine, Weighted) else [None] * len(chosen)
    stack = [
        {"name": names[i], "weight": weight, "models": [_model_path(names[i], model) for model in models]}
        for i, weight in zip(chosen, weights, strict=True)
    ]
    write_json(output / STACK, {"bias": getattr(combine, "bias", 0.0), "members": stack})
    if isinstance(combine, Trees):
        combine.save(output / TREES)
    rater = EnsembleRater(output, config.as_dict())
    dev = [_mean(output, [_model_path(name, model) for model in models], "dev", data.dev) for name in names]
    _fill_cache(rater, output, data)
    weight_of = dict(zip(chosen, weights, strict=True))
    table = [
        [name, json.dumps(members[name].as_dict()), single[i], rmse(dev[i], data.dev.grades), weight_of.get(i, "")]
        for i, name in enumerate(names)
    ]
    write_table(output / "members.csv", ("member", "config", "held_out_rmse", "dev_rmse", "weight"), table)
    notes = {
        "members": len(names),
        "chosen": len(chosen),
        "cross_validated_rmse": _cross_validated(config, data, held_out[:, chosen]),
    }
    return rater, notes


def fit_stack(held_out: Any, grades: Any, config: TrainConfig) -> Weighted | Trees:
    """How the members' ratings are combined."""
    from sklearn.linear_model import Ridge

    if config.stack == "trees":
        return few_trees(held_out, grades, config.seed)
    if config.stack == "mean":
        return Weighted([1 / held_out.shape[1]] * held_out.shape[1])
    fitted = Ridge(alpha=config.stack_alpha, positive=config.non_negative).fit(held_out, grades)
    return Weighted([float(weight) for weight in fitted.coef_], float(fitted.intercept_))


def _cross_validated(config: TrainConfig, data: Data, held_out: Any) -> float:
    """The stack's RMSE on train, with the stack fitted without the rows that it predicts."""
    import numpy as np

    grades, rated = np.array(data.train.grades), np.zeros(len(data.train))
    for held in fold_places(data.train.groups, config.folds, config.seed + 1):
        others = np.setdiff1d(np.arange(len(grades)), held)
        rated[held] = fit_stack(held_out[others], grades[others], config)(held_out[held])
    return rmse(rated.tolist(), data.train.grades)


def _best_of_families(members: dict[str, TrainConfig], errors: Sequence[float], best: int) -> list[int]:
    """Indices of the `best` members with the lowest error per system and encoder, in the order of the grid."""
    families: dict[tuple[str, str], list[int]] = {}
    for i, member in enumerate(members.values()):
        encoder = member.encoder if "encoder" in READ[member.system] else ""
        families.setdefault((member.system, encoder), []).append(i)
    return sorted(i for family in families.values() for i in sorted(family, key=lambda i: errors[i])[:best])


def _fill_cache(rater: EnsembleRater, output: Path, data: Data) -> None:
    """Fill the ensemble's cache for dev and test from its members' prediction files, so that no model runs twice."""
    import numpy as np

    for split, rows in (("dev", data.dev), ("test", data.test)):
        if rows is None:
            continue
        rated = np.array([_mean(output, models, split, rows) for models in rater.models]).reshape(-1, len(rows)).T
        rater.cache.update(zip(rows.edits, map(float, rater.combine(rated)), strict=True))


def _mean(output: Path, models: Sequence[str], split: str, rows: Rows) -> list[float]:
    """The mean over models of their predictions for `split`."""
    read = [_read(output / model / f"predictions_{split}_task-1.csv", rows) for model in models]
    return [sum(values) / len(models) for values in zip(*(list(column.values()) for column in read), strict=True)]


def _read(path: Path, rows: Rows) -> dict[str, float]:
    table = read_csv(path, ("id", "pred"))
    ratings = {row["id"]: table.number(i, "pred") for i, row in enumerate(table.rows)}
    if tuple(ratings) != rows.ids:
        raise BadInput(f"{path}: its rows are not those of the data; remove {path.parent} and train it again.")
    return ratings


def _model_path(name: str, model: str) -> str:
    return f"members/{name}/{model}"


# ---- one classifier per judge's grade ------------------------------------------------------------


def fit_grades(
    config: TrainConfig, data: Data, output: Path, progress: bool, train: Train
) -> tuple[Rater, dict[str, Any]]:
    """The system `grades` (IRLab DAIICT): classifiers of the judges' grades, averaged with a regression of the mean.

    The rater's members are `encoder` systems, each a run folder. Subtask 1's files list a headline's grades from the
    highest to the lowest, so the classifiers are of the highest grade, the second and so on, not of one person each.
    """
    members = []
    for judge in range(JUDGES + 1):
        folder = f"members/{f'judge-{judge}' if judge else 'mean'}"
        train(config.with_values(system="encoder", judge=judge), output / folder, data, progress)
        members.append({"name": folder, "weight": 0.5 / JUDGES if judge else 0.5, "models": [folder]})
    if IS_MAIN:
        write_json(output / STACK, {"bias": 0.0, "members": members})
    return EnsembleRater(output, config.as_dict()), {"members": len(members)}
