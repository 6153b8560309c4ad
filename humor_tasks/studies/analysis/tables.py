"""Tables and estimates as Markdown and JSON; markup in names is escaped."""

from __future__ import annotations

import dataclasses
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from humor_tasks.scorers.estimate import Estimate


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [[safe(str(cell)) for cell in row] for row in (head, *rows)]
    shown = ["| " + " | ".join(line) + " |" for line in lines]
    return "\n".join([shown[0], "|" + "---|" * len(head), *shown[1:]])


def interval(e: Estimate | None, digits: int = 3, times: float = 1) -> str:
    """ "0.644 [0.551, 0.737]"; without an unknown interval, and "-" for an unknown value."""
    if e is None or math.isnan(e.value):
        return "-"
    value, low, high = (f"{times * x:.{digits}f}" for x in (e.value, e.low, e.high))
    return value if math.isnan(e.low) else f"{value} [{low}, {high}]"


def percent(e: Estimate | None) -> str:
    """ "84.7"; "-" for an unknown value."""
    return "-" if e is None or math.isnan(e.value) else f"{100 * e.value:.1f}"


def plain(value: Any) -> Any:
    """Convert to JSON types: dataclasses become objects, and numbers that are not finite become None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def safe(text: str) -> str:
    """`text` on one line with Markdown escaped, without invisible characters: control, bidi and other format ones."""
    seen = "".join(c for c in text if c.isspace() or unicodedata.category(c) not in ("Cc", "Cf"))
    return re.sub(r"([\\`*_<>|$~&])", r"\\\1", " ".join(seen.split()))
