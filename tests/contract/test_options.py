"""A parameter is written once: what the options declare is what tasks, help and documentation say."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import pytest
from inspect_ai._util.decorator import parse_decorators

from humor_tasks import on_inspect, tasks
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.benchmarks.caption_contest.corpus import Setting
from humor_tasks.benchmarks.caption_contest.explanation import EXPLANATION
from humor_tasks.benchmarks.mock import corpus as mock
from humor_tasks.benchmarks.preference import MOCK_INPUTS, OF_MOCK, Of
from humor_tasks.benchmarks.preference import Setting as Shown
from humor_tasks.contract.options import (
    LM_EVAL,
    Declared,
    Parameter,
    absent,
    declared,
    members,
    parameter,
    parameters_of,
    read_parameters,
)
from humor_tasks.errors import BadInput
from humor_tasks.on_inspect.judging.graders import GraderSettings
from humor_tasks.on_inspect.tasks.building import parameters_of_task
from humor_tasks.scorers.answer import MODES, Mode

TASKS = [getattr(tasks, name) for name in tasks.__all__]


def forms(each: Parameter) -> set[Any]:
    """The types in which a command line gives a parameter."""
    more: set[Any] = {str} if each.optional and each.base in (int, float) else set()  # `none`
    return {*members(each.kind), *more, *{int: [int], float: [float], list: [list[str]]}.get(each.info.also or str, [])}


def documented(task: Callable[..., Any]) -> dict[str, str]:
    """Parameter -> its sentence under Args."""
    _, _, told = inspect.cleandoc(task.__doc__ or "").partition("Args:\n")
    found = re.findall(r"^    (\w+): (.*(?:\n      +.*)*)", told, re.MULTILINE)
    return {name: " ".join(sentence.split()) for name, sentence in found}


@pytest.mark.parametrize("task", TASKS, ids=tasks.__all__)
def test_a_task_says_what_the_options_declare(task: Callable[..., Any]) -> None:
    known, hints = parameters_of_task(task.__name__), get_type_hints(task)
    signature = inspect.signature(task).parameters
    assert {name: each.default for name, each in signature.items()} == {n: each.default for n, each in known.items()}
    for name, each in known.items():
        assert set(members(hints[name])) == forms(each), name
    expected = {name: each.info.text for name, each in known.items()}
    assert documented(task) == expected


@pytest.mark.parametrize("name", ["element_coverage", "preference", "reference_preference", "story_ratings"])
def test_a_graders_scorer_says_what_asking_declares(name: str) -> None:
    scorer = getattr(on_inspect, name)
    signature, told = inspect.signature(scorer).parameters, documented(scorer)
    # `preference` asks in the form in which the sample's question stands, unless it is told another
    own = {"structured"} if name == "preference" else set()
    declared_there = {n: each for n, each in parameters_of(GraderSettings).items() if n not in own}
    assert {n: signature[n].default for n in declared_there} == {n: e.default for n, e in declared_there.items()}
    assert {n: told[n] for n in declared_there} == {n: e.info.text for n, e in declared_there.items()}
    assert set(told) == set(signature)


def test_every_benchmark_has_a_task_that_reading_the_source_finds() -> None:
    # as Inspect and inspect_evals' register of external packages do: only literal functions with the decorator count
    folder = Path(inspect.getfile(tasks)).parent / "on_inspect" / "tasks"
    found = [name for path in folder.glob("*.py") for name, _ in parse_decorators(path, "task")]
    assert sorted(found) == sorted(tasks.__all__) == sorted(BENCHMARKS)
    assert all(task.__module__.startswith("humor_tasks.on_inspect.tasks.") for task in TASKS)


def test_tasks_scorers_and_solvers_are_imported_from_one_place_and_registered() -> None:
    from humor_tasks import _registry

    for module in (tasks, on_inspect):
        assert set(module.__all__) <= set(_registry.__all__)
        assert all(getattr(_registry, name) is getattr(module, name) for name in module.__all__)
    models = {"baseline", "clip", "embedding", "humicroedit", "image_text", "ofa", "quality", "reward", "text"}
    assert set(_registry.__all__) == models | set(tasks.__all__) | set(on_inspect.__all__)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_declaration_is_whole(name: str) -> None:
    for each in parameters_of_task(name).values():
        assert each.info.text.endswith("."), each.name
        assert each.name in ("system", "dataset") or each.checked(each.default) == each.default
        unknown = set(re.findall(r"`(\w+)`", each.info.text)) - {*each.choices, *NAMED}
        assert not unknown, (
            f"{name}, {each.name}: backticks are for values; {unknown} are none. Add other names to NAMED"
        )
    assert BENCHMARKS[name].card.sampling.endswith(".")
    known = {each.name for each in declared(BENCHMARKS[name].options)}
    assert {"dataset", *LM_EVAL} - {"temperature"} <= known


NUMBERS: dict[str, set[tuple[Any, ...]]] = {  # default, least, most
    **{
        "budget": {(None, 1, None)},
        "shots": {(0, 0, None)},
        "judge_shots": {(0, 0, None)},
        "examples": {(9, 0, None)},
        "images": {(150, 0, None)},
    },
    **{"per_contest": {(10, 1, None)}, "fit_contests": {(50, 1, None)}, "frames": {(8, 1, 64)}, "top_p": {(0.9, 0, 1)}},
    "least_words": {(8, 2, None)},
    **{"temperature": {(0.8, 0, None), (0.0, 0, None)}, "seed": {(1234, None, None)}, "exam": {(True, None, None)}},
    **{"frequency_penalty": {(0.2, None, None)}, "presence_penalty": {(0.05, None, None)}},
    **{"unconditional": {(False, None, None)}, "structured": {(False, None, None)}, "cot": {(None, None, None)}},
    **{"chain_of_task": {(False, None, None)}, "count": {(1, 1, None)}},
}


def test_numbers_and_switches_have_these_defaults_and_bounds() -> None:
    found: dict[str, set[tuple[Any, ...]]] = {}
    for benchmark in BENCHMARKS.values():
        for name, each in parameters_of(benchmark.options).items():
            if each.base in (int, float, bool):
                found.setdefault(name, set()).add((each.default, each.info.least, each.info.most))
    assert found == NUMBERS


# What a sentence may name beside the parameter's own values.
NAMED = {"sample", "none", "seed", "human", "frames", "mock_generation"} | {
    *("visual_link", "subverted_trope", "multi_step"),
    *("all", "hard", "wordplay", "cultural_reference", "toxic_or_shocking"),  # of a subset, which may be a file too
    *("even", "scene", "direct", "fit"),
}


def test_values_that_stand_elsewhere_are_the_same() -> None:
    assert get_args(Mode) == tuple(MODES)
    assert get_args(mock.Scene) == tuple(mock.CHOICES)
    assert get_args(Of) == (EXPLANATION.name, *OF_MOCK)
    assert set(get_args(Shown)) == {*get_args(Setting), *MOCK_INPUTS}


# ---- declarations -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Some(Declared):
    kind: Literal["a", "1"] = parameter("a", "Kind.", also=int)
    count: int = parameter(2, "Count.", least=1, most=9)
    share: float | None = parameter(0.5, "Share.")
    seed: int | None = parameter(1, "Seed.")
    on: bool = parameter(False, "On.")
    maybe: bool | None = parameter(None, "Maybe.")
    path: str | None = parameter(None, "Path.")
    files: str = parameter("x", "Files.", also=list)
    cut: str = parameter("best", "Cut.", also=float)
    whose: str = parameter("me", "Whose.", needed="say whose.")
    how: Literal["x", "y"] = parameter("x", "How.", never={"z": "z is too loud."})
    gone: int = absent(0, "there is none here.")
    hidden: int = 3


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"kind": 1}, {"kind": "1"}),
        ({"share": "None"}, {"share": None}),
        ({"share": 1}, {"share": 1}),
        ({"seed": "null"}, {"seed": None}),
        ({"maybe": "none"}, {"maybe": None}),
        ({"path": "none"}, {"path": "none"}),
        ({"files": ["a", 2]}, {"files": "a,2"}),
        ({"path": ["0 = flat", " 1 = loud"]}, {"path": "0 = flat, 1 = loud"}),
        ({"cut": -0.5}, {"cut": "-0.5"}),
        ({"cut": 3}, {"cut": "3"}),
        ({"gone": 0}, {"gone": 0}),
        ({"hidden": 4}, {"hidden": 4}),
    ],
)
def test_what_command_lines_do_is_put_right(given: dict[str, Any], kept: dict[str, Any]) -> None:
    made = Some(**given)
    assert {name: getattr(made, name) for name in kept} == kept


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"kind": "b"}, "kind: there is no 'b'; choose from a, 1."),
        ({"kind": True}, "kind: there is no 'True'; choose from a, 1."),
        ({"kind": None}, "kind: there is no 'None'; choose from a, 1."),
        ({"count": 0}, "count must be a whole number from 1 to 9, not 0."),
        ({"count": 10}, "count must be a whole number from 1 to 9, not 10."),
        ({"count": 2.0}, "count must be a whole number from 1 to 9, not 2.0."),
        ({"count": True}, "count must be a whole number from 1 to 9, not True."),
        ({"count": None}, "count must be a whole number from 1 to 9, not None."),
        ({"share": "hot"}, "share must be a number or none, not 'hot'."),
        ({"share": False}, "share must be a number or none, not False."),
        ({"seed": 1.5}, "seed must be a whole number or none, not 1.5."),
        ({"on": 1}, "on must be true or false, not 1."),
        ({"on": None}, "on must be true or false, not None."),
        ({"path": 3}, "path must be text, not 3."),
        ({"path": ["a"]}, "path must be text, not ['a']."),
        ({"path": ["a", None]}, "path must be text, not ['a', None]."),
        ({"kind": ["a", "1"]}, "kind: there is no '['a', '1']'; choose from a, 1."),
        ({"files": 3}, "files must be text, not 3."),
        ({"cut": True}, "cut must be text, not True."),
        ({"whose": ""}, "whose: say whose."),
        ({"whose": None}, "whose: say whose."),
        ({"how": "z"}, "how=z: z is too loud."),
        ({"gone": 1}, "gone: there is none here."),
        ({"hidden": "x"}, "hidden must be a whole number, not 'x'."),
    ],
)
def test_what_cannot_be_used_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as raised:
        Some(**given)
    assert str(raised.value) == said


def test_a_command_lines_texts_become_values() -> None:
    texts = {"kind": "1", "count": "3", "share": "2", "seed": "none", "on": "True", "path": "none", "files": "a,b"}
    typed = {"kind": "1", "count": 3, "share": 2, "seed": None, "on": True, "path": "none", "files": "a,b"}
    assert read_parameters(Some, "some", texts.items()) == typed
    assert read_parameters(Some, "some", [("share", ".5"), ("count", "x")]) == {"share": 0.5, "count": "x"}
    with pytest.raises(BadInput, match=r"^on is given twice: True and 'false'; give it once\.$"):
        read_parameters(Some, "some", [("on", "true"), ("on", "false")])
    with pytest.raises(BadInput, match=r"^parameter of some: there is no 'coun'; .*Did you mean 'count'\?$") as raised:
        read_parameters(Some, "some", [("coun", "1")])
    assert not re.search("gone|hidden", str(raised.value))
    assert [*parameters_of(Some)] == [each.name for each in declared(Some)][:-2]


def test_an_empty_dataset_is_the_benchmarks_own() -> None:
    for benchmark in BENCHMARKS.values():
        more = {"system": "human", "against": "other"} if benchmark.name == "explanation_preference" else {}
        default = parameters_of(benchmark.options)["dataset"].default
        assert benchmark.options(dataset="", **more).dataset == default
