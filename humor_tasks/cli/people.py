"""`humor-tasks people`: items for people to vote on or to fill in, the page that shows them, and what the votes say."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from humor_tasks.cli.options import (
    DATASET,
    FOLD,
    JSON,
    PATH,
    REVISION,
    SETTING,
    SPLIT,
    TWICE,
    Group,
    TaskOption,
    output,
    together,
)
from humor_tasks.errors import BadInput, check_choice

_MISSING = "the page needs the extra 'annotate': pip install 'humor-tasks[annotate]' ({})."
_SIZE = click.option("--size", type=click.IntRange(1), help="Number of items, sampled at random. Default: all.")
_SEED = click.option("--seed", default=1234, type=click.IntRange(0), help="Seed of the sample of --size.")


@click.group(cls=Group)
def people() -> None:
    """Ask people: items to vote on, a page that shows them, and what the votes say.

    In order: pairs or items, page, then agreement (votes) or collect (forms). docs/people.md leads through it.
    """


# ---- items --------------------------------------------------------------------------------------


def _voted() -> Sequence[str]:
    from humor_tasks.benchmarks import voted

    return tuple(voted())


@people.command()
@click.option("--task", cls=TaskOption, tasks=_voted, first=True, help="{names}.")
@click.option("--arena", type=PATH, metavar="FOLDER", help="The battles of an arena (`humor-tasks captions arena`).")
@click.option("--system", help="Explanations or stories: option A, a log, samples or file of them, or 'human'.")
@click.option("--against", help="Explanations or stories: option B, in the same formats.")
@together(DATASET, REVISION, SPLIT, FOLD, SETTING)
@click.option("--scene", help="MOCK: cartoon, post, comedy, stills or all. Default: all.")
@click.option("--input", help="MOCK: media, frames or description; clips are shown as frames. Default: media.")
@click.option("--images", type=click.IntRange(0), help="Stories: as in their task, pictures per scene; 0 is all.")
@together(_SIZE, _SEED, output("the items (.jsonl)", required=True))
def pairs(
    task: str,
    arena: Path | None,
    system: str | None,
    against: str | None,
    size: int | None,
    seed: int,
    output: Path,
    **parameters: Any,
) -> None:
    """Write the items to vote on, for `humor-tasks people page`.

    Items are two systems' explanations or stories, a benchmark's own questions, or the battles of an arena, whose votes
    `humor-tasks captions arena --votes` reads. Without --dataset, the rows of two systems are those of the first log's
    run. Pictures are written to a folder next to the file.
    """
    from humor_tasks.api import load
    from humor_tasks.benchmarks import voted
    from humor_tasks.files.writing import check_output, write_json_lines
    from humor_tasks.studies.people.sources import choices, logged_corpus, preferences, rows, sampled_records

    if arena:
        if system or against or any(value is not None for value in parameters.values()):
            raise BadInput("--arena: an arena's battles are known; leave out systems and dataset.")
        _battles(arena, size, seed, output)
        return
    kinds = voted()
    check_choice("task", task, kinds)
    compared = kinds[task].option_kind == "systems"
    if compared != bool(system and against) or (not compared and (system or against)):
        preferred = " and ".join(name for name, votes in kinds.items() if votes.option_kind == "systems")
        raise BadInput(f"the tasks {preferred} need --system and --against, and other tasks do not take them.")
    check_output(output, system, against)
    given = {name: value for name, value in parameters.items() if value is not None}
    if system and against and "dataset" not in given:
        given = logged_corpus((system, against)) | given
    run = load(task, **given)
    kind = kinds[task].kind
    items, left_out = preferences(run, (system, against), kind) if system and against else choices(run, kind)
    chosen, repeating = sampled_records(items, size, seed)
    if repeating:
        left_out["with a caption of another item"] = repeating
    why = ", ".join(f"{n} {why}" for why, n in left_out.items())
    if not chosen:
        raise BadInput(f"there are no items{f': {why}' if why else ''}.")
    write_json_lines(output, rows(chosen, output))
    click.echo(f"{output}: {len(chosen)} items{f'; left out: {why}' if why else ''}.")
    if repeating and size is not None and len(chosen) < size:
        click.echo(f"No annotator sees a caption twice, so that {len(chosen)} of {size} can be shown. Give more rows.")


def _battles(arena: Path, size: int | None, seed: int, output: Path) -> None:
    """Write the battles of an arena as items."""
    from humor_tasks.files.writing import check_output, write_json_lines
    from humor_tasks.studies.arena.store import ABOUT, ROUNDS, VERDICTS, open_arena
    from humor_tasks.studies.arena.votes import items

    check_output(output, *(arena / name for name in (ABOUT, ROUNDS, VERDICTS)))
    store, stage = open_arena(arena)
    if not (rows := items(store.played, stage, size, seed, output)):
        raise BadInput(f"{arena}: has no battles of different captions.")
    write_json_lines(output, rows)
    click.echo(f"{output}: {len(rows)} items, of {len(store.played)} battles.")


@people.command()
@click.argument("kind")
@click.argument("source", type=PATH)
@together(_SIZE, _SEED, output("the items (.jsonl)", required=True))
def items(kind: str, source: Path, size: int | None, seed: int, output: Path) -> None:
    """Write the items of SOURCE to fill in or to rate, for `humor-tasks people page`.

    KIND: description or links, of a folder with NUMBER.jpg (cartoons); literal or weak, of a MOCK folder; editing, of a
    CSV with the column original; rating, of a CSV with id, original and edit; elements, of a CSV with description and
    caption; labelling, of a CSV with these, idx, element, explanation and explainer_model. In headlines, <word/> marks
    a word.
    """
    from humor_tasks.files.writing import check_output, write_json_lines
    from humor_tasks.studies.people.items import read_pairs
    from humor_tasks.studies.people.sources import KINDS

    make = KINDS[check_choice("kind", kind, KINDS)]
    check_output(output, source)
    write_json_lines(output, make(kind, source, size, seed, output))
    click.echo(f"{output}: {len(read_pairs(output))} items.")


# ---- voting -------------------------------------------------------------------------------------


@people.command()
@click.argument("pairs", type=PATH)
@click.option("--votes", default="votes.csv", type=PATH, help="The file of votes.")
@click.option("--ties/--no-ties", default=False, help="Allow votes for a tie.")
@click.option("--limit", type=click.IntRange(1), help="Maximum number of items per annotator. Default: all.")
@click.option("--per-item", type=click.IntRange(1), help="Maximum number of annotators per item. Default: all.")
@click.option("--qualified", type=PATH, help="Only annotators with yes in this file of `people qualify`.")
@click.option(
    "--notice", default="", show_default=False, help="A text on the first page, such as a warning about the content."
)
@click.option("--shuffle/--no-shuffle", default=True, help="Show options in random order.")
@click.option("--seed", default=1234, type=click.IntRange(0), help="Seed of the order of items and options.")
@click.option("--host", default="127.0.0.1", help="0.0.0.0 makes the page accessible from the network.")
@click.option("--port", default=7860, type=click.IntRange(1, 65535))
def page(pairs: Path, votes: Path, host: str, port: int, qualified: Path | None, notice: str, **how: Any) -> None:
    """Serve a web page for voting on the items of PAIRS, or for filling in their forms.

    Each annotator enters an id and sees the items in an individual random order. Every vote is written to disk before
    the next item is shown. The same command resumes an interrupted session; an annotator continues with the same id.
    """
    from humor_tasks.studies.people.collecting import read_qualified
    from humor_tasks.studies.people.items import read_pairs
    from humor_tasks.studies.people.session import Session, VoteStore

    _check_port(host, port)
    try:
        from humor_tasks.studies.people.page import serve
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


@people.command()
@click.argument("votes", type=PATH)
@click.option("--items", "pairs", required=True, type=PATH, help="The test set: a file of items, some with an answer.")
@click.option("--threshold", default=0.8, type=click.FloatRange(0, 1), help="Share of right answers to go on.")
@output("who qualified (.csv)", required=True)
def qualify(votes: Path, pairs: Path, threshold: float, output: Path) -> None:
    """Write who qualified in a round on a test set, for `humor-tasks people page --qualified`.

    Where no item of the test set has an answer, as with forms, the column `qualified` is empty: read the answers, and
    write yes or no.
    """
    from humor_tasks.files.writing import check_output
    from humor_tasks.studies.people.collecting import candidates, write_round
    from humor_tasks.studies.people.items import choices_of, read_pairs
    from humor_tasks.studies.people.vote_files import read_votes

    if threshold != threshold:
        raise BadInput("--threshold is nan; it must be a number from 0 to 1.")
    check_output(output, votes, pairs)
    test = read_pairs(pairs)
    annotators = candidates(test, read_votes(votes, [item.id for item in test], choices=choices_of(test)).votes)
    if not annotators:
        raise BadInput(f"{votes}: nobody has voted yet.")
    passed = write_round(output, annotators, threshold)
    if annotators[0].asked:
        click.echo(f"{output}: {passed} of {len(annotators)} qualified.")
    else:
        click.echo(f"{output}: {len(annotators)} annotators, to decide by hand.")


# ---- votes and annotations ----------------------------------------------------------------------


@people.command()
@click.argument("export", type=PATH)
@click.option("--items", "pairs", type=PATH, help="The file of items; votes on other items are refused.")
@click.option("--choices", default="A,B,tie", help="Without --items: the allowed choices.")
@TWICE
@click.option("--item-field", help="The field with the item's id. Default: item, instance_id, item_id or id.")
@click.option("--question", help="The question that holds the vote. Default: the only one, or choice or preference.")
@click.option("--label", "labels", multiple=True, metavar="THEIRS=OURS", help="Maps a label of the export; repeatable.")
@click.option("--without-status", is_flag=True, help="Argilla: count responses without a submission status.")
@output("the votes: .csv or .jsonl", required=True)
def votes(export: Path, pairs: Path | None, choices: str, twice: str, output: Path, **how: Any) -> None:
    """Convert an export of Label Studio or Argilla to a file of votes; drafts and skipped tasks are left out."""
    from humor_tasks.files.writing import check_output
    from humor_tasks.studies.people.items import choices_of, read_pairs
    from humor_tasks.studies.people.vote_files import read_votes
    from humor_tasks.studies.people.votes import write_votes

    check_output(output, export, pairs)
    labels = {}
    for pair in how.pop("labels"):
        theirs, equals, ours = pair.partition("=")
        if not (theirs and equals and ours):
            raise BadInput(f"--label {pair}: write it as THEIRS=OURS, such as left=A.")
        labels[theirs] = ours
    allowed: Any = choices_of(read_pairs(pairs)) if pairs else tuple(choices.split(","))
    read = read_votes(export, allowed if pairs else None, twice, allowed, labels=labels, **how)
    write_votes(output, read)
    click.echo(f"{output}: {read}.")


@people.command()
@click.argument("votes", type=PATH)
@click.option("--items", "pairs", required=True, type=PATH, help="The file of items.")
@click.option("--into", type=PATH, help="The contest's annotations (JSON) to which the new ones are added.")
@click.option("--splits", is_flag=True, help="Rated headlines: a folder with both subtasks, split 64:16:20.")
@click.option("--seed", default=1234, type=click.IntRange(0), help="Seed of --splits.")
@output("the annotations (.json or .csv, with --splits a new folder)", required=True)
def collect(votes: Path, pairs: Path, into: Path | None, splits: bool, seed: int, output: Path) -> None:
    """Write the annotations of VOTES in the form of their corpus.

    Descriptions and links: JSON for `build newyorker --annotations`, with hashed names of annotators. Literal
    descriptions: JSON {media_id: text}. Edited headlines, and rated ones: CSV as Humicroedit's; with --splits its files
    of both subtasks, in which all edits of a headline are in one split. Labels and elements: CSV as HumorBench's.
    Weaker lines: JSON for `build options --handwritten`.
    """
    from humor_tasks.files.reading import read_body
    from humor_tasks.files.writing import check_output
    from humor_tasks.studies.people.collecting import write_annotations
    from humor_tasks.studies.people.items import choices_of, read_pairs
    from humor_tasks.studies.people.vote_files import read_json_rows, read_votes

    check_output(output, votes, pairs)
    items = read_pairs(pairs)
    rows = {str(row["id"]).strip(): row for _, row in read_json_rows(pairs, read_body(pairs))}
    answers = read_votes(votes, rows, choices=choices_of(items)).votes
    written = write_annotations(output, items, answers, rows, into, seed if splits else None)
    click.echo(f"{output}: {written} by {len({vote.rater for vote in answers})} annotators.")


@people.command()
@click.argument("votes", nargs=-1, required=True, type=PATH)
@click.option("--items", "pairs", multiple=True, type=PATH, help="File of items: one for all VOTES, or one per file.")
@TWICE
@click.option("--judge", "judges", multiple=True, type=PATH, help="Inspect log of explanation_preference; repeatable.")
@click.option("--explainer", "explainers", multiple=True, metavar="SIDE=MODEL", help="Author of A or B, as a=MODEL.")
@click.option("--texts", type=click.Choice(["A", "B"]), help="Print the texts of pairs whose majority chose A, or B.")
@together(JSON, output("a file: .md, .json, or the questions alone as .csv"))
def agreement(
    votes: tuple[Path, ...],
    pairs: tuple[Path, ...],
    twice: str,
    judges: tuple[Path, ...],
    explainers: tuple[str, ...],
    texts: str | None,
    as_json: bool,
    output: Path | None,
) -> None:
    """Print win rate or human accuracy by the majority of annotators, and inter-annotator agreement.

    VOTES are one file per question, or have a column `question`. PAIRS give systems, contests and answers; votes on
    other items are an error. With --judge: the judge's accuracy and biases relative to the votes on the same pairs, and
    its win rate corrected with them.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.files.writing import check_output
    from humor_tasks.studies.people import agreement_report
    from humor_tasks.studies.people.agreement import read_questions

    agreement_report.check_ending(output)
    check_output(output, *votes, *pairs, *judges)
    if explainers and not judges:
        raise BadInput("--explainer serves to measure a judge's self-preference; name a --judge.")
    if texts and not pairs:
        raise BadInput("--texts needs --items, which hold the texts.")
    authors: dict[str, str] = {}
    for explainer in explainers:
        side, _, model = explainer.partition("=")
        if side.upper() not in ("A", "B") or not model:
            raise BadInput(f"--explainer {explainer}: write it as a=MODEL or b=MODEL, such as a=openai/gpt-4o.")
        authors[side.upper()] = model
    report = agreement_report.analyse(read_questions(votes, pairs, twice), judges, authors)
    if output:
        agreement_report.write_report(output, report, texts or "")
    if as_json:
        click.echo(agreement_report.as_json(report), nl=False)
    else:
        echo(agreement_report.as_markdown(report, texts or ""))
