"""A scripted Inspect model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from inspect_ai.model import ChatMessage, GenerateConfig, Model, ModelOutput, ModelUsage, get_model

from humor_tasks.testing.script import REFUSED, Flag, by_rule

Reply = str | ModelOutput | Flag | Exception
Rule = Callable[[list[ChatMessage]], Reply]


@dataclass
class ScriptedModel:
    """An Inspect model that replies by script and keeps every request; pass its `model` to `eval`.

    script: one reply for every request; a list with one reply per request; or a function of the messages. A reply is
    text, `REFUSED`, an exception to raise, or a `ModelOutput`. In tasks of this package,
    `messages[-1].metadata["id"]` is the item's id.
    usage: the usage that each reply reports. It is always set, because Inspect would otherwise download a tokenizer to
    count tokens.
    settings: the model's own generation settings.

    `asked` holds each request as (role, text) pairs, `messages` and `configs` as Inspect passed them.

        model = ScriptedModel("m", ["Answer: A", "no idea", REFUSED, RuntimeError("the server is down")])
        eval("humor_tasks/matching", task_args={"dataset": "sample"}, model=model.model, limit=4)
        assert model.asked[0][-1][0] == "user"

    Inspect's model cache distinguishes models by name only, so it can return replies of an earlier test. Switch it off
    (`cache=False` in this package's scorers with graders), or set INSPECT_CACHE_DIR to a temporary folder.
    """

    name: str
    script: Reply | Sequence[Reply] | Rule
    usage: ModelUsage = field(default_factory=ModelUsage)
    settings: GenerateConfig = field(default_factory=GenerateConfig)
    messages: list[list[ChatMessage]] = field(default_factory=list, init=False)
    configs: list[GenerateConfig] = field(default_factory=list, init=False)
    model: Model = field(init=False)

    def __post_init__(self) -> None:
        self._answer = by_rule(self.script)
        self.model = get_model(f"mockllm/{self.name}", custom_outputs=self._reply, config=self.settings, memoize=False)

    @property
    def asked(self) -> list[list[tuple[str, str]]]:
        """Each request as (role, text) pairs."""
        return [[(message.role, message.text) for message in request] for request in self.messages]

    def _reply(self, messages: list[ChatMessage], tools: Any, choice: Any, config: GenerateConfig) -> ModelOutput:
        self.messages.append(list(messages))
        self.configs.append(config)
        reply = self._answer(messages)
        if reply is REFUSED:
            output = ModelOutput.from_content(self.name, "", stop_reason="content_filter")
        else:
            output = reply if isinstance(reply, ModelOutput) else ModelOutput.from_content(self.name, reply)
        output.usage = output.usage or self.usage.model_copy()
        return output
