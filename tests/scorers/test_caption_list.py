"""Replies that list captions, as models write them, and what is read from each."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standins.waiting import cpu_below

from humor_tasks import scorers
from humor_tasks.rows.contests.captions import mend
from humor_tasks.scorers.caption_list import read_captions

ABC = ("He said so.", "We moved in.", "Who knew?")
CURLY = ("“He said so.”", "“We moved in.”", "“Who knew?”")


def numbered(texts: tuple[str, ...], form: str = "{}. {}", between: str = "\n") -> str:
    return between.join(form.format(i, text) for i, text in enumerate(texts, 1))


FORMS = [
    *("{}. {}", "{}) {}", "({}) {}", "[{}] {}", "{}: {}", "{} - {}", "{} – {}", "{}.{}", "{}\\. {}"),
    *("  {}. {}", "\t{}.\t{}", "> {}. {}", "#{}: {}", "### {}. {}", "- {}. {}", "* {}. {}", "• {}) {}"),
    *("**{}.** {}", "**{}**. {}", "**{}. {}**", "**{})** {}", "__{}.__ {}", "`{}.` {}", "{}. **{}**"),
    *("{}. ***{}***", "{}. *{}*", "{}. _{}_", "{}. __{}__", "{}. `{}`", "{}.**{}**", "{}. **Caption:** {}"),
    *("{}. **Caption: {}**", "{}. Caption: {}", "{}. *Caption*: {}", "Caption {}: {}", "caption {}. {}"),
    *("Caption #{}: {}", "Caption No. {}: {}", "**Caption {}:** {}", "**Caption {}**: {}"),
    *("- **Caption {}:** {}", "### Caption {}\n{}", "**Caption {}**\n{}\n", "Caption {}:\n\n{}\n"),
    *("{}\n{}", "{}.\n{}", "{}.\n   {}\n", "**{}.**\n{}", "## {}\n\n{}\n", "{}.\n- {}", "{}.\n> {}\n"),
    *('{}. "{}"', '{}. ""{}""', "{}. “{}”", "{}. „{}“", "{}. «{}»", "{}. «{}»  ", '{}. “{}"', "{}. '{}'"),
    *("{}. ‘{}’", "{}. 「{}」", '{}. **"{}"**', '{}. "**{}**"', '{}. *"{}"*', "{}. **“{}”**", '{}. "{}'),
    *('{}. {}"', '{}."{}"', "{}. {}\n   Explanation: It plays on a saying."),
    *("{}. {}\nExplanation: it plays on a saying.", "{}. {}\n   *Explanation:* It plays on a saying."),
    *("{}. {}\n   - **Explanation**: It plays on a saying.", "{}. {}\n   - It plays on a saying."),
    *("{}. {}\n   → it plays on a saying", "{}. {}\n*(plays on a saying)*"),
    *("{}. {}\n   (plays on a saying)", "{}. {}\n   [plays on a saying]"),
    *("{}. {}\n\n   It plays on a saying.\n", "{}. {}\n   Why it's funny: it plays on a saying."),
    *("{}. {}\n   Why: it plays on a saying.",),
    *("{}. {}\n   Reasoning: it plays on a saying,\n   which is known.",),
    *("{}. {}\n   It plays on a saying.", '{}. "{}"\nit plays on a saying'),
    *("{}. **{}**\nit plays on a saying", "{}. {} Explanation: It plays on a saying."),
    *("{}. {} - Explanation: It plays on a saying.", "{}. {} **Explanation:** It plays on a saying."),
    *("{}. {} *(Why it works: it plays on a saying.)*", '{}. "{}" — Reasoning: it plays on a saying.'),
    *("{}. {} Why: because.", '{}. **"{}"** - Explanation: it plays on a saying.'),
    *("{}. {} *Explanation: it plays on a saying.*", "{}. {} (Explanation: it plays on a saying.)"),
    *("{}. *{}* | Explanation: it plays on a saying.", '{}. "{}",', "{}. “{}”;"),
    *("{}. {}\nExplanation - it plays on a saying", "{}️⃣ {}"),
]


def test_forms_of_an_item() -> None:
    """Alone, with lines around the list, and with blank lines between the items."""
    for form in FORMS:
        for reply in (
            numbered(ABC, form),
            f"Here are three captions:\n\n{numbered(ABC, form)}\n\nI hope that they make you laugh!",
            numbered(ABC, form, "\n\n"),
            numbered(ABC, form).replace("\n", "\r\n"),
        ):
            assert read_captions(reply, 3) == scorers.CaptionList(ABC, "answered", 3), reply


@pytest.mark.parametrize(
    "text",
    [
        *("42 is the answer", "2001: it was a better year", "50) sounds like a lot", "3.5 million served"),
        *("7 up, 8 down", "I'd say - it works - mostly", "Nice hat - the joke is the hat"),
        *("It's *not* 5 * 3", 'He said "no" twice', '"Yes," she said, "and no."', "“Yes” is not “no”"),
        *("'Twas the night", "Tell me why: I have all day", "The reason: love", "Why do you ask?"),
        *("Explanation is needed", "Caption this", "snake_case and a_b_c and _ and *", "e = m * c * c"),
        *("<b>Nice</b> & quiet", "Ünïcödé 死ぬ", "...", "?"),
    ],
)
def test_what_a_caption_may_be(text: str) -> None:
    expected = text.replace("*not*", "not")
    for form in ("{}. {}", "**{}.** {}", "{}\n{}", "{}. **{}**" if "*" not in text else "{}: {}"):
        if text.startswith("50)") and form == "{}. {}":
            continue
        found = read_captions(numbered(("First one.", text, "Last one."), form), 3).texts
        assert found == ("First one.", expected, "Last one.")


def objects(texts: tuple[str, ...], **fields: object) -> list[dict[str, object]]:
    return [{"number": i, "caption": text, **fields} for i, text in enumerate(texts, 1)]


def table(texts: tuple[str, ...], head: str = "| # | Caption |", row: str = "| {} | {} |") -> str:
    rule = "|".join("---" if cell else "" for cell in head.split("|"))
    return "\n".join([head, rule, numbered(texts, row)])


TEN = tuple(f"This is the caption {word}." for word in "one two three four five six seven eight nine ten".split())
OTHER = tuple(text.replace("This", "That") for text in TEN)


@pytest.mark.parametrize(
    ("reply", "texts"),
    [
        # more than one list
        (numbered(TEN) + "\n\nFinal list:\n\n" + numbered(OTHER), OTHER),
        (numbered(TEN) + "\n" + numbered(OTHER), OTHER),
        (numbered(TEN) + "\n\nMy three favourites:\n1. " + TEN[6] + "\n2. " + TEN[1], TEN),
        ("Ideas:\n1. a dog\n2. a cat\n\nCaptions:\n" + numbered(TEN), TEN),
        (numbered(TEN) + "\n\nExplanations:\n" + numbered(OTHER), TEN),
        (numbered(TEN) + "\n\n**Explanation of the captions**\n" + numbered(OTHER), TEN),
        ("Here are ten captions with explanations:\n" + numbered(TEN), TEN),
        # a numbering that begins anew
        ("**Dry**\n" + numbered(TEN[:5]) + "\n\n**Absurd**\n" + numbered(TEN[5:]), TEN),
        ("\n".join("1. " + text for text in TEN), TEN),
        ("\n".join(f"{i}. {text}" for i, text in enumerate(TEN, 11)), TEN),
        ("\n".join(f"{i}. {text}" for i, text in enumerate(TEN)), TEN),
        ("\n".join(f"{i}. {text}" for i, text in zip((1, 2, 3, 5, 6, 7, 8, 9, 10, 11), TEN, strict=True)), TEN),
        # headings within one numbering
        (numbered(TEN[:9]) + "\n\n### The last one\n\n10. " + TEN[9], TEN),
        (numbered(TEN[:4]) + "\n**Puns**\n" + "\n".join(f"{i}. {t}" for i, t in enumerate(TEN[4:], 5)), TEN),
        # equal captions are kept
        (numbered((*TEN[:9], TEN[0])), (*TEN[:9], TEN[0])),
        # reasoning
        # bullets
        ("\n".join("- " + text for text in TEN), TEN),
        ("\n\n".join(f'• "{text}"' for text in TEN), TEN),
        ("\n".join(f"- **{text}**\n  - Explanation: because\n  - it is so" for text in TEN), TEN),
        ("\n\n".join(f"- {text}\n\n  It plays on a saying." for text in TEN), TEN),
        ("\n".join("- " + t for t in OTHER) + "\n\nFinal:\n\n" + "\n".join("- " + t for t in TEN), TEN),
        ("\n".join("- " + t for t in TEN) + "\n\nExplanations:\n\n" + "\n".join("- " + t for t in OTHER), TEN),
        # JSON
        (json.dumps(TEN), TEN),
        ("```json\n" + json.dumps(TEN, indent=2) + "\n```", TEN),
        ('{"captions": ' + json.dumps(TEN) + "}", TEN),
        (json.dumps(TEN)[:-1] + ",\n]", TEN),
        (json.dumps([f"{i}. {text}" for i, text in enumerate(TEN, 1)]), TEN),
        (json.dumps(OTHER) + "\n\nFinal:\n" + numbered(TEN), TEN),
        (numbered(OTHER) + "\n\nAs JSON:\n" + json.dumps(TEN), TEN),
        (numbered(('So ["it"] goes', *TEN[1:])), ('So ["it"] goes', *TEN[1:])),
        # objects in JSON
        (json.dumps(objects(TEN)), TEN),
        ("Here are ten:\n```json\n" + json.dumps(objects(TEN, explanation="A pun."), indent=2) + "\n```\nEnjoy!", TEN),
        (json.dumps({"contest": 5, "captions": objects(TEN, tags=["a", "b"])}), TEN),
        (json.dumps({"explanations": OTHER, "captions": TEN}), TEN),
        (json.dumps({"captions": TEN, "favourites": OTHER[:3]}), TEN),
        (json.dumps({"drafts": OTHER, "final": TEN}), TEN),
        (json.dumps({"drafts": TEN, "final": OTHER}), OTHER),  # on one line, too, the last list counts
        (json.dumps({str(i): text for i, text in enumerate(TEN, 1)}), TEN),
        (json.dumps({f"caption_{i}": text for i, text in enumerate(TEN, 1)}), TEN),
        (json.dumps({i: {"caption": text} for i, text in enumerate(TEN, 1)}), TEN),
        ("\n".join(json.dumps(each) for each in objects(TEN)), TEN),
        (numbered(tuple(json.dumps(each) for each in objects(TEN))), TEN),
        (numbered(TEN) + "\n\n" + json.dumps([{"text": text} for text in OTHER]), TEN),
        (numbered(TEN) + "\n\n" + json.dumps([{"explanation": text} for text in OTHER]), TEN),
        ("[Scene: {a bar}] [1, " + json.dumps(objects(TEN)), TEN),
        (numbered(('So {"it": 1} goes', *TEN[1:])), ('So {"it": 1} goes', *TEN[1:])),
        # tables
        (table(TEN), TEN),
        (table(TEN, "# | **Captions**", "{} | {}"), TEN),
        (table(TEN, "| # | Caption | Explanation |", "| {} | **“{}”** | It is so. |"), TEN),
        (table(TEN, "| # | Why it works | Caption |", "| **{}** | It is so. | {} |"), TEN),
        (table(TEN, "| Caption |", "| {}. {} |"), TEN),
        (table(TEN).replace("---", ":-:").replace("\n", "\r\n"), TEN),
        (table(("Either\\|or.", *TEN[1:])), ("Either|or.", *TEN[1:])),
        (table(TEN[:5]) + "\n\n" + table(TEN[5:]), TEN),
        (numbered(TEN) + "\n\n" + table(OTHER, "| # | Explanation |"), TEN),
        (numbered(TEN) + "\n\n" + table(OTHER, "| Caption | Why it works |"), TEN),
        # a keycap for 10
        ("\n".join(f"{i}\ufe0f\u20e3 {t}" for i, t in enumerate(TEN[:9], 1)) + f"\n🔟 {TEN[9]}", TEN),
    ],
)
def test_lists(reply: str, texts: tuple[str, ...]) -> None:
    assert read_captions(reply) == scorers.CaptionList(texts, "answered", 10)


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("I told you that we should have taken\n   the stairs.", "I told you that we should have taken the stairs."),
        (
            "When they said open plan I did not expect the whole\nBureau of Wildlife to move in.",
            "When they said open plan I did not expect the whole Bureau of Wildlife to move in.",
        ),
        ('"I told you.\n   We should have stayed."', "I told you. We should have stayed."),
        ("“I told you.\n   (We should have stayed.)”", "I told you. (We should have stayed.)"),
        ("**I told you.\nWe should have stayed.**", "I told you. We should have stayed."),
        ('"Yes" is not what I\n   said.', '"Yes" is not what I said.'),
        ("one\n   two\n   three", "one two three"),
        # not the caption's own lines
        ("Nobody told me\n   This plays on secrecy.", "Nobody told me"),
        ("Nobody told me\n\n   so it plays on secrecy.", "Nobody told me"),
        ("Nobody told me!)\nso it plays on secrecy.", "Nobody told me!)"),
        ("Nobody told me - it plays on secrecy", "Nobody told me - it plays on secrecy"),
    ],
)
def test_captions_of_several_lines(item: str, text: str) -> None:
    for form in ("{}. {}", "{}\n{}"):
        found = read_captions(numbered(("First one.", item, "Last one."), form), 3).texts
        assert found == ("First one.", text, "Last one.")


@pytest.mark.parametrize(
    ("reply", "status", "found"),
    [
        ("", "empty", 0),
        ("<think>" + numbered(TEN), "unparsed", 0),
        ("I can't help with that.", "refused", 0),
        ("Just one caption.", "unparsed", 0),
        ("\n".join(TEN), "unparsed", 0),
        (" ".join(f"{i}. {text}" for i, text in enumerate(TEN, 1)), "unparsed", 1),
        (numbered(TEN[:9]), "unparsed", 9),
        (numbered((*TEN, "One more.")), "unparsed", 11),
        (numbered((*TEN[:9], "")), "unparsed", 9),
        (numbered((*TEN[:9], '""')), "unparsed", 9),
        (numbered(TEN[:9]) + "\n10.\nExplanation: it is so.", "unparsed", 9),
        (numbered(TEN[:5]) + "\n\nAgain:\n" + numbered(TEN[:5]), "unparsed", 10),
        ("\n".join("- " + text for text in TEN[:9]), "unparsed", 9),
        (numbered(TEN[:3]) + "\n" + "\n".join("- " + text for text in TEN), "unparsed", 3),
        (json.dumps(TEN[:9]), "unparsed", 9),
        # which texts are the captions cannot be told
        (json.dumps([{"text": text, "note": "A pun."} for text in TEN]), "unparsed", 0),
        (json.dumps([{"caption": text, "captions": text} for text in TEN]), "unparsed", 0),
        (json.dumps([{"explanation": text} for text in TEN]), "unparsed", 0),
        (json.dumps([{"caption": [text]} for text in TEN]), "unparsed", 0),
        (json.dumps([*objects(TEN[:9]), "One more."]), "unparsed", 0),
        (json.dumps([*objects(TEN[:9]), {"number": 10}]), "unparsed", 0),
        (json.dumps(objects(TEN)).replace('"number"', '"caption"'), "unparsed", 0),
        (json.dumps(objects(TEN))[:-1], "unparsed", 0),
        (table(TEN, "| Setup | Punchline |", "| So {} | {} |"), "unparsed", 0),
        (table(TEN, "| # | Explanation |"), "unparsed", 0),
        (table(("Either|or.", *TEN[1:])), "unparsed", 0),
        # another number
        (json.dumps(objects(TEN[:9])), "unparsed", 9),
        (table(TEN[:9]), "unparsed", 9),
        (table((*TEN[:9], "")), "unparsed", 9),
        ("<think>" + table(TEN), "unparsed", 0),
        (json.dumps([[text] for text in TEN])[:40], "unparsed", 1),
    ],
)
def test_replies_without_ten_captions(reply: str, status: str, found: int) -> None:
    assert read_captions(reply) == scorers.CaptionList((), status, found)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"Nice hat".', "Nice hat."),
        ('"Yes", and "no".', '"Yes", and "no".'),
        ('So "nice".', 'So "nice".'),
        ('"I said "no" to him."', 'I said "no" to him.'),
        ("“I said “no.””", "I said “no.”"),
        ('"He said no" twice."', '"He said no" twice."'),
        ("‘It’s on the ‘list’.’", "‘It’s on the ‘list’.’"),
        ('"Nice hat." - a play on hats', '"Nice hat." - a play on hats'),
    ],
)
def test_what_is_behind_a_closing_quotation_mark(text: str, expected: str) -> None:
    assert read_captions(f"1. First.\n2. {text}", 2).texts == ("First.", expected)


def test_single_quotes_are_removed_only_around_all_captions() -> None:
    assert read_captions("1. 'It's fine.'\n2. 'So is Tuesday.'", 2).texts == ("It's fine.", "So is Tuesday.")
    assert read_captions("1. 'Tis the season for givin'\n2. So is Tuesday.", 2).texts == (
        "'Tis the season for givin'",
        "So is Tuesday.",
    )


PARTS = ("1. ", "2) ", "- ", "**", '"', "[", "]", ",", "\n", "a b", "Why: ", "<think>", "'")
words = st.lists(st.sampled_from("the cat 42 is, NOT a-dog it's 7up 9 o'clock ünï".split()), min_size=2, max_size=12)
captions = words.map(lambda drawn: "So " + " ".join(drawn) + ".")


@settings(max_examples=20)
@given(st.lists(captions, min_size=1, max_size=12))
def test_any_captions_in_objects_and_tables(texts: list[str]) -> None:
    for reply in (json.dumps(objects(tuple(texts)), indent=1), table(tuple(texts))):
        assert read_captions(reply, len(texts)).texts == tuple(texts)


@settings(max_examples=40)
@given(st.lists(captions, min_size=1, max_size=12), st.sampled_from(FORMS))
def test_any_captions_in_any_form(texts: list[str], form: str) -> None:
    if "\u20e3" in form:
        texts = texts[:9]
    assert read_captions(numbered(tuple(texts), form), len(texts)).texts == tuple(texts)


@settings(max_examples=60)
@given(
    st.lists(
        st.sampled_from([*PARTS, "{", "}", '"caption": ', '{"caption": "a b"}', "|", "|---|\n", "| caption |\n"]),
        max_size=60,
    ).map("".join)
    | st.text(max_size=200),
    st.integers(1, 4),
)
def test_any_reply_is_read_or_said_not_to_be(reply: str, wanted: int) -> None:
    read = read_captions(reply, wanted)
    assert (read.status == "answered") == (len(read.texts) == wanted) == bool(read.texts)
    assert all(text.strip() == text != "" and "\n" not in text for text in read.texts)
    assert read.status != "answered" or read.found == wanted
    assert read.status != "empty" or read.found == 0


@pytest.mark.parametrize("system", ["claude", "gpt4o", "ppo", "human_top", "human_200", "human_1000", "human_median"])
def test_released_captions_are_read_back(real_data: Path, system: str) -> None:
    """Those without markup of their own; as many as 10 captions in 91 contests."""
    table = pd.read_csv(real_data / "newyorker_raw" / "generations" / f"{system}.csv", keep_default_na=False)
    columns = [name for name in table if name.isdigit() or name.startswith("caption")]
    forms, known = itertools.cycle(["{}. {}", "{}\n{}", '{}. "{}"', "{}. **{}**\n   *Explanation:* A pun."]), 0
    for cells in table[columns].astype(str).to_numpy().tolist():
        texts = [mend(cell).text for cell in cells]
        kept = tuple(text for text in texts if text and not set(text) & set('"“”*_'))
        assert read_captions(numbered(kept, next(forms)), len(kept)).texts == kept
        known += len(kept)
    assert 830 < known <= 910


HOSTILE = [
    *("-", "*", "_", "*a", "_a ", "**a ", '"', "““", "[", '["', '["a",', '["a",["', '\\"', "[\n", "1."),
    *("1. ", "1.\n", "1.\n\n", "1. a\n", "1. a\n2. b\n", "\n", "- \n", " ", "> ", "#", "- a\n  b\n"),
    *(". -(-", "Why ", ". Why ", "Explanation", "⃣", "‘", "( ", "caption ", "</think>", "{", '{"a":'),
    *('[{"a":"', '{"caption":"a"}', '{"caption":"', "[\n[0,\n", "[1]", "|", "|-", "|---|\n", "|a|\n|-|\n"),
]


@pytest.mark.slow
@pytest.mark.parametrize("start", ["", "1. ", '- "'])
def test_hostile_replies_are_read_in_linear_time(start: str) -> None:
    for part in HOSTILE:
        with cpu_below(0.4):
            assert read_captions(start + part * (10_000 // len(part)) + '"]').found >= 0


def test_only_so_many_pieces_of_json_are_tried() -> None:
    assert read_captions('[{"a":"-' * 10_000).found == 0
