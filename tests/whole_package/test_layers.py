"""Every module has a place, imports go one way between the places, and no imports go in a circle.

Imports inside functions count as well: they only delay a dependency.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter, defaultdict

import pytest
from rooms import HARNESSES, REPOSITORY, ROOT, WINGS, by_hand, circles, floor, graph, modules, part, room, tree, upward

from humor_tasks.benchmarks import BENCHMARKS

MODULES = modules()
# Rooms and modules outside benchmarks/ that contain the names of single benchmarks, and why. The first five mean
# something else by the same words; the others go when what they say of a benchmark is said by its definition.
MAY_NAME = {
    "scorers.tagged": "a tag in replies",
    "papers.papers": "keys of papers",
    "rows.contests": "configs and folders of published datasets",
    "contract.card": "kinds of votes",
    "logs.record": "a field of Inspect's outputs",
    "lab.corpora": "configs of the datasets that are built",
    "results.analysis.verdicts": "a column of files of labels",
    "on_inspect.parts": "which benchmark replies in tasks of other packages are taken to be of",
    "on_inspect.scorers": "which benchmark replies in tasks of other packages are taken to be of",
    "tasks": "an index of the generated tasks",
    "on_inspect.tasks": "one function a task, which Inspect's register reads as literal source",
    "__init__": "exports the tasks by name",
}

MOST_MODULES_AT_THE_ROOT = 9
MOST_LINES = 450
"""Advice is 400; what belongs together stays together, without re-exports."""
MOST_OF_ALL = 0.15
"""The largest share of all lines that a room of the plugin may have."""
MOST_OF_PART = {"plugin": 36_000, "scorers": 8_200, "results": 10_000, "studies": 10_000, "lab": 12_500, "above": 4_000}
"""The lines by hand that a large part of the package may have."""
# Which places may import a harness: two modules read Inspect's log files, and six modules ask models through Inspect.
MAY_IMPORT = {
    "inspect_ai": (
        *("on_inspect", "testing", "_registry", "logs.inspect_logs", "logs.invocation"),
        *(
            "results.grade",
            "studies.arena.judging",
            "studies.captions.against",
            "studies.captions.pairwise",
            "results.reproduce.recipes",
        ),
        "lab.corpora.mock.option_models",
    ),
    "lm_eval": ("on_lm_eval", "testing", "_lm_eval_backport"),
}


def test_imports_go_down() -> None:
    assert upward() == []


def test_what_is_imported_exists() -> None:
    """mypy, which is told to ignore missing imports, says nothing of our own."""
    missing = {
        f"{module} -> {name}" for module, names in graph().items() for name in names - set(HARNESSES) - set(MODULES)
    }
    assert not missing


def test_harnesses_are_imported_where_they_may_be() -> None:
    for module, names in graph().items():
        for name in names.intersection(HARNESSES):
            allowed = MAY_IMPORT[name]
            assert any(module == a or module.startswith(f"{a}.") for a in allowed), f"{module} imports {name}"


def test_no_imports_go_in_a_circle() -> None:
    assert circles() == []


def test_no_room_is_a_trunk() -> None:
    lines: Counter[str] = Counter()
    for module, count in by_hand().items():
        lines[room(module)] += count
    assert max(count for name, count in lines.items() if name not in WINGS) <= MOST_OF_ALL * lines.total()


def test_the_large_parts_keep_their_size() -> None:
    lines: Counter[str] = Counter()
    for module, count in by_hand().items():
        lines[part(module)] += count
    assert {name: count for name, count in lines.items() if count > MOST_OF_PART[name]} == {}


READER = {"results.read", "results.result"}
"""What reads finished runs is for all wings."""


def test_the_plugin_knows_no_wing_and_wings_not_each_other() -> None:
    arrows = {(a, b) for a, names in graph().items() for b in names - set(HARNESSES) if part(a) != part(b)}
    upward = {(a, b) for a, b in arrows if part(b) in (*WINGS, "above") and part(a) != "above"}
    assert {(a, b) for a, b in upward if part(a) not in WINGS or b not in READER} == set()


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_place_and_fits(module: str) -> None:
    floor(module)
    assert len(MODULES[module].read_text().split("\n")) <= MOST_LINES


def names_benchmarks(module: str) -> bool:
    """Whether a string of the module is the name of a benchmark."""
    nodes = ast.walk(tree(module))
    strings = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return not strings.isdisjoint(BENCHMARKS)


def test_benchmarks_are_known_by_name_in_their_own_room_only() -> None:
    named = {module for module in MODULES if room(module) != "benchmarks" and names_benchmarks(module)}
    known = {module: [may for may in MAY_NAME if f"{module}.".startswith(f"{may}.")] for module in named}
    assert [module for module, reasons in known.items() if not reasons] == []
    assert sorted({may for reasons in known.values() for may in reasons}) == sorted(MAY_NAME)  # none is left over


def test_nothing_but_tests_needs_the_stand_ins() -> None:
    users = {m for m in graph() if room(m) != "testing" and any(room(name) == "testing" for name in graph()[m])}
    assert not users


def test_the_root_stays_small() -> None:
    assert len(list((REPOSITORY / ROOT).glob("*.py"))) <= MOST_MODULES_AT_THE_ROOT


def test_nothing_shadows_a_package_when_run_inside_its_folder() -> None:
    shadowed = {"inspect_ai", "lm_eval", "datasets", "evaluate", "inspect", "statistics", "types", "random", "code"}
    assert not {path.stem for path in MODULES.values()} & shadowed


@functools.cache
def importers() -> dict[str, set[str]]:
    """Which of our modules import a module, under the name that the import statement has."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for module in MODULES:
        for node in ast.walk(tree(module)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in names:
                found[name].add(module)
    return dict(found)


def test_private_names_of_inspect_are_in_one_module() -> None:
    private = [n for n in importers() if n.startswith("inspect_ai.") and any(part[0] == "_" for part in n.split("."))]
    assert private
    assert {module for name in private for module in importers()[name]} == {"on_inspect.private"}


def test_classes_of_lm_eval_are_imported_in_one_module() -> None:
    theirs = ("lm_eval.api", "lm_eval.config", "lm_eval.filters", "lm_eval.scorers")
    users = set().union(*(modules for name, modules in importers().items() if name.startswith(theirs)))
    assert users
    assert users <= {"on_lm_eval.harness", "_lm_eval_backport"}, "let on_lm_eval.harness do it"


def test_the_command_line_is_one_room() -> None:
    assert {room(module) for module in importers()["click"]} == {"cli"}
