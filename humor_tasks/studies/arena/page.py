"""An arena's results as files: one HTML page that works offline, and tidy tables.

| file | a row is |
|---|---|
| ladder.csv | a player |
| wins.csv | two players that met, from the view of the first |
| judges.csv | a judge |
| battles.csv | a verdict |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.pages import render
from humor_tasks.files.tables import interval, percent, short, table
from humor_tasks.files.writing import write_table, write_text
from humor_tasks.rows.media.picture import Picture
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.studies.arena.ladder import JudgeReport, Ladder, Standing
from humor_tasks.studies.arena.players import Battle, Key, Roster
from humor_tasks.studies.arena.rounds import Ended
from humor_tasks.studies.arena.store import VERDICTS, Store, StoredVerdict

PAGE = "index.html"
TITLE = "Arena: who writes the funnier captions?"
MOST_BATTLES = 1500
"""Battles that the page shows; verdicts.jsonl has all of them."""
_CONTENTS = {"ladder": "Ladder", "wins": "Who beats whom", "judges": "Judges", "battles": "Battles", "made": "Made by"}


@dataclass(frozen=True)
class Arena:
    """All that is written of an arena. notes: what a reader has to know, one sentence each."""

    store: Store
    stage: Roster
    ladder: Ladder
    ended: Ended
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    elo: bool = False

    @property
    def warnings(self) -> list[str]:
        """The judges that failed their exam first, then missing verdicts, then notes."""
        ladder = self.ladder
        missing = (
            f"{ladder.missing:,} of {ladder.verdicts:,} verdicts are missing (unread, refused or failed); the ladder "
            "leaves them out, and its bounds count each as lost or won."
        )
        return [*map(_failed, filter(failed, ladder.judges)), *([missing] if ladder.missing else []), *self.notes]


def failed(judge: JudgeReport) -> bool:
    """Whether a judge failed its exam."""
    return judge.failed


def _failed(judge: JudgeReport) -> str:
    return (
        f"{judge.name} does not show that it can tell the captions that the crowd rates highest from ordinary ones: "
        f"their strength over that of the lowest group is {interval(judge.exam, 2)}, which is not above 0. Its "
        "ladder says little about what people find funny."
    )


def write(arena: Arena) -> None:
    """Write the page and the tables into the arena's folder."""
    folder, ladder = arena.store.folder, arena.ladder
    write_text(folder / PAGE, page(arena))
    write_table(folder / "ladder.csv", *_columns(_ladder_rows(arena)))
    wins = [
        {"player": one, "against": other, **_estimate("win_rate", e)} for (one, other), e in sorted(ladder.wins.items())
    ]
    write_table(folder / "wins.csv", *_columns(wins))
    write_table(folder / "judges.csv", *_columns([_judge_row(judge) for judge in ladder.judges]))
    verdicts = [key._asdict() | {"verdict": kept.word, "status": kept.status} for key, kept in arena.store.kept.items()]
    write_table(folder / "battles.csv", *_columns(verdicts))


def _columns(rows: Sequence[Mapping[str, Any]]) -> tuple[list[str], list[list[Any]]]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return names, [["" if row.get(name) is None else row[name] for name in names] for row in rows]


def _estimate(name: str, e: Estimate | None) -> dict[str, float | None]:
    parts = ("value", "stderr", "low", "high")
    values = {part: None if e is None or getattr(e, part) != getattr(e, part) else getattr(e, part) for part in parts}
    return {name if part == "value" else f"{name}_{part}": value for part, value in values.items()}


def _ladder_rows(arena: Arena) -> list[dict[str, Any]]:
    return [
        {"player": s.player, "best_rank": s.ranks[0], "worst_rank": s.ranks[1]}
        | _estimate("strength", s.strength)
        | {"strength_missing_lost": s.bounds[0], "strength_missing_won": s.bounds[1]}
        | _estimate("strength_at_equal_length", s.controlled)
        | ({f"elo{end}": value for end, value in zip(("", "_low", "_high"), s.elo, strict=True)} if arena.elo else {})
        | _estimate("expected_win_rate", s.win_rate)
        | {"battles": s.battles, "contests": s.contests, "characters": s.length, "note": s.marked}
        for s in arena.ladder.standings
    ]


