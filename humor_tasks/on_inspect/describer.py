"""Asking a model that sees for a cartoon in words: any Inspect provider, one question at a time.

`describe_rows` asks for a whole dataset, outside a run; the solver `describe_first` for a sample, inside one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import anyio
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    Model,
    ModelOutput,
)

from humor_tasks.data.media.picture import Picture
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.client import identity

AT_ONCE = 128  # questions under way; how many of them are with the provider is its own limit


@dataclass(frozen=True)
class Asking:
    """How questions about a picture are put.

    instruction: a system message before each question, such as "Answer in one sentence.", for chat models.
    temperature, max_tokens, seed: as Inspect has them; None leaves them to the model's own configuration.
    """

    instruction: str | None = None
    temperature: float | None = 0.0
    max_tokens: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        """Raises BadInput for what is of another kind, before anything is asked."""
        if not isinstance(self.instruction, str | None):
            raise BadInput(f"instruction is {self.instruction!r}; give a text.")
        heat = 0 if self.temperature is None else self.temperature
        if not _is(int | float, heat) or not 0 <= heat < math.inf:
            raise BadInput(f"temperature is {self.temperature!r}; give a number from 0 up.")
        if self.max_tokens is not None and not (_is(int, self.max_tokens) and self.max_tokens > 0):
            raise BadInput(f"max_tokens is {self.max_tokens!r}; give a whole number from 1 up.")
        if self.seed is not None and not _is(int, self.seed):
            raise BadInput(f"seed is {self.seed!r}; give a whole number.")

    def messages(self, picture: Picture, question: str) -> list[ChatMessage]:
        """One question about one picture."""
        content: list[Content] = [ContentImage(image=picture.data_uri()), ContentText(text=question)]
        system: list[ChatMessage] = [ChatMessageSystem(content=self.instruction)] if self.instruction else []
        return [*system, ChatMessageUser(content=content)]

    def config(self, own: GenerateConfig) -> GenerateConfig:
        """The generation settings for a model whose own settings are `own`, which go first."""
        asked: dict[str, Any] = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        return GenerateConfig(**{name: value for name, value in asked.items() if getattr(own, name) is None})

    def of(self, model: Model) -> dict[str, Any]:
        """All that an answer depends on besides picture and question, as JSON: the model, and how it is asked."""
        own = model.config.model_dump(exclude_none=True, exclude={"max_connections", "max_retries", "timeout"})
        return {"model": str(model), **identity(model), **asdict(self), **own}


def _is(kind: Any, value: object) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


async def ask(model: Model, picture: Picture, question: str, how: Asking, cache: bool = False) -> str:
    """The model's answer; empty where it gave none, or the provider held it back."""
    policy: Any = False
    if cache:
        # Inspect's cache goes by a model's name: of a local checkpoint that is not enough.
        scopes = {"describer": json.dumps(identity(model), sort_keys=True)}
        policy = CachePolicy(expiry=None, per_epoch=False, scopes=scopes)
    output = await model.generate(how.messages(picture, question), config=how.config(model.config), cache=policy)
    return answer_in(output)


def answer_in(output: ModelOutput) -> str:
    """The text of an output, without what a provider that holds an answer back says in its place."""
    if not output.choices or output.stop_reason == "content_filter":
        return ""
    # A server that cuts an answer within a character leaves half of one, which no file can hold.
    whole = output.completion.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.strip()


def _line(problem: Exception) -> str:
    """What a provider raised, in one line."""
    return f"{type(problem).__name__}: {' '.join(str(problem).split())}"


Kept = Callable[[str, str, str], None]


def describe_rows(
    pictures: Mapping[str, Picture],
    questions: Sequence[str],
    model: Model,
    how: Asking = Asking(),
    known: Callable[[str, str], str | None] = lambda picture, question: None,
    keep: Kept = lambda picture, question, answer: None,
) -> dict[str, dict[str, str]]:
    """{picture: {question: answer}}, each question asked once a picture. Nothing here is of any one dataset.

    `known` says what was answered before, `keep` is told each answer as it comes. After a request that fails for
    good no other is begun; those under way are waited for and kept. Raises BadInput then. An answer may be empty.
    """
    answers: dict[str, dict[str, str]] = {picture: {} for picture in pictures}
    todo = []
    for picture in pictures:
        for question in questions:
            answer = known(picture, question)
            if answer is None:
                todo.append((picture, question))
            else:
                answers[picture][question] = answer
    failed: list[str] = []

    async def one(picture: str, question: str, finished: Callable[[], None]) -> None:
        try:
            answer = await ask(model, pictures[picture], question, how)
            keep(picture, question, answer)
            answers[picture][question] = answer
        except Exception as problem:  # whatever a provider raises once its retries are spent
            failed.append(f"'{question}' about {pictures[picture].where}: {_line(problem)}")
        finally:
            finished()

    async def every() -> None:
        from tqdm import tqdm

        limit = anyio.Semaphore(AT_ONCE)
        total = len(pictures) * len(questions)
        # disable=None: no bar where stderr is not a terminal
        with tqdm(total=total, initial=total - len(todo), desc=str(model), unit=" answers", disable=None) as bar:

            def finished() -> None:
                limit.release()
                bar.update()

            async with anyio.create_task_group() as group:
                for picture, question in todo:
                    await limit.acquire()
                    if failed:
                        break
                    group.start_soon(one, picture, question, finished)

    anyio.run(every)
    if failed:
        kept, why = sum(map(len, answers.values())), failed[0].rstrip(".")
        raise BadInput(f"{model}: {why}. {kept} answers are kept; the same command asks for the rest.")
    return answers
