"""The command `humor-tasks build options`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.errors import BadInput, check_choice, listed

if TYPE_CHECKING:
    from humor_tasks.corpora.options.distractors import Plan
    from humor_tasks.corpora.options.models import Result, Same, Writer
    from humor_tasks.on_inspect.calls import Calls

_PATH = click.Path(path_type=Path)
SHORT = ("error", "drop")


@click.command()
@click.argument("source", type=_PATH)
@click.option("--model", required=True, help="Inspect model that writes distractors, with picture or clip input.")
@click.option("-M", "model_args", multiple=True, metavar="NAME=VALUE", help="Argument of that model; repeatable.")
@click.option("--model-base-url", help="Base URL of that model's API.")
@click.option("--judge", help="Inspect model that judges whether two lines are equivalent. Or:")
@click.option("--embedding", help="sentence-transformers model or folder; see --threshold.")
@click.option(
    "--threshold", default=0.8, show_default=True, type=click.FloatRange(-1, 1), help="Cosine of equivalent lines."
)
@click.option("--handwritten", type=_PATH, help="{id: text} as JSON, or JSON lines with id and text.")
@click.option(
    "--share",
    default=0.15,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Fraction of items with a handwritten text.",
)
@click.option("--split", "splits", multiple=True, help="For a folder: only this split; repeatable. Default: all.")
@click.option("--scene", default="all", show_default=True, help="For a folder: cartoon, post, comedy, stills or all.")
@click.option("--input", default="media", show_default=True, help="media, frames or description.")
@click.option("--frames", default=8, show_default=True, help="With --input frames: number of frames.")
@click.option("--sampling", default="even", show_default=True, help="With --input frames: even or scene.")
@click.option(
    "--attempts", default=5, show_default=True, type=click.IntRange(1), help="Maximum attempts per distractor."
)
@click.option("--short", default="error", show_default=True, help="Items with too few distractors: error or drop.")
@click.option("--temperature", type=float, help="Temperature of the writing model. Default: the provider's.")
@click.option("--seed", default=1234, show_default=True, help="Seed of letters, samples and calls.")
@click.option("--at-once", default=8, show_default=True, type=click.IntRange(1), help="Items processed concurrently.")
@click.option("--prompts", help="Folder whose write.txt, same.txt and verdict.tags.txt replace the packaged ones.")
@click.option("-o", "--output", required=True, type=_PATH, help="The folder or file to write; it must be new.")
def options(source: Path, output: Path, short: str, splits: tuple[str, ...], **how: Any) -> None:
    """Write distractors for MOCK's matching: two by a model, one from an unrelated item, some human-written.

    SOURCE is a folder that `humor-tasks build mock` wrote, or a JSONL file of such rows. OUTPUT is the same with new
    options, none equivalent to another, and with answers balanced over the letters. Every call is saved in
    OUTPUT.calls.jsonl, from which an interrupted run resumes without repeating a call.
    """
    from humor_tasks.benchmarks.mock.corpus import MockOptions
    from humor_tasks.corpora.options.distractors import (
        check_output,
        plans,
        read_items,
        unrelated,
        with_options,
        write_options,
    )
    from humor_tasks.corpora.options.models import Writer
    from humor_tasks.corpora.options.shortcuts import section, warnings_of
    from humor_tasks.data.logs.predictions import read_predictions
    from humor_tasks.on_inspect.calls import Calls
    from humor_tasks.on_inspect.client import open_model

    check_choice("--short", short, SHORT)
    if math.isnan(how["share"]) or math.isnan(how["threshold"]):
        raise BadInput("--share and --threshold must be numbers.")
    if (how["judge"] is None) == (how["embedding"] is None):
        raise BadInput("give either --judge MODEL or --embedding MODEL, to detect equivalent lines.")
    if not source.exists():
        raise BadInput(f"{source}: there is no such folder or file.")
    check_output(source, output)
    given = {name: how[name] for name in ("scene", "input", "frames", "sampling", "prompts", "seed")}
    o = MockOptions(dataset=str(source), **given)
    items = read_items(source, o, splits)
    by_hand = read_predictions(how["handwritten"]) if how["handwritten"] else {}
    planned = plans(items, by_hand, how["share"], o.seed)
    calls = Calls(output.with_name(f"{output.name}.calls.jsonl"))
    write = Writer(open_model(how["model"], how["model_args"], how["model_base_url"]), calls, o, how["temperature"])
    made = _run(planned, unrelated(items, o.seed), write, _sameness(calls, **how), how)
    unread = _unread(made, calls)
    if made.short and short == "error":
        why = "; ".join(f"{name}: {reason}" for name, reason in sorted(made.short.items())[:3])
        raise BadInput(
            f"too few distractors for {listed('item', sorted(made.short))} ({why}); see --attempts and --short drop."
            f"{unread}"
        )
    kept = [plan for plan in planned if plan.item.record.id in made.options]
    rows = {plan.item.record.id: with_options(plan, made.options[plan.item.record.id], o.seed) for plan in kept}
    found = write_options(source, output, items, rows, note := _note(kept, made, how))
    for warning in warnings_of(found):
        click.echo(f"Warning: {warning}", err=True)
    calls_note = f"Calls: {calls.made} made, {calls.kept} reused from the log.{unread}"
    click.echo(f"{note}\n{calls_note}\n{output}: {len(rows):,} rows. Calls: {calls.path}")
    if not source.is_dir():
        click.echo(section(found))


def _unread(made: Result, calls: Calls) -> str:
    """A sentence on replies that could not be read, which the log of calls keeps; empty if there are none."""
    count = made.counts["reply unparsed"] + made.counts["verdict unparsed"]
    return f" {count} could not be read and are not asked for again: for that, remove their lines." if count else ""


def _sameness(
    calls: Calls, judge: str | None, embedding: str | None, threshold: float, prompts: str | None, seed: int, **_: Any
) -> Same:
    from humor_tasks.corpora.options.models import by_embedding, by_judge
    from humor_tasks.on_inspect.client import open_model

    if judge is not None:
        return by_judge(open_model(judge, role="judge"), calls, prompts, seed)
    from humor_tasks.models.choosers.embedding import Embedding

    return by_embedding(Embedding(str(embedding)).embed, threshold)


def _run(
    planned: Sequence[Plan], lines: Mapping[str, Sequence[str]], write: Writer, same: Same, how: Mapping[str, Any]
) -> Result:
    import anyio
    from tqdm import tqdm

    from humor_tasks.corpora.options.models import make_options

    with tqdm(total=len(planned), desc="options", unit="item") as bar:
        return anyio.run(make_options, planned, lines, write, same, how["attempts"], how["at_once"], bar.update)


def _note(kept: Sequence[Plan], made: Result, how: Mapping[str, Any]) -> str:
    """A summary for the card and the terminal; it is the same for a resumed run."""
    same = f"judge {how['judge']}" if how["judge"] else f"a cosine of {how['embedding']} from {how['threshold']:g}"
    sentences = [
        f"Two distractors by {how['model']}, one from an unrelated item (seed {how['seed']}); equivalence by {same}."
    ]
    if how["handwritten"]:
        by_hand = sum(plan.by_hand is not None for plan in kept)
        sentences.append(
            f"{by_hand} of {len(kept)} items have a human-written one instead of the second "
            f"({how['share']:.0%} requested)."
        )
    letters = Counter(plan.letter for plan in kept)
    sentences.append("Answers: " + ", ".join(f"{letter} {letters[letter]}" for letter in "ABCD") + ".")
    rejected = ", ".join(f"{count} {what}" for what, count in sorted(made.counts.items()))
    sentences.append(f"Rejected: {rejected or 'none'}. Items dropped: {len(made.short)}.")
    return "\n".join(sentences)
