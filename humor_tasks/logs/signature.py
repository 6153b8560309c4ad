"""The signature of a score, as in sacreBLEU: rows, method, parameters, prompts and versions.

Its text is `bench:matching|v:2-A|method:generate|...`, or `-` if nothing is recorded. Only this module builds and
parses such texts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

ABSENT = "-"
"""The text of a signature without entries. In comparisons, also the value of a missing entry."""
RELEASE = "humor_tasks"
PROMPTS = "prompts"
GENERATION = "generation"


class Signature(Mapping[str, str]):
    """The entries of a signature by name, in their order. It is immutable.

    Values are converted to text, with `/` in place of `|`. Two signatures are equal if their texts are. A signature
    without entries is false.
    """

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, Any] | None = None) -> None:
        self._entries = {name: str(value).replace("|", "/") for name, value in (entries or {}).items()}

    @classmethod
    def parse(cls, text: str) -> Signature:
        """The signature with this text."""
        return cls() if text in ("", ABSENT) else cls(dict(part.partition(":")[::2] for part in text.split("|")))

    def __str__(self) -> str:
        return "|".join(f"{name}:{value}" for name, value in self._entries.items()) or ABSENT

    def __repr__(self) -> str:
        return f"Signature({str(self)!r})"

    def __getitem__(self, name: str) -> str:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signature) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def digest(self) -> str:
        """The digest of the signature's text."""
        return digest(str(self))

    @property
    def without_release(self) -> Signature:
        """The signature without the release of this package, which does not change what was asked."""
        return Signature({name: value for name, value in self.items() if name != RELEASE})

    def with_entries(self, entries: Mapping[str, Any]) -> Signature:
        """The signature with these entries. An existing name keeps its place; new ones precede the prompts' hash."""
        more = {name: value for name, value in entries.items() if name not in self}
        entries_in_order = [(name, entries.get(name, value)) for name, value in self.items()]
        place = next((i for i, (name, _) in enumerate(entries_in_order) if name == PROMPTS), len(entries_in_order))
        return Signature(dict([*entries_in_order[:place], *more.items(), *entries_in_order[place:]]))

    def with_generation(self, settings: Mapping[str, Any]) -> Signature:
        """The signature with an entry for these settings of the model; unchanged if there are none."""
        return self.with_entries({GENERATION: settings_shown(settings)} if settings else {})

    def sent_by_default(self, **settings: Any) -> Signature:
        """The signature with these settings of the model, unless it already has settings of the same names."""
        sent = dict(part.partition("=")[::2] for part in self.get(GENERATION, "").split(",") if part)
        whole = {name: setting_shown(value) for name, value in settings.items()} | sent
        return self if whole == sent else Signature({**self, GENERATION: _joined(whole)})


def differing(signatures: Iterable[Mapping[str, str]]) -> dict[str, list[str]]:
    """The entries in which signatures differ: name -> the value in each. Signatures without entries are ignored."""
    signed = [signature for signature in signatures if signature]
    names = dict.fromkeys(name for signature in signed for name in signature)
    values = {name: [signature.get(name, ABSENT) for signature in signed] for name in names}
    return {name: entry_values for name, entry_values in values.items() if len(set(entry_values)) > 1}


def digest(what: Any) -> str:
    """First 8 hex digits of the SHA-256 of a text, or of the JSON of anything else."""
    text = what if isinstance(what, str) else json.dumps(what, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def settings_shown(settings: Mapping[str, Any]) -> str:
    """Settings for a signature, sorted by name."""
    return _joined({name: setting_shown(value) for name, value in settings.items()})


def setting_shown(value: Any) -> str:
    """A setting for a signature: a number or a word unchanged, anything else as its digest."""
    if isinstance(value, bool | int | float):
        return str(value)
    return value if isinstance(value, str) and value.isalnum() else digest(value)


def _joined(shown: Mapping[str, str]) -> str:
    return ",".join(f"{name}={shown[name]}" for name in sorted(shown))
