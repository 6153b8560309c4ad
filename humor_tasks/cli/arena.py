"""`humor-tasks captions arena`: which of several systems writes the funnier captions, by battles that judges decide."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.cli.captions import CONTESTS, contests_of, crowd_for, opened
from humor_tasks.cli.options import MODEL_ARGS, NO_CACHE, PATH, TWICE, logs_of, output, together
from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from humor_tasks.studies.arena.players import Player, Scene, Show

_WHAT = together(
    click.option("--judge", "judges", multiple=True, metavar="MODEL[,MODEL]", help="Inspect models that judge."),
    click.option(
        "--show",
        default="best",
        type=click.Choice(["best", "ten"]),
        help="A battle shows one caption of each player (best: the first, or --picker's), or ten.",
    ),
    click.option(
        "--prompts-file", type=PATH, help="File of writing requests in the place of contests (docs/requests.md)."
    ),
    click.option("--picker", metavar="MODEL", help="With --show best: the model that picks a system's best caption."),
    click.option("--budget", type=int, help="The most battles. Default: 50 for each player."),
    click.option("--people/--no-people", default=True, help="Let the human groups take part."),
    click.option("--seed", default=1234, type=click.IntRange(0), help="Seed of the battles that are drawn."),
    click.option(
        "--level", default=0.95, type=click.FloatRange(0.5, 0.999), help="Level of intervals and of stopping."
    ),
    click.option("--elo", is_flag=True, help="Also print Elo points (scale 400; the median group is at 1000)."),
    click.option("--votes", "vote_files", multiple=True, type=PATH, help="Votes of people on battles of this arena."),
)
_HOW = together(
    MODEL_ARGS,
    click.option("--prompts", metavar="SET|FOLDER", help="Prompt set of the judges, or a folder of templates."),
    click.option("--structured", is_flag=True, help="Request JSON verdicts through the provider's structured output."),
    click.option("--batch", is_flag=True, help="Use the provider's batches where it has them."),
    NO_CACHE,
)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=PATH)
@together(_WHAT, TWICE, CONTESTS, _HOW)
@output("the arena's folder", required=True)
def arena(
    runs: tuple[Path, ...],
    judges: tuple[str, ...],
    show: Show,
    prompts_file: Path | None,
    picker: str | None,
    budget: int | None,
    people: bool,
    seed: int,
    level: float,
    elo: bool,
    vote_files: tuple[Path, ...],
    twice: str,
    model_args: tuple[str, ...],
    prompts: str | None,
    structured: bool,
    batch: bool,
    no_cache: bool,
    output: Path,
    **options: Any,
) -> None:
    """Rank systems by battles: two players' captions for one contest, judged in both orders.

    RUNS are logs of humor_tasks/caption_writing or humor_tasks/brainstorm, and files of captions; with --prompts-file
    logs of humor_tasks/humor_writing, and files of texts. The groups of people's captions take part as players. After
    a balanced opening, the pairs whose order is open battle, until every two neighbours are apart or the
    budget is spent. The same command resumes an interrupted arena; more players, judges or budget extend it.
    """
    from humor_tasks.benchmarks import writers
    from humor_tasks.cli.printing import echo
    from humor_tasks.studies.arena import page, rounds
    from humor_tasks.studies.arena.judging import ScoringJudge, left_out, open_judges, question, usage
    from humor_tasks.studies.arena.ladder import ladder_of
    from humor_tasks.studies.arena.players import Roster, check_players
    from humor_tasks.studies.arena.store import check_folder, open_store
    from humor_tasks.studies.arena.votes import read_people

    if picker and (show == "ten" or prompts_file):
        raise BadInput(
            "--picker picks one caption of a contest; leave it out with --show ten. For requests use `captions pick`."
        )
    check_folder(output)
    names = [name.strip() for given in judges for name in given.split(",") if name.strip()]
    panel = open_judges(names, model_args, show, prompts, batch, structured=structured, cache=not no_cache)
    paths = logs_of([*writers("caption"), *writers("captions")], runs)
    scenes, players, notes = (
        _for_requests(prompts_file, paths, options, show)
        if prompts_file
        else _players(paths, options, show, picker, model_args, not no_cache, people)
    )
    check_players(players)
    stage = Roster(scenes, {player.name: player for player in players})
    for scorer in (judge for judge in panel if isinstance(judge, ScoringJudge)):
        scorer.check(stage)
    most = rounds.budget_of(budget, stage)
    settings: dict[str, Any] = {"show": show, "picker": picker, "seed": seed, "prompts": question(show, prompts).hash}
    settings |= {"structured": structured, "prompts_file": prompts_file.name if prompts_file else None}
    # More contests extend an arena, so what selects them is none of its settings.
    chosen = {name: value for name, value in options.items() if value is not None}
    settings |= {name: value for name, value in chosen.items() if name not in ("split", "contests")}
    store = open_store(output, settings, stage)
    votes = read_people(vote_files, store.played, stage, twice)
    prompted = sum(1 + judge.ordered for judge in panel)
    click.echo(
        f"{len(players)} players, {len(scenes)} contests; at most {most:,} battles, {most * prompted:,} verdicts."
    )
    ended = rounds.play(store, stage, panel, show, most, 1 - level, seed)
    chosen |= {f"not sent to {judge}": names_of for judge, names_of in left_out(store).items()}
    told = page.Arena(
        store,
        stage,
        ladder_of(store, stage, level, votes),
        ended,
        settings | chosen | {"judges": ", ".join(names), "level": level, "looks": ended.looks} | usage(store),
        tuple(notes),
        elo,
    )
    page.write(told)
    echo(page.as_markdown(told))
    click.echo(f"{output / page.PAGE}: the ladder, the judges and every battle; logs are in {output / 'logs'}.")


def _players(
    paths: Sequence[Path],
    options: dict[str, Any],
    show: Show,
    picker: str | None,
    model_args: tuple[str, ...],
    cache: bool,
    human: bool,
) -> tuple[dict[str, Scene], list[Player], list[str]]:
    """The scenes, the players, and what a reader has to know of them."""
    from humor_tasks.studies.arena.players import people, scenes_of, systems, taking_part
    from humor_tasks.studies.captions.files import read_all
    from humor_tasks.studies.captions.placing import best_of

    contests = contests_of(options, "description")
    groups = read_all(paths)
    crowd, _ = crowd_for(contests, groups)
    scenes = scenes_of(crowd.cartoons)
    groups, notes = taking_part(groups, scenes, "contests")
    several = sum(len(group.captions) > 1 for group in groups)
    if picker:
        judge = opened(picker, model_args=model_args, prompts=None, log_dir=None, cache=cache)
        groups, unread = best_of(judge, groups, crowd, contests)
        notes += [f"{unread} comparisons of the picker have no readable answer and are left out."] if unread else []
    elif show == "best" and several:
        notes.append(f"{several} lists hold several captions; the first is shown. --picker MODEL picks the best one.")
    of_systems, lacking = systems(groups, scenes, show)
    return scenes, [*of_systems, *(people(crowd.cartoons, show) if human else [])], notes + lacking


def _for_requests(
    path: Path, paths: Sequence[Path], options: dict[str, Any], show: Show
) -> tuple[dict[str, Scene], list[Player], list[str]]:
    """The requests of a file as scenes, the systems that answered them, and what a reader has to know."""
    from humor_tasks.rows.requests import read_requests
    from humor_tasks.studies.arena.players import Scene, systems, taking_part
    from humor_tasks.studies.captions.files import read_all

    images = options.pop("images", None)
    if given := [name.replace("_", "-") for name, value in options.items() if value is not None]:
        raise BadInput(f"--prompts-file: requests have no contests; leave out --{', --'.join(given)}.")
    requests = read_requests(path, Path(images) if images else None)
    scenes = {request.id: Scene(request.id, request.text, request.picture) for request in requests}
    read = read_all(paths)
    groups = [group for group in read if isinstance(group.contest, str)]
    of_systems, lacking = systems(groups, scenes, show)
    groups, others = taking_part(groups, scenes, "requests")
    if not of_systems:
        raise BadInput(f"{path}: no file has texts for its requests; write them with humor_tasks/humor_writing.")
    notes = ["There are no human groups for requests: nothing says how the judges' order compares with people's."]
    notes += others
    if show == "best" and (several := sum(len(group.captions) > 1 for group in groups)):
        notes.append(f"{several} lists hold several texts; the first is shown. `captions pick` keeps the best one.")
    if of_contests := sum(not isinstance(group.contest, str) for group in read):
        notes.append(f"{of_contests} lists of captions are of contests; they are left out.")
    return scenes, of_systems, notes + lacking
