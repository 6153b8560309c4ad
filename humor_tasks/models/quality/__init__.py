"""The text-only quality model of captions: how likely the crowd's best it is, judged by the caption alone.

| module | contents |
|---|---|
| `features` | a caption's features: its sentence embedding, its surface and its words |
| `training` | linear discriminants of the best against the worst captions, from sums by contest |
| `model` | the trained model and its folder: discriminants, or two fine-tuned text models, as published; a Chooser |
"""

from humor_tasks.models.quality.model import Halves, Quality, load
from humor_tasks.models.quality.training import Sums, fit, sums

__all__ = ["Halves", "Quality", "Sums", "fit", "load", "sums"]
