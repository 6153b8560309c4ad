"""The ladder of given verdicts: the judges' biases and exam, agreement, length, people's votes; its page and tables."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from standins import commands

from humor_tasks.errors import BadInput
from humor_tasks.scorers.estimate import Estimate
from humor_tasks.studies.arena import page
from humor_tasks.studies.arena.ladder import Ladder, ladder_of
from humor_tasks.studies.arena.players import ANCHOR, PEOPLE, Battle, Key, Player, Roster, check_players, systems
from humor_tasks.studies.arena.rounds import Ended
from humor_tasks.studies.arena.store import Store, StoredVerdict, open_store
from humor_tasks.studies.arena.votes import identity, items, read_people
from humor_tasks.studies.captions.files import CaptionGroup
from humor_tasks.studies.people.votes import Vote, write_votes

Rule = Callable[[Key], str | None]


def told(folder: Path, stage: Roster, **judges: Rule) -> Store:
    """All battles of a stage, with both orders' verdicts of judges that follow a rule."""
    store = open_store(folder, {}, stage)
    names = sorted(stage.players)
    store.begin([Battle(c, a, b) for c in stage.scenes for i, a in enumerate(names) for b in names[i + 1 :]])
    for battle in store.played:
        contest, one, other = battle
        for judge, rule in judges.items():
            for first, second in ((one, other), (other, one)):
                key = Key(contest, first, second, judge)
                word = rule(key)
                store.keep(key, StoredVerdict(word, "answered" if word else "unparsed", f"because of {word}"))
    return store


def sometimes(key: Key, share: int) -> bool:
    """True in one of `share` contests, another one for each pair."""
    return (int(key.contest) + sum(map(ord, key.first + key.second))) % share == 0


def by_name(key: Key) -> str:
    """Prefers the name that comes first in the alphabet, in all contests but a seventh."""
    right = "A" if key.first < key.second else "B"
    return {"A": "B", "B": "A"}[right] if sometimes(key, 7) else right


def first_shown(key: Key) -> str:
    return by_name(key) if sometimes(key, 3) else "A"


@pytest.fixture
def people(stage: Roster) -> Roster:
    """Two systems and two human groups."""
    some = list(stage.players.values())
    names = ("ours", "theirs", PEOPLE["top10"], ANCHOR)
    players = {name: dataclasses.replace(one, name=name) for name, one in zip(names, some, strict=True)}
    return Roster(stage.scenes, players)


def test_biases_of_judges(tmp_path: Path, stage: Roster) -> None:
    ladder = ladder_of(told(tmp_path / "a", stage, fair=by_name, biased=first_shown), stage)
    biased, fair = ladder.judges
    assert fair.first_shown is not None
    assert biased.first_shown is not None
    assert fair.first_shown.value == pytest.approx(0.5, abs=0.02)
    assert biased.first_shown.value > 0.75
    assert fair.order_effect is not None
    assert fair.order_effect.low < 0 < fair.order_effect.high
    assert biased.order_effect is not None
    assert biased.order_effect.low > 1
    assert fair.consistent is not None
    assert biased.consistent is not None
    assert fair.consistent.value == 1 > 0.5 > biased.consistent.value
    assert ladder.agreement["raw agreement"].value < 0.75
    assert [s.player for s in ladder.standings] == sorted(stage.players)
    assert ladder.anchor == ""
    assert fair.exam is None


def test_the_exam_on_human_groups(tmp_path: Path, people: Roster) -> None:
    def by_crowd(key: Key) -> str:  # "top10" comes after "median"
        return {"A": "B", "B": "A"}[by_name(key)]

    store = told(tmp_path / "a", people, good=by_crowd, bad=by_name)
    bad, good = ladder_of(store, people).judges
    assert (good.failed, good.wrong) == (False, (0, 1))
    assert (bad.failed, bad.wrong) == (True, (1, 1))
    arena = arena_of(store, people)
    assert (
        "bad does not show that it can tell the captions that the crowd rates highest from ordinary ones"
        in arena.warnings[0]
    )
    assert {s.player: s.strength.value for s in arena.ladder.standings}[ANCHOR] == 0


def arena_of(store: Store, stage: Roster, **more: object) -> page.Arena:
    return page.Arena(store, stage, ladder_of(store, stage), Ended("tested", 1), {"show": "best"}, **more)  # type: ignore[arg-type]


