"""`--model humor-quality --model_args pretrained=<folder>`: the text-only quality model of captions in lm-eval."""

from __future__ import annotations

from typing import Any

from humor_tasks.models.quality.model import QualityChooser
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM
from humor_tasks.on_lm_eval.providers.local import device_of


class QualityLM(ChooserLM):
    """`encoder` is the sentence-embedding model, where it is elsewhere than at training; `--device` is lm-eval's."""

    def __init__(self, pretrained: str, encoder: str | None = None, device: str | None = None, **harness: Any) -> None:
        chooser = QualityChooser(pretrained, encoder, device_of(device, "humor-quality"))
        super().__init__(chooser, harness, ("pretrained", "encoder", "device"))
