"""The files of a hub dataset of contests that a split needs, downloaded once and cached by commit."""

from __future__ import annotations

import warnings
from pathlib import Path

from humor_tasks.data.contests.splits import HELD_OUT, TEST, VALIDATION, Split
from humor_tasks.data.rows.folder import as_bad_input
from humor_tasks.data.rows.hub import known_commit
from humor_tasks.data.rows.table import Request

_NUMBERS: dict[str, tuple[int, ...]] = {"held_out": HELD_OUT, "validation": VALIDATION, "test": TEST}
_FILES = {"held_out": ("validation", "test"), "validation": ("validation",), "test": ("test",)}


def download(dataset: str, revision: str | None, split: Split, pictures: bool) -> tuple[Path, str]:
    """A local folder with the files of a split, and the commit that `revision` points to.

    With the layout of one file a contest, only the contests of the split are downloaded. Raises BadInput where the
    dataset or the revision does not exist, or the hub cannot be reached.
    """
    from huggingface_hub import snapshot_download

    commit, unreachable = known_commit(dataset, revision)
    if unreachable is not None:
        warnings.warn(f"{dataset}: the hub cannot be reached ({unreachable}); files of commit {commit}.", stacklevel=3)
    with as_bad_input(Request(dataset, "ranking", split, (), pictures), remedy="Try again, or use dataset=<folder>."):
        folder = snapshot_download(
            dataset,
            repo_type="dataset",
            revision=commit,
            allow_patterns=_patterns(split, pictures),
            local_files_only=unreachable is not None,
        )
    return Path(folder), commit


def _patterns(split: Split, pictures: bool) -> list[str]:
    numbers = _NUMBERS.get(split)
    stems = ["*"] if numbers is None else [*map(str, numbers), *_FILES[split]]
    found = ["gpt4o_description/*"]
    found += [f"{place}/{stem}.csv" for place in ("ranking", "ranking/source") for stem in stems]
    if pictures:  # with 605, whose picture the public 607 has
        found += ["cartoons/*"] if numbers is None else [f"cartoons/{stem}.*" for stem in (*stems, "605")]
    return found