def test_page_and_tables(tmp_path: Path, people: Roster) -> None:
    hostile = Player("ours", {c: (f"<script>alert({c})</script>",) for c in people.scenes})
    stage = Roster(people.scenes, {**people.players, "ours": hostile})
    store = told(tmp_path / "a", stage, judge=lambda key: None if key.contest == "1" else by_name(key))
    arena = arena_of(store, stage, notes=("A note.",), elo=True)
    assert "| bounds " in page.as_markdown(arena)
    page.write(arena)
    html = (tmp_path / "a" / "index.html").read_text()
    assert "<script>alert" not in html
    assert html.count("<details>") == len(stage.scenes)
    assert "12 of 360 verdicts are missing" in html
    assert "A note." in html
    with (tmp_path / "a" / "ladder.csv").open() as file:
        rows = list(csv.DictReader(file))
    anchor = next(row for row in rows if row["player"] == ANCHOR)
    assert (float(anchor["strength"]), float(anchor["elo"])) == (0, 1000)
    assert all(float(row["strength_missing_lost"]) <= float(row["strength_missing_won"]) for row in rows)
    assert sum(1 for _ in (tmp_path / "a" / "battles.csv").open()) == 361


# ---- people ---------------------------------------------------------------------------------------


def votes_of(stage: Roster, battles: list[Battle], rule: Rule) -> Iterator[Vote]:
    for i, battle in enumerate(battles):
        for rater in ("ann", "bob"):
            order = "AB" if (i + len(rater)) % 2 else "BA"
            sides = battle[1:] if order == "AB" else battle[:0:-1]
            word = rule(Key(battle.contest, *sides, rater))
            shown = dict(zip("AB", order, strict=True))
            yield Vote(identity(battle, stage), rater, shown.get(word or "", "tie"), "2026-01-01T00:00:00Z", "", order)


def test_votes_enter_the_fit_and_are_made_precise_by_the_judge(tmp_path: Path, stage: Roster) -> None:
    store = told(tmp_path / "a", stage, judge=by_name)
    some = [battle for battle in store.played if int(battle.contest) % 3]
    write_votes(tmp_path / "votes.csv", votes_of(stage, some, by_name))
    votes = read_people([tmp_path / "votes.csv"], store.played, stage)
    assert {key.judge for key in votes} == {"person/ann", "person/bob"}
    assert all(kept.word == by_name(key) for key, kept in votes.items())
    ladder = ladder_of(store, stage, votes=votes)
    assert ladder.people is not None
    assert ladder.people.powered is not None
    assert (ladder.people.raters, ladder.people.votes) == (2, 2 * len(some))
    assert 0 < ladder.people.weight <= 1
    powered, alone = (sum(e.stderr for e in of.values()) for of in (ladder.people.powered, ladder.people.alone))
    assert powered < alone
    assert "prediction-powered" in page.as_markdown(dataclasses.replace(arena_of(store, stage), ladder=ladder))
    stranger = Vote("9-0", "ann", "A", "2026-01-01T00:00:00Z")
    write_votes(tmp_path / "other.csv", [stranger])
    with pytest.raises(BadInput, match="votes for unknown items"):
        read_people([tmp_path / "other.csv"], store.played, stage)
    (tmp_path / "again.csv").write_bytes((tmp_path / "votes.csv").read_bytes())
    with pytest.raises(BadInput, match=r"again.csv: ann voted on .* also in .*votes.csv; keep one vote"):
        read_people([tmp_path / "votes.csv", tmp_path / "again.csv"], store.played, stage)


def test_few_votes_leave_the_ladder_of_all_verdicts(tmp_path: Path, stage: Roster) -> None:
    """People's own ladder needs votes that join players in two contests; without it the others stand."""
    store = told(tmp_path / "a", stage, judge=by_name)
    one = {Key("1", "best", "fair", "person/ann"): StoredVerdict("A", "answered")}
    split = {
        Key("1", "best", "fair", "person/ann"): StoredVerdict("A", "answered"),
        Key("2", "fair", "best", "person/ann"): StoredVerdict("A", "answered"),
        Key("3", "good", "poor", "person/ann"): StoredVerdict("tie", "answered"),
    }
    for votes in (one, split):
        ladder = ladder_of(store, stage, votes=votes)
        assert len(ladder.standings) == 4
        assert ladder.people is not None
        assert ladder.people.alone is ladder.people.powered is None
        arena = dataclasses.replace(arena_of(store, stage), ladder=ladder)
        assert "too few for a ladder by people alone" in page.as_markdown(arena)
        assert "too few for a ladder by people alone" in page.page(arena)


