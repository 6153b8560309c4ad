"""`humor-tasks build newyorker`: from raw contests to a dataset folder, stage by stage."""

from __future__ import annotations

import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.lab.corpora.newyorker.card import Provenance, card
from humor_tasks.lab.corpora.newyorker.counts import beside_published
from humor_tasks.lab.corpora.newyorker.folder import contents_of, write_folder
from humor_tasks.lab.corpora.newyorker.ranking import Pair, balance, section
from humor_tasks.lab.corpora.newyorker.rows import make_instances, read_explanations
from humor_tasks.lab.corpora.newyorker.settings import Settings
from humor_tasks.lab.corpora.newyorker.stages import STAGES, pairs_of, pooled, twins_of
from humor_tasks.lab.corpora.newyorker.work import Map, Work, digest, digest_of, processes, read_json
from humor_tasks.rows.contests.annotations import Annotated, read_annotations
from humor_tasks.rows.contests.contest_csv import contest_files

Echo = Callable[[str], None]


def run_stage(work: Work, name: str, over: Map, echo: Echo) -> dict[str, Any]:
    """Do what is missing of a stage; the sums of its counts. What is done stays, whenever the run is interrupted.

    over: see `processes`.
    """
    from tqdm import tqdm

    start, missing, units, peak = time.monotonic(), work.missing(name), work.units(name), 0.0
    # At random: commands that share the work folder then seldom do the same unit.
    done = over(work.run, [(name, contest) for contest in random.sample(missing, len(missing))])
    with tqdm(total=len(units), initial=len(units) - len(missing), desc=name, unit=" units", disable=None) as bar:
        for mib in done:
            peak = max(peak, mib)
            bar.update()
    counts: Counter[str] = Counter()
    for unit in units:
        counts.update({k: v for k, v in work.counts(name, unit).items() if isinstance(v, int)})
    spent = f"{time.monotonic() - start:.1f} s, {peak:,.0f} MiB in a process at most" if missing else "done before"
    echo(f"{name}: {len(units):,} unit{'s' * (len(units) != 1)}, {spent}")
    for what, count in counts.items():
        echo(f"  {count:>12,} {what}")
    return dict(counts)


def prepare(settings: Settings, folder: Path) -> Work:
    """The build of these files, nothing done yet. Raises BadInput where no contest can get rows."""
    annotated = read_annotations(settings.annotations) if settings.annotations else {}
    crowd = contest_files(settings.crowd)
    usable, left_out = _usable(settings, annotated, {*annotated, *crowd})
    finalists = {number: contest.finalists for number, contest in annotated.items()}
    digests = {
        number: digest([digest_of(crowd[number]) if number in crowd else None, finalists.get(number, ())])
        for number in sorted({*usable, *crowd})
    }
    values = {
        "embedding": [settings.embedding, _digest_of_folder(Path(settings.embedding))],
        "quality": _digest_of_folder(settings.quality) if settings.quality else None,
        "quality_model": settings.quality_model,
        "quality_folder": str(settings.quality) if settings.quality else None,
        "left_out": left_out,
    }
    training = () if settings.quality else tuple(sorted(set(crowd) - set(usable)))
    return Work(folder, crowd, finalists, values, STAGES, tuple(usable), training, digests)


def _usable(
    settings: Settings, annotated: Mapping[int, Annotated], numbers: set[int]
) -> tuple[list[int], dict[str, int]]:
    """The contests that can get rows, and how many cannot, by reason.

    A contest needs everything that the build is given: a description where any contest has one, a picture with images.
    Otherwise a caption would be a wrong choice in a configuration in which it is never the answer.
    """
    reasons: Counter[str] = Counter()
    described = {number for number, contest in annotated.items() if contest.fixed}
    pictures = contest_files(settings.images, IMAGES) if settings.images else {}
    usable = []
    for number in sorted(numbers):
        if (after := settings.after) is not None and number <= after:
            reasons[f"contests up to {after}"] += 1
        elif described and number not in described:
            reasons["contests without a description"] += 1
        elif settings.images and number not in pictures:
            reasons["contests without a picture"] += 1
        else:
            usable.append(number)
    if not described and not settings.images:
        raise BadInput("no cartoon is described or shown: give --annotations with descriptions, or --images.")
    if not usable:
        raise BadInput(f"no contest is left: {', '.join(f'{n} {what}' for what, n in reasons.items())}.")
    return usable, dict(reasons)


