"""Estimates compared field by field, whose unknowns are nan."""

from __future__ import annotations

import dataclasses

import pytest

from humor_tasks.scorers import Estimate


def close(a: Estimate, b: Estimate, tolerance: float = 1e-9) -> bool:
    """Equal but for rounding: `tolerance` of a number near 0, and 1e-6 of any other."""
    pairs = zip(dataclasses.astuple(a), dataclasses.astuple(b), strict=True)
    return all(x == pytest.approx(y, rel=1e-6, abs=tolerance, nan_ok=True) for x, y in pairs)
