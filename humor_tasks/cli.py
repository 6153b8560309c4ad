"""`humor-tasks`: what neither harness's command line can do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from humor_tasks import __version__
from humor_tasks.errors import BadInput


class _Group(click.Group):
    """Shows bad input as one line and exits with 2, as click does for bad options."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BadInput as problem:
            raise click.UsageError(str(problem)) from None


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="humor-tasks")
def main() -> None:
    """Benchmarks of humour understanding for Inspect AI and lm-evaluation-harness.

    Run them with `inspect eval humor_tasks/matching` or `lm_eval --tasks nyc_ranking`.
    """


@main.command()
@click.argument("predictions", type=click.Path(path_type=Path))
@click.option("--task", required=True, help="matching, ranking or explanation.")
@click.option("--dataset", help="Hub id, dataset folder, or 'sample'. Default: the hub corpus.")
@click.option("--revision", help="Branch, tag or commit of a hub dataset.")
@click.option("--split", default="test", show_default=True)
@click.option("--fold", default="0", show_default=True, help="0..4, or 'all'.")
@click.option("--setting", default="description", show_default=True, help="What the model was shown.")
@click.option("--on-unparsed", default="wrong", show_default=True, help="wrong, exclude or random.")
@click.option("--extraction", default="strict", show_default=True, help="How letters are read.")
@click.option("--seed", default=1234, show_default=True, help="Seed of --on-unparsed random.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def score(predictions: Path, task: str, as_json: bool, dataset: str | None, **parameters: Any) -> None:
    """Score a file of predictions: {instance_id: reply} as JSON, or records as JSON lines."""
    from humor_tasks.api import evaluate
    from humor_tasks.files import read_predictions

    parameters |= {"dataset": dataset} if dataset else {}
    report = evaluate(task, read_predictions(predictions), **parameters)
    click.echo(json.dumps(report.as_dict(), indent=2) if as_json else str(report))


@main.command()
@click.argument("log", type=click.Path(path_type=Path))
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The file to write.")
@click.option("--fill", help="Letter for instances without an answer, or 'random' (seeded). Default: refuse.")
@click.option("--seed", default=1234, show_default=True, help="Seed of --fill random.")
def submission(log: Path, output: Path, fill: str | None, seed: int) -> None:
    """Write a leaderboard submission, {instance_id: letter}, from an Inspect log or lm-eval samples."""
    from humor_tasks.files import answers_in_log, write_json
    from humor_tasks.submission import complete

    answers, letters = answers_in_log(log)
    chosen = complete(answers, letters, fill, seed, str(log))
    write_json(output, chosen)
    click.echo(f"{output}: {len(chosen)} instances (the leaderboard has 830 for matching, 664 for ranking).")


if __name__ == "__main__":
    main()
