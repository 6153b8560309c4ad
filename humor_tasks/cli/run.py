"""`humor-tasks run`: a suite of benchmarks for whole models, with a plan before and a page after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.cli.options import DATASET, MODEL_ARGS, MODEL_BASE_URL, PARAMETERS, PATH, output, together
from humor_tasks.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from humor_tasks.logs.prices import Price
    from humor_tasks.suites.asked import Models
    from humor_tasks.suites.members import Absent, Member
    from humor_tasks.suites.plan import Plan

_MODELS = click.option(
    "--model", "models", required=True, multiple=True, metavar="MODEL", help="Any Inspect model; repeat it for several."
)
_GRADERS = click.option(
    "--grader", "graders", multiple=True, metavar="MODEL", help="Model that judges replies; repeat it for a panel."
)


@click.command()
@_MODELS
@click.option("--suite", default="text", help="text, judged, pictures, writing, all, or one of another package.")
@_GRADERS
@click.option("--budget", type=click.IntRange(1), help="About so many items a task: a sample that is the same for all.")
@click.option("--limit", type=click.IntRange(1), help="Only the first items of each task, for a trial.")
@together(DATASET, PARAMETERS, MODEL_ARGS, MODEL_BASE_URL)
@click.option("--max-tokens", type=click.IntRange(1), help="Most tokens of a reply.")
@click.option("--max-retries", type=click.IntRange(0), help="Most retries of a request. Default: without end.")
@click.option("--tokenizer", metavar="NAME", help="Folder or hub id of the models' tokenizer, for the plan.")
@click.option("--reply-tokens", type=click.IntRange(1), help="Expected tokens of a reply, for the plan.")
@click.option("--prices", type=PATH, help="File of prices, used instead of the packaged list.")
@click.option("--plan", "only_plan", is_flag=True, help="Print the plan and stop.")
@click.option("--yes", is_flag=True, help="Do not ask before the first request.")
@output("the logs and the page into a folder", default=Path("humor-run"))
def run(
    models: tuple[str, ...],
    suite: str,
    graders: tuple[str, ...],
    budget: int | None,
    limit: int | None,
    dataset: str | None,
    parameters: tuple[str, ...],
    model_args: tuple[str, ...],
    model_base_url: str | None,
    max_tokens: int | None,
    max_retries: int | None,
    tokenizer: str | None,
    reply_tokens: int | None,
    prices: Path | None,
    only_plan: bool,
    yes: bool,
    output: Path,
) -> None:
    """Measure what models understand of humour: a suite of benchmarks, and one page.

    First it prints a plan: items, requests, tokens and cost, how wide the intervals will be, and what is missing. Then
    it runs the suite in one folder: the same command resumes a run that was stopped, and asks for no reply twice. At
    the end report/index.html in that folder is the page.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.files.secrets import without_secrets
    from humor_tasks.logs.prices import read_prices
    from humor_tasks.suites.asked import open_models, without_refused
    from humor_tasks.suites.folder import check_folder
    from humor_tasks.suites.members import members, opened
    from humor_tasks.suites.printed import as_markdown

    priced = read_prices(prices)
    chosen = members(suite, parameters, dataset=dataset, budget=budget)
    arguments = without_secrets(dict(text.partition("=")[::2] for text in model_args), drop=True)
    asked: dict[str, Any] = {"suite": suite, "models": list(models), "graders": list(graders), "limit": limit}
    asked |= {"model_args": arguments, "model_base_url": model_base_url, "max_tokens": max_tokens}
    asked |= {"tasks": [[member.benchmark.name, dict(member.parameters)] for member in chosen]}
    if not only_plan:
        check_folder(output, asked)
    found = open_models(models, graders, model_args, model_base_url, max_tokens)
    _ask_before_downloads([member for member in chosen if member.download], only_plan, yes)
    ready, absent = opened(chosen, bool(graders))
    kept, refused = without_refused(ready, found.models)
    plan = _plan(kept, found, tokenizer, reply_tokens, priced, limit)
    echo(as_markdown(plan, [*absent, *refused]))
    if found.problems:
        raise BadInput("\n".join(found.problems))
    if only_plan:
        return
    _confirm(yes)
    _run(output, asked, plan, found, [*absent, *refused], priced, max_retries, anew=prices is not None)


def _confirm(yes: bool) -> None:
    """Ask before the first request. Raises BadInput where nobody can answer."""
    if yes:
        return
    try:
        click.confirm("\nStart?", abort=True)
    except click.Abort:
        raise BadInput("not started; --yes starts without asking.") from None


