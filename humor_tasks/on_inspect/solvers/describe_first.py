"""`--solver humor_tasks/describe_first`: a task with setting=pixels, answered from descriptions of its pictures.

The model of the role `describer` (`--model-role describer=MODEL`) answers the four questions about each picture. The
model under test then sees the from-description prompt instead of the pictures. The prompts are those of an evaluation
of a folder written by `humor-tasks describe`, but everything is in one run and one log.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from inspect_ai.model import ChatMessage, Model, model_roles
from inspect_ai.solver import Generate, Solver, TaskState
from inspect_ai.util import collect

from humor_tasks.benchmarks.caption_contest.rows import entity_name, link_of, scene_context
from humor_tasks.contract.prompts import fill, folder_of, read_templates
from humor_tasks.errors import BadInput
from humor_tasks.logs.record import task_metadata
from humor_tasks.logs.signature import digest
from humor_tasks.on_inspect.checks import check_sample
from humor_tasks.on_inspect.describer import DescriberSettings, ask
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.messages import images_in, picture_of
from humor_tasks.on_inspect.outcomes import sign
from humor_tasks.on_inspect.tool_calls import answer
from humor_tasks.rows.descriptions import QUESTIONS, Description, Said, unusable
from humor_tasks.rows.media.picture import Picture

ROLE = "describer"
PIXELS, WORDS = "scene.pixels.txt", "scene.description.txt"


def describe_first_solver(
    instruction: str | None = None,
    prompts: str | None = None,
    temperature: float | None = 0.0,
    max_tokens: int | None = None,
    seed: int | None = None,
    cache: bool = True,
) -> Solver:
    """See `humor_tasks.on_inspect.solver_parts.describe_first`."""
    try:
        how = DescriberSettings(instruction, temperature, max_tokens, seed)
        scenes = read_templates("nycc", [PIXELS, WORDS], folder_of(prompts))  # prompt sets share them
    except BadInput as problem:
        cannot_run(f"describe_first: {problem}")
    known: dict[tuple[str, str], dict[str, Said]] = {}
    locks: dict[tuple[str, str], anyio.Lock] = {}

    async def answers(model: Model, picture: Picture, where: str, thinking: str | None) -> dict[str, str]:
        """The describer's answers; concurrent samples with the same picture share one request per question."""
        key = (str(model), picture.identity())
        async with locks.setdefault(key, anyio.Lock()):
            if key not in known:
                asked = (ask(model, picture, question, how, cache, thinking) for question in QUESTIONS.values())
                replies = await collect(*asked)
                known[key] = dict(zip(QUESTIONS, replies, strict=True))
        answered = [(known[key][name], question) for name, question in QUESTIONS.items()]
        if lacking := unusable((said, f"'{question}'") for said, question in answered if said.lacks(question)):
            raise BadInput(f"{where}: {model} gives no description: {lacking}. A later run asks again.")
        return {name: said.description for name, said in known[key].items()}

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = describer()
        check_sample(model, state)
        logged = task_metadata(state.metadata)
        described = []
        for i, message in enumerate(state.messages):
            for image in images_in(message):
                picture = picture_of(image, state.sample_id)
                thinking = logged.options.get("thinking")
                replies = await answers(model, picture, f"sample {state.sample_id}", thinking)
                described.append({"picture": picture.sha256(), "describer": str(model), **replies})
                state.messages[i] = in_words(message, Description.of(replies, f"sample {state.sample_id}"), scenes)
        if not described:
            cannot_run(
                f"describe_first: sample {state.sample_id} has no picture to describe. It is for tasks with -T "
                "setting=pixels, such as humor_tasks/matching."
            )
        state.metadata["described"] = described
        asked = digest([how.of(model), QUESTIONS, scenes[WORDS]])
        sign(state, logged, {"setting": "described", "describer": f"{model}-{asked}"})
        return await answer(state, generate)

    return solve


def describer() -> Model:
    """The model bound to the role `describer`."""
    bound = model_roles().get(ROLE)
    models = bound if isinstance(bound, list) else [bound] if bound else []
    if len(models) != 1:
        what = f"there are {len(models)}" if models else "there is none"
        cannot_run(f"describe_first: give one model with --model-role {ROLE}=MODEL; {what}.")
    return models[0]


def in_words(message: ChatMessage, description: Description, scenes: Mapping[str, str]) -> ChatMessage:
    """A user message with the picture replaced by its description, as in the from-description setting."""
    if len(images_in(message)) > 1:
        raise BadInput("describe_first: a message has several pictures; only one per message is supported.")
    text, placeholder = message.text, scenes[PIXELS]
    if text.count(placeholder) != 1:
        cannot_run(
            f"describe_first: the description replaces the text of {PIXELS}, which must be in the prompt exactly once. "
            "If the task has -T prompts=FOLDER, give -S prompts=FOLDER too."
        )
    scene = scene_of(description)
    known: dict[str, Any] | None = message.metadata
    if known:
        fields = {**known.get("fields", {}), **scene}
        known = {**known, "context": scene_context(scene), "fields": fields}
    words = text.replace(placeholder, fill(scenes[WORDS], scene, WORDS))
    return message.model_copy(update={"content": words, "metadata": known})


def scene_of(description: Description) -> dict[str, str]:
    """The fields of the scene's template, as for the rows of a described dataset."""
    names = ", ".join(entity_name(link_of(name)) for name in description.entities)
    lines = {name: getattr(description, name) for name in ("location", "description", "uncanny")}
    return {**lines, "entities": names}
