"""Accuracy that says what it did with the replies no answer could be read from."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Sequence
from typing import get_args

from humor_tasks.errors import BadInput, check_choice

from .answer import Status
from .estimate import Estimate, clustered_mean
from .same_length import check_same_length

ON_UNPARSED = ("wrong", "exclude", "random")


def accuracy(
    correct: Sequence[float],
    clusters: Sequence[Hashable],
    statuses: Sequence[Status],
    on_unparsed: str = "wrong",
) -> Estimate:
    """The share of right answers, in 0..1, with its standard error clustered by `clusters`.

    `correct` (bool or 0/1), `clusters` and `statuses` hold one value per item. Of the items whose
    status is not "answered",

    - "wrong" counts each as wrong, whatever `correct` says;
    - "exclude" leaves them out of the denominator (report the unparsed rate beside it);
    - "random" counts `correct` as given: the caller has compared `seeded_guess` with the target.

    No item left: nan. Raises BadInput on lists of different length, an unknown status or an
    unknown `on_unparsed`.
    """
    check_choice("on_unparsed", on_unparsed, ON_UNPARSED)
    check_same_length(correct=correct, clusters=clusters, statuses=statuses)
    for unknown in set(statuses) - set(get_args(Status)):
        raise BadInput(f"statuses: there is no '{unknown}'; choose from {', '.join(get_args(Status))}.")
    if on_unparsed == "random":
        return clustered_mean([float(c) for c in correct], clusters)
    answered = [status == "answered" for status in statuses]
    if on_unparsed == "wrong":
        return clustered_mean([float(c) if ok else 0.0 for c, ok in zip(correct, answered, strict=True)], clusters)
    kept = [i for i, ok in enumerate(answered) if ok]
    return clustered_mean([float(correct[i]) for i in kept], [clusters[i] for i in kept])


def rate(flags: Sequence[bool], clusters: Sequence[Hashable]) -> Estimate:
    """The share of true `flags`, in 0..1, for example of unparsed or refused replies; clustered as accuracy is."""
    return clustered_mean([float(flag) for flag in flags], clusters)


def seeded_guess(seed: int, item_id: str, letters: str) -> str:
    """One of `letters`, uniform over items, the same for the same seed and item on every machine.

    It depends on neither the order of the items nor on which other items are guessed. Raises
    BadInput when `letters` is empty.
    """
    if not letters:
        raise BadInput("letters is empty: there is nothing to guess from.")
    digest = hashlib.sha256(f"{seed}\n{item_id}".encode("utf-8", "surrogatepass")).digest()
    return letters[int.from_bytes(digest, "big") % len(letters)]