def _ask_before_downloads(large: Sequence[Member], only_plan: bool, yes: bool) -> None:
    """Ask before the pictures of these members are downloaded, which a plan needs to read their rows."""
    if not large or yes:
        return
    told = f"{', '.join(member.name for member in large)}: to read their rows downloads {large[0].download} of pictures"
    if only_plan:
        raise BadInput(f"{told}, unless they are cached. Give --yes as well, or dataset=FOLDER for a local copy.")
    click.confirm(f"{told}, unless they are cached. Go on?", abort=True)


def _plan(
    ready: Any,
    found: Models,
    tokenizer: str | None,
    reply_tokens: int | None,
    prices: Mapping[str, Price],
    limit: int | None,
) -> Plan:
    from humor_tasks.suites.asked import asked_of
    from humor_tasks.suites.plan import plan_of

    models = [asked_of(each, prices, tokenizer, reply_tokens) for each in found.models]
    return plan_of(ready, models, [asked_of(each, prices) for each in found.graders], limit)


def _run(
    folder: Path,
    asked: dict[str, Any],
    plan: Plan,
    found: Models,
    absent: Sequence[Absent],
    prices: Mapping[str, Price],
    retries: int | None,
    anew: bool,
) -> None:
    """Run the tasks, write the report, and name what has not finished."""
    from humor_tasks.files.locks import locked
    from humor_tasks.on_inspect.eval_sets import SetTask, keep_replies, run_tasks, tasks_of, unfinished
    from humor_tasks.suites.folder import LOGS, begin

    models = [each.model for each in found.models if each.model]
    graders = [each.model for each in found.graders if each.model]
    tasks = [SetTask(task.member.benchmark.name, task.member.parameters) for task in plan.tasks]
    limit, most, names = asked["limit"], asked["max_tokens"], [str(model) for model in models]
    with locked(folder):
        keep_replies(models, begin(folder, asked))
        _resume(folder / LOGS, tasks, names)
        made = tasks_of(tasks, models, graders, most)
        logs = run_tasks(str(folder / LOGS), made, graders, limit, most, retries)
        missing = unfinished(logs, tasks, names)
        told = [f"{each.benchmark}, {model}: not finished{why and f': {why}'}" for each, model, why in missing]
        try:
            _report(folder, [*told, *(f"{each.member.name}: left out: {each.why}" for each in absent)], prices, anew)
        except BadInput as problem:
            if not told:
                raise
            click.echo(f"There is no page yet: {problem}", err=True)
    if told:
        first = f"{len(told)} of {len(tasks) * len(models)} tasks have not finished:"
        failed = any(why for *_, why in missing)
        remedy = "Once that is put right, give" if failed else "The run was stopped. Give"
        raise BadInput("\n".join([first, *told, f"{remedy} the same command again: it asks only for what is missing."]))


def _resume(folder: Path, tasks: Sequence[Any], models: Sequence[str]) -> None:
    """Say what a folder of logs holds already, and set aside logs that cannot be read."""
    from humor_tasks.logs.inspect_logs import headers_in
    from humor_tasks.on_inspect.eval_sets import unfinished

    logs, damaged = headers_in(folder)
    for path in damaged:
        path.rename(path.with_suffix(".damaged"))
        click.echo(
            f"Warning: {path}: cannot be read; it is now {path.stem}.damaged, and its task runs again.", err=True
        )
    if logs:
        every = len(tasks) * len(models)
        left = len(unfinished([log for log in logs if log.status == "success"], tasks, models))
        click.echo(f"Resuming: {every - left} of {every} tasks have finished and are not run again.", err=True)


def _report(folder: Path, notes: Sequence[str], prices: Mapping[str, Price], anew: bool) -> None:
    import dataclasses

    from humor_tasks.cli.printing import echo
    from humor_tasks.results import read_results
    from humor_tasks.results.report.build import build_report
    from humor_tasks.results.report.folder import write_report
    from humor_tasks.results.report.markdown import as_markdown, profile_text
    from humor_tasks.suites.folder import LOGS, REPORT

    built = build_report(read_results([folder / LOGS]), prices, anew=anew)
    built = dataclasses.replace(built, warnings=(*notes, *built.warnings))
    told = write_report(folder / REPORT, built)
    echo(f"{profile_text(built.profile)}\n" if built.profile else as_markdown(built, warnings=False))
    for sentence in (*built.warnings, *told):
        click.echo(f"Warning: {sentence}", err=True)
    click.echo(f"\nThe page: {folder / REPORT / 'index.html'}")
