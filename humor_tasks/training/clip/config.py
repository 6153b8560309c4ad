"""The settings of a run, each a flag of `humor-tasks train clip`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks import trained
from humor_tasks.benchmarks.caption_contest.corpus import HUB
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.clip.config import DEFAULT, FITS
from humor_tasks.training.settings import FoldSettings, check_ranges, check_rates

TASKS = trained("clip")
# Defaults by mode: the paper's (section 3 and its appendix), or where they differ those of the released code
# (caption_contest_corpus, clip/train_clip.py).
MODES: dict[str, dict[str, Any]] = {
    "paper": {"fit": "pad", "random_crop": False, "max_scale": 100.0},
    "as-released": {"fit": "crop", "random_crop": True, "max_scale": 0.0},
}


@dataclass(frozen=True)
class ClipTrainConfig(FoldSettings):
    """One run.

    mode: `paper` or `as-released`. In the released code the padding flag is inverted, so that pictures are cropped (at
      a random place in training, else at the centre), and the logit scale is not limited to 100. The rest of the
      recipe is the same: AdamW with torch's other defaults, fp32, warm-up from 0, the first of equally good
      epochs. Not reproduced: the published command is for two devices with batches of 16, and the code calls the
      encoders directly instead of through DistributedDataParallel, so that gradients are not averaged. Each device
      trains a separate model on half of the rows per epoch, with a warm-up of 100 steps, and the first device's is
      kept. Unknown: whether the published results are from exactly this code, and how ties between learning rates
      were resolved.
    fold: 0..4, or `all`.
    pretrained, architecture, activation: as in `ClipConfig`.
    fit: pad or crop; random_crop: crop at a random place in training.
    prefix: prepended to every caption.
    lr: learning rates; the one with the best validation accuracy is kept, the first one on a tie.
    warmup: steps; the learning rate at step s (from 0) is lr * min(1, s / warmup).
    batch_size: rows per step, over all devices.
    patience: early stopping: epochs without better validation accuracy; 0 runs all epochs.
    max_scale: maximum of the learned logit scale, 100 in CLIP; 0: no limit.
    flip, grayscale: probabilities. brightness: factor from 1 - b to 1 + b. hue: shift from -h to h of a full circle.
    precision: no (fp32) or bf16 (autocast; weights stay fp32).
    lora: rank of LoRA adapters trained instead of the model, 0 for none; lora_alpha: 0 is twice the rank.
    checkpointing: activation checkpointing, which saves memory and costs time.
    workers: threads per process that read pictures; 0 is one per core, at most 16.
    """

    task: str
    dataset: str = HUB
    fold: str = "0"
    revision: str | None = None
    pretrained: str = DEFAULT
    architecture: str | None = None
    activation: str | None = None
    mode: str = "paper"
    fit: str | None = None
    random_crop: bool | None = None
    prefix: str = ""
    lr: tuple[float, ...] = (5e-5, 1e-5, 5e-6)
    warmup: int = 200
    weight_decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    batch_size: int = 32
    epochs: int = 12
    patience: int = 0
    max_scale: float | None = None
    flip: float = 0.5
    grayscale: float = 0.1
    brightness: float = 0.5
    hue: float = 0.3
    precision: str = "no"
    lora: int = 0
    lora_alpha: int = 0
    seed: int = 0
    device: str = "auto"
    workers: int = 0
    checkpointing: bool = False

    def __post_init__(self) -> None:
        check_choice("task", self.task, TASKS)
        self.check_shared()
        check_choice("mode", self.mode, MODES)
        defaults = MODES[self.mode]
        for name in ("fit", "max_scale"):
            if getattr(self, name) is None:
                object.__setattr__(self, name, defaults[name])
        check_choice("fit", str(self.fit), FITS)
        if self.random_crop is None:
            object.__setattr__(self, "random_crop", defaults["random_crop"] and self.fit == "crop")
        if self.random_crop and self.fit != "crop":
            raise BadInput("random_crop needs fit=crop, because padded pictures are not cropped.")
        check_ranges(self, _RANGES)
        object.__setattr__(self, "lr", check_rates(self.lr))


_RANGES = (
    ("warmup", 0, 1_000_000),
    ("eps", 1e-20, 1.0),
    ("max_scale", 0.0, 1e6),
    ("flip", 0.0, 1.0),
    ("grayscale", 0.0, 1.0),
    ("brightness", 0.0, 1.0),
    ("hue", 0.0, 0.5),
    ("lora", 0, 4096),
    ("lora_alpha", 0, 65536),
)
