"""The command `humor-tasks agreement`: reports on human votes, and comparison of judges with them."""

from __future__ import annotations

from pathlib import Path

import click

from humor_tasks.errors import BadInput

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("votes", nargs=-1, required=True, type=_PATH)
@click.option("--pairs", multiple=True, type=_PATH, help="File of items: one for all VOTES, or one per file.")
@click.option(
    "--twice", default="error", show_default=True, help="Repeated votes of an annotator on an item: error or last."
)
@click.option("--judge", "judges", multiple=True, type=_PATH, help="Inspect log of explanation_preference; repeatable.")
@click.option("--explainer", "explainers", multiple=True, metavar="SIDE=MODEL", help="Author of A or B, as a=MODEL.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("-o", "--output", type=_PATH, help="Also write the report (.md or .json; .csv: only the questions).")
def agreement(
    votes: tuple[Path, ...],
    pairs: tuple[Path, ...],
    twice: str,
    judges: tuple[Path, ...],
    explainers: tuple[str, ...],
    as_json: bool,
    output: Path | None,
) -> None:
    """Print win rate or human accuracy by the majority of annotators, and inter-annotator agreement.

    VOTES are one file per question, or have a column `question`. PAIRS give systems, contests and answers; votes on
    other items are an error. With --judge: the judge's accuracy and biases relative to the votes on the same pairs, and
    its win rate corrected with them.
    """
    from humor_tasks.cli.printing import echo
    from humor_tasks.data.writing import check_output
    from humor_tasks.people import agreement_report
    from humor_tasks.people.questions import read_questions

    agreement_report.check_ending(output)
    check_output(output, *votes, *pairs, *judges)
    if explainers and not judges:
        raise BadInput("--explainer serves to measure a judge's self-preference; name a --judge.")
    wrote = dict(_explainer(pair) for pair in explainers)
    found = agreement_report.analyse(read_questions(votes, pairs, twice), judges, wrote)
    if output:
        agreement_report.write_report(output, found)
    if as_json:
        click.echo(agreement_report.as_json(found), nl=False)
    else:
        echo(agreement_report.as_markdown(found))


def _explainer(pair: str) -> tuple[str, str]:
    side, _, model = pair.partition("=")
    if side.upper() not in ("A", "B") or not model:
        raise BadInput(f"--explainer {pair}: write it as a=MODEL or b=MODEL, such as a=openai/gpt-4o.")
    return side.upper(), model
