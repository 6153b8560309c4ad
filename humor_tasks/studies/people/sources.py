"""Where items come from: two systems' texts, questions of a benchmark, cartoons, pictures, headlines, explanations."""

from __future__ import annotations

import hashlib
import io
import math
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from string import ascii_uppercase
from typing import Any, cast

from humor_tasks.benchmarks.humicroedit.corpus import headlines
from humor_tasks.benchmarks.humorbench import corpus as humorbench
from humor_tasks.benchmarks.humorbench.exam import LABELS
from humor_tasks.benchmarks.mock import corpus as mock
from humor_tasks.benchmarks.mock import describing
from humor_tasks.contract.card import LABELLING, PREFERENCE, RATING, VOTES
from humor_tasks.contract.definition import Run
from humor_tasks.contract.judging.pairs import read_system
from humor_tasks.errors import BadInput, listed
from humor_tasks.files.writing import write_bytes
from humor_tasks.logs import read_run
from humor_tasks.rows import read_csv
from humor_tasks.rows.contests.contest_csv import contest_files
from humor_tasks.rows.media.clip import Clip
from humor_tasks.rows.media.picture import MIME, Picture, picture_file
from humor_tasks.rows.records import Record
from humor_tasks.studies.people.items import DESCRIPTION, EDITING, ELEMENTS, LINKS, LITERAL, MARK, WEAK, same_text

FRAMES = 9
ItemRows = list[tuple[Record, dict[str, Any]]]  # records, each with the additional fields of its kind of item


def preferences(run: Run, systems: tuple[str, str], kind: str = PREFERENCE.kind) -> tuple[ItemRows, Counter[str]]:
    """The records that both systems explain, or write for (A is the first system's), and the number left out by reason.

    Whitespace is collapsed, because paragraphs could reveal the author. Raises BadInput for ids outside the benchmark.
    """
    explained = [read_system(spec, run) for spec in systems]
    known = {record.id for record in run.records}
    for spec, one in zip(systems, explained, strict=True):
        unknown = [identity for identity in one.texts if identity not in known]
        if unknown:
            where = f"they are of {run.benchmark.name}, split {run.options.split} of {run.options.dataset}"
            raise BadInput(f"{spec}: {listed('unknown id', unknown)}; {where}.")
    selected, left_out, nouns = [], Counter[str](), VOTES[kind].nouns
    for record in run.records:
        texts = [" ".join(one.texts.get(record.id, "").split()) for one in explained]
        if not all(texts):
            left_out[f"without both {nouns}"] += 1
        elif same_text(texts[0]) == same_text(texts[1]):
            left_out[f"with identical {nouns}"] += 1
        else:
            item_fields = {
                "caption": record.fields["caption"],
                "options": texts,
                "systems": [one.model for one in explained],
            }
            if not record.fields["caption"]:
                item_fields |= _said(record)
            selected.append((record, {"kind": kind} | item_fields))
    return selected, left_out


def logged_corpus(systems: Sequence[str]) -> dict[str, Any]:
    """Dataset, revision, split and fold of the first of the systems that is a log; empty where none is.

    Raises BadInput for a log that cannot be read.
    """
    for spec in systems:
        path = Path(spec).expanduser()
        corpus = read_run(path, texts=True).corpus if path.is_file() else {}
        if "dataset" in corpus:
            return {name: value for name, value in corpus.items() if name != "setting"}  # of models, not of people
    return {}


def choices(run: Run, kind: str) -> tuple[ItemRows, Counter[str]]:
    """The records as items of this kind, with their choices and answers, and the number left out by reason."""
    selected, left_out = [], Counter[str]()
    for record in run.records:
        if len({same_text(choice) for choice in record.choices}) < len(record.choices):
            left_out["with the same caption twice"] += 1
        else:
            answer = str(record.target)
            if VOTES[kind].option_kind == "scale":
                answer = ascii_uppercase[record.choices.index(answer)]
            item_fields = {"kind": kind, "options": list(record.choices), "answer": answer}
            if "winner_source" in record.groups:
                item_fields["winner_source"] = record.groups["winner_source"]
            selected.append((record, item_fields | _said(record)))
    return selected, left_out


def _said(record: Record) -> dict[str, str]:
    """The caption or the dialogue that an item is shown with."""
    return {"said": record.fields["said"]} if record.fields.get("said") else {}


