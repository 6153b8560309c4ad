"""Shared code of the HumorBench benchmarks: the corpus and its pinned files, keys and subsets.

Narad et al. 2025, arXiv 2507.21476. Corpus: ReubenNarad/Humor-Bench, 499 elements of 309 captions under 156 cartoons.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from humor_tasks.contract.card import Source
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput, listed, nearest
from humor_tasks.files.reading import check_text, parse_json, read_body
from humor_tasks.rows import CsvRows, fetch, read_csv

CARD = "humorbench"
PUBLIC = "ReubenNarad/Humor-Bench"
SUBSETS = (
    *("all", "hard", "wordplay", "cultural_reference", "toxic_or_shocking"),
    *("visual_link", "subverted_trope", "multi_step"),  # this package's lists
)
ELEMENTS = "comprehensive_annotations.csv"
SAMPLE_RUBRIC = "sample_rubric.csv"
IDS = ("idx",)
RUBRIC = ("idx", "description", "caption", "element", "explanation", "explainer_model")
"""The columns of a file of explanations, without a person's `label`."""

_RAW = "https://raw.githubusercontent.com/ReubenNarad"
_ELEMENTS_AT = "39cd27b8447cdab0c457b569c122f0aa0b970c01"
_RUBRICS_AT = "f11fb0081d1ed6e7561318b7a348de6a9d675785"
# File name -> SHA-256 and URLs. The repository was formerly named caption_init; the commit exists under both names.
PINNED: dict[str, tuple[str, tuple[str, ...]]] = {
    ELEMENTS: (
        "d7a91c81978757aeb8e6215b02932d4487ece85187d2e9b76d685c275a9b27ea",
        tuple(f"{_RAW}/{name}/{_ELEMENTS_AT}/{ELEMENTS}" for name in ("caption_init", "Humor-Bench")),
    ),
    "gpt_4o_rubric.csv": (
        "16908ccc9bd2b8936150853b82b08c2f95a47c5e90966231ea47351f0a08fdc1",
        (f"{_RAW}/Humor-Bench/{_RUBRICS_AT}/rubric/gpt_4o_rubric.csv",),
    ),
    "gemini_2.5_pro_rubric.csv": (
        "d55a34828d667bef42b794576a2b361b5ddfd6ca31234324d527ccd8136fa8eb",
        (f"{_RAW}/Humor-Bench/{_RUBRICS_AT}/rubric/gemini_2.5_pro_rubric.csv",),
    ),
}
COMMITS = {name: _ELEMENTS_AT if name == ELEMENTS else _RUBRICS_AT for name in PINNED}


DATES = "Cartoons of the contests 2 to 711, about May 2005 to June 2020 (446 elements), and of CartoonStock."


# ---- source -------------------------------------------------------------------------------------


def source(rows: str, *files: str) -> Source:
    """The repository as the source of a benchmark that reads these rows of these files."""
    licence = "MIT; cartoons and captions belong to their creators."
    return Source(PUBLIC, "The files are pinned by SHA-256.", {name: PINNED[name][0] for name in files}, licence, rows)


def open_csv(dataset: str, name: str, sample: str, columns: Sequence[str]) -> tuple[CsvRows, str | None]:
    """The rows of one file, and its commit.

    dataset: the name of the public repository (its pinned file `name`), `sample` (the packaged file `sample`), a CSV
    file, or a folder that contains `name`.
    """
    if dataset == PUBLIC:
        return read_csv(fetch(name, *PINNED[name]), columns, ids=IDS), COMMITS[name]
    if dataset == "sample":
        return read_csv(Path(folder(CARD)) / sample, columns, ids=IDS), None
    path = Path(dataset).expanduser()
    if path.is_dir() and name in PINNED:
        path /= name
    if not path.is_file() and dataset.lower().endswith(".csv"):
        raise BadInput(
            f"dataset={dataset}: there is no such file. Correct the path, or get the file from "
            f"https://github.com/{PUBLIC} (labels are in rubric/); dataset={PUBLIC} reads the pinned ones."
        )
    if not path.is_file():
        in_folder = f", nor a folder with {name}" if name in PINNED else ""
        raise BadInput(
            f"dataset={dataset} is neither '{PUBLIC}' (the public file, downloaded once), nor 'sample', nor a CSV file"
            f"{in_folder}.{nearest(dataset, [PUBLIC, 'sample'])}"
        )
    return read_csv(path, columns, ids=IDS), None