def test_all_intervals_have_the_level_of_the_page(tmp_path: Path, people: Roster) -> None:
    store = told(tmp_path / "a", people, judge=first_shown, other=by_name)
    wide, narrow = (ladder_of(store, people, level) for level in (0.95, 0.6))

    def intervals(ladder: Ladder) -> Iterator[Estimate]:
        for judge in ladder.judges:
            shown = (judge.ties, judge.first_shown, judge.consistent, judge.order_effect, judge.exam)
            yield from (e for e in shown if e is not None)
        yield from (*ladder.wins.values(), *ladder.agreement.values())

    assert all(a.low <= b.low and b.high <= a.high for a, b in zip(intervals(wide), intervals(narrow), strict=True))
    assert sum(a.low < b.low for a, b in zip(intervals(wide), intervals(narrow), strict=True)) > 15
    arena = dataclasses.replace(arena_of(store, people), ladder=narrow)
    assert "Intervals are 60 %" in page.page(arena)


def test_battles_as_items_for_people(tmp_path: Path, stage: Roster) -> None:
    store = told(tmp_path / "a", stage, judge=by_name)
    commands.humor_tasks(
        "people", "pairs", "--arena", str(tmp_path / "a"), "--size", "7", "-o", str(tmp_path / "pairs.jsonl")
    )
    rows = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert rows == items(store.played, stage, 7, 1234, tmp_path / "pairs.jsonl")
    assert len(rows) == 7
    for file in ("arena.json", "rounds.jsonl", "verdicts.jsonl"):
        own = ("people", "pairs", "--arena", tmp_path / "a", "-o", tmp_path / "a" / file)
        assert "is also an input file" in commands.refused(*own)
    known = {identity(battle, stage): battle for battle in store.played}
    assert all(rows[i]["systems"] == list(known[rows[i]["id"]][1:]) for i in range(7))
    assert rows[0]["description"].startswith("A whale at desk")


# ---- players --------------------------------------------------------------------------------------


def test_players_of_files(stage: Roster) -> None:
    ten = tuple(f"joke {i}" for i in range(10))
    groups = [CaptionGroup("a", n, ten) for n in range(1, 13)] + [
        CaptionGroup("b", 1, ten[:4]),
        CaptionGroup("b", 2, ten),
    ]
    (a, b), notes = systems(groups, stage.scenes, "ten")
    assert (set(a.captions), set(b.captions)) == ({str(n) for n in range(1, 13)}, {"2"})
    assert "b lacks ten captions for 29 contests: 1, 3, 4, 5, 6 and 24 more" in notes[1]
    _, best = systems(groups, stage.scenes, "best")[0]
    assert dict(best.captions) == {"1": ("joke 0",), "2": ("joke 0",)}


@pytest.mark.parametrize(
    ("players", "message"),
    [
        ([Player("a", {"1": ("x",)})], "needs two players"),
        ([Player("a", {"1": ("x",)}), Player("a", {"1": ("y",)})], "1 player: a given twice"),
        ([Player("a", {"1": ("x",)}), Player("b", {"2": ("y",)})], "a has no contest in common"),
        ([Player(name, {c: (name,)}) for c, names in (("1", "ab"), ("2", "cd")) for name in names], "all: a, b; c, d"),
        ([Player("a", {"1": ("x",), "2": ("y",)}), Player("b", {"1": ("z",)})], "meet in the contest 1 alone"),
        ([Player("a", {"1": ("x",), "2": ("y",)}), Player("b", {"1": ("X",), "2": ("Y",)})], "show the same captions"),
    ],
)
def test_players_that_make_no_arena(players: list[Player], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        check_players(players)


def test_systems_that_cannot_play(stage: Roster) -> None:
    with pytest.raises(BadInput, match="as a group of people's captions"):
        systems([CaptionGroup(ANCHOR, 1, ("x",))], stage.scenes, "best")
    with pytest.raises(BadInput, match="has ten captions for none of the 30 contests"):
        systems([CaptionGroup("a", 1, ("x",))], stage.scenes, "ten")