IMAGES = (".jpg", ".jpeg", ".png", ".webp")


def _digest_of_folder(folder: Path) -> str | None:
    """The hash of a folder's files; None for what is no folder, such as the name of a model on the hub."""
    if not folder.is_dir():
        return None
    return digest([(str(p.relative_to(folder)), digest_of(p)) for p in sorted(folder.rglob("*")) if p.is_file()])


def build(work: Work, until: str | None, workers: int, echo: Echo) -> dict[str, dict[str, Any]]:
    """Do the stages in order, up to `until`. Returns the sums of their counts."""
    names = list(work.stages)
    if until is not None:
        check_choice("--until: stage", until, names)
        names = names[: names.index(until) + 1]
    counts = {}
    with processes(workers) as over:
        for name in names:
            counts[name] = run_stage(work, name, over, echo)
            if name == "ingest":
                counts[name] |= (told := beside_published(work))
                for quantity, value in told.items():
                    echo(f"  {quantity}: {value}")
    return counts


# ---- the dataset --------------------------------------------------------------------------------


def write_dataset(
    work: Work, settings: Settings, counts: Mapping[str, Mapping[str, Any]], output: Path
) -> Iterator[str]:
    """Write the dataset folder of a build whose stages are done; yields lines for the screen."""
    high: dict[int, list[tuple[str, str]]] = {}
    pairs: dict[int, list[Pair]] = {}
    quality: dict[str, float] = {}
    for number in work.contests:
        if rows := [row for row in pooled(work, number) if row["source"] != "okay"]:
            high[number] = [(row["caption"], row["key"]) for row in rows]
        quality |= {row["caption"]: row["quality"] for row in rows}
        pairs[number] = pairs_of(work, number)
    seed = str(settings.seed)
    references = read_explanations(settings.explanations) if settings.explanations else []
    instances = make_instances(high, pairs, references, seed, twins_of(work))
    annotated = read_annotations(settings.annotations) if settings.annotations else {}
    pictures = contest_files(settings.images, IMAGES) if settings.images else {}
    contents = contents_of(instances, annotated, pictures, seed)
    provenance = _provenance(work, settings, counts, pictures)
    text = card(contents, provenance, section(balance([*itertools.chain(*pairs.values())])), quality)
    write_folder(output, contents, pictures, text, provenance.as_json(), work.unit("quality") / "model")
    for config in contents.configs:
        sizes = ", ".join(f"{count:,} {split}" for split, count in config.sizes()[0].items())
        yield f"{config.name}: {sizes} (fold 0)"
    for what in contents.left_out:
        yield f"left out: {what}"
    yield f"{output}: {len(instances.blocks):,} contests. Use it as dataset={output}."


def _provenance(
    work: Work,
    settings: Settings,
    counts: Mapping[str, Mapping[str, Any]],
    pictures: Mapping[int, Path],
) -> Provenance:
    """Where the corpus comes from; its counts include contests without rows and the quality model's validation."""
    digests = {path.name: digest_of(path) for path in (settings.annotations, settings.explanations) if path}
    for folder, files in (("crowd", work.crowd), ("images", pictures)):
        digests |= {f"{folder}/{path.name}": digest_of(path) for path in files.values()}
    of = f" from {settings.quality_model}" if settings.quality_model else ""
    quality = str(settings.quality) if settings.quality else f"trained in this build{of}, see quality/"
    validation = read_json(work.unit("quality") / "validation.json")
    stages: dict[str, dict[str, Any]] = {"contests left out": dict(work.settings["left_out"])}
    stages |= {stage: dict(counted) for stage, counted in counts.items()}
    stages.setdefault("quality", {}).update(
        {name: f"{value:.3f} [{low:.3f}, {high:.3f}]" for name, (value, low, high) in validation.items()}
    )
    models = {"sentence embedding": settings.embedding, "quality": quality}
    return Provenance(digests, {"seed": settings.seed, "since": settings.after}, models, stages)
