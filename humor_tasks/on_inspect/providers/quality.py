"""`--model quality/<folder>`: the text-only quality model of captions as an Inspect provider."""

from __future__ import annotations

from humor_tasks.models.choosers.quality import QualityChooser
from humor_tasks.on_inspect.providers.chooser import ChooserAPI


class QualityAPI(ChooserAPI):
    """`-M encoder=MODEL` is the sentence-embedding model, where it is elsewhere than at training; `-M device=cuda`."""

    trained = False  # a contest that it saw is judged by its half that has not seen it

    def make(self, model_name: str, encoder: str | None = None, device: str | None = None) -> QualityChooser:
        """The model of this folder."""
        return QualityChooser(model_name, encoder, device)
