"""Every value of a run, each a flag of `humor-tasks train clip`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from humor_tasks.benchmarks.caption_contest.corpus import HUB
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.clip.config import DEFAULT, FITS
from humor_tasks.training.settings import FoldSettings, check_ranges

TASKS = ("matching", "ranking")
# What is not given is as in the paper (section 3 and its appendix), or as in the code released with it
# (caption_contest_corpus, clip/train_clip.py), where that is another thing.
MODES: dict[str, dict[str, Any]] = {
    "paper": {"fit": "pad", "random_crop": False, "max_scale": 100.0},
    "as-released": {"fit": "crop", "random_crop": True, "max_scale": 0.0},
}


@dataclass(frozen=True)
class ClipTrainConfig(FoldSettings):
    """One run.

    mode: `paper`, or `as-released`: there the flag that should pad is inverted, so that pictures are cropped (in
      training at a random place, else in the centre), and the logit scale is not held at 100. The rest of the
      recipe is the same: AdamW with torch's other defaults, fp32, warm-up from nothing, the first of equally good
      epochs. Not repeated here: the published command is for two devices with batches of 16, and the code calls the
      encoders past DistributedDataParallel, so that gradients are not averaged. Each device trains a model of its
      own, on half of the rows an epoch, with a warm-up of 100 steps, and the first device's is kept. Not known:
      whether the published figures come from exactly this code, and how equal learning rates were told apart.
    fold: 0..4, or `all`.
    pretrained, architecture: as of `ClipConfig`.
    fit: pad or crop; random_crop: crop at a random place in training.
    prefix: put before every caption.
    lr: learning rates; the one with the best validation accuracy is kept, the first one on a tie.
    warmup: steps; the learning rate of step s (from 0) is lr * min(1, s / warmup).
    batch_size: rows a step, over all devices together.
    patience: epochs without a better validation accuracy before it stops; 0: all epochs are run.
    max_scale: the most that the learned logit scale may become, 100 in CLIP itself; 0: no limit.
    flip, grayscale: probabilities. brightness: factor from 1 - b to 1 + b. hue: turn from -h to h, of a full circle.
    precision: no (fp32) or bf16 (autocast; weights stay fp32).
    lora: rank of adapters that are trained instead of the model, 0 for none; lora_alpha: 0 is twice the rank.
    checkpointing: activations are computed again when gradients are; memory for time.
    workers: threads a process that read pictures; 0 is one a core, at most 16.
    """

    task: str
    dataset: str = HUB
    fold: str = "0"
    revision: str | None = None
    pretrained: str = DEFAULT
    architecture: str | None = None
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
            raise BadInput("random_crop: a picture that is padded is not cropped; use fit=crop.")
        check_ranges(self, _RANGES)
        rates = tuple(dict.fromkeys(self.lr))
        if not rates or not all(0 < rate <= 1 for rate in rates):
            raise BadInput(f"lr={self.lr}: learning rates must be above 0 and at most 1.")
        object.__setattr__(self, "lr", rates)


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
