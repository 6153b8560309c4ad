"""Declarations of parameters: a dataclass field has the name, type, default, bounds and documentation of a parameter.

Validation, command-line parsing, the names that lm-eval's `--metadata` accepts, and the tables of docs/parameters.md
are derived from the field, and so are the signatures and docstrings of Inspect's tasks, by tools/generate.py. Settings
of commands, such as those of `humor-tasks train`, are declared in the same way, and their flags are derived from them.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal, get_args, get_origin

from humor_tasks.errors import BadInput, check_choice
from humor_tasks.rows.records import read_shard
from humor_tasks.scorers.answer import Mode
from humor_tasks.scorers.given_markers import read_markers

OnUnparsed = Literal["wrong", "exclude", "random"]
OnBadPicture = Literal["stop", "skip"]
Order = Literal["as_given", "rotated"]
Split = Literal["train", "validation", "test"]

LM_EVAL = {"revision": "dataset_revision", "shots": "--num_fewshot", "seed": "--seed", "temperature": "--gen_kwargs"}
"""Parameters that lm-eval's `--metadata` does not accept by name -> the name in `--metadata`, or lm-eval's flag.

`revision` has another name because lm-eval uses it for the revision of the model.
"""

FIRST, ALL, ROTATED = "A", "all", "rotated"
"""The prompt set of a run that names none; all prompt sets; every rotation of the choices."""
_NONE = ("none", "null")
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


@dataclass(frozen=True)
class ParameterInfo:
    """The metadata of a field; see `parameter`."""

    text: str = ""
    least: float | None = None
    most: float | None = None
    among: tuple[str, ...] = ()
    also: type | None = None
    needed: str = ""
    never: Mapping[str, str] = field(default_factory=dict)
    absent: str = ""
    derived: bool = False
    off: str = ""
    repeated: bool = False


def parameter(default: Any, text: str, **more: Any) -> Any:
    """A field with its documentation of one sentence. Fields declared without it are validated but not documented.

    more:
    least, most: bounds of a number, or of each number of a tuple.
    among: the values of a text, where they are not the members of a Literal type.
    also: another type in which a text may be given: int, float, or list where it names several.
    needed: the end of the error message where a required text is missing.
    never: values that the benchmark rejects -> the reason.
    off: the flag that sets a bool to False, where it is not --no-NAME.
    repeated: whether the flag of a tuple has one value and is repeated, instead of values separated by commas.
    """
    return field(default=default, metadata={"info": ParameterInfo(text, **more)})


def required(text: str, **more: Any) -> Any:
    """A `parameter` without a default, which may be given by position."""
    return field(kw_only=False, metadata={"info": ParameterInfo(text, **more)})


def absent(default: Any, why: str) -> Any:
    """A parameter that this benchmark does not support: any value but the default raises BadInput with `why`."""
    return field(default=default, metadata={"info": ParameterInfo(absent=why)})


def derived(default: Any) -> Any:
    """A field that other parameters decide: a log keeps it, and users do not set it."""
    return field(default=default, metadata={"info": ParameterInfo(derived=True)})


@dataclass(frozen=True)
class Parameter:
    """A declared parameter; `kind` is its type annotation."""

    name: str
    kind: Any
    default: Any
    info: ParameterInfo

    @property
    def optional(self) -> bool:
        """Whether the value may be None."""
        return type(None) in members(self.kind)

    @property
    def base(self) -> Any:
        """The type without None."""
        return next(member for member in members(self.kind) if member is not type(None))

    @property
    def choices(self) -> tuple[str, ...]:
        """The values of a text that has a few."""
        return get_args(self.base) if get_origin(self.base) is Literal else self.info.among

    @property
    def item(self) -> Parameter | None:
        """The parameter of each value of a tuple; None for other types."""
        if get_origin(self.base) is not tuple:
            return None
        return dataclasses.replace(self, kind=get_args(self.base)[0])

    @property
    def accepted_values(self) -> str:
        """A description of the accepted values."""
        if self.choices:
            return ", ".join(f"`{choice}`" for choice in self.choices)
        words = _WORDS.get(self.base, str(self.base))
        least, most = self.info.least, self.info.most
        if least is not None:
            words += f" of at least {least}" if most is None else f" from {least} to {most}"
        return f"{words} or none" if self.optional and self.base in (int, float) else words

    def checked(self, value: Any) -> Any:
        """The validated value, with the forms that a command line gives converted. Raises BadInput."""
        name, about = self.name, self.info
        if about.absent:
            if value != self.default:
                raise BadInput(f"{name}: {about.absent}")
            return value
        value = self._converted(value)
        if value is None and self.optional:
            return None
        if self.item:
            if not value and self.default != ():
                raise BadInput(f"{name}: name at least one value.")
            return tuple(map(self.item.checked, value))
        if isinstance(value, str) and value in about.never:
            raise BadInput(f"{name}={value}: {about.never[value]}")
        if about.needed and not (isinstance(value, str) and value):
            raise BadInput(f"{name}: {about.needed}")
        if self.choices:
            return check_choice(name, value, self.choices)
        if self.base in _WORDS and not self._fits(value):
            raise BadInput(f"{name} must be {self.accepted_values}, not {value!r}.")
        return value

    def _converted(self, value: Any) -> Any:
        if self.optional and self.base is not str and isinstance(value, str) and value.lower() in _NONE:
            return None
        also = self.info.also
        if also in (int, float) and isinstance(value, int | also) and not isinstance(value, bool):
            return str(value)  # such as a commit hash of digits only, a fold, or a threshold
        if (also is list and isinstance(value, list | tuple)) or self._is_split(value):
            return ",".join(map(str, value))
        return value

    def _is_split(self, value: Any) -> bool:
        """Whether this is a text in parts: Inspect's command line splits every text at its commas."""
        parts = value if self.base is str and isinstance(value, list | tuple) else ()
        return len(parts) > 1 and {*map(type, parts)} <= {str, int}

    def _fits(self, value: Any) -> bool:
        if isinstance(value, bool) or self.base is bool:
            return isinstance(value, bool) and self.base is bool
        if not isinstance(value, int | float if self.base is float else self.base):
            return False
        if isinstance(value, str):
            return True
        least, most = self.info.least, self.info.most
        return math.isfinite(value) and (least is None or value >= least) and (most is None or value <= most)

    def read(self, text: str) -> Any:
        """The value of a text on a command line; text that cannot be converted is returned for `checked` to reject."""
        if self.optional and self.base is not str and text.lower() in _NONE:
            return None
        if self.item:
            return tuple(map(self.item.read, text.split(",")))
        if self.base is bool:
            return {"true": True, "false": False}.get(text.lower(), text)
        for number in {int: (int,), float: (int, float)}.get(self.base, ()):
            try:
                return number(text)
            except ValueError:
                continue
        return text


