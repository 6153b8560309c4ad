"""`Signature`: built, printed, parsed and compared."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humor_tasks.logs.signature import Signature, differing, settings_shown

TEXT = "bench:matching|v:2-A|scale:0: dull|prompts:9f|humor_tasks:0.2.0"
names = st.text(st.characters(exclude_characters=":|"), min_size=1)
signatures = st.builds(Signature, st.dictionaries(names, st.text() | st.integers() | st.none()))


@given(signatures)
def test_its_text_is_read_back(signature: Signature) -> None:
    assert Signature.parse(str(signature)) == signature
    assert dict(Signature.parse(str(signature))) == dict(signature)


def test_its_text_is_the_entries_in_order() -> None:
    made = {"bench": "matching", "v": "2-A", "scale": "0: dull", "prompts": "9f", "humor_tasks": "0.2.0"}
    assert str(Signature(made)) == TEXT
    assert list(Signature.parse(TEXT).items()) == list(made.items())
    assert str(Signature({"n": 3, "cot": True, "fold": None, "data": "a|b"})) == "n:3|cot:True|fold:None|data:a/b"
    assert Signature(made).digest == hashlib.sha256(TEXT.encode()).hexdigest()[:8]


@pytest.mark.parametrize("text", ["", "-"])
def test_nothing_recorded_is_false(text: str) -> None:
    assert (Signature.parse(text), str(Signature.parse(text)), bool(Signature.parse(text))) == (Signature(), "-", False)


def test_it_is_equal_where_its_text_is() -> None:
    assert Signature({"a": "1", "b": "2"}) == Signature({"a": 1, "b": 2})
    assert Signature({"a": "1", "b": "2"}) != Signature({"b": "2", "a": "1"})
    assert len({Signature.parse(TEXT), Signature.parse(TEXT), Signature()}) == 2
    assert Signature() != "-"


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({}, TEXT),
        ({"v": "3-A"}, TEXT.replace("2-A", "3-A")),
        ({"solver": "a|b"}, TEXT.replace("prompts", "solver:a/b|prompts")),
        ({"x": "1", "bench": "b", "y": "2"}, TEXT.replace("matching", "b").replace("prompts", "x:1|y:2|prompts")),
    ],
)
def test_more_entries(entries: dict[str, str], expected: str) -> None:
    assert str(Signature.parse(TEXT).with_entries(entries)) == expected


def test_entries_go_to_the_end_where_there_are_no_prompts() -> None:
    assert str(Signature({"a": 1}).with_entries({"b": 2, "a": 3})) == "a:3|b:2"


def test_what_the_model_was_sent() -> None:
    plain = Signature({"a": 1, "prompts": "p"})
    assert plain.with_generation({}) == plain
    assert str(plain.with_generation({"top_p": 0.5, "stop": ["x"]})) == (
        f"a:1|generation:{settings_shown({'stop': ['x'], 'top_p': 0.5})}|prompts:p"
    )
    warm = plain.with_generation({"temperature": 0.7, "seed": 1})
    assert warm.sent_by_default(temperature=0.0) == warm
    assert str(plain.sent_by_default(temperature=0.0)) == "a:1|prompts:p|generation:temperature=0.0"
    seeded = plain.with_generation({"top_p": 0.5})
    assert seeded.sent_by_default(temperature=0.0)["generation"] == "temperature=0.0,top_p=0.5"


def test_without_the_release() -> None:
    assert str(Signature.parse(TEXT).without_release) == TEXT.rsplit("|", 1)[0]


def test_in_what_signatures_differ() -> None:
    one, other = Signature({"a": 1, "b": 2, "c": 3}), Signature({"a": 1, "c": 4, "d": 5})
    assert differing((one, other)) == {"b": ["2", "-"], "c": ["3", "4"], "d": ["-", "5"]}
    assert differing((one, one, one)) == differing((one, Signature())) == differing(()) == {}
    assert differing((one, Signature(), other))["c"] == ["3", "4"]
