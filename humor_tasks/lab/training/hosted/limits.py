"""What a provider documents about fine-tuning: limits and prices, the counting of tokens, the number of epochs.

Limits and prices are those of the dated table shipped with the package, or of the user's own. Rule of tokens:
https://cookbook.openai.com/examples/chat_finetuning_data_prep. A message costs three tokens beside those of its role
and its text, and an example three more.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from humor_tasks.errors import BadInput, nearest
from humor_tasks.files.reading import read_body
from humor_tasks.logs.prices import UNITS

PACKAGED = Path(__file__).parent / "limits.toml"


@dataclass(frozen=True)
class TrainedModel:
    """A model that can be fine-tuned.

    context: the most tokens of one example. encoding: tiktoken's name of its vocabulary. training: US dollars per
    million training tokens, as listed on the date `as_of` at the address `source`.
    """

    name: str
    context: int
    encoding: str
    training: float
    as_of: str
    source: str

    def cost(self, tokens: int, epochs: int) -> float:
        """US dollars for training on these tokens: tokens x epochs x price."""
        return tokens * epochs * self.training / 1e6


@dataclass(frozen=True)
class Limits:
    """A provider's limits of a training file (rows, bytes, roles of messages) and of a model's suffix (characters)."""

    provider: str
    notice: str
    least_rows: int
    most_bytes: int
    roles: tuple[str, ...]
    most_suffix: int
    models: Mapping[str, TrainedModel]

    def model(self, name: str) -> TrainedModel:
        """The entry of a model, or for a fine-tuned one, ft:BASE:..., that of its base. Raises BadInput if unknown."""
        base = name.split(":")[1] if name.startswith("ft:") else name
        if base not in self.models:
            raise BadInput(
                f"--model: the limits of '{base}' are not known; there are those of {', '.join(self.models)}."
                f"{nearest(base, self.models)} For another model give --limits FILE with its entry."
            )
        return self.models[base]


def read_limits(path: Path | None = None) -> Limits:
    """The table in `path`, or the packaged one. Raises BadInput naming file and entry for a value that is unusable."""
    where = path or PACKAGED
    try:
        table = tomllib.loads(read_body(where))
    except tomllib.TOMLDecodeError as problem:
        raise BadInput(f"{where}: cannot be read ({problem}).") from None
    for name, only in UNITS.items():
        if table.get(name, only) != only:
            raise BadInput(f"{where}: {name} is {table[name]!r}; it must be {only}.")
    about, listed = _table(table, "file", str(where)), _table(table, "models", str(where))
    file = {name: _table(about, name, f"{where}, [file]") for name in about}
    return Limits(
        provider=str(table.get("provider", "the provider")),
        notice=str(table.get("notice", "")),
        least_rows=_number(file.get("least_rows", {}), "value", f"{where}, least_rows"),
        most_bytes=_number(file.get("most_bytes", {}), "value", f"{where}, most_bytes"),
        roles=tuple(_roles(file.get("roles", {}).get("value"), f"{where}, roles")),
        most_suffix=_number(file.get("most_suffix", {}), "value", f"{where}, most_suffix"),
        models={name: _model(name, _table(listed, name, f"{where}, [models]"), f"{where}, {name}") for name in listed},
    )


def _table(table: Mapping[str, Any], name: str, where: str) -> dict[str, Any]:
    entries = table.get(name)
    if not isinstance(entries, dict) or not entries:
        raise BadInput(f"{where}: {name} must be a table with entries, as in the packaged {PACKAGED.name}.")
    return entries


def _model(name: str, entry: Mapping[str, Any], where: str) -> TrainedModel:
    if not isinstance(entry.get("encoding"), str):
        raise BadInput(f"{where}: encoding is {entry.get('encoding')!r}; it must be a vocabulary of tiktoken.")
    context, price = _number(entry, "context", where), _number(entry, "training", where, float)
    return TrainedModel(
        name, context, entry["encoding"], price, str(entry.get("as_of", "-")), str(entry.get("source", "-"))
    )


def _number(entry: Mapping[str, Any], name: str, where: str, kind: Callable[[Any], Any] = int) -> Any:
    value = entry.get(name)
    right = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
    if value is None or not right or not math.isfinite(value) or value < (1 if kind is int else 0):
        raise BadInput(f"{where}: {name} is {value!r}; it must be a {'whole ' if kind is int else ''}number above 0.")
    return kind(value)


def _roles(value: Any, where: str) -> Sequence[str]:
    if not isinstance(value, list) or not value or not all(isinstance(role, str) for role in value):
        raise BadInput(f"{where}: value is {value!r}; it must be a list of roles.")
    return value


# ---- tokens --------------------------------------------------------------------------------------

PER_MESSAGE = PER_EXAMPLE = 3
CHARACTERS = 4
"""Characters of English text a token, by the provider's rule of thumb
(https://help.openai.com/en/articles/4936856-what-are-tokens-and-how-to-count-them)."""
DEFAULT_EPOCHS, LEAST_ROWS, MOST_ROWS, MOST_EPOCHS = 3, 100, 25_000, 25


@dataclass(frozen=True)
class Counter:
    """Counts tokens with a vocabulary of tiktoken; without one it estimates, and `problem` says why."""

    name: str
    encoding: Any = None
    problem: str = ""

    @property
    def exact(self) -> bool:
        """Whether tokens are counted and not estimated."""
        return self.encoding is not None

    def count(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of one example; without a vocabulary, characters / 4 a text, rounded up."""
        return self._sum(messages, self._tokens)

    def most(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """No example has more tokens than this: without a vocabulary, a token a byte."""
        return self._sum(messages, self._tokens if self.exact else lambda text: len(text.encode()))

    def _sum(self, messages: Sequence[Mapping[str, Any]], tokens: Callable[[str], int]) -> int:
        return PER_EXAMPLE + sum(
            PER_MESSAGE + tokens(message["role"]) + tokens(message["content"]) for message in messages
        )

    def _tokens(self, text: str) -> int:
        if self.exact:
            return len(self.encoding.encode(text, disallowed_special=()))
        return math.ceil(len(text) / CHARACTERS)


def open_counter(name: str) -> Counter:
    """A counter with the vocabulary of this name, which tiktoken downloads once; an estimating one where it fails."""
    import tiktoken

    try:
        return Counter(name, tiktoken.get_encoding(name))
    except (OSError, ValueError) as problem:  # no network, an unwritable cache, a damaged download, an unknown name
        return Counter(name, None, type(problem).__name__)


def default_epochs(rows: int) -> int:
    """The number of epochs that the provider documents as its choice for this many rows, where none is given.

    3; more where 3 show fewer than 100 examples, fewer where they show more than 25,000 (the same notebook).
    """
    if rows * DEFAULT_EPOCHS < LEAST_ROWS:
        return min(MOST_EPOCHS, LEAST_ROWS // rows)
    return max(1, MOST_ROWS // rows) if rows * DEFAULT_EPOCHS > MOST_ROWS else DEFAULT_EPOCHS
