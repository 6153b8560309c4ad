"""Preferences from the crowd's ratings of contests, with contests divided into splits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from humor_tasks.benchmarks.caption_contest.corpus import SPLITS
from humor_tasks.benchmarks.caption_contest.rows import entity_name, scene_context
from humor_tasks.benchmarks.crowd.pairs import Drawn, draw
from humor_tasks.errors import BadInput, listed
from humor_tasks.lab.training.preferences.rows import Preference, Preferences
from humor_tasks.lab.training.preferences.settings import CrowdSettings
from humor_tasks.rows.contests.annotations import Scene, read_annotations
from humor_tasks.rows.contests.contest_csv import Contest, contest_files, read_contest, twins
from humor_tasks.rows.contests.source import TWINS


@dataclass
class Read:
    """What was drawn from each contest, before the contests are divided."""

    drawn: dict[int, Drawn] = field(default_factory=dict)
    rows: dict[int, list[Preference]] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)


def crowd_preferences(folder: Path, settings: CrowdSettings) -> Preferences:
    """Pairs of each contest by `pairs.draw`, by split; no contest, and no contest with another's captions, in two.

    Without annotations the rows have no scene. Raises BadInput where no contest has a pair, and as the readers do.
    """
    files = contest_files(folder)
    if settings.chosen and (lacking := sorted(settings.chosen - set(files))):
        raise BadInput(f"--contests: {folder} has no file of {listed('contest', map(str, lacking), most=5)}.")
    described = read_annotations(settings.annotations) if settings.annotations else None
    scenes = None if described is None else {n: scene.fixed for n, scene in described.items() if scene.fixed}
    read = Read()
    chosen = {n: path for n, path in files.items() if settings.chosen is None or n in settings.chosen}
    for number in sorted(chosen):
        if why := _unwanted(number, settings, scenes):
            read.left_out[number] = why
            del chosen[number]
    pairs = twins(_contests(chosen, scenes, settings, read))
    splits = divide(sorted(read.rows), pairs, settings, read.left_out)
    if not any(read.rows[number] for held in splits.values() for number in held):
        raise BadInput(f"{folder}: no contest has a pair; left out: {_reasons(read.left_out) or 'none'}.")
    rows = {split: [row for number in held for row in read.rows[number]] for split, held in splits.items() if held}
    return Preferences(
        rows,
        f"The crowd's ratings of {sum(map(len, splits.values()))} contests, with{'' if scenes else 'out'} the scene",
        _facts(splits, read, settings),
        _warnings(splits, read, settings.pairs, pairs),
        _table(splits, read),
    )


def _unwanted(number: int, settings: CrowdSettings, scenes: Mapping[int, Scene] | None) -> str:
    """Why a contest gets no rows; "" where it does."""
    if number in settings.excluded:
        return "excluded"
    if number in TWINS and TWINS[number] in settings.tested and number not in settings.tested:
        return f"has the captions of contest {TWINS[number]}, which is in the test split"
    return "without a description of the cartoon" if scenes is not None and number not in scenes else ""


def _contests(
    files: Mapping[int, Path],
    scenes: Mapping[int, Scene] | None,
    settings: CrowdSettings,
    read: Read,
) -> Iterator[tuple[int, Sequence[str]]]:
    """Draw from one contest after the other; yields number and keys of all captions, for `twins`."""
    from tqdm import tqdm

    for number, path in tqdm(sorted(files.items()), desc="contests", unit=" contests", disable=None):
        contest = read_contest(path)
        if not contest.rated:
            read.left_out[number] = "without ratings"
            continue
        drawn = draw(contest, settings.pairs, settings.seed, settings.distinct)
        read.drawn[number] = drawn
        read.rows[number] = _rows(contest, drawn, "" if scenes is None else _context(scenes[number]))
        yield number, contest.key


def _context(scene: Scene) -> str:
    words = {"location": scene.location, "description": scene.description, "uncanny": scene.uncanny}
    words = {name: " ".join(text.split()) for name, text in words.items()}
    return scene_context(words | {"entities": ", ".join(map(entity_name, scene.entities))})


def _rows(contest: Contest, drawn: Drawn, context: str) -> list[Preference]:
    rows = []
    for pair in drawn.places.tolist():
        facts: dict[str, object] = {"contest": str(contest.number)}
        for side, place in zip(("chosen", "rejected"), pair, strict=True):
            for name in ("mean", "precision", "votes"):
                facts[f"{side}_{name}"] = getattr(contest, name)[place]
            facts[f"{side}_place"] = place
        rows.append(Preference(context, contest.caption[pair[0]], contest.caption[pair[1]], facts))
    return rows


# ---- splits -------------------------------------------------------------------------------------


def divide(
    contests: Sequence[int], pairs: Sequence[tuple[int, int]], settings: CrowdSettings, left_out: dict[int, str]
) -> dict[str, list[int]]:
    """The contests of each split; pairs: contests with the same captions, which are in one split or left out.

    Contests outside the test split are dealt to validation by a hash of seed and number. A contest is added to
    `left_out`, with the reason, where it has the captions of one in the test split.
    """
    splits: dict[str, list[int]] = {split: [] for split in SPLITS}
    first = {number: number for number in contests}
    for a, b in pairs:
        first = {number: first[a] if group == first[b] else group for number, group in first.items()}
    tested = {first[number]: number for number in contests if number in settings.tested}
    groups: dict[int, list[int]] = {}
    for number in contests:
        if number in settings.tested:
            splits["test"].append(number)
        elif first[number] in tested:
            other = tested[first[number]]
            left_out[number] = f"has the captions of contest {other}, which is in the test split"
        else:
            groups.setdefault(first[number], []).append(number)
    order = sorted(groups, key=lambda group: hashlib.sha256(f"{settings.seed}:{group}".encode()).digest())
    count = round(settings.validation * len(order))
    for i, group in enumerate(order):
        splits["validation" if i < count else "train"] += groups[group]
    return {split: sorted(held) for split, held in splits.items()}


# ---- the card ------------------------------------------------------------------------------------


def _facts(splits: Mapping[str, Sequence[int]], read: Read, settings: CrowdSettings) -> dict[str, str]:
    held = [read.drawn[number] for numbers in splits.values() for number in numbers]
    again = "never" if settings.distinct else "yes, as in the released rule"
    shares = [drawn.accepted for drawn in held]
    return {
        "rule": "mean_c - mean_r > 3 sqrt(precision_c^2 + precision_r^2); c uniform in the better half, r below c",
        "pairs per contest": f"at most {settings.pairs:,}, in at most 200,000 draws; seed {settings.seed}",
        "a pair may come again": f"{again}; {sum(drawn.repeats for drawn in held):,} do",
        "accepted share of draws": f"mean {sum(shares) / len(shares):.3f}, {min(shares):.4f} to {max(shares):.3f}",
        "accepted draws left out, both captions the same words": f"{sum(drawn.same for drawn in held):,}",
        "captions without a standard error, never accepted": f"{sum(drawn.unknown for drawn in held):,}",
    }


def _warnings(
    splits: Mapping[str, Sequence[int]], read: Read, most: int, pairs: Sequence[tuple[int, int]]
) -> list[str]:
    held = sorted(number for numbers in splits.values() for number in numbers)
    short = [number for number in held if len(read.drawn[number].places) < most]
    warnings = [f"{len(short)} of {len(held)} contests have fewer than {most:,} pairs"] if short else []
    for number in held:
        if doubts := read.drawn[number].warnings(most):
            warnings.append(f"contest {number}: {'; '.join(doubts)}")
    warnings += [f"contests {a} and {b} have the same captions" for a, b in pairs]
    return warnings + ([f"left out: {reasons}"] if (reasons := _reasons(read.left_out)) else [])


def _reasons(left_out: Mapping[int, str]) -> str:
    by_reason: dict[str, list[int]] = {}
    for number, why in sorted(left_out.items()):
        by_reason.setdefault(why, []).append(number)
    return "; ".join(f"{why}: {', '.join(map(str, held))}" for why, held in by_reason.items())


def _table(splits: Mapping[str, Sequence[int]], read: Read) -> list[tuple[str, ...]]:
    head = ("contest", "split", "pairs", "captions", "accepted share", "median votes", "commonest mean")
    rows = [
        (str(n), split, f"{len(d.places):,}", f"{d.captions:,}", f"{d.accepted:.4f}", f"{d.votes:g}", f"{d.tied:.1%}")
        for split, held in splits.items()
        for n, d in ((number, read.drawn[number]) for number in held)
    ]
    return [head, *rows]
