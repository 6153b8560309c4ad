"""An arena from its first battle to its end: adaptive rounds, kills, extensions and what judges cannot be told."""

from __future__ import annotations

import itertools
import json
import random
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.model import BatchConfig
from standins.attacks import for_letter
from standins.batch_server import BatchServer

from humor_tasks.contract.judging.rubrics import open_rubric
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.judging.graders import GraderSettings
from humor_tasks.studies.arena import judging, rounds
from humor_tasks.studies.arena.judging import FAMILY, JUDGEMENTS, PromptedJudge, ask, messages, wanted
from humor_tasks.studies.arena.ladder import ladder_of
from humor_tasks.studies.arena.players import Battle, Key, Player, Roster, Scene
from humor_tasks.studies.arena.store import Store, StoredVerdict, open_store
from humor_tasks.testing import scripted_judge
from humor_tasks.testing.judges import material, verdict_reply

RANKED = ("best", "good", "fair", "poor")
RUBRIC = open_rubric(FAMILY, None, JUDGEMENTS["best"])
HOW = GraderSettings(cache=False)


def by_rank(shown: Mapping[str, str]) -> str:
    """Prefers the player whose name comes first in RANKED, as its caption says."""
    first, second = (RANKED.index(shown[side].split()[0].lower()) for side in ("text_a", "text_b"))
    return "A" if first < second else "B"


def judge_of(rule: Any, name: str = "judge") -> PromptedJudge:
    return PromptedJudge(scripted_judge(name, rule).model, RUBRIC, HOW)


def opened(folder: Path, stage: Roster) -> Store:
    return open_store(folder, {"show": "best"}, stage)


def play(folder: Path, stage: Roster, *judges: Any, budget: int = 60) -> Store:
    store = opened(folder, stage)
    rounds.play(store, stage, judges, "best", budget, 0.05, 1)
    return store


def test_a_judge_that_knows_the_rank_ends_the_arena_early(
    tmp_path: Path, stage: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "GROWTH", 1.0)
    store = opened(tmp_path / "a", stage)
    ended = rounds.play(store, stage, [judge_of(by_rank)], "best", 180, 0.05, 1)
    assert ended.why == "every two neighbours on the ladder are apart"
    assert len(store.played) < 180 == rounds.battles_of(stage)
    assert len(set(store.played)) == len(store.played)
    assert Counter(key.battle for key in store.kept) == Counter(dict.fromkeys(store.played, 2))
    ladder = ladder_of(store, stage)
    assert [standing.player for standing in ladder.standings] == list(RANKED)
    assert [standing.ranks for standing in ladder.standings] == [(i, i) for i in range(1, 5)]
    assert list((tmp_path / "a" / "logs").glob("*.eval"))


