"""Forms and ratings: what annotators may write, who takes part, and results in the form of the corpora."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from standins.commands import humor_tasks as invoke
from standins.commands import refused

from humor_tasks import load
from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_json_lines
from humor_tasks.rows.contests.annotations import read_annotations
from humor_tasks.studies.people import render
from humor_tasks.studies.people.collecting import read_qualified
from humor_tasks.studies.people.items import Item, choices_of, read_pairs
from humor_tasks.studies.people.session import Session, View, VoteStore
from humor_tasks.studies.people.vote_files import read_votes

LINK = "https://en.wikipedia.org/wiki/Moby-Dick"
DESCRIBED = {"image_description": "A whale cooks.", "image_uncanny_description": "Whales do not."}
LINKED = {"image_location": "a kitchen", "link_1": LINK, "link_2": f"{LINK}_2"}
HEADLINE = "<Senate/> votes on <tax/> bill"


def filled(pairs: Path, votes: Path, texts: dict[str, Any], *raters: str) -> None:
    """Every rater writes these texts for every item."""
    items = read_pairs(pairs)
    session = Session(items, VoteStore(votes, items))
    for rater in raters:
        while (view := session.enter(rater)).item is not None:
            session.fill(rater, view.key, texts)


@pytest.mark.parametrize(
    ("kind", "texts", "said"),
    [
        ("description", {}, "'What does the cartoon show.*' is empty"),
        ("description", {**DESCRIBED, "image_description": " \n"}, "is empty"),
        ("links", {**LINKED, "link_1": "Moby-Dick"}, "'First article' must be the address of an article"),
        ("links", {**LINKED, "link_3": "https://example.org/wiki/X"}, "'Third article .*' must be the address"),
        ("literal", {"description": ""}, "'Description' is empty"),
        ("editing", {"place": "2", "edit": "clown"}, "must be one of the underlined words"),
        ("editing", {"edit": "clown"}, "'The word to replace' is empty"),
        ("editing", {"place": "0", "edit": "two words"}, "must be a single word"),
        ("literal", {"description": "a" * 1001}, "'Description' has 1,001 characters; at most 1,000 fit"),
    ],
)
def test_texts_that_a_form_does_not_take_are_named(tmp_path: Path, kind: str, texts: dict[str, str], said: str) -> None:
    items = [Item("1", kind, (), headline=HEADLINE)]
    session = Session(items, VoteStore(tmp_path / "v.csv", items))
    with pytest.raises(BadInput, match=said):
        session.fill("ann", session.enter("ann").key, texts)
    assert session.store.of("ann") == []


def test_a_form_is_kept_like_a_vote(tmp_path: Path) -> None:
    path, items = tmp_path / "v.csv", [Item(str(i), "description", ()) for i in range(2)]
    session = Session(items, VoteStore(path, items))
    first = session.enter("ann")
    hostile = {"image_description": '=1+1, "a"\n<b>', "image_uncanny_description": "x", "not_asked": "y"}
    assert session.fill("ann", first.key, hostile).done == 1
    assert "was not counted" in session.fill("ann", first.key, DESCRIBED).note
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))  # the server was killed before the line's end
    again = Session(items, VoteStore(path, items))
    back = again.undo("ann")
    assert (back.item, back.filled["image_description"]) == (first.item, '=1+1, "a" <b>')
    assert 'value="' not in render.item(back)  # areas only
    assert "=1+1, &#34;a&#34; &lt;b&gt;</textarea>" in render.item(back)
    again.fill("ann", again.enter("ann").key, DESCRIBED)
    cut = path.read_bytes()[:-2]  # in the middle of the line
    path.write_bytes(cut)
    store = VoteStore(path, items)
    assert (store.of("ann"), "incomplete" in store.repaired) == ([], True)


def test_bad_rows_of_forms_are_named(tmp_path: Path) -> None:
    for row, said in (
        ({"kind": "editing", "headline": "No word is marked"}, "mark the words that may be replaced"),
        ({"kind": "editing", "headline": "An empty </> mark"}, "mark the words that may be replaced"),
        ({"kind": "literal", "draft": ["x"]}, "draft is"),
    ):
        write_json_lines(tmp_path / "pairs.jsonl", [{"id": "1", **row}])
        with pytest.raises(BadInput, match=said):
            read_pairs(tmp_path / "pairs.jsonl")
    write_json_lines(tmp_path / "pairs.jsonl", [{"id": "1", "kind": "literal"}])
    (tmp_path / "votes.csv").write_text('item,rater,choice,time\n1,ann,"{""x"": ""y""}",\n')
    items = read_pairs(tmp_path / "pairs.jsonl")
    with pytest.raises(BadInput, match="choices that do not exist"):
        read_votes(tmp_path / "votes.csv", choices=choices_of(items))
    said = refused("people", "agreement", tmp_path / "votes.csv", "--items", tmp_path / "pairs.jsonl")
    assert "agreement is of votes" in said


def test_a_scale_keeps_its_order_and_has_no_ties(tmp_path: Path) -> None:
    items = [Item(str(i), "rating", ("Not funny", "Funny"), headline=f"A <word/> {i}") for i in range(9)]
    session = Session(items, VoteStore(tmp_path / "v.csv", items), ties=True)
    view = session.enter("ann")
    assert (view.total, view.order) == (9, (0, 1))
    with pytest.raises(BadInput, match="ties"):
        session.vote("ann", view.key, None)
    shown = render.item(view, ties=True)
    assert 'data-key="0"' in shown
    assert "<u>word</u>" in shown
    assert "vote-tie" not in shown


def test_so_many_annotators_an_item_and_nobody_loses_an_open_one(tmp_path: Path) -> None:
    items = [Item(str(i), "literal", ()) for i in range(3)]
    session = Session(items, VoteStore(tmp_path / "v.csv", items), per_item=2)
    late = session.enter("late")
    filled_by = [session.enter(name) for name in ("ann", "bob")]
    for name in ("ann", "bob"):
        while (view := session.enter(name)).item is not None:
            session.fill(name, view.key, {"description": "x"})
    assert [view.total for view in filled_by] == [3, 3]
    assert session.store.full(2) == {"0", "1", "2"}
    assert session.fill("late", late.key, {"description": "what took long to write"}).done == 1
    assert session.enter("late").item is None
    assert session.enter("new").total == 0


# ---- qualification ------------------------------------------------------------------------------


def test_a_round_with_answers_says_who_goes_on(tmp_path: Path) -> None:
    pairs, votes, out = (tmp_path / name for name in ("test.jsonl", "v.csv", "who.csv"))
    write_json_lines(
        pairs, [{"id": f"{i}", "caption": "c", "options": ["good", "bad"], "answer": "A"} for i in range(4)]
    )
    rows = [(str(i), rater, "B" if i in wrong else "A") for rater, wrong in (("ann", {0}), ("bob", {0, 1}))
            for i in range(4)]  # fmt: skip
    rows += [("0", "cleo", "A")]  # gave up
    votes.write_text("item,rater,choice,time\n" + "".join(f"{','.join(row)},\n" for row in rows))
    assert "1 of 3 qualified" in invoke("people", "qualify", votes, "--items", pairs, "--threshold", ".75", "-o", out)
    with out.open(newline="") as file:
        found = [(row["rater"], row["share"], row["qualified"]) for row in csv.DictReader(file)]
    assert found == [("ann", "0.75", "yes"), ("bob", "0.5", "no"), ("cleo", "0.25", "no")]
    items = read_pairs(pairs)
    session = Session(items, VoteStore(tmp_path / "next.csv", items), qualified=read_qualified(out))
    assert session.enter("Ann").total == 4
    with pytest.raises(BadInput, match="'bob' is not among the annotators"):
        session.enter("bob")


def test_a_round_of_forms_is_decided_by_a_person(tmp_path: Path) -> None:
    pairs, votes, out = (tmp_path / name for name in ("test.jsonl", "v.csv", "who.csv"))
    write_json_lines(pairs, [{"id": "1", "kind": "literal"}])
    filled(pairs, votes, {"description": "Good."}, "ann", "bob")
    assert "2 annotators, to decide by hand" in invoke("people", "qualify", votes, "--items", pairs, "-o", out)
    with pytest.raises(BadInput, match=r"line 2: qualified is ''; write yes or no"):
        read_qualified(out)
    out.write_text(out.read_text().replace("ann,1,0,,", "ann,1,0,,yes").replace("bob,1,0,,", "bob,1,0,,no"))
    assert read_qualified(out) == {"ann"}
    out.write_text(out.read_text().replace("yes", "no"))
    with pytest.raises(BadInput, match="nobody is qualified"):
        read_qualified(out)


# ---- results ------------------------------------------------------------------------------------


def test_descriptions_and_links_become_annotations_of_contests(tmp_path: Path) -> None:
    (tmp_path / "cartoons").mkdir()
    for number in (7, 12):
        Image.new("L", (9, 9), number).save(tmp_path / "cartoons" / f"{number}.png")
    before = tmp_path / "before.json"
    before.write_text(json.dumps({"7": {"contest_number": 7, "official_newyorker_finalists": ["Hm.", "Oh.", "Ah."]}}))
    for kind, texts, raters in (("description", DESCRIBED, ("ann", "bob", "cleo")), ("links", LINKED, ("ann", "bob"))):
        pairs, votes = tmp_path / f"{kind}.jsonl", tmp_path / f"{kind}.csv"
        assert "2 items" in invoke("people", "items", kind, tmp_path / "cartoons", "-o", pairs)
        filled(pairs, votes, texts, *raters)
        after = tmp_path / f"{kind}.json"
        invoke("people", "collect", votes, "--items", pairs, "--into", before, "-o", after)
        before = after
    found = read_annotations(before)
    assert sorted(found) == [7, 12]
    assert (found[7].finalists, found[12].finalists) == (("Hm.", "Oh.", "Ah."), ())
    assert [len(each.scenes) for each in found.values()] == [6, 6]  # three descriptions by two sets of links
    assert found[7].fixed is not None
    assert (found[7].fixed.location, found[7].fixed.entities) == ("a kitchen", (LINK, f"{LINK}_2"))
    assert '"ann"' not in before.read_text()


def test_edited_headlines_are_rated_and_become_rows_of_the_benchmark(tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    source.write_text(
        "id,original,edit\n1,<Senate/> votes on tax bill,x\n2,Senate votes on <tax/> bill,y\n3,One <more/>,z\n"
    )
    edit, rate = tmp_path / "edit.jsonl", tmp_path / "rate.jsonl"
    invoke("people", "items", "editing", source, "-o", edit)
    assert [item.headline for item in read_pairs(edit)] == [HEADLINE, "One <more/>"]
    filled(edit, tmp_path / "e.csv", {"place": "0", "edit": "Zoo"}, "ann")
    edited = tmp_path / "edited.csv"
    invoke("people", "collect", tmp_path / "e.csv", "--items", edit, "-o", edited)
    invoke("people", "items", "rating", edited, "-o", rate)
    items = read_pairs(rate)
    assert {item.headline for item in items} == {"<Zoo/> votes on tax bill", "One <Zoo/>"}
    session = Session(items, VoteStore(tmp_path / "r.csv", items))
    for rater, place in (("ann", 0), ("bob", 3), ("cleo", 1)):
        while (view := session.enter(rater)).item is not None:
            session.vote(rater, view.key, place)
    (tmp_path / "data" / "task-1").mkdir(parents=True)
    invoke("people", "collect", tmp_path / "r.csv", "--items", rate, "-o", tmp_path / "data" / "task-1" / "test.csv")
    records = {
        record.fields["edited"]: record for record in load("humicroedit_rating", dataset=str(tmp_path / "data")).records
    }
    assert set(records) == {"Zoo votes on tax bill", "One Zoo"}
    assert {tuple(record.facts["grades"]) for record in records.values()} == {(3, 1, 0)}
    assert {round(float(str(record.target)), 3) for record in records.values()} == {1.333}


def test_what_cannot_be_collected_is_said(tmp_path: Path) -> None:
    pairs, votes = tmp_path / "p.jsonl", tmp_path / "v.csv"
    write_json_lines(pairs, [{"id": "1", "options": ["x", "y"]}])
    votes.write_text("item,rater,choice,time\n1,ann,A,\n")
    assert "agreement` reads votes" in refused("people", "collect", votes, "--items", pairs, "-o", tmp_path / "o.json")
    assert "kind: there is no 'rate'" in refused("people", "items", "rate", tmp_path, "-o", tmp_path / "o.jsonl")
    (tmp_path / "plain.csv").write_text("original\nno mark\n")
    assert "line 2: no word is marked" in refused(
        "people", "items", "editing", tmp_path / "plain.csv", "-o", tmp_path / "o"
    )


def test_pages_of_forms_escape_what_files_say() -> None:
    of = Item("1", "editing", (), headline="<a&b/> '<i>' <c/>", said="<b>")
    shown = render.item(View("r", 0, 1, of, (), filled={"place": "1", "edit": '"><script>'}))
    assert "<u>a&amp;b</u>" in shown
    assert "&lt;i&gt;" in shown
    assert 'value="&#34;&gt;&lt;script&gt;"' in shown
    assert 'value="1" required checked' in shown
    assert "&lt;b&gt;" in shown


RATED = {"id": "1", "kind": "rating", "options": list("0123"), "original": "a <b/>", "edit": "c"}
PICTURE = {"id": "1", "kind": "description", "cluster": "5"}
DAMAGED: list[tuple[dict[str, Any], str, str | None, str]] = [
    (RATED, "tie", None, "choices that do not exist: 'tie'"),
    (RATED | {"edit": None}, "B", None, "item 1: must have 4 options, and original and edit as text"),
    (RATED | {"options": list("01234")}, "E", None, "item 1: must have 4 options"),
    (PICTURE | {"cluster": "9" * 5000}, json.dumps(DESCRIBED), None, "it must be the number of a contest"),
    (PICTURE, json.dumps(DESCRIBED), "[]", "into.json: must be one JSON object"),
    (PICTURE, json.dumps(DESCRIBED), '{"5": []}', "into.json, contest 5: must be an object"),
    (PICTURE, json.dumps(DESCRIBED), '{"5": {"mturk_annotations": {"link_hit": {}}}}', "into.json, contest 5: must be"),
    (PICTURE, json.dumps(DESCRIBED), '{"05": {}}', "into.json: '05' is no contest number"),
    (PICTURE, json.dumps(DESCRIBED), '{"5": {}, "5": {}}', "'5' is repeated in one object"),
    (PICTURE, json.dumps(DESCRIBED), '{"5": {"x": "\\ud800"}}', "a text has half of a character"),
]


@pytest.mark.parametrize(("item", "choice", "into", "said"), DAMAGED)
def test_damaged_annotations_are_named_and_nothing_is_written(
    tmp_path: Path, item: dict[str, Any], choice: str, into: str | None, said: str
) -> None:
    write_json_lines(tmp_path / "items.jsonl", [item])
    with (tmp_path / "v.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("item", "rater", "choice", "time"), ("1", "ann", choice, "")])
    more: list[object] = []
    if into is not None:
        (tmp_path / "into.json").write_text(into)
        more = ["--into", tmp_path / "into.json"]
    out = tmp_path / "out"
    assert said in refused(
        "people", "collect", tmp_path / "v.csv", "--items", tmp_path / "items.jsonl", *more, "-o", out
    )
    assert not out.exists()


def test_the_same_votes_are_added_once(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "items.jsonl", [PICTURE])
    items, votes, out = read_pairs(tmp_path / "items.jsonl"), tmp_path / "v.csv", tmp_path / "a.json"
    filled(tmp_path / "items.jsonl", votes, DESCRIBED, "ann", "bob")
    invoke("people", "collect", votes, "--items", tmp_path / "items.jsonl", "-o", out)
    before = out.read_text()
    invoke("people", "collect", votes, "--items", tmp_path / "items.jsonl", "--into", out, "-o", out)
    assert (out.read_text(), len(items)) == (before, 1)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("ann,maybe", "qualified is 'maybe'"),
        (",yes", "rater is empty"),
        ("ann,yes\nAnn,no", "Ann has yes and no; keep one row"),
    ],
)
def test_a_damaged_file_of_qualified_annotators_is_named(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "q.csv").write_text(f"rater,qualified\n{content}\n")
    with pytest.raises(BadInput, match=said):
        read_qualified(tmp_path / "q.csv")


def test_a_damaged_source_leaves_no_pictures_behind(tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    Image.new("RGB", (9, 9)).save(tmp_path / "c" / "1.jpg")
    (tmp_path / "c" / "2.jpg").write_text("junk")
    assert "Picture 2.jpg" in refused("people", "items", "description", tmp_path / "c", "-o", tmp_path / "o.jsonl")
    rows = tmp_path / "m" / "cartoon_detecting" / "train.jsonl"
    rows.parent.mkdir(parents=True)
    for row, said in (
        ({"media_id": " a"}, "line 1: media_id is ' a'"),
        ({"media_id": "a", "description": "\ud800"}, "line 1: media_id or description has half of a character"),
    ):
        rows.write_text(json.dumps(row | {"media": "x.jpg"}))
        assert said in refused("people", "items", "literal", tmp_path / "m", "-o", tmp_path / "o.jsonl")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c", "m"]
