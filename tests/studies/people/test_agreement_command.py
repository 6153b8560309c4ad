"""`humor-tasks people agreement`: the table of human votes."""

from __future__ import annotations

import csv
import json
import math
import random
import re
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from standins.votes import cells, shown, tight, told, votes_on

from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_json_lines
from humor_tasks.scorers.agreement import agreement
from humor_tasks.studies.people.agreement import read_questions
from humor_tasks.studies.people.agreement_report import analyse
from humor_tasks.studies.people.votes import Vote, write_votes

Rows = list[dict[str, Any]]


def asked(identity: str, **fields: Any) -> dict[str, Any]:
    options = [f"One says {identity}.", f"The other says {identity}."]
    return {"id": identity, "kind": "preference", "options": options} | fields


# ---- the table ----------------------------------------------------------------------------------

# Items, of which A wins, by all three votes, and of which B wins by all three. Q1 and Q7 are so that what Hessel et al.
# (ACL 2023) print of them comes out: no other split of Q1 gives its AC1, and section 3.2 tells that of Q7. The rest is
# made up.
TABLE = {
    "Q1": ("T5-11B", "caption only", 131, 111, 75, 10),
    "Q2": ("system 2", "system 1", 90, 60, 30, 7),
    "Q3": ("system 3", "system 1", 120, 61, 12, 15),
    "Q4": ("system 3", "system 2", 60, 60, 60, 0),
    "Q5": ("system 4", "system 3", 40, 9, 3, 25),
    "Q6": ("caption only", "system 1", 77, 50, 20, 20),
    "Q7": ("human", "5-shot GPT-4", 130, 88, 39, 8),
}


def simulated() -> tuple[dict[str, Rows], dict[str, list[Vote]]]:
    """Items and votes by question: three raters out of five for each item, in an order of their own."""
    draw, pairs, votes = random.Random(7), {}, {}
    for question, (a, b, n, wins, all_a, all_b) in TABLE.items():
        counts = [3] * all_a + [2] * (wins - all_a) + [1] * (n - wins - all_b) + [0] * all_b
        draw.shuffle(counts)
        own = {"question": question, "systems": [a, b]}
        pairs[question] = [asked(f"{question}-{i}", cluster=f"contest {i % 20}", **own) for i in range(n)]
        votes[question] = []
        for i, count in enumerate(counts):
            said = draw.sample(["A"] * count + ["B"] * (3 - count), 3)
            for rater, choice in zip(draw.sample("vwxyz", 3), said, strict=True):
                votes[question].append(Vote(f"{question}-{i}", rater, choice))
    return pairs, votes


def naive(votes: Sequence[Vote]) -> tuple[str, str, str]:
    """% A wins, ratings and AC1 x100 of three votes an item, from the definitions."""
    by_item: dict[str, list[str]] = {}
    for vote in votes:
        by_item.setdefault(vote.item, []).append(vote.choice)
    wins = sum(Counter(said).most_common(1)[0][0] == "A" for said in by_item.values()) / len(by_item)
    agreeing = [sum(one == two for one, two in combinations(said, 2)) / 3 for said in by_item.values()]
    pa, share = sum(agreeing) / len(agreeing), sum(vote.choice == "A" for vote in votes) / len(votes)
    pe = 2 * share * (1 - share)
    return f"{100 * wins:.1f}", str(len(votes)), f"{100 * (pa - pe) / (1 - pe):.1f}"


@pytest.fixture
def seven(tmp_path: Path) -> tuple[Path, Path]:
    pairs, votes = simulated()
    write_json_lines(tmp_path / "pairs.jsonl", [row for rows in pairs.values() for row in rows])
    write_votes(tmp_path / "votes.csv", [vote for given in votes.values() for vote in given])
    return tmp_path / "votes.csv", tmp_path / "pairs.jsonl"


