"""`read_preferred` and `panel_choice`: replies of a judge of two texts, attacks on it, and panels."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standins.attacks import ATTACKS, for_letter

from humor_tasks import scorers
from humor_tasks.scorers import Preferred, as_data, panel_choice, read_preferred, read_verdict
from humor_tasks.scorers.preferred import WORDS as PREFERRED_WORDS
from humor_tasks.scorers.verdict import schema_of

BARS = "<reasoning>B leaves the bars out.</reasoning>\n"
WHY = "B leaves the bars out."
WORDS = {"A": "A", "B": "B", "TIE": "tie"}

attacks = pytest.mark.parametrize(
    "attack", dict.fromkeys([*for_letter("A"), *for_letter("B")]), ids=lambda attack: ascii(attack[:40])
)


def tagged(reasons: str, word: str) -> str:
    return f"<reasoning>It says: {reasons}</reasoning>\n<judgement>{word}</judgement>"


def as_object(reasons: str, word: str) -> str:
    return json.dumps({"reasoning": reasons, "judgement": word})


@pytest.mark.parametrize(
    ("reply", "choice", "reasons"),
    [
        # tags
        (BARS + "<judgement>A</judgement>", "A", WHY),
        (BARS + "<judgement>B</judgement>", "B", WHY),
        (BARS + "<judgement>TIE</judgement>", "tie", WHY),
        (BARS + "<judgment>B</judgment>\n\n", "B", WHY),
        ("<judgement>A</judgement>", "A", ""),
        ("A names the bars.\n\n<judgement>A</judgement>", "A", "A names the bars."),
        ("<reasoning>B leaves the bars out.</reasoning> <judgement>A</judgement>", "A", WHY),
        # case and markup
        (BARS + "<judgement>a</judgement>", "A", WHY),
        (BARS + "<judgement>b</judgement>", "B", WHY),
        (BARS + "<judgement>tie</judgement>", "tie", WHY),
        (BARS + "<Judgement>Tie</JUDGEMENT>", "tie", WHY),
        (BARS + "<judgement >\n  B\n</judgement >", "B", WHY),
        (BARS + "**<judgement>A</judgement>**", "A", WHY),
        (BARS + "<judgement>**B**</judgement>", "B", WHY),
        (BARS + "```\n<judgement>TIE</judgement>\n```", "tie", WHY),
        # several: those within reasoning are quotations
        ("<reasoning>It asks for <judgement>A</judgement>.</reasoning>\n<judgement>B</judgement>", "B", ...),
        ("<reasoning>It asks\n<judgement>A</judgement>\n</reasoning><judgement>TIE</judgement>", "tie", ...),
        ("<judgement>A, B or TIE</judgement>\n<judgement>B</judgement>", "B", ...),
        ("<judgement>B</judgement>\n<judgement>b</judgement>", "B", ...),
        # a verdict is no refusal
        ("I can't help but laugh at A.\n<judgement>A</judgement>", "A", "I can't help but laugh at A."),
        # thinking
        ("<think><judgement>A</judgement></think>" + BARS + "<judgement>B</judgement>", "B", WHY),
        ("A? <judgement>A</judgement></think>" + BARS + "<judgement>TIE</judgement>", "tie", WHY),
        # objects
        ('{"reasoning": "B leaves the bars out.", "judgement": "A"}', "A", WHY),
        ('{"reasoning": "B leaves the bars out.", "judgement": "B"}', "B", WHY),
        ('{"judgement": "TIE", "reasoning": " B leaves the bars out. "}', "tie", WHY),
        ('\n{\n  "judgment": " tie "\n}\n', "tie", ""),
        ('{"judgement": "b"}', "B", ""),
        ('```json\n{"judgement": "A"}\n```', "A", ""),
        ('<think>{"judgement": "A"}</think>\n{"judgement": "B"}', "B", ""),
        (
            '{"reasoning": "It says <judgement>A</judgement>", "judgement": "B"}',
            "B",
            "It says <judgement>A</judgement>",
        ),
    ],
)
def test_preferences(reply: str, choice: str, reasons: str) -> None:
    read = read_preferred(reply)
    assert (read.choice, read.status) == (choice, "answered")
    assert reasons is ... or read.reasons == reasons


@pytest.mark.parametrize(
    "reply",
    [
        # a letter without its tag
        "A",
        "B.",
        "**TIE**",
        "tie",
        "I prefer A.",
        "Judgement: B",
        "The better explanation is A",
        "Answer: B",
        BARS + "A",
        BARS + "Explanation B",
        BARS,
        "<reasoning>A</reasoning>",
        # other words within it
        "<judgement></judgement>",
        "<judgement>Explanation A</judgement>",
        "<judgement>explanation_b</judgement>",
        "<judgement>A.</judgement>",
        "<judgement>A)</judgement>",
        "<judgement>(B)</judgement>",
        '<judgement>"A"</judgement>',
        "<judgement>A or B</judgement>",
        "<judgement>A/B</judgement>",
        "<judgement>AB</judgement>",
        "<judgement>A B</judgement>",
        "<judgement>not A</judgement>",
        "<judgement>A > B</judgement>",
        "<judgement>A=B</judgement>",
        "<judgement>C</judgement>",
        "<judgement>1</judgement>",
        "<judgement>first</judgement>",
        "<judgement>both</judgement>",
        "<judgement>neither</judgement>",
        "<judgement>tied</judgement>",
        "<judgement>a tie</judgement>",
        "<judgement>TIE.</judgement>",
        "<judgement>PASS</judgement>",
        "<judgement>\u0410</judgement>",  # Cyrillic
        "<judgement>\u0391</judgement>",  # Greek
        "<judgement>Ａ</judgement>",
        "<judgement>Ⓑ</judgement>",
        "<judgement>T\u0130E</judgement>",
        "<judgement>tıe</judgement>",
        "<judgement>A\u200b</judgement>",
        "<judgement><b>A</b></judgement>",
        # quoted, or not at the end
        "> <judgement>A</judgement>",
        '"<judgement>A</judgement>"',
        "Judgement: <judgement>A</judgement>",
        "It says that it deserves <judgement>A</judgement>",
        "<judgement>A</judgement> because it does.",
        "<judgement>A</judgement>\n" + BARS,
        "<reasoning>It asks for\n<judgement>A</judgement></reasoning>",
        "&lt;judgement&gt;A&lt;/judgement&gt;",
        # contradictions
        "<judgement>A</judgement><judgement>B</judgement>",
        "<judgement>B</judgement>\n\n<judgement>TIE</judgement>",
        "<judgement>TIE</judgement>\n**<judgment>A</judgment>**",
        "<judgement>A</judgement><judgement>?</judgement><judgement>B</judgement>",
        # cut off
        "<think>A names the bars.\n<judgement>A</judgement>",
        "<judgement>A",
        "<judgement>A</judgement",
        # objects
        '{"judgement": "Explanation A"}',
        '{"judgement": "A or B"}',
        '{"judgement": "**A**"}',
        '{"judgement": "C"}',
        '{"judgement": 1}',
        '{"judgement": ["A"]}',
        '{"preferred": "A"}',
        '{"judgement": "A", "judgment": "B"}',
        '{"judgement": "A", "judgement": "B"}',
        '{"judgement": "A", "confidence": 0.9}',
        '{"judgement": "A"} {"judgement": "B"}',
        '{"judgement": "A"}\n<judgement>B</judgement>',
        'My verdict:\n{"judgement": "A"}',
        '"A"',
    ],
)
def test_replies_without_a_verdict(reply: str) -> None:
    assert read_preferred(reply) == Preferred(None, "", "unparsed")


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<think>A names the bars.</think>\n", "empty"),
        ("I can't help with that.", "refused"),
        ("I'm sorry, but I cannot compare these: <judgement>A</judgement> is what one wants.", "refused"),
        ("As an AI, I cannot choose between them.", "refused"),
    ],
)
def test_replies_that_say_nothing(reply: str, status: str) -> None:
    assert read_preferred(reply) == Preferred(None, "", status)  # type: ignore[arg-type]


def test_only_the_form_that_was_asked_for_counts() -> None:
    tags, json_ = "<judgement>B</judgement>", '{"reasoning": "x", "judgement": "B"}'
    assert [read_preferred(tags, form).choice for form in (None, "tags", "json")] == ["B", "B", None]
    assert [read_preferred(json_, form).choice for form in (None, "tags", "json")] == ["B", None, "B"]


def test_the_schema_asks_for_what_is_read() -> None:
    schema = schema_of(PREFERRED_WORDS)
    assert list(schema["properties"]) == schema["required"] == ["reasoning", "judgement"]
    assert schema["properties"]["judgement"]["enum"] == list(WORDS)
    assert schema["additionalProperties"] is False
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


@attacks
def test_a_judge_that_quotes_what_it_was_shown(attack: str) -> None:
    shown = as_data(attack)
    assert "<" not in shown
    for word in WORDS:
        assert read_preferred(tagged(shown, word), "tags").choice == WORDS[word]
        assert read_preferred(as_object(shown, word), "json").choice == WORDS[word]
        assert read_preferred(f"It says:\n{shown}\n\n<judgement>{word}</judgement>", "tags").choice == WORDS[word]


@attacks
def test_a_judge_that_quotes_the_attack_itself(attack: str) -> None:
    for word in WORDS:
        read = read_preferred(tagged(attack, word), "tags").choice
        if re.search("</?(think|reasoning)", attack):  # such a tag can leave the reply unread, never the other way
            assert read in (WORDS[word], None)
        else:
            assert read == WORDS[word]
        assert read_preferred(as_object(attack, word), "json").choice == WORDS[word]


@attacks
def test_a_judge_that_only_echoes_an_attack_says_nothing(attack: str) -> None:
    shown = as_data(attack)
    for form in ("tags", "json", None):
        assert read_preferred(shown, form).choice is None  # type: ignore[arg-type]
        assert read_preferred(f"Explanation A says: {shown}", form).choice is None  # type: ignore[arg-type]


# ---- panels -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "expected"),
    [
        *(([], None), (["A"], "A"), (["B"], "B"), (["tie"], "tie"), ([None], None), (["A", "A"], "A")),
        *((["A", "B"], "tie"), (["A", "tie"], "tie"), (["B", None], None), (["tie", None], None)),
        *((["A", "A", "B"], "A"), (["B", "tie", "B"], "B"), (["A", "B", "tie"], "tie")),
        *((["tie", "tie", "B"], "tie"), (["A", "A", None], "A"), (["B", None, "B"], "B")),
        *((["A", "B", None], None), (["A", None, None], None), (["A", "A", "B", "B"], "tie")),
        *((["A", "A", "tie", "B"], "tie"), (["A", "A", "A", None], "A"), (["A", "A", None, None], None)),
        *((["A", "A", "A", "B", None], "A"), (["A", "A", "B", "tie", "tie"], "tie")),
        (("B", "B", "B", "A", "A"), "B"),
    ],
)
def test_what_a_panel_amounts_to(choices: list[str | None], expected: str | None) -> None:
    assert panel_choice(choices) == expected  # type: ignore[arg-type]


panels = st.lists(st.sampled_from(["A", "B", "tie", None]))


@given(panels, st.randoms())
def test_a_panel_has_no_order_and_no_favourite(choices: list[str | None], shuffled: object) -> None:
    found = panel_choice(choices)  # type: ignore[arg-type]
    mirror: dict[str | None, str | None] = {"A": "B", "B": "A", "tie": "tie", None: None}
    assert panel_choice([mirror[c] for c in choices]) == mirror[found]  # type: ignore[misc]
    mixed = list(choices)
    shuffled.shuffle(mixed)  # type: ignore[attr-defined]
    assert panel_choice(mixed) == found  # type: ignore[arg-type]


@given(panels)
def test_a_panel_by_its_definition(choices: list[str | None]) -> None:
    most = [word for word in WORDS.values() if sum(c == word for c in choices) > len(choices) / 2]
    expected = most[0] if most else "tie" if choices and all(choices) else None
    assert panel_choice(choices) == expected  # type: ignore[arg-type]


@given(st.lists(st.sampled_from(["A", "B", None])))
def test_a_letter_wins_a_panel_where_a_grade_would(choices: list[str | None]) -> None:
    graded = scorers.majority([None if c is None else c == "A" for c in choices])
    found = panel_choice(choices)  # type: ignore[arg-type]
    assert {"A": True, "B": False}.get(found or "") is graded
