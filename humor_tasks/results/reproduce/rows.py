"""Rows that can be reproduced, from `reproduce.toml` of each dataset card: an array of tables named `row`.

An entry with `each`, a list of tables, is one row for each of them, with their values at {NAME} in its texts. The table
`rows` says what is known of the rows that the figures are of; see `corpora`.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_type_hints

from humor_tasks.datasets_cards import folder, names
from humor_tasks.errors import BadInput, check_choice, nearest
from humor_tasks.files.reading import read_body
from humor_tasks.papers.published import Figure, published
from humor_tasks.results.reproduce.corpora import Known, read_known

FILE = "reproduce.toml"
BASES = {
    "digits": "half a unit of the last printed digit: the value follows from rows, labels or a submission",
    "weights": "five of the 2,691 items: the value follows from public weights, up to precision and resizing",
    "seeds": "the range of RMSE of fine-tuned runs measured on dev (.523 to .528); the paper prints one run, no spread",
    "error": "one standard error of a mean over the pairs of test; the paper prints one run, no spread",
    "items": "two standard errors of a mean over the items, at most; the paper prints no spread",
    "texts": "a guess: about a tenth of the printed values; the paper prints no spread",
    "percent": "five per cent of the value; the paper prints no spread. The value here is by the released count "
    "n_expl_toks, a token more an explanation than `word_perplexity` has",
    "about": "a sixth of the value, of which the paper says only 'about'",
    "contests": "two standard errors over the 91 held-out contests, on which the rows are run instead",
}
"""What a tolerance comes from."""
RECIPES = ("random", "majority", "mean", "labels", "votes", "people", "agreement", "model", "predictions", "perplexity")


@dataclass(frozen=True)
class Row:
    """A published row: figures of one system on one benchmark, and how to compute them.

    figures: the entries of published.toml whose fields have the values (or one of the listed values) that `figures` in
    the file gives.
    recipe: `random` is the expectation of a random choice; `majority` and `mean` give every item the most frequent
    label or the mean rating of the training rows; `labels` counts the human labels in `file`, a file of the benchmark
    `labels`; `votes` only checks whether some votes have the figures; `people` needs people who answer the items;
    `agreement` reads people's votes on pairs, or the JSON of `people agreement`;
    `model` runs a model that the user names; `predictions` scores a file or a log of the user's; `perplexity` reads the
    metrics of a training or lm-eval's results.
    tolerance: metric -> the largest difference that counts as reproduced. basis: what it comes from, a name in BASES.
    command: the command that computes the row in full. parameters: parameters of the benchmark, as published. needs:
    what the command takes, in words. retired: the day on which the model's provider shut it down. known: what is known
    of the rows of its figures.
    """

    name: str
    card: str
    figures: tuple[Figure, ...]
    recipe: str
    tolerance: Mapping[str, float]
    basis: str
    command: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    file: str | None = None
    labels: str | None = None
    retired: str | None = None
    known: Known | None = None

    @property
    def benchmark(self) -> str:
        """The benchmark of all figures."""
        return self.figures[0].benchmark


@cache
def rows() -> Mapping[str, Row]:
    """Every row by name, in the order of the cards."""
    by_name: dict[str, Row] = {}
    for card in names():
        path = folder(card) / FILE
        for row in read_rows(path, card) if path.is_file() else ():
            if row.name in by_name:
                raise BadInput(f"{path}: row {row.name} is also in {by_name[row.name].card}.")
            by_name[row.name] = row
    return MappingProxyType(by_name)


def find_row(name: str) -> Row:
    """The row of this name. Raises BadInput with the closest name for an unknown one."""
    if name not in rows():
        raise BadInput(f"there is no row '{name}'; see humor-tasks reproduce --list.{nearest(name, rows())}")
    return rows()[name]


def read_rows(path: Path, card: str) -> list[Row]:
    """The rows of one file. Raises BadInput naming the file and the row where an entry is malformed."""
    try:
        listed = tomllib.loads(read_body(path))
    except tomllib.TOMLDecodeError as problem:
        raise BadInput(f"{path}: is no TOML ({problem}).") from None
    entries = [filled for entry in listed["row"] for filled in _each(entry)]
    found = [_row(entry, card, f"{path}, row {entry.get('name', i)}") for i, entry in enumerate(entries, 1)]
    known = read_known(listed.get("rows", {}), str(path))
    return [replace(row, known=known.get(row.labels or row.benchmark)) for row in found]


def _each(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of an entry: itself, or one for each of `each`."""

    def filled(value: Any, values: Mapping[str, str]) -> Any:
        if isinstance(value, Mapping):
            return {name: filled(part, values) for name, part in value.items()}
        if isinstance(value, list):
            return [filled(part, values) for part in value]
        for name, text in values.items() if isinstance(value, str) else ():
            value = value.replace(f"{{{name}}}", text)
        return value

    shared = {name: value for name, value in entry.items() if name != "each"}
    yield from (filled(shared, values) for values in entry.get("each", [{}]))


def _row(entry: Mapping[str, Any], card: str, where: str) -> Row:
    for name in entry:
        check_choice(f"{where}, field", name, {field.name for field in fields(Row)} - {"card", "known"})
    if missing := {"name", "figures", "recipe", "tolerance", "basis", "command"} - entry.keys():
        raise BadInput(f"{where}: has no {sorted(missing)[0]}.")
    check_choice(f"{where}, recipe", entry["recipe"], RECIPES)
    check_choice(f"{where}, basis", entry["basis"], BASES)
    chosen = _figures(entry["figures"], where)
    tolerance = _tolerance(entry["tolerance"], chosen, where)
    retired = [f"the model, which was shut down on {day}"] if (day := entry.get("retired")) else []
    needs = (*entry.get("needs", ()), *retired)
    optional = {name: entry[name] for name in ("parameters", "file", "labels", "retired") if name in entry}
    name, recipe, basis, command = (entry[each] for each in ("name", "recipe", "basis", "command"))
    return Row(name, card, chosen, recipe, tolerance, basis, command, needs=needs, **optional)


def _tolerance(given: Any, figures: tuple[Figure, ...], where: str) -> dict[str, float]:
    """A number for all figures, or a table with one for each metric."""
    by_metric = given if isinstance(given, Mapping) else {figure.metric: given for figure in figures}
    if set(by_metric) != {figure.metric for figure in figures}:
        raise BadInput(f"{where}: tolerance has {sorted(by_metric)}; the figures have other metrics.")
    for value in by_metric.values():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            raise BadInput(
                f"{where}: tolerance is {value!r}; it must be a number above 0, or a table with one a metric."
            )
    return {name: float(value) for name, value in by_metric.items()}


def _figures(wanted: Mapping[str, Any], where: str) -> tuple[Figure, ...]:
    for name in wanted:
        check_choice(f"{where}, figures", name, get_type_hints(Figure))
    values = {name: value if isinstance(value, list) else [value] for name, value in {"study": None, **wanted}.items()}
    figures = tuple(f for f in published() if all(getattr(f, name) in among for name, among in values.items()))
    if not figures:
        raise BadInput(f"{where}: no published figure has {dict(wanted)}.")
    if len({f.benchmark for f in figures}) > 1 or len({f.estimate for f in figures}) < len(figures):
        raise BadInput(f"{where}: {dict(wanted)} selects several figures of one metric; name their source or setting.")
    return figures
