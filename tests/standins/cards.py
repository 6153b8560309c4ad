"""What a dataset card names, counted without `datasets`, what `datasets` loads of it, and texts compared loosely."""

from __future__ import annotations

import csv
import json
import re
from functools import cache
from pathlib import Path

from datasets import disable_progress_bars, get_dataset_config_names, load_dataset
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard


@cache
def csv_rows(path: Path) -> tuple[dict[str, str], ...]:
    """The rows of a CSV file, read without any library that could mend them."""
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(csv.DictReader(file))


def plain(text: str) -> str:
    """A text without case, punctuation and digits, and with one form of the apostrophe."""
    return " ".join(re.findall(r"[a-z']+", text.lower().replace("’", "'")))


def data_files(folder: Path) -> dict[str, dict[str, list[Path]]]:
    """The files of each configuration and split."""
    configurations = MetadataConfigs.from_dataset_card_data(DatasetCard.load(folder / "README.md").data)
    found: dict[str, dict[str, list[Path]]] = {}
    for name, configuration in configurations.items():
        paths = {split["split"]: split["path"] for split in configuration["data_files"]}
        found[name] = {k: [folder / path for path in ([p] if isinstance(p, str) else p)] for k, p in paths.items()}
    return found


def rows_in(path: Path) -> int:
    if path.suffix == ".json":  # an object with one list of rows
        return sum(len(each) for each in json.loads(path.read_text(encoding="utf-8")).values())
    with path.open(encoding="utf-8", newline="") as file:
        return len(list(csv.DictReader(file))) if path.suffix == ".csv" else sum(1 for line in file if line.strip())


def check_rows(folder: Path, cache: Path) -> list[str]:
    """`datasets` loads the splits of each configuration with as many rows as their files have. The configurations."""
    disable_progress_bars()
    files = data_files(folder)
    names = get_dataset_config_names(str(folder))
    assert names == list(files)
    for name in names:
        found = load_dataset(str(folder), name, cache_dir=str(cache))
        wanted = {split: sum(map(rows_in, paths)) for split, paths in files[name].items()}
        assert {split: rows.num_rows for split, rows in found.items()} == wanted, name
    return list(names)
