"""Writes everything that follows from the benchmarks' definitions into the repository.

    python tools/generate.py            # writes and names what differs, and names what no definition declares any more
    python tools/generate.py --check    # writes nothing; exit status 1 and one line for each file that differs

The files are Inspect's tasks and their names in humor_tasks/__init__.py, lm-eval's YAML files, docs/parameters.md, the
README's table of tasks, the frames of the benchmarks' pages, and the entries and READMEs for public registers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import inspect_tasks
import lm_eval_tasks
import pages

from humor_tasks.errors import BadInput
from humor_tasks.files.writing import write_text

ROOT = Path(__file__).resolve().parent.parent
WHOLE = ("register/inspect_evals/*/*", "register/lm_eval/*/*", f"{lm_eval_tasks.FOLDER}/*.yaml")
"""Patterns of files that are all generated."""
MARKED = "humor_tasks/on_inspect/tasks/*.py"
"""Pattern of files of which the generated ones say so in their text."""


def parts(root: Path = ROOT) -> Iterator[dict[str, str]]:
    """The generated files as path -> text, in parts. Each part may read the files of the parts before it."""
    yield lm_eval_tasks.files() | inspect_tasks.files()
    yield pages.files(root)
    yield registers()


def registers() -> dict[str, str]:
    """The generated files of register/. They name the source files of the tasks."""
    sys.path.append(str(ROOT / "register"))
    from entries import files

    return {f"register/{path}": text for path, text in files().items()}


def differences(made: Mapping[str, str], root: Path = ROOT) -> list[str]:
    """One line for each generated file that is missing, differs, or is no longer declared."""
    changed = _changed(made, root)
    tops = {path.split("/")[0] for path in made}
    held = {path for path in _held(root) if path.split("/")[0] in tops}
    left = [f"{path}: nothing of that name is declared; delete it" for path in sorted(held - made.keys())]
    lacking = [f"{path}: is missing" for path in changed if not (root / path).is_file()]
    other = [f"{path}: differs from what is declared" for path in changed if (root / path).is_file()]
    return left + lacking + other


def _changed(made: Mapping[str, str], root: Path) -> list[str]:
    """The generated files that are missing or have another text."""
    return sorted(path for path in made if not (root / path).is_file() or _text(root / path) != made[path])


def _held(root: Path) -> Iterator[str]:
    """The generated files that exist."""
    found = [file for pattern in WHOLE for file in root.glob(pattern) if file.is_file()]
    found += [file for file in root.glob(MARKED) if inspect_tasks.WRITTEN in _text(file)]
    return (file.relative_to(root).as_posix() for file in found)


def _text(file: Path) -> str:
    """A file's text, with a mark in place of what is not UTF-8."""
    return file.read_text(encoding="utf-8", errors="replace")


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Write the files, or print what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit status 1 where files differ")
    check = parser.parse_args(arguments).check
    made: dict[str, str] = {}
    written: list[str] = []
    try:
        for part in parts(root):
            made |= part
            for path in () if check else _changed(part, root):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                write_text(root / path, part[path])
                written.append(f"{path}: written")
        found = differences(made, root)
    except (ImportError, SyntaxError) as problem:  # registers read the tasks that the repository holds
        found = [*differences(made, root), f"register/: not compared, because humor_tasks/tasks.py fails ({problem})"]
    except BadInput as problem:
        print(problem, file=sys.stderr)
        return 2
    told = [*written, *found, *["Run: python tools/generate.py"] * (check and bool(found))]
    print("\n".join(told or ["up to date"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
