"""The rows of a finished run, opened again from the dataset that the run names."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.options import ALL, declared, read_parameters
from humor_tasks.errors import BadInput
from humor_tasks.logs import FinishedRun
from humor_tasks.rows.records import Record


def logged_rows(run: FinishedRun) -> Sequence[Record]:
    """The rows of a run, opened again with the parameters in its signature.

    Raises BadInput where they are not on this machine, cannot be opened, or have another fingerprint than the run's.
    """
    dataset = str(run.source.get("dataset", ""))
    if run.benchmark is None or not dataset or (dataset != "sample" and not Path(dataset).is_dir()):
        raise BadInput(f"its dataset ({dataset or 'which it does not name'}) is no folder on this machine")
    benchmark = find_benchmark(run.benchmark)
    names = {parameter.name for parameter in declared(benchmark.options)} - {"prompts", "cot"}
    parameters = {name: value for name, value in run.signature.items() if name in names} | {"dataset": dataset}
    parameters |= {"prompts": ALL} if run.options.get("prompts") == ALL else {}  # whose records have ids of their own
    if parameters.get("setting") == "described":  # by the solver describe_first; the rows are those with pictures
        parameters["setting"] = "pixels"
    with warnings.catch_warnings(action="ignore"):
        opened = benchmark.open(**read_parameters(benchmark.options, benchmark.name, list(parameters.items())))
    if opened.data.provenance.get("fingerprint") != run.source.get("fingerprint"):
        raise BadInput(f"the rows of {dataset} are not those of the run: they have another fingerprint")
    return opened.records
