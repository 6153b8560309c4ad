"""What raters are asked, in which order, and that no vote is lost; the page itself is in test_annotation_page.py."""

from __future__ import annotations

import csv
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.paths import REPOSITORY
from standins.waiting import LIMIT

from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_json_lines
from humor_tasks.rows.media.picture import picture_file
from humor_tasks.studies.people import render
from humor_tasks.studies.people.items import Item, read_pairs, same_text
from humor_tasks.studies.people.session import Session, View, VoteStore, assigned, shown_order
from humor_tasks.studies.people.vote_files import read_votes
from humor_tasks.studies.people.votes import COLUMNS, Vote

SAMPLE = REPOSITORY / "datasets_cards" / "newyorker_caption_contest"


def preferences(n: int) -> list[Item]:
    return [Item(f"p{i}", "preference", (f"a{i}", f"b{i}"), caption="c") for i in range(n)]


# ---- the file of items --------------------------------------------------------------------------


def test_items_are_read_and_their_kinds_inferred(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "options": {"b": "second", "a": "first"}, "caption": "c", "description": None, "cluster": 7},
        {"id": "m", "options": ["1", "2", "3"], "answer": "C", "image": None},
        {"id": "r", "options": [" x ", "NULL"], "description": "None"},
        {"id": "forced", "kind": "preference", "options": ["x", "y"], "systems": ["s", "t"]},
    ]
    expected = [
        Item("1", "preference", ("first", "second"), caption="c", cluster="7"),
        Item("m", "matching", ("1", "2", "3"), answer="C"),
        Item("r", "ranking", ("x", "NULL"), description="None"),
        Item("forced", "preference", ("x", "y")),
    ]
    write_json_lines(tmp_path / "pairs.jsonl", rows)
    (tmp_path / "pairs.json").write_text(json.dumps(rows))
    assert read_pairs(tmp_path / "pairs.jsonl") == read_pairs(tmp_path / "pairs.json") == expected
    assert [item.labels for item in expected] == ["AB", "ABC", "AB", "AB"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"options": ["x", "y"]}, "id is None"),
        ({"id": True, "options": ["x", "y"]}, "id is True"),
        ({"id": "1"}, "options must be a list of 2 to 26 texts"),
        ({"id": "1", "options": ["x"]}, "options must be a list"),
        ({"id": "1", "options": {"a": "x", "c": "y"}}, "options must be a list"),
        ({"id": "1", "options": ["x", None]}, "option 2 is empty; it must be text"),
        ({"id": "1", "options": ["x", " "]}, "option 2 is empty; it must be text"),
        ({"id": "1", "options": ["the same", " The  same"]}, "two options are the same text"),
        ({"id": "1", "options": ["x", "y"], "kind": "prefer"}, "kind: there is no 'prefer'.*Did you mean 'preference'"),
        ({"id": "1", "options": ["x", "y", "z"], "kind": "preference"}, "between two options; there are 3"),
        ({"id": "1", "options": ["x", "y"], "answer": "C"}, "answer is 'C'"),
        ({"id": "1", "options": ["x", "y"], "caption": 3}, "caption is 3"),
        ({"id": "1", "options": ["x", "y"], "image": "../x.png"}, "leaves the dataset folder"),
        ({"id": "0", "options": ["x", "y"]}, "id '0' repeats that of .*line 1"),
    ],
)
def test_bad_items_are_named(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    path = tmp_path / "pairs.jsonl"
    write_json_lines(path, [{"id": "0", "options": ["x", "y"]}, row])
    with pytest.raises(BadInput, match=f"line 2: .*{said}"):
        read_pairs(path)


def test_a_picture_is_encoded_anew(tmp_path: Path) -> None:
    source = next((SAMPLE / "images").glob("*.png"))
    (tmp_path / "x.png").write_bytes(source.read_bytes() + b"something behind the picture")
    write_json_lines(tmp_path / "pairs.jsonl", [{"id": "1", "options": ["x", "y"], "image": "x.png"}])
    (item,) = read_pairs(tmp_path / "pairs.jsonl")
    assert item.picture == picture_file(tmp_path, "x.png")
    assert item.picture is not None
    assert render.data_url(item.picture).startswith("data:image/jpeg;base64,/9j/")


def test_no_text_of_a_file_is_markup() -> None:
    """One such text a place; a browser's word on it is in test_shown_page.py."""
    texts = [f"{i}<b>'\">" for i in range(5)]
    of = Item("1", "preference", (texts[0], texts[1]), texts[2], texts[3])
    view = View("<i>", 0, 1, of, (1, 0), note=texts[4])
    shown = render.item(view) + render.around("note", view) + render.around("progress", view)
    assert all(f"{i}&lt;b&gt;&#39;&#34;&gt;" in shown for i in range(5))
    assert not re.search("<[bi]>", shown)


# ---- who sees what ------------------------------------------------------------------------------


def test_orders_are_those_of_this_version() -> None:
    """A change here would change what raters see after an update, in the middle of a study."""
    items = preferences(5)
    assert [item.id for item in assigned(items, "ann", 1234)] == ["p2", "p3", "p1", "p0", "p4"]
    assert [shown_order(1234, "ann", item) for item in items] == [(1, 0), (1, 0), (0, 1), (1, 0), (0, 1)]
    assert shown_order(1234, "ann", items[0], shuffle=False) == (0, 1)


def test_orders_differ_by_rater_item_and_seed_about_evenly() -> None:
    items = preferences(400)
    first = [shown_order(1, "ann", item)[0] for item in items]
    for others in (
        [shown_order(1, "bob", item)[0] for item in items],
        [shown_order(2, "ann", item)[0] for item in items],
    ):
        assert 160 < sum(others) < 240  # 4 standard deviations: 200 +- 40
        assert 160 < sum(a != b for a, b in zip(first, others, strict=True)) < 240
    assert assigned(items, "ann", 1) != assigned(items, "bob", 1) != assigned(items, "bob", 2)


OPTIONS = st.lists(st.sampled_from([f"caption {i}" for i in range(30)]), min_size=2, max_size=5, unique=True)


@st.composite
def mixed(draw: st.DrawFn) -> list[Item]:
    made = draw(st.lists(st.tuples(st.sampled_from(["matching", "ranking", "preference"]), OPTIONS), max_size=15))
    return [Item(str(i), kind, tuple(options)) for i, (kind, options) in enumerate(made)]


@given(mixed(), st.integers(0, 5), st.none() | st.integers(1, 8), st.integers(0, 15))
def test_no_rater_sees_a_caption_twice_and_going_on_changes_nothing(
    items: list[Item], seed: int, limit: int | None, stop: int
) -> None:
    mine = assigned(items, "ann", seed, limit)
    seen = [same_text(text) for item in mine if item.kind != "preference" for text in item.options]
    assert len(seen) == len(set(seen))
    assert len(mine) <= (limit or len(items))
    done = [item.id for item in mine[:stop]]
    assert assigned(items, "ann", seed, limit, done) == mine
    if limit is None:  # nothing that could be asked is left out
        for item in set(items) - set(mine):
            assert item.kind != "preference"
            assert {same_text(text) for text in item.options} & set(seen)


# ---- the votes file -----------------------------------------------------------------------------


def test_votes_are_kept_withdrawn_and_found_again(tmp_path: Path) -> None:
    items, path = preferences(3), tmp_path / "deep" / "votes.csv"
    session = Session(items, VoteStore(path, items), seed=3, ties=True)
    view = session.enter("ann")
    assert (view.done, view.total, view.note, path.read_text()) == (0, 3, "", ",".join(COLUMNS) + "\n")
    first, order = view.item, view.order
    assert first is not None
    view = session.vote("ann", view.key, 1, ' a\n=reason, \x00\ud800with "quotes" ')
    session.vote("bob", session.view("bob").key, None)
    kept = read_votes(path).votes
    assert (kept[0].choice, kept[0].order) == ("AB"[order[1]], "".join("AB"[i] for i in order))
    assert (kept[0].reason, kept[1].choice) == ('a =reason, with "quotes"', "tie")
    back = session.undo("ann")
    assert (back.item, back.order, back.done, back.reason) == (first, order, 0, 'a =reason, with "quotes"')
    assert read_votes(path).votes == kept[1:]
    assert session.undo("ann").note == "There is no vote to undo."
    again = Session(items, VoteStore(path, items), seed=3)
    assert (again.enter("BOB").rater, again.enter("BOB").done, again.enter("ann").item) == ("bob", 1, first)
    assert again.enter("Ann").rater == "Ann"  # nobody of that name has voted


@pytest.mark.parametrize("name", ["", " ", "-x", "a b", "a/b", "é", "<b>", "x" * 41, "a\nb", "../x"])
def test_only_plain_rater_ids_are_taken(tmp_path: Path, name: str) -> None:
    session = Session(preferences(1), VoteStore(tmp_path / "v.csv", preferences(1)))
    with pytest.raises(BadInput, match="is not a valid id"):
        session.enter(name)
    with pytest.raises(BadInput, match="is not a valid id"):
        session.vote(name, session.view("ann").key, 0)


def test_a_vote_counts_for_the_item_that_was_shown_only(tmp_path: Path) -> None:
    items = preferences(3)
    session = Session(items, VoteStore(tmp_path / "v.csv", items), limit=2)
    first = session.enter("ann")
    second = session.vote("ann", first.key, 0)
    assert len({first.key, second.key, ""}) == 3
    for stale in (first.key, "nothing", ""):
        view = session.vote("ann", stale, 0)
        assert (view.item, "was not counted" in view.note) == (second.item, True)
    for place in (-1, 2):
        with pytest.raises(BadInput, match=f"there is no option {place + 1}"):
            session.vote("ann", second.key, place)
    with pytest.raises(BadInput, match="ties are not allowed"):
        session.vote("ann", second.key, None)
    last = session.vote("ann", second.key, 1)
    assert (last.item, last.key, last.done, last.total) == (None, "", 2, 2)
    assert "was not counted" in session.vote("ann", "", 0).note
    assert len(read_votes(tmp_path / "v.csv").votes) == 2


def test_a_page_from_before_a_restart_counts_where_it_shows_the_same_only(tmp_path: Path) -> None:
    """With another order the same button is another option."""
    items, path = [Item("p", "preference", ("a", "b"))], tmp_path / "v.csv"
    open_page = Session(items, VoteStore(path, items), seed=1).enter("ann")
    other = next(s for s in range(2, 99) if shown_order(s, "ann", items[0]) != open_page.order)
    edited = [Item("p", "preference", ("a", "c"))]
    for session in (
        Session(items, VoteStore(path, items), seed=other),
        Session(edited, VoteStore(path, edited), seed=1),
    ):
        assert "was not counted" in session.vote("ann", open_page.key, 0).note
    assert VoteStore(path, items).of("ann") == []
    again = Session(items, VoteStore(path, items), seed=1)
    assert again.enter("ann") == open_page
    again.vote("ann", open_page.key, 0)
    assert [vote.choice for vote in read_votes(path).votes] == ["AB"[open_page.order[0]]]


@pytest.mark.parametrize("text", ["=1+1", "-1", "+49 30", "@ann", "'=1+1"])
def test_a_reason_and_ids_that_a_spreadsheet_would_run_come_back(tmp_path: Path, text: str) -> None:
    items, path = [Item(f"{text}{i}", "preference", ("a", "b")) for i in range(2)], tmp_path / "v.csv"
    session = Session(items, VoteStore(path, items))
    session.vote("ann", session.enter("ann").key, 0, text)
    with path.open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))] == []
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))  # the server was killed before the line's end
    store = VoteStore(path, items)
    assert ([vote.reason for vote in store.of("ann")], store.repaired) == ([text], "")
    session = Session(items, store)
    assert session.undo("ann").reason == text
    assert session.vote("ann", session.enter("ann").key, 0, f"{text} too").done == 1
    assert [vote.reason for vote in read_votes(path).votes] == [f"{text} too"]


