"""The prompt that asks for one caption: of exported preferences, and of reward models that score captions under it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from humor_tasks.benchmarks.prompts import check_shows, fill, read_templates, split_turns
from humor_tasks.data.records import plain_text

WITH_SCENE, WITHOUT = "write.txt", "write.caption_only.txt"
PREFIX = "Caption:"


@dataclass(frozen=True)
class CaptionPrompt:
    """A request for a caption. `context` is a record's scene as one text; with "" the prompt has no scene."""

    templates: Mapping[str, str]

    @classmethod
    def read(cls, prompts: str | None = None) -> CaptionPrompt:
        """The packaged templates; files of the same names in the folder `prompts` replace them."""
        templates = read_templates("writing", [WITH_SCENE, WITHOUT], prompts)
        check_shows(templates[WITH_SCENE], WITH_SCENE, ("scene",), who="cartoon would not be shown")
        for name, text in templates.items():
            split_turns(text, name)
        return cls(templates)

    def messages(self, context: str) -> list[dict[str, str]]:
        """The conversational prompt: role and content of each turn."""
        name = WITH_SCENE if context.strip() else WITHOUT
        fields = {"scene": context} if name == WITH_SCENE else {}
        return [
            {"role": role, "content": fill(text, fields, name)}
            for role, text in split_turns(self.templates[name], name)
        ]

    def text(self, context: str) -> str:
        """The standard prompt: the turns' texts with blank lines between them, then "Caption:"."""
        return plain_text((turn["content"] for turn in self.messages(context)), PREFIX)
