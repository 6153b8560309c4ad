"""The check that a model was not trained on the rows that it answers for, before and while a run asks it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from inspect_ai.model import Model
from inspect_ai.solver import TaskState

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.data.trained_on import CHECKPOINT, check_unseen
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.client import local_files
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.providers.local import LocalAPI

HOSTED = "ft:"  # begins the names of models that were fine-tuned at their provider


def check_model(model: Model | None, split: str, units: Collection[str]) -> None:
    """Raise BadInput where the model was trained on these units; see `data.trained_on.check_unseen`.

    The models of other providers are checked too, where their name or an argument is a folder.
    """
    if model is None:
        return
    places: list[str | Path] = [*local_files(model.name, model.model_args)]
    if isinstance(model.api, LocalAPI):
        tells = model.api.trained
    else:
        tells = model.name.startswith(HOSTED) or any((Path(place) / CHECKPOINT).is_file() for place in places)
    check_unseen(str(model), places, split, units, tells)


def check_sample(model: Model, state: TaskState) -> None:
    """Apply `check_model` to a sample of this package. Raises CannotRun."""
    told = state.metadata.get("humor_tasks", {})
    if "split" in told:
        try:
            check_model(model, told["split"], [find_benchmark(told["benchmark"]).unit(str(state.metadata["cluster"]))])
        except BadInput as problem:
            cannot_run(str(problem))
