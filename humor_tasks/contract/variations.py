"""Several askings of an item: under every prompt set (`prompts=all`), in every order of its choices (`order=rotated`).

A score from one wording and one order is one draw of both. MMBench's CircularEval (Liu et al., ECCV 2024, arXiv
2307.06281, section 4.3) asks an item once for each rotation of its choices; Sclar et al. (ICLR 2024, arXiv 2310.11324)
report the spread of scores over prompts.

Each asking is a record of its own, whose id is that of its item with the prompt set and the rotation (`7@C`, `7@r2`,
`7@C-r2`), and whose fact VARIATION says which. Askings of an item share its cluster, so that intervals stay those of
the data. The metrics here compare the askings of the same item.
"""

from __future__ import annotations

import itertools
import math
import statistics
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from humor_tasks.contract.answers import AnswerForm, Choice, Rating, YesNo
from humor_tasks.contract.metric import Metric, rate, share
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import VARIATION, Outcome, Record
from humor_tasks.scorers.estimate import Estimate, linearised
from humor_tasks.scorers.jackknife import pseudo_values
from humor_tasks.scorers.proportion import clustered_proportion
from humor_tasks.scorers.spread import spread

INCOMPLETE = rate("incomplete", "Share of items that lack a prompt set or an order; they do not count.")
KEPT = 32  # pictures of so many items, whose askings are asked at about the same time


class Variation(NamedTuple):
    """One asking of an item. prompts: the prompt set, "" where there is one. rotation: places that choices moved up."""

    item: str
    prompts: str = ""
    rotation: int = 0


def variation_of(of: Record | Outcome) -> Variation:
    """The asking that a record or an outcome is; of an item that is asked once, the item."""
    told = of.facts.get(VARIATION)
    return Variation(**told) if told else Variation(of.id)


@dataclass(frozen=True)
class Variations:
    """How often and how each item is asked. sets: letters of prompt sets, none for one set. letters: those of choices
    whose order is rotated, or "".
    """

    sets: tuple[str, ...] = ()
    letters: str = ""

    @property
    def number(self) -> int:
        """The number of askings of an item."""
        return (len(self.sets) or 1) * (len(self.letters) or 1)

    @property
    def provenance(self) -> dict[str, int]:
        """The number of askings as an entry `asked` of the provenance, where it is not 1."""
        return {"asked": self.number} if self.number > 1 else {}

    @property
    def description(self) -> str:
        """How often each item is asked: "once", or "25 times (5 prompt sets x 5 orders)"."""
        counts = {"prompt sets": len(self.sets), "orders": len(self.letters)}
        parts = [f"{count} {what}" for what, count in counts.items() if count]
        return f"{self.number} times ({' x '.join(parts)})" if parts else "once"

    def in_words(self, items: int) -> str:
        """The number of requests for so many items, as a sentence; "" where each item is asked once."""
        if self.number == 1:
            return ""
        requests = f"{items * self.number:,} requests for each reply that is asked for."
        return f"{items:,} items, each asked {self.description}: {requests}"

    def of(self, records: Sequence[Record], rotate: Callable[[Record, int], Record] | None) -> tuple[Record, ...]:
        """Every record under every prompt set and in every rotation, item by item."""
        made, recent = [], _Recent()
        for item in records:
            record = item if item.picture is None else replace(item, picture=recent.kept(item.picture))
            for letter, k in itertools.product(self.sets or ("",), range(len(self.letters) or 1)):
                turned = rotate(record, k) if rotate and k else record
                name = "-".join(filter(None, (letter, f"r{k}" if self.letters else "")))
                facts = {**turned.facts, VARIATION: Variation(record.id, letter, k)._asdict()}
                made.append(replace(turned, id=f"{record.id}@{name}", facts=facts))
        return tuple(made)

    def place(self, record: Record, positions: Mapping[str, int]) -> int:
        """The position of a record among all askings, from 0, by its item's."""
        asking = variation_of(record)
        set_number = self.sets.index(asking.prompts) if self.sets else 0
        return positions[asking.item] * self.number + set_number * (len(self.letters) or 1) + asking.rotation


