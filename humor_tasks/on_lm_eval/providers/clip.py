"""`--model humor-clip --model_args pretrained=ViT-L-14-336/openai`: CLIP in lm-eval, on one device or several."""

from __future__ import annotations

from typing import Any

from humor_tasks.models.choosers.clip import ClipChooser
from humor_tasks.models.clip.config import DEFAULT
from humor_tasks.on_lm_eval.providers.chooser import ChooserLM
from humor_tasks.on_lm_eval.providers.processes import InProcess, batch_size_of, place


class ClipLM(InProcess, ChooserLM):
    """Model arguments are the fields of `ClipConfig`; `--device` and `--batch_size` (1: automatic) are lm-eval's.

    Without `--device` it is the best there is. `--device cuda` insists on a GPU.

    `accelerate launch -m lm_eval ...` gives each process a device and its share of the documents, and
    gathers the answers; the scores are those of one process.
    """

    def __init__(
        self,
        pretrained: str = DEFAULT,
        device: str | None = None,
        batch_size: Any = 1,
        max_batch_size: Any = None,
        **settings: Any,
    ) -> None:
        accelerator, own = place(device)
        chooser = ClipChooser.load(pretrained, settings | {"device": own, "batch_size": batch_size_of(batch_size)})
        super().__init__(chooser, {}, ())
        self.clip = chooser.clip
        self._device = self.clip.device
        # Of the progress bar's first step; CLIP itself divides questions into passes.
        self.batch_size = 64 if self.clip.device.type == "cpu" else 1024
        self.join(accelerator)

    def get_model_info(self) -> dict[str, Any]:
        """What goes into the results beside the model's arguments."""
        clip = self.clip
        about = {"fit": clip.fit, "prefix": clip.prefix, "precision": clip.precision, "device": str(clip.device)}
        return {"clip": about | clip.summary()}
