"""MOCK built from all public sources at hand: its shortcut baselines, its sizes, and its defaults."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from standins.mock_sources import built, rows

from humor_tasks import load
from humor_tasks.lab.corpora.mock.shortcuts import shortcuts_in

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:.*Left out:UserWarning")]


@pytest.fixture(scope="module")
def whole(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out, sources = tmp_path_factory.mktemp("whole") / "mock", real_data / "mock_sources"
    given = ["--mustard", sources / "mustard_sarcasm_data.json", "--wits", sources / "wits", "--cai", sources / "cai"]
    given += ["--more", sources / "more_val_df.tsv", "--newyorker", real_data / "newyorker_caption_contest"]
    return out, built(out, *given, "--missing", "keep", "--keep-short-dialogues")


def test_options_are_of_one_source(whole: tuple[Path, str]) -> None:
    """English items had Hinglish distractors, and the option of the item's own source was right in .78."""
    for scene in ("post", "comedy"):
        made = rows(whole[0], f"{scene}_matching")
        source: dict[str, set[str]] = {}
        for row in made:
            line = row["caption"] or row["dialogue"][-1]["text"]
            source.setdefault(" ".join(line.split()).casefold(), set()).add(row["source"])
        assert len({row["source"] for row in made}) == 2
        for row in made:
            assert all(row["source"] in source[option.casefold()] for option in row["options"])


def test_rules_on_the_options_alone_are_at_chance(whole: tuple[Path, str]) -> None:
    found = shortcuts_in(whole[0])
    for (scene, subtask, _), rules in found.items():
        if subtask == "matching" and scene != "cartoon":  # whose options are the source's
            for rule in ("first", "longest", "rarest", "source"):
                assert rules[rule].value == pytest.approx(0.25, abs=0.03)
    # They were .638 and .427 with lines of any source, drawn at random.
    validation = found["comedy", "matching", "validation"]
    assert validation["overlap"].value < 0.45
    assert validation["rarest"].value < 0.28
    assert found["comedy", "matching", "train"]["overlap"].value < 0.3
    (card,) = [whole[0] / "README.md"]
    assert "- comedy, matching, validation: the shortcut overlap is right in 0." in card.read_text()
    assert "Warning: comedy, matching, validation: the shortcut overlap is right in 0." in whole[1]
    assert "the shortcut rarest" not in whole[1]


def test_a_mark_of_one_label_stands_in_both(whole: tuple[Path, str]) -> None:
    captions = Counter(row["label"] for row in rows(whole[0], "post_detecting") if "<num>" in row["caption"].split())
    assert captions == {"yes": 90, "no": 237}
    said = "Posts with <num>: as published 53 positive and 4 negative; here 90 positive and 237 negative."
    assert said in whole[1]


def test_short_dialogues_give_mocks_size_of_explaining(whole: tuple[Path, str]) -> None:
    assert "| comedy, explaining | 0 (1,792) | 224 (224) | 0 (224) |" in whole[1]


SIZES: list[tuple[str, dict[str, Any], dict[str, int]]] = [
    ("mock_detecting", {"input": "description"}, {"comedy": 69}),
    ("mock_matching", {"input": "description"}, {"comedy": 28}),
    ("mock_explaining", {"input": "description", "split": "validation"}, {"cartoon": 130, "comedy": 224}),
    ("mock_matching", {"split": "validation"}, {"cartoon": 190}),
]


@pytest.mark.parametrize(("name", "given", "sizes"), SIZES)
def test_defaults_run_on_what_there_is(
    whole: tuple[Path, str], name: str, given: dict[str, Any], sizes: dict[str, int]
) -> None:
    run = load(name, dataset=str(whole[0]), **given)
    assert Counter(record.groups["scene"] for record in run.records) == sizes
