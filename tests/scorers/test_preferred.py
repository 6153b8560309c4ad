"""`read_preferred` and `panel_choice`: replies of a judge of two texts, attacks on it, and panels."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.attacks import ATTACKS, for_letter
from standins.grader_replies import as_object, tagged

from humor_tasks.scorers import Preferred, as_data, panel_choice, read_preferred, read_verdict
from humor_tasks.scorers.preferred import WORDS as PREFERRED_WORDS
from humor_tasks.scorers.verdict import schema_of

BARS = "<reasoning>B leaves the bars out.</reasoning>\n"
WHY = "B leaves the bars out."
WORDS = {"A": "A", "B": "B", "TIE": "tie"}


@pytest.mark.parametrize(
    ("reply", "choice", "reasons"),
    [
        (BARS + "<judgement>A</judgement>", "A", WHY),
        (BARS + "<judgment>B</judgment>\n\n", "B", WHY),
        (BARS + "<Judgement>Tie</JUDGEMENT>", "tie", WHY),
        (BARS + "<judgement>**b**</judgement>", "B", WHY),
        ("<reasoning>It asks for <judgement>A</judgement>.</reasoning>\n<judgement>B</judgement>", "B", ...),
        ("<judgement>A, B or TIE</judgement>\n<judgement>B</judgement>", "B", ...),
        ("I can't help but laugh at A.\n<judgement>A</judgement>", "A", "I can't help but laugh at A."),
        ('{"reasoning": "B leaves the bars out.", "judgement": "A"}', "A", WHY),
        ('\n{\n  "judgment": " tie "\n}\n', "tie", ""),
    ],
)
def test_preferences(reply: str, choice: str, reasons: str) -> None:
    read = read_preferred(reply)
    assert (read.choice, read.status) == (choice, "answered")
    assert reasons is ... or read.reasons == reasons


# A letter without its tag, or other words within it; `test_verdict` has what else is no verdict, whatever the words.
NONE = [
    *("A", "**TIE**", "I prefer A.", "Answer: B", BARS + "A", "<reasoning>A</reasoning>"),
    *('{"judgement": "Explanation A"}', '{"judgement": "A or B"}', '{"judgement": "C"}', '{"judgement": 1}'),
    *('{"preferred": "A"}', "<judgement>A</judgement><judgement>B</judgement>"),
    *("<judgement>TIE</judgement>\n**<judgment>A</judgment>**", "<judgement>A</judgement> because it does."),
]
WITHIN = [
    *("", "Explanation A", "explanation_b", "A.", "A)", "(B)", '"A"', "A or B", "A/B", "AB", "A B", "not A", "A > B"),
    *("A=B", "C", "1", "first", "both", "neither", "tied", "a tie", "TIE.", "PASS", "Ａ", "Ⓑ", "T\u0130E", "tıe"),
    *("\u0410", "\u0391", "A\u200b", "<b>A</b>"),  # Cyrillic, Greek
]


@pytest.mark.parametrize("reply", [*NONE, *(f"<judgement>{said}</judgement>" for said in WITHIN)])
def test_replies_without_a_verdict(reply: str) -> None:
    assert read_preferred(reply) == Preferred(None, "", "unparsed")


def test_the_schema_asks_for_what_is_read() -> None:
    assert schema_of(PREFERRED_WORDS)["properties"]["judgement"]["enum"] == list(WORDS)
    for word, choice in WORDS.items():
        assert read_preferred(as_object(WHY, word), "json") == Preferred(choice, WHY, "answered")  # type: ignore[arg-type]


TAGS = "<judgement> </judgement> <judgment> <judgement>%</judgement> <judgement>#</judgement> <reasoning> </reasoning>"
OTHERS = '<think> </think> % # { } "judgement" : , " ``` ** > {"judgement":"%"}'
bits = st.sampled_from([*TAGS.split(), *OTHERS.split(), "\n", " "])


@given(st.lists(bits, max_size=12).map("".join), st.sampled_from(["A", "B", "TIE"]), st.sampled_from(["tags", "json"]))
def test_a_preference_is_read_as_a_grade_is(reply: str, word: str, form: str) -> None:
    """The same reply with other words: PASS is what `word` is, FAIL another."""
    other = "B" if word == "A" else "A"
    graded = read_verdict(reply.replace("%", "PASS").replace("#", "FAIL"), form)  # type: ignore[arg-type]
    read = read_preferred(reply.replace("%", word).replace("#", other), form)  # type: ignore[arg-type]
    assert read.choice == {True: WORDS[word], False: other, None: None}[graded.passed]
    assert read.status == graded.status


@given(st.text() | st.lists(bits | st.text(max_size=3)).map("".join))
def test_any_reply_gives_a_choice_or_a_reason(reply: str) -> None:
    read = read_preferred(reply)
    assert (read.choice is not None) == (read.status == "answered")
    assert read.choice is not None or not read.reasons


# ---- attacks ------------------------------------------------------------------------------------


def test_the_attacks_want_a_letter() -> None:
    for letter in "AB":
        wanted = for_letter(letter)
        assert len(set(wanted)) == len(ATTACKS)
        assert not [attack for attack in wanted if "PASS" in attack or "FAIL" in attack or "ＰＡＳＳ" in attack]
        assert sum(f"<judgement>{letter}</judgement>" in attack for attack in wanted) > 25


def test_a_judge_that_quotes_an_attack_keeps_its_choice() -> None:
    for attack, (word, choice) in itertools.product([*for_letter("A"), *for_letter("B")], WORDS.items()):
        shown = as_data(attack)
        assert read_preferred(as_object(attack, word), "json").choice == choice
        assert read_preferred(tagged(shown, word), "tags").choice == choice
        assert read_preferred(f"It says:\n{shown}\n\n<judgement>{word}</judgement>", "tags").choice == choice
        opens = re.search("</?(think|reasoning)", attack)  # such a tag can leave the reply unread, never the other way
        assert read_preferred(tagged(attack, word), "tags").choice in ((choice, None) if opens else (choice,))
        assert read_preferred(f"Explanation A says: {shown}").choice is None


# ---- panels -------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from(["A", "B", "tie", None])))
def test_a_panel_by_its_definition(choices: list[str | None]) -> None:
    most = [word for word in WORDS.values() if sum(c == word for c in choices) > len(choices) / 2]
    expected = most[0] if most else "tie" if choices and all(choices) else None
    assert panel_choice(choices) == expected  # type: ignore[arg-type]
