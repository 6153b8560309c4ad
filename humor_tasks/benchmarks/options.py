"""Parameters, each written once: name, type, default, bounds and documentation stand in a dataclass field.

From the field follow validation, the reading of values on a command line, what lm-eval's `--metadata` may name and the
tables of docs/parameters.md. A test holds the signatures and docstrings of Inspect's tasks equal to it.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, get_args, get_origin

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.scorers.answer import Mode

OnUnparsed = Literal["wrong", "exclude", "random"]
Split = Literal["train", "validation", "test"]

LM_EVAL = {"revision": "dataset_revision", "shots": "--num_fewshot", "seed": "--seed", "temperature": "--gen_kwargs"}
"""How lm-eval takes what is no name of its `--metadata`: by another name (`revision` is its model's) or by a flag."""

_NONE = ("none", "null")
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


@dataclass(frozen=True)
class About:
    """What a field says beside type and default; see `parameter`."""

    text: str = ""
    least: int | None = None
    most: int | None = None
    also: type | None = None
    needed: str = ""
    never: Mapping[str, str] = field(default_factory=dict)
    absent: str = ""


def parameter(default: Any, text: str, **more: Any) -> Any:
    """A field with its documentation, one sentence. A field without is checked, and shown to nobody.

    more: `least` and `most` bound a number; `also` is another type in which a command line gives a text (int, or list
    where it splits at commas); `needed` says what to name where a text is missing; `never` maps values that a
    benchmark refuses to the reason.
    """
    return field(default=default, metadata={"about": About(text, **more)})


def absent(default: Any, why: str) -> Any:
    """A field for what this benchmark has none of; another value than the default is refused, `why` says the reason."""
    return field(default=default, metadata={"about": About(absent=why)})


@dataclass(frozen=True)
class Parameter:
    """One declared parameter; `kind` is its type as annotated."""

    name: str
    kind: Any
    default: Any
    about: About

    @property
    def optional(self) -> bool:
        """Whether it may be None."""
        return type(None) in members(self.kind)

    @property
    def base(self) -> Any:
        """The type apart from None."""
        return next(member for member in members(self.kind) if member is not type(None))

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a Literal."""
        return get_args(self.base) if get_origin(self.base) is Literal else ()

    @property
    def wanted(self) -> str:
        """What a value must be, in words."""
        if self.choices:
            return ", ".join(f"`{choice}`" for choice in self.choices)
        words = _WORDS.get(self.base, str(self.base))
        least, most = self.about.least, self.about.most
        if least is not None:
            words += f" of at least {least}" if most is None else f" from {least} to {most}"
        return f"{words} or none" if self.optional and self.base in (int, float) else words

    def checked(self, value: Any) -> Any:
        """The value, other forms that a command line gives it put right; BadInput where it cannot be used."""
        name, about = self.name, self.about
        if about.absent:
            if value != self.default:
                raise BadInput(f"{name}: {about.absent}")
            return value
        value = self._put_right(value)
        if value is None and self.optional:
            return None
        if isinstance(value, str) and value in about.never:
            raise BadInput(f"{name}={value}: {about.never[value]}")
        if about.needed and not (isinstance(value, str) and value):
            raise BadInput(f"{name}: {about.needed}")
        if self.choices:
            return check_choice(name, value, self.choices)
        if self.base in _WORDS and not self._fits(value):
            raise BadInput(f"{name} must be {self.wanted}, not {value!r}.")
        return value

    def _put_right(self, value: Any) -> Any:
        if self.optional and self.base is not str and isinstance(value, str) and value.lower() in _NONE:
            return None
        if self.about.also is int and isinstance(value, int) and not isinstance(value, bool):
            return str(value)  # a short hash of digits, a fold
        if self.about.also is list and isinstance(value, list | tuple):
            return ",".join(map(str, value))
        return value

    def _fits(self, value: Any) -> bool:
        if isinstance(value, bool) or self.base is bool:
            return isinstance(value, bool) and self.base is bool
        if not isinstance(value, int | float if self.base is float else self.base):
            return False
        least, most = self.about.least, self.about.most
        return (least is None or value >= least) and (most is None or value <= most)

    def read(self, text: str) -> Any:
        """The value that a text on a command line stands for; a text that stands for none is left to `checked`."""
        if self.optional and self.base is not str and text.lower() in _NONE:
            return None
        if self.base is bool:
            return {"true": True, "false": False}.get(text.lower(), text)
        for number in {int: (int,), float: (int, float)}.get(self.base, ()):
            try:
                return number(text)
            except ValueError:
                continue
        return text


def members(kind: Any) -> tuple[Any, ...]:
    """The types that a union joins, or the one type."""
    return get_args(kind) if get_origin(kind) in (types.UnionType, typing.Union) else (kind,)


@dataclass(frozen=True)
class Declared:
    """A dataclass of parameters that checks each by its declaration; `__post_init__` of a subclass joins several."""

    def __post_init__(self) -> None:
        for each in declared(type(self)):
            object.__setattr__(self, each.name, each.checked(getattr(self, each.name)))


def declared(options: type[Declared]) -> tuple[Parameter, ...]:
    """Every field of a dataclass of parameters."""
    known: Any = options  # mypy takes no dataclass to be hashable
    return _declared(known)


@cache
def _declared(options: Any) -> tuple[Parameter, ...]:
    kinds = typing.get_type_hints(options)
    return tuple(
        Parameter(f.name, kinds[f.name], f.default, f.metadata.get("about", About()))
        for f in dataclasses.fields(options)
    )


def parameters_of(options: type[Declared]) -> dict[str, Parameter]:
    """The parameters that a user may set, by name."""
    return {each.name: each for each in declared(options) if each.about.text}


def check_name(options: type[Declared], task: str, name: str) -> None:
    """BadInput for an unknown parameter, naming those there are and the nearest."""
    if name not in {each.name for each in declared(options)}:
        check_choice(f"parameter of {task}", name, parameters_of(options))


def read_parameters(options: type[Declared], task: str, given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Names and texts of a command line as values; BadInput for an unknown name, and for one that is given twice."""
    known = {each.name: each for each in declared(options)}
    values: dict[str, Any] = {}
    for name, text in given:
        check_name(options, task, name)
        if name in values:
            raise BadInput(f"{name} is given twice: {values[name]!r} and {text!r}; give it once.")
        values[name] = known[name].read(text)
    return values


@dataclass(frozen=True)
class Options(Declared):
    """Parameters every benchmark has; a family of benchmarks adds its own, or narrows these, in a subclass."""

    dataset: str = parameter("", "Hub id, local dataset folder, or `sample` (packaged, invented).")
    revision: str | None = parameter(None, "Branch, tag or commit of a hub dataset.", also=int)
    split: str = parameter("test", "Split to evaluate.")
    shots: int = parameter(0, "Worked examples in the prompt.", least=0)
    prompts: str | None = parameter(None, "Folder whose template files replace packaged ones of the same name.")
    on_unparsed: OnUnparsed = parameter(
        "wrong", "Unreadable replies count as `wrong`, are left out (`exclude`) or guessed (`random`)."
    )
    extraction: Mode = parameter("strict", "How a letter is read: `strict`, or by the rules released with the paper.")
    seed: int = parameter(1234, "Seed of shots and random guesses.")  # lm-eval's default of its few-shot seed

    def __post_init__(self) -> None:
        if self.dataset in ("", None):
            object.__setattr__(self, "dataset", type(self).dataset)
        super().__post_init__()

    def shown(self) -> dict[str, Any]:
        """The parameters that make a score what it is, for its signature."""
        apart = {"dataset", "revision", "prompts"}  # a signature shows what these resolved to
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in apart}

    def scoring(self) -> dict[str, Any]:
        """The parameters that a reply, once written, is read and scored by."""
        return {"on_unparsed": self.on_unparsed, "extraction": self.extraction, "seed": self.seed}

    def compared(self) -> dict[str, Any]:
        """The parameters that differ where log-likelihoods of labels are compared instead of generating a reply.

        Raises BadInput where a parameter asks for a reply.
        """
        return {}

    def generation(self) -> dict[str, Any]:
        """How replies are sampled where the protocol says so, by the settings' common names."""
        return {}

    @property
    def variant(self) -> str:
        """Names a protocol whose scores do not compare with the benchmark's own; empty for that one."""
        return ""
