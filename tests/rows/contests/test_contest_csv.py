"""Raw contests: captions mended or left out and counted, both public layouts, annotations, and what is refused."""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks.errors import BadInput
from humor_tasks.rows.contests.annotations import read_annotations
from humor_tasks.rows.contests.captions import LONGEST, key_of, mend, without_quotes
from humor_tasks.rows.contests.contest_csv import Contest, contest_files, contest_number, read_contest
from humor_tasks.rows.contests.dates import DATE_MARGIN, contest_date, last_until, read_date

RATED = "caption,mean,precision,votes,not_funny,somewhat_funny,funny"
REAL = os.environ.get("HUMOR_TASKS_REAL_DATA")


@pytest.mark.parametrize(
    ("entry", "text", "mended", "dropped"),
    [
        ("Fetch!", "Fetch!", (), ""),
        ("  Fetch \n the   duck ", "Fetch the duck", (), ""),
        ('"Fetch!"', "Fetch!", ("quotes",), ""),
        ("“Fetch!”", "Fetch!", ("quotes",), ""),
        ('""Fetch!""', '""Fetch!""', (), ""),
        ('"Fetch!', "Fetch!", ("quotes",), ""),
        ("Fetch!”", "Fetch!", ("quotes",), ""),
        ('"Sit," said the "dog"', '"Sit," said the "dog"', (), ""),
        ("'Tis the season", "'Tis the season", (), ""),
        ("He said “sit.”", "He said “sit.”", (), ""),
        ("DonÃ¢â‚¬â„¢t sit", "Don’t sit", ("mojibake",), ""),
        ("It\x05 sits", "It sits", ("control characters",), ""),
        ("NA", "NA", (), ""),
        ("None", "None", (), ""),
        ("No.", "No.", (), ""),
        ("xx", "xx", (), "near-empty"),
        ("?!", "?!", (), "near-empty"),
        ("", "", (), "near-empty"),
        ("Write to a.b@example.com", "Write to a.b@example.com", (), "personal data"),
        ("Yours, Ann 555 123 4567", "Yours, Ann 555 123 4567", (), "personal data"),
        ("Call 555-1234!", "Call 555-1234!", (), "personal data"),
        ("Call (555) 123-4567", "Call (555) 123-4567", (), "personal data"),
        ("That costs $1000-2000 in 2019", "That costs $1000-2000 in 2019", (), ""),
        ("Since 1994 - 2004", "Since 1994 - 2004", (), ""),
        ("Ha\ufffdha", "Ha\ufffdha", (), "undecodable"),
        ("a" * LONGEST, "a" * LONGEST, (), ""),
        ("ab" * LONGEST, "ab" * LONGEST, (), "too long"),
        ("ab" * 50_000, "", (), "too long"),
    ],
)
def test_entries(entry: str, text: str, mended: tuple[str, ...], dropped: str) -> None:
    assert mend(entry) == (text, mended, dropped)


@given(st.text(max_size=60))
def test_mending_is_done_after_one_pass(entry: str) -> None:
    once = mend(entry)
    again = mend(once.text)
    assert "control characters" not in again.mended
    assert again.text == " ".join(again.text.split())
    assert key_of(once.text) == key_of(f" {once.text}!")


@given(st.text("ab \"“”'", max_size=12))
def test_quotation_marks_inside_stay(text: str) -> None:
    bare = without_quotes(f'a {text} "b" a')
    assert bare == f'a {text} "b" a'


def _write(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("header", "row"),
    [
        (RATED, "Sit.,2.0,0.5,4,1,2,1"),
        (f"rank,{RATED}", "0,Sit.,2.0,0.5,4,1,2,1"),
        ("Target,Score,Precision,Count,unfunny,somewhat funny,Funny", "Sit.,2.0,0.5,4,1,2,1"),
        ("contest,caption,mean,precision,votes", "510,Sit.,2.0,0.5,4"),
        ("caption,mean,count", "Sit.,2.0,4"),
    ],
)
def test_layouts(tmp_path: Path, header: str, row: str) -> None:
    contest = read_contest(_write(tmp_path / "510.csv", header, row))
    assert (contest.number, contest.rated, contest.caption) == (510, True, ["Sit."])
    assert (contest.mean, contest.votes) == ([2.0], [4])
    assert contest.precision == ([0.5] if "recision" in header else [None])


