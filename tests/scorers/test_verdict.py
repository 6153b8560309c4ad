"""Graders' verdicts and ratings: tables of replies, attacks quoted in them, any reply, linear time, and panels."""

from __future__ import annotations

import itertools
import json
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from standins.attacks import ATTACKS
from standins.grader_replies import as_object, tagged
from standins.waiting import cpu_below

from humor_tasks import scorers
from humor_tasks.scorers import Verdict, as_data, read_verdict
from humor_tasks.scorers.verdict import RATING_WORDS, WORDS, panel_rating, read_word, schema_of

BARS = "<reasoning>It names the bars.</reasoning>\n"
WHY = "It names the bars."


def test_the_attacks_are_many_and_distinct() -> None:
    assert len(set(ATTACKS)) == len(ATTACKS) >= 40


def test_an_attack_shown_as_data_gives_no_verdict_and_changes_none() -> None:
    for shown in map(as_data, ATTACKS):
        assert "<" not in shown
        assert not re.search(r'\{\s*"', shown)
        for reply in (f"It says: {shown}", f"It says:\n{shown}", f"<reasoning>It says: {shown}</reasoning>\n"):
            assert read_verdict(reply) == Verdict(None, "", "unparsed")
        assert read_verdict(shown, "tags").passed is None
        for verdict, expected in WORDS.items():
            assert read_verdict(tagged(shown, verdict)).passed is expected
            assert read_verdict(as_object(shown, verdict)) == Verdict(expected, shown.strip(), "answered")
            assert read_verdict(f"It says:\n{shown}\n\n<judgement>{verdict}</judgement>").passed is expected


def test_an_attack_quoted_as_it_is_never_turns_a_verdict_around() -> None:
    for attack, (verdict, expected) in itertools.product(ATTACKS, WORDS.items()):
        whole = as_object(attack, verdict)
        for reply in (whole, f"```json\n{whole}\n```"):
            assert read_verdict(reply) == Verdict(expected, attack.strip(), "answered")
        read = read_verdict(tagged(attack, verdict)).passed
        assert read is expected or (read is None and re.search("</?(think|reasoning)", attack))
        for reply in (
            f'{{"reasoning": "It says: {attack}", "judgement": "{verdict}"}}',  # quoted with nothing escaped
            f"<think>A whale.</think>{whole}",
            f"<think>{attack}</think>{whole}",
            f"<think>{attack}</think>{tagged(attack, verdict)}",
            f"{attack}</think>{tagged('nothing', verdict)}",
            f"{attack}\n<judgement>{verdict}</judgement>",
            tagged(attack + attack, verdict),
        ):
            assert read_verdict(reply).passed in (expected, None), reply


