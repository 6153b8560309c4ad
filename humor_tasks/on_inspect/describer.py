"""Descriptions of pictures by a vision model of any Inspect provider, one question at a time.

This module is used for whole datasets outside an evaluation, and by the solver `describe_first` for single samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import anyio
from inspect_ai.model import (
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
)

from humor_tasks.contract.options import Declared, parameter
from humor_tasks.errors import BadInput
from humor_tasks.files.secrets import without_secrets
from humor_tasks.logs.record import CUT_OFF, model_wrote
from humor_tasks.on_inspect.client import identity, policy, replayed
from humor_tasks.on_inspect.handles import in_process
from humor_tasks.on_inspect.judging.refusals import refusal
from humor_tasks.on_inspect.messages import in_thread, picture_content
from humor_tasks.on_inspect.tool_calls import tool_called
from humor_tasks.rows.descriptions import Said
from humor_tasks.rows.media.picture import Picture
from humor_tasks.scorers.given_markers import with_known_markers
from humor_tasks.scorers.own_turn import own_turn, unwrapped

OPERATIONAL = ("max_connections", "adaptive_connections", "max_retries", "timeout")  # no answer depends on them
AT_ONCE = 128  # concurrent questions; the provider's own limit on connections also applies


@dataclass(frozen=True)
class DescriberSettings(Declared):
    """Settings for questions about a picture. Raises BadInput for invalid values, before any request.

    instruction: a system message before each question, such as "Answer in one sentence.", for chat models.
    temperature, max_tokens, seed: as in Inspect; None leaves them to the model's configuration.
    """

    instruction: str | None = parameter(None, "System message before each question, for chat models.")
    temperature: float | None = parameter(0.0, "Temperature of the model; `none`: the provider's default.", least=0)
    max_tokens: int | None = parameter(None, "Maximum length of an answer. Default: the model's.", least=1)
    seed: int | None = parameter(None, "Seed of the model.")

    def messages(self, picture: Picture, question: str, by_handle: bool = False) -> list[ChatMessage]:
        """The messages of one question about one picture. by_handle: for a model in this process."""
        content: list[Content] = [picture_content(picture, by_handle), ContentText(text=question)]
        system: list[ChatMessage] = [ChatMessageSystem(content=self.instruction)] if self.instruction else []
        return [*system, ChatMessageUser(content=content)]

    def config(self, settings: GenerateConfig) -> GenerateConfig:
        """The generation settings for a model; `settings`, which the model itself has, take precedence."""
        asked: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        return GenerateConfig(**{name: value for name, value in asked.items() if getattr(settings, name) is None})

    def of(self, model: Model) -> dict[str, Any]:
        """Everything that an answer depends on besides picture and question, for JSON: the model and the settings."""
        settings = without_secrets(model.config.model_dump(exclude_none=True, exclude=set(OPERATIONAL)), headers=False)
        return {"model": str(model), **identity(model), **asdict(self), **settings}


async def ask(
    model: Model,
    picture: Picture,
    question: str,
    how: DescriberSettings,
    cache: bool = False,
    thinking: str | None = None,
) -> Said:
    """The model's answer. One from the cache that cannot be used is asked for again.

    thinking: given markers, as in `Options.thinking`.
    """
    messages = await in_thread(how.messages, picture, question, in_process(model))
    turn = 0
    while True:
        scopes = {"round": str(turn)} if turn else {}
        cache_policy: Any = policy(model, **scopes) if cache else False
        output = await model.generate(messages, config=how.config(model.config), cache=cache_policy)
        said = said_in(output, thinking)
        if not (said.lacks(question) and cache and replayed(output)):
            return said
        turn += 1


def said_in(output: ModelOutput, thinking: str | None = None) -> Said:
    """The answer in an output: the model's own turn, without thinking."""
    # A server that truncates an answer inside a character leaves a lone surrogate, which cannot be written to a file.
    whole = output.completion.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    visible = own_turn(with_known_markers(whole, thinking), explains=True).text
    text = unwrapped(visible or "").strip()
    if model_wrote(output)[1]:
        return Said(text, "refused")
    if tool_called(output):
        return Said(text, "a call of a tool")
    if output.choices and output.stop_reason in CUT_OFF:
        return Said(text, "cut off")
    return Said("", "only thinking") if visible is None or (whole.strip() and not text) else Said.of(text)


def _line(problem: Exception) -> str:
    """An exception in one line, with the remedy where the provider refuses a setting by name."""
    why = refusal(problem)
    remedy = f"; --{why.setting} none leaves it to the provider" if why.setting == "temperature" else ""
    return f"{why}{remedy}"


Kept = Callable[[str, str, Said], None]


def describe_rows(
    pictures: Mapping[str, Picture],
    questions: Sequence[str],
    model: Model,
    how: DescriberSettings = DescriberSettings(),
    known: Callable[[str, str], Said | None] = lambda picture, question: None,
    keep: Kept = lambda picture, question, answer: None,
) -> dict[str, dict[str, Said]]:
    """{picture: {question: answer}}, with one request per picture and question.

    known: returns an earlier answer by the picture's identity (`Facts.identity`) and the question, or None.
    keep: called with each new answer, by the same.
    After a request fails permanently, no other is started; answers to pending requests are kept. Then raises BadInput
    for the first request that failed, in the order of the rows.
    """
    answers: dict[str, dict[str, Said]] = {picture: {} for picture in pictures}
    todo = []
    for picture in pictures:
        for question in questions:
            answer = known(pictures[picture].identity(), question)
            if answer is None:
                todo.append((picture, question))
            else:
                answers[picture][question] = answer
    failed: dict[int, str] = {}

    async def one(place: int, picture: str, question: str, finished: Callable[[], None]) -> None:
        try:
            answer = await ask(model, pictures[picture], question, how)
            keep(pictures[picture].identity(), question, answer)
            answers[picture][question] = answer
        except Exception as problem:  # any error of the provider after its retries
            failed[place] = f"'{question}' about {pictures[picture].where}: {_line(problem)}"
        finally:
            finished()

    async def every() -> None:
        from tqdm import tqdm

        limit = anyio.Semaphore(AT_ONCE)
        total = len(pictures) * len(questions)
        # disable=None: no progress bar where stderr is not a terminal
        with tqdm(total=total, initial=total - len(todo), desc=str(model), unit=" answers", disable=None) as bar:

            def finished() -> None:
                limit.release()
                bar.update()

            async with anyio.create_task_group() as group:
                for place, (picture, question) in enumerate(todo):
                    await limit.acquire()
                    if failed:
                        break
                    group.start_soon(one, place, picture, question, finished)

    anyio.run(every)
    if failed:
        count, why = sum(map(len, answers.values())), failed[min(failed)].rstrip(".")
        raise BadInput(f"{model}: {why}. {count} answers are kept; run the same command again to continue.")
    return answers
