"""croissant.json: a dataset folder in MLCommons' Croissant format, JSON-LD that dataset search and loaders read.

Croissant 1.0 (mlcommons.org/croissant/1.0) with fields of its vocabulary for responsible AI, RAI 1.0. Everything comes
from the folder: its card and its files. Each file has its SHA-256; each file of rows is a record set, whose description
names the configurations and splits that it belongs to. Address, publisher and date of publication are facts that only
a publication has: whoever publishes a folder adds `url`, `creator` and `datePublished`.
"""

from __future__ import annotations

import hashlib
import mimetypes
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from humor_tasks._version import __version__
from humor_tasks.errors import BadInput
from humor_tasks.files.reading import json_object, read_body
from humor_tasks.files.writing import write_json
from humor_tasks.lab.corpora.audit.items import Part
from humor_tasks.lab.corpora.audit.tables import IN_FOLDERS, read_file
from humor_tasks.rows.canary import COLUMN

FILE = "croissant.json"
EVALUATION = "Evaluation of models, and training on the train splits. No model is to be trained on a test split."
CONFORMS = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
LICENCES = {
    "cc-by-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "mit": "https://opensource.org/licenses/MIT",
}
OTHER_LICENCE = "The licences of the sources, which README.md names."
_CR = (
    "citeAs column equivalentProperty extract field fileObject fileProperty fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _CR.split()},
}
FORMATS = {
    ".jsonl": "application/jsonlines",
    ".ndjson": "application/jsonlines",
    ".parquet": "application/x-parquet",
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".md": "text/markdown",
}
_TYPES = {bool: "sc:Boolean", int: "sc:Integer", float: "sc:Float", str: "sc:Text"}
ABOUT = {
    "image": "The picture, as the path of its file in this folder.",
    "media": "The picture or clip, as the path of its file in this folder.",
    COLUMN: "A text by which training data is filtered; it is not shown to models.",
}


def write_croissant(folder: Path, rai: Mapping[str, str] | None = None) -> None:
    """Write croissant.json into a dataset folder. rai: property of the RAI vocabulary -> text; by default those of the
    file that is there.

    Raises BadInput for a folder without a card that has front matter and a paragraph, and for rows that cannot be read.
    """
    path = folder / FILE
    if rai is None and path.is_file():
        rai = {name[4:]: text for name, text in json_object(path).items() if name.startswith("rai:")}
    write_json(path, croissant(folder, rai or {}))


def renew(folder: Path) -> None:
    """Write croissant.json again where there is one, after other files were changed."""
    if (folder / FILE).is_file():
        write_croissant(folder)


def croissant(folder: Path, rai: Mapping[str, str]) -> dict[str, Any]:
    """The metadata of a dataset folder, see above."""
    front, title, about, bibtex = _card(folder / "README.md")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path != folder / FILE]
    files = [path for path in files if not any(part.startswith(".") for part in path.relative_to(folder).parts)]
    parts = _parts(front.get("configs") or [])
    languages = front.get("language")
    whole: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS,
        "name": title,
        "description": about,
        "license": LICENCES.get(str(front.get("license")), OTHER_LICENCE),
        "version": re.match(r"\d+\.\d+\.\d+", __version__)[0],  # type: ignore[index]
        "isLiveDataset": False,
        **({"inLanguage": languages} if languages else {}),
        **({"citeAs": bibtex} if bibtex else {}),
        **{f"rai:{name}": text for name, text in rai.items()},
    }
    whole["distribution"] = [_file(path, path.relative_to(folder).as_posix()) for path in files]
    rows = [path for path in files if path.suffix in IN_FOLDERS and path.relative_to(folder).as_posix() in parts]
    whole["recordSet"] = [_records(path, path.relative_to(folder).as_posix(), parts) for path in rows]
    return whole


def _card(path: Path) -> tuple[dict[str, Any], str, str, str]:
    """Front matter, title, first paragraph and BibTeX of a card."""
    text = read_body(path)
    match = re.match(r"---\n(.*?)\n---\n", text, re.S)
    try:
        front = yaml.safe_load(match[1]) if match else None
    except yaml.YAMLError as problem:
        raise BadInput(f"{path}: its front matter is not YAML ({problem}); correct it.") from None
    body = text[match.end() :].strip() if match else ""
    title, _, rest = body.removeprefix("# ").partition("\n") if body.startswith("# ") else ("", "", body)
    about = " ".join(rest.strip().split("\n\n")[0].split())
    if not isinstance(front, dict) or not about:
        raise BadInput(f"{path}: has no front matter and first paragraph; name a dataset folder with its card.")
    bibtex = re.search(r"```bibtex\n(.*?)\n```", text, re.S)
    return front, title or str(front.get("pretty_name") or path.parent.name), about, bibtex[1] if bibtex else ""


def _parts(configs: Iterable[Any]) -> dict[str, list[str]]:
    """File -> the configurations and splits that it belongs to, as "test of matching"."""
    parts: dict[str, list[str]] = {}
    for config in configs:
        files = config["data_files"]
        for data in files if isinstance(files, list) else [files]:
            data = data if isinstance(data, dict) else {"split": "train", "path": data}
            for name in [data["path"]] if isinstance(data["path"], str) else data["path"]:
                parts.setdefault(name, []).append(f"{data['split']} of {config['config_name']}")
    return parts


def _file(path: Path, name: str) -> dict[str, Any]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": name,
        "contentSize": f"{path.stat().st_size} B",
        "encodingFormat": FORMATS.get(path.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream",
        "sha256": digest,
    }


# ---- record sets ---------------------------------------------------------------------------------


def _records(path: Path, name: str, parts: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    table = read_file(path, Part("", "", ""))
    identity = name.removesuffix(path.suffix)
    fields = []
    for column in table.columns:
        source = {"fileObject": {"@id": name}, "extract": {"column": column}}
        fields.append(_field(f"{identity}/{column}", [row.get(column) for row in table.rows], source))
    about = f"The {len(table.rows):,} rows of {name}: {', '.join(parts[name])}."
    return {"@type": "cr:RecordSet", "@id": identity, "name": identity, "description": about, "field": fields}


def _field(identity: str, cells: Sequence[Any], source: Mapping[str, Any]) -> dict[str, Any]:
    """The field of a column. A list of objects is a repeated field with a sub-field for each of their keys."""
    values = [x for cell in cells if cell is not None for x in (cell if isinstance(cell, list) else [cell])]
    name = identity.rpartition("/")[2]
    field: dict[str, Any] = {"@type": "cr:Field", "@id": identity, "name": name}
    field |= {"description": ABOUT[name]} if name in ABOUT else {}
    field |= {"repeated": True} if any(isinstance(cell, list) for cell in cells) else {}
    if keys := dict.fromkeys(key for value in values if isinstance(value, dict) for key in value):
        parts = {key: [value.get(key) for value in values] for key in keys}
        of_key = (_field(f"{identity}/{k}", v, {**source, "transform": {"jsonPath": k}}) for k, v in parts.items())
        return {**field, "subField": list(of_key)}
    return {**field, "dataType": _type(values), "source": source}


def _type(values: Sequence[Any]) -> str:
    """The type of a column's values; text where they differ or there are none."""
    kinds = {type(value) for value in values}
    if kinds == {int, float}:
        return _TYPES[float]
    return _TYPES.get(kinds.pop(), "sc:Text") if len(kinds) == 1 else "sc:Text"