def members(kind: Any) -> tuple[Any, ...]:
    """The members of a union type, or the type itself."""
    return get_args(kind) if get_origin(kind) in (types.UnionType, typing.Union) else (kind,)


@dataclass(frozen=True)
class Declared:
    """A dataclass of parameters that validates each one by its declaration.

    A subclass validates combinations of parameters in `__post_init__`.
    """

    def __post_init__(self) -> None:
        for parameter in declared(type(self)):
            object.__setattr__(self, parameter.name, parameter.checked(getattr(self, parameter.name)))


def declared(options: type[Declared]) -> tuple[Parameter, ...]:
    """All fields of a dataclass of parameters."""
    known: Any = options  # mypy does not consider a dataclass type hashable
    return _declared(known)


@cache
def _declared(options: Any) -> tuple[Parameter, ...]:
    kinds = typing.get_type_hints(options)
    return tuple(
        Parameter(f.name, kinds[f.name], f.default, f.metadata.get("info", ParameterInfo()))
        for f in dataclasses.fields(options)
    )


def parameters_of(options: type[Declared]) -> dict[str, Parameter]:
    """The parameters that users can set, by name."""
    return {parameter.name: parameter for parameter in declared(options) if parameter.info.text}


def flags_of(options: type[Declared]) -> dict[str, Parameter]:
    """The parameters that users can set, in the order of a command's help: the class's own, then those of its bases."""
    known = parameters_of(options)
    names = dict.fromkeys(name for cls in options.__mro__ for name in inspect.get_annotations(cls))
    return {name: known[name] for name in names if name in known}


def check_name(options: type[Declared], task: str, name: str) -> None:
    """Raise BadInput for an unknown parameter, with the known names and the closest one."""
    if name not in {parameter.name for parameter in declared(options)}:
        check_choice(f"parameter of {task}", name, parameters_of(options))


