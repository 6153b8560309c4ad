"""One step of the search: constraints on the next token, candidate selection, and finished hypotheses.

n inputs have k beams each; rows are [n * k].
"""

from __future__ import annotations

import torch

from humor_tasks.models.ofa.config import END, PAD
from humor_tasks.models.ofa.settings import GenerationSettings

NEG_INF = -torch.inf


def constrain(logs: torch.Tensor, written: torch.Tensor, settings: GenerationSettings) -> None:
    """Set the log-probabilities [rows, V] of tokens that may not follow `written` [rows, t + 1] to -inf, in place.

    `written` includes the begin token. In style fairseq padding is never generated, and the forced end token keeps its
    log-probability; in style hf it has log-probability 0.
    """
    t = written.shape[1] - 1
    if settings.style == "fairseq":
        logs[:, PAD] = NEG_INF
    if t < settings.min_len:
        logs[:, END] = NEG_INF
    if t == settings.max_len:
        end = logs[:, END].clone() if settings.style == "fairseq" else 0.0
        logs.fill_(NEG_INF)
        logs[:, END] = end
    elif settings.no_repeat_ngram:
        _block_repeats(logs, written, settings.no_repeat_ngram)


def _block_repeats(logs: torch.Tensor, written: torch.Tensor, n: int) -> None:
    """Mask tokens that would repeat an n-gram; the begin token is part of the first n-gram."""
    if written.shape[1] < n:
        return
    grams = written.unfold(1, n, 1)  # [rows, places, n]
    same = (grams[:, :, :-1] == written[:, None, written.shape[1] - n + 1 :]).all(2)
    # A token may follow several n-grams; one equal n-gram suffices to mask it.
    blocked = torch.where(same, NEG_INF, torch.inf)
    logs.scatter_reduce_(1, grams[:, :, -1], blocked, "amin")


def best(logs: torch.Tensor, scores: torch.Tensor, most: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The `most` best continuations of each input's beams: summed log-probabilities, beams, tokens; [n, most] each.

    scores [n, k] are the beams' summed log-probabilities so far.
    """
    n, beams = scores.shape
    values, tokens = logs.topk(min(most, logs.shape[1]))
    each = values.shape[1]
    sums = (values + scores.view(-1, 1)).view(n, beams * each)
    found, at = sums.topk(min(most, beams * each))
    return found, at // each, tokens.view(n, beams * each).gather(1, at)


def drawn(
    logs: torch.Tensor, scores: torch.Tensor, chance: torch.Tensor, settings: GenerationSettings
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """One sampled continuation per row, in the format of `best`; chance [n] holds uniform random numbers in [0, 1).

    The score is the model's own log-probability, before temperature and truncation.
    """
    x, order = logs.sort(1, descending=True)
    if settings.top_k:
        x, order = x[:, : settings.top_k], order[:, : settings.top_k]
    # The limit avoids division by zero; the most likely token then has all the probability.
    share = ((x - x[:, :1]) / max(settings.temperature, 1e-30)).softmax(1)
    share = torch.where(share.cumsum(1) - share < settings.top_p, share, 0)
    cumulative = share.cumsum(1)
    at = torch.searchsorted(cumulative, chance[:, None] * cumulative[:, -1:], right=True)
    at = torch.minimum(at, (share > 0).sum(1, keepdim=True) - 1)  # rounding may exceed the last index
    at = at.clamp(min=0)  # nan has no share; `generate` reports it
    token = order.gather(1, at)
    return scores + logs.gather(1, token), torch.zeros_like(token), token


class Finished:
    """The finished hypotheses of n inputs, at most k each: the first ones (fairseq) or the best ones (hf)."""

    def __init__(self, n: int, settings: GenerationSettings, device: torch.device) -> None:
        k, length = settings.beams, settings.max_len + 1
        self.settings = settings
        self.scores = torch.full((n, k), NEG_INF, device=device)
        self.ids = torch.full((n, k, length), PAD, device=device)

    def add(
        self, live: torch.Tensor, done: torch.Tensor, sums: torch.Tensor, ended: torch.Tensor, ids: torch.Tensor
    ) -> torch.Tensor:
        """Add the candidates that `ended`, in order of rank, of inputs that are not `done`; returns which inputs are.

        live, done [n]: indices of the inputs, and whether they were done before; sums, ended [n, c]; ids [n, c, t]:
        generated tokens without begin and end.
        """
        settings, k, t = self.settings, self.settings.beams, ids.shape[2]
        length = float(t + 1) ** (settings.lenpen if settings.normalize else 0.0)
        new = torch.where(ended & ~done[:, None], sums / length, NEG_INF)
        written = torch.full((*ended.shape, self.ids.shape[2]), PAD, device=ids.device)
        written[:, :, :t], written[:, :, t] = ids, END
        scores = torch.cat([self.scores[live], new], 1)
        if settings.style == "fairseq":
            keep = (scores == NEG_INF).to(torch.uint8).argsort(dim=1, stable=True)[:, :k]
        else:
            keep = scores.argsort(dim=1, descending=True, stable=True)[:, :k]
        scores = scores.gather(1, keep)
        both = torch.cat([self.ids[live], written], 1)
        self.scores[live] = scores
        self.ids[live] = both.gather(1, keep[:, :, None].expand(-1, -1, both.shape[2]))
        if settings.style == "fairseq":
            return done | (scores[:, -1] > NEG_INF)
        # As in transformers: done if the best candidate, finished now, would not be among the best k.
        over: torch.Tensor = (scores[:, -1] > NEG_INF) & (scores[:, -1] >= sums[:, 0] / length)
        return done | over

    def lists(self) -> list[list[tuple[list[int], float]]]:
        """Each input's hypotheses, best first: ids including the end token, and scores."""
        scores, order = self.scores.sort(dim=1, descending=True, stable=True)
        ids = self.ids.gather(1, order[:, :, None].expand(-1, -1, self.ids.shape[2])).tolist()
        return [
            [(row[: row.index(END) + 1], score) for row, score in zip(rows, values, strict=True) if score > NEG_INF]
            for rows, values in zip(ids, scores.tolist(), strict=True)
        ]
