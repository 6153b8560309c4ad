"""The settings of `humor-tasks train clip`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import trained
from humor_tasks.contract.options import parameter, required
from humor_tasks.errors import BadInput
from humor_tasks.lab.training.settings import AdamW, Adapters, Machine, Rows, rates
from humor_tasks.models.clip.config import DEFAULT, FITS

# Defaults by mode: the paper's (section 3 and its appendix), or where they differ those of the released code
# (caption_contest_corpus, clip/train_clip.py).
MODES: dict[str, dict[str, Any]] = {
    "paper": {"fit": "pad", "random_crop": False, "max_scale": 100.0},
    "as-released": {"fit": "crop", "random_crop": True, "max_scale": 0.0},
}


@dataclass(frozen=True, kw_only=True)
class ClipTrainConfig(Rows, AdamW, Adapters, Machine):
    """One run. `architecture`, `activation` and `fit` are those of `ClipConfig`.

    In the released code the padding flag is inverted, so that pictures are cropped (at a random place in training, else
    at the centre), and the logit scale is not limited to 100. The rest of the recipe is the same: AdamW with torch's
    other defaults, fp32, warm-up from 0, the first of equally good epochs. Not reproduced: the published command is for
    two devices with batches of 16, and the code calls the encoders directly instead of through
    DistributedDataParallel, so that gradients are not averaged. Each device trains a separate model on half of the
    rows per epoch, with a warm-up of 100 steps, and the first device's is kept. Unknown: whether the published results
    are from exactly this code, and how ties between learning rates were resolved.
    """

    task: str = required("The benchmark whose rows train the model.", among=trained("clip"))
    pretrained: str = parameter(DEFAULT, "ARCHITECTURE/TAG of open_clip, folder or weight file.")
    architecture: str | None = parameter(None, "open_clip's name, for a weight file.")
    activation: str | None = parameter(None, "gelu or quick_gelu, for a weight file that does not say.")
    mode: str = parameter("paper", "as-released: the released code's recipe, where it differs.", among=tuple(MODES))
    fit: str | None = parameter(None, "Of pictures. Default: pad (as-released: crop).", among=FITS)
    random_crop: bool | None = parameter(
        None, "fit=crop, in training. Default: centre (as-released: random).", off="centre-crop"
    )
    prefix: str = parameter("", "Prepended to every caption.")
    lr: tuple[float, ...] = rates((5e-5, 1e-5, 5e-6), "the best by validation accuracy is kept, the first on a tie")
    warmup: int = parameter(200, "Warm-up steps: step s, from 0, has lr * min(1, s / warmup).", least=0, most=1_000_000)
    batch_size: int = parameter(32, "Rows per step, over all devices.", least=1, most=65536)
    micro_batch: int = parameter(
        0, "Maximum rows per device at once; memory only, as negatives are a row's own.", least=0, most=65536
    )
    epochs: int = parameter(12, "Maximum number.", least=1, most=10_000)
    patience: int = parameter(
        0, "Early stopping: epochs without better validation accuracy; 0: never.", least=0, most=10_000
    )
    max_scale: float | None = parameter(
        None, "Maximum logit scale; 0: no limit. Default: 100 (as-released: 0).", least=0, most=1e6
    )
    flip: float = parameter(0.5, "Probability of mirroring.", least=0, most=1)
    grayscale: float = parameter(0.1, "Probability of greyscale.", least=0, most=1)
    brightness: float = parameter(0.5, "Factor from 1 - B to 1 + B.", least=0, most=1)
    hue: float = parameter(0.3, "Hue shift from -H to H of a circle.", least=0, most=0.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        defaults = MODES[self.mode]
        for name in ("fit", "max_scale"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, defaults[name])
        if self.random_crop is None:
            object.__setattr__(self, "random_crop", defaults["random_crop"] and self.fit == "crop")
        if self.random_crop and self.fit != "crop":
            raise BadInput("random_crop needs fit=crop, because padded pictures are not cropped.")
