"""`humor-tasks agreement`: human votes as a table, and judges against them."""

from __future__ import annotations

from pathlib import Path

import click

from humor_tasks.errors import BadInput

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("votes", nargs=-1, required=True, type=_PATH)
@click.option("--pairs", multiple=True, type=_PATH, help="The items voted on: once for all, or once a file of votes.")
@click.option("--twice", default="error", show_default=True, help="A rater's second vote on an item: error or last.")
@click.option("--judge", "judges", multiple=True, type=_PATH, help="Inspect log of explanation_preference; repeat it.")
@click.option("--explainer", "explainers", multiple=True, metavar="SIDE=MODEL", help="Who wrote A or B, as a=MODEL.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-o", "--output", type=_PATH, help="Also write the report (.md or .json; .csv: the questions alone).")
def agreement(
    votes: tuple[Path, ...],
    pairs: tuple[Path, ...],
    twice: str,
    judges: tuple[Path, ...],
    explainers: tuple[str, ...],
    as_json: bool,
    output: Path | None,
) -> None:
    """How often A wins, or people are right, by the majority of raters, and how far raters agree.

    VOTES is a file a question, or has a column `question`. PAIRS tell systems, contests and answers; votes on
    other items are refused. With --judge: a judge's accuracy and biases by the votes on the same pairs, and the
    win rate corrected by them.
    """
    from humor_tasks.studies.analysis import agreement_report
    from humor_tasks.studies.analysis.questions import read_questions

    agreement_report.check_ending(output)
    if explainers and not judges:
        raise BadInput("--explainer tells a judge's family from others; name a --judge.")
    wrote = dict(_explainer(pair) for pair in explainers)
    found = agreement_report.analyse(read_questions(votes, pairs, twice), judges, wrote)
    if output:
        agreement_report.write_report(output, found)
    shown = agreement_report.as_json(found) if as_json else agreement_report.as_markdown(found)
    click.echo(shown, nl=False)


def _explainer(pair: str) -> tuple[str, str]:
    side, _, model = pair.partition("=")
    if side.upper() not in ("A", "B") or not model:
        raise BadInput(f"--explainer {pair}: write it as a=MODEL or b=MODEL, such as a=openai/gpt-4o.")
    return side.upper(), model
