"""Small dataset folders in the public corpus's own schema, made from nothing, for tests of the loader.

The pictures are random noise: they do not compress, so their bytes dominate a file as cartoons dominate the real one.
"""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

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
