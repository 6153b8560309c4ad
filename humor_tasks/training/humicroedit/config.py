"""The settings of a run, each a flag of `humor-tasks train humicroedit`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.models.humicroedit.groups import check_features
from humor_tasks.models.humicroedit.rater import SYSTEMS
from humor_tasks.models.humicroedit.texts import CONTEXTS, check_text
from humor_tasks.training.settings import PRECISIONS, Settings, check_ranges, plain

HEADS = ("ridge", "mlp", "trees", "bayes")
POOLINGS = ("mean", "attention", "gru", "lstm")
STACKS = ("ridge", "trees", "mean")
JUDGES = 5
HAND_MADE = "lexical+entity+readability+length+position+similarity+perplexity+string"
FUNLINES_GRADES = ("matched", "as_given")


@dataclass(frozen=True)
class TrainConfig(Settings):
    """One run; `system` determines which values are used (see `READ`)."""

    system: str
    dataset: str = "sample"
    encoder: str = "sentence-transformers/all-MiniLM-L6-v2"
    funlines: bool = False
    funlines_grades: str = "matched"
    share: float = 1.0
    seed: int = 0
    text: str = ""
    # Encoder input.
    context: str = "full"
    original_word: bool = False
    marks: bool = False
    max_length: int = 96
    pooling: str = "mean"
    judge: int = 0
    # Features.
    features: str = ""
    knowledge: str = ""
    corpus: str = ""
    lexicon: str = ""
    # Fine-tuning.
    freeze: bool = False
    frozen_layers: int = 0
    epochs: int = 3
    patience: int = 2
    batch_size: int = 32
    lr: float = 5e-5
    head_lr: float = 1e-3
    warmup: float = 0.1
    weight_decay: float = 0.01
    dropout: float = 0.1
    dropout_samples: int = 1
    rank_weight: float = 0.0
    precision: str = "no"
    # Systems on features.
    vectors: str = "encoder"
    head: str = "ridge"
    alphas: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0, 10_000.0, 100_000.0)
    hidden: int = 256
    # Ensembles.
    grid: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    folds: int = 5
    whole: bool = True
    best: int = 3
    stack: str = "ridge"
    stack_alpha: float = 1.0
    non_negative: bool = True
    part: str = ""

    def __post_init__(self) -> None:
        check_choice("system", self.system, SYSTEMS)
        check_choice("context", self.context, CONTEXTS)
        check_choice("head", self.head, HEADS if self.system == "features" else HEADS[:2])
        check_choice("pooling", self.pooling, POOLINGS)
        check_choice("stack", self.stack, STACKS)
        check_text(self.text)
        if self.system == "features" and not self.features:
            object.__setattr__(self, "features", HAND_MADE)
        check_features(self.features)
        check_choice("precision", self.precision, PRECISIONS)
        check_choice("funlines_grades", self.funlines_grades, FUNLINES_GRADES)
        check_ranges(self, _RANGES)
        if self.part and not _is_part(self.part):
            raise BadInput(f"part={self.part}: write it as I/N, such as 1/2.")
        if not self.alphas or not all(0 < alpha < math.inf for alpha in self.alphas):
            raise BadInput(f"alphas={self.alphas}: they must be positive.")

    def as_dict(self) -> dict[str, Any]:
        """The values that this system uses, as JSON values."""
        read = ("system", *COMMON, *READ[self.system])
        return {name: plain(getattr(self, name)) for name in read}


_RANGES = (
    ("share", 0.0, 1.0),
    ("max_length", 8, 4096),
    ("judge", 0, JUDGES),
    ("frozen_layers", 0, 1000),
    ("epochs", 1, 1000),
    ("patience", 1, 1000),
    ("batch_size", 1, 4096),
    ("lr", 0.0, 1.0),
    ("head_lr", 0.0, 1.0),
    ("warmup", 0.0, 1.0),
    ("dropout", 0.0, 0.99),
    ("dropout_samples", 1, 64),
    ("rank_weight", 0.0, 100.0),
    ("hidden", 1, 65536),
    ("folds", 2, 100),
    ("best", 1, 1000),
)

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


# Members use the ensemble's values for settings that the grid does not vary.
READ["ensemble"] += tuple(
    dict.fromkeys(name for names in READ.values() for name in names if name not in READ["ensemble"])
)


def _is_part(text: str) -> bool:
    mine, slash, parts = text.partition("/")
    return bool(slash) and mine.isdigit() and parts.isdigit() and 1 <= int(mine) <= int(parts)
