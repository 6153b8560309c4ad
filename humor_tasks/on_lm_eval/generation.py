"""Generation arguments of a task's requests, and thinking that a chat template begins in the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from humor_tasks.contract.answers import CHAT_TOKENS
from humor_tasks.errors import BadInput
from humor_tasks.on_lm_eval.harness import LENGTHS, DefaultLength, Instance
from humor_tasks.rows.records import ReplyLength
from humor_tasks.scorers.given_markers import with_known_markers
from humor_tasks.scorers.markers import opening_at_end

END_TOKENS = ("</s>", "<|im_end|>")


def chat_length(length: ReplyLength, ctx: Any, chat_template: Any) -> ReplyLength:
    """The length of a chat model's reply, which may think: CHAT_TOKENS where the protocol prescribes none.

    Of a shorter context, three quarters are left to the prompt. lm-eval passes tasks their model only as the owner of
    `chat_template`. ctx: the prompt, which is no text for chat servers, whose context is unknown.
    """
    context = getattr(getattr(chat_template, "__self__", None), "max_length", None)
    most = min(CHAT_TOKENS, context // 4) if isinstance(ctx, str) and isinstance(context, int) else CHAT_TOKENS
    return length if length.prescribed else ReplyLength(max(length.tokens, most))


def arguments(given: Mapping[str, Any], stop: Sequence[str], length: ReplyLength) -> dict[str, Any]:
    """The arguments of a request; those that the user gave take precedence.

    Without a stop sequence a base model continues with another example. Some servers reject an empty list of stop
    sequences.
    """
    made = dict(given)
    if not made.get("until"):
        made["until"] = list(stop or END_TOKENS)
    return made if has_length(made) else DefaultLength(made, length)


def has_length(given: Mapping[str, Any]) -> bool:
    """Whether the user gave a length of replies."""
    return any(given.get(name) is not None for name in LENGTHS)


# ---- thinking ---------------------------------------------------------------------------------------


def begun(ctx: Any, thinking: str | None) -> str:
    """The first marker of thinking with which a chat template ends the prompt; "" where it begins none.

    thinking: markers as in `Options.thinking`.
    """
    marker: str = opening_at_end(with_known_markers(str(ctx)[-300:], thinking))
    return marker


def check_end_token(task: str, marker: str, model: Mapping[str, Any]) -> None:
    """Raise BadInput for the model argument `think_end_token` where thinking has `begun` in the prompt.

    lm-eval then hands on thinking that was cut off as it hands on an answer (lm-eval#3382).
    """
    if marker and model.get("think_end_token") is not None:
        raise BadInput(
            f"{task}: the chat template begins thinking ({marker.strip()}) in the prompt. With think_end_token, "
            "lm-eval returns cut-off thinking as if it were an answer. Leave think_end_token out of --model_args: "
            "these tasks drop thinking themselves. In the place of enable_thinking, which needs it, --model_args takes "
            '{"chat_template_args": {"enable_thinking": true}} beside the other arguments, as JSON.'
        )


def mark_thinking(instances: Sequence[Instance], thinking: str | None) -> None:
    """Put the marker of thinking that has `begun` in the prompt before its reply.

    Cut-off thinking would else look like an answer.
    """
    for instance in instances:
        if instance.request_type == "generate_until" and (marker := begun(instance.args[0], thinking)):
            instance.resps = [marker + reply if isinstance(reply, str) else reply for reply in instance.resps]