class _Recent:
    """The bytes of the pictures that were read last: the askings of an item follow each other, and it is read once."""

    def __init__(self) -> None:
        self._bytes: dict[int, bytes] = {}
        self._lock = threading.Lock()

    def kept(self, picture: Picture) -> Picture:
        """The picture, read through this memory; the original stays alive, so that its id is no other picture's."""
        return replace(picture, read_bytes=lambda: self._read(picture))

    def _read(self, picture: Picture) -> bytes:
        with self._lock:
            data = self._bytes.pop(id(picture), None)
        data = picture.read_bytes() if data is None else data
        with self._lock:
            self._bytes[id(picture)] = data
            while len(self._bytes) > KEPT:
                self._bytes.pop(next(iter(self._bytes)))
        return data


# ---- items asked in every way ----------------------------------------------------------------------


def whole_items(outcomes: Sequence[Outcome], ways: int) -> tuple[list[Outcome], Estimate | None]:
    """The outcomes of items with all `ways` askings, and the share of items without, None where there are none.

    A repeated item (`epochs`) counts as often as it has all of its askings.
    """
    complete: list[Outcome] = []
    lacking: list[float] = []
    clusters: list[str] = []
    for of_item in _units(outcomes, "item"):
        whole = len(of_item) == ways
        complete += of_item if whole else []
        lacking.append(float(not whole))
        clusters.append(of_item[0].cluster)
    return complete, clustered_proportion(lacking, clusters) if any(lacking) else None


def _units(outcomes: Sequence[Outcome], *same: str) -> list[list[Outcome]]:
    """Outcomes whose askings are the same in these fields, in the order of appearance; each epoch is a unit."""
    seen: Counter[str] = Counter()
    units: dict[tuple[Any, ...], list[Outcome]] = {}
    for outcome in outcomes:
        seen[outcome.id] += 1
        asking = variation_of(outcome)
        units.setdefault((seen[outcome.id], *(getattr(asking, name) for name in same)), []).append(outcome)
    return list(units.values())


# ---- metrics ---------------------------------------------------------------------------------------

Value = Callable[[Sequence[Outcome]], float]
"""The primary metric of outcomes."""


def metrics(primary: Metric, form: AnswerForm, ways: Variations, value: Value) -> tuple[Metric, ...]:
    """The metrics of a run that asks each item in several ways; value: the primary metric as the run computes it."""
    of_wordings = _of_wordings(primary, form, ways.sets, value) if ways.sets else ()
    return (*of_wordings, *(_of_orders(primary, ways.letters, value) if ways.letters else ()))


def _of_wordings(primary: Metric, form: AnswerForm, sets: Sequence[str], value: Value) -> list[Metric]:
    under = [_among(primary, f"set_{letter}", _set, letter, f"under prompt set {letter}") for letter in sets]
    gap = _gap(primary, "spread", _set, value, "between the prompt sets with the highest and the lowest value")
    if not isinstance(form, Choice | YesNo):
        return [*under, gap, *_variation(primary, form, len(sets))]
    alike = "Share of items with the same answer under all prompt sets."
    right = "Share of items answered rightly under all prompt sets."
    same = _of_units("same_answer", ("item", "rotation"), len(sets), _alike, alike)
    all_right = _of_units("right_under_all", ("item", "rotation"), len(sets), _all_right(primary), right)
    return [*under, gap, same, *([all_right] if primary.name == "accuracy" else [])]


def _of_orders(primary: Metric, letters: str, value: Value) -> list[Metric]:
    where = [_among(primary, f"right_at_{x}", _right, x, f"where the right choice is {x}") for x in letters]
    about = "Share of items answered rightly in every order of the choices (CircularEval)."
    all_right = _of_units("right_in_all", ("item", "prompts"), len(letters), _all_right(primary), about)
    gap = _gap(primary, "order_effect", _right, value, "between the best and the worst place of the right choice")
    return [*where, all_right, gap, *(_letter_share(x, len(letters)) for x in letters)]


def _letter_share(letter: str, number: int) -> Metric:
    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        return clustered_proportion([float(o.answer == letter) for o in outcomes], [o.cluster for o in outcomes])

    return Metric(
        f"letter_share_{letter}",
        estimate=estimate,
        counts=_answered,
        proportion=True,
        about=f"Share of answers {letter}, which is right in 1 of {number} questions.",
        neutral=True,
        whole=True,
    )


def _set(outcome: Outcome) -> str:
    return variation_of(outcome).prompts


def _right(outcome: Outcome) -> str:
    return outcome.target or ""


def _answered(outcome: Outcome) -> bool:
    return outcome.answer is not None


def _always(outcome: Outcome) -> bool:
    return True


