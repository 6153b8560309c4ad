"""What is known of the rows that published figures are of, and whether given rows are those.

The facts are in the table `rows` of a card's reproduce.toml, by benchmark. The corpora themselves are not packaged.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks import find_benchmark
from humor_tasks.contract.definition import Run
from humor_tasks.errors import check_choice
from humor_tasks.logs.signature import Signature
from humor_tasks.rows.pins import DATASETS
from humor_tasks.rows.records import Record

Item = tuple[Mapping[str, str], str]
"""The groups and the id of a record, or of its outcome."""


@dataclass(frozen=True)
class Known:
    """What is known of the published rows of one benchmark.

    files: names of the benchmark's pinned files (`Source.files`); the last one holds the rows, the others are training
    rows. group: a name in a record's groups; counts: its value -> the number of items. total: the number of items.
    count: the name in a record's groups that tells items apart, where several records are one item; by default the
    record's id. texts: value of the group -> `texts_digest` of its records. ids: `ids_digest` of the records of each
    value of the group, of ids without the value at their end. absent: a sentence, where the rows are not to be had.
    """

    files: tuple[str, ...] = ()
    group: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    total: int | None = None
    count: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    ids: str = ""
    absent: str = ""


def read_known(entries: Mapping[str, Any], where: str) -> dict[str, Known]:
    """Benchmark -> what is known of its rows, from the table `rows` of a file. Raises BadInput for unknown fields."""
    for name, entry in entries.items():
        find_benchmark(name)
        for part in entry:
            check_choice(f"{where}, rows.{name}", part, {field.name for field in fields(Known)})
    return {name: Known(**{**entry, "files": tuple(entry.get("files", ()))}) for name, entry in entries.items()}


def texts_digest(records: Iterable[Record]) -> str:
    """SHA-256 of the records' clusters and right answers, sorted. It does not depend on ids, order and setting.

    In the caption contest's corpus an instance has another id and another order of its choices in each fold, so that
    the validation rows of a fold and the test rows of the next, which are the same instances, share this digest.
    """
    lines = sorted(
        f"{r.cluster}\t{r.choices[ord(r.target) - ord('A')] if r.choices and r.target else r.target}" for r in records
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def ids_digest(ids: Iterable[str]) -> str:
    """SHA-256 of ids, sorted."""
    return hashlib.sha256("\n".join(sorted(ids)).encode("utf-8", "surrogatepass")).hexdigest()


def of_run(known: Known | None, run: Run, *, trains: bool = False) -> list[str]:
    """Where the rows of an opened run are not the published ones, one sentence each; empty where nothing shows it.

    trains: whether the row is computed from the training rows, too.
    """
    source = run.data.provenance
    if known is None:
        return [f"nothing is known of the published rows of {run.benchmark.name}."]
    if known.absent:
        return [known.absent]
    if _pinned(source["dataset"], source["revision"]):
        return []
    if known.files:
        return _other_files(known, run, trains)
    problems = _other_items(known, [(record.groups, record.id) for record in run.records])
    by_group: dict[str, list[Record]] = {}
    for record in run.records:
        by_group.setdefault(record.groups.get(known.group, ""), []).append(record)
    problems += [
        f"{known.group} {value} has other texts or other right answers."
        for value, records in by_group.items()
        if value in known.texts and texts_digest(records) != known.texts[value]
    ]
    return problems


def of_items(known: Known | None, items: Iterable[Item]) -> list[str] | None:
    """The same of the items of a finished run; None where items alone do not decide it, but files or texts."""
    if known is None or known.absent or known.files or known.texts:
        return None
    return _other_items(known, items)


def of_signature(known: Known | None, benchmark: str, signature: Signature) -> list[str] | None:
    """The same of a finished run by its signature; None where the signature does not decide it."""
    if known is None:
        return [f"nothing is known of the published rows of {benchmark}."]
    if known.absent:
        return [known.absent]
    if _pinned(signature.get("data", ""), signature.get("rev")):
        return []
    if known.files and "rows" in signature:
        name = known.files[-1]
        digest = find_benchmark(benchmark).card.source.files[name][:12]
        return [] if signature["rows"] == digest else [f"SHA-256 {signature['rows']}..., and {name} has {digest}...."]
    return None


def _other_items(known: Known, items: Iterable[Item]) -> list[str]:
    """Where the numbers or the ids of items differ."""
    by_group: dict[str, set[str]] = {}
    for groups, identity in items:
        value = groups.get(known.group, "")
        by_group.setdefault(value, set()).add(groups.get(known.count, identity).removesuffix(f"-{value}"))
    problems = []
    for value, held in by_group.items():
        if value not in known.counts and known.counts and known.total is None:
            problems.append(f"{known.group} {value or '-'} is not among the published rows.")
        elif len(held) != known.counts.get(value, len(held)):
            problems.append(f"{len(held):,} items of {known.group} {value}, and {known.counts[value]:,} are published.")
        elif known.ids and ids_digest(held) != known.ids:
            problems.append(f"{known.group} {value} has other items than the published ones.")
    number = sum(map(len, by_group.values()))
    if known.total not in (None, number):
        problems.append(f"{number:,} items, and {known.total:,} are published.")
    return problems


def _pinned(dataset: object, revision: object) -> bool:
    """Whether rows are those of the hub at the commit that every run reads by default."""
    return revision is not None and DATASETS.get(str(dataset)) == revision


def _other_files(known: Known, run: Run, trains: bool) -> list[str]:
    sums, source = run.benchmark.card.source.files, run.data.provenance
    problems = []
    if source["fingerprint"] != sums[known.files[-1]]:
        problems.append(
            f"{known.files[-1]} has another SHA-256 than the published file ({source['fingerprint'][:12]}...)."
        )
    folder = Path(str(source["dataset"])).expanduser()
    for name in known.files[:-1] if trains and folder.is_dir() else ():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != sums[name]:
            problems.append(f"{name} has another SHA-256 than the published file.")
    return problems
