"""Small dataset folders in the public corpus's own schema, made from nothing, for tests of the loader.

The pictures are random noise: they do not compress, so their bytes dominate a file as cartoons dominate the real one.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

HUB = "noisy/captions"
COLUMNS = ("instance_id", "contest_number", "caption_choices", "label")
SPLITS = ("train", "validation", "test")


def noise_png(seed: int, side: int = 64) -> bytes:
    """A side x side RGB picture of noise, encoded as PNG."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.frombytes("RGB", (side, side), random.Random(seed).randbytes(side * side * 3)).save(
        buffer, format="PNG", compress_level=1
    )
    return buffer.getvalue()


def matching_row(i: int, split: str = "test") -> dict[str, Any]:
    """One row of `matching` without its picture."""
    return {
        "contest_number": 100 + i,
        "image_location": f"a place numbered {i}",
        "image_description": f"Something ordinary happens for the {i}th time.",
        "image_uncanny_description": "It happens twice.",
        "entities": [f"https://en.wikipedia.org/wiki/Thing_{i}"],
        "questions": ["Why?"],
        "caption_choices": [f"Caption {letter} of {i}." for letter in "ABCDE"],
        "from_description": f"scene: a place numbered {i}",
        "label": "ABCDE"[i % 5],
        "n_tokens_label": 1,
        "instance_id": f"{split}-{i:04d}",
    }


def write_card(folder: Path, configs: dict[str, dict[str, str]]) -> None:
    lines = ["---", "configs:"]
    for config, splits in configs.items():
        lines += [f"- config_name: {config}", "  data_files:"]
        for split, path in splits.items():
            lines += [f"  - split: {split}", f"    path: {path}"]
    (folder / "README.md").write_text("\n".join([*lines, "---", ""]), encoding="utf-8")


def write_lines(file: Path, rows: Iterable[Any]) -> Path:
    """The file, of one JSON value a line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def make_folder(home: Path) -> Path:
    """A dataset folder as the packaged sample is one: JSONL, card, picture files named by relative paths."""
    (home / "images").mkdir(parents=True)
    for i in range(3):
        (home / "images" / f"{i}.png").write_bytes(noise_png(i, 16))
    rows = [{"image": f"images/{i}.png", **matching_row(i)} for i in range(3)]
    for split in ("train", "test"):
        write_lines(home / "matching" / f"{split}.jsonl", rows)
    write_card(home, {"matching": {split: f"matching/{split}.jsonl" for split in ("train", "test")}})
    return home


def as_parquet(folder: Path, images: pa.Array) -> None:
    table = pa.table({"image": images, **{k: [matching_row(i)[k] for i in range(3)] for k in COLUMNS}})
    pq.write_table(table, folder / "matching" / "test.parquet")
    (folder / "matching" / "test.jsonl").unlink(missing_ok=True)
    write_card(folder, {"matching": {"test": "matching/test.parquet"}})


def make_hub_repo(folder: Path, *, rows: int = 24, side: int = 160, rows_per_group: int = 8) -> Path:
    """Configs matching and matching_from_pixels as parquet with embedded pictures, beside a README that names them.

    `rows` are those of the test split; the other splits have 4.
    """
    from datasets import Dataset, Features, Image, List, Value

    text = Value("string")
    kinds = {"contest_number": Value("int32"), "n_tokens_label": Value("int32")}
    lists = dict.fromkeys(("entities", "questions", "caption_choices"), List(text))
    dropped = ("image_location", "image_description", "image_uncanny_description", "entities", "questions")
    lines = ["---", "license: cc-by-4.0", "configs:"]
    for config in ("matching", "matching_from_pixels"):
        lines += [f"- config_name: {config}", "  data_files:"]
        for number, split in enumerate(SPLITS):
            made = []
            for i in range(rows if split == "test" else 4):
                picture = {"bytes": noise_png(1000 * number + i, side), "path": None}
                row = {"image": picture, **matching_row(i, split)}
                if config.endswith("_from_pixels"):
                    row = {k: v for k, v in row.items() if k not in (*dropped, "from_description")}
                made.append(row)
            features = Features({k: Image() if k == "image" else {**kinds, **lists}.get(k, text) for k in made[0]})
            name = f"{config}/{split}-00000-of-00001.parquet"
            (folder / config).mkdir(parents=True, exist_ok=True)
            Dataset.from_list(made, features=features).to_parquet(folder / name, batch_size=rows_per_group)
            lines += [f"  - split: {split}", f"    path: {config}/{split}-*"]
    (folder / "README.md").write_text("\n".join([*lines, "---", "", "Noise.", ""]), encoding="utf-8")
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file with a header."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