@pytest.mark.parametrize(
    ("reply", "passed", "reasons"),
    [
        (BARS + "<judgement>PASS</judgement>", True, WHY),
        (BARS + "<judgement>FAIL</judgement>", False, WHY),
        (BARS + "<judgment>PASS</judgment>\n\n", True, WHY),
        (BARS + "<judgement>FAIL</judgment>", False, WHY),
        (BARS + "<Judgement>fail</JUDGEMENT>", False, WHY),
        (BARS + "<judgement >\n  Pass\n</judgement >", True, WHY),
        (BARS + "<judgement>**PASS**</judgement>", True, WHY),
        (BARS + "<judgement> _`FAIL`_ </judgement>", False, WHY),
        (BARS + "**<judgement>PASS</judgement>**", True, WHY),
        (BARS + "## <judgement>PASS</judgement>\n---", True, WHY),
        (BARS + "- <judgement>PASS</judgement>", True, WHY),
        (BARS + "```xml\n<judgement>PASS</judgement>\n```", True, WHY),
        (f"```\n{BARS}<judgement>FAIL</judgement>\n```\n", False, WHY),
        ("<reasoning>It names the bars.</reasoning><judgement>PASS</judgement>", True, WHY),
        ("<reasoning>It names the bars.</reasoning >\t<judgement>PASS</judgement>", True, WHY),
        ("<reasoning>It names the bars.</reasoning> **<judgement>PASS</judgement>**", True, WHY),
        ("<REASONING>\nIt names the bars.\n</reasoning >\r\n<judgement>PASS</judgement>\r\n", True, WHY),
        ("It names the bars.\n\n<judgement>FAIL</judgement>", False, WHY),
        ("It names the bars.\r<judgement>FAIL</judgement>", False, WHY),
        ("<judgement>PASS</judgement>", True, ""),
        ("<reasoning></reasoning><judgement>PASS</judgement>", True, "<reasoning></reasoning>"),
        ("<reasoning>It names the bars.\n<judgement>PASS</judgement>", True, "<reasoning>It names the bars."),
        ("It</reasoning> names.<reasoning>Bars.</reasoning>\n<judgement>PASS</judgement>", True, "Bars."),
        ("<reasoning>A</reasoning><reasoning>B</reasoning><judgement>PASS</judgement>", True, "B"),
        ("<reasoning>A</reasoning><reasoning> </reasoning><judgement>PASS</judgement>", True, "A"),
        # thinking
        ("<think>PASS?</think>" + BARS + "<judgement>FAIL</judgement>", False, WHY),
        ("<think><judgement>PASS</judgement></think><judgement>FAIL</judgement>", False, ""),
        ("It might <judgement>PASS</judgement></think>" + BARS + "<judgement>FAIL</judgement>", False, WHY),
        # verdicts within reasoning are quotations
        ("<reasoning>It says <judgement>PASS</judgement>.</reasoning>\n<judgement>FAIL</judgement>", False, ...),
        ("<reasoning>It says:\n<judgement>PASS</judgement>\nNo.</reasoning><judgement>FAIL</judgement>", False, ...),
        (
            "<reasoning>A <judgement>PASS</judgement></reasoning><reasoning>B</reasoning><judgement>FAIL</judgement>",
            *(False, "B"),
        ),
        # the same verdict further up, and a word that is no verdict
        ("<judgement>FAIL</judgement>\n" + BARS + "<judgement>FAIL</judgement>", False, WHY),
        ("<judgement>PASS or FAIL</judgement>\n<judgement>FAIL</judgement>", False, ...),
        ("I write <judgement>:\n<judgement>FAIL</judgement>", False, ...),
        ("<judgement>FAIL</judgement>\n<judgement>FAIL</judgement>", False, ...),
        # not a refusal, for it has a verdict
        ("I can't help but agree.\n<judgement>PASS</judgement>", True, "I can't help but agree."),
        ("I cannot do that.\n<judgement>FAIL</judgement>", False, "I cannot do that."),
        # objects
        ('{"reasoning": "It names the bars.", "judgement": "PASS"}', True, WHY),
        ('{"judgement": "FAIL", "reasoning": " It names the bars. "}', False, WHY),
        ('\n{\n  "judgment": " pass "\n}\n', True, ""),
        ('```json\n{"judgement": "PASS"}\n```', True, ""),
        ('```\n{"judgement": "PASS"}\n```\n', True, ""),
        ('```JSON {"judgement": "PASS"}```', True, ""),
        ('```json\n{"judgement": "PASS"}', True, ""),
        ('<think>It says {"judgement": "FAIL"}</think>\n{"judgement": "PASS"}', True, ""),
        ('{"reasoning": "</think><judgement>PASS</judgement><think>", "judgement": "FAIL"}', False, ...),
        ('{"reasoning": "I can\'t help with that.", "judgement": "FAIL"}', False, "I can't help with that."),
        ('It says {"judgement": "PASS"}.\n<judgement>FAIL</judgement>', False, ...),
    ],
)
def test_verdicts(reply: str, passed: bool, reasons: str) -> None:
    read = read_verdict(reply)
    assert (read.passed, read.status) == (passed, "answered")
    assert reasons is ... or read.reasons == reasons


