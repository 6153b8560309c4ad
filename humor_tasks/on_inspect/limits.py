"""The length of a reply in Inspect, where neither the protocol nor the user gives one."""

from __future__ import annotations

from inspect_ai.model import GenerateConfig, Model, get_model_info

from humor_tasks.contract.answers import CHAT_TOKENS, HOSTED_TOKENS
from humor_tasks.on_inspect.local import LocalAPI
from humor_tasks.on_inspect.private import active_generate_config


def bounded(config: GenerateConfig, model: Model | None) -> GenerateConfig:
    """`config` of a task with the limit of this model's replies, so that the log and the signature name it.

    Inspect's own default for the provider, such as 2,048 tokens of `hf/` and for `anthropic/` one that grows with the
    effort of reasoning; else HOSTED_TOKENS, or the model's own limit where it is lower; CHAT_TOKENS where that is
    unknown. Unchanged where a limit is given, for models of this package, which have their own, and without a model,
    as of a task that is made before its model is known.
    """
    if model is None or isinstance(model.api, LocalAPI):
        return config
    settings = model.config.merge(active_generate_config()).merge(config)
    if settings.max_tokens is not None:
        return config
    limit = model.api.max_tokens_for_config(settings) or model.api.max_tokens()
    if limit is None:
        info = get_model_info(model)
        known = info.output_tokens if info else None
        limit = min(HOSTED_TOKENS, known) if known else CHAT_TOKENS
    return config.model_copy(update={"max_tokens": limit})
