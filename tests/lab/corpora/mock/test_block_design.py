"""Distractors from other items: blocks that share their lines, so that the options alone give nothing away."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humor_tasks.lab.corpora.mock.block_design import Line, distractors, script
from humor_tasks.models.choosers.shortcuts import content_words

WORDS = "bear ship clock river candle piano window engine garden lawyer".split()


def designed_lines(count: int, media: int = 10**6, source: str = "s", start: int = 0) -> list[Line]:
    """Lines of their own, of many lengths; each is shown with words that its own line has and others have, too."""
    made = []
    for i in range(start, start + count):
        own, other = WORDS[i % 10], WORDS[(i * 7 + 3) % 10]
        text = f"The {own} met the {other}" + " again" * (i * 5 % 13) + f" number{i}."
        made.append(Line(text, f"A {own} and a {WORDS[(i + 4) % 10]}.", f"m{i % media}", source))
    return made


def options(lines: list[Line], seed: str = "seed") -> list[list[str]]:
    return [[line.text, *others[:3]] for line, others in zip(lines, distractors(lines, seed), strict=True)]


RULES = {
    "longest": lambda options, of: max(options, key=lambda o: (len(o), o)),
    "shortest": lambda options, of: min(options, key=lambda o: (len(o), o)),
    "rarest": lambda options, of: min(options, key=lambda o: (of[o], o)),
    "commonest": lambda options, of: max(options, key=lambda o: (of[o], o)),
    "most like the others": lambda options, of: max(
        options, key=lambda o: (sum(len(content_words(o) & content_words(x)) for x in options), o)
    ),
    "least like the others": lambda options, of: min(
        options, key=lambda o: (sum(len(content_words(o) & content_words(x)) for x in options), o)
    ),
    "first in the alphabet": lambda options, of: min(options),
}


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_on_the_options_alone_is_right_in_one_of_four(rule: str) -> None:
    found = options(designed_lines(80))
    of = Counter(option for each in found for option in each)
    assert set(of.values()) == {4}
    assert sum(RULES[rule](sorted(each), of) == each[0] for each in found) == 20


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 5))
def test_lines_are_of_other_media_and_distinct(count: int, media: int, seed: int) -> None:
    lines = [*designed_lines(count, media), *designed_lines(9, source="t", start=100)]
    found = distractors(lines, str(seed))
    assert found == distractors(lines, str(seed))
    for line, others in zip(lines, found, strict=True):
        of = {x.text: x.medium for x in lines if x.source == line.source}
        assert len(set(others)) == len(others)
        assert line.text not in others
        assert all(of[other] != line.medium for other in others)
        assert bool(others) == any(medium != line.medium for medium in of.values())


def test_another_seed_draws_others() -> None:
    assert options(designed_lines(40), "a") != options(designed_lines(40), "b")


@pytest.mark.parametrize("count", [5, 6, 7, 41, 42, 43])
def test_numbers_that_are_no_multiple_of_four(count: int) -> None:
    found = options(designed_lines(count))
    assert {len(each) for each in found} == {4}
    assert set(Counter(option for each in found for option in each).values()) == {4}


def test_sources_and_scripts_do_not_mix() -> None:
    hindi = [Line(f"यह तो मज़ाक है {'अ' * i}", "", f"h{i}", "a") for i in range(4)]
    lines = [*designed_lines(12, source="a"), *designed_lines(12, source="b", start=12), *hindi]
    of = {line.text: (line.source, script(line.text)) for line in lines}
    for line, others in zip(lines, distractors(lines, "s"), strict=True):
        assert len(others) >= 3
        assert {of[other] for other in others} == {(line.source, script(line.text))}


SCRIPTS = [("Wow!", "LATIN"), ("यह wo", "DEVANAGARI"), ("123 !?", ""), ("Ну да ok", "CYRILLIC"), ("", "")]


@pytest.mark.parametrize(("text", "name"), SCRIPTS)
def test_the_script_is_that_of_most_letters(text: str, name: str) -> None:
    assert script(text) == name


def test_the_same_line_as_a_reader_sees_it_is_no_distractor() -> None:
    lines = [Line(text, "", f"m{i}", "s") for i, text in enumerate(["Sure.", "SURE.", "No.", "Yes.", "Well.", "Hm."])]
    for line, others in zip(lines, distractors(lines, "s"), strict=True):
        assert line.text.casefold() not in {other.casefold() for other in others}
        assert len({other.casefold() for other in others}) == len(others) >= 4


def test_lines_that_fit_what_is_shown_and_lines_of_like_length_are_preferred() -> None:
    """Of 40 lines each has three others whose words are shown with it, and of the same length."""
    lines = []
    for i in range(40):
        topic = i // 4
        text = " ".join(f"{word}{topic}" for word in WORDS[:4]) + " x" * topic
        lines.append(Line(f"{text} {'abcd'[i % 4]}", f"{WORDS[0]}{topic} and {WORDS[1]}{topic}", f"m{i}", "s"))
    shuffled = [lines[(i * 17) % 40] for i in range(40)]
    for line, others in zip(shuffled, distractors(shuffled, "s"), strict=True):
        topic = line.text.split()[0]
        assert {other.split()[0] for other in others[:3]} == {topic}