PASS, FAIL = "<judgement>PASS</judgement>", "<judgement>FAIL</judgement>"
PROSE = ["PASS", "FAIL.", "**PASS**", "I'd say PASS.", "Judgement: PASS", BARS + "PASS", BARS]
NOT_AT_THE_END = [
    *(
        f"{BARS}{PASS} because it does.",
        f"{BARS}{PASS}.",
        f"{BARS}{PASS}\nBut FAIL would do as well.",
        f"{PASS}\n{BARS}",
    ),
    *(f"<reasoning>It says <b></b>{PASS}</reasoning>", f'"{PASS}"', f"{PASS}<think>Or not?</think> No."),
]
NOT_AT_THE_START_OF_A_LINE = [
    *(f"I'd say {PASS}", f"Judgement: {PASS}", f"It ends with **{PASS}**", f"It says:\n> {PASS}", f"So -> {PASS}"),
    *(f"1 < 2 {PASS}", f"<judgement>{PASS}"),
]
BROKEN = [
    *("<judgement>PASS", "<judgement>PASS<judgement>", "PASS</judgement>", "<judgement>PASS</judgement"),
    *("<judgement>PASS</reasoning>", "&lt;judgement&gt;PASS&lt;/judgement&gt;", "＜judgement＞PASS＜/judgement＞"),
    *("<judgement\u200b>PASS</judgement>", '<judgement sure="yes">PASS</judgement>', "<verdict>PASS</verdict>"),
    *(f"<think>It names the bars.\n{PASS}", f"{PASS}<think>"),
]
NO_VERDICT_WITHIN = [
    *("", "PASS or FAIL", "PASS/FAIL", "PASS FAIL", "PASSED", "P A S S", "PASS.", "not PASS", "paß", "faıl", "yes"),
    *("PA\u200bSS", "РАЅЅ", "PASS" + " " * 100, "<b>PASS</b>"),
]
CONTRADICTING = [
    *(f"It says {PASS}, but no.\n{FAIL}", f"It says:\n{PASS}\nbut no.\n{FAIL}", f"{PASS}\n{BARS}{FAIL}"),
    *(f"{BARS}{FAIL}\nIt reads:\n{PASS}", f"{BARS}{FAIL}\n<reasoning>It does.</reasoning>\n{PASS}"),
    *(f"{BARS}{FAIL}\n<think>It does.</think>\n{PASS}", f"{BARS}{FAIL}\nIt reads:</think>\n{PASS}"),
    *(f"{BARS}Verdict: {FAIL}\nIt reads:\n{PASS}", PASS + FAIL, f"{FAIL}\n\n{PASS}", PASS + FAIL + FAIL),
    *("**<judgement>FAIL</judgement>**\n**<judgment>PASS</judgment>**", f"{PASS}<judgement>?</judgement>{FAIL}"),
]
NO_VERDICT_IN_AN_OBJECT = [
    *(
        "PASS",
        "true",
        "null",
        '["PASS"]',
        '{"judgement": "PASS"}',
        '"PASS or FAIL"',
        '"**PASS**"',
        '"paß"',
        f'"{PASS}"',
    ),
    *("[" * 100_000, "1" * 100_000, '"PASS",', '"PASS", "judgment": "PASS"', '"PASS", "judgement": "PASS"'),
    *('"PASS", "judgem\\u0065nt": "FAIL"', '"PASS", "reasoning": ["It names the bars."]', '"PASS", "reasoning": null'),
    '"PASS", "confidence": 0.5',
]
NO_SUCH_OBJECT = [
    *(
        "{}",
        '{"reasoning": "PASS"}',
        '{"judgement": "PASS"',
        "{'judgement': 'PASS'}",
        '{"result": {"judgement": "PASS"}}',
    ),
    *(
        '{"Judgement": "PASS"}',
        '{"judgement": "PASS"} {"judgement": "FAIL"}',
        f'{{"judgement": "PASS"}}\n{FAIL}',
        '"PASS"',
    ),
    *('[{"judgement": "PASS"}]', 'My verdict:\n{"judgement": "PASS"}', f'{{"reasoning": "It says\n{PASS}'),
    *('```json\n{"judgement": "PASS"}\n```\nIt names the bars.', f'{{"reasoning": "It says </think>{PASS}'),
]


@pytest.mark.parametrize(
    "reply",
    [
        *(PROSE + NOT_AT_THE_END + NOT_AT_THE_START_OF_A_LINE + BROKEN + CONTRADICTING + NO_SUCH_OBJECT),
        *(f"<judgement>{said}</judgement>" for said in NO_VERDICT_WITHIN),
        *(f'{{"judgement": {said}}}' for said in NO_VERDICT_IN_AN_OBJECT),
    ],
    ids=lambda reply: ascii(reply[:40]),
)
def test_replies_without_a_verdict(reply: str) -> None:
    assert read_verdict(reply) == Verdict(None, "", "unparsed")


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("<think>It names the bars.</think>\n", "empty"),
        ("I can't help with that.", "refused"),
        ("I'm sorry, but I cannot grade this: <judgement>PASS</judgement> is what it wants.", "refused"),
    ],
)
def test_replies_that_say_nothing(reply: str, status: str) -> None:
    assert read_verdict(reply) == Verdict(None, "", status)  # type: ignore[arg-type]


TAGS = "<judgement> </judgement> <judgment> <judgement>PASS</judgement> <reasoning> </reasoning> <think> </think>"
bits = st.sampled_from([*TAGS.split(), *'PASS FAIL { } "judgement" : , " ``` ```json ** > <'.split(), "\n", " "])
replies = st.text() | st.lists(bits | st.text(max_size=3)).map("".join)


@given(replies)
def test_any_reply_gives_a_verdict_or_a_reason(reply: str) -> None:
    read = read_verdict(reply)
    assert (read.passed is not None) == (read.status == "answered")
    assert read.passed is not None or not read.reasons


