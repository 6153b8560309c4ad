"""The replies of GPT-3.5 and GPT-4 that the authors of Hessel et al. 2023 released, in the form of their caches.

A cache is JSON lines of instance_id, query and response, one a task, model and number of worked examples, such as
query_cache/matching_gpt-4_5_cache.jsonl; query_cache.zip holds all of them. Reading is that of their code,
gpt4/gpt4_from_description.py of caption_contest_corpus: a reply without one clear letter was given to GPT-3.5, whose
reply is in the same cache under the MD5 of the first; of an explanation some headings stand for "Explanation:".
"""

from __future__ import annotations

import hashlib
import re
import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath

from humor_tasks.benchmarks.caption_contest.corpus import CARD
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import parse_line, read_body
from humor_tasks.results.reproduce.rows import Row

FIELDS = frozenset({"instance_id", "query", "response"})
_HEADINGS = re.compile(r"Step 3: Explanation -|Summary:")
_MODEL = re.compile(r"--model openai/(\S+)")


def is_query_cache(path: Path) -> bool:
    """Whether a file is such a cache, or a zip of them."""
    if path.suffix == ".zip":
        return True
    if path.suffix != ".jsonl":
        return False
    try:
        with path.open("rb") as file:  # its first line alone: the file is read as a whole by who knows what it is
            first = next((line for line in file if line.strip()), b"")
    except OSError:
        return False  # whose reader says why
    return all(f'"{name}"'.encode() in first for name in FIELDS)


def read_query_cache(row: Row, path: Path, ids: Collection[str], letters: bool) -> dict[str, str]:
    """The replies to the items `ids` of a row by id; other lines of the cache are of other rows, or extractions.

    letters: whether the answers are letters, or else explanations.
    The last of several replies to an item counts, as in their code. Raises BadInput for a zip without the row's cache,
    a line of another form, and a cache without a reply to any of the items.
    """
    where, text = _cache_of(row, path) if path.suffix == ".zip" else (str(path), read_body(path))
    responses: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            entry = parse_line(line, f"{where}, line {number}")
            if not isinstance(entry, dict) or not all(isinstance(entry.get(name), str) for name in FIELDS):
                raise BadInput(f"{where}, line {number}: must be an object with the texts {', '.join(sorted(FIELDS))}.")
            responses[entry["instance_id"]] = entry["response"]
    replies = {identity: responses[identity] for identity in ids if identity in responses}
    if not replies:
        raise BadInput(f"{where}: has a reply to none of the {len(ids):,} items of {row.name}; give that row's cache.")
    if not letters:
        return {identity: _HEADINGS.sub("Explanation:", reply) for identity, reply in replies.items()}
    return {identity: _with_letter(reply, responses) for identity, reply in replies.items()}


def cache_name(row: Row) -> str:
    """The name of a row's cache. Raises BadInput for a row of another model."""
    model = _MODEL.search(row.command)
    if model is None or row.card != CARD:
        raise BadInput(f"{row.name}: the released replies are those of GPT-3.5 and GPT-4; name one of their rows.")
    shots = row.parameters.get("shots", 0)
    return "_".join([row.benchmark, model[1], *([str(shots)] if shots else []), "cache.jsonl"])


def _cache_of(row: Row, path: Path) -> tuple[str, str]:
    """Where the row's cache is in a zip, and its text."""
    name = cache_name(row)
    try:
        with zipfile.ZipFile(path) as archive:
            for member in archive.namelist():
                if PurePosixPath(member).name == name:
                    return f"{path}, {member}", archive.read(member).decode("utf-8")
    except (zipfile.BadZipFile, zlib.error, UnicodeDecodeError, RuntimeError, OSError) as problem:  # or encrypted
        raise BadInput(f"{path}: cannot be read ({problem}).") from None
    raise BadInput(f"{path}: has no {name}, the cache of {row.name}.")


def _with_letter(reply: str, responses: dict[str, str]) -> str:
    """The reply, or the letter that was extracted from it where it has none or several."""
    if len(_letters(reply, "Answer")) == 1:
        return f"Answer: {_letters(reply, 'Answer')[0]}"
    found = _letters(responses.get(hashlib.md5(reply.encode("utf-8", "surrogatepass")).hexdigest(), ""), "Final Answer")
    return f"Answer: {found[0]}" if len(found) == 1 else reply


def _letters(text: str, marker: str) -> list[str]:
    return [letter for letter in "ABCDE" if f"{marker}: {letter}" in text]
