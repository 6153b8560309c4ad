"""Prompt -> lm-eval's chat messages, or plain text for models without a chat template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from humor_tasks.data.records import Prompt, Turn
from humor_tasks.errors import BadInput

# lm-eval's multimodal models put the pictures of a request, in order, where this stands.
PLACEHOLDER = "<image>"


def messages(prompt: Prompt, system: str | None = None, merge: bool = False) -> list[dict[str, str]]:
    """Role and text of every turn.

    `system` (the harness's `--system_instruction`) goes before the prompt's own system turn;
    `merge` puts everything but the system turn into one user turn.
    """
    shown = bool(prompt.pictures)
    turns = [{"role": turn.role, "content": _text(turn) if shown else turn.text} for turn in prompt.turns]
    if system:
        own = turns.pop(0)["content"] if turns[0]["role"] == "system" else ""
        turns.insert(0, {"role": "system", "content": "\n\n".join(part for part in (system, own) if part)})
    if merge:
        first = [turn for turn in turns if turn["role"] == "system"]
        rest = "\n\n".join(turn["content"] for turn in turns if turn["role"] != "system")
        turns = [*first, {"role": "user", "content": rest}]
    return turns


def _text(turn: Turn) -> str:
    # A caption, or a worked example's answer, must not add a place for a picture that is not there.
    text = turn.text.replace(PLACEHOLDER, "< image >")
    return text if turn.picture is None else f"{PLACEHOLDER}\n{text}"


def render(turns: Sequence[dict[str, str]], prefix: str = "") -> str:
    """Plain text: the turns a blank line apart, then what the answer starts with."""
    return "\n\n".join(turn["content"] for turn in turns) + "\n\n" + prefix


def check_sent(task: str, pictures: int, given: Mapping[str, Any]) -> None:
    """BadInput where lm-eval's model behind a server would send fewer; `given` holds its arguments.

    It sends the first ones, together with the question: of worked examples' pictures and the item's, not the item's.
    """
    most = int(given.get("max_images", 1))
    if "base_url" in given and pictures > most:
        raise BadInput(
            f"{task}: its prompts show {pictures} pictures, and lm-eval sends the first {most} of them, not the one "
            f"that is asked about: --model_args ...,max_images={pictures}."
        )
