"""Prompt -> lm-eval's chat messages, or plain text for models without a chat template."""

from __future__ import annotations

from collections.abc import Sequence

from humor_tasks.benchmark import Prompt, Turn

# lm-eval's multimodal models put the pictures of a request, in order, where this stands.
PLACEHOLDER = "<image>"


def messages(prompt: Prompt, system: str | None = None, merge: bool = False) -> list[dict[str, str]]:
    """Role and text of every turn.

    `system` (the harness's `--system_instruction`) goes before the prompt's own system turn;
    `merge` puts everything but the system turn into one user turn.
    """
    turns = [{"role": turn.role, "content": _text(turn)} for turn in prompt.turns]
    if system:
        own = turns.pop(0)["content"] if turns[0]["role"] == "system" else ""
        turns.insert(0, {"role": "system", "content": "\n\n".join(part for part in (system, own) if part)})
    if merge:
        first = [turn for turn in turns if turn["role"] == "system"]
        rest = "\n\n".join(turn["content"] for turn in turns if turn["role"] != "system")
        turns = [*first, {"role": "user", "content": rest}]
    return turns


def _text(turn: Turn) -> str:
    if turn.picture is None:
        return turn.text
    # A caption must not add a place for a picture that is not there.
    return f"{PLACEHOLDER}\n{turn.text.replace(PLACEHOLDER, '< image >')}"


def render(turns: Sequence[dict[str, str]], prefix: str = "") -> str:
    """Plain text: the turns a blank line apart, then what the answer starts with."""
    return "\n\n".join(turn["content"] for turn in turns) + "\n\n" + prefix
