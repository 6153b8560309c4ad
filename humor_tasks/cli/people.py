"""The commands `humor-tasks annotate`, `pairs` and `votes`: the voting page, its items, and import of votes."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.flags import TaskOption
from humor_tasks.errors import BadInput, check_choice

_MISSING = "the page needs the extra 'annotate': pip install 'humor-tasks[annotate]' ({})."


@click.command()
@click.argument("pairs", type=click.Path(path_type=Path))
@click.option(
    "--votes", default="votes.csv", show_default=True, type=click.Path(path_type=Path), help="The file of votes."
)
@click.option("--ties/--no-ties", default=False, show_default=True, help="Allow votes for a tie.")
@click.option("--limit", type=click.IntRange(1), help="Maximum number of items per annotator. Default: all.")
@click.option("--per-item", type=click.IntRange(1), help="Maximum number of annotators per item. Default: all.")
@click.option("--qualified", type=click.Path(path_type=Path), help="Only annotators with yes in this file of qualify.")
@click.option("--notice", default="", help="A text on the first page, such as a warning about the content.")
@click.option("--shuffle/--no-shuffle", default=True, show_default=True, help="Show options in random order.")
@click.option("--seed", default=1234, show_default=True, help="Seed of the order of items and options.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="0.0.0.0 makes the page accessible from the network."
)
@click.option("--port", default=7860, show_default=True, type=click.IntRange(1, 65535))
def annotate(pairs: Path, votes: Path, host: str, port: int, qualified: Path | None, notice: str, **how: Any) -> None:
    """Serve a web page for voting on the items of PAIRS, or for filling in their forms.

    Each annotator enters an id and sees the items in an individual random order. Every vote is written to disk before
    the next item is shown. The same command resumes an interrupted session; an annotator continues with the same id.
    """
    from humor_tasks.people.pairs import read_pairs
    from humor_tasks.people.qualifying import read_qualified
    from humor_tasks.people.session import Session
    from humor_tasks.people.store import VoteStore

    _check_port(host, port)
    try:
        from humor_tasks.people.page import serve
    except ImportError as problem:
        raise BadInput(_MISSING.format(problem)) from None
    items = read_pairs(pairs)
    for item in items:
        if item.picture is not None:
            item.picture.read()  # reports a damaged picture now, not to an annotator
    who = read_qualified(qualified) if qualified else None
    store = VoteStore(votes, items)
    if store.repaired:
        click.echo(store.repaired, err=True)

    def ready(address: str) -> None:
        click.echo(f"{len(items)} items, {len(store.raters())} annotators so far; votes are written to {votes}.")
        click.echo(f"Vote at {address} (Ctrl-C stops the server).")

    serve(Session(items, store, qualified=who, **how), host, port, ready, notice)


def _check_port(host: str, port: int) -> None:
    """Raise BadInput where the port cannot be used, before any file is created."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind((host, port))
        except OSError as problem:
            if problem.errno == errno.EADDRINUSE:
                raise BadInput(f"port {port} is in use; choose another with --port.") from None
            raise BadInput(f"port {port} of {host} cannot be used ({problem}); see --host and --port.") from None


def _voted() -> Sequence[str]:
    from humor_tasks.benchmarks import voted

    return tuple(voted())