def test_seven_questions_come_out_in_the_layout_of_table_3(seven: tuple[Path, Path]) -> None:
    markdown, (_, votes) = shown(seven[0], "--items", seven[1]), simulated()
    assert "| question | A | B | % A wins | ratings | AC1 x100 | items | ties |" in tight(markdown)
    for question, (a, b, n, *_) in TABLE.items():
        line = cells(markdown, question)
        assert line[:6] == [question, a, b, *naive(votes[question])]
        assert line[6:8] == [str(n), "0"]
    # As printed.
    assert cells(markdown, "Q1")[:6] == ["Q1", "T5-11B", "caption only", "84.7", "393", "64.4"]
    assert cells(markdown, "Q7")[:6] == ["Q7", "human", "5-shot GPT-4", "67.7", "390", "20.9"]
    rows = [[cell.strip() for cell in line.split("|")[1:5]] for line in tight(markdown).splitlines()]
    assert ["A", "Q7", "88", "39"] in rows
    assert ["B", "Q7", "42", "8"] in rows


@pytest.mark.slow
def test_a_file_a_question_a_column_and_one_file_give_the_same_lines(seven: tuple[Path, Path], tmp_path: Path) -> None:
    pairs, votes = simulated()
    whole = analyse(read_questions([seven[0]], [seven[1]]))
    apart: list[Any] = []
    column = [["question", "item", "rater", "choice", "time"]]
    for question, rows in pairs.items():
        # As `humor-tasks people pairs` makes them: the same ids in each file, no question.
        short = {row["id"]: row["id"].split("-")[1] for row in rows}
        write_json_lines(
            tmp_path / f"{question}.jsonl", [row | {"id": short[row["id"]], "question": None} for row in rows]
        )
        given = [Vote(short[vote.item], vote.rater, vote.choice) for vote in votes[question]]
        write_votes(tmp_path / f"{question}.csv", given)
        apart.append((tmp_path / f"{question}.csv", tmp_path / f"{question}.jsonl"))
        column += [[question, vote.item, vote.rater, vote.choice, ""] for vote in given]
    by_file = analyse(read_questions([v for v, _ in apart], [p for _, p in apart]))
    assert [(each.question.name, each.question.systems) for each in by_file.questions] == [
        (question, (a, b)) for question, (a, b, *_) in TABLE.items()
    ]
    # As text, in which nan is nan.
    assert repr([each.estimates for each in by_file.questions]) == repr([each.estimates for each in whole.questions])
    assert by_file.systems == whole.systems

    with (tmp_path / "all.csv").open("w", newline="") as file:
        csv.writer(file).writerows(column)
    lines = [dict(zip(column[0], row, strict=True)) for row in column[1:]]
    (tmp_path / "all.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    for name in ("all.csv", "all.jsonl"):
        alone = analyse(read_questions([tmp_path / name]))
        assert [each.question.name for each in alone.questions] == list(TABLE)
        assert [each.estimates["gwet_ac1"].value for each in alone.questions] == [
            each.estimates["gwet_ac1"].value for each in whole.questions
        ]


def test_figures_are_those_of_the_scorers_clustered_by_contest(seven: tuple[Path, Path]) -> None:
    report = json.loads(shown(seven[0], "--items", seven[1], "--json"))
    _, votes = simulated()
    by_item: dict[str, dict[str, str]] = {}
    for vote in votes["Q3"]:
        by_item.setdefault(vote.item, {})[vote.rater] = vote.choice
    table = [[said.get(rater) for rater in "vwxyz"] for said in by_item.values()]
    expected = agreement(table, [f"contest {int(item.split('-')[1]) % 20}" for item in by_item])
    found = report["questions"][2]["metrics"]
    for name, e in expected.items():
        assert found[name]["value"] == pytest.approx(e.value), name
        assert (found[name]["low"], found[name]["high"]) == pytest.approx((e.low, e.high)), name
    assert "cohen_kappa" not in found
    assert found["win_rate"]["value"] == 61 / 120
    assert found["win_rate_of_votes"]["value"] == (3 * 12 + 2 * 49 + 44) / 360
    assert found["win_rate"]["clusters"] == 20
    all_a = report["questions"][3]["metrics"]["gwet_ac1"]
    assert (all_a["value"], all_a["stderr"]) == (1, 0)  # nobody said B, but it could have been said
    assert report["questions"][3]["metrics"]["fleiss_kappa"]["value"] is None


def test_human_acc_is_of_the_generated_side(seven: tuple[Path, Path]) -> None:
    report = json.loads(shown(seven[0], "--items", seven[1], "--json"))
    first, last = report["questions"][0], report["questions"][6]
    majority = [question["metrics"]["human_acc_by_majority"]["value"] for question in (first, last)]
    assert ([first["generated"], last["generated"]], majority) == (["A", "B"], pytest.approx([111 / 131, 42 / 130]))
    of_votes = [question["metrics"]["win_rate_of_votes"]["value"] for question in (first, last)]
    by_judge = [question["metrics"]["human_acc"]["value"] for question in (first, last)]
    assert by_judge == pytest.approx([of_votes[0], 1 - of_votes[1]], abs=0.01), "no ties; some judges have fewer votes"


def test_human_acc_is_the_mean_of_two_judges_shares(tmp_path: Path) -> None:
    """MOCK, section 4.2: judges who choose the generated text in .50 and .40 of the items have .45."""
    chosen = {"ann": "AAAAABBBBB", "bob": "AABBBAABBB"}
    votes = votes_on(
        tmp_path / "v.csv", *((str(i), who, side) for who, sides in chosen.items() for i, side in enumerate(sides))
    )
    (line,) = analyse(read_questions([votes])).questions
    assert line.estimates["human_acc"].value == pytest.approx(0.45)
    assert line.estimates["human_acc_by_majority"].value == pytest.approx(0.2), "both prefer it in two items"
    cast = [(str(i), "ann", side) for i, side in enumerate(chosen["ann"])]
    fewer = votes_on(tmp_path / "f.csv", *cast, *((str(i), "bob", side) for i, side in enumerate("AABBB")))
    (line,) = analyse(read_questions([fewer])).questions
    assert line.estimates["human_acc"].value == pytest.approx((0.5 + 0.4) / 2), "each judge counts the same"


def test_systems_are_ranked_where_comparisons_join_them(seven: tuple[Path, Path], tmp_path: Path) -> None:
    found = analyse(read_questions([seven[0]], [seven[1]]))
    assert found.systems == {}  # Q7 compares two that no other question has
    assert any("joins these groups" in note for note in found.notes)
    pairs, votes = simulated()
    kept = [question for question in TABLE if question != "Q7"]
    write_json_lines(tmp_path / "six.jsonl", [row for question in kept for row in pairs[question]])
    write_votes(tmp_path / "six.csv", [vote for question in kept for vote in votes[question]])
    markdown = shown(tmp_path / "six.csv", "--items", tmp_path / "six.jsonl")
    strengths = [line.split(" | ")[0].strip("| ") for line in markdown.partition("## Systems")[2].splitlines()[4:10]]
    assert strengths[:2] == ["T5-11B", "system 3"]
    assert sorted(set(filter(None, strengths))) == sorted({x for q in kept for x in TABLE[q][:2]})


# ---- few votes ----------------------------------------------------------------------------------


def test_two_raters_ties_and_missing_votes(tmp_path: Path) -> None:
    votes = votes_on(
        tmp_path / "v.csv",
        *(("1", "ann", "A"), ("1", "bob", "A"), ("2", "ann", "A"), ("2", "bob", "B"), ("3", "ann", "tie")),
        *(("3", "bob", "tie"), ("4", "ann", "B"), ("5", "ann", "A"), ("5", "bob", "tie")),
    )
    write_json_lines(tmp_path / "p.jsonl", [asked(str(i)) for i in range(1, 8)])
    (line,) = analyse(read_questions([votes], [tmp_path / "p.jsonl"])).questions
    assert line.majority == {"1": "A", "2": "tie", "3": "tie", "4": "B", "5": "tie"}
    assert line.ties == 3
    assert line.estimates["win_rate"].value == (1 + 0.5 + 0.5 + 0 + 0.5) / 5
    assert line.estimates["win_rate_of_votes"].value == pytest.approx((4 + 3 * 0.5) / 9)
    assert line.estimates["human_acc"].value == pytest.approx((3 / 5 + 1 / 4) / 2)
    assert line.estimates["human_acc_by_majority"].value == 1 / 5
    assert line.estimates["raw_agreement"].value == 2 / 4
    assert line.estimates["raw_agreement"].n == 4
    assert line.estimates["cohen_kappa"].value == pytest.approx((1 / 2 - 5 / 16) / (1 - 5 / 16))
    assert line.estimates["human_ceiling"].value == pytest.approx(4 / 8)
    assert math.isnan(line.estimates["first_shown"].value)
    assert line.notes == ["v: votes an item differ: 1 with 1, 4 with 2.", "v: 2 of 7 items have no votes."]


def test_matching_and_ranking_have_an_accuracy(tmp_path: Path) -> None:
    options = [f"Caption {i}" for i in range(5)]
    rows = [
        {"id": "m1", "kind": "matching", "options": options, "answer": "C"},
        {"id": "m2", "kind": "matching", "options": options, "answer": "A"},
        {"id": "m3", "kind": "matching", "options": options},  # no answer: of no accuracy
        {"id": "r1", "kind": "ranking", "options": options[:2], "answer": "B"},
    ]
    write_json_lines(tmp_path / "p.jsonl", rows)
    votes = votes_on(
        tmp_path / "v.csv",
        *(("m1", "ann", "C"), ("m1", "bob", "C"), ("m1", "eve", "D"), ("m2", "ann", "A"), ("m2", "bob", "E")),
        *(("m2", "eve", "tie"), ("m3", "ann", "B"), ("r1", "ann", "A"), ("r1", "bob", "B"), ("r1", "eve", "tie")),
    )
    found = analyse(read_questions([votes], [tmp_path / "p.jsonl"]))
    matching, ranking = found.questions
    assert matching.estimates["accuracy"].value == pytest.approx((1 + (1 + 0 + 0.2) / 3) / 2)
    assert matching.estimates["accuracy_of_votes"].value == pytest.approx((2 + 1 + 0.2) / 6)
    assert matching.estimates["human_acc_by_majority"] == matching.estimates["accuracy"]
    assert matching.estimates["human_acc"] == matching.estimates["accuracy_of_votes"]
    assert "win_rate" not in matching.estimates
    assert matching.sides(matching.majority) == {"right": ["m1"], "wrong": []}
    assert matching.unanimous == {}
    assert matching.generated == ""
    assert ranking.estimates["accuracy"].value == ranking.estimates["accuracy_of_votes"].value == 0.5
    assert [rater.accuracy.value for rater in found.raters] == pytest.approx([2 / 3, 2 / 3, 0.7 / 3])
    assert cells(shown(votes, "--items", tmp_path / "p.jsonl"), "v | matching")[2:5] == ["70.0", "7", "1.0"]


def test_raters_are_told_apart(tmp_path: Path) -> None:
    def at(item: str, choice: str, second: int, order: str) -> Vote:
        return Vote(item, "ann", choice, f"2026-01-31T12:00:{second:02}Z", "", order)

    ann = [at("2", "B", 7, "BA"), at("1", "A", 3, "BA"), at("3", "tie", 9, "AB"), at("4", "A", 40, "AB")]
    write_votes(tmp_path / "v.csv", [*ann, Vote("1", "bob", "B")])
    found = analyse(read_questions([tmp_path / "v.csv"]))
    one, other = found.raters
    assert (one.name, one.votes, one.share_a.value, one.seconds) == ("ann", 4, 2.5 / 4, 4)
    assert (one.first_shown.value, one.first_shown.n) == (2 / 3, 3)
    assert found.questions[0].estimates["first_shown"].value == 2 / 3
    assert (other.name, other.share_a.value) == ("bob", 0)
    assert math.isnan(other.seconds)
    assert cells(shown(tmp_path / "v.csv"), "ann") == ["ann", "4", "62.5", "66.7", "-", "4.0"]


def test_votes_on_the_same_pairs_are_pooled(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "p.jsonl", [asked("1"), asked("2")])
    ann = votes_on(tmp_path / "ann.csv", ("1", "ann", "A"), ("2", "ann", "A"))
    bob = votes_on(tmp_path / "bob.csv", ("1", "bob", "A"))
    (line,) = analyse(read_questions([ann, bob], [tmp_path / "p.jsonl"])).questions
    assert (line.question.name, len(line.question.votes), line.estimates["raw_agreement"].value) == ("p", 3, 1)
    votes_on(tmp_path / "bob.csv", ("1", "bob", "A"), ("1", "bob", "B"))
    (line,) = analyse(read_questions([ann, bob], [tmp_path / "p.jsonl"], "last")).questions
    assert line.question.left_out == {"replaced by a later vote": 1}
    votes_on(tmp_path / "bob.csv", ("1", "ann", "B"))
    with pytest.raises(BadInput, match=r"ann on 1 \(.*ann.csv, line 2, .*bob.csv, line 2\)"):
        read_questions([ann, bob], [tmp_path / "p.jsonl"])


def test_names_are_no_markup_and_reports_hold_all(tmp_path: Path) -> None:
    write_json_lines(tmp_path / "p.jsonl", [asked("1", question="<b>|x|</b>", systems=["a|b", "`c`"])])
    votes = votes_on(tmp_path / "v.csv", ("1", "r|s", "A"))
    markdown = shown(votes, "--items", tmp_path / "p.jsonl", "-o", tmp_path / "t.md")
    assert (tmp_path / "t.md").read_text() == markdown
    assert r"| \<b\>\|x\|\</b\> | a\|b | \`c\` | 100.0 | 1 |" in tight(markdown)
    shown(votes, "--items", tmp_path / "p.jsonl", "-o", tmp_path / "t.csv")
    (row,) = csv.DictReader((tmp_path / "t.csv").open())
    assert (row["question"], row["a"], row["win_rate"], row["gwet_ac1"]) == ("<b>|x|</b>", "a|b", "1.0", "")
    printed = shown(votes, "--items", tmp_path / "p.jsonl", "--json", "-o", tmp_path / "t.json")
    assert (tmp_path / "t.json").read_text() == printed


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("votes", "options", "said"),
    [
        ("1,ann,A,\n9,ann,A,\n", ["--items", "p.jsonl"], "votes for unknown items: '9' (v.csv, line 3)"),
        ("1,ann,A,\n1,ann,B,\n", [], "voted more than once: ann on 1"),
        ("1,ann,A,\n", ["--items", "p.jsonl", "--items", "p.jsonl"], "--items is given 2 times"),
        ("1,ann,A,\n", ["gone.csv"], "gone.csv: there is no such file."),
        ("1,ann,A,\n", ["--items", "odd.jsonl"], "systems is 'x'"),
        ("1,ann,A,\n", ["v.csv"], "given twice"),
        ("1,ann,A,\n", ["-o", "t.html"], "a report ends in .md, .csv, .json"),
        ("1,ann,A,\n", ["--explainer", "a=gpt"], "name a --judge"),
        ("1,ann,A,\n", ["--judge", "gone.eval", "--explainer", "c=gpt"], "write it as a=MODEL"),
        ("1,ann,A,\n", ["--items", "p.jsonl", "--judge", "gone.eval"], "gone.eval: there is no such log"),
        ("1,ann,A,\n", ["--judge", "gone.eval"], "--judge needs --items: without them nothing tells whose text A is"),
        ("1,ann,A,\n", ["--items", "p.jsonl", "--judge", "v.csv"], "cannot be read as an Inspect log (it is no .eval"),
        ("1,ann,A,\n", ["--items", "p.jsonl", "--judge", "s.json"], "cannot be read as an Inspect log (it is no .eval"),
    ],
)
def test_bad_input_is_said_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, votes: str, options: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v.csv").write_text(f"item,rater,choice,time\n{votes}", encoding="utf-8")
    write_json_lines(Path("p.jsonl"), [asked("1")])
    write_json_lines(Path("odd.jsonl"), [asked("1", systems="x")])
    Path("old.json").write_text("old", encoding="utf-8")
    Path("s.json").write_text('{"1": "a file of explanations"}', encoding="utf-8")
    result = told("v.csv", "-o", "old.json", *options)
    assert (result.exit_code, Path("old.json").read_text(encoding="utf-8")) == (2, "old")
    assert said in " ".join(result.output.split())
    assert "pydantic" not in result.output


