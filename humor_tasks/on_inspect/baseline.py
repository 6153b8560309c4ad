"""`--model baseline/overlap`: the shortcut baselines as an Inspect provider."""

from __future__ import annotations

from typing import Any

from inspect_ai._util.error import PrerequisiteError
from inspect_ai.model import GenerateConfig

from humor_tasks.errors import BadInput
from humor_tasks.models.baseline import Baseline
from humor_tasks.on_inspect.chooser import ChooserAPI


class BaselineAPI(ChooserAPI):
    """`-M seed=N` seeds the random strategy."""

    def __init__(
        self,
        model_name: str,
        base_url: str | None = None,
        api_key: str | None = None,
        config: GenerateConfig = GenerateConfig(),
        seed: int = 0,
        **model_args: Any,
    ) -> None:
        super().__init__(model_name, base_url, api_key, [], config)
        try:
            self.chooser = Baseline(model_name, seed)
        except BadInput as problem:
            raise PrerequisiteError(f"model baseline/{model_name}: {problem}") from None