def test_only_counts(tmp_path: Path) -> None:
    """The mean and its standard error follow from the counts: the vectors of the published files."""
    rows = ["A dog.,157,123,90", "A cat.,6,1,0", "A cow.,9,0,0", "A bee.,0,0,0"]
    contest = read_contest(_write(tmp_path / "1.csv", "caption,not_funny,somewhat_funny,funny", *rows))
    assert contest.caption == ["A dog.", "A cat.", "A cow."]
    assert contest.mean == [pytest.approx(673 / 370), pytest.approx(8 / 7), 1.0]
    assert contest.precision == [pytest.approx(x, abs=5e-7) for x in (0.041476, 0.154303, 0.117851)]
    assert contest.counts["left out: no ratings"] == 1


def test_without_ratings(tmp_path: Path) -> None:
    contest = read_contest(_write(tmp_path / "7.csv", "caption", "Sit.", '"Sit, dog."', "xx"))
    assert (contest.rated, contest.caption, contest.mean) == (False, ["Sit.", "Sit, dog."], [None, None])
    assert contest.counts == {"entries": 3, "left out: near-empty": 1}


def test_what_is_odd_is_counted(tmp_path: Path) -> None:
    """A mean wins over its counts, impossible means are left out, and the crowd's order is that of the means."""
    many = [f"Dog {i}.,1.5,0.1,4,2,2,0" for i in range(200)]
    rows = ["Sit.,1.9,0.1,40,20,20,0", "Stay.,0.9,0.1,9,9,0,0", "Roll.,2.2,inf,1,0,1,0", *many]
    contest = read_contest(_write(tmp_path / "695.csv", RATED, *rows))
    assert contest.caption[:2] == ["Roll.", "Sit."]
    assert contest.mean[:2] == [2.2, 1.9]
    assert contest.precision[:2] == [None, 0.1]
    odd = {k: n for k, n in contest.counts.items() if k != "entries"}
    assert odd == {
        "counts do not make the mean": 2,
        "mean outside 1 to 3": 1,
        "left out: no ratings": 1,
        "files sorted by mean": 1,
    }


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([RATED], "there are no rows"),
        (["Sit.,2.0,0.5,4,1,3,0", "Stay.,2.0,0.5,4,1,3,0"], "there is no column of captions"),
        ([RATED, "2.0,Sit.,0.5,4,1,2,1"], "line 2: mean is 'Sit.'; it must be a number"),
        ([RATED, "Sit.,nan,0.5,4,1,2,1"], "line 2: mean is 'nan'"),
        ([RATED, "Sit.,2.0,0.5,4.5,1,2,1"], "line 2: votes and counts must be whole numbers"),
        ([RATED, "Sit.,2.0,0.5,4,-1,2,1"], "line 2: votes and counts must be whole numbers"),
        ([RATED, "Sit.,2.0,0.5,3.000,1,2,1"], r"line 2: votes is '3\.000'; write .* nothing between thousands"),
        ([RATED.replace(",", ";"), "Sit.;2,0;0,5;3,000;1;2;1"], r"line 2: votes is '3\.000'; write"),
        ([RATED, "Sit.,2.0,0.5,4,1.234.567,2,1"], r"line 2: .* is '1\.234\.567'; write"),
        ([RATED, *["Sit.,4.0,0.5,4,1,2,1"] * 3], "mean outside 1 to 3, as in 3 of 3 rows.*shifted or misnamed"),
        ([RATED, *["Sit.,2.9,0.5,4,3,1,0"] * 3], "counts far from their mean, as in 3 of 3 rows"),
        (["caption,mean", "Sit.,2.0"], "means without votes"),
        (["caption,not_funny,funny", "Sit.,2,1"], "the counts not_funny, funny only"),
        (["contest,caption", "511,Sit."], "line 2: contest is not 510"),
    ],
)
def test_bad_files(tmp_path: Path, lines: list[str], message: str) -> None:
    with pytest.raises(BadInput, match=message) as told:
        read_contest(_write(tmp_path / "510.csv", *lines))
    assert "510.csv" in str(told.value)


def test_numbers_of_files() -> None:
    names = ("510.csv", "0510.csv", "510_summary_x.csv", "contest_510.csv")
    assert {contest_number(Path(name)) for name in names} == {510}


