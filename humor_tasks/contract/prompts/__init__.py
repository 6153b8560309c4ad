"""Prompt templates: packaged text files in several wordings, which files in a user's folder can replace.

The files of a family are prompt set A. A folder in it with a capital letter as its name, such as `B`, is another prompt
set: the same protocol in other words. A set has every template of the family that is not `shared`.

A template is text with `$name` fields. A chat template is divided into turns by lines of the form
`== system ==`, `== user ==` or `== assistant ==`. Fields are filled in one pass after the division into turns, so data
cannot add a turn or another field.
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from humor_tasks.contract.options import ALL, FIRST
from humor_tasks.errors import BadInput, nearest
from humor_tasks.files.reading import read_body
from humor_tasks.rows.records import Role, Turn

_ROLES: Mapping[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_SET = re.compile(r"[A-Z]")
_TURN = re.compile(r"^== (system|user|assistant) ==[ \t]*$", re.M)
SECTION = re.compile(r"^== (first|answer|text|item) ==[ \t]*$", re.M)
"""The lines by which a template says how worked examples and answers are written; see `layout`."""


@dataclass(frozen=True)
class Template:
    """A template of a benchmark's prompts.

    family: a folder `benchmarks/CORPUS/prompts/FAMILY` or, shared by corpora, `contract/prompts/FAMILY`; or the
    absolute path of another package's folder.
    name: the file's name; `{o.NAME}` stands for a value of the options.
    required: the fields that it must contain, because the model would otherwise not see the item.
    fixed: whether the user's `prompts=FOLDER` never replaces it.
    shared: whether all prompt sets have the same text, as for the layout of a row or the form of a verdict.
    reader: who would not see what, for the message where a field is missing.
    check: a function of the text and the options that raises BadInput for a text that cannot be used.
    """

    family: str
    name: str
    required: tuple[str, ...] = ()
    fixed: bool = False
    shared: bool = False
    reader: str = "model would not see the item"
    check: Callable[[str, Any], object] | None = None


def names_sets(prompts: str | None) -> bool:
    """Whether a value of the parameter `prompts` names packaged prompt sets: one by its letter, or all."""
    return prompts is None or prompts == ALL or _SET.fullmatch(prompts) is not None


def folder_of(prompts: str | None) -> str | None:
    """The folder that a value of the parameter `prompts` names; None where it names prompt sets."""
    return None if names_sets(prompts) else prompts


def prompt_sets(templates: Iterable[Template]) -> tuple[str, ...]:
    """The letters of the prompt sets that these templates have; only A where none of them has a wording of its own."""
    families = {template.family for template in templates if not (template.fixed or template.shared)}
    held = [{p.name for p in _home(f).iterdir() if p.is_dir() and _SET.fullmatch(p.name)} for f in sorted(families)]
    return (FIRST, *sorted(set.intersection(*held) - {FIRST} if held else ()))


def check_set(templates: Iterable[Template], prompts: str | None, where: str, name: str = "prompts") -> None:
    """Raise BadInput for a letter that is none of the templates' prompt sets, and for a folder that there is not.

    where, name: of the parameter.
    """
    sets = prompt_sets(templates)
    if prompts and not names_sets(prompts) and not Path(prompts).expanduser().is_dir():
        raise BadInput(f"{where}: {name}={prompts}: there is no such folder.{nearest(prompts, (*sets, ALL))}")
    if prompts == ALL and len(sets) < 2:
        raise BadInput(f"{where}: {name}={ALL} needs several prompt sets; there is only set {FIRST}. Leave it out.")
    if names_sets(prompts) and prompts not in (None, ALL, *sets):
        several = f"are prompt sets {', '.join(sets)} and `{ALL}`"
        known = several if len(sets) > 1 else f"is only prompt set {FIRST}"
        raise BadInput(f"{where}: {name}={prompts}: there {known}. A folder of that name is given as ./{prompts}.")


def read_all(templates: Iterable[Template], options: Any) -> dict[str, str]:
    """The texts of the templates by name, in their order, of the prompt set or the folder `options.prompts`.

    Templates in a folder replace those of set A. Raises BadInput as `read_templates` does, for a name that the options
    do not fill in, and for a template without a field that it must show.
    """
    texts: dict[str, str] = {}
    for template in templates:
        name = _name(template.name, options)
        chosen = options.prompts
        if template.fixed or (template.shared and names_sets(chosen)):
            chosen = None
        texts |= read_templates(template.family, [name], chosen)
        check_shows(texts[name], name, template.required, template.reader)
        if template.check is not None:
            template.check(texts[name], options)
    return texts


def _name(name: str, options: Any) -> str:
    try:
        return name.format(o=options)
    except (AttributeError, LookupError, ValueError) as problem:
        raise BadInput(f"template {name}: its name cannot be filled in ({problem}); write {{o.NAME}}.") from None


def read_templates(folder: str, names: Sequence[str], override: str | None) -> dict[str, str]:
    """The templates `names` of `folder`; a file of the same name in `override` replaces a template.

    folder: the name of a folder of this package, or the absolute path of another package's folder.
    override: a folder, or the letter of a prompt set, which must have all of `names`.
    Raises BadInput for a prompt set without one of them, and where `override` is not a folder or has a `.txt` file
    without a template of the same name.
    """
    packaged = _home(folder)
    if override and names_sets(override):
        chosen = packaged if override == FIRST else packaged / override
        if lacking := [name for name in names if not (chosen / name).is_file()]:
            raise BadInput(f"prompts={override}: prompt set {override} of {packaged.name} lacks {', '.join(lacking)}.")
        return {name: _read(chosen / name) for name in names}
    known = sorted(path.name for path in packaged.glob("*.txt"))
    replaced = _override_files(override, known) if override else {}
    return {name: _read(replaced.get(name, packaged / name)) for name in names}


def read_packaged(family: str, name: str) -> str | None:
    """A template of set A; None where the family has none of this name."""
    path = _home(family) / name
    return _read(path) if path.is_file() else None


@cache
def _home(family: str) -> Path:
    """The folder of a family: the one of its corpus in benchmarks/, or one beside this file."""
    here = Path(__file__).parent
    own = here.parents[1].glob(f"benchmarks/*/prompts/{family}")
    return next(own, here / family) if Path(family).name == family else Path(family)


def _read(path: Path) -> str:
    try:
        return read_body(path).strip()
    except BadInput as problem:
        raise BadInput(f"template {problem}") from None


def _override_files(override: str, known: Sequence[str]) -> dict[str, Path]:
    folder = Path(override).expanduser()
    if not folder.is_dir():
        raise BadInput(f"prompts={override}: there is no such folder.")
    files = {path.name: path for path in folder.glob("*.txt")}
    if not files:
        raise BadInput(f"prompts={override}: the folder has no .txt file; the templates are {', '.join(known)}.")
    for name in files:
        if name not in known:
            raise BadInput(f"prompts={override}: there is no template {name}.{nearest(name, known)}")
    return files


def fill(template: str, fields: Mapping[str, str], name: str) -> str:
    """The template with its fields filled in; BadInput for an unknown field or an unescaped `$`."""
    try:
        return string.Template(template).substitute(fields)
    except KeyError as missing:
        known = ", ".join(f"${key}" for key in fields)
        raise BadInput(f"template {name}: there is no field ${missing.args[0]}; the fields are {known}.") from None
    except ValueError as problem:
        raise BadInput(f"template {name}: {problem}; write $$ for a dollar sign.") from None


def check_shows(template: str, name: str, needed: Iterable[str], who: str = "model would not see the item") -> None:
    """BadInput where a template lacks a required field; `who` ends the message with the consequence."""
    missing = set(needed) - set(string.Template(template).get_identifiers())
    if missing:
        raise BadInput(f"template {name}: lacks ${', $'.join(sorted(missing))}; the {who}.")


def shows(template: str, field: str) -> bool:
    """Whether a template has a field."""
    return field in string.Template(template).get_identifiers()


def split_turns(template: str, name: str) -> list[tuple[Role, str]]:
    """The (role, text) turns of a chat template; the last turn must be a user turn."""
    if line := SECTION.search(template):
        raise BadInput(
            f"template {name}: {line[0].strip()} is for tasks that read it (docs/wordings.md); leave it out."
        )
    parts = _TURN.split(template)
    turns = [(_ROLES[role], text.strip()) for role, text in zip(parts[1::2], parts[2::2], strict=True)]
    if parts[0].strip() or not turns or turns[-1][0] != "user":
        raise BadInput(
            f"template {name}: must start with a line '== system ==' or '== user ==' and end in a user turn."
        )
    return turns


def filled_turns(template: str, fields: Mapping[str, str], name: str) -> list[Turn]:
    """The turns of a chat template with their fields filled in."""
    return [Turn(role, fill(text, fields, name)) for role, text in split_turns(template, name)]


def by_set(texts: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """The templates of several prompt sets, given by letter and name, by SET/NAME."""
    return {f"{letter}/{name}": text for letter, of_set in texts.items() for name, text in of_set.items()}


def templates_hash(templates: Mapping[str, str]) -> str:
    """First 8 hex digits of the SHA-256 over the templates, sorted by name."""
    text = "".join(f"{name}\0{body}\0" for name, body in sorted(templates.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:8]
