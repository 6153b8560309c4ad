"""Rows of a hub dataset: the wanted columns of the wanted split, fetched once and kept by commit.

`$HF_HOME/humor_tasks/datasets--<owner>--<name>/` holds `refs/<revision>` (the commit it stood for when last asked, as
huggingface_hub does), `<commit>/<config>--<split>--<columns>.arrow`, and, for datasets that are not parquet,
`<commit>/files`. Without a network these answer, and after them what `datasets` itself kept.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from humor_tasks.data.rows.folder import (
    brief,
    check_split,
    choose_split,
    explained,
    find_builder,
    from_dataset,
    is_parquet,
    read_folder,
    stream_split,
    without_torch,
)
from humor_tasks.data.rows.table import Rows, Table, Want, finish
from humor_tasks.errors import BadInput

logger = logging.getLogger(__name__)

_AGAIN = "Try again, name another revision, or use a local copy: dataset=<folder>."
_COMMIT = re.compile(r"[0-9a-f]{40}")


def open_hub(want: Want, revision: str | None) -> Rows:
    """The rows of a hub dataset at a branch, tag or commit; None is the main branch."""
    home = _home(want.dataset)
    if revision and _COMMIT.fullmatch(revision):
        # A commit never changes: what is kept of it needs no network.
        table = _read_kept(want, home / revision)
        if table is not None:
            return finish(want, table, revision, revision)
    commit, unreachable = _resolve(want, revision, home)
    if unreachable is not None:
        table, commit = _without_network(want, revision, commit, home, unreachable)
        return finish(want, table, revision, commit)
    assert commit is not None
    table = _read_kept(want, home / commit)
    if table is None:
        with explained(want, remedy=_AGAIN):
            table = _fetch(want, commit, home / commit)
    return finish(want, table, revision, commit)


def resolve(dataset: str, revision: str | None) -> str:
    """The commit that `revision` stands for just now; BadInput where the hub cannot be asked."""
    commit, unreachable = _resolve(Want(dataset, "", "", (), False), revision, _home(dataset))
    if commit is None or unreachable is not None:
        raise BadInput(
            f"{dataset}: the hub cannot be reached ({unreachable}) to ask what the dataset holds. Use a local copy: "
            f"`hf download {dataset} --repo-type dataset --local-dir <folder>`, then dataset=<folder>."
        )
    return commit


def _home(dataset: str) -> Path:
    from huggingface_hub import constants

    return Path(constants.HF_HOME) / "humor_tasks" / f"datasets--{dataset.replace('/', '--')}"


def _resolve(want: Want, revision: str | None, home: Path) -> tuple[str | None, str | None]:
    """The commit `revision` stands for and, when the hub did not say so just now, why it could not be asked."""
    import datasets
    from huggingface_hub import HfApi, constants
    from huggingface_hub import errors as hub_errors

    ref = home / "refs" / quote(revision or "main", safe="")
    try:
        if datasets.config.HF_HUB_OFFLINE:
            raise ConnectionError("offline mode is on")
        info = HfApi().dataset_info(want.dataset, revision=revision, timeout=constants.HF_HUB_ETAG_TIMEOUT)
    except hub_errors.GatedRepoError as error:
        raise BadInput(
            f"{want.dataset} is gated: ask for access on its page, then run `hf auth login` or set HF_TOKEN."
        ) from error
    except hub_errors.RevisionNotFoundError as error:
        raise BadInput(f"{want.dataset}: there is no revision '{revision}' (a branch, tag or full commit).") from error
    except (hub_errors.RepositoryNotFoundError, hub_errors.HFValidationError) as error:
        raise BadInput(
            f"dataset={want.dataset}: there is no such folder here and no such dataset on the hub (if it is private, "
            "run `hf auth login` or set HF_TOKEN). dataset=sample is the packaged sample."
        ) from error
    except Exception as error:  # no route, time-out, a 5xx: which class it is depends on the hub client's version
        known = ref.read_text(encoding="utf-8").strip() if ref.is_file() else revision or ""
        return (known if _COMMIT.fullmatch(known) else None), brief(error)
    commit = str(info.sha)
    if not ref.is_file() or ref.read_text(encoding="utf-8").strip() != commit:
        with contextlib.suppress(OSError), _beside(ref) as part:  # only what an offline run would need
            part.write_text(commit, encoding="utf-8")
    return commit, None


def _kept_file(want: Want, folder: Path) -> Path:
    columns = hashlib.sha256("\n".join(sorted(want.needed)).encode()).hexdigest()[:12]
    return folder / quote(f"{want.config}--{want.split}--{columns}.arrow", safe="")


def _read_kept(want: Want, folder: Path) -> Table | None:
    """What was fetched earlier at this commit; None when nothing was, or the copy is damaged."""
    kept = _kept_file(want, folder)
    if not kept.is_file():
        return None
    from datasets import Dataset

    try:
        return from_dataset(want, Dataset.from_file(str(kept)), None)
    except Exception as error:
        logger.info("%s: %s cannot be used (%s).", want.place, kept, brief(error))
        return None


def _fetch(want: Want, commit: str, folder: Path) -> Table:
    from datasets import Dataset
    from datasets.packaged_modules.cache.cache import Cache

    builder = find_builder(want, want.dataset, commit)
    if isinstance(builder, Cache):  # what datasets falls back to, silently, when it cannot read a repository
        raise FileNotFoundError(f"commit {commit} holds no data files that datasets can read")
    files = choose_split(want, builder)
    if is_parquet(builder):
        kept = _kept_file(want, folder)
        with explained(want, files, _AGAIN), without_torch():
            _keep(want, stream_split(want, builder, files), kept)
        return from_dataset(want, Dataset.from_file(str(kept)), None)
    # Other formats have no columns to choose from, and their pictures are files: take the files.
    from huggingface_hub import snapshot_download

    patterns = None if want.pictures else ["*.md", "*.yaml", "*.json*", "*.csv", "*.tsv", "*.txt"]
    target = folder / "files"
    snapshot_download(want.dataset, repo_type="dataset", revision=commit, local_dir=target, allow_patterns=patterns)
    return read_folder(want, target)


def _keep(want: Want, stream: Any, kept: Path) -> None:
    """Writes a stream batch by batch as an Arrow file, which is memory-mapped when read."""
    import pyarrow as pa
    from tqdm import tqdm

    with _beside(kept) as part, part.open("wb") as file, contextlib.ExitStack() as stack:
        # disable=None: no bar where stderr is not a terminal
        bar = stack.enter_context(tqdm(desc=f"Fetching {want.place}", unit=" rows", disable=None))
        writer = None
        for batch in stream.with_format("arrow").iter(batch_size=100):
            writer = writer or stack.enter_context(pa.ipc.new_stream(file, batch.schema))
            writer.write_table(batch)
            bar.update(batch.num_rows)
        if writer is None:
            raise BadInput(f"{want.place}: there are no rows.")


@contextlib.contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """A path to write that becomes `target` when all went well, so that nobody ever reads half a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f"{target.name}.{uuid.uuid4().hex[:8]}.part")
    try:
        yield part
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def _without_network(
    want: Want, revision: str | None, commit: str | None, home: Path, why: str
) -> tuple[Table, str | None]:
    """Rows kept from earlier, by this package or by `datasets`, and the commit they are of."""
    table = None
    if commit is not None:
        table = _read_kept(want, home / commit)
        if table is None and (home / commit / "files").is_dir():
            table = read_folder(want, home / commit / "files")
    if table is None and (commit is not None or revision is None):
        # A branch that was never resolved here is left out: datasets' copy may be of any other.
        table, commit = _from_datasets(want, commit)
    if table is None:
        raise BadInput(
            f"{want.place}: the hub cannot be reached ({why}), and these rows were not fetched before. Use "
            "dataset=sample for the packaged sample, or dataset=<folder> for a local copy, made where there is a "
            f"network by `hf download {want.dataset} --repo-type dataset --local-dir <folder>`."
        )
    logger.info("%s: the hub cannot be reached (%s); using the copy kept of commit %s.", want.place, why, commit)
    return table, commit


def _from_datasets(want: Want, commit: str | None) -> tuple[Table | None, str | None]:
    """What `datasets` kept of an earlier load_dataset, if it is of this commit (None: of the latest it has)."""
    # The builder load_dataset falls back to; asked for directly, as load_dataset first retries the network for long.
    from datasets.packaged_modules.cache.cache import Cache

    version, digest = ("0.0.0", commit) if commit else ("auto", "auto")
    name = want.dataset.split("/")[-1]
    try:
        builder = Cache(repo_id=want.dataset, dataset_name=name, config_name=want.config, version=version, hash=digest)
        builder.download_and_prepare()
    except ValueError:  # nothing kept
        return None, None
    with explained(want):
        check_split(want, builder.info.splits or {})
        table = from_dataset(want, builder.as_dataset(split=want.split), None)
    return table, builder.hash if _COMMIT.fullmatch(str(builder.hash)) else None
