from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks import scorers
from humor_tasks.errors import BadInput

# Replies and what is read from them on the scale 0..3; None is unparsed.
STATED = [
    # nothing but a number
    ("1.6", 1.6),
    ("2", 2),
    ("0", 0),
    ("3", 3),
    ("3.0", 3),
    (" 1.6\n", 1.6),
    ("1.6.", 1.6),
    ("**1.6**", 1.6),
    ("`1.6`", 1.6),
    ('"1.6"', 1.6),
    ("(1.6)", 1.6),
    ("[1.6]", 1.6),
    ("[[1.6]]", 1.6),
    ("<1.6>", 1.6),
    ("$1.6$", 1.6),
    ("> 1.6", None),
    ("- 1.6", 1.6),
    ("1,6", 1.6),
    ("1,60", 1.6),
    ("0,625", 0.625),
    (".8", 0.8),
    ("+1.5", 1.5),
    ("1e0", 1),
    ("-0", 0),
    ("１．６", 1.6),
    ("1.6<|im_end|>", 1.6),
    ("1.6</s>", 1.6),
    ("~1.5", 1.5),
    ("≈ 1.5", 1.5),
    ("About 1.5.", 1.5),
    ("1.6/3", 1.6),
    ("1.6 / 3", 1.6),
    ("**1.6**/3", 1.6),
    ("1.6/3.0", 1.6),
    ("2 out of 3", 2),
    ("2 out of 3.", 2),
    ("2 out of a possible 3", 2),
    ("2 of 3", 2),
    ("2 points", 2),
    ("2 points out of 3", 2),
    ("2 (out of 3)", 2),
    ("1.4 on a scale of 0 to 3", 1.4),
    ("1.4 (on the 0-3 scale)", 1.4),
    ("2 (moderately funny)", 2),
    ("2 - Moderately funny.", 2),
    ("0: not funny at all", 0),
    ("2 = moderately funny", 2),
    ("1.4\n\nThe swap is a mild pun on 2,000 men.", 1.4),
    ("The swap is a mild pun on 2,000 men.\n\n**1.4**", 1.4),
    ("1.4\nThe pun works.\n1.4", 1.4),
    # behind a label
    ("Rating: 1.6", 1.6),
    ("Rating:1.6", 1.6),
    ("rating : 1.6", 1.6),
    ("RATING: 1.6", 1.6),
    ("Rating: 2", 2),
    ("Rating: 2.", 2),
    ("Rating: .8", 0.8),
    ("Score: .8", 0.8),
    ("Rating: 1,6", 1.6),
    ("Rating = 1.6", 1.6),
    ("Rating - 1.6", 1.6),
    ("Rating – 1.6", 1.6),
    ("Rating -> 1.6", 1.6),
    ("Rating: +1.6", 1.6),
    ("**Rating:** 2", 2),
    ("**Rating**: 2", 2),
    ("**Rating: 2**", 2),
    ("**Rating:** **2**", 2),
    ("__Rating:__ 2", 2),
    ("### Rating: 2", 2),
    ("- Rating: 2", 2),
    ("1. Rating: 2", 2),
    ("(Rating: 2)", 2),
    ("<b>Rating:</b> 2", 2),
    ("Rating: <b>2</b>", 2),
    ("Rating: <2>", 2),
    ("Rating: [2]", 2),
    ("Rating: “2”", 2),
    ("Rating： ２", 2),
    ("Rating:\u00a02", 2),
    ("Rating: \u200b2", 2),
    ("Rating: 2 🎉", 2),
    ("Rating: 1.6/3", 1.6),
    ("Rating: **1.6**/3", 1.6),
    ("Rating: 1.6 out of 3", 1.6),
    ("Rating: 2 points", 2),
    ("Rating: 1.6 (0-3)", 1.6),
    ("Rating: 1.6 on the 0–3 scale", 1.6),
    ("Rating: 2 (moderately funny)", 2),
    ("Rating: 2 - moderately funny", 2),
    ("Rating: 2 = moderately funny", 2),
    ("Rating: 2, moderately funny", 2),
    ("Rating: about 1.5", 1.5),
    ("Rating: ~1.5", 1.5),
    ("Rating: probably a 2", 2),
    ("Rating: 1.4 because the pun is old", 1.4),
    ("Rating: 1.4. The pun is old.", 1.4),
    ("Rating: 1.4; the pun is old", 1.4),
    ("Rating: 1.4\n\n2 men walk into a bar.", 1.4),
    ("Rating: 1.4\n2", 1.4),
    ("Rating (0-3): 1.6", 1.6),
    ("Rating [0-3]: 1.6", 1.6),
    ("Rating (0 = not funny, 3 = very funny): 1.6", 1.6),
    ("Rating on a scale of 0 to 3: 1.6", 1.6),
    ("Rating out of 3: 1.6", 1.6),
    ("Rating for this headline: 1.6", 1.6),
    ('Rating for "Trump eats 2 burgers": 1.6', 1.6),
    ("Rating for “not 3 men”: 1.6", 1.6),
    ("Rating scale: 0-3. Rating: 1.6", 1.6),
    ("Final rating: 1.6", 1.6),
    ("Overall score: 1.6", 1.6),
    ("Humor Rating: 1.6", 1.6),
    ("**Funniness score:** 1.6", 1.6),
    ("Funniness: 1.6", 1.6),
    ("Predicted mean grade: 1.6", 1.6),
    ("My rating: 1.6", 1.6),
    ("Estimate: 1.6", 1.6),
    ("Answer: 1.6", 1.6),
    ("0-3 scale: 2", 2),
    ("On a scale of 0 to 3: 2", 2),
    ("On a scale of 0 to 3, 2.", 2),
    ("Rating: 0-3 scale: 2", 2),
    # on a later line, or under a heading
    ("Rating:\n1.6", 1.6),
    ("Rating:\n\n- **1.6**", 1.6),
    ("## Rating\n\n1.6", 1.6),
    ("**Final rating**\n1.6/3", 1.6),
    ("Rating:\n2 (moderately funny)", 2),
    # sentences
    ("The rating is 1.6.", 1.6),
    ("The rating is: **1.6**", 1.6),
    ("My rating for this edited headline is 1.6", 1.6),
    ("My rating would be 1.6, as the pun is old.", 1.6),
    ("The headline's rating is 1.6", 1.6),
    ("I'd rate it 1.4.", 1.4),
    ("I’d rate it 1.4.", 1.4),
    ("I would rate this headline a 1.4", 1.4),
    ("I would rate this as slightly funny: 1.4", 1.4),
    ("I'd rate the humor of this edited headline at about 1.4 out of 3.", 1.4),
    ('I\'d rate "Trump eats 2 burgers" a 1.4', 1.4),
    ("I rate this 2/3", 2),
    ("I give it a 2", 2),
    ("I'd give this a rating of 1.4.", 1.4),
    ("The rating I'd give is 1.4.", 1.4),
    ("I'll go with 1.4.", 1.4),
    ("I'd say it's a 1.4", 1.4),
    ("I'd say the rating for this headline is 1.4", 1.4),
    ("I estimate the average grade would be around 1.2.", 1.2),
    ("Mean rating ≈ 1.2", 1.2),
    ("Rating: 1.4 out of 3.0 points", 1.4),
    ("So I would say 1.4", 1.4),
    ("This deserves a rating of 1.4.", 1.4),
    ("A rating of 1.4", 1.4),
    # other containers
    (r"\boxed{1.6}", 1.6),
    (r"$\boxed{\text{1.6}}$", 1.6),
    ("<rating>1.6</rating>", 1.6),
    ("<score>\n1.6\n</score>", 1.6),
    ("<answer>1.6</answer>", 1.6),
    ('{"rating": 1.4}', 1.4),
    ('{"rating": "1.4"}', 1.4),
    ('{"rating": "1.4/3"}', 1.4),
    ('```json\n{"reason": "rating: 3 would be too much", "Rating": 1.4}\n```', 1.4),
    ('{"score": 2, "confidence": 0.8}', 2),
    ('Here it is: {"rating": 1.4}', 1.4),
    # reasoning first: the last statement counts where it ends the reply
    ("A pun on 2,000 men, 3 of them bald.\n\nRating: 1.4", 1.4),
    ("Surprise score: 3. Relevance score: 1.\nRating: 1.4", 1.4),
    ("Initial rating: 2. Final rating: 1.4", 1.4),
    ("At first I'd say 2. On reflection:\n\nRating: 1.4", 1.4),
    ("Rating: 7/10. On the 0-3 scale: 2.1", 2.1),
    ("A rating of 3 means very funny, so Rating: 1", 1),
    ("If I rate it 3, all are 3. Rating: 1", 1),
    ("The maximum score is 3. Rating: 1", 1),
    ("Rating of the original headline: 0\nRating: 1", 1),
    ("Rating: 1.4\nI give 2 reasons for that.", 1.4),
    ("Rating: 1.4\n\nIn short, my rating is 1.4, for the pun.\n", 1.4),
    ("Hm</think>Rating: 1", 1),
    ("<think>Rating: 3</think>\nRating: 1", 1),
    # a range, a choice, a bound, two numbers
    ("1-2", None),
    ("1–2", None),
    ("1.5 to 2", None),
    ("1 or 2", None),
    ("1, 2", None),
    ("1 2", None),
    ("1 1/2", None),
    ("1½", None),
    ("between 1 and 2", None),
    ("Rating: between 1 and 2", None),
    ("Rating: 1-2", None),
    ("Rating: 1.5–2.0", None),
    ("Rating: **1** or **2**", None),
    ("Rating: 1 (or maybe a 2)", None),
    ("Rating: 1.4 ± 0.2", None),
    ("Rating: 1.4 (1-2)", None),
    ("Rating: 1 -> 2", None),
    ("Rating: 2 and a half", None),
    ("Rating: at least 2", None),
    ("Rating: <2", None),
    ("Rating: > 2", None),
    ("Rating: 2+", None),
    ("I'd rate it between 1 and 2", None),
    ("I'd say less than 2", None),
    ("1\n2", None),
    ("Rating: 1\nRating: 2\nThe first is for the pun.", None),
    ('{"rating": 1, "score": 2}', None),
    ('{"rating": 1, "rating": 1}', None),
    ('{"rating": [1, 2]}', None),
    # off the scale, never clipped
    ("7", None),
    ("-1", None),
    ("−1", None),
    ("3.01", None),
    ("Rating: 7", None),
    ("Rating: -1", None),
    ("Rating -1", None),
    ("I'd rate it 4.", None),
    (r"\boxed{10}", None),
    ('{"rating": 7}', None),
    ('{"rating": NaN}', None),
    ('{"rating": 1' + "0" * 400 + "}", None),
    ("1e999", None),
    ("7\n\nor rather\n\n2", None),
    # another scale, percent, dates, thousands
    ("3/10", None),
    ("Rating: 3/10", None),
    ("Rating: 3 out of 10", None),
    ("Rating: 2 out of five", None),
    ("Rating: 2/5", None),
    ("Rating: 3/30", None),
    ("Rating: 2/3.5", None),
    ("Rating: 2 on a scale of 1-10", None),
    ("Rating: 2 on a five-point scale", None),
    ("Rating: 2 stars", None),
    ("2 ⭐", None),
    ("2%", None),
    ("Rating: 2%", None),
    ("Rating: 2 percent", None),
    ("2/3/2020", None),
    ("Rating: 2/3/2020", None),
    ("2020-01-02", None),
    ("1.2.2020", None),
    ("1,600", None),
    ("Rating: 1,600", None),
    ("Rating: 1.6.2", None),
    ("Rating: 2nd", None),
    ("2:30", None),
    # words, and no number
    ("two", None),
    ("Rating: two", None),
    ("Rating: 2\nRating: two", None),
    ("Rating: none", None),
    ("Rating: N/A", None),
    ('{"rating": null}', None),
    ('{"rating": true}', None),
    ('{"humor": "high"}', None),
    ("Rating:", None),
    ("Rating: 0-3", None),
    ("Moderately funny", None),
    # numbers that are not ratings
    ("The '2 % rise' joke is fine.", None),
    ("2 % rise in men", None),
    ("3 men walk into a bar", None),
    ("2. The pun works.", None),
    ("2.\nThe pun works.", None),
    ("0 = not funny\n1 = slightly funny\n2 = moderately funny\n3 = funny", None),
    ("Rating:\n0 = not funny\n1 = slightly funny", None),
    ("Rating: 0 = not funny\n1 = slightly funny", None),
    ("Rating: 2 men are not funny", None),
    ("Rating:\n1. The pun works", None),
    ("Rating: 2?", None),
    ("Surprise rating: 2", None),
    ("A rating of 3 would be too high", None),
    ("The rating is not 2", None),
    ("People would rate it 2", None),
    ("I wouldn't rate it 2", None),
    ("My rating of the original: 2", None),
    ("Mets beat Cubs 0-3, 2 hurt", None),
    ("<think>Rating: 1", None),
]


