"""What is made from the definitions is what the repository holds."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from pathlib import Path

import generate
import pytest

import humor_tasks
from humor_tasks import tasks
from humor_tasks.benchmarks import BENCHMARKS
from humor_tasks.papers.papers import Paper

ROOT = generate.ROOT


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The generated files, and the others of their folders."""
    for folder in ("register", "humor_tasks/on_lm_eval/tasks", "humor_tasks/on_inspect/tasks"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    shutil.copytree(ROOT / "datasets_cards", tmp_path / "datasets_cards", ignore=shutil.ignore_patterns("*.[!m]*"))
    for file in ("README.md", "humor_tasks/tasks.py", "humor_tasks/__init__.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    return tmp_path


def test_the_repository_holds_what_the_definitions_say(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the command is run elsewhere."""
    monkeypatch.chdir(tmp_path)
    assert (generate.main(["--check"]), capsys.readouterr().out) == (0, "up to date\n")
    assert len(tasks.__all__) >= 16
    assert set(tasks.__all__) < set(humor_tasks.__all__)


def test_files_that_are_renamed_changed_or_missing_are_named_and_written_again(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    register, stubs = copy / "register", copy / "humor_tasks" / "on_lm_eval" / "tasks"
    (register / "inspect_evals/humor_tasks_matching").rename(register / "inspect_evals/humor_tasks_fitting")
    (stubs / "nyc_matching.yaml").rename(stubs / "nyc_fitting.yaml")
    (copy / "humor_tasks/on_inspect/tasks/mock.py").rename(copy / "humor_tasks/on_inspect/tasks/mocking.py")
    changes = {
        "README.md": ("`nyc_ranking` |", "`nyc_rating` |"),
        "docs/benchmarks/ranking.md": ("## Metrics", "## Measures"),
        "docs/parameters.md": ("Seed of", "Seeds of"),
        "humor_tasks/on_inspect/tasks/crowd.py": ("per_contest: int = 10", "per_contest: int = 11"),
        "humor_tasks/on_lm_eval/tasks/nyc.yaml": ("nyc_ranking", "nyc_rating"),
        "register/inspect_evals/humor_tasks_ranking/eval.yaml": ("name: ranking", "name: rating"),
        "register/lm_eval/mock/README.md": ("`mock_matching_gen`", "`mock_matching_written`"),
    }
    for path, (old, new) in changes.items():
        text = (copy / path).read_text(encoding="utf-8")
        assert old in text
        (copy / path).write_text(text.replace(old, new), encoding="utf-8")
    left = [
        "humor_tasks/on_inspect/tasks/mocking.py: nothing of that name is declared; delete it",
        "humor_tasks/on_lm_eval/tasks/nyc_fitting.yaml: nothing of that name is declared; delete it",
        "register/inspect_evals/humor_tasks_fitting/eval.yaml: nothing of that name is declared; delete it",
    ]
    lacking = [
        "humor_tasks/on_inspect/tasks/mock.py: is missing",
        "humor_tasks/on_lm_eval/tasks/nyc_matching.yaml: is missing",
        "register/inspect_evals/humor_tasks_matching/eval.yaml: is missing",
    ]
    other = [f"{path}: differs from what is declared" for path in changes]
    assert generate.main(["--check"], copy) == 1
    assert capsys.readouterr().out.splitlines() == [*left, *lacking, *other, "Run: python tools/generate.py"]
    assert generate.main([], copy) == 1
    written = {f"{line.partition(':')[0]}: written" for line in (*lacking, *other)}
    told = capsys.readouterr().out.splitlines()
    assert (set(told[: -len(left)]), told[-len(left) :]) == (written, left)
    for told in left:
        (copy / told.partition(":")[0]).unlink()
    assert generate.main(["--check"], copy) == 0


def test_damaged_and_foreign_files_are_named(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stubs = copy / "humor_tasks" / "on_lm_eval" / "tasks"
    (stubs / "foreign.yaml").write_text("task: foreign\nbenchmark: gone\n")
    (stubs / "nyc.yaml").write_bytes(b"\xff\xfe")
    assert generate.main(["--check"], copy) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        "humor_tasks/on_lm_eval/tasks/foreign.yaml: nothing of that name is declared; delete it",
        "humor_tasks/on_lm_eval/tasks/nyc.yaml: differs from what is declared",
    ]


def test_without_the_tasks_the_rest_is_compared(
    copy: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "entries", None)  # an import of it fails
    (copy / "humor_tasks" / "tasks.py").unlink()
    assert generate.main(["--check"], copy) == 1
    told = capsys.readouterr().out.splitlines()
    assert told[0] == "humor_tasks/tasks.py: is missing"
    assert told[1].startswith("register/: not compared, because humor_tasks/tasks.py fails (")


def test_a_benchmark_without_a_page_gets_one_and_a_written_one_keeps_its_words(copy: Path) -> None:
    page = copy / "docs" / "benchmarks" / "ranking.md"
    written = page.read_text(encoding="utf-8")
    page.write_text(written.replace("## Pitfalls", "## Traps"), encoding="utf-8")
    assert generate.main(["--check"], copy) == 0
    page.unlink()
    assert generate.main([], copy) == 0
    begin, _, end = written.partition("## Run it")
    assert page.read_text(encoding="utf-8") == begin + end[end.index("## What a score means") :]


def test_a_page_that_would_say_something_twice_is_refused(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = copy / "docs" / "benchmarks" / "ranking.md"
    page.write_text(page.read_text(encoding="utf-8").replace("## Pitfalls", "## Metrics"), encoding="utf-8")
    assert generate.main(["--check"], copy) == 2
    assert "docs/benchmarks/ranking.md: the section `## Metrics` is generated" in capsys.readouterr().err


def test_a_line_written_below_the_generated_heading_is_refused_and_stays(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = copy / "docs" / "benchmarks" / "ranking.md"
    written = page.read_text(encoding="utf-8")
    for changed in (f"{written}\nBy hand.\n", written.replace("## Metrics\n", "## Metrics\n\nBy hand.\n")):
        page.write_text(changed, encoding="utf-8")
        assert generate.main([], copy) == 2
        assert "docs/benchmarks/ranking.md: the part below `## What a score means`" in (err := capsys.readouterr().err)
        assert "'By hand.'. Move it above that heading" in err
        assert page.read_text(encoding="utf-8") == changed
    page.write_text(f"{written}- A difference that is gone.\n", encoding="utf-8")
    assert generate.main([], copy) == 0
    assert page.read_text(encoding="utf-8") == written


def test_a_benchmark_without_a_family_in_lm_eval_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = BENCHMARKS["ranking"]
    monkeypatch.setitem(BENCHMARKS, "ranking", replace(whole, card=replace(whole.card, paper=Paper())))
    assert generate.main(["--check"]) == 2
    assert "ranking: card.paper has no key. Give Paper(" in capsys.readouterr().err


def test_a_readme_without_the_marks_of_the_table_is_refused(copy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (copy / "README.md").write_text("# humor-tasks\n")
    assert generate.main([], copy) == 2
    assert capsys.readouterr().err.startswith("README.md: the part `tasks` stands between the lines <!-- tasks")