REASONS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=20)


@pytest.mark.slow
@given(st.lists(REASONS, min_size=1, max_size=5), st.data())
def test_a_file_cut_anywhere_loses_only_what_was_not_acknowledged(
    tmp_path_factory: pytest.TempPathFactory, reasons: list[str], data: st.DataObject
) -> None:
    items, path = preferences(5), tmp_path_factory.mktemp("cut") / "votes.csv"
    store = VoteStore(path, items)
    sizes = [path.stat().st_size]
    for item, reason in zip(items, reasons, strict=False):
        store.add(Vote(item.id, "ann", "A", "2026-01-31T12:00:00Z", " ".join(reason.split()), "BA"))
        sizes.append(path.stat().st_size)
    whole, before = path.read_bytes(), read_votes(path).votes
    assert sizes[-1] == len(whole)
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    store = VoteStore(path, items)
    acknowledged = sum(size <= cut for size in sizes[1:])
    complete = sum(size - 1 <= cut for size in sizes[1:])  # all but the line's end is there
    assert store.of("ann") == list(before[:complete])
    assert complete - acknowledged in (0, 1)
    assert bool(store.repaired) == (cut > sizes[0] and cut not in sizes and cut + 1 not in sizes)
    assert path.read_bytes() == whole[: sizes[complete]]
    Session(items, store).undo("ann")
    assert VoteStore(path, items).of("ann") == list(before[:complete][:-1])


