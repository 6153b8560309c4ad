"""`--model humor-clip --model_args pretrained=ViT-L-14-336/openai`: CLIP in lm-eval, on one device or several."""

from __future__ import annotations

from typing import Any

from humor_tasks.models.choosers.clip import ClipChooser
from humor_tasks.models.clip.config import DEFAULT
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM
from humor_tasks.on_lm_eval.providers.local import batch_size_of, place


class ClipLM(ChooserLM):
    """Model arguments are the fields of `ClipConfig`; `--device` and `--batch_size` (1: automatic) are lm-eval's.

    Without `--device` the best available device is used; `--device cuda` requires a GPU.

    With `accelerate launch -m lm_eval ...` each process has its own device and part of the documents. The scores are
    those of a single process.
    """

    def __init__(
        self,
        pretrained: str = DEFAULT,
        device: str | None = None,
        batch_size: Any = 1,
        max_batch_size: Any = None,
        **settings: Any,
    ) -> None:
        accelerator, assigned = place(device)
        settings |= {"device": assigned, "batch_size": batch_size_of(batch_size)}
        chooser = ClipChooser.load(pretrained, settings)
        super().__init__(chooser, {}, ())
        self.clip, self.weights = chooser.clip, pretrained
        self._device = self.clip.device
        # The size of the progress bar's first step; CLIP itself divides the questions into batches.
        self.batch_size = 64 if self.clip.device.type == "cpu" else 1024
        self.join(accelerator)

    def get_model_info(self) -> dict[str, Any]:
        """Entries for lm-eval's results, in addition to the model arguments."""
        clip = self.clip
        about = {"fit": clip.fit, "prefix": clip.prefix, "precision": clip.precision, "device": str(clip.device)}
        return {"clip": about | clip.summary()}
