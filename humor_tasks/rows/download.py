"""Download of a public file with a known SHA-256, cached locally."""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_bytes


def fetch(name: str, sha256: str, urls: Sequence[str]) -> Path:
    """The local copy of a file, downloaded from the first of `urls` that has it.

    A URL ending in .zip is an archive that contains the file in any folder. Files are cached in
    `$HF_HOME/humor_tasks/files`; a file with another SHA-256 than `sha256` is never used. Raises BadInput with the
    error of each URL.
    """
    from huggingface_hub import constants

    files = Path(constants.HF_HOME) / "humor_tasks" / "files"
    cached = files / sha256[:12] / name
    if cached.is_file() and hashlib.sha256(cached.read_bytes()).hexdigest() == sha256:
        return cached
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    downloader = pooch.HTTPDownloader(timeout=30, progressbar=False)
    problems = []
    for url in urls:
        archive = url.endswith(".zip")
        known = None if archive else f"sha256:{sha256}"
        try:
            if not archive:
                return Path(pooch.retrieve(url, known, name, cached.parent, downloader=downloader))
            data = _from_archive(url, files / "archives", downloader, Path(name).name, sha256)
            write_bytes(cached, data)
            return cached
        except (ValueError, LookupError, RuntimeError, zlib.error, zipfile.BadZipFile):
            # pooch raises ValueError for another hash, zipfile raises RuntimeError for an encrypted member
            problems.append(f"{url} has other content than SHA-256 {sha256}")
        except (requests.RequestException, OSError) as problem:
            problems.append(f"{url}: {type(problem).__name__}")
    raise BadInput(
        f"{name} could not be downloaded: {'; '.join(problems)}. Download it yourself and use dataset=<file> "
        "or, for several files, dataset=<folder>. dataset=sample is the packaged sample."
    )


def _from_archive(url: str, folder: Path, downloader: Any, name: str, sha256: str) -> bytes:
    """The file's bytes from an archive; an archive without it is not cached, because the URL may later have another
    one.
    """
    import pooch

    archive = Path(pooch.retrieve(url, None, None, folder, downloader=downloader))
    try:
        return _member(archive, name, sha256)
    except Exception:
        archive.unlink(missing_ok=True)
        raise


def _member(archive: Path, name: str, sha256: str) -> bytes:
    """The archive member with that name and SHA-256, in any folder of the archive."""
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            if info.filename.rsplit("/", 1)[-1] == name and info.file_size < 100_000_000:
                data = opened.read(info)
                if hashlib.sha256(data).hexdigest() == sha256:
                    return data
    raise LookupError(name)
