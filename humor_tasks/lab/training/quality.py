"""Fine-tuning of the two classifiers of the quality model (`models/quality/text.py`), by transformers' Trainer.

Hessel et al. (ACL 2023, Appendix C) trained T5-Large on the 1,000 best and 1,000 worst captions of each contest of one
parity. They name no hyperparameters; those here are ours.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any

import torch

from humor_tasks.errors import BadInput, one_line
from humor_tasks.models.quality.model import BATCH, SIDES, TextQuality, encoded, sides_of
from humor_tasks.models.text.pretrained import open_tokenizer

RATE, EPOCHS = 1e-4, 1.0
Labelled = tuple[int, Sequence[str], Sequence[bool]]
"""A contest, its training captions, and whether each is one of the crowd's best."""


def fit_text(
    name: str,
    contests: Sequence[Labelled],
    same: Sequence[tuple[int, int]] = (),
    rate: float = RATE,
    epochs: float = EPOCHS,
    seed: int = 0,
) -> TextQuality:
    """Two classifiers from the model `name`: one of the even contests, one of the odd. same: contests with the same
    captions, which are on one side. Raises BadInput where a parity has no captions, and for an unknown model.
    """
    sides = sides_of((number for number, _, _ in contests), same)
    tokenizer = open_tokenizer(name)
    networks = []
    for side, parity in enumerate(SIDES):
        rows = [
            (caption, float(is_best))
            for number, captions, best in contests
            if sides[number] == side
            for caption, is_best in zip(captions, best, strict=True)
        ]
        if not rows:
            raise BadInput(f"quality model: no rated contest has an {parity} number; give rated contests of both.")
        networks.append(_trained(name, tokenizer, rows, rate, epochs, seed))
    even, odd = (tuple(sorted(n for n, of_contest in sides.items() if of_contest == side)) for side in (0, 1))
    return TextQuality(name, (networks[0], networks[1]), tokenizer, (even, odd))


def _trained(
    name: str, tokenizer: Any, rows: Sequence[tuple[str, float]], rate: float, epochs: float, seed: int
) -> Any:
    """A network with one output, the log-odds that a caption is one of the best."""
    from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments, set_seed

    def batch(held: Sequence[tuple[str, float]]) -> dict[str, Any]:
        labels = torch.tensor([[label] for _, label in held])
        return {**encoded(tokenizer, [caption for caption, _ in held]), "labels": labels}

    set_seed(seed)  # the layer of the classifier begins at random
    try:
        network = AutoModelForSequenceClassification.from_pretrained(
            name, num_labels=1, problem_type="multi_label_classification", trust_remote_code=False
        )
    except (OSError, ValueError) as problem:
        raise BadInput(f"--quality-model {name}: cannot classify text ({one_line(problem)}).") from None
    network.config.pad_token_id = tokenizer.pad_token_id
    with tempfile.TemporaryDirectory() as folder:
        settings = TrainingArguments(
            output_dir=folder,
            learning_rate=rate,
            num_train_epochs=epochs,
            per_device_train_batch_size=BATCH,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            remove_unused_columns=False,
            seed=seed,
            bf16=torch.cuda.is_available(),
        )
        Trainer(network, settings, data_collator=batch, train_dataset=list(rows)).train()
    return network
