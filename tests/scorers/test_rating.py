"""`read_rating`: a table of replies as models write them, and the number that each states."""

from __future__ import annotations

import math

import pytest

from humor_tasks import scorers
from humor_tasks.errors import BadInput

# Replies and what is read from them on the scale 0..3; None is unparsed.
STATED = [
    # nothing but a number
    *(("1.6", 1.6), ("2", 2), ("0", 0), ("3", 3), ("3.0", 3), (" 1.6\n", 1.6), ("1.6.", 1.6)),
    *(("**1.6**", 1.6), ("`1.6`", 1.6), ('"1.6"', 1.6), ("(1.6)", 1.6), ("[1.6]", 1.6), ("[[1.6]]", 1.6)),
    *(("<1.6>", 1.6), ("$1.6$", 1.6), ("> 1.6", None), ("- 1.6", 1.6), ("1,6", 1.6), ("1,60", 1.6)),
    *(("0,625", 0.625), (".8", 0.8), ("+1.5", 1.5), ("1e0", 1), ("-0", 0), ("１．６", 1.6)),
    *(("1.6<|im_end|>", 1.6), ("1.6</s>", 1.6), ("~1.5", 1.5), ("≈ 1.5", 1.5), ("About 1.5.", 1.5)),
    *(("1.6/3", 1.6), ("1.6 / 3", 1.6), ("**1.6**/3", 1.6), ("1.6/3.0", 1.6), ("2 out of 3", 2)),
    *(("2 out of 3.", 2), ("2 out of a possible 3", 2), ("2 of 3", 2), ("2 points", 2)),
    *(("2 points out of 3", 2), ("2 (out of 3)", 2), ("1.4 on a scale of 0 to 3", 1.4)),
    *(("1.4 (on the 0-3 scale)", 1.4), ("2 (moderately funny)", 2), ("2 - Moderately funny.", 2)),
    *(("0: not funny at all", 0), ("2 = moderately funny", 2)),
    ("1.4\n\nThe swap is a mild pun on 2,000 men.", 1.4),
    ("The swap is a mild pun on 2,000 men.\n\n**1.4**", 1.4),
    ("1.4\nThe pun works.\n1.4", 1.4),
    # behind a label
    *(("Rating: 1.6", 1.6), ("Rating:1.6", 1.6), ("rating : 1.6", 1.6), ("RATING: 1.6", 1.6)),
    *(("Rating: 2", 2), ("Rating: 2.", 2), ("Rating: .8", 0.8), ("Score: .8", 0.8), ("Rating: 1,6", 1.6)),
    *(("Rating = 1.6", 1.6), ("Rating - 1.6", 1.6), ("Rating – 1.6", 1.6), ("Rating -> 1.6", 1.6)),
    *(("Rating: +1.6", 1.6), ("**Rating:** 2", 2), ("**Rating**: 2", 2), ("**Rating: 2**", 2)),
    *(("**Rating:** **2**", 2), ("__Rating:__ 2", 2), ("### Rating: 2", 2), ("- Rating: 2", 2)),
    *(("1. Rating: 2", 2), ("(Rating: 2)", 2), ("<b>Rating:</b> 2", 2), ("Rating: <b>2</b>", 2)),
    *(("Rating: <2>", 2), ("Rating: [2]", 2), ("Rating: “2”", 2), ("Rating： ２", 2), ("Rating:\u00a02", 2)),
    *(("Rating: \u200b2", 2), ("Rating: 2 🎉", 2), ("Rating: 1.6/3", 1.6), ("Rating: **1.6**/3", 1.6)),
    *(("Rating: 1.6 out of 3", 1.6), ("Rating: 2 points", 2), ("Rating: 1.6 (0-3)", 1.6)),
    *(("Rating: 1.6 on the 0–3 scale", 1.6), ("Rating: 2 (moderately funny)", 2)),
    *(("Rating: 2 - moderately funny", 2), ("Rating: 2 = moderately funny", 2)),
    *(("Rating: 2, moderately funny", 2), ("Rating: about 1.5", 1.5), ("Rating: ~1.5", 1.5)),
    *(("Rating: probably a 2", 2), ("Rating: 1.4 because the pun is old", 1.4)),
    *(("Rating: 1.4. The pun is old.", 1.4), ("Rating: 1.4; the pun is old", 1.4)),
    *(("Rating: 1.4\n\n2 men walk into a bar.", 1.4), ("Rating: 1.4\n2", 1.4), ("Rating (0-3): 1.6", 1.6)),
    *(("Rating [0-3]: 1.6", 1.6), ("Rating (0 = not funny, 3 = very funny): 1.6", 1.6)),
    *(("Rating on a scale of 0 to 3: 1.6", 1.6), ("Rating out of 3: 1.6", 1.6)),
    *(("Rating for this headline: 1.6", 1.6), ('Rating for "Trump eats 2 burgers": 1.6', 1.6)),
    *(("Rating for “not 3 men”: 1.6", 1.6), ("Rating scale: 0-3. Rating: 1.6", 1.6)),
    *(("Final rating: 1.6", 1.6), ("Overall score: 1.6", 1.6), ("Humor Rating: 1.6", 1.6)),
    *(("**Funniness score:** 1.6", 1.6), ("Funniness: 1.6", 1.6), ("Predicted mean grade: 1.6", 1.6)),
    *(("My rating: 1.6", 1.6), ("Estimate: 1.6", 1.6), ("Answer: 1.6", 1.6), ("0-3 scale: 2", 2)),
    *(("On a scale of 0 to 3: 2", 2), ("On a scale of 0 to 3, 2.", 2), ("Rating: 0-3 scale: 2", 2)),
    # on a later line, or under a heading
    *(("Rating:\n1.6", 1.6), ("Rating:\n\n- **1.6**", 1.6), ("## Rating\n\n1.6", 1.6)),
    *(("**Final rating**\n1.6/3", 1.6), ("Rating:\n2 (moderately funny)", 2)),
    # sentences
    *(("The rating is 1.6.", 1.6), ("The rating is: **1.6**", 1.6)),
    ("My rating for this edited headline is 1.6", 1.6),
    *(("My rating would be 1.6, as the pun is old.", 1.6), ("The headline's rating is 1.6", 1.6)),
    *(("I'd rate it 1.4.", 1.4), ("I’d rate it 1.4.", 1.4), ("I would rate this headline a 1.4", 1.4)),
    ("I would rate this as slightly funny: 1.4", 1.4),
    ("I'd rate the humor of this edited headline at about 1.4 out of 3.", 1.4),
    *(('I\'d rate "Trump eats 2 burgers" a 1.4', 1.4), ("I rate this 2/3", 2), ("I give it a 2", 2)),
    *(("I'd give this a rating of 1.4.", 1.4), ("The rating I'd give is 1.4.", 1.4)),
    *(("I'll go with 1.4.", 1.4), ("I'd say it's a 1.4", 1.4)),
    ("I'd say the rating for this headline is 1.4", 1.4),
    ("I estimate the average grade would be around 1.2.", 1.2),
    *(("Mean rating ≈ 1.2", 1.2), ("Rating: 1.4 out of 3.0 points", 1.4), ("So I would say 1.4", 1.4)),
    *(("This deserves a rating of 1.4.", 1.4), ("A rating of 1.4", 1.4)),
    # other containers
    *((r"\boxed{1.6}", 1.6), (r"$\boxed{\text{1.6}}$", 1.6), ("<rating>1.6</rating>", 1.6)),
    *(("<score>\n1.6\n</score>", 1.6), ("<answer>1.6</answer>", 1.6), ('{"rating": 1.4}', 1.4)),
    *(('{"rating": "1.4"}', 1.4), ('{"rating": "1.4/3"}', 1.4)),
    ('```json\n{"reason": "rating: 3 would be too much", "Rating": 1.4}\n```', 1.4),
    *(('{"score": 2, "confidence": 0.8}', 2), ('Here it is: {"rating": 1.4}', 1.4)),
    # reasoning first: the last statement counts where it ends the reply
    ("A pun on 2,000 men, 3 of them bald.\n\nRating: 1.4", 1.4),
    ("Surprise score: 3. Relevance score: 1.\nRating: 1.4", 1.4),
    ("Initial rating: 2. Final rating: 1.4", 1.4),
    ("At first I'd say 2. On reflection:\n\nRating: 1.4", 1.4),
    *(("Rating: 7/10. On the 0-3 scale: 2.1", 2.1), ("A rating of 3 means very funny, so Rating: 1", 1)),
    *(("If I rate it 3, all are 3. Rating: 1", 1), ("The maximum score is 3. Rating: 1", 1)),
    *(("Rating of the original headline: 0\nRating: 1", 1), ("Rating: 1.4\nI give 2 reasons for that.", 1.4)),
    ("Rating: 1.4\n\nIn short, my rating is 1.4, for the pun.\n", 1.4),
    # a range, a choice, a bound, two numbers
    *(("1-2", None), ("1–2", None), ("1.5 to 2", None), ("1 or 2", None), ("1, 2", None), ("1 2", None)),
    *(("1 1/2", None), ("1½", None), ("between 1 and 2", None), ("Rating: between 1 and 2", None)),
    *(("Rating: 1-2", None), ("Rating: 1.5–2.0", None), ("Rating: **1** or **2**", None)),
    *(("Rating: 1 (or maybe a 2)", None), ("Rating: 1.4 ± 0.2", None), ("Rating: 1.4 (1-2)", None)),
    *(("Rating: 1 -> 2", None), ("Rating: 2 and a half", None), ("Rating: at least 2", None)),
    *(("Rating: <2", None), ("Rating: > 2", None), ("Rating: 2+", None)),
    *(("I'd rate it between 1 and 2", None), ("I'd say less than 2", None), ("1\n2", None)),
    ("Rating: 1\nRating: 2\nThe first is for the pun.", None),
    *(('{"rating": 1, "score": 2}', None), ('{"rating": 1, "rating": 1}', None)),
    ('{"rating": [1, 2]}', None),
    # off the scale, never clipped
    *(("7", None), ("-1", None), ("−1", None), ("3.01", None), ("Rating: 7", None), ("Rating: -1", None)),
    *(("Rating -1", None), ("I'd rate it 4.", None), (r"\boxed{10}", None), ('{"rating": 7}', None)),
    *(('{"rating": NaN}', None), ('{"rating": 1' + "0" * 400 + "}", None), ("1e999", None)),
    ("7\n\nor rather\n\n2", None),
    # another scale, percent, dates, thousands
    *(("3/10", None), ("Rating: 3/10", None), ("Rating: 3 out of 10", None), ("Rating: 2 out of five", None)),
    *(("Rating: 2/5", None), ("Rating: 3/30", None), ("Rating: 2/3.5", None)),
    *(("Rating: 2 on a scale of 1-10", None), ("Rating: 2 on a five-point scale", None)),
    *(("Rating: 2 stars", None), ("2 ⭐", None), ("2%", None), ("Rating: 2%", None)),
    *(("Rating: 2 percent", None), ("2/3/2020", None), ("Rating: 2/3/2020", None), ("2020-01-02", None)),
    *(("1.2.2020", None), ("1,600", None), ("Rating: 1,600", None), ("Rating: 1.6.2", None)),
    *(("Rating: 2nd", None), ("2:30", None)),
    # words, and no number
    *(("two", None), ("Rating: two", None), ("Rating: 2\nRating: two", None), ("Rating: none", None)),
    *(("Rating: N/A", None), ('{"rating": null}', None), ('{"rating": true}', None)),
    *(('{"humor": "high"}', None), ("Rating:", None), ("Rating: 0-3", None), ("Moderately funny", None)),
    # numbers that are not ratings
    *(("The '2 % rise' joke is fine.", None), ("2 % rise in men", None), ("3 men walk into a bar", None)),
    *(("2. The pun works.", None), ("2.\nThe pun works.", None)),
    ("0 = not funny\n1 = slightly funny\n2 = moderately funny\n3 = funny", None),
    ("Rating:\n0 = not funny\n1 = slightly funny", None),
    *(("Rating: 0 = not funny\n1 = slightly funny", None), ("Rating: 2 men are not funny", None)),
    *(("Rating:\n1. The pun works", None), ("Rating: 2?", None), ("Surprise rating: 2", None)),
    *(("A rating of 3 would be too high", None), ("The rating is not 2", None)),
    *(("People would rate it 2", None), ("I wouldn't rate it 2", None)),
    *(("My rating of the original: 2", None), ("Mets beat Cubs 0-3, 2 hurt", None)),
    ("<think>Rating: 1", None),
]


def test_stated() -> None:
    expected = {reply: scorers.Rating(v, "unparsed" if v is None else "answered") for reply, v in STATED}
    assert {reply: scorers.read_rating(reply) for reply in expected} == expected


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
    with pytest.raises(BadInput, match=r"low is .* and high is"):
        scorers.read_rating("1", low, high)
