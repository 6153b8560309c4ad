"""The last step of a build: blocks, matching's wrong captions, and the dataset folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from humor_tasks.corpora.newyorker.building import IMAGES, Inputs, Settings
from humor_tasks.corpora.newyorker.card import Provenance, card
from humor_tasks.corpora.newyorker.folder import contents_of, write_folder
from humor_tasks.corpora.newyorker.ranking import Pair as Features
from humor_tasks.corpora.newyorker.ranking import balance, section
from humor_tasks.corpora.newyorker.rows import Pair, make_instances, read_explanations
from humor_tasks.corpora.newyorker.stages import pairs_of, pooled, twins_of
from humor_tasks.corpora.newyorker.work import Work, digest_of, read_json
from humor_tasks.data.contests.annotations import read_annotations
from humor_tasks.data.contests.contest_csv import contest_files

QUALITY = "quality"
"""The folder of the quality model in the dataset's, for `quality/DATASET/quality`."""


def write_dataset(
    work: Work, inputs: Inputs, settings: Settings, counts: Mapping[str, Mapping[str, Any]], output: Path
) -> Iterator[str]:
    """Write the dataset folder of a build whose stages are done; yields lines for the screen."""
    high, pairs, features, quality = _of_contests(work)
    seed = str(settings.seed)
    references = read_explanations(inputs.explanations) if inputs.explanations else []
    made = make_instances(high, pairs, references, seed, twins_of(work))
    annotated = read_annotations(inputs.annotations) if inputs.annotations else {}
    pictures = contest_files(inputs.images, IMAGES) if inputs.images else {}
    contents = contents_of(made, annotated, pictures, seed)
    provenance = Provenance(
        files_of(inputs, work, pictures), settings_of(settings), models_of(inputs, settings), _told(work, counts)
    )
    balanced = section(balance(features))
    model = work.unit("quality") / "model"
    write_folder(output, contents, pictures, card(contents, provenance, balanced, quality), provenance.as_json(), model)
    for config in contents.configs:
        sizes = ", ".join(f"{count:,} {split}" for split, count in config.sizes()[0].items())
        yield f"{config.name}: {sizes} (fold 0)"
    for what in contents.left_out:
        yield f"left out: {what}"
    yield f"{output}: {len(made.blocks):,} contests. Use it as dataset={output}."


def _of_contests(
    work: Work,
) -> tuple[dict[int, list[tuple[str, str]]], dict[int, list[Pair]], list[Features], dict[str, float]]:
    """Contest -> (caption, key) of the high-quality set; contest -> pairs, and the features of all pairs; caption ->
    predicted quality.
    """
    high: dict[int, list[tuple[str, str]]] = {}
    pairs: dict[int, list[Pair]] = {}
    features: list[Features] = []
    quality: dict[str, float] = {}
    for unit in work.units("pool"):
        number = int(str(unit))
        rows = [row for row in pooled(work, unit) if row["source"] != "okay"]
        if rows:
            high[number] = [(row["caption"], row["key"]) for row in rows]
        quality |= {row["caption"]: row["quality"] for row in rows}
        held = pairs_of(work, unit)
        pairs[number] = [Pair(p["high"], p["okay"], p["winner_source"]) for p in held]
        features += [
            Features(unit, p["winner_source"], p["high_features"], p["okay_features"], p["cosine"]) for p in held
        ]
    return high, pairs, features, quality


def files_of(inputs: Inputs, work: Work, pictures: Mapping[int, Path]) -> dict[str, str]:
    """The input files with their SHA-256; pictures: those of `inputs.images`."""
    found = {path.name: digest_of(path) for path in (inputs.annotations, inputs.explanations) if path}
    for folder, files in (("crowd", work.crowd), ("images", pictures)):
        found |= {f"{folder}/{path.name}": digest_of(path) for path in files.values()}
    return found


def settings_of(settings: Settings) -> dict[str, Any]:
    """The settings that decide the rows."""
    return {"seed": settings.seed, "since": settings.since}


def models_of(inputs: Inputs, settings: Settings) -> dict[str, str]:
    """The models by role."""
    of = f" from {settings.quality_model}" if settings.quality_model else ""
    quality = str(inputs.quality) if inputs.quality else f"trained in this build{of}, see {QUALITY}/"
    return {"sentence embedding": settings.embedding, "quality": quality}


def _told(work: Work, counts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The counts of the stages, with contests that got no rows and the quality model's validation."""
    held = read_json(work.unit("quality") / "validation.json")
    validation = {name: f"{v:.3f} [{low:.3f}, {high:.3f}]" for name, (v, low, high) in held.items()}
    told = {stage: dict(counted) for stage, counted in counts.items()}
    told["quality"] = told.get("quality", {}) | validation
    return {"contests left out": dict(work.settings["left_out"]), **told}
