"""`humor-tasks build`: corpora from public files, and answer options for them."""

from __future__ import annotations

import importlib.util
import math
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.cli.options import MODEL_ARGS, MODEL_BASE_URL, PATH, PROMPTS, Declares, output, together
from humor_tasks.errors import BadInput, check_choice, listed

if TYPE_CHECKING:
    from humor_tasks.lab.corpora.mock.option_models import Result
    from humor_tasks.lab.corpora.mock.options import Plan

_NEEDED = ("sentence_transformers", "threadpoolctl")
SHORT = ("error", "drop")


@click.group()
def build() -> None:
    """Build a corpus from its public sources."""


@build.command()
@click.option("--mustard", type=PATH, help="MUStARD's sarcasm_data.json.")
@click.option("--mustard-clips", type=PATH, help="Folder with utterances_final/ and context_final/.")
@click.option("--wits", type=PATH, help="Folder with WITS' {train,val,test}_data_final_plain.json, or one of them.")
@click.option("--wits-clips", type=PATH, help="Folder with SPLIT_ID.mp4 and SPLIT_ID_c.mp4 (docs/mock.md).")
@click.option("--wits-explanations", default="english", help="english or code_mixed.")
@click.option("--keep-short-dialogues", is_flag=True, help="Keep dialogues of fewer than three utterances.")
@click.option("--more", type=PATH, help="Folder with MORE's {train,val,test}_df.tsv, or one of them.")
@click.option("--more-images", type=PATH, help="Folder with PID.jpg. Default: images/ next to the files.")
@click.option("--cai", type=PATH, help="Folder with Cai et al.'s text/ (train, valid2, test2) and dataset_image/.")
@click.option("--cai-images", type=PATH, help="Folder with ID.jpg. Default: dataset_image/.")
@click.option("--newyorker", help="Hub id or folder of the caption contest corpus: matching, explanation, pictures.")
@click.option("--revision", help="Branch, tag or commit of --newyorker.")
@click.option("--cartoon-movement", type=PATH, help="Folder of your own with items.csv and pictures (docs/mock.md).")
@click.option("--cartoonstock", type=PATH, help="Folder of your own with items.csv and pictures.")
@click.option("--tweets", type=PATH, help="Folder of your own with items.csv and pictures.")
@click.option("--descriptions", type=PATH, help="JSON {media_id: literal description}, for text-only models.")
@click.option("--missing", default="error", help="Rows without their file: error, drop or keep.")
@click.option("--post-splits", default="paper", help="Splits of posts: paper (80:10:10 of explained ones) or sources.")
@click.option(
    "--seed", default=1234, type=click.IntRange(0), help="Seed of splits, where the source has none, and options."
)
@output("a new folder", required=True)
def mock(
    mustard: Path | None,
    mustard_clips: Path | None,
    wits: Path | None,
    wits_clips: Path | None,
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
    post_splits: str,
    seed: int,
    output: Path,
    **tables: Path | None,
) -> None:
    """Build MOCK's detecting, matching and explaining from the public files that you have.

    Every source is optional. The folder's card lists the rows kept, the rows left out with reasons, and what MOCK has
    in addition.
    """
    from humor_tasks.lab.corpora.mock.building import POST_SPLITS, build_mock, kept, sizes
    from humor_tasks.lab.corpora.mock.dialogues import LANGUAGES, read_mustard, read_wits
    from humor_tasks.lab.corpora.mock.items import MISSING, Media, Source
    from humor_tasks.lab.corpora.mock.shortcuts import warnings_of
    from humor_tasks.lab.corpora.mock.stills import OWN, read_cai, read_more, read_newyorker, read_table

    check_choice("--missing", missing, MISSING)
    check_choice("--post-splits", post_splits, POST_SPLITS)
    check_choice("--wits-explanations", wits_explanations, LANGUAGES)
    media = Media(missing)
    parts: list[tuple[object, Callable[[], Source]]] = [
        (newyorker, lambda: read_newyorker(str(newyorker), media, revision)),
        (cai, lambda: read_cai(Path(str(cai)), cai_images, media)),
        (more, lambda: read_more(Path(str(more)), more_images, media)),
        (mustard, lambda: read_mustard(Path(str(mustard)), mustard_clips, media, keep_short_dialogues)),
        (wits, lambda: read_wits(Path(str(wits)), wits_clips, wits_explanations, media, keep_short_dialogues)),
    ]
    sources = [read() for named, read in parts if named]
    sources += [read_table(option, folder, media) for option in OWN if (folder := tables[option])]
    if not sources:
        raise BadInput("name at least one source: --mustard, --wits, --more, --cai or --newyorker, or one of your own.")
    built = build_mock(sources, output, media, seed, read_descriptions(descriptions), post_splits)
    for warning in warnings_of(built.shortcuts):
        click.echo(f"Warning: {warning}", err=True)
    click.echo(f"{sizes(built)}\n\n{kept(built)}\n\n{output}: {sum(map(len, built.rows.values())):,} rows.")