@given(replies, st.booleans())
def test_a_proper_last_line_is_the_verdict(before: str, passes: bool) -> None:
    reply = f"{before}\nMy verdict:\n<judgement>{'PASS' if passes else 'FAIL'}</judgement>"
    own = scorers.own_turn(reply, verdict=True)
    beginnings = (before.strip(), (own.text or "").strip())
    assume(not any(re.match(r'(```(json)?\s*)?\{\s*"', text, re.IGNORECASE) for text in beginnings))
    read = read_verdict(reply).passed
    # Another verdict may contradict it, and a special token begins a turn that the judge made up.
    if own.text is None or "</judg" in before.lower() or own.turn:
        assert read in (None, passes)
        assert own.text is not None or read is None
    else:
        assert read is passes


@given(replies, st.booleans())
def test_an_object_is_its_field(reasons: str, passes: bool) -> None:
    reply = as_object(reasons, "PASS" if passes else "FAIL")
    assert read_verdict(reply) == Verdict(passes, reasons.strip(), "answered")


def test_the_schema_asks_for_what_is_read() -> None:
    schema = schema_of(WORDS)
    assert list(schema["properties"]) == schema["required"] == ["reasoning", "judgement"]
    assert schema["additionalProperties"] is False
    assert json.loads(json.dumps(schema)) == schema
    for verdict in schema["properties"]["judgement"]["enum"]:
        assert read_verdict(as_object(WHY, verdict)) == Verdict(verdict == "PASS", WHY, "answered")


@pytest.mark.slow
def test_time_is_linear() -> None:
    units = ["<judgement>", "</judgement>", "<judgement>PASS</judgement>", "<judgement>PASS</judgement>\n", "</a"]
    units += ["<judgement ", "<reasoning>", "</reasoning>", "<", "</", "*", " * ", "\n", " ", "-", "```", "a", '{"a":']
    units += ["{", '{"', "{ ", "&", "&a", "&#"]
    for unit in units:
        text = unit * (50_000 // len(unit))
        with cpu_below(3):
            for reply in (
                text,
                f"{text}\n<judgement>PASS</judgement>",
                f"<judgement>PASS</judgement>{text}",
                as_data(text),
            ):
                read_verdict(reply)


def test_only_the_form_that_was_asked_for_counts() -> None:
    tags, json_ = "<judgement>PASS</judgement>", '{"reasoning": "x", "judgement": "PASS"}'
    assert [read_verdict(tags, form).passed for form in (None, "tags", "json")] == [True, True, None]
    assert [read_verdict(json_, form).passed for form in (None, "tags", "json")] == [True, None, True]
    assert read_verdict("I can't help with that.", "json").status == "refused"


# ---- ratings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "value", "status"),
    [
        ("<reasoning>It has 2 dogs.</reasoning>\n<judgement>4</judgement>", 4, "answered"),
        ("<judgment> **5** </judgment>\n", 5, "answered"),
        ('{"reasoning": "So.", "judgement": "2"}', 2, "answered"),
        ('```json\n{"judgment": 3}\n```', 3, "answered"),
        ("<judgement>4/5</judgement>", None, "unparsed"),
        ("<judgement>4.5</judgement>", None, "unparsed"),
        ("<judgement>four</judgement>", None, "unparsed"),
        ("<judgement>3-4</judgement>", None, "unparsed"),
        ("<judgement>3</judgement>\n<judgement>4</judgement>", None, "unparsed"),
        ("4", None, "unparsed"),
        ('{"judgement": true}', None, "unparsed"),
        ('{"judgement": 2.0}', None, "unparsed"),
        ('{"judgement": 1' + "0" * 5000 + "}", None, "unparsed"),
    ],
)
def test_what_rates_from_1_to_5(reply: str, value: int | None, status: str) -> None:
    rating, _, read_as = read_word(reply, RATING_WORDS)
    assert (rating, read_as) == (value, status)


@given(st.integers(-10, 20))
def test_only_the_scale_is_read(value: int) -> None:
    expected = value if 1 <= value <= 5 else None
    assert read_word(f"<judgement>{value}</judgement>", RATING_WORDS)[0] == expected
    assert read_word(json.dumps({"reasoning": "r", "judgement": value}), RATING_WORDS)[0] == expected


@pytest.mark.parametrize(
    ("ratings", "found"),
    [
        ([4], 4),
        ([4, 5], 4.5),
        ([1, 5, 3], 3),
        ([4, None, 5], 4.5),
        ([4, None], None),
        ([None, None, 5], None),
        ([None], None),
        ([], None),
    ],
)
def test_what_a_panel_of_ratings_amounts_to(ratings: list[float | None], found: float | None) -> None:
    assert panel_rating(ratings) == found
