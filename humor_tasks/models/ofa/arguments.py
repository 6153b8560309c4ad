"""Conversion of a harness's generation arguments to OFA's settings. It imports no torch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from humor_tasks.models.ofa.settings import GenerationSettings


def settings_for(
    base: GenerationSettings,
    most: int,
    max_tokens: int | None = None,
    temperature: float | None = None,
    seed: int | None = None,
    top_p: float | None = None,
    top_k: int | None = None,
) -> GenerationSettings:
    """`base` with the values of a request. A temperature above 0 selects sampling; 0 or None decodes as `base` does.

    max_tokens: limited to `most`, the number of positions of the network. Raises BadInput for values out of range.
    """
    changes: dict[str, Any] = {}
    if max_tokens is not None:
        changes["max_len"] = min(max_tokens, most)
        changes["min_len"] = min(base.min_len, changes["max_len"])
    if temperature is not None and temperature != 0:
        drawn = {"seed": seed, "top_p": top_p, "top_k": top_k}
        changes |= {"sample": True, "beams": 1, "temperature": temperature}
        changes |= {name: value for name, value in drawn.items() if value is not None}
    return replace(base, **changes)
