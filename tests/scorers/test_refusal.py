"""`is_refusal`: tables of refusals and of replies that only look like one, and linear time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.waiting import cpu_below

from humor_tasks import scorers

REFUSALS = [
    *("I can't help with that.", "I can’t help with this request.", "I cannot assist with that request."),
    *("I can not help you with this.", "I'm sorry, but I can't help with that."),
    *("I’m sorry, but I can’t provide that.", "I'm sorry, but I can't", "I am so sorry, but I cannot do this."),
    *("Sorry, I can't choose a caption for this cartoon.", "Sorry — I can't do that."),
    "I apologize, but I cannot rank these captions.",
    "My apologies, however, I won't be able to rank jokes about people.",
    "I'm sorry, but as a helpful assistant, I cannot rate offensive jokes.",
    "Unfortunately, I cannot provide an explanation for this caption.",
    *("Thank you for sharing this cartoon! I can't assist with identifying people.", "I won't rank these captions."),
    *("I will not participate in this.", "I won't.", "I'm not going to choose between these."),
    *("I'm unable to assist with this request.", "I am not able to view the image you describe."),
    *("I'm unable to see any images.", "I cannot in good conscience answer this.", "I must decline."),
    *("I must respectfully decline to rank these.", "I refuse to answer."),
    *("I'm not comfortable ranking these jokes.", "I don't feel comfortable choosing one."),
    "As an AI language model, I cannot choose a favorite caption.",
    "As an AI, I don't have a sense of humor and can't pick a winner.",
    *("As a large language model I am unable to judge humor.", '**"I cannot assist with that."**'),
    *("> I can't do that.", "\n\n  *I cannot comply.*", "No, I can't help with that."),
]
OTHERS = [
    *("", "C", "I can't tell which is funniest."),
    "I can't tell whether B or C is funnier, but I lean towards C.",
    *("I'm sorry, but I can't tell which is funniest.", "I can't decide between A and C."),
    *("I cannot say for sure.", "I can't see why A would be funny.", "I can't help but laugh at B."),
    *("I can't help laughing at B.", "I'm sorry, but I can't help smiling at B."),
    *("I can't choose between A and C yet; both work.", "I can't imagine that this is the caption."),
    *("I cannot explain why, but C feels right.", "I won't lie: these are all good."),
    *("I won't pretend this is easy.", "I refuse to believe that A won.", "I am comfortable choosing C."),
    *("I'm sorry to say that none of these is funny.", "Sorry, but none of these fits."),
    "As an AI, I don't have a sense of humor, but C plays on bears.",
    *("As an AI, I cannot laugh, but C is the best.", "As an airline joke, C works."),
    *("The bear says that it can't help with that.", "The caption: I can't help with that."),
    "Let us look at the captions. I can't help with A, it is flat.",
    *("Unfortunately, C is flat.", "No, C is flat.", "Nobody can help with that."),
    "It can't help with that.",
]


def test_what_is_a_refusal_and_what_only_looks_like_one() -> None:
    expected = dict.fromkeys(REFUSALS, True) | dict.fromkeys(OTHERS, False)
    assert {reply: scorers.is_refusal(reply) for reply in expected} == expected


@given(st.text())
def test_any_text_is_one_or_the_other(reply: str) -> None:
    assert scorers.is_refusal(reply) in (True, False)


@pytest.mark.parametrize(
    "unit", ["sorry, ", "I'm ", "as an ai ", "i can't really ", '"', " ", "thank you ", "view the "]
)
def test_time_is_linear(unit: str) -> None:
    with cpu_below(10):
        scorers.is_refusal(unit * (200_000 // len(unit)))
