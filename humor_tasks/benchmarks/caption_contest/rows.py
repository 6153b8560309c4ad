"""Rows of the New Yorker Caption Contest corpus as records; from-pixels rows in the from-description layout."""

from __future__ import annotations

import hashlib
import re
import urllib.parse
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

from humor_tasks.benchmarks.caption_contest.corpus import CARD, FOLDS, HUB, SPLITS, NyccOptions
from humor_tasks.benchmarks.caption_contest.released import fields_of, from_description, shown_by
from humor_tasks.contract.choice import lettered
from humor_tasks.contract.definition import Benchmark, Data
from humor_tasks.contract.prompts import folder_of
from humor_tasks.contract.shots import by_cluster, released
from humor_tasks.datasets_cards import folder
from humor_tasks.errors import BadInput, check_choice
from humor_tasks.files.csv_files import id_key
from humor_tasks.files.reading import check_text, read_body
from humor_tasks.rows import (
    Rows,
    catalogue,
    described_by,
    is_leaderboard,
    open_rows,
    provenance_of,
    read_leaderboard,
    skipped_in,
)
from humor_tasks.rows.descriptions import Description
from humor_tasks.rows.media.picture import Picture
from humor_tasks.rows.records import Record

WIKIPEDIA = "https://en.wikipedia.org/wiki/"
SCENE_COLUMNS = ("image_location", "image_description", "image_uncanny_description", "entities")
SOURCES = ("official_winner", "crowd_winner")


def load(benchmark: Benchmark[NyccOptions], o: NyccOptions, extra: Sequence[str] = ()) -> Data:
    """The records of one fold or of all five; `extra` names additional columns of the benchmark."""
    read = partial(_read, benchmark, o, tuple(extra))
    folds = FOLDS if o.fold == "all" else (str(o.fold),)
    if o.dataset != "sample" and is_leaderboard(o.dataset):
        parts = [_read_unlabelled(benchmark, o)]
    else:
        parts = [read(fold, o.split) for fold in folds]
    records = tuple(record for _, of_part in parts for record in of_part)
    where = (rows.where(i) for rows, of_part in parts for i in range(len(of_part)))
    _check_distinct((record.id for record in records), where)
    provenance = provenance_of([rows for rows, _ in parts], o.dataset, o.split, o.revision, len(records))
    if (describer := described_by(o.dataset)) is not None:  # the descriptions are a model's, not the corpus's
        provenance["described"] = describer
    # lm-eval sets the number of shots only after it builds a task, so training rows are loaded on demand.
    pool = lru_cache(maxsize=None)(lambda fold: by_cluster(read(fold, "train")[1]))

    @cache
    def drawn(fold: str, count: int) -> dict[str, list[Record]]:
        evaluated = [record for record in records if record.groups["fold"] == fold]
        return released(evaluated, pool(fold), count, o.train_split)

    return Data(records, provenance, pool, skipped_in([rows for rows, _ in parts]), drawn_examples=drawn)


def _read(
    benchmark: Benchmark[NyccOptions], o: NyccOptions, extra: tuple[str, ...], fold: str, split: str
) -> tuple[Rows, list[Record]]:
    pixels = o.setting == "pixels"
    config = benchmark.name + ("_from_pixels" if pixels else "") + (f"_{fold}" if fold != "0" else "")
    columns = ["contest_number", "caption_choices", "label", "instance_id", *extra]
    if o.setting == "description":
        columns += SCENE_COLUMNS
    home = Path(folder(CARD))
    rows = open_rows(
        o.dataset,
        hub=HUB,
        cards=home,
        config=config,
        split=split,
        columns=columns,
        pictures=pixels,
        revision=o.revision,
        on_bad_picture=o.on_bad_picture,
    )
    labels = benchmark.form(o).labels
    records = [_record(labels, row, rows.where(i), fold, o.setting) for i, row in enumerate(rows.rows)]
    if not pixels and (chosen := folder_of(o.prompts)):
        shown = shown_by(map(read_body, Path(chosen).expanduser().glob("*.txt")))
        more = [fields_of(row, shown) for row in rows.rows]
        records = [replace(r, fields={**r.fields, **own}) for r, own in zip(records, more, strict=True)]
    return rows, records


