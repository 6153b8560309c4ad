"""`humor-tasks grade` and `judge`: judges score logged replies, and what their verdicts are worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from humor_tasks._version import __version__
from humor_tasks.cli.options import (
    JSON,
    LOG_DIR,
    PATH,
    PROMPTS,
    RUNS,
    Declares,
    Group,
    TaskOption,
    log_of,
    logs_of,
    output,
    together,
)
from humor_tasks.errors import BadInput


def _graded() -> list[str]:
    """The benchmarks whose logged replies judges can score, those with subsets first."""
    from humor_tasks.benchmarks import BENCHMARKS
    from humor_tasks.benchmarks.preference import judging_of_replies

    judged = [name for name, benchmark in BENCHMARKS.items() if judging_of_replies(benchmark)]
    return sorted(judged, key=lambda name: BENCHMARKS[name].display.subsets is None)


@click.command(cls=Declares, settings="humor_tasks.on_inspect.judging.graders:RubricSettings", after="graders")
@RUNS
@click.option(
    "--task",
    cls=TaskOption,
    tasks=_graded,
    first=True,
    help="Benchmark of the logs: {names}, or a judged one of another package.",
)
@click.option(
    "--grader", "graders", required=True, multiple=True, metavar="MODEL", help="Inspect model; repeat it for a panel."
)
@click.option("--partial", is_flag=True, help="Grade the replies in an unfinished log.")
@together(PROMPTS, LOG_DIR, output("the scores (.json)"))
def grade(
    runs: tuple[Path, ...],
    task: str,
    graders: tuple[str, ...],
    output: Path | None,
    given: dict[str, Any],
    **options: Any,
) -> None:
    """Let judges score the replies in finished runs.

    RUNS are logs of Inspect (.eval), lm-eval's samples_*.jsonl, or folders of them. Judges are asked as in the
    benchmark's own run. Explanations that have a reference are compared with it in both orders (EXPAcc is the metric
    preferred).

    Verdicts are cached when they arrive. A second run requests only missing and unreadable ones.
    """
    from humor_tasks.contract.judging.missing import MISSING
    from humor_tasks.files.writing import check_output, write_json
    from humor_tasks.results.grade import grade, report_of, without_reply

    logs = logs_of([task], runs)
    check_output(output, *logs)
    if output and len(logs) > 1:
        raise BadInput("-o takes the scores of one log; the Inspect logs hold the scores of all.")
    for log in logs:
        graded = grade(log, task, graders, **options, **given)
        report = report_of(graded)
        if output:
            write_json(output, report.as_dict())
        click.echo(str(report))
        click.echo(f"Every verdict and its reasons: {graded.location}")
        if report.warning:
            click.echo(f"Warning: {report.warning}", err=True)
        if MISSING in report.metrics and report.metrics[MISSING].value == 1:
            why = without_reply(graded)
            told = (
                f"no grader gave a reply ({why})." if why else "no reply of a grader has a verdict; the log holds them."
            )
            raise BadInput(f"{log}: {told}")


@click.group(cls=Group)
def judge() -> None:
    """Say how far a judge agrees with people, and correct its scores.

    docs/judging.md says which check answers which question.
    """


@judge.command()
@click.option(
    "--panel", is_flag=True, help="Print how alike the judges' errors are, and what a majority of the judges gains."
)
@together(RUNS, JSON, output("the panel (.md, .csv or .json)"))
def exam(runs: tuple[Path, ...], panel: bool, as_json: bool, output: Path | None) -> None:
    """Print the results of judges in exams, whose right answers are people's.

    RUNS are finished runs, or folders of them, of the benchmarks in which the model under test is a judge. With --panel
    they are one run of each judge, of one exam. Agreement with votes of your own: `humor-tasks people agreement
    --judge`.
    """
    from humor_tasks.benchmarks import BENCHMARKS
    from humor_tasks.cli.printing import echo, echo_notes
    from humor_tasks.files.tables import interval, safe, table, to_json
    from humor_tasks.files.writing import check_output
    from humor_tasks.results import read_results
    from humor_tasks.results.analysis import panel as panels

    if output and not panel:
        raise BadInput(f"-o {output}: takes the panel; add --panel.")
    panels.check_ending(output)
    check_output(output, *runs)
    exams = [name for name, benchmark in BENCHMARKS.items() if benchmark.uses.examines_judges]
    results = read_results(runs)
    taken = [result for result in results.results if result.benchmark.name in exams]
    if not taken:
        raise BadInput(f"no run is an exam of a judge ({' or '.join(exams)}).")
    if panel:
        found = panels.panel_of(taken)
        if output:
            panels.write_panel(output, found)
        echo(panels.WRITERS[".json" if as_json else ".md"](found))
        echo_notes(taken, results.left_out)
        return
    if as_json:
        rows = [
            {"judge": result.system, "exam": result.benchmark.name, "metrics": to_json(dict(result.estimates))}
            for result in taken
        ]
        click.echo(json.dumps(rows, indent=2))
    for result in [] if as_json else taken:
        lines = [(name, interval(estimate), str(estimate.n)) for name, estimate in result.estimates.items()]
        echo(f"{safe(result.system)}, {result.benchmark.name}\n\n{table(('metric', 'value', 'n'), lines)}\n\n")
    echo_notes(taken, results.left_out)


@judge.command()
@click.argument("judged", type=PATH)
@click.option("--labels", required=True, type=PATH, help="CSV with human PASS or FAIL.")
@JSON
def correct(judged: Path, labels: Path, as_json: bool) -> None:
    """Correct a judged pass rate with human labels of a random sample of its rows.

    JUDGED is a graded log, or a CSV with the columns id (or idx and element), verdict and optionally cluster.
    """
    from humor_tasks.api import Report
    from humor_tasks.logs.signature import Signature
    from humor_tasks.results.analysis.verdicts import correct, read_judged, read_labels

    judged = log_of(_graded(), judged)
    rows = read_judged(judged)
    corrected = correct(rows, read_labels(labels, rows))
    about = {"judged": judged.name, "labels": labels.name, "without_verdict": corrected.without_verdict}
    report = Report(corrected.estimates(), Signature({**about, "humor_tasks": __version__}), ())
    click.echo(json.dumps(report.as_dict(), indent=2) if as_json else str(report))
    for warning in filter(None, (corrected.few, report.warning)):
        click.echo(f"Warning: {warning}", err=True)
