"""The entries of public registers: made from the declarations, and valid by the registers' own code."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import entries
import lm_eval_tasks
import pytest
import yaml
from evidence.register import register_blocks
from release import filled
from standins.finished_runs import marked
from standins.paths import REPOSITORY
from standins.waiting import LIMIT

from humor_tasks import _registry, load, tasks
from humor_tasks.papers.published import published
from humor_tasks.results import Results
from humor_tasks.results.report.build import build_report

ENTRIES = REPOSITORY / "register" / "inspect_evals"
URL, COMMIT = "https://github.com/somebody/humor-tasks", "0123456789abcdef0123456789abcdef01234567"
# Its entry point would be imported by every Inspect command of this environment (3.4 s), so that it is not installed in
# it: its folder is fetched, without dependencies, of which the modules in use need only what Inspect has.
SCHEMA = "inspect-evals==0.26.0"


def entry_of(name: str) -> dict[str, Any]:
    return yaml.safe_load((ENTRIES / f"humor_tasks_{name}" / "eval.yaml").read_text(encoding="utf-8"))


def test_there_is_one_entry_for_each_inspect_task() -> None:
    declared = {name for name in _registry.__all__ if name in tasks.__all__}
    assert len(declared) >= 16
    assert {folder.name for folder in ENTRIES.iterdir()} == {f"humor_tasks_{name}" for name in declared}
    assert {each["name"] for name in declared for each in entry_of(name)["tasks"]} == declared


BASELINES = {
    "matching": ("accuracy", 0.94),
    "ranking": ("crowd_accuracy", 0.837),
    "explanation_preference": ("win_rate", 0.677),
    "crowd_pairs": ("accuracy", 0.6167),
    "crowd_groups": ("accuracy", 0.5923),
}


def test_peoples_figures_are_published_ones_of_a_task_with_a_paper() -> None:
    given = {name: entry_of(name)["tasks"][0].get("human_baseline") for name in tasks.__all__}
    assert {name: (each["metric"], each["score"]) for name, each in given.items() if each} == BASELINES
    for name, (metric, score) in BASELINES.items():
        assert (metric, score) in {(f.estimate, f.value) for f in published(name) if f.kind == "human"}
        assert given[name]["source"] == entry_of(name)["arxiv"]


def test_the_numbers_of_samples_are_those_of_the_real_files(real_data: Path) -> None:
    files = {"humorbench": ["comprehensive_annotations.csv"]}
    files["humorbench_autograder"] = ["gpt_4o_rubric.csv", "gemini_2.5_pro_rubric.csv"]
    for name, parts in files.items():
        rows = sum(len(load(name, dataset=str(real_data / "humorbench" / part)).records) for part in parts)
        assert entry_of(name)["tasks"][0]["dataset_samples"] == rows


def test_the_entry_of_inspects_extensions_has_its_six_lines() -> None:
    text = filled((REPOSITORY / "register" / "inspect_ai" / "extensions.yml").read_text(encoding="utf-8"), URL)
    assert len(text.splitlines()) == 6
    (told,) = yaml.safe_load(text)
    assert list(told) == ["name", "description", "author", "categories"]
    link = r"\[.+?\]\(https://github\.com/somebody.*\)"  # as the page's own generator reads it
    assert re.fullmatch(link, told["name"])
    assert re.fullmatch(link, told["author"])
    assert set(told["categories"]) <= {"Sandboxes", "Analysis", "Frameworks", "Tooling"}


SECTIONS = ["Paper", "Citation", "Groups, Tags, and Tasks", "Groups", "Tags", "Tasks", "Checklist", "Changelog"]


def test_every_task_and_group_of_lm_eval_is_in_the_readme_of_one_family() -> None:
    named: list[str] = []
    for family in (paper.key for paper in entries.papers()):
        text = (REPOSITORY / "register" / "lm_eval" / family / "README.md").read_text(encoding="utf-8")
        assert re.findall(r"^#{3,4} (.*)$", text, re.M) == SECTIONS
        named += re.findall(r"^\* `([\w]+)`:", text.partition("#### Groups")[2], re.M)
    assert sorted(named) == sorted(file.stem for file in (REPOSITORY / lm_eval_tasks.FOLDER).glob("*.yaml"))


def test_the_checklist_is_ticked_only_where_a_paper_is_public() -> None:
    for paper in entries.papers():
        text = (REPOSITORY / "register" / "lm_eval" / paper.key / "README.md").read_text(encoding="utf-8")
        assert (text.count("* [x]"), text.count("* [ ]")) == ((6, 0) if paper.address else (2, 4)), paper.key


@dataclass(frozen=True)
class Register:
    """inspect_evals' modules: the schema, the parser of a submission's address, the resolver of its task."""

    metadata: ModuleType
    source_url: ModuleType
    task_resolver: ModuleType


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Register]:
    folder = tmp_path_factory.mktemp("inspect_evals")
    output_of("uv", "pip", "install", "--quiet", "--no-deps", "--python", sys.executable, "--target", folder, SCHEMA)
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        from inspect_evals import metadata
        from register_tooling import source_url, task_resolver

        assert Path(str(metadata.__file__)).is_relative_to(folder)
        yield Register(metadata, source_url, task_resolver)
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if name.startswith(("inspect_evals", "register_tooling")):
                del sys.modules[name]


def output_of(*command: str | Path, cwd: Path = REPOSITORY) -> str:
    if command[0] == "uv":
        from uv import find_uv_bin

        command = (find_uv_bin(), *command[1:])
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def laid_out(folder: Path) -> Path:
    """The filled entries where inspect_evals' own reader looks, which is told the folder of its package."""
    for name in tasks.__all__:
        place = folder / "register" / f"humor_tasks_{name}" / "eval.yaml"
        place.parent.mkdir(parents=True)
        held = ENTRIES / f"humor_tasks_{name}" / "eval.yaml"
        place.write_text(filled(held.read_text(encoding="utf-8"), URL, COMMIT), encoding="utf-8")
    return folder / "src" / "inspect_evals"