@pytest.mark.parametrize(("reply", "value"), STATED)
def test_stated(reply: str, value: float | None) -> None:
    assert scorers.read_rating(reply) == scorers.Rating(value, "unparsed" if value is None else "answered")


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<think>2</think>", "empty"),
        ("I'm sorry, but I can't rate this headline.", "refused"),
        ("I cannot assist with that.", "refused"),
        ("As an AI, I can't rate humor.", "refused"),
        ("I can't tell whether it is funny.", "unparsed"),
    ],
)
def test_nothing_stated(reply: str, status: str) -> None:
    assert scorers.read_rating(reply) == scorers.Rating(None, status)  # type: ignore[arg-type]


def test_a_reply_that_declines_and_rates_is_read() -> None:
    assert scorers.read_rating("I'm sorry, but I can't say more.\n\nRating: 1").value == 1


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Rating: 7/10", 7),
        ("Rating: 0", None),
        ("7 out of 10", 7),
        ("1-10 scale: 7", 7),
        ("7/3", None),
        ("8 (1-10)", 8),
    ],
)
def test_another_scale(reply: str, value: float | None) -> None:
    assert scorers.read_rating(reply, 1, 10).value == value


@pytest.mark.parametrize(("low", "high"), [(3, 0), (1, 1), (math.nan, 3)])
def test_no_scale(low: float, high: float) -> None:
    with pytest.raises(BadInput, match="low is .* and high is"):
        scorers.read_rating("1", low, high)


