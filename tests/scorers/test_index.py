"""The package's index: every public name exists, is documented, and imports nothing heavy."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

from humor_tasks import scorers

HEAVY = "numpy scipy sacrebleu rouge_score nltk inspect_ai lm_eval datasets torch pandas"


def test_every_name_of_the_index_exists() -> None:
    assert sorted(scorers.__all__, key=lambda name: (not name.isupper(), name)) == scorers.__all__
    assert all(hasattr(scorers, name) for name in scorers.__all__)


def test_every_public_function_is_documented() -> None:
    functions = [value for name in scorers.__all__ if inspect.isroutine(value := getattr(scorers, name))]
    assert len(functions) > 10
    assert all(function.__doc__ for function in functions)


def test_the_index_names_every_module() -> None:
    assert scorers.__doc__
    assert scorers.__file__
    modules = {path.stem for path in Path(scorers.__file__).parent.glob("*.py")} - {"__init__", "validation"}
    assert {module for module in modules if f"`{module}`" not in scorers.__doc__} == set()


def test_importing_the_scorers_imports_nothing_heavy() -> None:
    code = f"""
import sys, humor_tasks.scorers as s
for reply in ("Answer: C", "I can't help with that."):
    for mode in s.MODES:
        s.read_answer(reply, "ABCDE", mode)
    s.read_explanation(reply)
print([name for name in {HEAVY.split()!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