def sampled_records(selected: ItemRows, size: int | None, seed: int) -> tuple[ItemRows, int]:
    """A random sample of `size` by `seed` and id, in the original order, and the number left out as below.

    Of items of which an annotator sees no option twice (`VOTES`), one that repeats an option of those drawn before is
    left out, so that every annotator can see the whole sample (Hessel et al., ACL 2023, footnote 10). There may be
    fewer than `size`. Without a size: all.
    """
    if size is None:
        return selected, 0

    def random_key(one: tuple[Record, dict[str, Any]]) -> bytes:
        return hashlib.sha256(f"{seed}\n{one[0].id}".encode()).digest()

    chosen, seen, repeating = set[str](), set[str](), 0
    for record, item_fields in sorted(selected, key=random_key):
        if len(chosen) == size:
            break
        once = VOTES[item_fields["kind"]].option_kind == "choices"
        texts = {same_text(option) for option in item_fields["options"]} if once else set()
        if seen.isdisjoint(texts):
            chosen.add(record.id)
            seen |= texts
        else:
            repeating += 1
    return [one for one in selected if one[0].id in chosen], repeating


def rows(selected: ItemRows, output: Path) -> list[dict[str, Any]]:
    """The rows of the file `output`; their pictures are written to a folder next to it."""
    return [
        {"id": record.id, "cluster": record.cluster} | _scene(record, output) | item_fields
        for record, item_fields in selected
    ]


def _scene(record: Record, output: Path) -> dict[str, str]:
    """The cartoon as a model sees it, as text without the links."""
    fields = record.fields
    if record.picture is not None or record.clip is not None:
        return {"image": copy_picture(record.picture or contact_sheet(cast(Clip, record.clip)), output)}
    if not fields.get("description"):
        return {}
    if "location" not in fields:
        return {"description": fields["description"]}
    lines = (f"Place: {fields['location']}", fields["description"], f"Unusual: {fields['uncanny']}")
    return {"description": "\n".join(lines)}


