"""`--model humor-reward --model_args pretrained=<folder or hub id>`: a reward model of captions in lm-eval."""

from __future__ import annotations

from typing import Any

from humor_tasks.benchmarks.caption_contest.corpus import CaptionPrompt
from humor_tasks.models.choosers.reward import RewardChooser
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM
from humor_tasks.on_lm_eval.providers.local import batch_size_of, device_of


class RewardLM(ChooserLM):
    """`precision`, `format` and `prompts` as for `reward/` in Inspect; `--device` and `--batch_size` are lm-eval's."""

    def __init__(
        self,
        pretrained: str,
        precision: str = "fp32",
        format: str | None = None,
        prompts: str | None = None,
        revision: str | None = None,
        device: str | None = None,
        batch_size: Any = 32,
        **harness: Any,
    ) -> None:
        request, size = CaptionPrompt.read(prompts), batch_size_of(batch_size) or 32
        device = device_of(device, "humor-reward")
        chooser = RewardChooser(pretrained, request, device, size, precision, format, revision)
        super().__init__(chooser, harness, ("pretrained", "precision", "format", "prompts", "revision"))
        self.weights = pretrained

    def get_model_info(self) -> dict[str, Any]:
        """Entries for lm-eval's results, in addition to the model arguments."""
        chooser: Any = self.chooser
        return {"reward": {"format": chooser.format, "texts_cut": chooser.cut, **chooser.signed}}
