"""Dataset cards as the hub wants them, samples as `datasets` alone loads them, and the scripts that make them."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import re
import subprocess
import sys
from collections import Counter
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from datasets import disable_progress_bars, load_dataset
from datasets.utils.metadata import known_task_ids
from huggingface_hub import DatasetCard, DatasetCardData
from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from PIL import Image, ImageChops, ImageStat
from standins.cards import check_rows, data_files, rows_in
from standins.paths import REPOSITORY

from humor_tasks import datasets_cards

# Beside the parameters of DatasetCardData: fields that `datasets` reads, and tags.
OTHER_FIELDS = {"configs", "dataset_info", "tags"}
# The list that `datasets` ships is older than this one of the hub's categories (huggingface.js, packages/tasks).
CATEGORIES = {*known_task_ids, "video-text-to-text"}
SIZES = {"n<1K": (0, 1000), "1K<n<10K": (1000, 10_000)}
CONFIGURATIONS = {"humicroedit": 2, "humorbench": 2, "mock": 9, "newyorker_caption_contest": 30}
DEFAULTS = {
    "humicroedit": ("rating", {"train": 129, "train_funlines": 24, "dev": 27, "test": 36}),
    "humorbench": ("elements", {"test": 38}),
    "mock": ("cartoon_matching", {"train": 3, "validation": 2, "test": 3}),
    "newyorker_caption_contest": ("matching", {"train": 30, "validation": 10, "test": 10}),
    "newyorker_caption_ranking": ("ranking", {"train": 369, "validation": 328, "test": 328}),
}


def shipped(name: str) -> Any:
    """A list that `datasets` ships."""
    return json.loads((files("datasets.utils.resources") / f"{name}.json").read_text(encoding="utf-8"))


def only_one(folder: Path) -> tuple[str, dict[str, int]]:
    """The configuration of a card that has one, and the rows of its splits."""
    ((name, files),) = data_files(folder).items()
    return name, {split: sum(map(rows_in, paths)) for split, paths in files.items()}


def complaints(folder: Path) -> list[str]:
    """What the hub would say against the card's header."""
    data = DatasetCard.load(folder / "README.md").data.to_dict()
    known = {*inspect.signature(DatasetCardData).parameters, *OTHER_FIELDS}
    named = Counter(re.findall(r"^(\w+):", (folder / "README.md").read_text(encoding="utf-8").split("---\n")[1], re.M))
    found = [f"{field} stands there twice" for field, times in named.items() if times > 1]
    found += [f"{field} is no field of a dataset card" for field in data if field not in known]
    found += [f"{field} is missing" for field in ("license", "language", "pretty_name") if not data.get(field)]
    found += [f"{code} is no language" for code in data.get("language", []) if code not in shipped("languages")]
    found += [f"{size} is no size" for size in data["size_categories"] if size not in shipped("size_categories")]
    found += [f"{task} is no task category" for task in data["task_categories"] if task not in CATEGORIES]
    found += [f"tag {tag!r} is no text" for tag in data["tags"] if not isinstance(tag, str)]
    with contextlib.suppress(InvalidLicenseExpression):  # the hub's names are SPDX identifiers in lower case
        if "license" not in data or canonicalize_license_expression(data["license"]).lower() == data["license"]:
            return found
    return [*found, f"{data['license']} is no license"]


@pytest.mark.parametrize("name", datasets_cards.names())
def test_the_hub_has_nothing_against_the_card(name: str) -> None:
    folder = datasets_cards.folder(name)
    assert complaints(folder) == []
    paths = {path for splits in data_files(folder).values() for split in splits.values() for path in split}
    (size,) = DatasetCard.load(folder / "README.md").data.to_dict()["size_categories"]
    least, most = SIZES[size]
    assert least <= sum(map(rows_in, paths)) < most


@pytest.mark.slow
@pytest.mark.parametrize("name", datasets_cards.names())
def test_the_folder_alone_loads_the_first_benchmarks_rows(name: str, tmp_path: Path) -> None:
    disable_progress_bars()
    folder = datasets_cards.folder(name)
    configuration, sizes = DEFAULTS.get(name) or only_one(folder)
    found = load_dataset(str(folder), cache_dir=str(tmp_path))
    assert {split: rows.num_rows for split, rows in found.items()} == sizes
    named = load_dataset(str(folder), configuration, cache_dir=str(tmp_path))
    assert {split: rows.to_list() for split, rows in found.items()} == {k: rows.to_list() for k, rows in named.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", datasets_cards.names())
def test_every_configuration_has_the_rows_of_its_files(name: str, tmp_path: Path) -> None:
    assert len(check_rows(datasets_cards.folder(name), tmp_path)) == CONFIGURATIONS.get(name, 1)


# Sample -> the files that its script makes to the byte, and how many there are.
SCRIPTS = {
    "humicroedit": ("*/*.csv", 8),
    "newyorker_caption_contest": ("*/*.jsonl", 30),
    "newyorker_caption_ranking": ("*/*.*", 6),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_script_makes_the_same_files(name: str, tmp_path: Path) -> None:
    (pattern, count), card = SCRIPTS[name], datasets_cards.folder(name)
    script = REPOSITORY / "tools" / "samples" / name / "make_sample.py"
    quiet = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, script, tmp_path], check=True, cwd=tmp_path, env=quiet)
    made, held = ({path.relative_to(at): path.read_bytes() for path in at.glob(pattern)} for at in (tmp_path, card))
    assert len(made) == count
    assert made == held
    # Another release of Pillow may round an edge or compress a file differently: the pictures must look the same.
    for path in tmp_path.glob("images/*.png"):
        with Image.open(path) as new, Image.open(card / "images" / path.name) as old:
            assert ImageStat.Stat(ImageChops.difference(new.convert("L"), old.convert("L"))).mean[0] < 2, path


CARD = """---
license: mit
language:
- en
pretty_name: Puns
size_categories:
- n<1K
task_categories:
- text-generation
tags:
- humor
---
# Puns
"""


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        ("task_categorys:\n- x\nlicense: mit", "license: mit", "task_categorys is no field of a dataset card"),
        ("", "license: mit\n", "license is missing"),
        ("license: free", "license: mit", "free is no license"),
        ("license: MIT", "license: mit", "MIT is no license"),
        ("license: mit\nlicense: mit", "license: mit", "license stands there twice"),
        ("- xyzzy\n", "- en\n", "xyzzy is no language"),
        ("n<1000", "n<1K", "n<1000 is no size"),
        ("joke-telling", "text-generation", "joke-telling is no task category"),
        ("- 5\n", "- humor\n", "tag 5 is no text"),
    ],
)
def test_a_wrong_header_is_found(wrong: str, right: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(CARD)
    assert complaints(tmp_path) == []
    (tmp_path / "README.md").write_text(CARD.replace(right, wrong, 1))
    assert complaints(tmp_path) == [message]


@pytest.mark.parametrize("wrong", ["license: [", "configs: puns\nlicense: mit"])
def test_a_header_that_cannot_be_read_is_refused(wrong: str, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text(CARD.replace("license: mit", wrong))
    with pytest.raises(Exception, match=r"parsing a flow|Expected configs to be a list"):
        data_files(tmp_path)


def test_every_card_leads_to_the_page_of_defects_and_back() -> None:
    page = (REPOSITORY / "docs" / "data_defects.md").read_text(encoding="utf-8")
    for name in datasets_cards.names():
        assert f"../datasets_cards/{name}/README.md" in page
        assert "../../docs/data_defects.md" in (Path(datasets_cards.folder(name)) / "README.md").read_text("utf-8")
