"""The files of tasks that the register's entries name, as its linter reads them.

It lies here because the linter takes tests/ for a package's tests where a test file is directly in it. `.ci/run` has it
read the whole package, which takes half a minute.
"""

from __future__ import annotations

import pytest
import yaml
from standins.paths import REPOSITORY


def test_the_files_of_the_entries_meet_every_rule() -> None:
    runner = pytest.importorskip("inspect_evals_lint.runner")
    entries = map(yaml.safe_load, (path.read_text("utf-8") for path in REPOSITORY.glob("register/*/*/eval.yaml")))
    paths = sorted({task["task_path"] for entry in entries for task in entry["tasks"]})
    (package,) = runner.lint_task_files(REPOSITORY, paths).packages
    assert [each.message for each in package.diagnostics if each.status == "fail"] == []
    # Tasks are in one module per corpus, which the package exports; the rule wants them in one file.
    assert {each.rule.name for each in package.diagnostics} == {"main_file"}
