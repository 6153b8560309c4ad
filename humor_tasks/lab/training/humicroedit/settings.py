"""The settings of `humor-tasks train humicroedit`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from humor_tasks.contract.options import parameter, required
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.lab.training.settings import PRECISIONS, Settings, plain
from humor_tasks.models.humicroedit.groups import check_features
from humor_tasks.models.humicroedit.rater import SYSTEMS
from humor_tasks.models.humicroedit.texts import CONTEXTS, check_text

HEADS = ("ridge", "mlp", "trees", "bayes")
JUDGES = 5
HAND_MADE = "lexical+entity+readability+length+position+similarity+perplexity+string"
_FILES = {"knowledge": "knowledge", "lexicon": "lexicon", "corpus": "cooccurrence"}
"""Setting that names a file -> the group of features that reads it."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig(Settings):
    """One run; `system` determines which values are used (see `READ`)."""

    system: str = required("What is trained.", among=SYSTEMS)
    dataset: str = required("Folder with task-1/ and task-2/, or 'sample'.")
    encoder: str = parameter(
        "sentence-transformers/all-MiniLM-L6-v2", "Hugging Face encoder: a name on the hub or a folder."
    )
    funlines: bool = parameter(False, "Train on FunLines too.")
    funlines_grades: str = parameter(
        "matched", "matched: rescaled to train's mean and standard deviation.", among=("matched", "as_given")
    )
    share: float = parameter(1.0, "Fraction of train's headlines, for learning curves.", least=0, most=1)
    seed: int = parameter(0, "Seed of the training.")
    text: str = parameter("", "Variants of the text, with +: lower, segmented, no-symbols, no-extensions.")
    # Encoder input.
    context: str = parameter("full", "encoder: masked: the edited word is masked.", among=CONTEXTS)
    original_word: bool = parameter(False, "encoder: include the replaced word.")
    marks: bool = parameter(False, "encoder: special tokens around the words (always in pair).")
    max_length: int = parameter(96, "Maximum number of tokens.", least=8, most=4096)
    pooling: str = parameter("mean", "Of the encoder's states.", among=("mean", "attention", "gru", "lstm"))
    judge: int = parameter(
        0, "Classify the grade at this place, 1 (highest) to 5; 0: rate the mean.", least=0, most=JUDGES
    )
    # Features.
    features: str = parameter(
        "", "Groups of features, with +, such as lexical+string. Default of features: LT3's eight."
    )
    knowledge: str = parameter(
        "", "features: WordNet's folder, or a file of relations (word, relation, word; ConceptNet's)."
    )
    corpus: str = parameter(
        "", "features: text, a sentence a line, to count words in. Default: train's original headlines."
    )
    lexicon: str = parameter("", "features: a file with a word and its numbers a line, such as humour norms.")
    # Fine-tuning.
    freeze: bool = parameter(False, "Train the head only.")
    frozen_layers: int = parameter(0, "Freeze the embeddings and this many lower layers.", least=0, most=1000)
    epochs: int = parameter(3, "Maximum number.", least=1, most=1000)
    patience: int = parameter(2, "Early stopping: epochs without a better dev RMSE.", least=1, most=1000)
    batch_size: int = parameter(32, "Rows per step and device.", least=1, most=4096)
    lr: float = parameter(5e-5, "Learning rate of the encoder, or of an MLP.", least=0, most=1)
    head_lr: float = parameter(1e-3, "Learning rate of the head.", least=0, most=1)
    warmup: float = parameter(0.1, "Fraction of the steps.", least=0, most=1)
    weight_decay: float = parameter(0.01, "AdamW's weight decay.")
    dropout: float = parameter(0.1, "Dropout of the head.", least=0, most=0.99)
    dropout_samples: int = parameter(1, "Dropout masks that the head is averaged over.", least=1, most=64)
    rank_weight: float = parameter(0.0, "Weight of the ranking loss among a headline's edits.", least=0, most=100)
    precision: str = parameter("no", "no (fp32) or bf16 (autocast).", among=PRECISIONS)
    # Systems on features.
    vectors: str = parameter("encoder", "A file of word vectors, or 'encoder' (cbow, vectors: its embedding layer).")
    head: str = parameter("ridge", "cbow: ridge or mlp; features: any.", among=HEADS)
    alphas: tuple[float, ...] = parameter(
        (1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0),
        "ridge: regularisation strengths to choose from.",
        least=1e-12,
    )
    hidden: int = parameter(256, "Units of the MLP.", least=1, most=65536)
    encodings: str = parameter(
        "", "A folder that keeps the frozen encoder's vectors, so that further runs of any system encode no text twice."
    )
    # Ensembles.
    grid: tuple[str, ...] = parameter(
        (), "ensemble: NAME=VALUE,VALUE; repeatable. Each combination is a member.", repeated=True
    )
    also: tuple[str, ...] = parameter(
        (), "ensemble: NAME=VALUE,NAME=VALUE; repeatable. A member beside the grid's.", repeated=True
    )
    folds: int = parameter(5, "ensemble: number of folds.", least=2, most=100)
    whole: bool = parameter(True, "ensemble: train each member on all of train too (default).")
    best: int = parameter(3, "ensemble: members kept per system and encoder.", least=1, most=1000)
    stack: str = parameter("ridge", "ensemble: how the members are combined.", among=("ridge", "trees", "mean"))
    stack_alpha: float = parameter(1.0, "ensemble: regularisation strength of the stacking ridge.")
    non_negative: bool = parameter(
        True, "ensemble: signs of the stacking weights. Default: non-negative.", off="any-sign"
    )
    part: str = parameter("", "ensemble: I/N, train only this part of the models; a final run without it stacks.")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "alphas", tuple(map(float, self.alphas)))
        check_choice("head", self.head, HEADS if self.system == "features" else HEADS[:2])
        check_text(self.text)
        if self.system == "features" and not self.features:
            object.__setattr__(self, "features", HAND_MADE)
        check_features(self.features)
        if self.part and not _is_part(self.part):
            raise BadInput(f"part={self.part}: write it as I/N, such as 1/2.")

    def as_dict(self) -> dict[str, Any]:
        """The values that this system uses, as JSON values."""
        return {name: plain(getattr(self, name)) for name in ("system", *COMMON, *READ[self.system])}

    def check_flags(self, names: Collection[str]) -> None:
        """See Settings. An ensemble accepts the options of all its members' systems."""
        if self.system == "ensemble":
            return
        if unused := sorted(set(names) - {"system", *COMMON, *READ[self.system], *ENCODES.get(self.system, ())}):
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in unused)
            raise BadInput(f"--system {self.system} does not use {flags}.")
        for name, group in _FILES.items():
            if getattr(self, name) and group not in self.features.split("+"):
                raise BadInput(f"--{name} is data of --features {group}, which is not asked for.")