def _read_unlabelled(benchmark: Benchmark[NyccOptions], o: NyccOptions) -> tuple[Rows, list[Record]]:
    if o.setting != "pixels":
        raise BadInput(f"{o.dataset} is in the leaderboard's format, which has only pictures: use setting=pixels.")
    if not benchmark.form(o).labels:
        raise BadInput(f"{o.dataset} is in the leaderboard's format, which has no {benchmark.name} instances.")
    if (o.fold, o.split, o.revision) != ("0", "test", None):
        raise BadInput(f"{o.dataset} is in the leaderboard's format: leave out fold, split and revision.")
    rows = read_leaderboard(Path(o.dataset), o.on_bad_picture)
    labels = benchmark.form(o).labels
    return rows, [_record(labels, row, rows.where(i), "-", o.setting) for i, row in enumerate(rows.rows)]


def _check_distinct(ids: Iterable[str], where: Iterable[str]) -> None:
    """Raise BadInput for an id of two rows. where: the location of each row."""
    seen: dict[str, str] = {}
    for identity, place in zip(ids, where, strict=True):
        if identity in seen:
            raise BadInput(f"{place}: instance_id {identity} is also that of {seen[identity]}.")
        seen[identity] = place


# ---- record -------------------------------------------------------------------------------------


def contest_name(value: object, where: str) -> str:
    """A contest's number, also of a whole float, which is how a table with an empty cell has its numbers, or its name.

    Raises BadInput for other floats, also as texts, and for anything that names no contest.
    """
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    name = id_key(str(value).strip()) if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not name or name.lower() in ("nan", "none", "null") or re.fullmatch(r"\d+\.\d+", name):
        raise BadInput(
            f"{where}: contest_number is {value!r}; it must be a whole number: standard errors are clustered by it."
        )
    return name


def _record(labels: Sequence[str], row: Mapping[str, Any], where: str, fold: str, setting: str) -> Record:
    identity, contest = check_text(row["instance_id"], f"{where}: instance_id"), row["contest_number"]
    choices = _choices(row, labels, where)
    fields = {"choices": lettered(choices)}
    if not labels:
        fields["caption"] = " ".join(check_text(row["caption_choices"], f"{where}: caption_choices").split())
    scene = {} if setting != "description" else _scene(row, where)
    target = None if fold == "-" else _label(row, labels, where)
    return Record(
        id=identity,
        cluster=contest_name(contest, where) if fold != "-" else identity,
        fields=fields | scene,
        context=scene_context(scene) if scene else "",
        choices=choices,
        target=target,
        groups={"fold": fold} | ({"winner_source": str(row["winner_source"])} if "winner_source" in row else {}),
        picture=row.get("image"),
    )


def _choices(row: Mapping[str, Any], letters: Sequence[str], where: str) -> tuple[str, ...]:
    if not letters:
        return ()
    choices = row["caption_choices"]
    if not isinstance(choices, list) or len(choices) != len(letters):
        count = len(choices) if isinstance(choices, list) else f"{choices!r} instead of"
        raise BadInput(f"{where}: caption_choices has {count} captions; this benchmark needs {len(letters)}.")
    for letter, choice in zip(letters, choices, strict=True):
        check_text(choice, f"{where}: caption_choices: caption {letter}")
    captions = tuple(" ".join(choice.split()) for choice in choices)
    if len(set(captions)) < len(captions):
        warnings.warn(f"{where}: caption_choices contains the same caption twice.", stacklevel=2)
    return captions


def _label(row: Mapping[str, Any], letters: Sequence[str], where: str) -> str:
    label = check_text(row["label"], f"{where}: label")
    if letters and label not in letters:
        raise BadInput(f"{where}: label is {label!r}; it must be one of {', '.join(letters)}.")
    source = row.get("winner_source")
    if "winner_source" in row and source not in SOURCES:
        raise BadInput(f"{where}: winner_source is {source!r}; it must be one of {', '.join(SOURCES)}.")
    return label


def _scene(row: Mapping[str, Any], where: str) -> dict[str, str]:
    entities = row["entities"]
    if not isinstance(entities, list) or not all(isinstance(link, str) for link in entities):
        raise BadInput(f"{where}: entities is {entities!r}; it must be a list of links.")
    names = {"location": "image_location", "description": "image_description", "uncanny": "image_uncanny_description"}
    texts = {name: check_text(row[column], f"{where}: {column}") for name, column in names.items()}
    scene = {name: " ".join(text.split()) for name, text in texts.items()}
    return scene | {"entities": ", ".join(entity_name(link) for link in entities)}


def scene_context(scene: Mapping[str, str]) -> str:
    """The scene as one text, which baselines and embedding models compare with captions."""
    return ". ".join(scene[name] for name in ("location", "description", "uncanny", "entities"))


