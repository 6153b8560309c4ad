"""`humor-tasks describe`: a model's words in the place of the annotators'."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from humor_tasks.errors import BadInput


@click.command()
@click.option("--model", required=True, help="Inspect model that sees, such as ofa/FOLDER or openai/gpt-4o.")
@click.option("--dataset", help="Hub id, dataset folder or 'sample'. Default: the public corpus.")
@click.option("--revision", help="Branch, tag or commit of a hub dataset.")
@click.option("--task", "tasks", multiple=True, help="matching, ranking or explanation; repeat. Default: all.")
@click.option("--fold", "folds", multiple=True, help="0..4; repeat. Default: all that the dataset has.")
@click.option("--split", "splits", multiple=True, help="train, validation or test; repeat. Default: all.")
@click.option("-M", "model_args", multiple=True, metavar="NAME=VALUE", help="Argument of the model; repeat.")
@click.option("--model-base-url", help="Where the model is served.")
@click.option("--instruction", help="System message before each question, for chat models.")
@click.option("--temperature", default="0", show_default=True, help="'none': the provider's.")
@click.option("--max-tokens", type=click.IntRange(1), help="Of an answer. Default: the model's.")
@click.option("--seed", type=int, help="Default: none.")
@click.option("--max-connections", type=click.IntRange(1), help="Requests at once; for ofa, pictures a batch.")
@click.option("--unanswered", help="Text for a question without an answer. Default: refuse.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The dataset folder to make.")
def describe(output: Path, dataset: str | None, revision: str | None, **how: Any) -> None:
    """Describe every cartoon of a dataset, and write the dataset as from-description tasks read it.

    Each distinct picture is asked about once. Answers are kept as they come, in OUTPUT.answers.jsonl: a second
    run of an interrupted command asks for the rest only.
    """
    from humor_tasks.benchmarks.caption_contest.corpus import HUB
    from humor_tasks.benchmarks.caption_contest.described import distinct, read_parts
    from humor_tasks.models.descriptions import QUESTIONS
    from humor_tasks.on_inspect.client import open_model
    from humor_tasks.on_inspect.describer import Asking, describe_rows
    from humor_tasks.studies.describe.making import (
        Plan,
        answers_file,
        descriptions,
        is_made,
        open_answers,
        write_folder,
    )

    output = Path(os.path.expanduser(output)).resolve()  # of a link, what it leads to
    if mark := next((mark for mark in ("[", "::") if mark in str(output)), None):
        raise BadInput(f"{output}: `datasets` reads no folder with {mark} in its path; give another -o.")
    temperature = _temperature(how["temperature"])
    if how["unanswered"] is not None and not how["unanswered"].strip():
        raise BadInput("--unanswered is empty; give the text that stands for an answer that was not given.")
    parts = read_parts(dataset or HUB, revision, how["tasks"], how["folds"], how["splits"])
    model = open_model(how["model"], how["model_args"], how["model_base_url"], how["max_connections"])
    asking = Asking(how["instruction"], temperature, how["max_tokens"], how["seed"])
    plan = Plan(dataset or HUB, revision, parts, asking.of(model), how["unanswered"])
    rows = sum(len(part.rows.rows) for part in parts)
    if is_made(output, plan):
        click.echo(f"{output}: is finished already: {rows} rows.")
        return
    pictures = distinct(parts)
    answers = open_answers(output, plan)
    found = describe_rows(pictures, list(QUESTIONS.values()), model, asking, answers.get, answers.keep)
    write_folder(output, plan, pictures, descriptions(pictures, found, plan.unanswered))
    click.echo(f"{output}: {rows} rows, {len(pictures)} pictures described by {model}.")
    click.echo(f"Every answer: {answers_file(output)}")


def _temperature(text: str) -> float | None:
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise BadInput(f"--temperature is '{text}'; it must be a number or none.") from None
