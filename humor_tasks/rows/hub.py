"""Rows of a hub dataset: the requested columns of the requested split, downloaded once and cached by commit.

`$HF_HOME/humor_tasks/datasets--<owner>--<name>/` holds `refs/<revision>` (the commit at the last request, as in
huggingface_hub), `<commit>/<config>--<split>--<columns>.arrow`, and, for datasets that are not parquet,
`<commit>/files`. Without network access these files are used, or else the cache of `datasets`.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from humor_tasks.errors import BadInput
from humor_tasks.files.writing import moved_into_place
from humor_tasks.rows.folder import (
    as_bad_input,
    brief,
    check_split,
    choose_split,
    find_builder,
    from_dataset,
    is_parquet,
    read_folder,
    stream_split,
    without_torch,
)
from humor_tasks.rows.pins import pinned
from humor_tasks.rows.table import Request, Rows, Table, finish

logger = logging.getLogger(__name__)

_RETRY = "Try again, name another revision, or use a local copy: dataset=<folder>."
_COMMIT = re.compile(r"[0-9a-f]{40}")


def open_hub(request: Request, revision: str | None) -> Rows:
    """The rows of a hub dataset at a branch, tag or commit; None is its pin, and without a pin the main branch. Raises
    BadInput as `open_rows` does.
    """
    home = _home(request.dataset)
    named = pinned(request.dataset, revision)
    if named and _COMMIT.fullmatch(named):
        # A commit never changes, so its cached files need no network access.
        table = _read_cached(request, home / named)
        if table is not None:
            return finish(request, table, revision, named)
    commit, unreachable = _resolve(request, revision, home)
    if unreachable is not None:
        table, commit = _without_network(request, named, commit, home, unreachable)
        return finish(request, table, revision, commit)
    assert commit is not None
    table = _read_cached(request, home / commit)
    if table is None:
        with as_bad_input(request, remedy=_RETRY):
            table = _fetch(request, commit, home / commit)
    return finish(request, table, revision, commit)


def resolve(dataset: str, revision: str | None) -> str:
    """The commit that `revision` currently points to. Raises BadInput where the hub cannot be reached."""
    commit, unreachable = _resolve(Request(dataset, "", "", (), False), revision, _home(dataset))
    if commit is None or unreachable is not None:
        raise BadInput(
            f"{dataset}: the hub cannot be reached ({unreachable}) to list the dataset's contents. Use a local copy: "
            f"`hf download {dataset} --repo-type dataset --local-dir <folder>`, then dataset=<folder>."
        )
    return commit


def known_commit(dataset: str, revision: str | None) -> tuple[str, str | None]:
    """The commit that `revision` points to, and, if the hub could not be asked and it is that of an earlier run, why.

    Raises BadInput where neither is known.
    """
    commit, unreachable = _resolve(Request(dataset, "", "", (), False), revision, _home(dataset))
    return (commit, unreachable) if commit is not None else (resolve(dataset, revision), None)


def _home(dataset: str) -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HOME) / "humor_tasks" / f"datasets--{dataset.replace('/', '--')}"


def _resolve(request: Request, revision: str | None, home: Path) -> tuple[str | None, str | None]:
    """The commit that `revision` points to and, if the hub could not be asked, the reason."""
    import datasets
    from huggingface_hub import HfApi, constants
    from huggingface_hub import errors as hub_errors

    asked, revision = revision, pinned(request.dataset, revision)
    ref = home / "refs" / quote(revision or "main", safe="")
    try:
        if datasets.config.HF_HUB_OFFLINE:
            raise ConnectionError("offline mode is on")
        info = HfApi().dataset_info(request.dataset, revision=revision, timeout=constants.HF_HUB_ETAG_TIMEOUT)
    except hub_errors.GatedRepoError as error:
        raise BadInput(
            f"{request.dataset} is gated: ask for access on its page, then run `hf auth login` or set HF_TOKEN."
        ) from error
    except hub_errors.RevisionNotFoundError as error:
        if asked is None:
            raise BadInput(
                f"{request.dataset}: the hub does not have commit {revision}, the default; take the newest rows with "
                "-T revision=main (lm-eval: --metadata dataset_revision=main)."
            ) from error
        raise BadInput(
            f"{request.dataset}: there is no revision '{revision}' (a branch, tag or full commit)."
        ) from error
    except (hub_errors.RepositoryNotFoundError, hub_errors.HFValidationError) as error:
        raise BadInput(
            f"dataset={request.dataset}: there is no such folder here and no such dataset on the hub (if it is "
            "private, run `hf auth login` or set HF_TOKEN). dataset=sample is the packaged sample."
        ) from error
    except Exception as error:  # no route, time-out or a 5xx; the exception class depends on the hub client's version
        known = ref.read_text(encoding="utf-8").strip() if ref.is_file() else revision or ""
        return (known if _COMMIT.fullmatch(known) else None), brief(error)
    commit = str(info.sha)
    if not ref.is_file() or ref.read_text(encoding="utf-8").strip() != commit:
        with contextlib.suppress(OSError), moved_into_place(ref) as part:  # needed only by later offline runs
            part.write_text(commit, encoding="utf-8")
    return commit, None


def _cache_file(request: Request, folder: Path) -> Path:
    columns = hashlib.sha256("\n".join(sorted(request.needed)).encode()).hexdigest()[:12]
    return folder / quote(f"{request.config}--{request.split}--{columns}.arrow", safe="")


def _read_cached(request: Request, folder: Path) -> Table | None:
    """The rows cached for this commit; None where there are none or the file is damaged."""
    cached = _cache_file(request, folder)
    if not cached.is_file():
        return None
    from datasets import Dataset

    try:
        return from_dataset(request, Dataset.from_file(str(cached)), None)
    except Exception as error:
        logger.info("%s: %s cannot be used (%s).", request.place, cached, brief(error))
        return None


def _fetch(request: Request, commit: str, folder: Path) -> Table:
    from datasets import Dataset
    from datasets.packaged_modules.cache.cache import Cache

    builder = find_builder(request, request.dataset, commit)
    if isinstance(builder, Cache):  # the silent fallback of datasets for a repository that it cannot read
        raise FileNotFoundError(f"commit {commit} holds no data files that datasets can read")
    files = choose_split(request, builder)
    if is_parquet(builder):
        cached = _cache_file(request, folder)
        with as_bad_input(request, files, _RETRY), without_torch():
            _write_cache(request, stream_split(request, builder, files), cached)
        return from_dataset(request, Dataset.from_file(str(cached)), None)
    # Other formats cannot be read by column, and their pictures are files: download the files.
    from huggingface_hub import snapshot_download

    patterns = None if request.pictures else ["*.md", "*.yaml", "*.json*", "*.csv", "*.tsv", "*.txt"]
    target = folder / "files"
    snapshot_download(request.dataset, repo_type="dataset", revision=commit, local_dir=target, allow_patterns=patterns)
    return read_folder(request, target)


def _write_cache(request: Request, stream: Any, cached: Path) -> None:
    """Write a stream batch by batch as an Arrow file, which is memory-mapped when read."""
    import pyarrow as pa
    from tqdm import tqdm

    with moved_into_place(cached) as part, part.open("wb") as file, contextlib.ExitStack() as stack:
        # disable=None: no progress bar where stderr is not a terminal
        bar = stack.enter_context(tqdm(desc=f"Fetching {request.place}", unit=" rows", disable=None))
        writer = None
        for batch in stream.with_format("arrow").iter(batch_size=100):
            writer = writer or stack.enter_context(pa.ipc.new_stream(file, batch.schema))
            writer.write_table(batch)
            bar.update(batch.num_rows)
        if writer is None:
            raise BadInput(f"{request.place}: there are no rows.")


def _without_network(
    request: Request, revision: str | None, commit: str | None, home: Path, why: str
) -> tuple[Table, str | None]:
    """Rows cached by this package or by `datasets`, and their commit. Raises BadInput where there are none."""
    table = None
    if commit is not None:
        table = _read_cached(request, home / commit)
        if table is None and (home / commit / "files").is_dir():
            table = read_folder(request, home / commit / "files")
    if table is None and (commit is not None or revision in (None, "main")):
        # Not for a revision that was never resolved here: the cache of datasets may hold another one.
        table, commit = _from_datasets(request, commit)
    if table is None:
        raise BadInput(
            f"{request.place}: the hub cannot be reached ({why}), and these rows are not cached. Use "
            "dataset=sample for the packaged sample, or dataset=<folder> for a local copy, downloaded elsewhere with "
            f"`hf download {request.dataset} --repo-type dataset --local-dir <folder>`."
        )
    logger.info("%s: the hub cannot be reached (%s); using the cached copy of commit %s.", request.place, why, commit)
    return table, commit


def _from_datasets(request: Request, commit: str | None) -> tuple[Table | None, str | None]:
    """The rows in the cache of `datasets` for this commit (None: its latest)."""
    # The fallback builder of load_dataset; used directly, because load_dataset first retries the network.
    from datasets.packaged_modules.cache.cache import Cache

    version, digest = ("0.0.0", commit) if commit else ("auto", "auto")
    name = request.dataset.split("/")[-1]
    try:
        builder = Cache(
            repo_id=request.dataset, dataset_name=name, config_name=request.config, version=version, hash=digest
        )
        builder.download_and_prepare()
    except ValueError:  # nothing cached
        return None, None
    with as_bad_input(request):
        check_split(request, builder.info.splits or {})
        table = from_dataset(request, builder.as_dataset(split=request.split), None)
    return table, builder.hash if _COMMIT.fullmatch(str(builder.hash)) else None
