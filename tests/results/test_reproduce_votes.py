"""`reproduce mock-humanacc-*`: HumanAcc of two judges from their votes, and from the report of `people agreement`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from standins.commands import refused
from standins.published_rows import reproduced
from standins.votes import told, votes_on

from humor_tasks.files.writing import write_text
from humor_tasks.results.reproduce.rows import rows

ROW, POSTS, VALUE = "mock-humanacc-post-gpt-4o", 351, 0.462


def files(folder: Path, systems: tuple[str, str] = ("gpt-4o", "human"), posts: int = POSTS) -> tuple[Path, Path]:
    """Votes of two judges, who choose the generated text in .50 and .424 of the posts, and their pairs."""
    items = [{"id": str(i), "kind": "preference", "options": [f"One {i}.", f"Two {i}."]} for i in range(posts)]
    write_text(folder / "pairs.jsonl", "".join(json.dumps(item | {"systems": systems}) + "\n" for item in items))
    chosen = {"ann": round(0.5 * posts), "bob": round((2 * VALUE - 0.5) * posts)}
    votes = [(str(i), who, "A" if i < k else "B") for who, k in chosen.items() for i in range(posts)]
    return votes_on(folder / "votes.csv", *votes), folder / "pairs.jsonl"


def test_votes_and_the_report_of_them_are_scored(tmp_path: Path) -> None:
    votes, pairs = files(tmp_path)
    by_votes = reproduced(ROW, "--predictions", votes, "--items", pairs)
    assert told(votes, "--items", pairs, "-o", tmp_path / "agreement.json").exit_code == 0
    by_report = reproduced(ROW, "--predictions", tmp_path / "agreement.json")
    assert by_votes == by_report
    code, shown = by_votes
    assert code == 0
    assert f"{ROW}: reproduced\n" in shown
    assert "preferred_post: published 0.46200, here 0.46296 [" in shown, "the majority would have .425"


def test_other_votes_are_not_the_published_ones(tmp_path: Path) -> None:
    votes, pairs = files(tmp_path, posts=350)
    code, shown = reproduced(ROW, "--predictions", votes, "--items", pairs)
    assert (code, "350 items have votes, and 351 are published." in shown) == (6, True)
    votes, pairs = files(tmp_path)
    votes.write_text(votes.read_text().replace(",bob,", ",ann2,", 10).replace("ann2", "eve"))
    code, shown = reproduced(ROW, "--predictions", votes, "--items", pairs)
    assert (code, "3 people voted, and two are published." in shown) == (6, True)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    votes, pairs = files(tmp_path, ("gpt-4o", "gpt-4v"))
    given = ("reproduce", ROW, "--predictions")
    assert "it compares gpt-4o and gpt-4v, and not a system with human" in refused(*given, votes, "--items", pairs)
    assert "--items is missing" in refused(*given, votes)
    write_text(tmp_path / "other.json", "{}")
    assert "is no report of `people agreement` in JSON" in refused(*given, tmp_path / "other.json")
    assert "--items goes with votes" in refused("reproduce", "table-3-q1", "--items", pairs)
    assert "has no parameters" in refused("reproduce", ROW, "-T", "scene=post")


def test_all_42_values_are_of_two_people() -> None:
    held = [row for row in rows().values() if row.recipe == "agreement"]
    assert len(held) == 42
    assert {(f.metric, f.protocol) for row in held for f in row.figures} == {("preferred", "graders=two people")}


@pytest.mark.parametrize("scene", ["cartoon", "post", "comedy"])
def test_each_scene_has_rows_of_its_own_size(scene: str) -> None:
    known = [row.known for row in rows().values() if row.recipe == "agreement" and row.figures[0].part == scene]
    assert {each.counts[scene] for each in known if each} == {{"cartoon": 130, "post": 351, "comedy": 224}[scene]}