def test_threads_lose_nothing(tmp_path: Path) -> None:
    items, path = preferences(12), tmp_path / "v.csv"
    session = Session(items, VoteStore(path, items))

    def rate(name: str) -> None:
        view = session.enter(name)
        while view.item is not None:
            view = session.vote(name, view.key, 0)
            if view.done == 5:
                view = session.undo(name)

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(rate, f"r{n}") for n in range(4)]
        done += [pool.submit(rate, f"r{n}") for n in range(4)]  # two windows a rater
        for one in done:
            one.result(timeout=LIMIT)
    votes = read_votes(path, known_items=[item.id for item in items]).votes
    assert len(votes) == 4 * 12
    for n in range(4):
        assert session.store.of(f"r{n}") == [vote for vote in votes if vote.rater == f"r{n}"]


def test_a_failed_write_keeps_the_file_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    items, path = preferences(3), tmp_path / "v.csv"
    store = VoteStore(path, items)
    store.add(Vote("p0", "ann", "A", order="AB"))
    kept = path.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match=r"cannot be written .*No space left"):
        store.add(Vote("p1", "ann", "A", order="AB"))
    with pytest.raises(BadInput, match=r"cannot be written .*No space left"):
        store.undo("ann")
    assert path.read_bytes() == kept
    monkeypatch.undo()
    assert [vote.item for vote in store.of("ann")] == ["p0"]
    assert store.add(Vote("p1", "ann", "A", order="AB"))
    assert [vote.item for vote in VoteStore(path, items).of("ann")] == ["p0", "p1"]


