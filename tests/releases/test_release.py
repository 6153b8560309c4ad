"""The release command, in a small repository of its own: all of a release, or nothing."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import release
import yaml
from standins.paths import REPOSITORY

from humor_tasks import tasks

URL = "https://github.com/Some-body/humor-tasks"
CHANGELOG = "# Changelog\n\n## 0.2.0 (unreleased)\n\n- A change.\n\n## 0.1.0 (2026-01-02)\n\n- The first.\n"
CITATION = 'cff-version: 1.2.0\nversion: 0.1.0\ndate-released: 2026-01-02\nrepository-code: "{{REPOSITORY_URL}}"\n'
PROJECT = """[project]
name = "humor-tasks"

# Out of comment at the release.
# [project.urls]
# Homepage = "{{REPOSITORY_URL}}"
# Documentation = "{{SITE_URL}}"
"""
GIVEN = ("0.2.0", "--url", URL, "--date", "2026-11-23")


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a release reads, committed."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "none"))
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{who}_EMAIL", "somebody@example.org")
    root = tmp_path / "checkout"
    shutil.copytree(REPOSITORY / "register", root / "register", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "humor_tasks").mkdir()
    (root / "humor_tasks" / "_version.py").write_text('"""The version."""\n\n__version__ = "0.1.0"\n')
    shutil.copy(REPOSITORY / ".gitignore", root)
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "CHANGELOG.md").write_text(CHANGELOG)
    (root / "CITATION.cff").write_text(CITATION)
    git(root, "init", "--quiet")
    commit(root)
    return root


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--allow-empty", "--message", "A change")


def state(root: Path) -> dict[str, object]:
    """Everything that a release could leave behind."""
    files = {p.relative_to(root): p.read_bytes() for p in root.rglob("*") if p.is_file() and ".git" not in p.parts}
    told = [git(root, *asked) for asked in (("rev-parse", "HEAD"), ("tag",), ("status", "--porcelain"))]
    return {"files": files, "git": told}


@pytest.mark.slow
def test_a_release_fills_dates_commits_and_tags(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    forms = {path: path.read_bytes() for path in (checkout / "register").rglob("*") if path.is_file()}
    assert release.main([*GIVEN], checkout) == 0
    head = git(checkout, "rev-parse", "HEAD").strip()
    assert git(checkout, "rev-parse", "v0.2.0^{commit}").strip() == head
    assert head in capsys.readouterr().out
    assert git(checkout, "status", "--porcelain") == ""

    assert '__version__ = "0.2.0"' in (checkout / "humor_tasks" / "_version.py").read_text()
    assert (checkout / "CHANGELOG.md").read_text() == CHANGELOG.replace("(unreleased)", "(2026-11-23)")
    cited = yaml.safe_load((checkout / "CITATION.cff").read_text())
    assert (str(cited["version"]), str(cited["date-released"])) == ("0.2.0", "2026-11-23")
    assert cited["repository-code"] == URL
    assert tomllib.loads((checkout / "pyproject.toml").read_text())["project"] == {
        "name": "humor-tasks",
        "urls": {"Homepage": URL, "Documentation": "https://some-body.github.io/humor-tasks/"},
    }

    assert forms == {path: path.read_bytes() for path in (checkout / "register").rglob("*") if path.is_file()}
    made = checkout / "dist" / "register-0.2.0"
    texts = {file.relative_to(made).as_posix(): file.read_text() for file in made.rglob("*") if file.is_file()}
    assert not [name for name, text in texts.items() if "{{" in text and not name.startswith("lm_eval/")]
    entries = [yaml.safe_load(text) for name, text in texts.items() if name.endswith("eval.yaml")]
    assert {entry["tasks"][0]["name"] for entry in entries} == set(tasks.__all__)
    assert {entry["source"]["repository_commit"] for entry in entries} == {head}
    assert {entry["contributors"][0] for entry in entries} == {"Some-body"}
    rows = texts["inspect_evals/submissions.md"].splitlines()[2:]
    assert len(rows) == len(tasks.__all__)
    assert all(f"{URL}/blob/{head}/humor_tasks/on_inspect/tasks/" in row for row in rows)

    assert release.main([*GIVEN], checkout) == 2  # a second time
    assert "the tag v0.2.0 exists already" in capsys.readouterr().err


def changed(path: str, old: str, new: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        text = (root / path).read_text()
        assert old in text
        (root / path).write_text(text.replace(old, new))
        commit(root)

    return change


def failing_hook(root: Path) -> None:
    hook = root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho no commit today >&2\nexit 1\n")
    hook.chmod(0o755)


def entries_of_before(root: Path) -> None:
    (root / "dist" / "register-0.2.0").mkdir(parents=True)
    (root / "dist" / "register-0.2.0" / "edited.md").write_text("an earlier one")


def removed(path: str) -> Callable[[Path], None]:
    def change(root: Path) -> None:
        (root / path).unlink()
        commit(root)

    return change


def odd_page(root: Path) -> None:
    (root / "ü.txt").write_bytes(b"\xff {{REPOSITORY_URL}}")
    commit(root)


def in_the_way(root: Path) -> None:
    (root / "dist").mkdir()
    (root / "dist" / "register-0.2.0").write_text("a file where the folder goes")


BAD: dict[str, tuple[Callable[[Path], object], tuple[str, ...], str]] = {
    "a changed file": (
        lambda root: (root / "CHANGELOG.md").write_text("new"),
        GIVEN,
        "not clean: commit or remove first",
    ),
    "a new file": (lambda root: (root / "left.txt").write_text("new"), GIVEN, "first: left.txt"),
    "no part": (
        changed("CHANGELOG.md", "## 0.2.0 (unreleased)", "## Unreleased"),
        GIVEN,
        "no part '## 0.2.0 (unreleased)'",
    ),
    "an empty part": (changed("CHANGELOG.md", "- A change.\n", ""), GIVEN, "'## 0.2.0 (unreleased)' is empty"),
    "another version": (lambda root: None, ("0.3.0", *GIVEN[1:]), "no part '## 0.3.0 (unreleased)'"),
    "no version": (lambda root: None, ("next", *GIVEN[1:]), "version next: must be three numbers"),
    "no https": (
        lambda root: None,
        ("0.2.0", "--url", "git@github.com:a/b.git"),
        "must be https://github.com/OWNER/NAME",
    ),
    "a clone's": (lambda root: None, ("0.2.0", "--url", URL + ".git"), "without .git"),
    "no date": (lambda root: None, (*GIVEN[:4], "tomorrow"), "--date tomorrow: must be YYYY-MM-DD"),
    "the tag is there": (lambda root: git(root, "tag", "v0.2.0"), GIVEN, "the tag v0.2.0 exists already"),
    "a renamed task": (
        changed("register/inspect_evals/humor_tasks_ranking/eval.yaml", "name: ranking", "name: rating"),
        GIVEN,
        "register/inspect_evals/humor_tasks_ranking/eval.yaml: differs from what is declared",
    ),
    "no version line": (changed("humor_tasks/_version.py", "__version__", "version"), GIVEN, "has 0 lines of the form"),
    "git refuses": (failing_hook, GIVEN, "git commit failed: no commit today"),
    "git refuses, and entries of before": (
        lambda root: (failing_hook(root), entries_of_before(root)),
        GIVEN,
        "git commit failed: no commit today",
    ),
    "a day that is none": (lambda root: None, (*GIVEN[:4], "2026-02-30"), "--date 2026-02-30: must be YYYY-MM-DD"),
    "no name": (lambda root: None, ("0.2.0", "--url", "https://github.com/a/.."), "must be https://github.com/OWNER/"),
    "no branch": (lambda root: git(root, "checkout", "--quiet", "--detach"), GIVEN, "HEAD is detached; check out a"),
    "no changelog": (removed("CHANGELOG.md"), GIVEN, "CHANGELOG.md: cannot be read"),
    "no module": (removed("humor_tasks/_version.py"), GIVEN, "humor_tasks/_version.py: cannot be read"),
    "no UTF-8": (odd_page, GIVEN, "ü.txt: cannot be read"),
    "no place for the entries": (in_the_way, GIVEN, "register-0.2.0: cannot be written"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_released_changes_nothing(case: str, checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil, given, told = BAD[case]
    spoil(checkout)
    before = state(checkout)
    assert release.main([*given], checkout) == 2
    said = capsys.readouterr()
    assert told in said.err
    assert said.err.startswith("release: ")
    assert said.out == ""
    assert state(checkout) == before


def test_the_packages_own_addresses_come_out_of_comment() -> None:
    text = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    urls = tomllib.loads(release.filled(release.URLS.sub("", text), URL))["project"]["urls"]
    assert urls.keys() == {"Homepage", "Documentation", "Changelog", "Issues"}
    assert all(url.startswith("https://") and "{{" not in url for url in urls.values())


def test_it_is_not_a_checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert release.main([*GIVEN], tmp_path) == 2
    assert "git status failed" in capsys.readouterr().err
