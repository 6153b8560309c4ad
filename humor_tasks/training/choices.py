"""The loss of systems that score choices."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence


def choice_loss(logits: torch.Tensor, counts: Sequence[int], targets: torch.Tensor) -> torch.Tensor:
    """[2]: the sum over rows of -log softmax(the row's logits)[target], and the number of correct rows.

    logits: those of the first row's captions, then the second's, and so on; counts: the number of captions per row.
    """
    rows = pad_sequence(list(torch.split(logits, list(counts))), batch_first=True, padding_value=-torch.inf)
    return torch.stack((cross_entropy(rows, targets, reduction="sum"), (rows.argmax(1) == targets).sum()))