def _judge_row(judge: JudgeReport) -> dict[str, Any]:
    return (
        {"judge": judge.name, "verdicts": judge.verdicts, "missing": judge.missing}
        | _estimate("ties", judge.ties)
        | _estimate("first_shown", judge.first_shown)
        | _estimate("consistent", judge.consistent)
        | _estimate("order_effect", judge.order_effect)
        | _estimate("exam", judge.exam)
        | {"human_pairs_in_wrong_order": judge.wrong[0], "human_pairs": judge.wrong[1]}
    )


# ---- words ----------------------------------------------------------------------------------------


def as_markdown(arena: Arena) -> str:
    """The ladder and the judges as Markdown, for a terminal."""
    ladder = arena.ladder
    head, rows = _ladder_table(arena)
    judge_head, judge_rows = _judge_table(ladder)
    lines = [table(head, rows), "", table(judge_head, judge_rows), ""]
    if people := _people_table(ladder):
        lines += [people["note"], ""]
        lines += [table(people["head"], people["rows"]), ""] if people["rows"] else []
    lines += [f"Warning: {warning}" for warning in arena.warnings]
    return "\n".join([*lines, summary(arena), ""])


def summary(arena: Arena) -> str:
    """What was compared and why the arena ended, in one sentence each."""
    ladder, played = arena.ladder, arena.store.played
    contests = len({battle.contest for battle in played})
    zero = f"0 is {ladder.anchor}" if ladder.anchor else "0 is the mean of all players"
    return (
        f"{len(ladder.standings)} players, {len(ladder.judges)} judge{'s' * (len(ladder.judges) != 1)}, "
        f"{len(played):,} battles, {contests} contests, {ladder.verdicts:,} verdicts. "
        f"It ended because {arena.ended.why}. Strengths are log odds; {zero}."
    )


def _ladder_table(arena: Arena) -> tuple[list[str], list[list[str]]]:
    elo = ["Elo"] if arena.elo else []
    bounds = ["bounds"] if arena.ladder.missing else []
    head = [
        "player",
        "ranks",
        "strength",
        *bounds,
        "at equal length",
        *elo,
        "expected win rate, %",
        "battles",
        "characters",
    ]
    rows = []
    for s in arena.ladder.standings:
        ranks = "-".join(map(str, dict.fromkeys(s.ranks)))
        points = [f"{s.elo[0]:.0f} [{s.elo[1]:.0f}, {s.elo[2]:.0f}]"] if arena.elo else []
        named = short(s.player) + (f" ({s.marked})" if s.marked else "")
        ends = [f"{s.bounds[0]:.2f} to {s.bounds[1]:.2f}"] if bounds else []
        values = [interval(s.strength, 2), *ends, interval(s.controlled, 2), *points, interval(s.win_rate, 1, 100)]
        rows.append([named, ranks, *values, str(s.battles), f"{s.length:.0f}"])
    return head, rows


def _judge_table(ladder: Ladder) -> tuple[list[str], list[list[str]]]:
    head = [
        "judge",
        "verdicts",
        "missing",
        "ties, %",
        "first shown, %",
        "same in both orders, %",
        "order effect",
        "exam",
    ]
    head += ["human groups in wrong order"]
    rows = [
        [
            short(j.name),
            f"{j.verdicts:,}",
            f"{j.missing:,}",
            percent(j.ties),
            interval(j.first_shown, 1, 100),
            interval(j.consistent, 1, 100),
            interval(j.order_effect, 2),
            interval(j.exam, 2) + (" FAILED" if j.failed else ""),
            f"{j.wrong[0]} of {j.wrong[1]} pairs" if j.exam else "-",
        ]
        for j in ladder.judges
    ]
    return head, rows


def _people_table(ladder: Ladder) -> dict[str, Any] | None:
    """People's votes: strengths by them alone, and with the models' verdicts on all battles."""
    people = ladder.people
    if people is None:
        return None
    votes, raters = people.votes, people.raters
    note = f"{votes:,} vote{'s' * (votes != 1)}, {raters:,} annotator{'s' * (raters != 1)}."
    if people.alone is None:
        note += " They are too few for a ladder by people alone: their battles do not join players in two contests."
        return {"note": note, "head": [], "rows": []}
    note += " Strengths are relative to the mean player."
    if people.powered is None:
        note += " Verdicts of models do not help: votes and verdicts on the same battles lack a player."
        return {
            "note": note,
            "head": ["player", "by people alone"],
            "rows": [[short(name), interval(e, 2)] for name, e in people.alone.items()],
        }
    note += (
        f" The models' verdicts on the other battles enter with the weight {people.weight:.2f}. That is valid if the "
        "battles with votes are a random sample of all (`people pairs --arena --size`)."
    )
    rows = [[short(name), interval(people.alone[name], 2), interval(e, 2)] for name, e in people.powered.items()]
    return {"note": note, "head": ["player", "by people alone", "prediction-powered"], "rows": rows}


