"""`--model clip/ViT-L-14-336/openai` or `clip/<folder>`: CLIP as an Inspect provider, for tasks with setting=pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from humor_tasks.models.choosers.clip import SETTINGS, ClipChooser
from humor_tasks.on_inspect.providers.chooser import ChooserAPI


class ClipAPI(ChooserAPI):
    """`-M fit=crop`, `-M precision=bf16`, `-M device=cuda`: the fields of `ClipConfig`.

    Concurrent samples are batched; by default so many are asked at once as fill two batches.
    """

    def make(self, model_name: str, **settings: Any) -> ClipChooser:
        """The CLIP model of this name: ARCHITECTURE/TAG, a folder or a weight file."""
        return ClipChooser.load(model_name, settings)

    def arguments(self) -> Sequence[str]:
        """See ChooserAPI."""
        return SETTINGS
