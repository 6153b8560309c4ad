"""Chain-of-Task over real rows: whatever is asked about stands in train as well, and is never shown."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from standins import commands

from humor_tasks import load
from humor_tasks.benchmarks.mock.chain_of_task import ORDER, samples


@pytest.fixture(scope="module")
def corpus(real_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The New Yorker's rows as MOCK's cartoons, those of validation as train, too; captions of winners as detecting."""
    out = tmp_path_factory.mktemp("real") / "mock"
    source = str(real_data / "newyorker_caption_contest")
    commands.humor_tasks("build", "mock", "--newyorker", source, "--missing", "keep", "-o", out)
    matching = [json.loads(line) for line in (out / "cartoon_matching" / "validation.jsonl").read_text().splitlines()]
    (out / "cartoon_detecting").mkdir()
    (out / "README.md").unlink()  # it names no config of detecting; without it each folder is one
    with (out / "cartoon_detecting" / "validation.jsonl").open("w") as file:
        for row in matching:
            kept = {name: value for name, value in row.items() if name not in ("options", "answer", "options_from")}
            file.write(json.dumps(kept | {"id": f"{row['id']}_d", "label": "yes"}) + "\n")
    for task in ORDER:
        folder = out / f"cartoon_{task}"
        shutil.copy(folder / "validation.jsonl", folder / "train.jsonl")
    return out


@pytest.mark.slow
@pytest.mark.parametrize("task", list(ORDER))
def test_no_real_row_is_shown_anything_of_itself(task: str, corpus: Path) -> None:
    given = {"dataset": str(corpus), "scene": "cartoon", "split": "validation", "input": "description"}
    run = load(f"mock_{task}", **given, chain_of_task=True)
    assert len(run.records) >= 100
    shown = set()
    for record in run.records:
        found = [sample for _, sample in samples(run, record)]
        assert len({record.cluster, *(sample.cluster for sample in found)}) == (3 if task == "explaining" else 2)
        turns = run.prompt(record).turns
        before = "\n".join(turn.text for turn in turns[1:-3]).casefold()
        assert record.fields["description"].casefold() not in before
        if task == "matching":
            assert not any(f": {choice}\n".casefold() in before for choice in record.choices)
        else:
            assert f": {record.fields['punchline']}\n".casefold() not in before
        if task == "explaining":
            assert str(record.target).casefold() not in before
        shown |= {sample.id for sample in found}
    assert len(shown) > 50
