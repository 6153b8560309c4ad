"""The rooms of the package: files, lines by hand, floors, arrows between rooms, circles and upward imports.

    python tools/rooms.py            # prints the measures
    python tools/rooms.py --words    # and how often names that say nothing stand in the code

tests/whole_package/test_layers.py holds the limits. Imports inside functions count as well: they only delay a
dependency.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
ROOT = "humor_tasks"
HARNESSES = ("inspect_ai", "lm_eval")
GENERATED = "ritten by tools/generate"
# Rooms by floor, the lowest first. A module may import from its own room and from lower floors, so that the rooms of
# one floor do not know each other: benchmarks import no models.
FLOORS: tuple[tuple[str, ...], ...] = (
    ("_version", "errors"),
    ("scorers", "datasets_cards"),
    ("files",),
    ("papers", "rows"),
    ("logs",),
    ("models", "contract", "evaluate_metrics"),
    ("benchmarks",),
    ("api", "on_inspect", "on_lm_eval"),
    ("tasks", "parameters", "testing"),
    ("suites",),
    ("results",),
    ("studies", "lab"),
    ("__init__", "_registry", "_lm_eval_backport", "cli"),
)
WINGS = ("results", "studies", "lab")
"""Rooms that use the plugin and that it does not know. Their dependencies are extras."""
ABOVE = ("__init__", "_registry", "_lm_eval_backport", "cli")
"""What knows the plugin and its wings."""
EMPTY_NAMES = ("found", "each", "own", "shown", "told", "kept")


@cache
def modules() -> dict[str, Path]:
    """Module name without the package -> file."""
    names = {}
    for folder in (REPOSITORY / ROOT, REPOSITORY / "scorers", REPOSITORY / "datasets_cards"):
        base = folder if folder.name == ROOT else REPOSITORY
        for path in sorted(folder.rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            names[".".join(parts[:-1] if parts[-1] == "__init__" and parts[:-1] else parts)] = path
    return {name: path for name, path in names.items() if not name.startswith("datasets_cards.")}


def room(module: str) -> str:
    """The top folder or root module."""
    return module.split(".")[0]


def floor(module: str) -> int:
    """The floor of a module's room; a module without one is an error."""
    for number, names in enumerate(FLOORS):
        if room(module) in names:
            return number
    raise AssertionError(f"{module} has no place: add {room(module)} to FLOORS.")


def part(module: str) -> str:
    """The large part of the package that a module belongs to: scorers, a wing, the plugin, or what stands above all."""
    name = room(module)
    if name == "scorers" or name in WINGS:
        return name
    return "above" if name in ABOVE else "plugin"


@cache
def tree(module: str) -> ast.Module:
    """The module's syntax tree."""
    return ast.parse(modules()[module].read_text(encoding="utf-8"))


def imports(module: str) -> set[str]:
    """The modules that one module imports: of this package without its name, of harnesses the top package."""
    package = [*module.split(".")] if modules()[module].name == "__init__.py" else module.split(".")[:-1]
    names: set[str] = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            names |= {".".join((ROOT, *base, *(node.module or alias.name).split("."))) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                names.add(whole if whole.removeprefix(f"{ROOT}.") in modules() else node.module)
    ours = {name.removeprefix(f"{ROOT}.") for name in names if name.startswith(f"{ROOT}.")}
    ours |= {"__init__"} if ROOT in names else set()
    return ours | {name.split(".")[0] for name in names if name.split(".")[0] in HARNESSES}


@cache
def graph() -> dict[str, set[str]]:
    """Module -> the modules that it imports."""
    return {module: imports(module) for module in modules()}


def arrows() -> set[tuple[str, str]]:
    """(room, the room that it imports from)."""
    pairs = {(room(module), room(name)) for module, names in graph().items() for name in names if name not in HARNESSES}
    return {(a, b) for a, b in pairs if a != b}


def upward() -> list[tuple[str, str]]:
    """(module, the module of another room that it imports although its floor is no lower)."""
    return [
        (module, name)
        for module, names in graph().items()
        for name in sorted(names - set(HARNESSES))
        if room(name) != room(module) and floor(name) >= floor(module)
    ]


def circles() -> list[str]:
    """Circles of imports between modules, as "a -> b -> a"."""
    done: set[str] = set()
    circular: list[str] = []

    def visit(module: str, path: tuple[str, ...]) -> None:
        if module in path:
            circular.append(" -> ".join((*path[path.index(module) :], module)))
        elif module not in done and module in graph():
            for name in sorted(graph()[module]):
                visit(name, (*path, module))
            done.add(module)

    for module in graph():
        visit(module, ())
    return circular


def by_hand() -> dict[str, int]:
    """Module -> its lines, without generated modules and the index of the cards."""
    texts = {module: path.read_text(encoding="utf-8") for module, path in modules().items()}
    return {
        module: text.count("\n")
        for module, text in texts.items()
        if GENERATED not in text and room(module) != "datasets_cards"
    }


def uses_of(names: tuple[str, ...]) -> Counter[str]:
    """How often each of these stands in the code as a name, argument or attribute."""
    uses: Counter[str] = Counter()
    for module in by_hand():
        for node in ast.walk(tree(module)):
            labels = (node.arg,) if isinstance(node, ast.arg | ast.keyword) else (getattr(node, "id", None),)
            labels = (node.attr,) if isinstance(node, ast.Attribute) else labels
            uses.update(label for label in labels if label in names)
    return uses


def main() -> None:
    """Print the measures."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--words", action="store_true", help="also count names that say nothing")
    asked = parser.parse_args()
    lines: dict[str, int] = defaultdict(int)
    files: Counter[str] = Counter()
    for module, count in by_hand().items():
        lines[room(module)] += count
        files[room(module)] += 1
    total = sum(lines.values())
    print(f"{'floor':>5}  {'room':20} {'files':>5} {'lines':>7} {'share':>6}")
    for name in sorted(lines, key=lambda name: (floor(name), -lines[name])):
        print(f"{floor(name) + 1:>5}  {name:20} {files[name]:>5} {lines[name]:>7,} {lines[name] / total:>6.1%}")
    print(f"{'':5}  {'all, by hand':20} {files.total():>5} {total:>7,}")
    parts: Counter[str] = Counter()
    for module, count in by_hand().items():
        parts[part(module)] += count
    print(", ".join(f"{name} {count:,}" for name, count in parts.most_common()))
    print(
        f"{len(lines)} rooms on {len(FLOORS)} floors, {len(arrows())} arrows between rooms, "
        f"{len(circles())} circles of modules, {len(upward())} upward imports"
    )
    if asked.words:
        print(", ".join(f"{name} {count:,}" for name, count in uses_of(EMPTY_NAMES).most_common()))


if __name__ == "__main__":
    main()
