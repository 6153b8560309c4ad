"""Tokens of prompts before a model is asked: counted by its tokenizer where that is at hand, else estimated."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humor_tasks.errors import BadInput, one_line
from humor_tasks.rows.records import Turn

CHARACTERS = 4.1
"""Characters of a token in the packaged prompts, for the tokenizers of SmolLM2 and Gemma 3: 3.6 to 4.7 by task."""
ERROR = 0.15
"""The error of a task's estimate that follows from that range."""
PER_TURN = 4
"""Tokens by which chat templates mark a turn; the estimate adds them."""
LOCAL = {"hf": ("tokenizer_path", "model_path"), "text": (), "vllm": ("tokenizer_path", "model_path")}
"""Providers whose models have a tokenizer on this machine -> the arguments that name its folder."""


@dataclass(frozen=True)
class Counter:
    """Counts tokens of a request (prompt) and of a reply (text). source: the tokenizer; "" for an estimate."""

    source: str
    prompt: Callable[[Sequence[Turn]], int]
    text: Callable[[str], int]

    @property
    def about(self) -> str:
        """How the tokens are counted, as a phrase."""
        if self.source:
            return f"counted by the tokenizer of {self.source}"
        return f"estimated from {CHARACTERS} characters a token, within {ERROR:.0%} for English tokenizers"


def nothing() -> Counter:
    """The counter of a model that reads no tokens, such as a baseline or CLIP."""
    return Counter("-", lambda turns: 0, lambda text: 0)


def estimated() -> Counter:
    """The estimate from characters."""

    def text(written: str) -> int:
        return round(len(written) / CHARACTERS)

    return Counter("", lambda turns: sum(text(turn.text) + PER_TURN for turn in turns), text)


def counter_of(model: str, arguments: Mapping[str, Any], tokenizer: str | None = None) -> Counter:
    """The counter of an Inspect model.

    tokenizer: a folder, or a hub id, which is loaded as named; None: the model's own where it is on this machine, else
    the estimate. Raises BadInput for a named tokenizer that cannot be loaded.
    """
    provider, _, name = model.partition("/")
    if tokenizer is None and provider not in LOCAL:
        return estimated()
    place = tokenizer or next((str(arguments[n]) for n in LOCAL[provider] if arguments.get(n)), name)
    try:
        from transformers import AutoTokenizer

        loaded: Any = AutoTokenizer.from_pretrained(place, local_files_only=tokenizer is None)
    except (ImportError, OSError, ValueError) as problem:
        if tokenizer is None:  # the plan says that it is an estimate
            return estimated()
        raise BadInput(f"--tokenizer {tokenizer}: cannot be loaded ({one_line(problem)}).") from None
    return _by_tokenizer(place, loaded)


def _by_tokenizer(place: str, tokenizer: Any) -> Counter:
    def text(written: str) -> int:
        return len(tokenizer(written, add_special_tokens=False)["input_ids"])

    def prompt(turns: Sequence[Turn]) -> int:
        messages = [{"role": turn.role, "content": turn.text} for turn in turns]
        if not tokenizer.chat_template:
            return len(tokenizer("\n\n".join(message["content"] for message in messages))["input_ids"])
        try:
            shown = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except Exception:  # a template of its own rules, such as one without a system turn: any error of Jinja
            return sum(text(turn.text) + PER_TURN for turn in turns)
        return text(str(shown))

    return Counter(place, prompt, text)
