"""Commits of what defaults name on the hub: a run next year reads the rows and weights that a run reads today.

A pin counts where no revision is given; any other revision, such as main, is read as named. Files outside the hub are
pinned by SHA-256, beside the code that reads them (`rows.download`).
"""

from __future__ import annotations

DATASETS = {
    # Of 22 December 2023. It and the SHA-256 of matching's test rows are in the download code of other evaluations.
    "jmhessel/newyorker_caption_contest": "d81cbab7d0392708d5371d3a4960e69261824db4",
    # In the code of several public studies of 2026, one of which names the hub's reply as its source.
    "yguooo/newyorker_caption_ranking": "1cd70477b6a99a473690a25a2fed359f75184c64",
}
"""Dataset -> commit. None was downloaded here: they are as others report them."""
WEIGHTS = {
    "sentence-transformers/all-MiniLM-L6-v2": "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    "sentence-transformers/paraphrase-MiniLM-L6-v2": "c9a2bfebc254878aee8c3aca9e6844d5bbb102d1",
}
"""Model -> commit. For other weights of these models give a folder."""


def pinned(dataset: str, revision: str | None) -> str | None:
    """The revision to read: the one that is given, else the dataset's pin, else None for the main branch."""
    return DATASETS.get(dataset) if revision is None else revision


def about(dataset: str) -> str:
    """The text of a card about the pin of a hub dataset."""
    return (
        f"Rows are those of commit `{DATASETS[dataset]}` of the hub, as public code reports it; `-T revision=main` "
        "(lm-eval: `--metadata dataset_revision=main`) reads the newest."
    )
