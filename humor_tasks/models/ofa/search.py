"""The arithmetic of a step of search: what may follow, the best or drawn candidates, and hypotheses that are finished.

n inputs have k beams each; rows are [n * k].
"""

from __future__ import annotations

import torch

from humor_tasks.models.ofa.config import END, PAD
from humor_tasks.models.ofa.settings import GenerationSettings

NEVER = -torch.inf


def constrain(logs: torch.Tensor, written: torch.Tensor, settings: GenerationSettings) -> None:
    """Takes out of log-probabilities [rows, V] what may not follow `written` [rows, t + 1], which start with the begin.

    fairseq never writes padding; its last step costs what the end's probability says, and hf's costs nothing.
    """
    t = written.shape[1] - 1
    if settings.style == "fairseq":
        logs[:, PAD] = NEVER
    if t < settings.min_len:
        logs[:, END] = NEVER
    if t == settings.max_len:
        end = logs[:, END].clone() if settings.style == "fairseq" else 0.0
        logs.fill_(NEVER)
        logs[:, END] = end
    elif settings.no_repeat_ngram:
        _block_repeats(logs, written, settings.no_repeat_ngram)


def _block_repeats(logs: torch.Tensor, written: torch.Tensor, n: int) -> None:
    """Takes out what would end an n-gram that is there already; the begin is part of the first."""
    if written.shape[1] < n:
        return
    grams = written.unfold(1, n, 1)  # [rows, places, n]
    same = (grams[:, :, :-1] == written[:, None, written.shape[1] - n + 1 :]).all(2)
    # A token may stand behind several n-grams, of which one is enough.
    barred = torch.where(same, NEVER, torch.inf)
    logs.scatter_reduce_(1, grams[:, :, -1], barred, "amin")


def best(logs: torch.Tensor, scores: torch.Tensor, most: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The `most` best continuations of each input's beams: sums of log-probabilities, beams, tokens; [n, most] each.

    scores [n, k] are the beams' own.
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
    """One continuation of each row, as `best` gives it, where chance [n], 0 <= chance < 1, says how the die fell.

    The score is of the model's own probability, before temperature and cuts.
    """
    x, order = logs.sort(1, descending=True)
    if settings.top_k:
        x, order = x[:, : settings.top_k], order[:, : settings.top_k]
    # A temperature too small for a float leaves the likeliest.
    share = ((x - x[:, :1]) / max(settings.temperature, 1e-30)).softmax(1)
    share = torch.where(share.cumsum(1) - share < settings.top_p, share, 0)
    heap = share.cumsum(1)
    at = torch.searchsorted(heap, chance[:, None] * heap[:, -1:], right=True)
    at = torch.minimum(at, (share > 0).sum(1, keepdim=True) - 1)  # rounding may lead past the last
    at = at.clamp(min=0)  # numbers that are none have no share; whoever asked is told of them
    token = order.gather(1, at)
    return scores + logs.gather(1, token), torch.zeros_like(token), token


class Finished:
    """The finished hypotheses of n inputs, at most k each: the first ones (fairseq) or the best ones (hf)."""

    def __init__(self, n: int, settings: GenerationSettings, device: torch.device) -> None:
        k, length = settings.beams, settings.max_len + 1
        self.settings = settings
        self.scores = torch.full((n, k), NEVER, device=device)
        self.ids = torch.full((n, k, length), PAD, device=device)

    def add(self, live: torch.Tensor, sums: torch.Tensor, ended: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
        """Candidates in order of rank, of which those that `ended` are kept, and which inputs need no more steps.

        live [n]: numbers of the inputs; sums, ended [n, c]; ids [n, c, t]: what was written, without begin and end.
        """
        settings, k, t = self.settings, self.settings.beams, ids.shape[2]
        length = float(t + 1) ** (settings.lenpen if settings.normalize else 0.0)
        new = torch.where(ended, sums / length, NEVER)
        written = torch.full((*ended.shape, self.ids.shape[2]), PAD, device=ids.device)
        written[:, :, :t], written[:, :, t] = ids, END
        scores = torch.cat([self.scores[live], new], 1)
        if settings.style == "fairseq":
            keep = (scores == NEVER).to(torch.uint8).argsort(dim=1, stable=True)[:, :k]
        else:
            keep = scores.argsort(dim=1, descending=True, stable=True)[:, :k]
        scores = scores.gather(1, keep)
        both = torch.cat([self.ids[live], written], 1)
        self.scores[live] = scores
        self.ids[live] = both.gather(1, keep[:, :, None].expand(-1, -1, both.shape[2]))
        if settings.style == "fairseq":
            return scores[:, -1] > NEVER
        # transformers asks whether the best candidate, were it finished now, would still be among the best k.
        return torch.as_tensor((scores[:, -1] > NEVER) & (scores[:, -1] >= sums[:, 0] / length))

    def lists(self) -> list[list[tuple[list[int], float]]]:
        """Each input's hypotheses, best first: ids up to and with the end, and scores."""
        scores, order = self.scores.sort(dim=1, descending=True, stable=True)
        ids = self.ids.gather(1, order[:, :, None].expand(-1, -1, self.ids.shape[2])).tolist()
        return [
            [(row[: row.index(END) + 1], score) for row, score in zip(rows, values, strict=True) if score > NEVER]
            for rows, values in zip(ids, scores.tolist(), strict=True)
        ]