def read_parameters(options: type[Declared], task: str, given: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """The values of name and text pairs from a command line. Raises BadInput for unknown and repeated names."""
    known = {parameter.name: parameter for parameter in declared(options)}
    values: dict[str, Any] = {}
    for name, text in given:
        check_name(options, task, name)
        if name in values:
            raise BadInput(f"{name} is given twice: {values[name]!r} and {text!r}; give it once.")
        values[name] = known[name].read(text)
    return values


@dataclass(frozen=True)
class Options(Declared):
    """Parameters that all benchmarks share; subclasses add parameters or restrict these.

    scored: the names of the parameters that are needed to parse and score an existing reply.
    """

    scored: ClassVar[tuple[str, ...]] = ("on_unparsed", "extraction", "seed")

    dataset: str = parameter("", "Hub id, local dataset folder, or `sample` (packaged, invented).")
    revision: str | None = parameter(
        None, "Branch, tag or commit of a hub dataset; for the default corpus its pin; main is the newest.", also=int
    )
    split: str = parameter("test", "Split to evaluate.")
    shots: int = parameter(0, "Number of worked examples in the prompt.", least=0)
    prompts: str | None = parameter(
        None,
        "Prompt set: A (the default) to E, `all` of them in one run, or a folder of template files that replace those "
        "of set A (docs/wordings.md).",
    )
    order: Order = parameter(
        "as_given",
        "Order of the choices: as the data has it, or every item once for each rotation of its letters (`rotated`).",
    )
    on_unparsed: OnUnparsed = parameter(
        "wrong", "Items with an unreadable reply count as `wrong`, are left out (`exclude`) or guessed (`random`)."
    )
    extraction: Mode = parameter(
        "strict", "Rule for reading the letter in a reply: `strict`, or the rules released with the paper."
    )
    thinking: str | None = parameter(
        None,
        "Markers of thinking beside the known ones (docs/replies.md): `<ponder>...</ponder>`, several separated by "
        "commas.",
    )
    seed: int = parameter(1234, "Seed of worked examples and random guesses.")  # the default of lm-eval's few-shot seed
    budget: int | None = parameter(
        None, "Number of items, about: a sample of whole clusters, the same for everybody (docs/budgets.md).", least=1
    )
    shard: str | None = parameter(None, "Part of the run, `k/n`: whole clusters, chosen by a hash (docs/parts.md).")

    def __post_init__(self) -> None:
        if self.dataset in ("", None):
            object.__setattr__(self, "dataset", type(self).dataset)
        if self.prompts == FIRST:
            object.__setattr__(self, "prompts", None)
        super().__post_init__()
        if self.shard is not None:
            read_shard(self.shard)
        if self.thinking is not None:
            read_markers(self.thinking)

    def signature_entries(self) -> dict[str, Any]:
        """The parameters in a score's signature, which the parts of one run share."""
        apart = {"dataset", "revision", "prompts", "shard"}  # the signature has the resolved values of the first three
        apart |= self.without_effect()
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self) if f.name not in apart}

    def without_effect(self) -> set[str]:
        """The parameters without an effect under the values of the others, which a signature leaves out."""
        idle = {"order"} if self.order == "as_given" else set()
        idle |= {"budget"} if self.budget is None else set()
        return idle | ({"thinking"} if self.thinking is None or self.extraction != "strict" else set())

    def scoring(self) -> dict[str, Any]:
        """The values of the parameters in `scored`, and of given ones that change how replies are read or counted."""
        more = {"prompts": self.prompts == ALL, "order": self.order == ROTATED, "thinking": self.thinking is not None}
        return {name: getattr(self, name) for name in (*self.scored, *(n for n, given in more.items() if given))}

    def for_likelihoods(self) -> dict[str, Any]:
        """The parameters to change where log-likelihoods of labels are compared and no reply is generated.

        Raises BadInput where a parameter requires a generated reply.
        """
        return {}

    def generation(self) -> dict[str, Any]:
        """Generation settings that the protocol prescribes, by their common names."""
        return {}

    @property
    def needs_logprobs(self) -> str:
        """The parameter that needs log-probabilities of the letters, such as `tau=fit`; "" where none does.

        `scoring` must have it as well. A model that returns no log-probabilities then ends a run.
        """
        return ""

    @property
    def rows_by_seed(self) -> bool:
        """Whether `seed` selects or orders what is evaluated, so that another seed needs the data opened again."""
        return False

    @property
    def variant(self) -> str:
        """The name of a protocol whose scores are not comparable with the default protocol; "" for the default."""
        return ""


@dataclass(frozen=True)
class WithPictures(Options):
    """Parameters of benchmarks whose rows have pictures."""

    on_bad_picture: OnBadPicture = parameter(
        "stop",
        "Pictures and clips are checked before the first request: a missing, damaged or too large one ends the run "
        "(`stop`), or its rows are left out and counted (`skip`).",
    )

    def without_effect(self) -> set[str]:
        """`on_bad_picture` where it leaves out no row."""
        return super().without_effect() | ({"on_bad_picture"} if self.on_bad_picture == "stop" else set())
