"""`humor-tasks describe`: a model's descriptions in the place of the annotators'."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humor_tasks.cli.options import MODEL_ARGS, MODEL_BASE_URL, PATH, REVISION, Declares, output, together
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.reading import is_visible

if TYPE_CHECKING:
    from humor_tasks.on_inspect.describer import DescriberSettings
    from humor_tasks.rows.descriptions import Said
    from humor_tasks.rows.media.picture import Picture


@click.command(cls=Declares, settings="humor_tasks.on_inspect.describer:DescriberSettings", after="model_base_url")
@click.option(
    "--model",
    metavar="MODEL",
    help="Inspect model with image input, such as ofa/FOLDER or openai/gpt-4o; {fold} in it is replaced by each fold.",
)
@click.option("--dataset", help="Hub id, dataset folder (also MOCK's) or 'sample'. Default: the public corpus.")
@REVISION
@click.option("--task", "tasks", multiple=True, help="matching, ranking or explanation; repeatable. Default: all.")
@click.option("--fold", "folds", multiple=True, help="0..4; repeatable. Default: all in the dataset.")
@click.option("--split", "splits", multiple=True, help="train, validation or test; repeatable. Default: all.")
@together(MODEL_ARGS, MODEL_BASE_URL)
@click.option("--max-connections", type=click.IntRange(1), help="Concurrent requests; for ofa, pictures per batch.")
@click.option("--unanswered", help="Replacement for empty, refused and cut-off answers, which else are an error.")
@click.option("--scene", default="stills", help="MOCK: cartoon, post or stills (both).")
@click.option("--known", type=PATH, help="MOCK: JSON {media_id: description}; not asked for.")
@click.option("--partly", is_flag=True, help="MOCK: ask no model; the other pictures stay without a description.")
@click.option("--size", type=click.IntRange(1), help="MOCK: ask for so many pictures, sampled; others stay without.")
@click.option("--sample-seed", default=1234, show_default=True, help="MOCK: seed of the sample of --size.")
@output("a dataset folder", required=True)
def describe(output: Path, dataset: str | None, revision: str | None, given: dict[str, Any], **options: Any) -> None:
    """Describe every cartoon of a dataset, and write a dataset for from-description tasks.

    Each distinct picture is described once; with --model ofa/RUN/fold-{fold}/model once by each fold's own model.
    Answers are saved as they arrive, in OUTPUT.answers.jsonl; a second run of an interrupted command asks only the
    remaining questions, and again those whose answer is empty, refused, cut off or thinking alone. In a folder of MOCK,
    pictures that have a description keep it, and the model describes the others, or a sample of them (--size).
    """
    from humor_tasks.benchmarks.caption_contest.corpus import HUB
    from humor_tasks.benchmarks.caption_contest.rows import distinct, read_parts
    from humor_tasks.benchmarks.mock.describing import is_mock
    from humor_tasks.lab.corpora.describe import (
        Answers,
        Plan,
        answers_file,
        by_model,
        descriptions,
        is_made,
        write_folder,
    )
    from humor_tasks.on_inspect.checks import check_model
    from humor_tasks.on_inspect.client import open_model
    from humor_tasks.on_inspect.describer import DescriberSettings, describe_rows
    from humor_tasks.rows.descriptions import QUESTIONS, Description

    output = output.resolve()  # resolves symbolic links
    if mark := next((mark for mark in ("[", "::") if mark in str(output)), None):
        raise BadInput(f"{output}: `datasets` cannot read a folder with {mark} in its path; give another -o.")
    asking = DescriberSettings(**given)
    if options["unanswered"] is not None and not is_visible(options["unanswered"]):
        raise BadInput("--unanswered is empty; give the replacement for answers that cannot be used.")
    if dataset and is_mock(folder := Path(os.path.expanduser(dataset))):
        _describe_mock(folder, output, asking, {"revision": revision, **options})
        return
    if options["scene"] != "stills" or options["known"] or options["partly"] or options["size"]:
        raise BadInput("--scene, --known, --partly and --size are for a folder of MOCK (--dataset).")
    if not options["model"]:
        raise BadInput("--model is missing.")
    parts = read_parts(dataset or HUB, revision, options["tasks"], options["folds"], options["splits"])
    described = by_model(options["model"], parts)
    how = (options["model_args"], options["model_base_url"], options["max_connections"])
    models = {name: open_model(name, *how) for name in described}
    for name, of_model in described.items():
        for part in of_model:
            check_model(models[name], part.split, part.units)
    questions = {name: asking.of(model) for name, model in models.items()}
    describer = next(iter(questions.values()))
    if len(questions) > 1:
        describer = {"model": options["model"], "models": questions}
    plan = Plan(dataset or HUB, revision, parts, describer, options["unanswered"])
    rows = sum(len(part.rows.rows) for part in parts)
    if is_made(output, plan):
        click.echo(f"{output}: is already complete: {rows} rows.")
        return
    pictures = distinct(parts)
    words: dict[str, dict[str, Description]] = {}
    replaced: list[str] = []
    for name, of_model in described.items():
        model = models.pop(name)
        answers = Answers(answers_file(output), questions[name], again=not plan.unanswered)
        shared = {sha256: pictures[sha256] for part in of_model for sha256 in part.pictures}
        replies = describe_rows(shared, list(QUESTIONS.values()), model, asking, answers.get, answers.keep)
        by_picture, told = descriptions(shared, replies, plan.unanswered)
        words |= dict.fromkeys((part.fold for part in of_model), by_picture)
        replaced += [told] if told else []
    write_folder(output, plan, pictures, words)
    click.echo(f"{output}: {rows} rows, {len(pictures)} pictures described by {options['model']}.")
    for told in replaced:
        click.echo(f"Replaced by --unanswered: {told}.")
    click.echo(f"Every answer: {answers_file(output)}")


def _describe_mock(folder: Path, output: Path, asking: DescriberSettings, options: Mapping[str, Any]) -> None:
    from humor_tasks.benchmarks.mock.describing import STILLS, pictures
    from humor_tasks.cli.build import read_descriptions
    from humor_tasks.lab.corpora import describe as making

    check_choice("--scene", options["scene"], ("stills", *STILLS))
    refused = [f"--{name.removesuffix('s')}" for name in ("tasks", "folds", "splits", "revision") if options[name]]
    refused += ["{fold} in --model"] if "{fold}" in (options["model"] or "") else []
    if refused:
        raise BadInput(f"{', '.join(refused)}: a folder of MOCK is described as a whole; see --scene and --size.")
    if options["size"] and options["partly"]:
        raise BadInput("--partly asks no model, and --size is how many pictures one is asked for; give one of them.")
    if output.exists():
        raise BadInput(f"{output}: exists already; give another -o.")
    if output.is_relative_to(folder.resolve()):
        raise BadInput(f"{output}: is inside {folder}; give a path outside of it.")
    stills = pictures(folder, options["scene"])
    texts = making.texts_of(stills, read_descriptions(options["known"]) or {})
    known = len(texts)
    asked = [] if options["partly"] else making.to_ask(stills, texts, options["size"], options["sample_seed"])
    if asked and not options["model"]:
        raise BadInput(f"--model is missing: {len(stills) - known} of {len(stills)} pictures have no description.")
    if asked:
        ask = partial(_replies, output, asking, options)
        texts, replaced = making.answered({name: stills[name] for name in asked}, texts, ask, options["unanswered"])
        if replaced:
            click.echo(f"Replaced by --unanswered: {replaced}.")
    by = f"{len(asked)} by {options['model']}, {known} as given" if asked else f"{known} as given"
    by += f", {left} without" if options["size"] and (left := len(stills) - len(texts)) else ""
    rows = making.write_described(folder, output, texts, f"Of {len(stills)} pictures: {by}.")
    click.echo(f"{output}: {rows} rows with a description; of {len(stills)} pictures {by}.")


def _replies(
    output: Path, asking: DescriberSettings, options: Mapping[str, Any], pictures: Mapping[str, Picture]
) -> dict[str, Said]:
    """The model's literal description of each picture; answers are saved as they arrive."""
    from humor_tasks.lab.corpora.describe import QUESTION, Answers, answers_file
    from humor_tasks.on_inspect.client import open_model
    from humor_tasks.on_inspect.describer import describe_rows

    model = open_model(options["model"], options["model_args"], options["model_base_url"], options["max_connections"])
    answers = Answers(answers_file(output), asking.of(model), again=not options["unanswered"])
    by_content = {picture.sha256(): picture for picture in pictures.values()}
    replies = describe_rows(by_content, [QUESTION], model, asking, answers.get, answers.keep)
    return {name: replies[picture.sha256()][QUESTION] for name, picture in pictures.items()}
