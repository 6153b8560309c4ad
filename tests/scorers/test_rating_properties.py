"""`read_rating`: numbers are read back in any form and in linear time; `expected_rating` by hand and by its bounds."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.waiting import cpu_below

from humor_tasks import scorers
from humor_tasks.errors import BadInput

FORMS = [
    "{}",
    "Rating: {}",
    "**Rating:** {}",
    "{}/3",
    "I'd rate it {}.",
    "The rating is {} out of 3.",
    '{{"rating": {}}}',
]
FORMS += ["\\boxed{{{}}}", "<rating>{}</rating>", "A pun on 2 % of 3,000 men.\n\nRating: {}", "## Rating\n\n**{}**"]
FORMATS = ["{!r}", "{:.1f}", "{:.2f}", "{:.20f}", "{:g}", "{:e}", "{:+.3f}"]


@given(st.floats(0, 3), st.sampled_from(FORMS), st.sampled_from(FORMATS))
def test_every_number_on_the_scale_is_read_back(number: float, form: str, notation: str) -> None:
    text = notation.format(number)
    if not (text.startswith("+") and form.startswith("{{")):  # JSON knows no plus
        assert scorers.read_rating(form.format(text)).value == float(text)


@given(st.floats(0, 3), st.sampled_from(FORMS[:6]))
def test_a_decimal_comma_is_read_back(number: float, form: str) -> None:
    text = f"{number:.2f}"
    assert scorers.read_rating(form.format(text.replace(".", ","))).value == float(text)


@given(st.floats(allow_nan=False).filter(lambda x: not 0 <= x <= 3), st.sampled_from(FORMS))
def test_nothing_off_the_scale_is_read(number: float, form: str) -> None:
    assert scorers.read_rating(form.format(repr(number))).value is None


PIECES = [
    *("Rating", "rating", " is ", ": ", "：", "1.6", "2", "-", ",", ".", "/", "3", "10", " out of ", " or "),
    *(" to ", "%", "0-3", "I'd ", "rate it ", "a ", "scale", "**", "(", ")", '"', "{", "}", "\\boxed{"),
    *("<rating>", "</think>", "~", "not ", "?", "funny", "\n", " ", "Score", "between ", "# ", "```json"),
    *("=", "<", "two"),
]
replies = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))


@given(replies)
def test_any_reply_is_read_as_a_rating_or_nothing(reply: str) -> None:
    rating = scorers.read_rating(reply)
    assert (rating.status == "answered") == (rating.value is not None)
    assert rating.value is None or 0 <= rating.value <= 3


@given(replies, st.sampled_from(["1.4", "2", "0"]))
def test_the_last_statement_at_the_end_counts(before: str, number: str) -> None:
    assert scorers.read_rating(f"{before}.\n\nRating: {number}").value == float(number)


UNITS = [
    *("1", " ", "\t", "\n", ",", ".", "-", "<", "(", "*", "'", '"', "{", "~", "Rating", "Rating: "),
    *("rating is ", "Rating:\n", "Rating: 1 ", "Rating: 1 or ", "Rating of ", "1.", "1,", "I'd rate it "),
    *("I would ", "it ", '"a', "\\boxed{", "<b>", "0-3 ", "0-3 scale", "out of ", "[", '{"rating":'),
    *("Rating (", "**", "1e", "between ", "not funny ", "a rating of ", "Rating: 1\n", "<think>"),
    *("1 to 2 ",),
]


@pytest.mark.slow
def test_time_is_linear() -> None:
    for unit in UNITS:
        long = unit * (10_000 // len(unit))
        for reply in (long, f"Rating: 1{long}x", f"I'd rate it {long}", f"Rating for {long}: 1"):
            with cpu_below(0.3):
                scorers.read_rating(reply)


# ---- real headlines -------------------------------------------------------------------------------


def test_a_headline_is_no_rating_and_hides_none(real_data: Path) -> None:
    with (real_data / "humicroedit" / "task-1" / "dev.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    headlines = {re.sub("<(.*)/>", word, row["original"]) for row in rows for word in (r"\1", row["edit"])}
    assert len(headlines) > 3_000
    for headline in headlines:
        assert scorers.read_rating(headline).value is None, headline
        for form in (
            '"{}" is a mild pun.\n\nRating: 1.4',
            "Rating: 1.4\n\n{}",
            "I'd rate “{}” a 1.4",
            "Rating: 1.4 - {}",
        ):
            value = scorers.read_rating(form.format(headline)).value
            # Quotes within quotes and numbers behind the rating may leave it unread, but none is misread.
            assert value == 1.4 or (value is None and not form.endswith("Rating: 1.4")), headline


# ---- expected value -------------------------------------------------------------------------------


def expect(
    probabilities: dict[str, float], scale: tuple[str, ...] = ("0", "1", "2", "3")
) -> tuple[float | None, float]:
    found = scorers.expected_rating({t: math.log(p) if p else -math.inf for t, p in probabilities.items()}, scale)
    return found.value, found.mass


@pytest.mark.parametrize(
    ("probabilities", "value", "mass"),
    [
        ({"2": 1.0}, 2, 1),
        ({"1": 0.5, "2": 0.5}, 1.5, 1),
        ({"0": 0.1, "1": 0.2, "2": 0.3, "3": 0.4}, 2, 1),
        ({"1": 0.3, "2": 0.1, "The": 0.6}, 1.25, 0.4),
        ({"1": 0.2, " 1": 0.1, "▁1": 0.05, "Ġ1": 0.05, "\n3": 0.4}, 2, 0.8),
        ({"1": 0.5, "12": 0.1, "1.5": 0.1, "one": 0.1, "4": 0.1, "-1": 0.1}, 1, 0.5),
        ({"1": 0.5, "2": 0.0}, 1, 0.5),
        ({"1": 1e-300, "2": 1e-300}, 1.5, 2e-300),
    ],
)
def test_the_expected_rating(probabilities: dict[str, float], value: float, mass: float) -> None:
    assert expect(probabilities) == pytest.approx((value, mass))


def test_the_expected_rating_on_another_scale() -> None:
    assert expect({"A": 0.5, "10": 0.25, "5": 0.25}, ("1", "5", "10")) == pytest.approx((7.5, 0.5))


def test_tokens_too_improbable_for_a_float_still_tell() -> None:
    assert scorers.expected_rating({"1": -5000.0, "2": -5000.0}) == scorers.Expected(1.5, 0.0)


@pytest.mark.parametrize("probabilities", [{}, {"The": 1.0}, {"2": 0.0}])
def test_no_number_among_the_tokens(probabilities: dict[str, float]) -> None:
    assert expect(probabilities) == (None, 0.0)


def test_bad_probabilities() -> None:
    for wrong in (math.nan, 0.5, math.inf):
        with pytest.raises(BadInput, match=r"logprobs\['2'\] is"):
            scorers.expected_rating({"2": wrong})
    for scale in (("0", "0"), ("0", "two"), ("0", "nan")):
        with pytest.raises(BadInput, match="scale is"):
            scorers.expected_rating({"2": -1.0}, scale)


@given(st.dictionaries(st.sampled_from("0123"), st.floats(-50, 0), min_size=1))
def test_the_expected_rating_lies_among_those_present(logprobs: dict[str, float]) -> None:
    found = scorers.expected_rating(logprobs)
    assert found.value is not None
    assert min(map(float, logprobs)) - 1e-9 <= found.value <= max(map(float, logprobs)) + 1e-9
    assert found.mass == pytest.approx(sum(map(math.exp, logprobs.values())))