def test_a_contest_has_one_file_and_a_number(tmp_path: Path) -> None:
    for name in ("510.csv", "0510.csv", ".hidden.csv", "notes.txt"):
        (tmp_path / name).touch()
    with pytest.raises(BadInput, match=r"contest 510 is also in 0510\.csv"):
        contest_files(tmp_path)
    (tmp_path / "0510.csv").rename(tmp_path / "raw.csv")
    with pytest.raises(BadInput, match=r"raw\.csv: its name has no contest number"):
        contest_files(tmp_path)
    with pytest.raises(BadInput, match=r"holds no NUMBER\.png"):
        contest_files(tmp_path, (".png",))


# ---- annotations --------------------------------------------------------------------------------

HIT = {
    "image_description": "A dog.",
    "image_uncanny_description": "It talks.",
    "question_1": "Why?",
    "question_2": None,
}
LINK = {"image_location": "a park", "link_1": "https://en.wikipedia.org/wiki/Dog", "link_2": None, "link_3": None}


def entry(number: int = 5, **changes: Any) -> dict[str, Any]:
    """The annotations of one contest."""
    hits = {"description_hit": [HIT, HIT | {"image_description": "A hound."}, HIT], "link_hit": [LINK, LINK]}
    return {"contest_number": number, "official_newyorker_finalists": ['"Sit."'], "mturk_annotations": hits} | changes


def _annotations(path: Path, *entries: dict[str, Any]) -> Path:
    path.write_text(json.dumps({str(each.get("contest_number")): each for each in entries}), encoding="utf-8")
    return path


def test_annotations(tmp_path: Path) -> None:
    contest = read_annotations(_annotations(tmp_path / "a.json", entry()))[5]
    assert (contest.finalists, len(contest.scenes)) == (("Sit.",), 6)
    assert contest.fixed == contest.scenes[3]
    assert contest.fixed.description == "A hound."
    assert contest.fixed.questions == ("Why?",)


@pytest.mark.parametrize("unknown", ["UNKNOWN", ["UNKNOWN"], [], None, [math.nan], [None]])
def test_unknown_finalists(tmp_path: Path, unknown: Any) -> None:
    path = _annotations(tmp_path / "a.json", entry(official_newyorker_finalists=unknown))
    assert read_annotations(path)[5].finalists == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("[]", "must be an object"),
        ('{"5": {}, "5": {}}', "5 is given twice"),
        ('{"5": {"contest_number": 5, "contest_number": 6}}', "contest 5: contest_number is given twice"),
        (json.dumps({"6": entry(5)}), "contest 6: contest_number is 5"),
        (json.dumps({"5": entry(official_newyorker_finalists="Sit.")}), "must be a list of captions, or 'UNKNOWN'"),
        (json.dumps({"5": entry(mturk_annotations={"description_hit": [HIT]})}), "both description_hit and link_hit"),
        (
            json.dumps({"5": entry(mturk_annotations={"description_hit": [{}], "link_hit": [LINK]})}),
            "contest 5, description_hit 0: image_description is None; it must be a text",
        ),
    ],
)
def test_bad_annotations(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=message):
        read_annotations(path)


def test_contests_after_a_day() -> None:
    """A contest is after a day if its date is, by more than the error of dates."""
    last = last_until(read_date("2019-07"))
    assert contest_date(last) - DATE_MARGIN <= read_date("2019-07") < contest_date(last + 1) - DATE_MARGIN


# ---- real rows ----------------------------------------------------------------------------------


@pytest.mark.skipif(REAL is None, reason="HUMOR_TASKS_REAL_DATA is not set")
@pytest.mark.slow
def test_real_contests() -> None:
    raw = Path(str(REAL), "newyorker_raw")
    found = read_annotations(raw / "all_newyorker_contest_annotations.json")
    assert (len(found), sum(not each.finalists for each in found.values())) == (705, 60)
    assert found[592].finalists == (
        "Take away the computers and they’re just sitting ducks.",
        "I'm afraid this whole experiment is about to go south.",
    )
    for number in (531, 695, 724):
        path = raw / "crowd" / f"{number}.csv"
        if not path.exists():
            continue
        contest = read_contest(path)
        with path.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert contest.counts["entries"] == len(rows)
        left_out = sum(n for what, n in contest.counts.items() if what.startswith("left out"))
        assert len(contest.caption) == len(rows) - left_out
        assert left_out < 0.01 * len(rows)
        assert all(a >= b for a, b in itertools.pairwise(_means(contest)))
    assert read_contest(raw / "crowd" / "531.csv").counts["mended: mojibake"] == 67


def _means(contest: Contest) -> list[float]:
    return [mean for mean in contest.mean if mean is not None]
