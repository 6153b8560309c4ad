"""The text-only quality model of captions: how likely the crowd's best it is, judged by the caption alone.

| module | contents |
|---|---|
| `features` | a caption's features: its sentence embedding, its surface and its words |
| `training` | linear discriminants of the best against the worst captions, from sums by contest |
| `model` | the trained model and its folder |
| `text` | the same of two fine-tuned text models, as published |
| `halves` | what both have in common: a half for the contests of each parity |
"""

from humor_tasks.models.quality.halves import Halves
from humor_tasks.models.quality.model import Quality, load
from humor_tasks.models.quality.training import Sums, fit, sums

__all__ = ["Halves", "Quality", "Sums", "fit", "load", "sums"]
