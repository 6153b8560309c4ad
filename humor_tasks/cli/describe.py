"""The command `humor-tasks describe`: replaces the annotators' descriptions with a model's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.data.reading import is_visible
from humor_tasks.errors import BadInput, check_choice

if TYPE_CHECKING:
    from humor_tasks.data.media.picture import Picture


@click.command()
@click.option(
    "--model",
    help="Inspect model with image input, such as ofa/FOLDER or openai/gpt-4o; {fold} in it is replaced by each fold.",
)
@click.option("--dataset", help="Hub id, dataset folder (also MOCK's) or 'sample'. Default: the public corpus.")
@click.option("--revision", help="Branch, tag or commit of a hub dataset.")
@click.option("--task", "tasks", multiple=True, help="matching, ranking or explanation; repeatable. Default: all.")
@click.option("--fold", "folds", multiple=True, help="0..4; repeatable. Default: all in the dataset.")
@click.option("--split", "splits", multiple=True, help="train, validation or test; repeatable. Default: all.")
@click.option("-M", "model_args", multiple=True, metavar="NAME=VALUE", help="Model argument; repeatable.")
@click.option("--model-base-url", help="Base URL of the model's API.")
@click.option("--instruction", help="System message before each question, for chat models.")
@click.option("--temperature", default="0", show_default=True, help="'none': the provider's default.")
@click.option("--max-tokens", type=click.IntRange(1), help="Maximum length of an answer. Default: the model's.")
@click.option("--seed", type=int, help="Seed of the model. Default: none.")
@click.option("--max-connections", type=click.IntRange(1), help="Concurrent requests; for ofa, pictures per batch.")
@click.option("--unanswered", help="Replacement for empty answers. Default: empty answers are an error.")
@click.option("--scene", default="stills", show_default=True, help="MOCK: cartoon, post or stills (both).")
@click.option("--known", type=click.Path(path_type=Path), help="MOCK: JSON {media_id: description}; not asked for.")
@click.option("--partly", is_flag=True, help="MOCK: ask no model; the other pictures stay without a description.")
@click.option("-o", "--output", required=True, type=click.Path(path_type=Path), help="The dataset folder to write.")
def describe(output: Path, dataset: str | None, revision: str | None, **options: Any) -> None:
    """Describe every cartoon of a dataset, and write a dataset for from-description tasks.

    Each distinct picture is described once; with --model ofa/RUN/fold-{fold}/model once by each fold's own model.
    Answers are saved as they arrive, in OUTPUT.answers.jsonl; a second run of an interrupted command asks only the
    remaining questions. In a folder of MOCK, pictures that have a description keep it, and the model describes the
    others.
    """
    from humor_tasks.benchmarks.caption_contest.corpus import HUB
    from humor_tasks.benchmarks.caption_contest.rows import distinct, read_parts
    from humor_tasks.benchmarks.mock.describing import is_mock
    from humor_tasks.corpora.describe.making import (
        Answers,
        Plan,
        answers_file,
        by_model,
        descriptions,
        is_made,
        write_folder,
    )
    from humor_tasks.data.descriptions import QUESTIONS, Description
    from humor_tasks.on_inspect.checks import check_model
    from humor_tasks.on_inspect.client import open_model
    from humor_tasks.on_inspect.describer import Asking, describe_rows

    output = Path(os.path.expanduser(output)).resolve()  # resolves symbolic links
    if mark := next((mark for mark in ("[", "::") if mark in str(output)), None):
        raise BadInput(f"{output}: `datasets` cannot read a folder with {mark} in its path; give another -o.")
    temperature = _temperature(options["temperature"])
    if options["unanswered"] is not None and not is_visible(options["unanswered"]):
        raise BadInput("--unanswered is empty; give the replacement for empty answers.")
    if dataset and is_mock(folder := Path(os.path.expanduser(dataset))):
        _describe_mock(folder, output, temperature, {"revision": revision, **options})
        return
    if options["scene"] != "stills" or options["known"] or options["partly"]:
        raise BadInput("--scene, --known and --partly are for a folder of MOCK (--dataset).")
    if not options["model"]:
        raise BadInput("--model is missing.")
    parts = read_parts(dataset or HUB, revision, options["tasks"], options["folds"], options["splits"])
    described = by_model(options["model"], parts)
    how = (options["model_args"], options["model_base_url"], options["max_connections"])
    models = {name: open_model(name, *how) for name in described}
    for name, own in described.items():
        for part in own:
            check_model(models[name], part.split, part.units)
    asking = Asking(options["instruction"], temperature, options["max_tokens"], options["seed"])
    asked = {name: asking.of(model) for name, model in models.items()}
    told = {"model": options["model"], "models": asked} if len(asked) > 1 else next(iter(asked.values()))
    plan = Plan(dataset or HUB, revision, parts, told, options["unanswered"])
    rows = sum(len(part.rows.rows) for part in parts)
    if is_made(output, plan):
        click.echo(f"{output}: is already complete: {rows} rows.")
        return
    pictures = distinct(parts)
    words: dict[str, dict[str, Description]] = {}
    for name, own in described.items():
        model, answers = models.pop(name), Answers(answers_file(output), asked[name])
        shown = {sha256: pictures[sha256] for part in own for sha256 in part.pictures}
        found = describe_rows(shown, list(QUESTIONS.values()), model, asking, answers.get, answers.keep)
        words |= dict.fromkeys((part.fold for part in own), descriptions(shown, found, plan.unanswered))
    write_folder(output, plan, pictures, words)
    click.echo(f"{output}: {rows} rows, {len(pictures)} pictures described by {options['model']}.")
    click.echo(f"Every answer: {answers_file(output)}")


def _describe_mock(folder: Path, output: Path, temperature: float | None, options: Mapping[str, Any]) -> None:
    from humor_tasks.benchmarks.mock.describing import STILLS, pictures
    from humor_tasks.cli.build import read_descriptions
    from humor_tasks.corpora.describe import mock_pictures as making

    check_choice("--scene", options["scene"], ("stills", *STILLS))
    given = [f"--{name.removesuffix('s')}" for name in ("tasks", "folds", "splits", "revision") if options[name]]
    given += ["{fold} in --model"] if "{fold}" in (options["model"] or "") else []
    if given:
        raise BadInput(f"{', '.join(given)}: a folder of MOCK is described as a whole; see --scene.")
    if output.exists():
        raise BadInput(f"{output}: exists already; give another -o.")
    if output.is_relative_to(folder.resolve()):
        raise BadInput(f"{output}: is inside {folder}; give a path outside of it.")
    shown = pictures(folder, options["scene"])
    texts = making.texts_of(shown, read_descriptions(options["known"]) or {})
    asked = 0 if options["partly"] else len(shown) - len(texts)
    if asked and not options["model"]:
        raise BadInput(f"--model is missing: {asked} of {len(shown)} pictures have no description.")
    ask = partial(_asked, output, temperature, options)
    found = making.answered(shown, texts, ask, options["unanswered"]) if asked else texts
    by = f"{asked} by {options['model']}, {len(texts)} as given" if asked else f"{len(texts)} as given"
    rows = making.write_described(folder, output, found, f"Of {len(shown)} pictures: {by}.")
    click.echo(f"{output}: {rows} rows with a description; of {len(shown)} pictures {by}.")


def _asked(
    output: Path, temperature: float | None, options: Mapping[str, Any], pictures: Mapping[str, Picture]
) -> dict[str, str]:
    """The model's literal description of each picture; answers are saved as they arrive."""
    from humor_tasks.corpora.describe.making import Answers, answers_file
    from humor_tasks.corpora.describe.mock_pictures import QUESTION
    from humor_tasks.on_inspect.client import open_model
    from humor_tasks.on_inspect.describer import Asking, describe_rows

    model = open_model(options["model"], options["model_args"], options["model_base_url"], options["max_connections"])
    asking = Asking(options["instruction"], temperature, options["max_tokens"], options["seed"])
    answers = Answers(answers_file(output), asking.of(model))
    by_content = {picture.sha256(): picture for picture in pictures.values()}
    found = describe_rows(by_content, [QUESTION], model, asking, answers.get, answers.keep)
    return {name: found[picture.sha256()][QUESTION] for name, picture in pictures.items()}


def _temperature(text: str) -> float | None:
    try:
        return None if text == "none" else float(text)
    except ValueError:
        raise BadInput(f"--temperature is '{text}'; it must be a number or none.") from None
