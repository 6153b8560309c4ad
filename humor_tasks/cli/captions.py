"""`humor-tasks captions`: captions measured from files and logs, the best ones kept, and systems ranked by them."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.cli.options import (
    LOG_DIR,
    MODEL,
    MODEL_ARGS,
    NO_CACHE,
    PATH,
    PROMPTS,
    REVISION,
    SETTING,
    Group,
    logs_of,
    output,
    together,
)
from humor_tasks.errors import BadInput, listed

if TYPE_CHECKING:
    from humor_tasks.benchmarks.crowd.corpus import Crowd, CrowdOptions
    from humor_tasks.models.choosers.chooser import Chooser
    from humor_tasks.studies.captions.against import Against
    from humor_tasks.studies.captions.files import CaptionGroup
    from humor_tasks.studies.captions.pairwise import PairwiseJudge

CONTESTS = together(
    click.option("--dataset", help="Contests with ratings: hub id, folder or 'sample'. Default: the public corpus."),
    REVISION,
    click.option("--split", help="held_out, validation, test, train or all. Default: held_out."),
    click.option("--contests", help="Only these contests of the split, such as 536,600-610."),
    click.option("--annotations", help="File of descriptions, in the place of the dataset's own."),
    click.option("--images", help="Folder of pictures, NUMBER.jpg, in the place of the dataset's own."),
    SETTING,
    click.option("--doubtful", help="Contests with thin votes or broken scoring: keep or skip. Default: keep."),
)
_JUDGES = together(MODEL_ARGS, PROMPTS, NO_CACHE, LOG_DIR)
_GRADERS = together(
    click.option("--grader", multiple=True, metavar="MODEL", help="Inspect model that judges; several form a panel."),
    click.option(
        "--mode",
        default="overall",
        type=click.Choice(["overall", "best_pick", "both"]),
        help="The graders' question.",
    ),
    click.option("--judge-shots", default=0, type=click.IntRange(0), help="Their worked examples."),
    click.option("--tau", default="none", help="Their threshold of log P(A) - log P(B)."),
)


@click.group(cls=Group)
def captions() -> None:
    """Measure captions from files and logs, keep the best ones, and rank systems by them.

    Files are JSON lines of {contest, caption or captions, system}, tables with a row a contest, and logs of
    humor_tasks/brainstorm or humor_tasks/caption_writing. `pick` also keeps the best texts for requests, from logs of
    humor_tasks/humor_writing.
    """


@captions.command()
@click.argument("files", nargs=-1, required=True, type=PATH)
@CONTESTS
@click.option("--encoder", metavar="MODEL", help="sentence-transformers model or folder: diversity by embeddings.")
@click.option("--place-by", metavar="MODEL", help="Inspect model that places captions among the contest's: crowd_rank.")
@together(_JUDGES, _GRADERS, output("every figure and caption (.json)"))
def score(
    files: tuple[Path, ...],
    encoder: str | None,
    place_by: str | None,
    grader: tuple[str, ...],
    mode: str,
    judge_shots: int,
    tau: str,
    output: Path | None,
    **options: Any,
) -> None:
    """Length, diversity, recitation, crowd_rank and win rates of the captions in FILES, per system.

    Recitation: captions that repeat one of the contest's rated captions, exactly or nearly. crowd_rank: the percentile
    at which a model places a caption among them; --place-by quality/FOLDER, embedding/MODEL, baseline/longest and
    other models that score single captions use their scores, any other model compares captions as a judge. Win rates:
    --grader compares each ten captions with four groups of people's, as the task caption_writing does.
    """
    from humor_tasks.benchmarks import writers
    from humor_tasks.cli.printing import echo
    from humor_tasks.files.writing import check_output, write_json
    from humor_tasks.models.choosers.embedding import Embedding
    from humor_tasks.studies.captions import figures
    from humor_tasks.studies.captions.figures import Report, as_markdown
    from humor_tasks.studies.captions.files import read_all

    paths = logs_of([*writers("caption"), *writers("captions")], files)
    check_output(output, *paths)
    judges = taken(options)
    contests = contests_of(options, "description" if place_by or grader else "caption_only")
    groups = read_all(paths)
    crowd, lacking = crowd_for(contests, groups)
    placer = opened(place_by, **judges) if place_by else None
    embedding = Embedding(encoder) if encoder else None
    rows = figures.written(crowd, groups)
    placement = None
    if placer and place_by:
        from humor_tasks.studies.captions import placing
        from humor_tasks.studies.captions.pairwise import PairwiseJudge

        texts: dict[int, list[str]] = {}
        for row in rows:
            texts.setdefault(row.contest, []).append(row.caption)
        if isinstance(placer, PairwiseJudge):
            placement = placing.place_by_comparing(placer, crowd, contests, texts)
        else:
            placement = placing.place(placer, crowd.cartoons, texts)
        placement = dataclasses.replace(placement, model=place_by)
        rows = figures.placed(rows, placement)
    against: Sequence[Against] = ()
    if grader:
        from humor_tasks.on_inspect.client import open_model
        from humor_tasks.studies.captions.against import compare

        question = {"setting": contests.setting, "judge_shots": judge_shots, "tau": tau, "prompts": judges["prompts"]}
        against = compare(
            groups,
            [cartoon.number for cartoon in crowd.cartoons],
            [open_model(name, judges["model_args"]) for name in grader],
            ("overall", "best_pick") if mode == "both" else (mode,),
            {name: value for name, value in (options | question).items() if value is not None},
            judges["cache"],
            judges["log_dir"],
        )
    report = Report(
        crowd.provenance(len(rows)),
        figures.systems(crowd, groups, rows, embedding),
        rows,
        lacking,
        encoder,
        placement,
        figures.human_groups(crowd, placement) if placement else (),
        against,
    )
    if output:
        write_json(output, report.as_dict())
    echo(as_markdown(report))


@captions.command()
@click.argument("file", type=PATH)
@MODEL
@click.option("-k", "count", default=10, type=click.IntRange(1), help="Captions to keep.")
@together(CONTESTS, _JUDGES, output("the captions (.jsonl), which `captions score` reads", required=True))
def pick(file: Path, model: str, count: int, output: Path, **options: Any) -> None:
    """Keep the best K captions of each contest and system in FILE, in their order (best-of-n).

    A model that scores single captions ranks them by its scores. Any other model compares each two of a group in both
    orders: n (n - 1) questions for n captions. Of equal captions the earlier ones are kept. With --setting caption_only
    and without --dataset no contests are read, and the model sees the captions alone.
    """
    from humor_tasks.files.writing import check_output, write_text
    from humor_tasks.studies.captions.files import as_lines, read_groups
    from humor_tasks.studies.captions.pairwise import PairwiseJudge
    from humor_tasks.studies.captions.placing import of_crowd, pick, pick_by_comparing

    check_output(output, file)
    if output.suffix != ".jsonl":
        raise BadInput(f"{output}: the name of a file of captions must end in .jsonl.")
    judges = taken(options)
    contests = contests_of(options, "description")
    groups = read_groups(file)
    blind = contests.setting == "caption_only" and not options["dataset"]
    chooser = opened(model, **judges)
    crowd = None if blind else crowd_for(contests, groups)[0]
    if crowd:
        known = {cartoon.number for cartoon in crowd.cartoons}
        lacking = dict.fromkeys(str(group.contest) for group in groups if group.contest not in known)
        if lacking:
            raise BadInput(
                f"{file}: not in the dataset: {listed('contest', lacking, most=5)}; choose --split all or another "
                "--dataset, or --setting caption_only without --dataset."
            )
    if isinstance(chooser, PairwiseJudge):
        cartoons = of_crowd(crowd, contests) if crowd else _blind(groups, contests)
        picked, unread = pick_by_comparing(chooser, groups, count, cartoons)
    else:
        picked, unread = pick(chooser, groups, count, {c.number: c for c in crowd.cartoons} if crowd else {}), 0
    write_text(output, as_lines(picked))
    click.echo(f"{output}: {sum(len(g.captions) for g in picked)} captions in {len(picked)} groups, by {model}.")
    if short := [f"{g.contest} ({len(g.captions)})" for g in groups if len(g.captions) < count]:
        click.echo(f"Fewer than {count} captions, kept as they are: {listed('contest', short)}.")
    if unread:
        click.echo(f"{unread} comparisons have no readable answer and are left out.")


@captions.command()
@click.argument("files", nargs=-1, required=True, type=PATH)
@together(MODEL, MODEL_ARGS)
@click.option("--dataset", help="Dataset with the cartoons. Default: that of the first log, else the public corpus.")
@REVISION
@click.option("--split", help="Split with the cartoons. Default: that of the first log, else test.")
@click.option("--fold", help="Fold with the cartoons. Default: that of the first log, else 0.")
@SETTING
@click.option("--bradley-terry", is_flag=True, help="Also report the systems' strengths (extra 'preference').")
@together(PROMPTS, NO_CACHE, LOG_DIR, output("the captions with their ranks: .csv or .json"))
def rank(
    files: tuple[Path, ...],
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

    FILES are logs of humor_tasks/brainstorm, folders of them, or JSONL files of {contest, caption, system}. A pair with
    different preferences in the two orders is a tie; a pair with an unparsed answer is left out and counted.
    """
    from humor_tasks.benchmarks import writers
    from humor_tasks.files.writing import check_output
    from humor_tasks.on_inspect.client import open_model
    from humor_tasks.studies.captions import pairwise as ranking
    from humor_tasks.studies.captions.files import read_captions

    ranking.check_ending(output)
    paths = logs_of(writers("caption"), files)
    check_output(output, *paths)
    read = [read_captions(path) for path in paths]
    captions = [caption for part in read for caption in part.captions]
    recorded = next((part.corpus for part in read if part.corpus), {})
    recorded = {name: value for name, value in recorded.items() if name != "setting"}
    where = {**recorded, **{name: value for name, value in corpus.items() if value is not None}}
    judge = ranking.PairwiseJudge(open_model(model, model_args), prompts, not no_cache, log_dir)
    pairs, log = judge.compare(captions, ranking.pairs_of(captions), ranking.of_corpus(where))
    rows = ranking.ranked(captions, pairs)
    if output:
        ranking.write_ranking(output, rows)
    unread = sum(pair.worth is None for pair in pairs)
    first = ranking.first_shown(captions, pairs)
    click.echo(
        f"{len(captions)} captions, {len(pairs)} pairs, {unread} unread; first shown preferred {first.value:.3f}."
    )
    if unparsed := sum(part.unparsed for part in read):
        click.echo(f"{unparsed} replies had no readable caption; they are left out.")
    if declined := sum(part.refused for part in read):
        click.echo(f"{declined} replies were refusals; they are left out.")
    for name, e in ranking.by_system(captions, pairs).items():
        click.echo(f"{name}: win rate {e.value:.3f} [{e.low:.3f}, {e.high:.3f}], {e.n} pairs, {e.clusters} contests")
    if bradley_terry:
        for name, strength in ranking.strengths(captions, pairs).items():
            e = strength.estimate
            click.echo(
                f"{name}: strength {e.value:.3f} [{e.low:.3f}, {e.high:.3f}], rank {strength.best}-{strength.worst}"
            )
    click.echo(f"Every answer: {log}" + (f"\nRanking: {output}" if output else ""))


