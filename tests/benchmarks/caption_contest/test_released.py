"""The corpus's own text of an instance: equal to its column, shown by a template, also with its choices moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from humor_tasks import load
from humor_tasks.benchmarks.caption_contest import released
from humor_tasks.benchmarks.caption_contest.corpus import HUB
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput
from humor_tasks.rows import open_rows

TASKS = ("matching", "ranking", "explanation")


def shown(task: str, **parameters: Any) -> list[str]:
    run = load(task, **({"cot": False, "prompts": str(released.PROMPTS)} | parameters))
    return [run.prompt(record).turns[-1].text for record in run.records]


def column(dataset: str, task: str, split: str) -> list[str]:
    where: Any = {"hub": HUB, "cards": Path(folder("newyorker_caption_contest")), "config": task, "split": split}
    return [row["from_description"] for row in open_rows(dataset, columns=("from_description",), **where).rows]


@pytest.mark.parametrize("task", TASKS)
def test_a_template_shows_the_column_of_the_sample(task: str) -> None:
    assert shown(task, dataset="sample") == column("sample", task, "test")


@pytest.mark.parametrize(
    ("task", "split", "number"),
    [
        ("matching", "validation", 531),
        ("ranking", "validation", 507),
        ("ranking", "train", 9576),
        ("explanation", "validation", 130),
    ],
)
def test_a_template_shows_the_column_of_the_corpus(real_corpus: str, task: str, split: str, number: int) -> None:
    found = shown(task, dataset=real_corpus, split=split)
    assert len(found) == number
    assert found == column(real_corpus, task, split)


@pytest.mark.parametrize("task", TASKS)
def test_without_the_cartoon_only_the_captions_are_left(task: str) -> None:
    alone = shown(task, dataset="sample", setting="caption_only")
    whole = shown(task, dataset="sample")
    begins = "caption: " if task == "explanation" else "choices A: "
    assert all(text.startswith(begins) for text in alone)
    assert [text[text.index(begins) :] for text in whole] == alone


def test_moved_choices_are_moved_in_the_text() -> None:
    run = load("ranking", dataset="sample", cot=False, prompts=str(released.PROMPTS), order="rotated")
    for record in run.records:
        first, second = record.choices
        assert run.prompt(record).turns[-1].text.endswith(f"choices A: {first} B: {second}")


def test_links_are_named_by_their_ends() -> None:
    scene = {f"image_{name}": name for name in ("location", "description", "uncanny_description")}
    links = ["https://en.wikipedia.org/wiki/Deck_(ship)", "https://en.wiktionary.org/wiki/colleague"]
    assert released.scene_line({**scene, "entities": links}).endswith("entities: Deck_(ship), colleague.")


def test_pictures_have_no_such_text() -> None:
    with pytest.raises(BadInput, match=r"there is no field \$from_description"):
        shown("matching", dataset="sample", setting="pixels")


def test_other_runs_have_no_new_field() -> None:
    (record, *_) = load("matching", dataset="sample").records
    assert sorted(record.fields) == ["choices", "description", "entities", "location", "uncanny"]


def test_the_hubs_count_of_an_explanation_is_its_words(real_corpus: str) -> None:
    """The README's n_expl_toks of the explanation in contest 607 is 28: the hub's count is not that of perplexity."""
    columns = ("label", "n_tokens_label", "contest_number")
    where: Any = {"hub": HUB, "cards": Path(), "config": "explanation", "split": "validation"}
    found = open_rows(real_corpus, columns=columns, **where).rows
    assert len(found) == 130
    assert [row["n_tokens_label"] for row in found] == [len(row["label"].split()) for row in found]
    assert [row["n_tokens_label"] for row in found if row["contest_number"] == 607] == [27]
