"""The canary: in all packaged data and built rows, and in nothing that a model is shown or trained on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from humor_tasks import datasets_cards, load
from humor_tasks.benchmarks import BENCHMARKS, trained
from humor_tasks.benchmarks.caption_contest.corpus import CaptionPrompt
from humor_tasks.contract.definition import Run
from humor_tasks.lab.corpora.newyorker.rows import Instance, row_of
from humor_tasks.lab.training.hosted import examples
from humor_tasks.lab.training.preferences.rows import as_row, row_preferences
from humor_tasks.rows.canary import COLUMN, GUID, TEXT, marked

CARDS = [datasets_cards.folder(name) for name in datasets_cards.names()]


# ---- where it is -------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", CARDS, ids=lambda folder: folder.name)
def test_cards_rows_and_files_of_the_samples_have_it(folder: Path) -> None:
    assert TEXT in (folder / "README.md").read_text(encoding="utf-8")
    for path in folder.rglob("*.jsonl"):
        assert all(json.loads(line)[COLUMN] == TEXT for line in path.read_text(encoding="utf-8").splitlines()), path
    for path in folder.glob("*.json"):
        whole = json.loads(path.read_text(encoding="utf-8"))
        assert all(part[COLUMN] == TEXT for part in whole.get("examples", [whole]))


def test_it_is_one_column_at_the_end_and_once() -> None:
    row = {"id": "1", COLUMN: "older", "label": "A"}
    assert list(marked(marked(row)).items()) == [("id", "1"), ("label", "A"), (COLUMN, TEXT)]
    built = row_of(Instance("matching", 9001, "a", tuple("abcde"), "A", None), None, None)
    assert list(built)[-1] == COLUMN


# ---- where it is not ---------------------------------------------------------------------------------


def opened(name: str, folder: Path, **more: Any) -> Run:
    """The sample under a benchmark's parameters."""
    if name == "explanation_preference":
        texts = {record.id: "Because." for record in load("explanation", dataset="sample").records}
        more["system"] = str(folder / "texts.json")
        Path(more["system"]).write_text(json.dumps(texts), encoding="utf-8")
    if name.startswith("mock_"):
        more["input"] = "description"
    return load(name, dataset="sample", **more)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_no_record_no_prompt_and_no_worked_example_has_it(name: str, tmp_path: Path) -> None:
    """Trainings read records and prompts, and nothing else of a row."""
    known = get_args(get_type_hints(BENCHMARKS[name].options)["split"])
    for split in ("test", "train") if "train" in known and name != "explanation_preference" else known[-1:]:
        run = opened(name, tmp_path, split=split)
        if run.data.pool and "shots" in run.options.signature_entries() and split == "test":
            run = run.with_options(shots=2)
        for record in run.records:
            assert GUID not in str(record)
            assert GUID not in str(run.prompt(record))


@pytest.mark.parametrize("name", trained("text"))
def test_no_line_of_hosted_fine_tuning_and_no_training_text_has_it(name: str, tmp_path: Path) -> None:
    rows = examples(opened(name, tmp_path, split="train", **({"cot": False} if "mock" not in name else {})))
    assert rows
    assert GUID not in json.dumps(rows)


@pytest.mark.parametrize("form", ["standard", "conversational"])
def test_no_preference_pair_has_it(form: str) -> None:
    prompt = CaptionPrompt.read()
    pairs = [
        pair for of_split in row_preferences("ranking", (), (), dataset="sample").rows.values() for pair in of_split
    ]
    assert pairs
    assert GUID not in json.dumps([as_row(pair, prompt, form) for pair in pairs])