def read_descriptions(path: Path | None) -> dict[str, str] | None:
    """{media_id: literal description} of a JSON file."""
    from humor_tasks.files.reading import json_object
    from humor_tasks.lab.corpora.mock.items import one_line

    if path is None:
        return None
    texts = json_object(path, "descriptions by media_id")
    return {name: one_line(text, "the description", f"{path}, {name:.60}") for name, text in texts.items()}


@build.command(cls=Declares, settings="humor_tasks.lab.corpora.newyorker.settings:Settings")
@click.option("--until", help="Stop after: ingest, select, embed, twins, quality, scores, pool or ranking.")
@click.option("--workers", type=click.IntRange(1), help="Processes. Default: one for each processor.")
@click.option("--work", type=PATH, help="Folder for the stages' files. Default: OUTPUT.work.")
@output("a new folder", required=True)
def newyorker(until: str | None, workers: int | None, work: Path | None, output: Path, given: dict[str, Any]) -> None:
    """Build matching, ranking and explanation from raw caption contests (Hessel et al. 2023, Appendix C).

    An interrupted build resumes: every finished unit of a stage stays in the work folder, and the result is the same.
    """
    from humor_tasks.lab.corpora.newyorker.building import build, prepare
    from humor_tasks.lab.corpora.newyorker.rows import read_explanations
    from humor_tasks.lab.corpora.newyorker.settings import Settings

    if lacking := [name for name in _NEEDED if importlib.util.find_spec(name) is None]:
        packages = listed("missing package", lacking)
        raise BadInput(f"the build needs the extra 'corpus': pip install 'humor-tasks[corpus]' ({packages}).")
    if os.path.lexists(output):
        raise BadInput(f"{output}: exists already; name a new folder.")
    folder = work or output.with_name(f"{output.name}.work")
    _check_folders(folder, output)
    settings = Settings(**given)
    if settings.explanations:
        read_explanations(settings.explanations)  # what is wrong with them is said before hours of work
    stages = prepare(settings, folder)
    counts = build(stages, until, workers or os.cpu_count() or 1, click.echo)
    if until:
        click.echo(f"{folder}: done until {until}. The same command without --until resumes there.")
        return
    from humor_tasks.lab.corpora.newyorker.building import write_dataset

    for line in write_dataset(stages, settings, counts, output):
        click.echo(line)


def _check_folders(work: Path, output: Path) -> None:
    """Raise BadInput if the work folder is a file, or if one of work folder and output contains the other."""
    if os.path.lexists(work) and not work.is_dir():
        raise BadInput(f"--work: {work} is no folder; name a folder for the stages' files.")
    one, other = work.resolve(), output.resolve()
    if one == other or one in other.parents or other in one.parents:
        raise BadInput(f"--work: {work} and the output {output} are in each other; name two folders side by side.")