def cells(row: Mapping[str, str], columns: Iterable[str], where: str) -> dict[str, str]:
    """The texts of these columns with whitespace collapsed; BadInput for an empty one."""
    return {column: " ".join(check_text(row[column], f"{where}: {column}").split()) for column in columns}


def mark(*texts: str) -> str:
    """The first 8 hex digits of the SHA-256 over texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:8]


def cluster_of(description: str) -> str:
    """The cluster of a cartoon's captions, elements and explanations."""
    return f"cartoon-{mark(description)}"


def key(idx: str, element: str) -> str:
    """The id of (idx, element): neither is unique alone, but the combination is."""
    return f"{' '.join(idx.split())}-{mark(' '.join(element.split()))}"


def check_distinct(ids: Sequence[str], where: Sequence[str], what: str) -> None:
    """Raise BadInput for a duplicate id, with both lines."""
    seen: dict[str, str] = {}
    for identity, place in zip(ids, where, strict=True):
        if identity in seen:
            raise BadInput(f"{place}: the same {what} as {seen[identity]}. Remove one of the rows.")
        seen[identity] = place


# ---- subsets ------------------------------------------------------------------------------------


def subset_keys(subset: str, dataset: str) -> frozenset[str] | None:
    """The keys of a subset; None for `all`.

    A subset is the name of a list for the public corpus or the sample, or a file: JSON ({"keys": [...]}) as written by
    `humor-tasks analyse hard-subset`, or CSV with the columns idx and element.
    """
    if subset == "all":
        return None
    if subset in SUBSETS:
        path = Path(folder(CARD)) / "subsets" / ("sample" if dataset == "sample" else "") / f"{subset}.json"
        if not path.is_file():
            raise BadInput(
                f"subset={subset}: the sample has no such list; create one with `humor-tasks analyse hard-subset`."
            )
        return _read_keys(path)
    path = Path(subset).expanduser()
    if path.is_file():
        return _read_keys(path)
    raise BadInput(
        f"subset: there is no '{subset}'; choose from {', '.join(SUBSETS)}, or give a file of keys."
        f"{nearest(subset, SUBSETS)}"
    )


def _read_keys(path: Path) -> frozenset[str]:
    if path.suffix.lower() == ".csv":
        table = read_csv(path, ("idx", "element"), ids=IDS)
        return frozenset(key(row["idx"], row["element"]) for row in table.rows)
    try:
        keys = parse_json(path, read_body(path))["keys"]
    except (BadInput, KeyError, TypeError) as problem:
        why = str(problem) if isinstance(problem, BadInput) else f"{path}: cannot be read as a list of keys."
        raise BadInput(
            f'{why} It must be JSON {{"keys": ["IDX-MARK", ...]}} or CSV with the columns idx and element.'
        ) from None
    if not isinstance(keys, list) or not keys or not all(isinstance(k, str) for k in keys):
        raise BadInput(f'{path}: "keys" must be a list of texts with at least one entry.')
    return frozenset(keys)


def subset_logs(subset: str) -> frozenset[tuple[str, str]]:
    """File and model of the logs that chose the rows of a file by `humor-tasks analyse hard-subset`; else empty."""
    path = Path(subset).expanduser()
    if path.suffix.lower() == ".csv" or not path.is_file():
        return frozenset()
    source = parse_json(path, read_body(path)).get("source")
    logs = source.get("logs") if isinstance(source, Mapping) else None
    return frozenset((log["log"], log["model"]) for log in logs or ())


def check_keys(wanted: Iterable[str], known: Iterable[str], subset: str, dataset: str) -> None:
    """Raise BadInput where a subset contains keys that are not in the data."""
    missing = sorted(set(wanted) - set(known))
    if missing:
        raise BadInput(
            f"subset={subset}: {listed('key', missing)} of the list {'is' if len(missing) == 1 else 'are'} not in "
            f"{dataset}; the list belongs to another file or another revision of it."
        )
