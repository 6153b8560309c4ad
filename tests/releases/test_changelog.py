"""Fragments of changelog.d become the part of CHANGELOG.md that a release dates."""

from __future__ import annotations

import re
import shutil
from contextlib import chdir
from pathlib import Path

from click.testing import CliRunner
from release import dated
from standins.paths import REPOSITORY
from towncrier.build import _main as build

FRAGMENT = re.compile(r"[a-z0-9-]+\.(added|changed|fixed)\.md|part\.md\.jinja|\.gitignore")


def test_fragments_have_a_kind() -> None:
    assert [p.name for p in (REPOSITORY / "changelog.d").iterdir() if not FRAGMENT.fullmatch(p.name)] == []


def test_a_release_dates_the_part_that_is_built_of_the_fragments(tmp_path: Path) -> None:
    for name in ("CHANGELOG.md", "pyproject.toml"):
        shutil.copy(REPOSITORY / name, tmp_path)
    (tmp_path / "changelog.d").mkdir()
    shutil.copy(REPOSITORY / "changelog.d" / "part.md.jinja", tmp_path / "changelog.d")
    (tmp_path / "changelog.d" / "ponder.fixed.md").write_text("Thinking in `<ponder>` is not read.\n")
    with chdir(tmp_path):
        done = CliRunner().invoke(build, ["--version", "99.0.0", "--keep"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    text = dated((tmp_path / "CHANGELOG.md").read_text(), "99.0.0", "2030-01-02")
    assert "## 99.0.0 (2030-01-02)\n\n### Fixed\n\n- Thinking in `<ponder>` is not read.\n" in text
    assert text.endswith(
        (REPOSITORY / "CHANGELOG.md").read_text().partition("<!-- towncrier release notes start -->")[2].lstrip()
    )