def contact_sheet(clip: Clip) -> Picture:
    """A clip's frames as one picture, in rows from left to right, because the page shows no video."""
    from PIL import Image

    frames = [frame.open() for frame in replace(clip, frames=clip.frames or FRAMES).pictures()]
    wide, high = frames[0].size
    columns = math.ceil(math.sqrt(len(frames)))
    sheet = Image.new("RGB", (wide * columns, high * math.ceil(len(frames) / columns)), "white")
    for i, frame in enumerate(frames):
        sheet.paste(frame, (i % columns * wide, i // columns * high))
    encoded = io.BytesIO()
    sheet.save(encoded, "JPEG", quality=85)
    return Picture(f"frames of {clip.where}", None, encoded.getvalue)


def copy_picture(picture: Picture, output: Path) -> str:
    """The path of the picture relative to the folder of `output`, to which it is copied once."""
    data = picture.read()
    ending = {mime: name.lower() for name, mime in MIME.items()}[picture.mime()]
    name = f"{output.stem}_images/{picture.sha256()[:16]}.{ending}"
    if not (output.parent / name).is_file():
        write_bytes(output.parent / name, data)
    return name


# ---- cartoons, pictures and headlines -----------------------------------------------------------

PICTURES = (".jpg", ".jpeg", ".png")
GRADES = ("Not funny", "Slightly funny", "Moderately funny", "Funny")
"""The scale of SemEval-2020 Task 7, from 0."""
Rows = list[dict[str, Any]]


def cartoons(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The cartoons of a folder with NUMBER.jpg or .png."""
    by_number = {str(number): path for number, path in sorted(contest_files(source, PICTURES).items())}
    chosen = {number: picture_file(source, by_number[number].name) for number in sampled(list(by_number), size, seed)}
    images = _copied(chosen, output)
    return [
        {"id": f"{number}-{kind}", "kind": kind, "cluster": number, "image": image} for number, image in images.items()
    ]


def pictures(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The pictures of a MOCK folder; those that have a description begin with it."""
    known = describing.pictures(source)
    images = _copied({name: known[name].picture for name in sampled(sorted(known), size, seed)}, output)
    return [
        {"id": name, "kind": kind, "cluster": known[name].scene, "image": image}
        | ({"draft": {"description": known[name].description}} if known[name].description else {})
        for name, image in images.items()
    ]


def _copied(pictures: Mapping[str, Picture], output: Path) -> dict[str, str]:
    """Name -> path of the picture's copy. All pictures are checked before the first is copied."""
    for picture in pictures.values():
        picture.read()
    return {name: copy_picture(picture, output) for name, picture in pictures.items()}


def to_edit(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The headlines of a CSV file with the column `original`, in which the words that may be replaced are marked.

    Rows that mark other words of one headline are one item, in which all are marked.
    """
    table = read_csv(source, ("original",))
    marked: dict[str, dict[int, str]] = {}
    for i, row in enumerate(table.rows):
        parts = MARK.split(" ".join(row["original"].split()))
        if len(parts) < 3:
            raise BadInput(f"{table.where(i)}: no word is marked; write <word/> for those that may be replaced.")
        plain = "".join(parts)
        starts = [sum(map(len, parts[:at])) for at in range(1, len(parts), 2)]
        words = marked.setdefault(plain, {})
        taken = {at for start, word in words.items() for at in range(start, start + len(word))}
        words |= {at: word for at, word in zip(starts, parts[1::2], strict=True) if at not in taken}
    return [
        {"id": hashlib.sha256(text.encode()).hexdigest()[:8], "kind": kind, "headline": _with_marks(text, marked[text])}
        for text in sampled(list(marked), size, seed)
    ]


def _with_marks(text: str, words: Mapping[int, str]) -> str:
    for start in sorted(words, reverse=True):
        end = start + len(words[start])
        text = f"{text[:start]}<{words[start]}/>{text[end:]}"
    return text


def to_rate(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The edited headlines of a CSV file with id, original and edit, such as that of `editing`."""
    table = read_csv(source, ("id", "original", "edit"), ids=("id",))
    rows = dict(zip((h.id for h in headlines(table)), table.rows, strict=True))
    edited = {h.id: " ".join(x for x in (h.before, f"<{h.edit}/>", h.after) if x) for h in headlines(table)}
    return [
        {
            "id": name,
            "kind": kind,
            "options": list(GRADES),
            "headline": edited[name],
            "original": rows[name]["original"],
            "edit": rows[name]["edit"],
        }
        for name in sampled(list(rows), size, seed)
    ]


def to_label(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The explanations of a CSV file with the columns of HumorBench's rubrics; a column `label` is not read."""
    table = read_csv(source, humorbench.RUBRIC, ids=humorbench.IDS)
    by_id: dict[str, dict[str, Any]] = {}
    for i, row in enumerate(table.rows):
        texts = humorbench.cells(row, humorbench.RUBRIC, table.where(i))
        name = f"{humorbench.key(texts['idx'], texts['element'])}-{texts['explainer_model']}"
        if name in by_id:
            raise BadInput(f"{table.where(i)}: the same (idx, element) by the same explainer again; remove a row.")
        said = (f"{title}: {texts[title.lower()]}" for title in ("Caption", "Explanation", "Element"))
        about = {"id": name, "kind": kind, "options": list(LABELS), "description": texts["description"]}
        about |= {"cluster": humorbench.cluster_of(texts["description"])}
        by_id[name] = about | {"said": "\n\n".join(said), "row": texts}
    return [by_id[name] for name in sampled(list(by_id), size, seed)]


def to_explain(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The captions of a CSV file with description and caption, each one once."""
    table = read_csv(source, ("description", "caption"))
    by_id: dict[str, dict[str, Any]] = {}
    for i, row in enumerate(table.rows):
        texts = humorbench.cells(row, ("description", "caption"), table.where(i))
        name = f"caption-{humorbench.mark(*texts.values())}"
        by_id[name] = {"id": name, "kind": kind, "cluster": humorbench.cluster_of(texts["description"])} | texts
    return [by_id[name] for name in sampled(list(by_id), size, seed)]


def to_weaken(kind: str, source: Path, size: int | None, seed: int, output: Path) -> Rows:
    """The rows of matching in a MOCK folder, each with its own caption or last utterance."""
    by_id: dict[str, tuple[Record, dict[str, Any]]] = {}
    for scene in mock.SCENES:
        for path in sorted(source.glob(f"{scene}_matching/*.jsonl")):
            for where, row in describing.rows(path):
                if missing_fields := [name for name in ("id", "scene", "media") if name not in row]:
                    raise BadInput(f"{where}: has no {', '.join(missing_fields)}, as rows of matching have.")
                row = {"caption": None, "dialogue": None, "description": None} | row
                medium = picture_file(source, row["media"]) if row["media"] else None
                o = mock.MockOptions(dataset=str(source), input="media" if medium else "description")
                record = mock.record_of(o, row | {"media": medium}, scene, where, hidden=True)
                line = mock.said_in(row, scene, where)[1]
                by_id[record.id] = (record, {"kind": kind, "caption": line} | _said(record))
    if not by_id:
        raise BadInput(f"{source}: holds no SCENE_matching/SPLIT.jsonl; `humor-tasks build mock` writes such a folder.")
    return rows([by_id[name] for name in sampled(list(by_id), size, seed)], output)


KINDS: Mapping[str, Callable[[str, Path, int | None, int, Path], Rows]] = {
    DESCRIPTION.kind: cartoons,
    LINKS.kind: cartoons,
    LITERAL.kind: pictures,
    EDITING.kind: to_edit,
    RATING.kind: to_rate,
    LABELLING.kind: to_label,
    ELEMENTS.kind: to_explain,
    WEAK.kind: to_weaken,
}
"""Kind of item -> function of (kind, source, size, seed, output) that returns the rows of the file `output`."""


def sampled(names: Sequence[str], size: int | None, seed: int) -> list[str]:
    """A random sample of `size` in the original order; all where there are fewer."""
    if size is None or size >= len(names):
        return list(names)
    places = sorted(random.Random(seed).sample(range(len(names)), size))
    return [names[i] for i in places]
