"""How much of a system's accuracy goes with shortcuts: baselines that need no understanding.

With S the items that a shortcut answers correctly, s their share, a the system's accuracy on S and b that on the other
items, the system's accuracy is b + s (a - b). The second term is what goes with the shortcut: the accuracy that would
be lost if the system were on S only as good as elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from humor_tasks.models.choosers.baseline import Baseline
from humor_tasks.models.choosers.chooser import Question, best
from humor_tasks.results.analysis.systems import Shown, System
from humor_tasks.scorers.estimate import Estimate, linearised
from humor_tasks.scorers.proportion import clustered_proportion

COMPUTED = ("overlap", "longest", "first")
ANY = "any of these"


@dataclass(frozen=True)
class Explained:
    """One system and one shortcut.

    solved: the shortcut's accuracy. on, off: the system's accuracy where the shortcut is right and where it is wrong.
    gain: what of the system's accuracy goes with the shortcut, s (a - b).
    """

    system: str
    shortcut: str
    solved: Estimate
    on: Estimate
    off: Estimate
    gain: Estimate


def solved_by(system: System, shown: Mapping[str, Shown]) -> dict[str, set[str]]:
    """Shortcut -> the ids of the items that it answers correctly, from the choices and scenes that the log holds."""
    targets = system.result.targets  # of all items: other systems may have values where this one has none
    if not system.letters or not targets.keys() <= shown.keys():
        return {}
    found = {}
    questions = [Question(i, shown[i].context, shown[i].choices) for i in targets]
    for name in COMPUTED:
        if name == "overlap" and not all(question.context.strip() for question in questions):
            continue
        chosen = [system.letters[best(scores)] for scores in Baseline(name).score(questions)]
        found[name] = {q.id for q, c in zip(questions, chosen, strict=True) if targets[q.id] == c}
    return found


def explained(system: System, computed: Mapping[str, set[str]], systems: Sequence[System]) -> list[Explained]:
    """A system and each shortcut, also those given as runs: the baselines and embedding models among `systems`."""
    if is_shortcut(system.name) or not system.right_or_wrong:
        return []
    solved = dict(computed)
    for other in systems:
        if is_shortcut(other.name) and other.right_or_wrong:
            solved[other.name] = {i for i, value in other.values.items() if value == 1}
    if len(solved) > 1:
        solved[ANY] = set().union(*solved.values())
    return [_explained(system, name, ids) for name, ids in solved.items()]


def is_shortcut(name: str) -> bool:
    """Whether a model's name is that of a baseline, embedding or quality model of this package, in either harness."""
    kinds = ("baseline", "embedding", "quality")
    return name.startswith(tuple(f"{kind}/" for kind in kinds) + tuple(f"humor-{kind}" for kind in kinds))


def _explained(system: System, name: str, solved: set[str]) -> Explained:
    ids = list(system.values)
    right, clusters = [system.values[i] for i in ids], [system.clusters[i] for i in ids]
    inside = [float(i in solved) for i in ids]
    columns = [[r * s for r, s in zip(right, inside, strict=True)], inside, right]

    def gain(both: complex, share: complex, accuracy: complex) -> complex:
        return accuracy - (accuracy - both) / (1 - share)

    on, off = [i for i in ids if i in solved], [i for i in ids if i not in solved]
    return Explained(
        system=system.name,
        shortcut=name,
        solved=clustered_proportion(inside, clusters),
        on=system.mean(on),
        off=system.mean(off),
        gain=linearised(gain, columns, clusters),
    )
