"""Every module has a place, imports go one way between the places, and no imports go in a circle.

Imports inside functions count as well: they only delay a dependency.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from humor_tasks.benchmarks import BENCHMARKS

REPOSITORY = Path(__file__).resolve().parent.parent
ROOT = "humor_tasks"
# Rooms and modules outside benchmarks/ that contain the names of single benchmarks, and why. The first five mean
# something else by the same words; the others go when what they say of a benchmark is said by its definition.
MAY_NAME = {
    "scorers.tagged": "a tag in replies",
    "data.papers": "keys of papers",
    "data.contests": "configs and folders of published datasets",
    "corpora": "configs of the datasets that are built",
    "results.analysis.correct": "a column of files of labels",
    "on_inspect.parts": "which benchmark replies in tasks of other packages are taken to be of",
    "on_inspect.scorers": "which benchmark replies in tasks of other packages are taken to be of",
    "tasks": "an index of the generated tasks",
    "on_inspect.tasks": "one function a task, which Inspect's register reads as literal source",
}

# Places by floor, the lowest first. A module may import from its own place and from lower floors, so that the places of
# one floor do not know each other: benchmarks import no models.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("_version", "errors"),
    ("scorers", "datasets_cards"),
    ("data",),
    ("models", "benchmarks", "evaluate_metrics"),
    ("api", "on_inspect", "on_lm_eval"),
    ("tasks", "parameters", "testing"),
    ("training", "people"),
    ("results", "corpora"),
    ("__init__", "_registry", "_lm_eval_backport", "cli"),
)
MOST_MODULES_AT_THE_ROOT = 9
MOST_LINES = 400
# Which places may import a harness: two modules read Inspect's log files, and five modules ask models through Inspect.
MAY_IMPORT = {
    "inspect_ai": (
        *("on_inspect", "testing", "_registry", "data.logs.inspect_logs", "data.logs.asked"),
        *(
            "results.grade",
            "results.captions.against",
            "results.captions.comparing",
            "results.reproduce.models",
        ),
        "corpora.mock.option_models",
    ),
    "lm_eval": ("on_lm_eval", "testing", "_lm_eval_backport"),
}


def modules() -> dict[str, Path]:
    """Module name without the package -> file."""
    found = {}
    for folder in (REPOSITORY / ROOT, REPOSITORY / "scorers", REPOSITORY / "datasets_cards"):
        base = folder if folder.name == ROOT else REPOSITORY
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" and parts[:-1] else parts)] = path
    return {name: path for name, path in found.items() if not name.startswith("datasets_cards.")}


MODULES = modules()


def place(module: str) -> str:
    """The top folder or root module."""
    return module.split(".")[0]


def floor(module: str) -> int:
    """The floor of a module's place; a module without a place is an error."""
    for number, names in enumerate(FLOORS):
        if place(module) in names:
            return number
    raise AssertionError(f"{module} has no place: add {place(module)} to FLOORS.")


def imports(module: str) -> set[str]:
    """The modules that one module imports: of this package without its name, of others the top package."""
    package = [*module.split(".")] if MODULES[module].name == "__init__.py" else module.split(".")[:-1]
    names: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names |= {".".join((ROOT, *base, *(node.module or alias.name).split("."))) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                names.add(whole if whole.removeprefix(f"{ROOT}.") in MODULES else node.module)
    ours = {name.removeprefix(f"{ROOT}.") for name in names if name.startswith(f"{ROOT}.")}
    ours |= {"__init__"} if ROOT in names else set()
    return ours | {name.split(".")[0] for name in names if name.split(".")[0] in MAY_IMPORT}


GRAPH = {module: imports(module) for module in MODULES}


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    for name in GRAPH[module]:
        if name in MAY_IMPORT:
            allowed = MAY_IMPORT[name]
            assert any(module == a or module.startswith(f"{a}.") for a in allowed), f"{module} imports {name}"
        elif place(name) != place(module):
            assert floor(name) < floor(module), f"{module} must not import {name}, which is no lower"


def test_no_imports_go_in_a_circle() -> None:
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join((*path[path.index(module) :], module))
        if module in done or module not in GRAPH:
            return
        for name in sorted(GRAPH[module]):
            visit(name, (*path, module))
        done.add(module)

    for module in GRAPH:
        visit(module, ())


@pytest.mark.parametrize("module", MODULES)
def test_every_module_has_a_place_and_fits(module: str) -> None:
    floor(module)
    assert len(MODULES[module].read_text().split("\n")) <= MOST_LINES


def names_benchmarks(module: str) -> bool:
    """Whether a string of the module is the name of a benchmark."""
    nodes = ast.walk(ast.parse(MODULES[module].read_text()))
    strings = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return not strings.isdisjoint(BENCHMARKS)


def test_benchmarks_are_known_by_name_in_their_own_room_only() -> None:
    named = {module for module in MODULES if place(module) != "benchmarks" and names_benchmarks(module)}
    known = {module: [may for may in MAY_NAME if f"{module}.".startswith(f"{may}.")] for module in named}
    assert [module for module, reasons in known.items() if not reasons] == []
    assert sorted({may for reasons in known.values() for may in reasons}) == sorted(MAY_NAME)  # none is left over


def test_nothing_but_tests_needs_the_stand_ins() -> None:
    users = {m for m in GRAPH if place(m) != "testing" and any(place(name) == "testing" for name in GRAPH[m])}
    assert not users


def test_the_root_stays_small() -> None:
    assert len(list((REPOSITORY / ROOT).glob("*.py"))) <= MOST_MODULES_AT_THE_ROOT


def test_nothing_shadows_a_package_when_run_inside_its_folder() -> None:
    shadowed = {"inspect_ai", "lm_eval", "datasets", "evaluate", "inspect", "statistics", "types", "random", "code"}
    assert not {path.stem for path in MODULES.values()} & shadowed


def test_private_names_of_inspect_are_in_one_module() -> None:
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            private = [n for n in names if n.startswith("inspect_ai.") and any(p[0] == "_" for p in n.split("."))]
            assert not private or module == "on_inspect.private", f"{module} imports {private[0]}"


def test_classes_of_lm_eval_are_imported_in_one_module() -> None:
    theirs = ("lm_eval.api", "lm_eval.config", "lm_eval.filters", "lm_eval.scorers")
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            named = [name for name in names if name.startswith(theirs)]
            allowed = module in ("on_lm_eval.harness", "_lm_eval_backport")
            assert not named or allowed, f"{module} imports {named[0]}: let on_lm_eval.harness do it"
