"""Prices of models for Inspect's cost fields; Inspect itself includes none."""

from __future__ import annotations

from functools import lru_cache

from inspect_ai.model import ModelCost, ModelInfo, get_model_info, set_model_info

from humor_tasks.data.prices import read_prices
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.errors import cannot_run


@lru_cache(maxsize=1)
def register_prices() -> None:
    """Register the price list with Inspect, once per process; existing prices are not replaced."""
    try:
        prices = read_prices()
    except BadInput as problem:
        cannot_run(str(problem))
    for name, price in prices.items():
        info = get_model_info(name) or ModelInfo()
        if info.cost is None:
            cost = ModelCost(
                input=price.input,
                output=price.output,
                input_cache_read=price.cache_read,
                input_cache_write=price.cache_write,
            )
            set_model_info(name, info.model_copy(update={"cost": cost}))