@build.command()
@click.argument("source", type=PATH)
@click.option(
    "--model", required=True, metavar="MODEL", help="Inspect model that writes distractors from pictures or clips."
)
@together(MODEL_ARGS, MODEL_BASE_URL)
@click.option("--judge", metavar="MODEL", help="Inspect model that judges whether two lines are equivalent. Or:")
@click.option("--embedding", metavar="MODEL", help="sentence-transformers model or folder; see --threshold.")
@click.option("--threshold", default=0.8, type=click.FloatRange(-1, 1), help="Cosine of equivalent lines.")
@click.option("--handwritten", type=PATH, help="{id: text} as JSON, or JSON lines with id and text.")
@click.option("--share", default=0.15, type=click.FloatRange(0, 1), help="Fraction of items with a handwritten text.")
@click.option("--split", "splits", multiple=True, help="For a folder: only this split; repeatable. Default: all.")
@click.option("--scene", default="all", help="For a folder: cartoon, post, comedy, stills or all.")
@click.option("--input", default="media", help="media, frames or description.")
@click.option("--frames", default=8, help="With --input frames: number of frames.")
@click.option("--sampling", default="even", help="With --input frames: even or scene.")
@click.option("--attempts", default=5, type=click.IntRange(1), help="Maximum attempts per distractor.")
@click.option("--short", default="error", help="Items with too few distractors: error or drop.")
@click.option("--temperature", type=float, help="Temperature of the writing model. Default: the provider's.")
@click.option("--seed", default=1234, type=click.IntRange(0), help="Seed of letters, samples and calls.")
@click.option("--at-once", default=8, type=click.IntRange(1), help="Items processed concurrently.")
@together(PROMPTS, output("a new folder or file", required=True))
def options(source: Path, output: Path, short: str, splits: tuple[str, ...], **settings: Any) -> None:
    """Write distractors for MOCK's matching: two by a model, one from an unrelated item, some human-written.

    SOURCE is a folder that `humor-tasks build mock` wrote, or a JSONL file of such rows. OUTPUT is the same with new
    options, none equivalent to another, and with answers balanced over the letters. Every call is saved in
    OUTPUT.calls.jsonl, from which an interrupted run resumes without repeating a call. The templates of --prompts are
    write.txt, same.txt and verdict.tags.txt.
    """
    import anyio
    from tqdm import tqdm

    from humor_tasks.benchmarks.mock.corpus import MockOptions
    from humor_tasks.lab.corpora.mock.option_models import Writer, by_embedding, by_judge, make_options
    from humor_tasks.lab.corpora.mock.options import (
        check_output,
        plans,
        read_items,
        unrelated,
        with_options,
        write_options,
    )
    from humor_tasks.lab.corpora.mock.shortcuts import section, warnings_of
    from humor_tasks.logs.predictions import read_predictions
    from humor_tasks.on_inspect.calls import Calls
    from humor_tasks.on_inspect.client import open_model

    check_choice("--short", short, SHORT)
    if math.isnan(settings["share"]) or math.isnan(settings["threshold"]):
        raise BadInput("--share and --threshold must be numbers.")
    if (settings["judge"] is None) == (settings["embedding"] is None):
        raise BadInput("give either --judge MODEL or --embedding MODEL, to detect equivalent lines.")
    if not source.exists():
        raise BadInput(f"{source}: there is no such folder or file.")
    check_output(source, output)
    read = ("scene", "input", "frames", "sampling", "prompts", "seed")
    o = MockOptions(dataset=str(source), **{name: settings[name] for name in read})
    items = read_items(source, o, splits)
    by_hand = read_predictions(settings["handwritten"]) if settings["handwritten"] else {}
    planned = plans(items, by_hand, settings["share"], o.seed)
    calls = Calls(output.with_name(f"{output.name}.calls.jsonl"))
    model = open_model(settings["model"], settings["model_args"], settings["model_base_url"])
    write = Writer(model, calls, o, settings["temperature"])
    lines, attempts, at_once = unrelated(items, o.seed), settings["attempts"], settings["at_once"]
    if settings["judge"] is not None:
        same = by_judge(open_model(settings["judge"], role="judge"), calls, settings["prompts"], settings["seed"])
    else:
        from humor_tasks.models.choosers.embedding import Embedding

        same = by_embedding(Embedding(settings["embedding"]).embed, settings["threshold"])
    with tqdm(total=len(planned), desc="options", unit="item") as bar:
        result = anyio.run(make_options, planned, lines, write, same, attempts, at_once, bar.update)
    unread = result.counts["reply unparsed"] + result.counts["verdict unparsed"]
    again = "could not be read and are not asked for again: for that, remove their lines."
    message = f" {unread} {again}" if unread else ""
    if result.short and short == "error":
        why = "; ".join(f"{name}: {reason}" for name, reason in sorted(result.short.items())[:3])
        raise BadInput(
            f"too few distractors for {listed('item', sorted(result.short))} ({why}); see --attempts and --short drop."
            f"{message}"
        )
    complete = [plan for plan in planned if plan.item.record.id in result.options]
    rows = {plan.item.record.id: with_options(plan, result.options[plan.item.record.id], o.seed) for plan in complete}
    shortcuts = write_options(source, output, items, rows, note := _note(complete, result, settings))
    for warning in warnings_of(shortcuts):
        click.echo(f"Warning: {warning}", err=True)
    click.echo(f"{note}\nCalls: {calls.made} made, {calls.kept} reused from the log.{message}")
    click.echo(f"{output}: {len(rows):,} rows. Calls: {calls.path}")
    if not source.is_dir():
        click.echo(section(shortcuts))


def _note(plans: Sequence[Plan], result: Result, settings: Mapping[str, Any]) -> str:
    """A summary for the card and the terminal; it is the same for a resumed run."""
    judge, embedding, threshold = (settings[name] for name in ("judge", "embedding", "threshold"))
    same = f"judge {judge}" if judge else f"a cosine of {embedding} from {threshold:g}"
    model, seed = settings["model"], settings["seed"]
    sentences = [f"Two distractors by {model}, one from an unrelated item (seed {seed}); equivalence by {same}."]
    if settings["handwritten"]:
        by_hand = sum(plan.by_hand is not None for plan in plans)
        sentences.append(
            f"{by_hand} of {len(plans)} items have a human-written one instead of the second "
            f"({settings['share']:.0%} requested)."
        )
    letters = Counter(plan.letter for plan in plans)
    sentences.append("Answers: " + ", ".join(f"{letter} {letters[letter]}" for letter in "ABCD") + ".")
    rejected = ", ".join(f"{count} {what}" for what, count in sorted(result.counts.items()))
    sentences.append(f"Rejected: {rejected or 'none'}. Items dropped: {len(result.short)}.")
    return "\n".join(sentences)
