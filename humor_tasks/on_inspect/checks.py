"""Checks before a model is asked: whether it accepts the media, was trained on the rows, and may use the cache.

Inspect has no list of the input modalities of models. Some of its providers reject media or video only when a request
is made, or silently drop them. This module lists these providers, so that a run fails at its start with a remedy. For
other providers the server decides for each model, and its error becomes the sample's error.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from inspect_ai.model import CachePolicy, ChatMessage, GenerateConfig, Model, ModelName, get_model
from inspect_ai.solver import Generate, Solver, TaskState, solver

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.options import Parameter
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.client import local_files
from humor_tasks.on_inspect.errors import cannot_run
from humor_tasks.on_inspect.local import LocalAPI
from humor_tasks.on_inspect.private import active_generate_config
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.media.video_file import check_installed
from humor_tasks.rows.trained_on import CHECKPOINT, check_unseen

NO_MEDIA = frozenset({"hf", "nnterp", "openai-api-completions", "text", "transformer_lens", "vllm-completions"})
NO_VIDEO = NO_MEDIA | {"anthropic", "azureai", "bedrock", "grok", "groq", "mistral", "sagemaker", "vllm"}


def check_as_typed(parameters: Mapping[str, Parameter], given: Mapping[str, Any], typed: Sequence[str]) -> None:
    """Raise BadInput for a text that Inspect reads as another number: YAML takes 0610 for an octal one, 1:30 for 90.

    typed: the words of the command line, which has the text.
    """
    for name, value in given.items():
        known = parameters.get(name)
        if known is None or known.base is not str or type(value) not in (int, float):
            continue
        words = (word.removeprefix("-T").partition("=") for word in typed)
        texts = [text for word, _, text in words if word.replace("-", "_") == name]
        if texts and not any(_reads(text, value) for text in texts):
            raise BadInput(
                f"{name}={texts[-1]}: YAML reads this as the number {value}; quote it: -T '{name}=\"{texts[-1]}\"'."
            )


def _reads(text: str, value: float) -> bool:
    """Whether a text is this number in decimal digits."""
    try:
        return float(text) == value
    except ValueError:
        return False


def check_takes(model: Model | None, media: Iterable[Picture | Clip | None]) -> None:
    """Raise CannotRun, with a remedy, where the provider does not accept the media or the video package is missing."""
    present = [one for one in media if one is not None]
    _check(model, {"video" if isinstance(one, Clip) and not one.frames else "image" for one in present})
    try:
        if any(isinstance(one, Clip) for one in present):
            check_installed()
    except BadInput as problem:
        cannot_run(f"{problem} Or use input=description, which shows no clips.")


def check_takes_these(model: Model, messages: Iterable[ChatMessage]) -> None:
    """The same check for the media in messages."""
    contents = [message.content for message in messages if not isinstance(message.content, str)]
    parts: set[str] = {part.type for content in contents for part in content}
    _check(model, parts & {"image", "video"})


def _check(model: Model | None, kinds: set[str]) -> None:
    if model is None or not kinds:
        return
    provider = ModelName(model).api
    if provider in NO_MEDIA:
        cannot_run(
            f"{model}: the provider '{provider}' accepts only text. Use input=description (for the caption "
            "contest, setting=description)."
        )
    if "video" in kinds and (provider in NO_VIDEO or _by_chat_completions(model)):
        cannot_run(
            f"{model}: the provider '{provider}' does not accept video. Use input=frames, which shows pictures, "
            "or input=description, which shows only text."
        )


def _by_chat_completions(model: Model) -> bool:
    """Whether the provider uses OpenAI's Chat Completions API, which has no video input; two dozen providers do."""
    responses = getattr(model.api, "uses_responses_api", None)
    return responses is not None and not responses([], model.config)


HOSTED = "ft:"  # begins the names of models that were fine-tuned at their provider


def check_model(model: Model | None, split: str, units: Collection[str]) -> None:
    """Raise BadInput where the model was trained on these units; see `rows.trained_on.check_unseen`.

    The models of other providers are checked too, where their name or an argument is a folder.
    """
    if model is None:
        return
    places: list[str | Path] = [*local_files(model.name, model.model_args)]
    if isinstance(model.api, LocalAPI):
        tells = model.api.trained
    else:
        tells = model.name.startswith(HOSTED) or any((Path(place) / CHECKPOINT).is_file() for place in places)
    check_unseen(str(model), places, split, units, tells)


def check_sample(model: Model, state: TaskState) -> None:
    """Apply `check_model` to a sample of this package. Raises CannotRun."""
    entry = state.metadata.get("humor_tasks", {})
    if "split" in entry:
        try:
            check_model(
                model, entry["split"], [find_benchmark(entry["benchmark"]).unit(str(state.metadata["cluster"]))]
            )
        except BadInput as problem:
            cannot_run(str(problem))


def check_cache(name: str, arguments: Mapping[str, Any], config: GenerateConfig) -> None:
    """Raise CannotRun where `--cache` could replay the answers of a model with other arguments or weights."""
    if not config.cache or (isinstance(config.cache, CachePolicy) and "model" in config.cache.scopes):
        return  # no cache, or the policy of `policy`
    given = ", ".join(f"-M {argument}" for argument in sorted(arguments))
    why = f"it does not distinguish {given}" if given else "it does not notice when files on this machine change"
    if given or local_files(name, arguments):
        cannot_run(
            f"--cache: leave it out for model {name}. Inspect's cache knows a model by its name: {why}, and would give "
            "one model's answers to another. `inspect eval-retry` resumes an interrupted run."
        )


@solver
def check_reuse(asked: str) -> Solver:
    """A setup step that applies `check_cache` and `check_sample` to the model under test, before anything is asked.

    asked: the signature of the run's questions. `inspect eval-set` compares it with that of the logs in its folder.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = get_model()
        check_cache(str(model), model.model_args, model.config.merge(active_generate_config()))
        check_sample(model, state)
        return state

    return solve
