"""The parts of humor-tasks build options: rows, the log of calls, letters, lines."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inspect_ai.model import GenerateConfig, ModelOutput, ModelUsage, get_model

from humor_tasks.benchmarks.mock.corpus import MockOptions, record_of
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import words_in
from humor_tasks.lab.corpora.mock.option_models import bare
from humor_tasks.lab.corpora.mock.options import Item, Option, plans, read_items, unrelated, with_options
from humor_tasks.on_inspect.calls import Calls
from humor_tasks.rows.records import Prompt, Turn

WORDS = MockOptions(dataset="sample", input="description")

PROMPT = Prompt((Turn("user", "Write a line."),))
ROW = {"id": "r", "scene": "post", "media_id": "m", "caption": "A line.", "description": "A cat."}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no rows"),
        ("{", "line 1: not JSON ("),
        ("[1]", "line 1: holds list; it must be a row of matching"),
        (json.dumps({"id": "x"}), "line 1: lacks scene, media_id"),
        (json.dumps(ROW | {"scene": "opera"}), "scene is 'opera'"),
        (json.dumps(ROW | {"caption": " "}), "caption is"),
        (json.dumps(ROW | {"description": None}), "line 1: has no description, as 1 of 1 rows"),
        (json.dumps(ROW) + "\n" + json.dumps(ROW), "1 id: r repeated"),
        (
            json.dumps(ROW | {"scene": "comedy", "dialogue": [{"speaker": "A", "text": "b"}]}),
            "dialogue has 1 utterance;",
        ),
    ],
)
def test_rows_that_cannot_be_used(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"items\.jsonl") as problem:
        read_items(path, WORDS)
    assert message in str(problem.value)


@pytest.mark.parametrize("name", ["a" * 300, "file/below", "folder"])
def test_nothing_is_asked_where_no_reply_can_be_kept(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadInput, match="cannot be used"):
        anyio.run(
            Calls(tmp_path / name).ask, get_model("mockllm/model", custom_outputs=()), PROMPT, GenerateConfig(), {}
        )


def test_of_two_runs_at_once_one_ends(tmp_path: Path) -> None:
    first, second = Calls(tmp_path / "log"), Calls(tmp_path / "log")
    output = ModelOutput.from_content("mockllm/model", "<line>A line.</line>")
    output.usage = ModelUsage()  # else it is counted, by a tokenizer that is fetched

    async def both() -> None:
        for calls, seed in ((first, 1), (second, 2), (first, 3)):
            model = get_model("mockllm/model", custom_outputs=[output])
            await calls.ask(model, PROMPT, GenerateConfig(seed=seed), {})

    with pytest.raises(BadInput, match="was changed by another program"):
        anyio.run(both)
    assert len(Calls(tmp_path / "log").known) == 2


def test_media_stay_in_their_folder(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(ROW | {"media": "../x.png"}))
    with pytest.raises(BadInput, match=r"items.jsonl, line 1: media: .*leaves the dataset folder"):
        read_items(path, MockOptions(dataset="sample"))


def test_a_folder_without_matching(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"holds no SCENE_matching/SPLIT\.jsonl"):
        read_items(tmp_path, WORDS)


def items_of(count: int, media: int = 10**6, cell: str = "c") -> list[Item]:
    path = {"scene": "post", "media": None}

    rows = [
        ROW | path | {"id": f"{cell}{i}", "media_id": f"m{i % media}", "caption": f"Line {i}"} for i in range(count)
    ]
    return [Item(r, record_of(WORDS, r, "post", "row", hidden=True), str(r["caption"]), cell, "row") for r in rows]


@pytest.mark.slow
@given(st.integers(1, 60), st.integers(0, 60), st.floats(0, 1), st.integers(0, 50))
def test_letters_are_balanced_and_hands_have_their_share(count: int, hands: int, share: float, seed: int) -> None:
    items = [*items_of(count), *items_of(3, cell="d")]
    by_hand = {f"c{i}": f"By hand {i}" for i in range(min(hands, count))}
    found = plans(items, by_hand, share, seed)
    assert found == plans(items, by_hand, share, seed)
    letters = Counter(plan.letter for plan in found[:count])
    assert max(letters.values()) - min(letters[x] for x in "ABCD") <= 1
    chosen = [plan for plan in found if plan.by_hand]
    assert len(chosen) == min(len(by_hand), round(share * count))
    assert all(plan.by_hand == by_hand[plan.item.record.id] for plan in chosen)


@settings(max_examples=40)
@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 9))
def test_unrelated_lines_are_of_other_media(count: int, media: int, seed: int) -> None:
    items = [*items_of(count, media), *items_of(2, cell="d")]
    found = unrelated(items, seed)
    for item in items[:count]:
        of = {other.line for other in items[:count] if other.record.cluster != item.record.cluster}
        assert set(found[item.record.id]) <= of
        assert bool(found[item.record.id]) == bool(of)
        assert len(set(found[item.record.id])) == len(found[item.record.id])


@given(st.integers(0, 200))
def test_the_answer_stands_at_its_letter(seed: int) -> None:
    (plan,) = plans(items_of(1), {}, 0.15, seed)
    others = [Option("x", "model"), Option("y", "model"), Option("z", "unrelated")]
    row = with_options(plan, others, seed)
    assert row["options"]["ABCD".index(row["answer"])] == "Line 0"
    assert sorted(row["options"]) == ["Line 0", "x", "y", "z"]
    assert dict(zip(row["options"], row["options_from"].split(", "), strict=True)) == {
        "Line 0": "answer", "x": "model", "y": "model", "z": "unrelated",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("by_hand", "message"),
    [
        ({"nobody": "x"}, "1 id: nobody of no item here"),
        ({"c0": "  line 0!"}, "the text of c0 is the item's own line"),
        ({"c0": " "}, "the text of c0 is empty"),
        ({"c0": "\u200b…"}, "the text of c0 is empty"),
        ({"c0": "half \ud800"}, "the text of c0 is .*a lone surrogate"),
    ],
)
def test_texts_by_hand_that_cannot_be_used(by_hand: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        plans(items_of(2), by_hand, 0.15, 1)


@pytest.mark.parametrize(
    ("text", "speaker", "line"),
    [
        ('"A line."', "", "A line."),
        ("“A line.”", "", "A line."),
        ("'Tis a line'", "", "Tis a line"),
        ('"One," he said, "two."', "", '"One," he said, "two."'),
        ("TOBI: Wonderful.", "Tobi", "Wonderful."),
        ('tobi: "Wonderful."', "TOBI", "Wonderful."),
        ("Note: a line", "TOBI", "Note: a line"),
        ('"', "", '"'),
        ("", "", ""),
        ("1. A line.", "", "A line."),
        ('- "A line."', "", "A line."),
        ("A) A line.", "", "A line."),
        ("1984 was a line.", "", "1984 was a line."),
        ("A \x00\x1bline\ud800.", "", "A line."),
    ],
)
def test_a_line_alone(text: str, speaker: str, line: str) -> None:
    assert bare(text, speaker) == line


def test_the_same_letters() -> None:
    assert words_in("“It’s fine!”") == words_in("its FINE") == "its fine"
    assert words_in("…!") == ""
    assert words_in("ｆine Cafe\u0301") == words_in("fi\u200bne\u202e café")