@click.command()
@click.option("--task", cls=TaskOption, tasks=_voted, first=True, show_default=True, help="{names}.")
@click.option("--system", help="Explanations or stories: option A, a log, samples or file of them, or 'human'.")
@click.option("--against", help="Explanations or stories: option B, in the same formats.")
@click.option("--dataset", help="Hub id, dataset folder, or 'sample'. Default: the public corpus.")
@click.option("--revision", help="Branch, tag or commit of a hub dataset.")
@click.option("--split", help="Default: test.")
@click.option("--fold", help="0..4, or 'all': the rows of the five folds. Default: 0.")
@click.option("--setting", help="description, pixels or caption_only. Default: description.")
@click.option("--scene", help="MOCK: cartoon, post, comedy, stills or all. Default: all.")
@click.option("--input", help="MOCK: media, frames or description; clips are shown as frames. Default: media.")
@click.option("--images", type=click.IntRange(0), help="Stories: as in their task, pictures per scene; 0 is all.")
@click.option("--size", type=click.IntRange(1), help="Number of items, sampled at random. Default: all.")
@click.option("--seed", default=1234, show_default=True, help="Seed of the sample of --size.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The file to write (JSON lines).")
def pairs(
    task: str, system: str | None, against: str | None, size: int | None, seed: int, output: Path, **parameters: Any
) -> None:
    """Write the items to vote on, for `humor-tasks annotate`.

    Items are two systems' explanations or stories, or a benchmark's own questions; pictures are written to a folder
    next to the file.
    """
    from humor_tasks.api import load
    from humor_tasks.benchmarks import voted
    from humor_tasks.data.writing import check_output
    from humor_tasks.people.making import choices, preferences, rows, sampled
    from humor_tasks.people.pairs import write_pairs

    kinds = voted()
    check_choice("task", task, kinds)
    compared = kinds[task].option_kind == "systems"
    if compared != bool(system and against) or (not compared and (system or against)):
        preferred = " and ".join(name for name, votes in kinds.items() if votes.option_kind == "systems")
        raise BadInput(f"the tasks {preferred} need --system and --against, and other tasks do not take them.")
    check_output(output, system, against)
    run = load(task, **{name: value for name, value in parameters.items() if value is not None})
    kind = kinds[task].kind
    asked, left_out = preferences(run, (system, against), kind) if system and against else choices(run, kind)
    chosen = sampled(asked, size, seed)
    why = ", ".join(f"{n} {why}" for why, n in left_out.items())
    if not chosen:
        raise BadInput(f"there are no items{f': {why}' if why else ''}.")
    write_pairs(output, rows(chosen, output))
    click.echo(f"{output}: {len(chosen)} items{f'; left out: {why}' if why else ''}.")


@click.command()
@click.argument("export", type=click.Path(path_type=Path))
@click.option("--pairs", type=click.Path(path_type=Path), help="The file of items; votes on other items are refused.")
@click.option("--choices", default="A,B,tie", show_default=True, help="Without --pairs: the allowed choices.")
@click.option(
    "--twice", default="error", show_default=True, help="Repeated votes of an annotator on an item: error or last."
)
@click.option("--item-field", help="The field with the item's id. Default: item, instance_id, item_id or id.")
@click.option("--question", help="The question that holds the vote. Default: the only one, or choice or preference.")
@click.option("--label", "labels", multiple=True, metavar="THEIRS=OURS", help="Maps a label of the export; repeatable.")
@click.option("--without-status", is_flag=True, help="Argilla: count responses without a submission status.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="Votes (.csv or .jsonl).")
def votes(export: Path, pairs: Path | None, choices: str, twice: str, output: Path, **how: Any) -> None:
    """Convert an export of Label Studio or Argilla to a file of votes; drafts and skipped tasks are left out."""
    from humor_tasks.data.writing import check_output
    from humor_tasks.people.pairs import choices_of, read_pairs
    from humor_tasks.people.votes import read_votes, write_votes

    check_output(output, export, pairs)
    labels = {}
    for pair in how.pop("labels"):
        theirs, found, ours = pair.partition("=")
        if not (theirs and found and ours):
            raise BadInput(f"--label {pair}: write it as THEIRS=OURS, such as left=A.")
        labels[theirs] = ours
    allowed: Any = choices_of(read_pairs(pairs)) if pairs else tuple(choices.split(","))
    read = read_votes(export, allowed if pairs else None, twice, allowed, labels=labels, **how)
    write_votes(output, read)
    click.echo(f"{output}: {read}.")
