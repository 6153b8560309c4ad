"""Trained models that rate edited headlines; `load` opens a run folder of any system of `humor-tasks train
humicroedit`.

| module | contents |
|---|---|
| `texts` | `Edit`, `as_edit`; `Form`, `written`: the encoder's input text; variants of the text |
| `rater` | `Rater`: `rate` and `prefer`, for every system |
| `resources` | sentence embeddings, static word vectors, graphs of related words, words that occur together |
| `groups` | hand-made features in named groups |
| `features` | feature vectors and regressions on them: `FeatureRater`; models averaged and stacked: `EnsembleRater` |
| `network` | `Network`: an encoder with a regression head on the marked words; `NetworkRater` |

torch, transformers and scikit-learn are imported by the systems that need them.
"""

from humor_tasks.models.humicroedit.rater import Rater, load
from humor_tasks.models.humicroedit.texts import Edit, Form, as_edit, written

__all__ = ["Edit", "Form", "Rater", "as_edit", "load", "written"]
