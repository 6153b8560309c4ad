"""An arena's folder: what it is (arena.json), the rounds of battles (rounds.jsonl), the verdicts (verdicts.jsonl).

A round is written before it is asked, and a verdict as it comes in. So an interrupted arena resumes with the battles of
its last round and then draws the same rounds as an uninterrupted one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from humor_tasks.contract.judging.pairs import WORTH
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.append_log import ReplyStore
from humor_tasks.files.reading import json_object
from humor_tasks.files.writing import is_vacant, write_json
from humor_tasks.rows.media.picture import picture_file
from humor_tasks.studies.arena.players import Battle, Key, Player, Roster, Scene
from humor_tasks.studies.people.sources import copy_picture

ABOUT, ROUNDS, VERDICTS, LOGS = "arena.json", "rounds.jsonl", "verdicts.jsonl", "logs"
FORMAT = 1
_OTHER = "Use another folder with -o, or the settings of this one."


@dataclass(frozen=True)
class StoredVerdict:
    """A verdict: A (the text shown first), B, tie, or None, with its status; see `judging.Verdict`.

    left_out: the settings that were not sent because the judge's provider refuses them, separated by commas.
    """

    word: str | None
    status: str
    reasons: str = ""
    reply: str | None = None
    left_out: str = ""

    @property
    def result(self) -> float | None:
        """The result for the text shown first: 1, .5 or 0."""
        return None if self.word is None else WORTH[self.word]


@dataclass
class Store:
    """The folder of an arena, opened with `open_store`. rounds: the battles of each round, in order."""

    folder: Path
    verdicts: ReplyStore
    _rounds: ReplyStore
    rounds: list[list[Battle]] = field(default_factory=list)

    def get(self, key: Key) -> StoredVerdict | None:
        """The verdict of a key; None where it was not asked for, or its request failed."""
        kept: StoredVerdict | None = self.verdicts.replies.get(key)
        return None if kept is None or kept.status == "error" else kept

    @property
    def kept(self) -> dict[Key, StoredVerdict]:
        """All verdicts, in an order that does not depend on when they came in."""
        return dict(sorted(self.verdicts.replies.items()))  # type: ignore[arg-type]

    def keep(self, key: Key, kept: StoredVerdict) -> None:
        """Append a verdict; it is in the file when this returns."""
        values = {name: value for name, value in asdict(kept).items() if name == "word" or value}
        self.verdicts.keep(key, kept, key._asdict() | values)

    def begin(self, battles: Sequence[Battle]) -> None:
        """Append a round."""
        number = str(len(self.rounds) + 1)
        self._rounds.keep(number, None, {"round": number, "battles": [list(battle) for battle in battles]})
        self.rounds.append(list(battles))

    @property
    def played(self) -> list[Battle]:
        """The battles of all rounds."""
        return [battle for battles in self.rounds for battle in battles]


def check_folder(folder: Path) -> None:
    """Raise BadInput where `folder` is neither an arena nor new or empty."""
    if not (folder / ABOUT).exists() and not is_vacant(folder):
        raise BadInput(f"{folder}: is {'not empty and ' * folder.is_dir()}no arena; name a new folder with -o.")


def open_store(folder: Path, settings: Mapping[str, Any], stage: Roster) -> Store:
    """The arena in `folder`, which is made if there is none.

    settings: what verdicts depend on besides judges and captions. More players, contests, judges and battles extend an
    arena. Raises BadInput where the folder holds another arena, where a contest's scene or a player's captions have
    changed, where a player of the folder is missing, and where a file cannot be read.
    """
    check_folder(folder)
    path = folder / ABOUT
    if path.exists():
        held = json_object(path)
        with _of_this_version(path):
            _check_same(path, held, settings, stage)
    write_json(path, {"format": FORMAT, "settings": dict(settings)} | _written(stage, path))
    return _read(folder, stage)


def open_arena(folder: Path) -> tuple[Store, Roster]:
    """An arena as it is in its folder, and what its battles show. Raises BadInput for a folder without an arena."""
    stage = _stage_in(folder)
    return _read(folder, stage), stage


def _read(folder: Path, stage: Roster) -> Store:
    remedy = f"Remove the line, or all of {folder}."
    verdicts, rounds = ReplyStore(folder / VERDICTS), ReplyStore(folder / ROUNDS)

    def a_verdict(row: Mapping[str, Any]) -> tuple[Key, StoredVerdict]:
        key, kept = _verdict(row)
        _check_known(key.battle, stage)
        return key, kept

    verdicts.open_records("contest", a_verdict, remedy)
    store = Store(folder, verdicts, rounds)

    def a_round(row: Mapping[str, Any]) -> None:
        if row["round"] != str(len(store.rounds) + 1):
            raise ValueError(f"round {row['round']} follows round {len(store.rounds)}")
        battles = [Battle(*map(str, battle)) for battle in row["battles"]]
        for battle in battles:
            _check_known(battle, stage)
        store.rounds.append(battles)

    rounds.open_records("round", a_round, remedy)
    return store


def _verdict(row: Mapping[str, Any]) -> tuple[Key, StoredVerdict]:
    kept = StoredVerdict(row["word"], row["status"], row.get("reasons", ""), row.get("reply"), row.get("left_out", ""))
    kept.result  # noqa: B018  # a word that is none raises KeyError
    return Key(*(str(row[name]) for name in Key._fields)), kept


def _check_known(battle: Battle, stage: Roster) -> None:
    """Raise ValueError for a battle that the players of an arena cannot have."""
    contest, one, other = battle
    shown = [stage.players[name].captions if name in stage.players else () for name in (one, other)]
    if one >= other or any(contest not in captions for captions in shown):
        raise ValueError(f"no battle of this arena: {', '.join(battle)}")


@contextmanager
def _of_this_version(path: Path) -> Iterator[None]:
    """Turns what goes wrong with the content of arena.json into BadInput."""
    try:
        yield
    except (AssertionError, AttributeError, KeyError, TypeError) as problem:
        raise BadInput(f"{path}: is no arena of this version ({problem!r}). {_OTHER}") from None


def _check_same(path: Path, before: Mapping[str, Any], settings: Mapping[str, Any], stage: Roster) -> None:
    held, known, scenes, players = before["settings"], before["players"], before["scenes"], stage.players
    assert before["format"] == FORMAT
    now = json.loads(json.dumps(dict(settings)))
    for name in dict.fromkeys([*held, *now]):
        if held.get(name) != now.get(name):
            raise BadInput(
                f"{path}: another arena: {name} is {held.get(name)!r} there and {now.get(name)!r} now. {_OTHER}"
            )
    if gone := [name for name in known if name not in players]:
        raise BadInput(f"{path}: {listed('player', gone)} of this arena not given. Give their files, too.")
    if other := [c for c, scene in stage.scenes.items() if c in scenes and not _is_scene(scene, scenes[c])]:
        raise BadInput(
            f"{path}: this arena shows another text or picture for {listed('contest', other, most=5)}. Restore it, or "
            "use another folder with -o."
        )
    for name, captions in known.items():
        now_shown = players[name].captions
        changed = [contest for contest, texts in captions.items() if list(now_shown.get(contest, ())) != texts]
        if changed:
            raise BadInput(
                f"{path}: {name} has other captions than in this arena for {listed('contest', changed, most=5)}. "
                "Rename the system, or use another folder with -o."
            )


def _is_scene(scene: Scene, held: Mapping[str, Any]) -> bool:
    """Whether a scene is the one in a file; the name of its picture there holds the picture's hash."""
    picture = scene.picture.sha256()[:16] in (held["picture"] or "") if scene.picture else held["picture"] is None
    return scene.words == held["words"] and picture


def _written(stage: Roster, path: Path) -> dict[str, Any]:
    """The stage for JSON. Pictures are copied into a folder beside the file."""
    scenes = {
        contest: {"words": scene.words, "picture": copy_picture(scene.picture, path) if scene.picture else None}
        for contest, scene in stage.scenes.items()
    }
    players = {name: {c: list(texts) for c, texts in p.captions.items()} for name, p in stage.players.items()}
    return {"scenes": scenes, "players": players}


def _stage_in(folder: Path) -> Roster:
    path = folder / ABOUT
    if not path.is_file():
        raise BadInput(f"{folder}: has no {ABOUT}; name the folder of `humor-tasks captions arena`.")
    held = json_object(path)
    with _of_this_version(path):
        assert held["format"] == FORMAT
        scenes = {
            contest: Scene(contest, one["words"], picture_file(folder, one["picture"]) if one["picture"] else None)
            for contest, one in held["scenes"].items()
        }
        players = {
            name: Player(name, {contest: tuple(texts) for contest, texts in captions.items()})
            for name, captions in held["players"].items()
        }
        return Roster(scenes, players)
