"""The commands `humor-tasks captions score` and `humor-tasks captions pick`."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.errors import BadInput, listed

if TYPE_CHECKING:
    from humor_tasks.benchmarks.crowd.corpus import Crowd, CrowdOptions
    from humor_tasks.models.choosers.chooser import Chooser
    from humor_tasks.results.captions.against import Against
    from humor_tasks.results.captions.comparing import Judge
    from humor_tasks.results.captions.figures import Written
    from humor_tasks.results.captions.files import CaptionGroup
    from humor_tasks.results.captions.placing import Placement

_PATH = click.Path(path_type=Path)
_CONTESTS = (
    click.option("--dataset", help="Contests with ratings: hub id, folder or 'sample'. Default: the public corpus."),
    click.option("--revision", help="Branch, tag or commit of a hub dataset."),
    click.option("--split", help="held_out, validation, test, train or all. Default: held_out."),
    click.option("--contests", help="Only these contests of the split, such as 536,600-610."),
    click.option("--annotations", help="File of descriptions, in the place of the dataset's own."),
    click.option("--images", help="Folder of pictures, NUMBER.jpg, in the place of the dataset's own."),
    click.option("--setting", help="What a model sees of the cartoon: description, pixels or caption_only."),
    click.option("--doubtful", help="Contests with thin votes or broken scoring: keep or skip. Default: keep."),
)
_JUDGING = (
    click.option("-M", "model_args", multiple=True, metavar="NAME=VALUE", help="Model argument; repeatable."),
    click.option("--prompts", help="Folder whose rank.txt replaces the packaged one, for judges."),
    click.option("--no-cache", is_flag=True, help="Do not use cached answers of a judge."),
    click.option("--log-dir", help="Folder of the Inspect log with a judge's answers. Default: Inspect's."),
)


_AGAINST = (
    click.option("--grader", multiple=True, metavar="MODEL", help="Inspect model that judges; several form a panel."),
    click.option(
        "--mode",
        default="overall",
        show_default=True,
        type=click.Choice(["overall", "best_pick", "both"]),
        help="The graders' question.",
    ),
    click.option("--judge-shots", default=0, show_default=True, type=click.IntRange(0), help="Their worked examples."),
    click.option("--tau", default="none", show_default=True, help="Their threshold of log P(A) - log P(B)."),
)


def _with(options: Sequence[Callable[[Any], Any]]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


@click.group()
def captions() -> None:
    """Measure captions from files, and keep the best ones.

    A FILE is JSON lines of {contest, caption or captions, system}, a table with a row a contest, or a log of
    humor_tasks/brainstorm or humor_tasks/caption_writing.
    """


@captions.command()
@click.argument("files", nargs=-1, required=True, type=_PATH)
@_with(_CONTESTS)
@click.option("--encoder", metavar="MODEL", help="sentence-transformers model or folder: diversity by embeddings.")
@click.option("--place-by", metavar="MODEL", help="Inspect model that places captions among the contest's: crowd_rank.")
@_with(_JUDGING)
@_with(_AGAINST)
@click.option("-o", "--output", type=_PATH, help="Also write every figure and caption (JSON).")
def score(
    files: tuple[Path, ...],
    encoder: str | None,
    place_by: str | None,
    grader: tuple[str, ...],
    mode: str,
    judge_shots: int,
    tau: str,
    output: Path | None,
    **given: Any,
) -> None:
    """Length, diversity, recitation, crowd_rank and win rates of the captions in FILES, per system.

    Recitation: captions that repeat one of the contest's rated captions, exactly or nearly. crowd_rank: the percentile
    at which a model places a caption among them; --place-by quality/FOLDER, embedding/MODEL, baseline/longest and
    other models that score single captions use their scores, any other model compares captions as a judge. Win rates:
    --grader compares each ten captions with four groups of people's, as the task caption_writing does.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.data.writing import check_output, write_json
    from humor_tasks.models.choosers.embedding import Embedding
    from humor_tasks.results.captions import figures
    from humor_tasks.results.captions.files import read_all
    from humor_tasks.results.captions.showing import Report, as_markdown

    check_output(output, *files)
    judging = _judging(given)
    options = _options(given, "description" if place_by or grader else "caption_only")
    groups = read_all(files)
    crowd, lacking = _crowd(options, groups)
    placer = _opened(place_by, **judging) if place_by else None
    embedding = Embedding(encoder) if encoder else None
    rows = figures.written(crowd, groups)
    placement = _placed(placer, crowd, options, rows) if placer else None
    if placement and place_by:
        placement = dataclasses.replace(placement, model=place_by)
        rows = figures.placed(rows, placement)
    how = {"setting": options.setting, "mode": mode, "judge_shots": judge_shots, "tau": tau}
    against = _against(crowd, groups, grader, given | how, judging) if grader else []
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


def _placed(placer: Chooser | Judge, crowd: Crowd, options: CrowdOptions, rows: Sequence[Written]) -> Placement:
    from humor_tasks.results.captions import judging, placing
    from humor_tasks.results.captions.comparing import Judge

    texts: dict[int, list[str]] = {}
    for row in rows:
        texts.setdefault(row.contest, []).append(row.caption)
    if isinstance(placer, Judge):
        return judging.place(placer, crowd, options, texts)
    return placing.place(placer, crowd.cartoons, texts)


def _against(
    crowd: Crowd,
    groups: Sequence[CaptionGroup],
    graders: Sequence[str],
    given: Mapping[str, Any],
    judging: Mapping[str, Any],
) -> Sequence[Against]:
    """The graders' verdicts. given: the parameters of `caption_writing`, None where not set; mode may be `both`."""
    from humor_tasks.results.captions.against import compare

    mode, prompts = given["mode"], {"prompts": judging["prompts"]}
    parameters = {name: value for name, value in {**given, **prompts}.items() if value is not None}
    return compare(
        groups,
        [cartoon.number for cartoon in crowd.cartoons],
        [_model(name, judging["model_args"]) for name in graders],
        ("overall", "best_pick") if mode == "both" else (mode,),
        parameters,
        judging["cache"],
        judging["log_dir"],
    )