@pytest.mark.parametrize(
    ("votes", "notes"),
    [
        ([("1", "ann", "A"), ("2", "bob", "B")], ["v: no item has two ratings, so that nothing tells how far raters"]),
        ([("1", "ann", "A"), ("1", "bob", "A")], ["v: all ratings are the same, for which Krippendorff's alpha and"]),
        ([("1", "ann", "A"), ("1", "bob", "B")], []),
        ([("1", "ann", "A"), ("1", "Ann", "B")], ["raters whose names differ in case only .*: ann and Ann\\."]),
    ],
)
def test_what_leaves_agreement_unknown_or_doubtful_is_noted(
    tmp_path: Path, votes: list[tuple[str, str, str]], notes: list[str]
) -> None:
    found = analyse(read_questions([votes_on(tmp_path / "v.csv", *votes)]))
    assert len(found.notes) == len(notes)
    assert all(re.match(wanted, note) for wanted, note in zip(notes, found.notes, strict=True))


def test_a_name_is_no_formula_and_hides_nothing(tmp_path: Path) -> None:
    own = {"question": "=1+1", "systems": ["@x", "in\u202eorder\u200b\x07"]}
    write_json_lines(tmp_path / "p.jsonl", [asked("1", **own)])
    votes = votes_on(tmp_path / "v.csv", ("1", "-ann", "A"))
    markdown = shown(votes, "--items", tmp_path / "p.jsonl", "-o", tmp_path / "t.csv")
    (row,) = csv.DictReader((tmp_path / "t.csv").open())
    assert (row["question"], row["a"], row["ratings"]) == ("'=1+1", "'@x", "1")
    assert cells(markdown, "=1+1")[:3] == ["=1+1", "@x", "inorder"]
    assert read_questions([votes])[0].votes[0].rater == "-ann"  # data stay as they are


