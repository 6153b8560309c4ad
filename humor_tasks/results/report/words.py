"""Values of metrics as text, the same on every page: shares in percent, other values with three decimals."""

from __future__ import annotations

from humor_tasks.benchmarks.metric import Metric
from humor_tasks.data.published import Figure as Published
from humor_tasks.scorers.estimate import Estimate


def value_text(value: float | None, metric: Metric) -> str:
    """ "84.7" of a share, "0.575" of another metric; "-" for an unknown value."""
    if value is None or value != value:
        return "-"
    return f"{100 * value:.1f}" if metric.proportion else f"{value:.3f}"


def estimate_text(e: Estimate, metric: Metric) -> str:
    """ "84.7 [80.1, 88.4]"; without an interval where it is unknown."""
    value = value_text(e.value, metric)
    if value == "-" or e.low != e.low:
        return value
    return f"{value} [{value_text(e.low, metric)}, {value_text(e.high, metric)}]"


def unit(metric: Metric) -> str:
    """ "%" of a share, and "" else."""
    return "%" if metric.proportion else ""


def published_text(figure: Published | None, metric: Metric) -> str:
    """ "94.0 (Human estimate, pixels)"; "-" without a figure."""
    if figure is None:
        return "-"
    shots = "" if figure.shots is None else f"{figure.shots} shot{'' if figure.shots == 1 else 's'}"
    told = [each for each in (figure.system, figure.setting, shots) if each]
    return f"{value_text(figure.value, metric)} ({', '.join(told)})"
