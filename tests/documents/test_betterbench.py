"""docs/betterbench.md held to its own sums: criteria of each stage, their scores, and the means in its first table."""

import re
from pathlib import Path
from statistics import mean

TEXT = (Path(__file__).parents[2] / "docs" / "betterbench.md").read_text(encoding="utf-8")
STAGES = {"design": ("D", 14), "implementation": ("I", 10), "documentation": ("Do", 20), "maintenance": ("M", 3)}
ROWS = re.findall(r"^\| ([A-Z]o?)(\d+) [^|]+\| (\d+) \| [^|]+ \| ([^|]+) \|$", TEXT, re.M)
SCORES = {letter: [int(score) for found, _, score, _ in ROWS if found == letter] for letter, _ in STAGES.values()}


def test_every_criterion_has_one_row_a_score_and_a_place():
    assert [(letter, int(number)) for letter, number, _, _ in ROWS] == [
        (letter, number + 1) for letter, count in STAGES.values() for number in range(count)
    ]
    assert {int(score) for _, _, score, _ in ROWS} <= {10, 15}  # a row below is put right first
    assert all("](" in place or place == "the table above" for *_, place in ROWS)


def test_the_means_are_those_of_the_rows():
    stages = {stage: SCORES[letter] for stage, (letter, _) in STAGES.items()}
    stages["usability"] = [x for stage, scores in stages.items() if stage != "design" for x in scores]
    stages["all"] = SCORES["D"] + stages["usability"]
    expected = {stage: (len(scores), f"{mean(scores) + 1e-9:.1f}") for stage, scores in stages.items()}
    told = re.findall(r"^\| (\w+) \| (\d+) \| ([\d.]+) \|$", TEXT, re.M)
    assert {stage: (int(count), value) for stage, count, value in told} == expected
    tens = sum(score == 10 for score in stages["all"])
    assert f"No criterion has fewer than 10 points, and {tens} have 10." in TEXT
