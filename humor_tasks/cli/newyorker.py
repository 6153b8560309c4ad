"""The command `humor-tasks build newyorker`."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import click

from humor_tasks.errors import BadInput, listed

_PATH = click.Path(path_type=Path)
_NEEDED = ("sentence_transformers", "threadpoolctl")


@click.command()
@click.option("--annotations", type=_PATH, help="JSON with finalists and descriptions by contest.")
@click.option("--crowd", required=True, type=_PATH, help="Folder with NUMBER.csv: captions, with or without ratings.")
@click.option("--images", type=_PATH, help="Folder with NUMBER.jpg or .png, for the settings from pixels.")
@click.option("--explanations", type=_PATH, help="JSON lines with contest_number, caption and explanation.")
@click.option(
    "--embedding",
    default="sentence-transformers/paraphrase-MiniLM-L6-v2",
    show_default=True,
    help="sentence-transformers model or folder; the default is the paper's.",
)
@click.option("--quality", type=_PATH, help="Folder of a trained quality model. Default: one is trained.")
@click.option(
    "--quality-model",
    help="Text model of transformers to train as the quality model, two by contest parity; google-t5/t5-large is the "
    "paper's. Default: a linear discriminant.",
)
@click.option("--since", help="Only contests after this number or day (2023-09-30, or 2023-09 for that month on).")
@click.option("--seed", default=1234, show_default=True, help="Seed of folds, letters and wrong captions.")
@click.option("--until", help="Stop after: ingest, select, embed, twins, quality, scores, pool or ranking.")
@click.option("--workers", type=click.IntRange(1), help="Processes. Default: one for each processor.")
@click.option("--ray", is_flag=True, help="Run the stages as Ray Data jobs; RAY_ADDRESS names a cluster.")
@click.option("--work", type=_PATH, help="Folder for the stages' files. Default: OUTPUT.work.")
@click.option("-o", "--output", required=True, type=_PATH, help="The folder to write; it must be new.")
def newyorker(
    annotations: Path | None,
    crowd: Path,
    images: Path | None,
    explanations: Path | None,
    embedding: str,
    quality: Path | None,
    quality_model: str | None,
    since: str | None,
    seed: int,
    until: str | None,
    workers: int | None,
    ray: bool,
    work: Path | None,
    output: Path,
) -> None:
    """Build matching, ranking and explanation from raw caption contests (Hessel et al. 2023, Appendix C).

    An interrupted build resumes: every finished unit of a stage stays in the work folder, and the result is the same.
    """
    from humor_tasks.corpora.newyorker.building import Inputs, Settings, build, prepare
    from humor_tasks.corpora.newyorker.rows import read_explanations

    if lacking := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        told = listed("missing package", lacking)
        raise BadInput(f"the build needs the extra 'corpus': pip install 'humor-tasks[corpus]' ({told}).")
    if os.path.lexists(output):
        raise BadInput(f"{output}: exists already; name a new folder.")
    folder = work or output.with_name(f"{output.name}.work")
    _check_folders(folder, output)
    if explanations:
        read_explanations(explanations)  # what is wrong with them is said before hours of work
    if quality and quality_model:
        raise BadInput("--quality is a trained model and --quality-model trains one; give one of them.")
    inputs = Inputs(annotations, crowd, images, explanations, quality)
    settings = Settings(embedding, seed, _after(since), quality_model)
    made = prepare(inputs, settings, folder)
    counts = build(made, until, workers or os.cpu_count() or 1, ray, click.echo)
    if until:
        click.echo(f"{folder}: done until {until}. The same command without --until resumes there.")
        return
    from humor_tasks.corpora.newyorker.dataset import write_dataset

    for line in write_dataset(made, inputs, settings, counts, output):
        click.echo(line)


def _check_folders(work: Path, output: Path) -> None:
    """Raise BadInput where the work folder is no folder, or it and the output are one or in each other."""
    if os.path.lexists(work) and not work.is_dir():
        raise BadInput(f"--work: {work} is no folder; name a folder for the stages' files.")
    one, other = work.resolve(), output.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise BadInput(f"--work: {work} and the output {output} are in each other; name two folders side by side.")


def _after(since: str | None) -> int | None:
    """The last contest that is left out."""
    from humor_tasks.benchmarks.card import last_until, read_date

    if since is None or since.isdecimal():
        return None if since is None else int(since)
    try:
        return last_until(read_date(since))
    except BadInput as problem:
        raise BadInput(f"--since: {problem} A contest's number is possible, too.") from None