def test_an_interrupted_arena_resumes_with_identical_results(
    tmp_path: Path, stage: Roster, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = play(tmp_path / "whole", stage, judge_of(by_rank), budget=30)
    order = random.Random(7)
    count, asked = len(whole.kept), 0
    keep = Store.keep
    stops = sorted(order.sample(range(1, count), 3))

    def cut(store: Store, key: Key, kept: Any) -> None:
        nonlocal asked
        if stops and asked == stops[0]:
            stops.pop(0)
            raise KeyboardInterrupt
        keep(store, key, kept)
        asked += 1

    monkeypatch.setattr(Store, "keep", cut)
    for _ in range(4):
        try:
            play(tmp_path / "cut", stage, judge_of(by_rank), budget=30)
        except (KeyboardInterrupt, BadInput):
            continue
    assert asked == count
    assert not stops
    for name in ("rounds.jsonl", "arena.json"):
        assert (tmp_path / "cut" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert opened(tmp_path / "cut", stage).kept == whole.kept


def test_ctrl_c_within_a_round(tmp_path: Path, stage: Roster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inspect then returns no log."""
    monkeypatch.setattr(judging, "eval", lambda *_, **__: [])
    with pytest.raises(BadInput, match="the round was interrupted"):
        play(tmp_path / "a", stage, judge_of(by_rank))


@pytest.mark.parametrize(
    ("read", "message"),
    [
        ((("1", "best", "good"), ("2", "fair", "poor")), r"no ladder holds all: best, good; fair, poor\. The logs"),
        ((("1", "best", "good"), ("2", "fair", "good")), "1 player: poor without a readable verdict"),
        ((("1", "best", "good"), ("1", "fair", "good"), ("1", "good", "poor")), "all readable verdicts are of one con"),
    ],
)
def test_verdicts_that_make_no_ladder(tmp_path: Path, stage: Roster, read: Any, message: str) -> None:
    store = opened(tmp_path / "a", stage)
    store.begin([Battle.between(c, a, b) for c in "12" for a, b in itertools.combinations(RANKED, 2)])
    for battle in store.played:
        for sides in (battle[1:], battle[:0:-1]):
            kept = StoredVerdict("A", "answered") if tuple(battle) in read else StoredVerdict(None, "refused")
            store.keep(Key(battle.contest, *sides, "mockllm/judge"), kept)
    with pytest.raises(BadInput, match=message):
        rounds.play(store, stage, [judge_of(by_rank)], "best", 12, 0.05, 1)


def test_names_with_bars_stay_apart(tmp_path: Path, stage: Roster) -> None:
    """Inspect refuses two samples with one id."""
    names = dict(zip(RANKED, ("a | b", "c", "a", "b | c"), strict=True))
    players = {names[old]: Player(names[old], player.captions) for old, player in stage.players.items()}
    renamed = Roster(stage.scenes, players)
    store = opened(tmp_path / "a", renamed)
    store.begin([Battle("1", "a | b", "c"), Battle("1", "a", "b | c")])
    ask(wanted(store.played, [judge_of("TIE")], store, renamed), [judge_of("TIE")], store, renamed, "best")
    assert len(store.kept) == 4


def test_an_opening_joins_all_players_or_is_not_asked(tmp_path: Path, stage: Roster) -> None:
    """Newcomers need room in the budget."""
    store = opened(tmp_path / "a", stage)
    store.begin([Battle.between(c, a, b) for c in "12" for a, b in itertools.combinations(RANKED[:3], 2)])
    for battle in store.played:
        for sides in (battle[1:], battle[:0:-1]):
            store.keep(Key(battle.contest, *sides, "mockllm/judge"), StoredVerdict("A", "answered"))
    with pytest.raises(BadInput, match=r"no ladder holds all: poor; best, fair, good\. Give a larger --b"):
        rounds.play(store, stage, [judge_of("TIE")], "best", 6, 0.05, 1)
    assert len(store.rounds) == 1


def test_judges_players_and_budget_extend_an_arena(tmp_path: Path, stage: Roster) -> None:
    three = Roster(stage.scenes, {name: stage.players[name] for name in RANKED[:3]})
    store = play(tmp_path / "a", three, judge_of("TIE"), budget=20)
    first = dict(store.kept)
    store = play(tmp_path / "a", three, judge_of("TIE"), judge_of(by_rank, "second"), budget=20)
    assert len(store.kept) == 2 * len(first)
    assert first.items() <= store.kept.items()
    before = dict(store.kept)
    store = play(tmp_path / "a", stage, judge_of("TIE"), judge_of(by_rank, "second"), budget=40)
    assert before.items() <= store.kept.items()
    assert len(store.played) == 40
    assert any("poor" in battle for battle in store.played)


def test_a_failed_request_is_asked_again_and_an_unread_one_is_not(tmp_path: Path, stage: Roster) -> None:
    store = opened(tmp_path / "a", stage)
    battle = Battle("1", "best", "good")
    store.begin([battle])
    keys = wanted([battle], [judge_of(by_rank)], store, stage)
    ask(keys, [judge_of([RuntimeError("down"), None])], store, stage, "best")
    assert sorted(kept.status for kept in store.kept.values()) == ["error", "unparsed"]
    again = wanted([battle], [judge_of(by_rank)], store, stage)
    assert len(again) == 1
    ask(again, [judge_of(by_rank)], store, stage, "best")
    assert wanted([battle], [judge_of(by_rank)], opened(tmp_path / "a", stage), stage) == []


def test_missing_verdicts_have_bounds_and_equal_captions_are_ties(tmp_path: Path, stage: Roster) -> None:
    def some(shown: Mapping[str, str]) -> str | None:
        return None if "joke 3 " in shown["text_a"] else by_rank(shown)

    captions = {**stage.players["good"].captions, "2": (stage.players["best"].captions["2"][0].upper(),)}
    stage = Roster(stage.scenes, {**stage.players, "good": Player("good", captions)})
    store = opened(tmp_path / "a", stage)
    battles = [
        Battle.between(c, a, b) for c in "1234" for a, b in (("best", "good"), ("good", "fair"), ("fair", "poor"))
    ]
    store.begin(battles)
    keys = wanted(battles, [judge_of(some)], store, stage)
    assert not [key for key in keys if key.battle == Battle("2", "best", "good")]
    ask(keys, [judge_of(some)], store, stage, "best")
    ladder = ladder_of(store, stage)
    assert ladder.missing == 6
    for standing in ladder.standings:
        assert standing.bounds[0] < standing.strength.value < standing.bounds[1]
    assert ladder.wins["best", "good"].value == (4 * 1 + 0.5) / 5  # contests 1 and 4 in both orders, one tie


@pytest.mark.parametrize("letter", ["A", "B"])
def test_no_caption_turns_a_verdict(letter: str, stage: Roster) -> None:
    """The judge sees each attack as data: inside its tags, and with nothing that ends them."""
    for attack in for_letter(letter):
        hostile = Player("hostile", {"1": (" ".join(attack.split()) or "-",)})
        hostile_stage = Roster(stage.scenes, {**stage.players, "hostile": hostile})
        text = messages(RUBRIC, hostile_stage, Key("1", "hostile", "best", "j"))[-1].text
        tags = [text.count(tag) for tag in ("<text_a>", "</text_a>", "<text_b>", "</text_b>", "</subject>")]
        assert tags == [1] * 5
        assert material(text)["text_b"] == "best joke 1 xxxx"
        assert text.count("<judgement>") == text.count("<judgement>A</judgement>") + 2


def test_all_questions_of_a_round_travel_in_one_batch(
    stage: Roster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not a key")
    count = 2 * (judging.AT_ONCE // 2 + 2)  # more than are in progress at a time without batches
    with BatchServer(lambda messages: verdict_reply("A")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        (judge,) = judging.open_judges(["openai/gpt-4.1"], batch=True, cache=False)
        assert isinstance(judge, PromptedJudge)
        assert judge.model.config.batch is True
        judge.model.config.batch = BatchConfig(size=count, max_size=count, send_delay=60, tick=0.01)
        store = opened(tmp_path / "a", stage)
        names = sorted(stage.players)
        pairs = [(one, other) for i, one in enumerate(names) for other in names[i + 1 :]]
        battles = [Battle(contest, *pair) for pair in pairs for contest in stage.scenes][: count // 2]
        store.begin(battles)
        ask(wanted(battles, [judge], store, stage), [judge], store, stage, "best")
        assert server.batched() == [("gpt-4.1", count)]
    assert {kept.word for kept in store.kept.values()} == {"A"}


def test_a_scoring_judge_is_asked_once_a_battle(stage: Roster, tmp_path: Path) -> None:
    (longest,) = judging.open_judges(["baseline/longest"])
    store = opened(tmp_path / "a", stage)
    rounds.play(store, stage, [longest], "best", 30, 0.05, 1)
    ladder = ladder_of(store, stage)
    assert len(store.kept) == len(store.played)
    assert ladder.judges[0].first_shown is None
    assert [standing.player for standing in ladder.standings] == list(RANKED)  # the longest first
    assert ladder.longer is not None
    assert ladder.longer.value > 0


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([], "an arena needs a judge"),
        (["baseline/longest", "baseline/longest"], "is named twice"),
        (["baseline/first"], "scores the places of captions"),
    ],
)
def test_judges_that_cannot_judge(names: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        judging.open_judges(names)


def test_a_budget_must_connect_all_players(stage: Roster) -> None:
    assert rounds.budget_of(None, stage) == 180
    for few in (0, 3):
        with pytest.raises(BadInput, match="need at least 4 battles"):
            rounds.budget_of(few, stage)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda a: a["settings"].update(show="ten"), "another arena: show is 'ten' there and 'best' now"),
        (lambda a: a["players"]["best"].update({"1": ["other"]}), "best has other captions than in this arena for"),
        (lambda a: a["players"].update(gone={}), "1 player: gone of this arena not given"),
        (lambda a: a.update(format=99), "is no arena of this version"),
        (lambda a: a.update(settings=[]), "is no arena of this version"),
        (lambda a: a.update(players=["best"]), "is no arena of this version"),
        (lambda a: a["scenes"]["1"].update(words="A whale at sea."), "shows another text or picture for 1 contest: 1"),
    ],
)
def test_the_folder_of_another_arena(tmp_path: Path, stage: Roster, damage: Any, message: str) -> None:
    opened(tmp_path / "a", stage)
    path = tmp_path / "a" / "arena.json"
    about = json.loads(path.read_text())
    damage(about)
    path.write_text(json.dumps(about))
    with pytest.raises(BadInput, match=message):
        opened(tmp_path / "a", stage)


def test_a_damaged_or_foreign_folder(tmp_path: Path, stage: Roster) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    with pytest.raises(BadInput, match="is not empty and no arena"):
        opened(tmp_path / "full", stage)
    with pytest.raises(BadInput, match="tex: is no arena"):
        opened(tmp_path / "full" / "thesis.tex", stage)
    verdict = '{"contest": "1", "first": "best", "second": "gone", "judge": "j", "word": "A", "status": "answered"}\n'
    for name, line in (
        ("verdicts.jsonl", '{"contest": "1"}\n'),
        ("verdicts.jsonl", verdict),
        ("rounds.jsonl", '{"round": "7", "battles": []}\n'),
        ("rounds.jsonl", '{"round": "1", "battles": [["1", "best", "gone"]]}\n'),
        ("rounds.jsonl", '{"round": "1", "battles": [["77", "best", "good"]]}\n'),
        ("rounds.jsonl", '{"round": "1", "battles": [["1", "best", "best"]]}\n'),
    ):
        opened(tmp_path / "a", stage)
        (tmp_path / "a" / name).write_text(line)
        with pytest.raises(BadInput, match=f"{name}, line 1: cannot be read"):
            opened(tmp_path / "a", stage)
        shutil.rmtree(tmp_path / "a")


def test_a_group_is_shown_as_a_numbered_list() -> None:
    ten = tuple(f"joke {i}" for i in range(10))
    stage = Roster({"1": Scene("1", "")}, {name: Player(name, {"1": ten}) for name in "ab"})
    text = messages(open_rubric(FAMILY, None, JUDGEMENTS["ten"]), stage, Key("1", "a", "b", "j"))[-1].text
    assert material(text)["group_a"].splitlines()[9] == "10. joke 9"
