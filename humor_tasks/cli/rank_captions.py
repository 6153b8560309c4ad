"""The command `humor-tasks rank-captions`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from humor_tasks.errors import BadInput

_PATH = click.Path(path_type=Path)


@click.command("rank-captions")
@click.argument("sources", nargs=-1, required=True, type=_PATH)
@click.option("--model", required=True, help="Any Inspect model, such as openai/gpt-4o, clip/FOLDER, baseline/longest.")
@click.option("-M", "model_args", multiple=True, metavar="NAME=VALUE", help="Model argument; repeatable.")
@click.option("--dataset", help="Dataset with the cartoons. Default: that of the first log, else the public corpus.")
@click.option("--revision", help="Branch, tag or commit of a hub dataset.")
@click.option("--split", help="Split with the cartoons. Default: that of the first log, else test.")
@click.option("--fold", help="Fold with the cartoons. Default: that of the first log, else 0.")
@click.option("--setting", help="Input of the model: description, pixels or caption_only. Default: description.")
@click.option("--bradley-terry", is_flag=True, help="Also report the systems' strengths (extra 'preference').")
@click.option("--prompts", help="Folder whose rank.txt replaces the packaged one.")
@click.option("--no-cache", is_flag=True, help="Do not use cached answers.")
@click.option("--log-dir", help="Folder of the Inspect log with every answer. Default: Inspect's.")
@click.option("-o", "--output", type=_PATH, help="Write the captions with their ranks (.csv or .json).")
def rank_captions(
    sources: tuple[Path, ...],
    model: str,
    model_args: tuple[str, ...],
    bradley_terry: bool,
    prompts: str | None,
    no_cache: bool,
    log_dir: str | None,
    output: Path | None,
    **corpus: Any,
) -> None:
    """Rank captions by pairwise comparison within each cartoon, in both presentation orders.

    SOURCES are Inspect logs of humor_tasks/brainstorm, or JSONL files of {contest, caption, system}. A pair with
    different preferences in the two orders is a tie; a pair with an unparsed answer is left out and counted.
    """
    from humor_tasks.data.writing import check_output
    from humor_tasks.on_inspect.client import open_model
    from humor_tasks.results.captions import pairwise as analysis
    from humor_tasks.results.captions.files import read_captions
    from humor_tasks.results.captions.pairwise import ask, compared, of_corpus

    analysis.check_ending(output)
    check_output(output, *sources)
    read = [read_captions(path) for path in sources]
    captions = [caption for part in read for caption in part.captions]
    recorded = next((part.corpus for part in read if part.corpus), {})
    recorded = {name: value for name, value in recorded.items() if name != "setting"}
    where = {**recorded, **{name: value for name, value in corpus.items() if value is not None}}
    pairs = analysis.pairs_of(captions)
    log = ask(captions, pairs, open_model(model, model_args), of_corpus(where), prompts, not no_cache, log_dir)
    pairs = compared(pairs, log)
    rows = analysis.ranked(captions, pairs)
    if output:
        analysis.write_ranking(output, rows)
    unread = sum(pair.worth is None for pair in pairs)
    shown = analysis.first_shown(captions, pairs)
    click.echo(
        f"{len(captions)} captions, {len(pairs)} pairs, {unread} unread; first shown preferred {shown.value:.3f}."
    )
    if unparsed := sum(part.unparsed for part in read):
        click.echo(f"{unparsed} replies had no readable caption; they are left out.")
    if declined := sum(part.refused for part in read):
        click.echo(f"{declined} replies were refusals; they are left out.")
    for name, e in analysis.by_system(captions, pairs).items():
        click.echo(f"{name}: win rate {e.value:.3f} [{e.low:.3f}, {e.high:.3f}], {e.n} pairs, {e.clusters} contests")
    if bradley_terry:
        for name, strength in analysis.strengths(captions, pairs).items():
            e = strength.estimate
            click.echo(
                f"{name}: strength {e.value:.3f} [{e.low:.3f}, {e.high:.3f}], rank {strength.best}-{strength.worst}"
            )
    click.echo(f"Every answer: {log.location}" + (f"\nRanking: {output}" if output else ""))
    if unread == len(pairs):
        raise BadInput("no answer could be parsed; the log holds the model's replies.")