@pytest.mark.slow
def test_every_entry_is_valid_by_the_registers_schema(
    theirs: Register, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    package = laid_out(tmp_path)
    place = tmp_path / "register" / "humor_tasks_matching" / "eval.yaml"
    blocks = yaml.safe_load(register_blocks(build_report(Results((marked("a/model", [1.0, 0.0]),))), COMMIT))
    with place.open("a", encoding="utf-8") as entry:
        yaml.safe_dump(blocks["humor_tasks_matching"], entry)
    listing, errors = theirs.metadata.load_listing_safe(package)
    assert errors == []
    assert caplog.records == []  # two tasks in an entry are a warning
    assert {each.tasks[0].name for each in listing.external_evals} == set(tasks.__all__)
    for each in listing.external_evals:
        assert (each.package, each.source.maintainers) == ("humor-tasks", ["somebody"])
        assert each.full_title == each.title != ""
        assert "\n" not in each.description
    (reported,) = (each.evaluation_report for each in listing.external_evals if each.evaluation_report)
    assert (reported.commit, reported.results[0].model) == (COMMIT, "a/model")
    assert reported.results[0].metrics[0].model_dump() == {"key": "accuracy", "value": 0.5}

    place.write_text(place.read_text(encoding="utf-8").replace("task_path:", "path_of_task:"), encoding="utf-8")
    assert [name for name, _ in theirs.metadata.load_listing_safe(package)[1]] == ["humor_tasks_matching"]


@pytest.mark.slow
def test_every_entry_is_resolved_by_the_registers_resolver(theirs: Register, tmp_path: Path) -> None:
    """From a permanent address to the function, at a commit; a local clone stands for the public repository."""
    place = tmp_path / "humor_tasks" / "on_inspect"
    shutil.copytree(
        REPOSITORY / "humor_tasks" / "on_inspect" / "tasks", place / "tasks", ignore=lambda *_: ["__pycache__"]
    )
    output_of("git", "init", "--quiet", cwd=tmp_path)
    output_of("git", "add", ".", cwd=tmp_path)
    who = ("-c", "user.name=somebody", "-c", "user.email=somebody@example.org")
    output_of("git", *who, "commit", "--quiet", "--message", "The tasks", cwd=tmp_path)
    commit = output_of("git", "rev-parse", "HEAD", cwd=tmp_path).strip()

    resolved = []
    for name in tasks.__all__:
        path, line = entries.source_of(name)
        parsed = theirs.source_url.parse_source_url(f"{URL}/blob/{commit}/{path}#L{line}")
        assert parsed.is_permalink
        assert (parsed.repository_url, parsed.task_path) == (URL, entry_of(name)["tasks"][0]["task_path"])
        text = output_of("git", "show", f"{parsed.ref}:{parsed.task_path}", cwd=tmp_path)
        resolve = theirs.task_resolver.resolve_task
        found = resolve(text, line_anchor=parsed.line_anchor, file_label=path)
        assert found.decorator_lineno == line
        resolved.append(found.name)
        other = text.replace(f"def {name}(", f"def {name}_renamed(")
        assert resolve(other, line_anchor=line).name == f"{name}_renamed"
    assert resolved == tasks.__all__
    with pytest.raises(theirs.task_resolver.TaskResolutionError, match="doesn't match any @task"):
        resolve(text, line_anchor=100_000)
