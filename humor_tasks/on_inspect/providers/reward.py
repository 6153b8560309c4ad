"""`--model reward/<folder or hub id>`: a reward model of captions as an Inspect provider."""

from __future__ import annotations

from humor_tasks.benchmarks.caption_contest.corpus import CaptionPrompt
from humor_tasks.models.choosers.reward import RewardChooser
from humor_tasks.on_inspect.providers.chooser import ChooserAPI


class RewardAPI(ChooserAPI):
    """`-M` arguments: `device`, `batch_size`, `precision` (fp32, fp16, bf16), `format`, `prompts`, `revision`.

    `format=standard|conversational` and `prompts=FOLDER` are those of `humor-tasks export-preferences`.
    """

    def make(
        self,
        model_name: str,
        device: str | None = None,
        batch_size: int = 32,
        precision: str = "fp32",
        format: str | None = None,
        prompts: str | None = None,
        revision: str | None = None,
    ) -> RewardChooser:
        """The model of this name, from the hub or a folder."""
        request = CaptionPrompt.read(prompts)
        return RewardChooser(model_name, request, device, batch_size, precision, format, revision)
