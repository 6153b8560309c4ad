"""Texts that stand in another dataset, too: in the packaged samples, and in datasets that are named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from humor_tasks.corpora.audit.findings import Finding, counted, found
from humor_tasks.corpora.audit.items import Items, Part, key
from humor_tasks.corpora.audit.tables import read_file, row_files
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput

SHORTEST = 20
"""Letters and digits of the shortest text that is looked for; shorter ones are alike by accident."""
OWN = 0.9
"""A dataset that holds this share of the texts is the audited one."""


def elsewhere(data: Items, against: Sequence[str]) -> tuple[list[Finding], list[str]]:
    """Findings, and what was compared, one sentence for each dataset.

    against: files and dataset folders. Raises BadInput for one that is neither, or that cannot be read.
    """
    wanted: dict[str, tuple[str, str]] = {}
    for item in data.items:
        for text in (*item.texts, item.context):
            if len(own := key(text)) >= SHORTEST:
                wanted.setdefault(own, (item.where, text))
    findings: list[Finding] = []
    told = []
    for name, files in (*_samples(), *((name, _files(name)) for name in against)):
        held = {own for file in files for own in _keys(file)}
        common = [own for own in wanted if own in held]
        if wanted and len(common) >= OWN * len(wanted):
            told.append(f"{name} holds {len(common):,} of the {len(wanted):,} texts: it is taken for the same dataset.")
            continue
        told.append(f"{name}: {len(held):,} texts compared.")
        rows = [f"{wanted[own][0]}: {wanted[own][1]:.80}" for own in common]
        findings += found("text_elsewhere", "warning", f"{counted(len(rows), 'text')} also in {name}.", rows)
    return findings, told


def _samples() -> list[tuple[str, list[Path]]]:
    """The packaged sample of each corpus and its files."""
    home = Path(folder("humicroedit")).parent
    each = [path for path in sorted(home.iterdir()) if (path / "README.md").is_file()]
    return [(f"the packaged sample {path.name}", _files(str(path))) for path in each]


def _files(dataset: str) -> list[Path]:
    path = Path(dataset).expanduser()
    if path.is_file():
        return [path]
    if not path.is_dir():
        raise BadInput(f"--against {dataset}: there is no such file or folder.")
    return row_files(path)


def _keys(file: Path) -> Iterator[str]:
    for row in read_file(file, Part(file.stem, "", file.stem)).rows:
        for text in _strings(list(row.values())):
            if len(own := key(text)) >= SHORTEST:
                yield own


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each)
    elif isinstance(value, dict):
        yield from _strings(list(value.values()))