# ---- page -----------------------------------------------------------------------------------------


def page(arena: Arena) -> str:
    """The page: one HTML file that needs no other file and no network."""
    ladder = arena.ladder
    names = [standing.player for standing in ladder.standings]
    shown = [*map(short, names)]
    head, rows = _ladder_table(arena)
    judge_head, judge_rows = _judge_table(ladder)
    wins = [[short(name), *("" if name == o else percent(ladder.wins.get((name, o))) for o in names)] for name in names]
    told = [f"{name}: {interval(e, 2)}." for name, e in ladder.agreement.items()]
    told += (
        [f"A standard deviation more of length changes the log odds by {interval(ladder.longer, 2)}."]
        if ladder.longer
        else []
    )
    apart = {one: decided for one, _, decided in ladder.apart}
    return render(
        "studies/arena/arena.html",
        title=TITLE,
        level=f"{100 * ladder.level:g}",
        contents=_CONTENTS,
        summary=summary(arena),
        scripts=[],
        warnings=arena.warnings,
        ladder={"head": head, "rows": rows, "bars": _bars(ladder.standings), "apart": [apart.get(n) for n in names]},
        names=shown,
        wins=wins,
        judges={"head": judge_head, "rows": judge_rows, "told": told},
        battles=list(_battles(arena)),
        pictures=_pictures(arena.stage),
        shown=min(len(arena.store.played), MOST_BATTLES),
        all=len(arena.store.played),
        verdicts=VERDICTS,
        people=_people_table(ladder),
        made=[(name, str(value)) for name, value in arena.settings.items()],
    )


def _bars(standings: Sequence[Standing]) -> list[dict[str, float]]:
    """The place of each strength and of its interval, in per cent of the width that all of them take."""
    ends = [x for s in standings for x in (s.strength.low, s.strength.high, s.strength.value, 0.0)]
    low, high = min(ends), max(ends)

    def at(x: float) -> float:
        return round(2 + 96 * (x - low) / ((high - low) or 1), 2)

    return [
        {"low": at(s.strength.low), "at": at(s.strength.value), "high": at(s.strength.high), "zero": at(0.0)}
        for s in standings
    ]


def _battles(arena: Arena) -> Iterator[dict[str, Any]]:
    """The battles by contest, each with what was shown and every verdict with its reasons."""
    of: dict[Battle, list[tuple[Key, StoredVerdict]]] = {}
    for key, kept in arena.store.kept.items():
        of.setdefault(key.battle, []).append((key, kept))
    chosen = sorted(arena.store.played[:MOST_BATTLES])
    for contest in dict.fromkeys(battle.contest for battle in chosen):
        battles = [_battle(arena.stage, battle, of.get(battle, ())) for battle in chosen if battle.contest == contest]
        yield {"contest": contest, "words": arena.stage.scenes[contest].words, "battles": battles}


def _battle(stage: Roster, battle: Battle, verdicts: Sequence[tuple[Key, StoredVerdict]]) -> dict[str, Any]:
    contest, *sides = battle
    return {
        "sides": [(name, stage.players[name].captions[contest]) for name in sides],
        "same": stage.same(battle),
        "verdicts": [
            {
                "judge": key.judge,
                "first": key.first,
                "for": {"A": key.first, "B": key.second, "tie": "a tie"}.get(kept.word or "", kept.status),
                "why": kept.reasons or kept.reply or "",
            }
            for key, kept in verdicts
        ],
    }


def _pictures(stage: Roster) -> dict[str, str]:
    """Contest -> its picture as a data URI, where pictures are shown; one that cannot be read is left out."""
    return {contest: uri for contest, scene in stage.scenes.items() if (uri := _uri(scene.picture))}


def _uri(picture: Picture | None) -> str:
    try:
        return picture.data_uri() if picture else ""
    except BadInput:
        return ""
