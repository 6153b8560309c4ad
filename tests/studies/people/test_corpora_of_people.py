"""Labels, elements and weaker lines that people give on the page, as the benchmarks and `build options` read them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from standins.browser import CONTRAST, FITS, GUARD, Forks, Windows
from standins.commands import humor_tasks as invoke
from standins.commands import refused

from humor_tasks import load
from humor_tasks.benchmarks.mock.corpus import MockOptions
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_json_lines
from humor_tasks.lab.corpora.mock.options import plans, read_items
from humor_tasks.logs.predictions import read_predictions
from humor_tasks.studies.people.items import Item, read_pairs
from humor_tasks.studies.people.session import Session, VoteStore

RUBRIC = Path(folder("humorbench")) / "sample_rubric.csv"
ELEMENTS = Path(folder("humorbench")) / "comprehensive_annotations.csv"
MOCK = Path(folder("mock"))


def session(items: list[Item], votes: Path) -> Session:
    return Session(items, VoteStore(votes, items))


def label(items: list[Item], votes: Path, passed: dict[str, set[str]]) -> None:
    """Every rater passes the items of their set, and fails the others."""
    asking = session(items, votes)
    for rater, of_rater in passed.items():
        while (view := asking.enter(rater)).item is not None:
            asking.vote(rater, view.key, 0 if view.item.id in of_rater else 1)


def test_labels_of_people_are_an_exam_of_the_autograder(tmp_path: Path) -> None:
    pairs, votes, out = tmp_path / "items.jsonl", tmp_path / "votes.csv", tmp_path / "labels.csv"
    published = load("humorbench_autograder", dataset=str(RUBRIC)).records
    assert f"{len(published)} items" in invoke("people", "items", "labelling", RUBRIC, "-o", pairs)
    items = read_pairs(pairs)
    assert [item.id for item in items] == [record.id for record in published]
    assert all(record.fields["point"] in item.said for item, record in zip(items, published, strict=True))
    assert "explainer" not in items[0].said
    assert "sample-explainer" not in f"{items[0].said}{items[0].description}"
    passes = {record.id for record in published if record.target == "PASS"}
    assert 0 < len(passes) < len(items)
    label(items, votes, {"ann": passes, "bob": passes, "eve": set()})
    invoke("people", "collect", votes, "--items", pairs, "-o", out)
    again = load("humorbench_autograder", dataset=str(out)).records
    assert [(r.id, r.target, r.fields, r.cluster) for r in again] == [
        (r.id, r.target, r.fields, r.cluster) for r in published
    ], "by the majority of three"


def test_labels_without_a_majority_are_named(tmp_path: Path) -> None:
    pairs, votes = tmp_path / "items.jsonl", tmp_path / "votes.csv"
    invoke("people", "items", "labelling", RUBRIC, "--size", "4", "-o", pairs)
    items = read_pairs(pairs)
    assert len(items) == 4
    label(items, votes, {"ann": {item.id for item in items[:1]}, "bob": set()})
    given = ("people", "collect", votes, "--items", pairs, "-o", tmp_path / "labels.csv")
    assert f"1 item: {items[0].id}: as many PASS as FAIL" in refused(*given)
    assert not (tmp_path / "labels.csv").exists()
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    write_json_lines(pairs, [row | {"row": None} for row in rows])
    votes.write_text(
        votes.read_text().replace(",bob,A", ",bob,B").replace(f"{items[0].id},ann,A", f"{items[0].id},ann,B")
    )
    assert "has no row with idx, description" in refused(*given)


def test_elements_of_people_are_rows_of_humorbench(tmp_path: Path) -> None:
    pairs, votes, out = tmp_path / "items.jsonl", tmp_path / "votes.csv", tmp_path / "elements.csv"
    captions = load("humorbench", dataset=str(ELEMENTS), one_explanation_per="caption").records
    assert f"{len(captions)} items" in invoke("people", "items", "elements", ELEMENTS, "-o", pairs)
    items = read_pairs(pairs)
    assert [item.id for item in items] == [record.id for record in captions]
    asking = session(items, votes)
    for rater, texts in (
        ("ann", {"element_1": "It's a pun.", "element_2": "=Two things."}),
        ("bob", {"element_1": "ITS a pun"}),
    ):
        while (view := asking.enter(rater)).item is not None:
            asking.fill(rater, view.key, texts)
    invoke("people", "collect", votes, "--items", pairs, "-o", out)
    rows = load("humorbench", dataset=str(out)).records
    assert len(rows) == 2 * len(captions), "the same words of two people are one element"
    collected = load("humorbench", dataset=str(out), one_explanation_per="caption").records
    assert [(r.id, r.fields) for r in collected] == [(r.id, r.fields) for r in captions]
    assert {tuple(point.text for point in record.points) for record in collected} == {("It's a pun.", "=Two things.")}


def test_weaker_lines_of_people_are_read_by_build_options(tmp_path: Path) -> None:
    pairs, votes, out = tmp_path / "items.jsonl", tmp_path / "votes.csv", tmp_path / "weak.json"
    rows = read_items(MOCK, MockOptions(dataset=str(MOCK), input="media"))
    assert f"{len(rows)} items" in invoke("people", "items", "weak", MOCK, "-o", pairs)
    items = read_pairs(pairs)
    assert {item.id: item.caption for item in items} == {row.record.id: row.line for row in rows}
    assert all(item.picture is not None for item in items)
    assert all(item.caption not in item.said for item in items)
    asking = session(items, votes)
    while (view := asking.enter("ann")).item is not None:
        for text in (f"“{view.item.caption.upper()}”", "…"):
            with pytest.raises(BadInput, match="write other words than those of the line shown"):
                asking.fill("ann", view.key, {"text": text})
        asking.fill("ann", view.key, {"text": f"Weaker than {view.item.id}."})
    invoke("people", "collect", votes, "--items", pairs, "-o", out)
    planned = plans(rows, read_predictions(out), 1.0, 1)
    assert {plan.item.record.id: plan.by_hand for plan in planned} == {
        row.record.id: f"Weaker than {row.record.id}." for row in rows
    }


def test_sources_that_do_not_fit_are_named(tmp_path: Path) -> None:
    out = tmp_path / "items.jsonl"
    with RUBRIC.open(newline="", encoding="utf-8") as file:
        header, first, *_ = csv.reader(file)
    double = tmp_path / "double.csv"
    with double.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, first, first])
    assert "line 3: the same (idx, element) by the same explainer" in refused(
        "people", "items", "labelling", double, "-o", out
    )
    assert "explanation" in refused("people", "items", "labelling", ELEMENTS, "-o", out)
    assert "holds no SCENE_matching/SPLIT.jsonl" in refused("people", "items", "weak", tmp_path, "-o", out)
    rows = tmp_path / "post_matching" / "train.jsonl"
    rows.parent.mkdir()
    rows.write_text(json.dumps({"media_id": "a", "id": "a", "caption": "x"}))
    assert "line 1: has no scene, media" in refused("people", "items", "weak", tmp_path, "-o", out)
    assert not out.exists()


SHOWN: list[tuple[str, Path, str, dict[str, Any]]] = [
    ("labelling", RUBRIC, "Does the explanation contain the element?", {}),
    ("elements", ELEMENTS, "What makes this caption funny?", {"element_1": "A pun."}),
    ("weak", MOCK, "Write a weaker line", {"text": "Hm."}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "source", "heading", "texts"), SHOWN)
def test_the_page_asks_for_them(
    windows: Windows, forks: Forks, tmp_path: Path, kind: str, source: Path, heading: str, texts: dict[str, str]
) -> None:
    pairs, votes = tmp_path / "items.jsonl", tmp_path / "votes.csv"
    invoke("people", "items", kind, source, "--size", "2", "-o", pairs)
    with forks.serve(pairs, votes) as server:
        phone = windows.open(server, phone=True)
        phone.enter("ann")
        assert phone.page.inner_text("#question") == heading
        assert phone.page.evaluate(FITS)
        assert [(ratio, text) for ratio, text in phone.page.evaluate(CONTRAST) if ratio < 4.5] == []
        if kind == "labelling":
            assert phone.options() == ["PASS", "FAIL"]
            phone.page.tap("#vote-1")
        else:
            caption = phone.page.inner_text("#item .caption")
            for name, text in texts.items():
                phone.page.fill(f"[name={name}]", caption if kind == "weak" else text)
            phone.page.tap("#vote-form")
            if kind == "weak":
                phone.page.wait_for_selector("text=write other words than those of the line shown")
                phone.page.clock.fast_forward(GUARD)
                phone.page.fill("[name=text]", texts["text"])
                phone.page.tap("#vote-form")
        phone.expect("2 of 2")
        assert (phone.elsewhere(), phone.problems) == ([], [])
    invoke("people", "collect", votes, "--items", pairs, "-o", tmp_path / "collected")
    assert (tmp_path / "collected").stat().st_size
