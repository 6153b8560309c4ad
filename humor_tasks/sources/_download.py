"""A public file of known content, fetched once."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from humor_tasks.errors import BadInput


def fetch(name: str, sha256: str, urls: Sequence[str]) -> Path:
    """The local copy of a file, fetched from the first of `urls` that has it.

    Kept in `$HF_HOME/humor_tasks/files`, beside what is fetched from the hub; a copy whose SHA-256 is
    not `sha256` is never used. Raises BadInput naming each address and what was wrong with it.
    """
    from huggingface_hub import constants

    folder = Path(constants.HF_HOME) / "humor_tasks" / "files" / sha256[:12]
    kept = folder / name
    if kept.is_file() and hashlib.sha256(kept.read_bytes()).hexdigest() == sha256:
        return kept
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    problems = []
    for url in urls:
        try:
            found = pooch.retrieve(
                url, f"sha256:{sha256}", name, folder, downloader=pooch.HTTPDownloader(timeout=30, progressbar=False)
            )
        except ValueError:  # pooch's word for another hash
            problems.append(f"{url} has other content than SHA-256 {sha256}")
        except (requests.RequestException, OSError) as problem:
            problems.append(f"{url}: {type(problem).__name__}")
        else:
            return Path(found)
    raise BadInput(
        f"{name} could not be fetched: {'; '.join(problems)}. Get the file yourself and name it: dataset=<file>. "
        "dataset=sample is the packaged sample."
    )
