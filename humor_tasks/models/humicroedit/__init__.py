"""Trained models that rate edited headlines; `load` opens a run folder of any system of `humor-tasks train
humicroedit`.

| module | contents |
|---|---|
| `texts` | `Edit`, `as_edit`; `Form`, `written`: the encoder's input text for a headline |
| `rater` | `Rater`: `rate` and `prefer`, for every system |
| `frozen` | `FrozenEncoder`: sentence embeddings; `WordVectors`: static word vectors |
| `variants` | variants of the text: lower case, segmented words, without symbols or extensions |
| `groups` | hand-made features in named groups; `knowledge`: graphs of related words, words that occur together |
| `features` | feature vectors and regressions on them; `FeatureRater` |
| `static` | word vectors in an encoder's place |
| `network` | `Network`: an encoder with a regression head on the marked words; `NetworkRater` |
| `stack` | `EnsembleRater`: models averaged over folds, and stacked |

torch, transformers and scikit-learn are imported by the systems that need them.
"""

from humor_tasks.models.humicroedit.rater import Rater, load
from humor_tasks.models.humicroedit.texts import Edit, Form, as_edit, written

__all__ = ["Edit", "Form", "Rater", "as_edit", "load", "written"]
