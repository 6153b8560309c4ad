"""The public annotations of contests: official finalists, and descriptions of the cartoon in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.reading import parse_json, read_body
from humor_tasks.rows.contests.captions import mend

UNKNOWN = "UNKNOWN"
LOW_RESOLUTION = frozenset(
    map(
        int,
        "11 12 13 14 15 16 19 20 23 25 29 33 34 35 37 40 41 42 43 44 45 46 47 49 50 51 52 53 54 56 62 63 65 66 68 73 "
        "74 75 76 83 86 89 91 92 94 95 96 101 102 103 104 105 106 107 110 112 114 116 117 124 125 133 137 138 139 241 "
        "255 260 263 265 266 269 270 274 276 292 308 310 314 319".split(),
    )
)
"""The 80 contests whose picture has a low resolution: those of type `bob_small` (Hessel et al. 2023, section 2)."""


@dataclass(frozen=True)
class Scene:
    """A cartoon in the words of one person for the description and one for the links: an annotation tuple."""

    location: str
    description: str
    uncanny: str
    entities: tuple[str, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Annotated:
    """A contest: official finalists, () where unknown; the scenes, every description with every set of links.

    fixed: the scene of validation and test rows: the second description with the second set of links, which most rows
    of the hub's corpus hold. None where the cartoon was not described.
    """

    number: int
    finalists: tuple[str, ...]
    scenes: tuple[Scene, ...]
    fixed: Scene | None


def read_annotations(path: Path) -> dict[int, Annotated]:
    """Contest number -> annotations. Raises BadInput naming the contest and field for what has another form."""
    entries = parse_json(path, read_body(path), object_pairs_hook=_once)
    if isinstance(entries, Repeated):
        raise BadInput(f"{path}: {entries.name} is given twice; each contest has one entry.")
    if not isinstance(entries, dict) or not entries:
        raise BadInput(f"{path}: must be an object with an entry for each contest number.")
    contests: dict[int, Annotated] = {}
    for name, entry in entries.items():
        where = f"{path}, contest {name:.20}"
        if isinstance(entry, Repeated):
            raise BadInput(f"{where}: {entry.name} is given twice.")
        contest = _annotated(entry, where)
        if name != str(contest.number):
            raise BadInput(f"{where}: contest_number is {contest.number}; it must be the name of the entry.")
        contests[contest.number] = contest
    return contests


@dataclass(frozen=True)
class Repeated:
    """An object with a duplicate key (json.loads would silently keep the last value)."""

    name: str


def _once(pairs: Sequence[tuple[str, Any]]) -> Any:
    repeated = [name for name, count in Counter(name for name, _ in pairs).items() if count > 1]
    return Repeated(repeated[0]) if repeated else dict(pairs)


def _annotated(entry: Any, where: str) -> Annotated:
    number = _field(entry, "contest_number", int, where)
    finalists = entry.get("official_newyorker_finalists")
    if finalists in (UNKNOWN, [UNKNOWN], None):
        finalists = []
    if isinstance(
        finalists, list
    ):  # one published contest has NaN, which JSON does not know, in the place of a caption
        finalists = [caption for caption in finalists if caption is not None and caption == caption]
    if not isinstance(finalists, list) or not all(isinstance(caption, str) for caption in finalists):
        raise BadInput(f"{where}: official_newyorker_finalists must be a list of captions, or '{UNKNOWN}'.")
    cleaned = [mend(caption) for caption in finalists]
    hits = _field(entry, "mturk_annotations", dict, where) if "mturk_annotations" in entry else {}
    words = [_words(hit, f"{where}, description_hit {i}") for i, hit in _listed(hits, "description_hit", where)]
    links = [_links(hit, f"{where}, link_hit {i}") for i, hit in _listed(hits, "link_hit", where)]
    if bool(words) != bool(links):
        raise BadInput(f"{where}: needs both description_hit and link_hit, or neither; take out what is there alone.")
    scenes = {(i, j): Scene(at, *w[:2], e, w[2]) for i, w in enumerate(words) for j, (at, e) in enumerate(links)}
    fixed = scenes[min(1, len(words) - 1), min(1, len(links) - 1)] if scenes else None
    distinct = tuple(dict.fromkeys(caption.text for caption in cleaned if not caption.dropped))
    return Annotated(number, distinct, tuple(scenes.values()), fixed)


def _listed(hits: Any, name: str, where: str) -> Iterable[tuple[int, Any]]:
    return enumerate(_field(hits, name, list, where) if name in hits else [])


def _words(hit: Any, where: str) -> tuple[str, str, tuple[str, ...]]:
    description = _field(hit, "image_description", str, where)
    uncanny = _field(hit, "image_uncanny_description", str, where)
    questions = [hit.get(name) for name in ("question_1", "question_2")]
    return description, uncanny, tuple(q for q in questions if isinstance(q, str) and q.strip())


def _links(hit: Any, where: str) -> tuple[str, tuple[str, ...]]:
    links = [hit.get(name) for name in ("link_1", "link_2", "link_3")] if isinstance(hit, dict) else []
    return _field(hit, "image_location", str, where), tuple(x for x in links if isinstance(x, str) and x.strip())


def _field(entry: Any, name: str, kind: type, where: str) -> Any:
    value = entry.get(name) if isinstance(entry, dict) else None
    if not isinstance(value, kind) or isinstance(value, bool) or value == "":
        raise BadInput(f"{where}: {name} is {value!r:.40}; it must be {_KINDS[kind]}.")
    return value


_KINDS = {int: "a whole number", str: "a text", dict: "an object", list: "a list"}