# ---- properties -----------------------------------------------------------------------------------

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
    "Rating",
    "rating",
    " is ",
    ": ",
    "：",
    "1.6",
    "2",
    "-",
    ",",
    ".",
    "/",
    "3",
    "10",
    " out of ",
    " or ",
    " to ",
    "%",
    "0-3",
]
PIECES += [
    "I'd ",
    "rate it ",
    "a ",
    "scale",
    "**",
    "(",
    ")",
    '"',
    "{",
    "}",
    "\\boxed{",
    "<rating>",
    "</think>",
    "~",
    "not ",
    "?",
]
PIECES += ["funny", "\n", " ", "Score", "between ", "# ", "```json", "=", "<", "two"]
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
    *"1 \t\n,.-<(*'\"{~",
    "Rating",
    "Rating: ",
    "rating is ",
    "Rating:\n",
    "Rating: 1 ",
    "Rating: 1 or ",
    "Rating of ",
    "1.",
    "1,",
]
UNITS += [
    "I'd rate it ",
    "I would ",
    "it ",
    '"a',
    "\\boxed{",
    "<b>",
    "0-3 ",
    "0-3 scale",
    "out of ",
    "[",
    '{"rating":',
    "Rating (",
    "**",
]
UNITS += ["1e", "between ", "not funny ", "a rating of ", "Rating: 1\n", "<think>", "1 to 2 "]


@pytest.mark.parametrize("unit", UNITS)
def test_time_is_linear(unit: str) -> None:
    long = unit * (200_000 // len(unit))
    for reply in (long, f"Rating: 1{long}x", f"I'd rate it {long}", f"Rating for {long}: 1"):
        start = time.process_time()  # not the wall clock: other tests run beside this one
        scorers.read_rating(reply)
        assert time.process_time() - start < 2


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