def entity_name(link: str) -> str:
    """The readable name of a Wikipedia link, by the rule of the released code.

    The last path component without #fragment, "&redirect=no" and "(disambiguation)", percent-decoded, with spaces for
    underscores.
    """
    name = link.rstrip("/").rsplit("/", 1)[-1].removeprefix("?title=")
    name = name.split("#", 1)[0].replace("&redirect=no", "")
    return urllib.parse.unquote(name).replace("_", " ").replace("(disambiguation)", "").strip()


def link_of(name: str) -> str:
    """An entity as a Wikipedia link, as in the corpus; the link is made from the name and not looked up."""
    return WIKIPEDIA + urllib.parse.quote(name.replace(" ", "_"), safe="()',!:")


# ---- descriptions by models --------------------------------------------------------------------


TASKS = ("matching", "ranking", "explanation")


@dataclass(frozen=True)
class Part:
    """One split of one config: `config` is the name in the from-description layout, `rows` are from-pixels rows."""

    config: str
    split: str
    rows: Rows
    pictures: tuple[str, ...]
    """SHA-256 of each row's picture."""

    @property
    def fold(self) -> str:
        """The fold of the config."""
        end = self.config.rpartition("_")[2]
        return end if end in FOLDS else "0"

    @property
    def units(self) -> set[str]:
        """The contests of the rows; see `Benchmark.unit`."""
        return {f"newyorker-{row['contest_number']}" for row in self.rows.rows if "contest_number" in row}


def read_parts(
    dataset: str = HUB,
    revision: str | None = None,
    tasks: Sequence[str] = (),
    folds: Sequence[str] = (),
    splits: Sequence[str] = (),
) -> list[Part]:
    """The dataset's from-pixels splits of these tasks, folds and splits (empty: all).

    Raises BadInput for unknown names, for rows without a picture, and where no split matches.
    """
    for what, chosen, known in (("task", tasks, TASKS), ("fold", folds, FOLDS), ("split", splits, SPLITS)):
        for name in chosen:
            check_choice(what, name, known)
    if dataset != "sample" and is_leaderboard(dataset):
        raise BadInput(f"{dataset} is in the leaderboard's format, which has no from-description layout.")
    configs = [f"{t}_from_pixels" + (f"_{f}" if f != "0" else "") for t in tasks or TASKS for f in folds or FOLDS]
    home: Any = {"hub": HUB, "cards": Path(folder(CARD))}
    offered = catalogue(dataset, **home, revision=revision, wanted=configs.__contains__)
    parts = []
    for source in filter(offered.offers.__contains__, configs):
        for split in offered.offers[source].splits:
            if splits and split not in splits:
                continue
            columns = offered.offers[source].columns
            how: Any = {"config": source, "split": split, "columns": columns, "revision": offered.revision}
            rows = open_rows(dataset, pictures=True, **home, **how)
            pictures = tuple(content(row["image"]) for row in rows.rows)
            parts.append(Part(source.replace("_from_pixels", ""), split, rows, pictures))
    if not parts:
        chosen = f" with split {' or '.join(splits)}" if splits else ""
        raise BadInput(
            f"{dataset}: there are no rows with pictures{chosen}. They are expected in the configs "
            f"{', '.join(configs)}; the dataset's configs are {', '.join(offered.configs) or 'none'}."
        )
    return parts


def content(picture: Picture) -> str:
    """SHA-256 of the picture's encoded bytes; a corpus has few distinct pictures, so most are never decoded."""
    return hashlib.sha256(picture.fetch() or b"").hexdigest()


def distinct(parts: Sequence[Part]) -> dict[str, Picture]:
    """The distinct pictures by SHA-256, each decoded as a check; BadInput for a damaged one."""
    pictures: dict[str, Picture] = {}
    for part in parts:
        for sha256, row in zip(part.pictures, part.rows.rows, strict=True):
            if sha256 not in pictures:
                row["image"].read()
                pictures[sha256] = row["image"]
    return pictures


def described_row(row: Mapping[str, Any], image: str, description: Description) -> dict[str, Any]:
    """The row with the description in place of the annotators' texts and the other columns unchanged.

    The column `questions`, which people asked about the cartoon, has no prediction and is left out.
    """
    links = [link_of(name) for name in description.entities]
    scene = {
        "image_location": description.location,
        "image_description": description.description,
        "image_uncanny_description": description.uncanny,
        "entities": links,
    }
    others = {name: value for name, value in row.items() if name not in {"image", "contest_number", *scene}}
    first = {"image": image} | ({"contest_number": row["contest_number"]} if "contest_number" in row else {})
    return {**first, **scene, **others, "from_description": from_description(scene, row.get("caption_choices"))}