def test_a_column_question_must_be_filled(tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_text("item,rater,choice,time,question\n1,ann,A,,Q1\n1,ann,A,,\n")
    with pytest.raises(BadInput, match="line 3: question holds ''"):
        read_questions([tmp_path / "v.csv"])


def test_labels_of_a_scale_have_their_shares(tmp_path: Path) -> None:
    own: dict[str, Any] = {"kind": "labelling", "options": ["PASS", "FAIL"]}
    write_json_lines(tmp_path / "p.jsonl", [{"id": str(i), **own} for i in range(4)])
    votes = votes_on(
        tmp_path / "v.csv", *((str(i), r, "AABB"[i] if r == "ann" else "A") for i in range(4) for r in ("ann", "bob"))
    )
    markdown = shown(votes, "--items", tmp_path / "p.jsonl", "-o", tmp_path / "t.json")
    assert cells(markdown, "v | labelling | PASS") == ["v", "labelling", "PASS", "75.0", "2", "4"]
    assert cells(markdown, "v | labelling | FAIL") == ["v", "labelling", "FAIL", "25.0", "0", "4"]
    assert cells(markdown, "ann") == ["ann", "4", "-", "-", "-", "-", "PASS 50.0, FAIL 50.0"]
    assert cells(markdown, "PASS") == ["PASS", "v", "2", "2", "4", "0, 1"]
    assert "wins" not in markdown
    assert "win rate" not in markdown
    found = json.loads((tmp_path / "t.json").read_text())
    assert found["questions"][0]["shares"]["PASS"]["value"] == 0.75
    assert found["raters"][1]["shares"]["v"]["FAIL"]["value"] == 0


def test_texts_of_the_pairs_that_most_raters_gave_to_a_side(tmp_path: Path) -> None:
    own = {"systems": ["human", "a model"], "caption": "Said.", "description": "Seen."}
    write_json_lines(tmp_path / "p.jsonl", [asked(str(i), **own) for i in range(4)])
    said = ("AAB", "ABB", "BBB", "AAA")
    votes = votes_on(
        tmp_path / "v.csv", *((str(i), rater, said[i][k]) for i in range(4) for k, rater in enumerate("xyz"))
    )
    assert "Seen." not in shown(votes, "--items", tmp_path / "p.jsonl")
    markdown = shown(votes, "--items", tmp_path / "p.jsonl", "--texts", "B")
    assert re.findall(r"^### (.*)$", markdown, re.M) == ["2 (3 of 3 votes)", "1 (2 of 3 votes)"]
    assert "- scene: Seen.\n- caption: Said.\n- human: One says 2.\n- a model: The other says 2." in markdown
    assert "--texts needs --items" in told(votes, "--texts", "B").output