COMMON = ("dataset", "funlines", "funlines_grades", "share", "seed", "text")
_FEATURES = ("features", "vectors", "knowledge", "corpus", "lexicon")
_HEAD = ("encoder", "head", "alphas", "hidden", "epochs", "patience", "lr")
_FINE_TUNING = (
    *(
        "encoder",
        "max_length",
        "freeze",
        "frozen_layers",
        "epochs",
        "patience",
        "batch_size",
        "lr",
        "head_lr",
        "warmup",
    ),
    *("weight_decay", "dropout", "dropout_samples", "rank_weight", "precision", "pooling"),
)
_INPUT = ("context", "original_word", "marks")
# The values that each system uses. Others are not part of its config.json or of an ensemble member's name.
READ: dict[str, tuple[str, ...]] = {
    "baseline": (),
    "cbow": ("vectors", *_HEAD),
    "ridge": ("encoder", "alphas"),
    "ngrams": ("alphas",),
    "features": (*_FEATURES, *_HEAD),
    "vectors": (*_INPUT, *_FINE_TUNING, *_FEATURES, "judge"),
    "encoder": (*_INPUT, *_FINE_TUNING, *_FEATURES, "judge"),
    "pair": (*_FINE_TUNING, *_FEATURES, "judge"),
    "grades": (*_INPUT, *_FINE_TUNING, *_FEATURES),
    "ensemble": ("grid", "also", "folds", "whole", "best", "stack", "stack_alpha", "non_negative"),
}


ENCODES = dict.fromkeys(("ridge", "features", "vectors", "encoder", "pair", "grades"), ("encodings",))
"""System -> the setting of where its frozen encoder's vectors are kept, which is no part of its config.json."""

# Members use the ensemble's values for settings that the grid does not vary.
READ["ensemble"] += tuple(
    dict.fromkeys(name for names in READ.values() for name in names if name not in READ["ensemble"])
)


def _is_part(text: str) -> bool:
    mine, slash, parts = text.partition("/")
    return bool(slash) and mine.isdigit() and parts.isdigit() and 1 <= int(mine) <= int(parts)