HEADER = ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("item,rater,choice,time\np0,ann,A,", "its columns are not item,rater,choice,time,reason,order"),
        (HEADER + "p0,ann,C,,,AB\n", "choices that do not exist: 'C'"),
        (HEADER + "p0,ann,A,,,AB\np0,ann,B,,,AB\n", "voted more than once: ann on p0"),
    ],
)
def test_a_file_that_is_not_ours_is_refused_and_left_alone(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "v.csv"
    path.write_text(content)
    with pytest.raises(BadInput, match=said):
        VoteStore(path, preferences(2))
    assert path.read_text() == content


def test_a_file_that_another_program_changed_is_not_written(tmp_path: Path) -> None:
    items, path = preferences(2), tmp_path / "v.csv"
    store, other = VoteStore(path, items), VoteStore(path, items)
    other.add(Vote("p0", "bob", "A", order="AB"))
    with pytest.raises(BadInput, match="changed by another program"):
        store.add(Vote("p0", "ann", "A", order="AB"))
    store = VoteStore(path, items)
    other.add(Vote("p1", "bob", "A", order="AB"))
    with pytest.raises(BadInput, match="changed by another program"):
        store.undo("bob")
    assert len(read_votes(path).votes) == 2
    path.unlink()
    with pytest.raises(BadInput, match="cannot be written"):
        other.add(Vote("p0", "ann", "A", order="AB"))
    with pytest.raises(BadInput, match="cannot be used for votes"):
        VoteStore(tmp_path, items)
