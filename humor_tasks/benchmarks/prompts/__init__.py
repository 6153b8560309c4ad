"""Prompt templates: packaged text files, any of which a user's folder can replace.

A template is text with `$name` fields. A chat template is divided into turns by lines of the form
`== system ==`, `== user ==` or `== assistant ==`. Fields are filled in one pass, after the text
was divided, so nothing inside the data can add a turn or another field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import Template

from humor_tasks.errors import BadInput, nearest

_TURN = re.compile(r"^== (system|user|assistant) ==[ \t]*$", re.M)


def read_templates(folder: str, names: Sequence[str], override: str | None) -> dict[str, str]:
    """The templates `names` of the packaged `folder`, or of another package's by its absolute path, each replaced by a
    file of `override`.

    Every `.txt` file of `override` must be named like a packaged template of this family.
    Raises BadInput for a missing folder or a file no template is named like.
    """
    packaged = Path(__file__).parent / folder
    known = sorted(path.name for path in packaged.glob("*.txt"))
    own = _override_files(override, known) if override else {}
    return {name: _read(own.get(name, packaged / name)) for name in names}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise BadInput(f"template {path}: cannot be read as UTF-8 text ({problem}).") from None


def _override_files(override: str, known: Sequence[str]) -> dict[str, Path]:
    folder = Path(override).expanduser()
    if not folder.is_dir():
        raise BadInput(f"prompts={override}: there is no such folder.")
    files = {path.name: path for path in folder.glob("*.txt")}
    if not files:
        raise BadInput(f"prompts={override}: the folder holds no .txt file; templates are {', '.join(known)}.")
    for name in files:
        if name not in known:
            raise BadInput(f"prompts={override}: no template is called {name}.{nearest(name, known)}")
    return files


def fill(template: str, fields: Mapping[str, str], name: str) -> str:
    """`template` with its fields filled in; BadInput names an unknown field or a stray `$`."""
    try:
        return Template(template).substitute(fields)
    except KeyError as missing:
        known = ", ".join(f"${key}" for key in fields)
        raise BadInput(f"template {name}: there is no field ${missing.args[0]}; it can use {known}.") from None
    except ValueError as problem:
        raise BadInput(f"template {name}: {problem}; write $$ for a dollar sign.") from None


def check_shows(template: str, name: str, needed: Iterable[str], who: str = "model would not see the item") -> None:
    """BadInput when a template lacks one of the fields that the model, or whoever `who` says, has to see."""
    missing = set(needed) - set(Template(template).get_identifiers())
    if missing:
        raise BadInput(f"template {name}: lacks ${', $'.join(sorted(missing))}; the {who}.")


def split_turns(template: str, name: str) -> list[tuple[str, str]]:
    """The (role, text) turns of a chat template; the last must be the user's."""
    parts = _TURN.split(template)
    turns = [(role, text.strip()) for role, text in zip(parts[1::2], parts[2::2], strict=True)]
    if parts[0].strip() or not turns or turns[-1][0] != "user":
        raise BadInput(
            f"template {name}: must start with a line '== system ==' or '== user ==' and end in a user turn."
        )
    return turns