def _among(primary: Metric, end: str, key: Callable[[Outcome], str], wanted: str, where: str) -> Metric:
    """The primary metric over the askings with this value of `key`."""
    return replace(
        primary,
        name=f"{primary.name}_{end}",
        lm_eval_name=f"{primary.name_in_lm_eval}_{end}",
        estimate=primary.over,
        of=primary.name,
        counts=lambda o: key(o) == wanted and bool(primary.counted([o])),
        about=f"`{primary.name}` {where}.",
    )


def _gap(primary: Metric, name: str, key: Callable[[Outcome], str], value: Value, where: str) -> Metric:
    """The highest less the lowest value of the primary metric among the values of `key`."""

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        items = _units(outcomes, "item")
        clusters = [of_item[0].cluster for of_item in items]
        values, totals = [], []
        for setting in sorted({key(o) for o in outcomes}):
            rows = [[o for o in of_item if key(o) == setting] for of_item in items]

            def over(kept: Sequence[int], rows: Sequence[Sequence[Outcome]] = rows) -> float:
                return value([o for i in kept for o in rows[i]])

            totals.append(over(range(len(rows))))
            values.append(pseudo_values(over, clusters))
        found = _spread(primary, values, len(items), len(set(clusters)))
        # without a group of clusters a setting may have no value; the difference itself is known
        return replace(found, value=max(totals) - min(totals)) if math.isnan(found.value) else found

    about = f"Difference of `{primary.name}` {where}; it is at least 0 and too high on average where there is none."
    return Metric(name, "lower", estimate, counts=lambda o: bool(primary.counted([o])), about=about, whole=True)


def _spread(primary: Metric, values: Sequence[Sequence[float]], items: int, clusters: int) -> Estimate:
    """`spread`; that of a mean of ratings is computed on the scale from 0 to 1."""
    if primary.scale is None or primary.estimate is not None:
        return spread(values, items, clusters, bounded=primary.proportion)
    width = primary.scale[1] - primary.scale[0]
    e = spread([[value / width for value in setting] for setting in values], items, clusters, bounded=True)
    return replace(e, value=width * e.value, stderr=width * e.stderr, low=width * e.low, high=width * e.high)


def _of_units(
    name: str,
    same: tuple[str, ...],
    number: int,
    holds: Callable[[Sequence[Outcome]], bool | None],
    about: str,
) -> Metric:
    """The share of units for which something holds, over those for which it is known (not None).

    A unit has `number` outcomes, whose askings are the `same` in these fields.
    """

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        units = [unit for unit in _units(outcomes, *same) if len(unit) == number]
        held = [(holds(unit), unit[0].cluster) for unit in units]
        counted = [(float(holding), cluster) for holding, cluster in held if holding is not None]
        return clustered_proportion([x for x, _ in counted], [cluster for _, cluster in counted])

    return replace(share(name, about), estimate=estimate, counts=_always, whole=True)


def _alike(unit: Sequence[Outcome]) -> bool:
    """Whether all replies have the same answer; a reply without one is like no other."""
    return unit[0].answer is not None and len({o.answer for o in unit}) == 1


def _all_right(primary: Metric) -> Callable[[Sequence[Outcome]], bool | None]:
    def right(unit: Sequence[Outcome]) -> bool | None:
        values = [o.values[primary.name] for o in unit if primary.name in o.values]
        return all(values) if len(values) == len(unit) else None

    return right


def _variation(primary: Metric, form: AnswerForm, number: int) -> list[Metric]:
    """The standard deviation of an item's ratings, or of its values of the primary metric, over the prompt sets."""
    rates = isinstance(form, Rating)

    def number_of(o: Outcome) -> float | None:
        if rates:
            return None if o.answer is None else float(o.answer)
        return o.values.get(primary.name)

    def estimate(outcomes: Sequence[Outcome]) -> Estimate:
        units = [unit for unit in _units(outcomes, "item") if len(unit) == number]
        variances = [statistics.variance(float(number_of(o) or 0.0) for o in unit) for unit in units]
        return linearised(lambda mean: mean**0.5, [variances], [unit[0].cluster for unit in units])

    what = "ratings" if rates else f"`{primary.name}`"
    about = f"Standard deviation of an item's {what} over the prompt sets: root mean square over items."
    counted = Metric("within_item_sd", "lower", estimate, counts=lambda o: number_of(o) is not None, about=about)
    return [replace(counted, whole=True)]
