"""The hard subset: the rows with the lowest pass rate over a pool of models (Narad et al. 2025).

It depends on the pool, so the output names its logs. Keys identify rows by (idx, element).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.results.points import GradedLog


def hard_subset(logs: Sequence[GradedLog], size: int = 100, min_attempts: int = 3) -> dict[str, Any]:
    """The `size` keys with the lowest pass rate among those with at least `min_attempts` verdicts.

    Of equal rates, the row with more attempts comes first, then that with the smaller SHA-256 of its key, which favours
    no cartoon; the note tells how many rows tie at the cut. Raises BadInput for logs of different data files, when no
    row has enough attempts, and when at most `size` rows have enough.
    """
    files = {log.fingerprint for log in logs if log.fingerprint}
    if len(files) > 1:
        raise BadInput(f"the logs are of {len(files)} different data files; a subset belongs to one.")
    tally: dict[str, list[bool]] = {}
    for log in logs:
        for point in log.points:
            tally.setdefault(point.id, []).extend([] if point.passed is None else [point.passed])
    enough = {key: passes for key, passes in tally.items() if len(passes) >= min_attempts}
    if not enough:
        most = max(map(len, tally.values()), default=0)
        raise BadInput(f"no row has {min_attempts} verdicts; the most is {most}. Give logs of more models or epochs.")
    if len(enough) <= size:
        raise BadInput(f"{len(enough)} rows have {min_attempts} verdicts or more: {size} would be all of them.")
    worth = {key: (sum(passes) / len(passes), -len(passes)) for key, passes in enough.items()}
    keys = sorted(worth, key=lambda key: (*worth[key], hashlib.sha256(key.encode()).hexdigest()))[:size]
    tied = sum(each == worth[keys[-1]] for each in worth.values())
    places = sum(worth[key] == worth[keys[-1]] for key in keys)
    cut = f"; {tied} rows tie at the cut, where {places} fit: a hash of their keys decides" if tied > places else ""
    return {
        "subset": "hard",
        "corpus_sha256": next(iter(files), None),
        "source": {"logs": [{"log": o.path.name, "model": o.model, "grading": str(o.grading)} for o in logs]},
        "note": f"lowest pass rate of {len(enough)} rows with at least {min_attempts} verdicts; "
        f"{len(tally) - len(enough)} rows had fewer{cut}",
        "keys": keys,
        "pass_rates": {key: round(sum(enough[key]) / len(enough[key]), 6) for key in keys},
        "attempts": {key: len(enough[key]) for key in keys},
    }
