"""The workflow files and the forms of issues: what they name exists, and what they repeat is what the package says."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from typing import Any

import pytest
import yaml
from standins.paths import REPOSITORY

from humor_tasks import load
from humor_tasks.logs.signature import Signature

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
EXTRAS: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
FILES = sorted((REPOSITORY / ".github" / "workflows").glob("*.yml"))
TEXTS = {file.stem: file.read_text(encoding="utf-8") for file in FILES}
JOBS: dict[tuple[str, str], dict[str, Any]] = {
    (name, job): told for name, text in TEXTS.items() for job, told in yaml.safe_load(text)["jobs"].items()
}
STEPS = [(*place, step) for place, job in JOBS.items() for step in job.get("steps", [])]
PYTHONS = [c.rpartition(" ")[2] for c in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", c)]
# Programs of a runner, of the extras, and the shell's own.
PROGRAMS = {"python", "ruff", "mypy", "pytest", "mkdocs", "test"}


def commands() -> list[tuple[str, list[str]]]:
    """Workflow and words of each command."""
    lines = [(name, line) for name, _, step in STEPS if "run" in step for line in step["run"].splitlines()]
    return [(name, shlex.split(part, comments=True)) for name, line in lines for part in re.split(r" && | \| ", line)]


def test_the_workflows_are_found() -> None:
    assert set(TEXTS) == {"tests", "docs", "release"}
    assert len(commands()) > 10


def test_what_the_commands_name_exists() -> None:
    extras = PROJECT["project"]["optional-dependencies"].keys()
    for name, words in commands():
        assert words[0] in PROGRAMS or (REPOSITORY / words[0]).stat().st_mode & 0o100, f"{name}: {words}"
        for word in words[1:]:
            if extra := re.fullmatch(r"\.\[(.*)\]", word):
                assert set(extra[1].split(",")) <= extras, f"{name}: {words}"
            elif re.fullmatch(r"[\w./-]+\.\w+|[\w.-]+/[\w./-]*", word) and not word.startswith("dist/"):
                assert (REPOSITORY / word).exists(), f"{name}: {word}"


def test_the_pythons_are_those_that_the_package_supports() -> None:
    assert JOBS["tests", "suite"]["strategy"]["matrix"]["python"] == PYTHONS == ["3.11", "3.12", "3.13"]
    assert PROJECT["project"]["requires-python"] == f">={PYTHONS[0]}"
    assert PROJECT["tool"]["mypy"]["python_version"] == PYTHONS[0]
    assert PROJECT["tool"]["ruff"]["target-version"] == f"py{PYTHONS[0].replace('.', '')}"
    set_up = [step["with"]["python-version"] for *_, step in STEPS if "setup-python" in step.get("uses", "")]
    assert set(set_up) <= {*PYTHONS, "${{ matrix.python }}"}


def test_the_harness_versions_are_those_of_ci_matrix() -> None:
    """The workflow names none of them: it runs .ci/matrix, which takes the oldest from pyproject.toml."""
    runs = [(name, job) for name, job, step in STEPS if step.get("run", "").startswith(".ci/matrix")]
    assert runs == [("tests", "harnesses")]
    assert not re.search(r"(inspect-ai|lm-eval)\s*[=<>~]", "".join(TEXTS.values()))
    script = (REPOSITORY / ".ci" / "matrix").read_text(encoding="utf-8")
    (line,) = re.findall(r"^OLDEST=.*$", script, re.M)
    oldest = subprocess.run(
        ["bash", "-c", f'{line}\necho "$OLDEST"'], cwd=REPOSITORY, capture_output=True, text=True
    ).stdout
    floors = [re.match(r"(inspect-ai|lm-eval)>=([\d.]+)", each) for each in PROJECT["project"]["dependencies"]]
    assert oldest.split() == [f"{floor[1]}=={floor[2]}" for floor in floors if floor]
    lines = "\n".join(re.findall(r"^(?:LOADERS|WEIGHTS)=.*$", script, re.M))
    command = f'{lines}\necho "$WEIGHTS"'
    weights = subprocess.run(["bash", "-c", command], cwd=REPOSITORY, capture_output=True, text=True).stdout
    load = [each for extra in ("clip", "embedding", "ofa", "text", "train") for each in EXTRAS[extra]]
    others = ("torch>", "torchvision>", "scikit-learn>", "tqdm>")  # of torch, the version stays
    assert weights.split() == sorted({each.replace(">=", "==") for each in load if not each.startswith(others)})
    pairs = re.search(r"^PAIRS=\((.*?)^\)", script, re.M | re.S)
    assert pairs
    assert re.findall(r'^  "(\w+) ', pairs[1], re.M) == ["oldest", "next", "weights"]


def test_actions_are_pinned_by_their_commit() -> None:
    used = re.findall(r"uses: (.*)$", "\n".join(TEXTS.values()), re.M)
    assert len(used) > 8
    for action in used:
        if action.startswith("./"):
            assert (REPOSITORY / action).is_file()
        else:
            assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action)
    assert len({action.split("@")[0] for action in used}) == len(set(used))  # one version of each


def test_only_what_publishes_may_and_only_after_the_tests() -> None:
    trusted = {place for place, job in JOBS.items() if "id-token" in job.get("permissions", {})}
    assert trusted == {("docs", "publish"), ("release", "publish")}
    assert JOBS["release", "publish"]["environment"] == "release"
    assert set(JOBS["release", "publish"]["needs"]) == {"tests", "build"}
    assert JOBS["release", "tests"]["uses"] == "./.github/workflows/tests.yml"
    assert "secrets." not in "".join(TEXTS.values())
    assert all(yaml.safe_load(text)["permissions"] == {"contents": "read"} for text in TEXTS.values())


@pytest.mark.parametrize(("form", "required"), [("score", True), ("problem", False)])
def test_the_forms_of_issues_ask_for_a_scores_signature(form: str, required: bool) -> None:
    told = yaml.safe_load((REPOSITORY / ".github" / "ISSUE_TEMPLATE" / f"{form}.yml").read_text(encoding="utf-8"))
    assert {"name", "description", "body"} <= told.keys()
    fields = {field["id"]: field for field in told["body"]}
    assert fields["signature"].get("validations", {}).get("required", False) == required
    assert fields["versions"]["validations"]["required"]
    if shown := fields["signature"]["attributes"].get("placeholder"):
        names = [name for name, value in Signature.parse(shown).items() if value]
        assert names == [name for name in load("matching", dataset="sample").signature("generate") if name in names]
        assert len(names) > 6
