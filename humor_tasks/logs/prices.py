"""Model prices: the dated list shipped with the package, or the user's own.

A price is the vendor's list price on the date in its entry. `HUMOR_TASKS_PRICES` names another file of the same format;
Inspect's `--model-cost-config` takes precedence over both.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.reading import read_body

VARIABLE = "HUMOR_TASKS_PRICES"
UNITS = {"currency": "USD", "unit": "million tokens"}
FIELDS = ("input", "output", "cache_read", "cache_write")


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens, as listed on the date `as_of` at the address `source`."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    as_of: str
    source: str

    def cost(self, input: int, output: int, cache_read: int = 0, cache_write: int = 0) -> float:
        """Cost in US dollars of these numbers of tokens; `input` excludes tokens read from or written to a cache."""
        parts = (self.input * input, self.output * output, self.cache_read * cache_read, self.cache_write * cache_write)
        return sum(parts) / 1e6


def read_prices(path: str | Path | None = None) -> dict[str, Price]:
    """Prices by Inspect's model name, from `path`, `HUMOR_TASKS_PRICES` or the packaged file, in this order.

    Raises BadInput naming the file and model for a price that is missing, negative or not a number.
    """
    where = Path(path or os.environ.get(VARIABLE) or Path(__file__).parent / "prices.toml").expanduser()
    try:
        listed = tomllib.loads(read_body(where))
    except BadInput as problem:
        raise BadInput(f"prices: {problem}") from None
    except tomllib.TOMLDecodeError as problem:
        raise BadInput(f"prices: {where} cannot be read ({problem}).") from None
    for name, only in UNITS.items():
        if listed.get(name, only) != only:
            raise BadInput(f"prices: {where}: {name} is {listed[name]!r}; it must be {only}.")
    models = listed.get("models", {})
    if not isinstance(models, dict) or not models:
        raise BadInput(f'prices: {where} has no table [models."PROVIDER/MODEL"].')
    return {name: _price(entry, f"prices: {where}, {name}") for name, entry in models.items()}


def _price(entry: Any, where: str) -> Price:
    if not isinstance(entry, Mapping):
        raise BadInput(f"{where}: must be a table with {', '.join(FIELDS)}.")
    for name in entry:
        check_choice(where, name, (*FIELDS, "as_of", "source"))
    numbers = {}
    for name in FIELDS:
        value = entry.get(name, entry.get("input"))  # a provider without a cache charges its input price
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
            raise BadInput(f"{where}: {name} is {value!r}; it must be dollars per million tokens.")
        numbers[name] = float(value)
    if "output" not in entry:
        raise BadInput(f"{where}: has no output price.")
    return Price(**numbers, as_of=str(entry.get("as_of", "-")), source=str(entry.get("source", "-")))
