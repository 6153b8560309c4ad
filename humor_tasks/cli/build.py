"""The command `humor-tasks build`: corpora from public files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from humor_tasks.cli.distractors import options
from humor_tasks.cli.newyorker import newyorker
from humor_tasks.errors import BadInput, check_choice

_PATH = click.Path(path_type=Path)


@click.group()
def build() -> None:
    """Build a corpus from its public sources."""


@build.command()
@click.option("--mustard", type=_PATH, help="MUStARD's sarcasm_data.json.")
@click.option("--mustard-clips", type=_PATH, help="Folder with utterances_final/ and context_final/.")
@click.option("--wits", type=_PATH, help="Folder with WITS' {train,val,test}_data_final_plain.json, or one of them.")
@click.option("--wits-explanations", default="english", show_default=True, help="english or code_mixed.")
@click.option("--keep-short-dialogues", is_flag=True, help="Keep dialogues of fewer than three utterances.")
@click.option("--more", type=_PATH, help="Folder with MORE's {train,val,test}_df.tsv, or one of them.")
@click.option("--more-images", type=_PATH, help="Folder with PID.jpg. Default: images/ next to the files.")
@click.option("--cai", type=_PATH, help="Folder with Cai et al.'s text/ (train, valid2, test2) and dataset_image/.")
@click.option("--cai-images", type=_PATH, help="Folder with ID.jpg. Default: dataset_image/.")
@click.option("--newyorker", help="Hub id or folder of the caption contest corpus: matching, explanation, pictures.")
@click.option("--revision", help="Branch, tag or commit of --newyorker.")
@click.option("--cartoon-movement", type=_PATH, help="Folder of your own with items.csv and pictures (docs/mock.md).")
@click.option("--cartoonstock", type=_PATH, help="Folder of your own with items.csv and pictures.")
@click.option("--tweets", type=_PATH, help="Folder of your own with items.csv and pictures.")
@click.option("--descriptions", type=_PATH, help="JSON {media_id: literal description}, for text-only models.")
@click.option("--missing", default="error", show_default=True, help="Rows without their file: error, drop or keep.")
@click.option("--seed", default=1234, show_default=True, help="Seed of splits, where the source has none, and options.")
@click.option("-o", "--output", required=True, type=_PATH, help="The folder to write; it must be new.")
def mock(
    mustard: Path | None,
    mustard_clips: Path | None,
    wits: Path | None,
    wits_explanations: str,
    keep_short_dialogues: bool,
    more: Path | None,
    more_images: Path | None,
    cai: Path | None,
    cai_images: Path | None,
    newyorker: str | None,
    revision: str | None,
    descriptions: Path | None,
    missing: str,
    seed: int,
    output: Path,
    **own: Path | None,
) -> None:
    """Build MOCK's detecting, matching and explaining from the public files that you have.

    Every source is optional. The folder's card lists the rows kept, the rows left out with reasons, and what MOCK has
    in addition.
    """
    from humor_tasks.corpora.mock.building import build_mock, kept, sizes
    from humor_tasks.corpora.mock.dialogues import LANGUAGES, read_mustard, read_wits
    from humor_tasks.corpora.mock.items import MISSING, Media, Source
    from humor_tasks.corpora.mock.shortcuts import warnings_of
    from humor_tasks.corpora.mock.stills import OWN, read_cai, read_more, read_newyorker, read_table

    check_choice("--missing", missing, MISSING)
    check_choice("--wits-explanations", wits_explanations, LANGUAGES)
    media = Media(missing)
    parts: list[tuple[object, Callable[[], Source]]] = [
        (newyorker, lambda: read_newyorker(str(newyorker), media, revision)),
        (cai, lambda: read_cai(Path(str(cai)), cai_images, media)),
        (more, lambda: read_more(Path(str(more)), more_images, media)),
        (mustard, lambda: read_mustard(Path(str(mustard)), mustard_clips, media, keep_short_dialogues)),
        (wits, lambda: read_wits(Path(str(wits)), wits_explanations, keep_short_dialogues)),
    ]
    sources = [read() for given, read in parts if given]
    sources += [read_table(option, folder, media) for option in OWN if (folder := own[option])]
    if not sources:
        raise BadInput("name at least one source: --mustard, --wits, --more, --cai or --newyorker, or one of your own.")
    built = build_mock(sources, output, media, seed, read_descriptions(descriptions))
    for warning in warnings_of(built.shortcuts):
        click.echo(f"Warning: {warning}", err=True)
    click.echo(f"{sizes(built)}\n\n{kept(built)}\n\n{output}: {sum(map(len, built.rows.values())):,} rows.")


def read_descriptions(path: Path | None) -> dict[str, str] | None:
    """{media_id: literal description} of a JSON file."""
    from humor_tasks.corpora.mock.items import one_line
    from humor_tasks.data.reading import json_object

    if path is None:
        return None
    found = json_object(path, "descriptions by media_id")
    return {name: one_line(text, "the description", f"{path}, {name:.60}") for name, text in found.items()}


build.add_command(newyorker)
build.add_command(options)
