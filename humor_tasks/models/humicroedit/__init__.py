"""Trained raters of edited headlines: `load` opens the run folder of any system of `humor-tasks train humicroedit`.

| module | what it offers |
|---|---|
| `texts` | `Edit`, `as_edit`; `Form`, `written`: what an encoder is shown of a headline, by the switches |
| `rater` | `Rater`: `rate` and `prefer`, for every system |
| `frozen` | `FrozenEncoder`: sentence embeddings; `WordVectors`: one vector a word |
| `features` | rows of numbers for `ridge`, `cbow` and `ngrams`; `FeatureRater` |
| `network` | `Network`: an encoder with a head on the marked words; `NetworkRater` |
| `stack` | `EnsembleRater`: members, averaged over folds and stacked |

torch, transformers and scikit-learn load with the system that needs them.
"""

from humor_tasks.models.humicroedit.rater import Rater, load
from humor_tasks.models.humicroedit.texts import Edit, Form, as_edit, written

__all__ = ["Edit", "Form", "Rater", "as_edit", "load", "written"]