# ---- models and contests ------------------------------------------------------------------------


def taken(options: dict[str, Any]) -> dict[str, Any]:
    """The options of judges, taken out of all options; those of the contests are left."""
    judges = {name: options.pop(name) for name in ("model_args", "prompts", "log_dir")}
    return judges | {"cache": not options.pop("no_cache")}


def opened(name: str, model_args: Sequence[str], **judges: Any) -> Chooser | PairwiseJudge:
    """A model by its name in Inspect: one that scores single captions as a Chooser, any other as a PairwiseJudge."""
    from humor_tasks.on_inspect.client import open_model
    from humor_tasks.studies.captions.pairwise import PairwiseJudge, scorer_of

    model = open_model(name, model_args)
    return scorer_of(model) or PairwiseJudge(model, **judges)


def contests_of(options: dict[str, Any], setting: str) -> CrowdOptions:
    """The options of CONTESTS; setting: the default of --setting."""
    from humor_tasks.benchmarks.crowd.corpus import CrowdOptions

    return CrowdOptions(**{"setting": setting} | {name: value for name, value in options.items() if value is not None})


def crowd_for(options: CrowdOptions, groups: Sequence[CaptionGroup]) -> tuple[Crowd, list[int]]:
    """The contests for which there are captions, and the numbers of the dataset's others. Raises BadInput for none."""
    from humor_tasks.benchmarks.crowd.corpus import crowd_of, open_source
    from humor_tasks.studies.captions.files import check_contests

    check_contests(groups)
    source = open_source(options)
    written = {group.contest for group in groups}
    known = tuple(number for number in source.numbers if number in written)
    if not known:
        raise BadInput(
            f"{options.dataset}, split {options.split}: has none of the {listed('contest', map(str, sorted(written)))} "
            "of the files; choose another --split (all) or --dataset."
        )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        crowd = crowd_of(dataclasses.replace(source, numbers=known), options)
    for warning in caught:
        click.echo(f"Warning: {warning.message}", err=True)
    return crowd, [number for number in source.numbers if number not in written]


def _blind(groups: Sequence[CaptionGroup], options: CrowdOptions) -> Any:
    """The contests of a file without their cartoons."""
    from humor_tasks.rows.records import Record
    from humor_tasks.studies.captions.pairwise import Cartoons

    records = {
        str(group.contest): Record(str(group.contest), str(group.contest), {}, "", (), None, {"fold": "0"})
        for group in groups
    }
    none = {"dataset": "none", "revision": None, "rows": len(records), "fingerprint": "none"}
    return Cartoons(records, dataclasses.replace(options, dataset="none"), none)