@captions.command()
@click.argument("file", type=_PATH)
@click.option("--by", required=True, metavar="MODEL", help="Any Inspect model; as in `captions score --place-by`.")
@click.option("-k", "count", default=10, show_default=True, type=click.IntRange(1), help="Captions to keep.")
@_with(_CONTESTS)
@_with(_JUDGING)
@click.option("-o", "--output", required=True, type=_PATH, help="New file (.jsonl), which `captions score` reads.")
def pick(file: Path, by: str, count: int, output: Path, **given: Any) -> None:
    """Keep the best K captions of each contest and system in FILE, in their order (best-of-n).

    A model that scores single captions ranks them by its scores. Any other model compares each two of a group in both
    orders: n (n - 1) questions for n captions. Of equal captions the earlier ones are kept. With --setting caption_only
    and without --dataset no contests are read, and the model sees the captions alone.
    """
    from humor_tasks.data.writing import check_output, write_text
    from humor_tasks.results.captions.comparing import Judge
    from humor_tasks.results.captions.files import as_lines, read_groups
    from humor_tasks.results.captions.judging import of_crowd
    from humor_tasks.results.captions.picking import pick, pick_by_comparing

    check_output(output, file)
    if output.suffix != ".jsonl":
        raise BadInput(f"{output}: the name of a file of captions must end in .jsonl.")
    judging = _judging(given)
    options = _options(given, "description")
    groups = read_groups(file)
    blind = options.setting == "caption_only" and not given["dataset"]
    placer = _opened(by, **judging)
    crowd = None if blind else _crowd(options, groups)[0]
    if crowd:
        _check_all_there(file, groups, crowd)
    if isinstance(placer, Judge):
        cartoons = of_crowd(crowd, options) if crowd else _blind(groups, options)
        picked, unread = pick_by_comparing(placer, groups, count, cartoons)
    else:
        picked, unread = pick(placer, groups, count, {c.number: c for c in crowd.cartoons} if crowd else {}), 0
    write_text(output, as_lines(picked))
    click.echo(f"{output}: {sum(len(g.captions) for g in picked)} captions in {len(picked)} groups, by {by}.")
    if short := [f"{g.contest} ({len(g.captions)})" for g in groups if len(g.captions) < count]:
        click.echo(f"Fewer than {count} captions, kept as they are: {listed('contest', short)}.")
    if unread:
        click.echo(f"{unread} comparisons have no readable answer and are left out.")


# ---- opening ------------------------------------------------------------------------------------


def _judging(given: dict[str, Any]) -> dict[str, Any]:
    """The options of models, taken out of the given ones."""
    how = {name: given.pop(name) for name in ("model_args", "prompts", "log_dir")}
    return how | {"cache": not given.pop("no_cache")}


def _options(given: dict[str, Any], setting: str) -> CrowdOptions:
    from humor_tasks.benchmarks.crowd.corpus import CrowdOptions

    return CrowdOptions(**{"setting": setting} | {name: value for name, value in given.items() if value is not None})


def _crowd(options: CrowdOptions, groups: Sequence[CaptionGroup]) -> tuple[Crowd, list[int]]:
    """The contests for which there are captions, and the others of the dataset. Raises BadInput where there is none."""
    from humor_tasks.benchmarks.crowd.corpus import crowd_of, open_source

    source = open_source(options)
    written = {group.contest for group in groups}
    known = tuple(number for number in source.numbers if number in written)
    if not known:
        raise BadInput(
            f"{options.dataset}, split {options.split}: has none of the {listed('contest', map(str, sorted(written)))} "
            "of the files; choose another --split (all) or --dataset."
        )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        crowd = crowd_of(dataclasses.replace(source, numbers=known), options)
    for warning in told:
        click.echo(f"Beware: {warning.message}", err=True)
    return crowd, [number for number in source.numbers if number not in written]


def _opened(name: str, model_args: Sequence[str], **how: Any) -> Chooser | Judge:
    """A model by its name in Inspect: one that scores single captions as a Chooser, any other as a Judge."""
    from humor_tasks.results.captions.comparing import Judge

    model = _model(name, model_args)
    chooser: Chooser | None = getattr(model.api, "chooser", None)
    return Judge(model, **how) if chooser is None or chooser.reads_prompt else chooser


def _model(name: str, model_args: Sequence[str]) -> Any:
    from humor_tasks.on_inspect.client import open_model

    return open_model(name, model_args)


def _check_all_there(file: Path, groups: Sequence[CaptionGroup], crowd: Crowd) -> None:
    known = {cartoon.number for cartoon in crowd.cartoons}
    lacking = dict.fromkeys(str(group.contest) for group in groups if group.contest not in known)
    if lacking:
        raise BadInput(
            f"{file}: not in the dataset: {listed('contest', lacking, most=5)}; choose --split all or another "
            "--dataset, or --setting caption_only without --dataset."
        )


def _blind(groups: Sequence[CaptionGroup], options: CrowdOptions) -> Any:
    """The contests of a file without their cartoons."""
    from humor_tasks.data.records import Record
    from humor_tasks.results.captions.comparing import Cartoons

    records = {
        str(group.contest): Record(str(group.contest), str(group.contest), {}, "", (), None, {"fold": "0"})
        for group in groups
    }
    none = {"dataset": "none", "revision": None, "rows": len(records), "fingerprint": "none"}
    return Cartoons(records, dataclasses.replace(options, dataset="none"), none)
