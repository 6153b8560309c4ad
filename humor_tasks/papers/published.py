"""Published figures: values of systems and people that the papers print, from `published.toml` of each dataset card.

The file is an array `figure` of tables; its comments name the papers. A value is in the unit of this package's metric
of that name, so that it can be compared with an estimate. A whole table of a paper may stand in an array `table`:
`columns` lists "BENCHMARK METRIC", `rows` has the values of each system, and the other fields are those of every
figure, with the system's name at {system}.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from humor_tasks.datasets_cards import folder, names
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.reading import read_body

Kind = Literal["model", "human", "baseline"]
FILE = "published.toml"
GRADERS = "graders"
BOUNDS = ("<", "<=")


@dataclass(frozen=True)
class Figure:
    """One published value.

    benchmark, metric: names of this package. system: the row of the table, with how it was prompted or trained. kind:
    model, human or baseline. value: in the metric's unit. source: paper, table and row. n: number of items or ratings.
    setting: the input shown, or what else sets the value apart. shots: number of worked examples. split, fold: as in
    the benchmark's parameters; `all` is the mean of five folds. part: the part of the data, as in METRIC_PART.
    protocol: other parameters of the benchmark, and `graders`, as NAME=VALUE with commas. study: the command that
    computes it where no run of the benchmark does, such as `analyse`; metric is then a quantity of that command. bound:
    `<` or `<=` where the paper only says that the value is below or not above this one. None: not stated, or does not
    apply.
    """

    benchmark: str
    metric: str
    system: str
    kind: str
    value: float
    source: str
    n: int | None = None
    setting: str | None = None
    shots: int | None = None
    split: str | None = None
    fold: str | None = None
    part: str | None = None
    protocol: str | None = None
    study: str | None = None
    bound: str | None = None

    @property
    def declared(self) -> dict[str, str]:
        """The protocol by the benchmark's parameters, as far as it is stated; a bare setting is of `setting`."""
        named = {name: str(value) for name in ("split", "fold", "shots") if (value := getattr(self, name)) is not None}
        settings = [*([self.setting] if self.setting else []), *(self.protocol.split(", ") if self.protocol else [])]
        pairs = (setting.partition("=") for setting in settings)
        return named | {name if equals else "setting": value if equals else name for name, equals, value in pairs}

    @property
    def estimate(self) -> str:
        """The name of the estimate that the value compares with: METRIC, or METRIC_PART."""
        return f"{self.metric}_{self.part}" if self.part else self.metric


_NUMBERS: Mapping[str, tuple[type, ...]] = {"value": (int, float), "n": (int,), "shots": (int,)}
_REQUIRED = [f.name for f in dataclasses.fields(Figure) if f.default is dataclasses.MISSING]


def published(benchmark: str | None = None, study: str | None = None) -> tuple[Figure, ...]:
    """All published figures, or those of one benchmark or one study, in the order of the cards and their files."""
    return tuple(f for f in _all() if benchmark in (None, f.benchmark) and study in (None, f.study))


@cache
def _all() -> tuple[Figure, ...]:
    paths = (folder(name) / FILE for name in names())
    return tuple(figure for path in paths if path.is_file() for figure in read_published(path))


def read_published(path: Path) -> tuple[Figure, ...]:
    """The figures of one file. Raises BadInput naming the file and the figure for what is no figure or stands twice."""
    try:
        listed = tomllib.loads(read_body(path))
    except tomllib.TOMLDecodeError as problem:
        raise BadInput(f"{path}: is no TOML ({problem}).") from None
    entries, tables = listed.pop("figure", None), listed.pop("table", [])
    if not isinstance(entries, list) or not isinstance(tables, list) or listed:
        raise BadInput(f"{path}: must hold the array `figure` and nothing else.")
    entries += [entry for i, table in enumerate(tables, 1) for entry in _entries(table, f"{path}, table {i}")]
    found: list[Figure] = []
    places: dict[Figure, int] = {}
    for i, entry in enumerate(entries, 1):
        where = f"{path}, figure {i}"
        figure = _figure(entry, where)
        first = places.setdefault(dataclasses.replace(figure, value=0.0), i)
        if first != i:
            raise BadInput(f"{where}: repeats figure {first} ({figure.source}, {figure.estimate}).")
        found.append(figure)
    return tuple(found)


def _entries(table: Any, where: str) -> Iterator[dict[str, Any]]:
    shared = dict(table)
    columns, rows = shared.pop("columns", ()), shared.pop("rows", {})
    for system, values in rows.items():
        if len(values) != len(columns):
            raise BadInput(f"{where}: {system} has {len(values)} values for {len(columns)} columns.")
        texts = {name: value.replace("{system}", system) for name, value in shared.items()}
        for column, value in zip(columns, values, strict=True):
            benchmark, _, metric = column.partition(" ")
            yield texts | {"benchmark": benchmark, "metric": metric, "system": system, "value": value}


def _figure(entry: Any, where: str) -> Figure:
    if not isinstance(entry, Mapping):
        raise BadInput(f"{where}: is {entry!r}; it must be a table.")
    if missing := [name for name in _REQUIRED if name not in entry]:
        raise BadInput(f"{where}: has no {missing[0]}.")
    for name, value in entry.items():
        check_choice(f"{where}, field", name, (f.name for f in dataclasses.fields(Figure)))
        numbers = _NUMBERS.get(name)
        fits = isinstance(value, numbers or str) and not isinstance(value, bool)
        if not fits or value == "" or (numbers and not math.isfinite(value)):
            raise BadInput(f"{where}: {name} is {value!r}; it must be {'a number' if numbers else 'text'}.")
    check_choice(f"{where}, kind", entry["kind"], get_args(Kind))
    check_choice(f"{where}, bound", entry.get("bound", "<"), BOUNDS)
    for each in entry.get("protocol", "=").split(", "):
        if "=" not in each:
            raise BadInput(f"{where}: protocol has {each!r}; it must be NAME=VALUE, NAME=VALUE.")
    return Figure(**{**entry, "value": float(entry["value"])})
