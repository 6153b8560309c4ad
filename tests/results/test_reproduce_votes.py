"""`reproduce` of people's rows: HumanAcc of two judges from their votes and from the report of `people agreement`, and
the accuracies of three people.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from standins.commands import refused
from standins.published_rows import of_these_rows, reproduced, sample_as_corpora, told_wrongly
from standins.votes import told, votes_on

from humor_tasks.cli import main
from humor_tasks.files.writing import write_text
from humor_tasks.results.reproduce import recipes
from humor_tasks.results.reproduce.recipes import Given
from humor_tasks.results.reproduce.rows import find_row, rows
from humor_tasks.results.reproduce.verdict import reproduce

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


# ---- people's accuracy, on items of the sample as if it were the corpus -----------------------------


def answers(folder: Path, data: Path, task: str, *more: str) -> tuple[Path, Path, int]:
    """Votes of three people on the items that the row's command writes, their items, and the number of votes.

    Two people are right on every item, and the third on those whose answer readers chose.
    """
    given = ("--task", task, "--setting", "pixels", "--fold", "all", "--dataset", data / "newyorker_caption_contest")
    done = CliRunner().invoke(main, ["people", "pairs", *map(str, given), *more, "-o", str(folder / "items.jsonl")])
    assert done.exit_code == 0, done.output
    items = [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]
    votes = [(item["id"], who, item["answer"]) for item in items for who in ("ann", "bob")]
    for item in items:
        wrong = next(label for label in "AB" if label != item["answer"])
        votes.append((item["id"], "eve", wrong if item.get("winner_source") == "official_winner" else item["answer"]))
    return votes_on(folder / "votes.csv", *votes), folder / "items.jsonl", len(votes)


def test_people_have_both_accuracies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    votes, items, count = answers(tmp_path, sample_as_corpora(tmp_path / "data"), "ranking")
    metrics = json.loads(told(votes, "--items", items, "--json").stdout)["questions"][0]["metrics"]
    assert metrics["crowd_accuracy"]["value"] == 1
    assert metrics["ny_accuracy"]["value"] == pytest.approx(2 / 3)
    assert metrics["crowd_accuracy"]["n"] + metrics["ny_accuracy"]["n"] == count
    monkeypatch.setattr(recipes, "RESPONSES", count)
    rows_read = [json.loads(line) for line in items.read_text().splitlines()]
    report = json.loads(told(votes, "--items", items, "--json").stdout)
    use = Given(str(tmp_path / "data"), predictions=votes, agreement=report, items=rows_read)
    row = of_these_rows(find_row("ranking-human"), use)
    assert {figure.metric: figure.value for figure in row.figures} == {"crowd_accuracy": 1, "ny_accuracy": 0.666667}
    assert reproduce(row, use).sentence == "reproduced"
    assert reproduce(told_wrongly(row, 0.06), use).status == "differs"
    turned = rows_read[0] | {"answer": "AB".replace(rows_read[0]["answer"], "")}
    other = reproduce(row, replace(use, items=[turned, *rows_read[1:]]))
    assert other.status == "not the published rows"
    assert f"1 item: {turned['id']}: not a row of" in other.sentence


@pytest.mark.parametrize("task", ["matching", "ranking"])
def test_votes_on_other_items_reproduce_nothing(tmp_path: Path, task: str) -> None:
    """Right answers to invented rows, and to few of them, are not the paper's, with the rows and without."""
    votes, items, count = answers(tmp_path, sample_as_corpora(tmp_path / "data"), task)
    given = (f"{task}-human", "--predictions", votes, "--items", items)
    code, shown = reproduced(*given, "--dataset", tmp_path / "data")
    assert (code, f"there are {count} votes, and 295 to 300 are published." in shown) == (6, True)
    assert "are published." in shown.partition("votes, and 295 to 300 are published.")[2], "the rows of the folds"
    code, shown = reproduced(*given, "--dataset", "sample")
    assert (code, "nothing shows that the items are of the published rows (the packaged sample" in shown) == (6, True)
    assert "accuracy" in shown


def test_items_of_another_kind_or_without_answers_are_refused(tmp_path: Path) -> None:
    votes, items, _ = answers(tmp_path, sample_as_corpora(tmp_path / "data"), "ranking")
    given = ("--predictions", votes, "--items", items)
    assert "--items has ranking items; write those of matching" in refused("reproduce", "matching-human", *given)
    assert "--items is missing" in refused("reproduce", "ranking-human", "--predictions", votes)
    assert "has no parameters" in refused("reproduce", "ranking-human", "-T", "fold=1")
    text = items.read_text()
    items.write_text(text.replace('"winner_source"', '"nobody"'))
    assert "no answer or winner_source" in refused("reproduce", "ranking-human", *given)
    items.write_text(text.replace('"crowd_winner"', '"crowd"'))
    assert "winner_source: there is no 'crowd'" in refused("reproduce", "ranking-human", *given)
